// The page's address: ours is updated, a foreign page that embeds our pictures keeps its own.
import assert from 'node:assert/strict';
import {mock, test} from 'node:test';

import '../page.js';

const heard = {};
Object.assign(globalThis, {addEventListener: (name, hear) => { heard[name] = hear; }});
const {begin} = await import('../../../assets/js/page/here.js');

const config = {presets: {}, columns: {}, defaults: {text: '', family: 'mini', tab: 'predictions', layer: '0'}, reads: {predictions: ['text']}, limit: 10, longest: 5000, packed: 'z', texts_of: ['text']};
const OURS = new URL(import.meta.url).origin;

/** The addresses written on a page of this origin, where the page is left after the moves. */
function writtenBy(origin, moves = state => { state.set({layer: 2}); heard.pagehide(); }) {
  const found = [], write = (_, __, url) => found.push(String(url));
  Object.assign(globalThis, {history: {state: null, replaceState: write, pushState: write}, location: {origin, href: 'http://page.test/?own=1'}});
  document.querySelector = () => null;
  window.parent = window;
  const state = begin(config, () => {});
  state.open({text: 'a cat'});
  const {number} = JSON.parse(JSON.stringify(state.question()));
  state.answered({number, accepted: true, drawn: true, repaired: [], params: {family: 'mini', text: 'a cat'}, text: 'a cat', machine: {device: 'cpu', dtype: 'float32'}, note: ''});
  moves(state);   // leaving flushes pending writes
  return found;
}

test('our own address holds the view', () => assert.ok(writtenBy(OURS).at(-1).includes('layer=2')));
test('the address of a page that is not ours is left alone', () => assert.deepEqual(writtenBy('http://page.test'), []));

test('after many moves in a row the last is written half a second later, without another event', () => {
  mock.timers.enable({apis: ['setTimeout']});
  const found = writtenBy(OURS, state => { for (let layer = 3; layer < 40; layer++) state.set({layer}); });
  assert.equal(found.at(-1).includes('layer=39'), false, 'browsers bear no more at once');
  mock.timers.tick(500);
  assert.ok(found.at(-1).includes('layer=39'));
  mock.timers.reset();
});
