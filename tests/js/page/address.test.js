// The page's own address, and the pictures' state listeners.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place} from '../dom.js';

const posted = [], written = [];
const frame = {postMessage: (...given) => posted.push(given)};
const note = how => (state, _, url) => written.push({how, state, url: String(url)});
Object.assign(globalThis, {parent: window, history: {state: {kept: 1}, replaceState: note('replace'), pushState: note('push')},
  location: {origin: new URL(import.meta.url).origin, href: 'http://page.test/?__theme=dark&layer=7&v=0&__sign=secret#top'}});
const here = await import('../../../assets/js/page/here.js');
const {begun, reply} = await import('./stage.js');

const passed = () => window.dispatchEvent(new Event('pagehide'));   // flushes pending writes
const last = () => ({...written.at(-1), params: Object.fromEntries(new URL(written.at(-1).url).searchParams)});

test('before the state is there nothing is chosen, and what is told waits for it', () => {
  const heard = [];
  assert.deepEqual([here.chosen('tab'), here.isChosen('tab'), here.readsText('depth/lens'), here.runParams(), here.configNow()],
    [null, false, false, {}, undefined]);
  assert.equal(here.linkNow().href, 'http://page.test/?__theme=dark&layer=7&v=0&__sign=secret');
  here.choose({layer: 3});
  here.withState(state => heard.push(state.get('layer')));
  begun();
  assert.deepEqual(heard, ['3']);
  here.withState(state => heard.push(state.tab));
  assert.deepEqual(heard, ['3', 'predictions']);
});

test('the address has the view\'s fields anew, keeps what is not ours, and never a token', () => {
  begun({text: 'a cat', tab: 'depth'});
  passed();
  assert.deepEqual(last().params, {__theme: 'dark', v: '1', family: 'mini', text: 'a cat', tab: 'depth'});
  assert.equal(new URL(last().url).hash, '#top');
  assert.deepEqual([last().how, last().state], ['replace', {kept: 1, view: {text: 'a cat', family: 'mini', tab: 'depth'}}]);
  here.choose({layer: 4});
  passed();
  assert.deepEqual([last().how, last().params.layer], ['replace', '4']);
});

test('a reload has all that the address leaves out: texts without room, and what other tabs show', () => {
  begun();
  const place = /** @type {any} */ (location), kept = /** @type {any} */ (history), {state} = kept, view = {text: 'a cat', tab: 'depth', temperature: '5'};
  place.search = '?v=1&family=mini&tab=depth&z=-';
  kept.state = {view};
  assert.deepEqual(here.addressed(), {v: '1', family: 'mini', ...view});
  kept.state = null;
  assert.deepEqual(here.addressed(), {v: '1', family: 'mini', tab: 'depth', z: '-'});
  delete place.search;
  kept.state = state;
});

test('another text is another place, with its hidden words; so is one that is compared with a word brought along', () => {
  const {state, sent} = begun({text: 'a cat'});
  here.compare({text: 'a [MASK]', hidden: 'dog'});
  reply(state);
  assert.deepEqual([last().how, last().params.hidden, last().state.view], ['push', 'dog', {text: 'a [MASK]', family: 'mini', hidden: 'dog'}]);
  here.compare({text: 'A typed one.'});
  assert.equal(sent.at(-1).hidden, '');
  here.compare({word: '2'});
  assert.deepEqual([sent.at(-1).word, sent.at(-1).text], ['2', 'A typed one.']);
});

test('the field of the link shows the link alone, from its home', () => {
  place().innerHTML = '<div id="link"><input></div>';
  begun({text: 'a cat'}, {home: 'http://home.test/app?x=1#y'});
  assert.equal(document.querySelector('input').value, 'http://home.test/app?v=1&family=mini&text=a+cat');
});

test('a page around this one is told the address', () => {
  begun({text: 'a cat'});
  passed();
  assert.deepEqual(posted, []);
  Object.assign(globalThis, {parent: frame});
  begun({text: 'a cat'});
  passed();
  Object.assign(globalThis, {parent: window});
  assert.deepEqual(posted.at(-1), [{queryString: new URL(last().url).searchParams.toString()}, 'https://huggingface.co']);
});

test('which pictures read the text, which choices are the reader\'s, and what the server is asked with', () => {
  const {state} = begun({text: 'a cat', layer: '2'});
  assert.deepEqual(['depth/lens', 'claims/ledger', 'nothing/x'].map(here.readsText), [true, false, false]);
  assert.deepEqual(['layer', 'mask'].map(here.isChosen), [true, false]);
  assert.deepEqual(here.runParams(), {text: 'a cat', family: 'mini', layer: '2'});
  assert.notEqual(here.runParams(), state.accepted);
  assert.equal(here.configNow(), state.config);
});

test('a page that was taken away writes no address, and leads to where it was taken', () => {
  const before = written.length;
  Object.assign(window.explorer, {taken: {link: 'http://kept.test/app'}});
  begun({text: 'a cat'});
  assert.equal(written.length, before);
  assert.equal(here.linkNow().href, 'http://kept.test/app?v=1&family=mini&text=a+cat');
  Object.assign(window.explorer, {taken: undefined});
});

test('a dial that is moved writes few addresses and its last; what waits is never written over another place', () => {
  const {state} = begun({text: 'a cat'}), before = written.length;
  for (let layer = 1; layer < 500; layer += 1) here.choose({layer});
  const moved = written.length - before;
  assert.ok(moved <= 20, `${moved} addresses`);
  state.show('depth');
  assert.deepEqual(written.slice(-2).map(one => [one.how, new URL(one.url).searchParams.get('layer')]), [['replace', '499'], ['push', '499']]);
  here.choose({layer: 3});
  window.dispatchEvent(new Event('popstate'));
  passed();
  assert.equal(new URL(written.at(-1).url).searchParams.get('layer'), '499');
});
