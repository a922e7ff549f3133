import assert from 'node:assert/strict';
import {beforeEach, mock, test} from 'node:test';

import {place} from '../dom.js';
import {begun as stage, reply} from './stage.js';

mock.timers.enable({apis: ['setTimeout']});
const pass = ms => { for (let i = 0; i < ms; i += 10) mock.timers.tick(10); };   // ticks in steps, so that timers started by timers fire too
document.defaultView.Element.prototype.getClientRects = function getClientRects() { return /** @type {any} */ (this.closest('[hidden]') ? [] : [{}]); };
const {Folds, openNext} = await import('../../../assets/js/page/folds.js');
const page = new Folds();   // one for all tests, as a page has
const begun = params => stage(params, {}, page);
/** Waits until a change of the page is heard. */
const come = async holds => {
  for (const since = performance.now(); !holds() && performance.now() - since < 5000;) await new Promise(done => setImmediate(done));
  assert.ok(holds(), String(holds));
};
let changes = 0;
const change = () => root.setAttribute('data-change', String(changes += 1));

/** @type {Record<string, {node: HTMLElement, header: HTMLElement, pressed: number, refreshed: number, deaf: boolean}>} */
const folds = {};
function fold(name, isOpen = false, deaf = false) {
  const node = document.createElement('div'), one = {node, header: document.createElement('button'), pressed: 0, refreshed: 0, deaf};
  node.id = `fold-${name}`;
  node.className = 'fold';
  node.innerHTML = '<div class="fold-refresh"><button></button></div>';
  one.header.className = isOpen ? 'label-wrap open' : 'label-wrap';
  one.header.addEventListener('click', () => { one.pressed += 1; if (!one.deaf) one.header.classList.toggle('open'); });
  node.querySelector('button').addEventListener('click', () => { one.refreshed += 1; });
  node.prepend(one.header);
  folds[name] = one;
  return node;
}
const open = name => folds[name].header.classList.contains('open');
const kept = () => JSON.parse(sessionStorage.getItem('explorer-folds'));
const press = name => { folds[name].header.click(); pass(1); };
let root;
beforeEach(() => { root = place(); });

test('a link\'s fold that does not hear yet is pressed again when the page changes, and the link goes on naming it', async () => {
  const {state} = begun({tab: 'depth', fold: 'moves'});
  root.append(fold('depth-moves', false, true), fold('depth-film', true));   // one that its reader has opened before the first answer
  page.follow(state);
  pass(1000);
  assert.equal(folds['depth-moves'].pressed, 1, 'nothing has changed');
  change();
  await come(() => folds['depth-moves'].pressed === 2);
  pass(1);
  assert.equal(state.wanted.fold, 'moves');
  folds['depth-moves'].deaf = false;
  change();
  await come(() => open('depth-moves'));
  assert.deepEqual([folds['depth-film'].pressed, open('depth-film')], [0, true]);
  await come(() => !page.toOpen.size);
  change();
  for (let turn = 0; turn < 20; turn += 1) await new Promise(done => setImmediate(done));
  pass(1000);
  assert.deepEqual([folds['depth-moves'].pressed, state.wanted.fold, kept()], [3, 'moves', ['fold-depth-moves']]);
  assert.equal(folds['depth-moves'].refreshed, 0, 'opening computes by itself');
  press('depth-moves');
});

test('a link\'s fold that its reader closes before anything has seen it open stays closed: a busy browser handles the click first', () => {
  const {state} = begun({tab: 'depth', fold: 'moves'});
  root.append(fold('depth-moves', false, true));
  page.show('depth', 'moves');
  page.follow(state);
  pass(150);   // the frames in which Gradio builds the tab are over
  folds['depth-moves'].deaf = false;
  folds['depth-moves'].header.classList.add('open');   // as its press does, seen by no timer yet
  const click = new document.defaultView.MouseEvent('click', {bubbles: true});
  Object.defineProperty(click, 'isTrusted', {value: true});
  const {pressed} = folds['depth-moves'];
  folds['depth-moves'].header.dispatchEvent(click);
  pass(1000);
  assert.deepEqual([open('depth-moves'), folds['depth-moves'].pressed], [false, pressed + 1]);
});

test('a link whose question has no answer opens its fold with the next one: until then the server knows another text', () => {
  const {state} = begun({tab: 'depth', fold: 'moves'});
  root.append(fold('depth-moves'));
  page.show('depth', 'moves');
  const {accepted} = state;
  state.accepted = null;
  page.follow(state);
  pass(1000);
  assert.equal(folds['depth-moves'].pressed, 0);
  state.accepted = accepted;
  page.follow(state);
  pass(1000);
  assert.equal(open('depth-moves'), true);
  press('depth-moves');
});

test('a link\'s fold opens however late its tab comes into sight', async () => {
  const {state} = begun({tab: 'depth', fold: 'moves'}), late = fold('depth-moves');
  late.setAttribute('hidden', '');
  root.append(late);
  page.show('depth', 'moves');
  page.follow(state);
  pass(20_000);
  assert.equal(folds['depth-moves'].pressed, 0);
  late.removeAttribute('hidden');
  await come(() => folds['depth-moves'].pressed === 1);
  pass(200);
  assert.deepEqual([folds['depth-moves'].pressed, open('depth-moves')], [1, true]);
  press('depth-moves');
});

test('an open fold is computed anew for another run, once; a closed one or one out of sight is not', () => {
  const {state} = begun({tab: 'depth'}), away = fold('depth-away', true);
  away.setAttribute('hidden', '');
  root.append(fold('depth-moves', true), fold('depth-film'), away);
  page.follow(state);
  page.follow(state);
  assert.deepEqual(Object.keys(folds).map(name => folds[name].refreshed), [1, 0, 0]);
  begun({tab: 'depth', text: 'other'}).state;
  page.follow(begun({tab: 'depth', text: 'other'}).state);
  assert.deepEqual(Object.keys(folds).map(name => folds[name].refreshed), [2, 0, 0]);
});

test('another tab has its own folds in the link, and those of the first again when it is shown again', () => {
  const {state} = begun({tab: 'depth'});
  root.append(fold('depth-moves'), fold('claims-all'));
  press('depth-moves');
  assert.equal(state.wanted.fold, 'moves');
  state.show('claims');
  reply(state);
  page.follow(state);
  assert.equal(state.wanted.fold, undefined);
  state.show('depth');
  reply(state);
  page.follow(state);
  assert.equal(state.wanted.fold, 'moves');
  press('depth-moves');
});

test('Back opens the folds and the part that were open there, and closes every other, in sight or not', () => {
  const {state} = begun({tab: 'depth'}), away = fold('depth-away'), row = document.createElement('div');
  row.innerHTML = '<i class="part-tab" id="fold-depth-first" aria-selected="true"></i><i class="part-tab" id="fold-depth-second"></i>';
  const parts = [...row.querySelectorAll('i')], chosenPart = () => parts.findIndex(part => part.getAttribute('aria-selected') === 'true');
  root.append(fold('depth-moves'), fold('depth-film'), away, row);
  for (const name of ['depth-moves', 'depth-away']) press(name);
  parts[1].click();
  pass(1);
  away.setAttribute('hidden', '');
  assert.equal(state.wanted.fold, 'moves,away,second');
  const back = view => { page.show('depth', view.fold); state.walk({...state.view, fold: '', ...view}); page.follow(state); pass(300); };
  back({fold: 'film'});
  assert.deepEqual([open('depth-moves'), open('depth-away'), open('depth-film'), chosenPart(), state.wanted.fold], [false, false, true, 0, 'film']);
  away.removeAttribute('hidden');
  back({fold: 'moves,away,second'});
  assert.deepEqual([open('depth-moves'), open('depth-away'), open('depth-film'), chosenPart(), state.wanted.fold], [true, true, false, 1, 'moves,away,second']);
  back({});
  assert.deepEqual([open('depth-moves'), open('depth-away'), chosenPart(), state.wanted.fold ?? ''], [false, false, 0, '']);
});

test('the folds that the reader opens are the link\'s and are kept; one that is closed is neither', () => {
  const {state} = begun({tab: 'depth'});
  root.append(fold('depth-moves'), fold('depth-film'));
  press('depth-moves');
  press('depth-film');
  assert.equal(state.wanted.fold, 'moves,film');
  assert.ok(['fold-depth-moves', 'fold-depth-film'].every(id => kept().includes(id)));
  page.follow(state);
  assert.deepEqual([folds['depth-moves'].refreshed, folds['depth-film'].refreshed], [0, 0], 'they show this run already');
  press('depth-moves');
  assert.deepEqual([state.wanted.fold, kept().includes('fold-depth-moves')], ['film', false]);
  press('depth-film');
  assert.deepEqual([state.wanted.fold, kept().includes('fold-depth-film')], [undefined, false]);
});

test('a fold is opened with the next answer of its tab alone, and not pressed again while nothing changes', () => {
  const {state} = begun({tab: 'claims'});
  root.append(fold('depth-film', false, true));
  openNext('depth', 'film');
  page.follow(state);
  pass(200);
  assert.equal(folds['depth-film'].pressed, 0);
  const next = begun({tab: 'depth'}).state;
  page.follow(next);
  assert.equal(folds['depth-film'].pressed, 1);
  pass(20_000);
  assert.equal(folds['depth-film'].pressed, 1);
  folds['depth-film'].deaf = false;
  press('depth-film');
  assert.equal(next.wanted.fold, 'film');
  press('depth-film');
});

test('a fold of a tab that shows its text already is opened at once', () => {
  const {state} = begun({tab: 'depth'});
  root.append(fold('depth-film'));
  reply(state);
  page.follow(state);
  openNext('depth', 'film');
  pass(1);
  assert.equal(open('depth-film'), true);
  press('depth-film');
});

test('one that is open already when its answer comes is left open; one in a tab that was left is not pressed', () => {
  const {state} = begun({tab: 'depth'});
  root.append(fold('depth-far'), fold('depth-near', true));
  openNext('depth', 'near');
  page.follow(state);
  assert.deepEqual([folds['depth-near'].pressed, open('depth-near')], [0, true]);
  openNext('depth', 'gone');
  page.follow(state);
  root.append(fold('depth-gone', false, true));
  begun({tab: 'claims'});
  pass(300);
  assert.equal(folds['depth-gone'].pressed, 0);
});
