import assert from 'node:assert/strict';
import {beforeEach, mock, test} from 'node:test';

import {click, coloured, place, press, settled, until, texts} from '../dom.js';
import {COLOURS} from '../depth/palette.js';
import {begun} from './stage.js';

const taken = [], broken = [];
Object.assign(globalThis, {parent: window, reportError: error => broken.push(error.message)});
document.defaultView.Element.prototype.getClientRects = function getClientRects() { return /** @type {any} */ (this.closest('[hidden]') ? [] : [{}]); };
Object.assign(window, {explorer: {waiting: [], told: [['choose', {}]], taken: undefined, charts: window.explorer.charts}});
const gradio = {
  ...await import('../../../assets/js/gradio.js'), ...await import('../../../assets/js/page/parts.js'), ...await import('../../../assets/js/page/tabs.js'),
};
const {withState, listen} = await import('../../../assets/js/page/here.js');
const {explorer} = window;
beforeEach(() => { taken.length = broken.length = 0; });

/** A canvas as Gradio mounts it, and the requests that its server receives. */
async function canvas(kind, value, root = place(), module = '') {
  const element = document.createElement('div'), props = {value}, heard = [];
  element.innerHTML = '<div class="canvas" data-failed="It failed."></div>';
  coloured(element.querySelector('.canvas'), COLOURS).dataset.module = module;
  root.append(element);
  let update;
  await explorer.mount(kind, element, props, (name, then) => { assert.equal(name, 'value'); update = then; },
    (...given) => heard.push(given), async () => 'answer');
  await settled();
  return {element, root: element.querySelector('.canvas'), props, heard, update: async next => { props.value = next; await update(); await settled(); }};
}
const shares = counts => JSON.stringify({texts: {label: 'All', report: '{name}', right_share: '{share}', rules: {}}, verdicts: {right: 'Right', wrong: 'Wrong'},
  total: counts, reports: []});

test('a canvas shows its value, its next one, and nothing without one', async () => {
  const {root, update} = await canvas('claims/shares', shares({right: 2, wrong: 2}));
  assert.deepEqual(texts(root, '.cs-segment'), ['2 right', '2 wrong']);
  assert.deepEqual(gradio.tableOf(root).rows, [['all', 'Right', 2, .5, .5], ['all', 'Wrong', 2, .5, .5]]);
  assert.deepEqual(gradio.valueAt(root), {kind: 'claims/shares', value: shares({right: 2, wrong: 2})});
  await update(shares({right: 5}));
  assert.deepEqual(texts(root, '.cs-segment'), ['5 right']);
  await update('');
  assert.deepEqual([root.childNodes.length, gradio.tableOf(root), gradio.tableOf(place())], [0, null, null]);
});

test('a picture with a way to forget is asked to', async () => {
  const {root, update} = await canvas('distillation/live', JSON.stringify({waiting: 'Soon.'}));
  assert.equal(root.textContent, 'Soon.');
  await update('');
  assert.equal(root.childNodes.length, 0);
});

test('one that is broken says so in its own place, and another is drawn all the same', async () => {
  const {root} = await canvas('claims/shares', '{"broken'), missing = await canvas('claims/nothing', '{}');
  assert.deepEqual([root.textContent, root.querySelector('p').getAttribute('role'), missing.root.textContent], ['It failed.', 'alert', 'It failed.']);
  assert.equal(broken.length, 2);
  await explorer.mount('claims/shares', document.createElement('div'), {}, () => assert.fail(), () => {}, () => {});
});

test('a chart that fails out of sight costs its own place alone', async t => {
  t.mock.method(explorer.charts.Plotly, 'react', async () => { throw new Error('no library'); });
  const figures = [{data: [], layout: {}}], numbers = {columns: ['a'], rows: [[1]]};
  const {root} = await canvas('attention/lines', JSON.stringify({figures, numbers, finding: 'It rises.'}), place(), 'kit/figure');
  gradio.drawWaiting();
  await settled();
  assert.deepEqual([texts(root, '.finding, .fg'), broken.length], [['It rises.', 'It failed.'], 2]);
});

test('what a picture asks is what Python is told, as it is when it is asked', async () => {
  const data = {texts: {run: 'Run', expected: 'Expected', not_run: 'not'}, checks: [{id: 'T9', measures: 'x', expected: 'y'}]};
  const {root, heard} = await canvas('claims/checks', JSON.stringify(data));
  click(root.querySelector('button'));
  assert.deepEqual([heard, explorer.question('claims/checks')], [[['select', {}]], '{"check":"T9","press":1}']);
  assert.equal(explorer.question('nothing'), undefined);
});

test('the text is typed as a reader types it', () => {
  const root = place(), heard = [];
  root.innerHTML = '<div id="text"><textarea></textarea></div>';
  root.addEventListener('input', () => heard.push(gradio.textBox().value));
  gradio.typeText('A cat.');
  assert.deepEqual(heard, ['A cat.']);
});

test('a tab is put by a hidden button, and begins at its top with its name in sight', async t => {
  const {state} = begun({}), root = place(), pressed = [], seen = [];
  t.mock.method(globalThis, 'scrollTo', ({top}) => seen.push(top));
  root.innerHTML = '<div id="put"><button></button></div><div id="tabs"><div role="tablist"><b id="tab-depth-button"></b></div></div>';
  root.querySelector('#put button').addEventListener('click', () => pressed.push(explorer.placed()));
  const tabs = root.querySelector('#tabs');
  let top = 0;
  tabs.getBoundingClientRect = () => /** @type {any} */ ({top});
  gradio.showTab('depth');
  await settled(5);
  assert.deepEqual([pressed, seen, state.tab], [[{tab: 'depth'}], [], 'depth']);
  [top, globalThis.scrollY] = [-20, 300];
  gradio.showTab('claims');
  await settled(5);
  globalThis.scrollY = 0;
  assert.equal(seen[0], 280);
  const row = root.querySelector('[role=tablist]'), button = root.querySelector('b');
  Object.defineProperties(button, {offsetLeft: {value: 900}, offsetWidth: {value: 100}});
  gradio.showTab('depth');
  assert.equal(row.scrollLeft, 900 - (row.clientWidth - 100) / 2);
  root.innerHTML = '<button id="put"></button>';
  root.querySelector('button').addEventListener('click', () => pressed.push(explorer.placed()));
  gradio.put({family: 'base'});
  assert.deepEqual(pressed.at(-1), {tab: undefined, preset: 'base', sizes: {bert: 'base', albert: 'base'}});
  gradio.put({family: 'bert=large,albert=mini'});
  assert.deepEqual(pressed.at(-1), {tab: undefined, preset: null, sizes: {bert: 'large', albert: 'mini'}});
  place();
  gradio.put({});
});

test('folds of the tab in sight: their names, whether they are open, and their presses', async () => {
  const root = place(), pressed = [], heard = [];
  root.innerHTML = `<div class="fold" id="fold-depth-moves"><button class="label-wrap open"><i></i></button><button class="fold-refresh"></button></div>
    <div class="fold" id="fold-depth-film"><button class="label-wrap"></button><div class="fold-refresh"><button></button></div></div>
    <div class="fold" id="fold-claims-all" hidden><button class="label-wrap"></button></div><button class="label-wrap"></button>`;
  for (const button of root.querySelectorAll('button')) button.addEventListener('click', () => pressed.push(button));
  const folds = gradio.foldsInSight();
  assert.deepEqual(folds.map(fold => [fold.node.id, fold.isOpen()]), [['fold-depth-moves', true], ['fold-depth-film', false]]);
  folds.forEach(fold => { fold.press(); fold.refresh(); });
  assert.deepEqual(pressed.map(button => button.className || 'inner'), ['label-wrap open', 'fold-refresh', 'label-wrap', 'inner']);
  await settled();
  gradio.onFold(fold => heard.push(fold.node.id));
  click(root.querySelector('i'));
  assert.deepEqual(heard, []);
  click(root.querySelectorAll('.fold-refresh')[0]);
  click(root.lastChild);
  await settled(5);
  assert.deepEqual(heard, ['fold-depth-moves']);
  assert.deepEqual(gradio.foldsOf('claims').map(fold => fold.node.id), ['fold-claims-all'], 'out of sight too');
});

test('arrows, Home and End go around the tabs; other keys and chords are left alone', () => {
  const root = place(), clicked = [];
  root.innerHTML = '<div id="tabs"><div><b role="tab" tabindex="0"></b><b role="tab" tabindex="0"></b><b role="tab" tabindex="0"></b></div></div>';
  const tabs = [...root.querySelectorAll('b')];
  tabs.forEach((tab, i) => tab.addEventListener('click', () => clicked.push(i)));
  const press = (from, key, how = {}) => {
    const event = new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...how});
    tabs[from].dispatchEvent(event);
    return [clicked.splice(0).join(), event.defaultPrevented, tabs.indexOf(document.activeElement)];
  };
  assert.deepEqual(press(0, 'ArrowRight'), ['1', true, 1]);
  assert.deepEqual(press(2, 'ArrowRight'), ['0', true, 0]);
  assert.deepEqual(press(0, 'ArrowLeft'), ['2', true, 2]);
  assert.deepEqual(press(2, 'ArrowLeft'), ['1', true, 1]);
  assert.deepEqual(press(1, 'Home'), ['0', true, 0]);
  assert.deepEqual(press(0, 'End'), ['2', true, 2]);
  assert.deepEqual(press(1, 'a'), ['', false, 2]);
  for (const chord of ['ctrlKey', 'altKey', 'metaKey']) assert.deepEqual(press(1, 'ArrowLeft', {[chord]: true}), ['', false, 2]);
});

test('stale tabs are hidden, all at once', () => {
  gradio.hideStale(['depth', 'tasks'], 'Computing "it"');
  const rules = () => document.adoptedStyleSheets.flatMap(sheet => [...sheet.cssRules].map(rule => rule.cssText)).filter(text => /#tab-/.test(text));
  assert.equal(rules().length, 4);
  assert.match(rules()[0], /^#tab-depth > \* \{ visibility: hidden; \}/);
  assert.match(rules()[3], /^#tab-tasks::before \{ content: "Computing \\"it\\""; \}/);
  gradio.hideStale([]);
  assert.deepEqual(rules(), []);
});

test('a click on a tab and what Gradio tells of Compare reach the state', () => {
  const {state, sent} = begun({}), told = [];
  withState(now => assert.equal(now, state));
  listen(() => told.push(1));
  place().innerHTML = '<div id="tabs"><button role="tab" data-tab-id="depth"><i>Depth</i></button><button role="tab">A part</button></div>';
  document.querySelectorAll('button').forEach(click);
  click(document.querySelector('i'));
  assert.deepEqual([sent.length, sent[0].tab], [1, 'depth']);
  explorer.tell('compare', {text: 'A cat.', hidden: ''});
  assert.equal(sent[1].text, 'A cat.');
  explorer.tell('lost');
  assert.deepEqual([state.get('text'), told.length, state.heard === state.number], ['start', 1, true]);
});

test('the sign of an unknown share is taken out of a sentence, nothing else is', async () => {
  const root = place();
  root.innerHTML = '<div id="input-bar"><p class="progress-level-inner">Loading<i>x</i></p><p>- </p></div>';
  explorer.tell('opened');
  await settled();
  const [line] = root.querySelectorAll('p');
  line.append(' - ', '0.0%', ' 3.0%', document.createComment('-'));
  await settled(20);
  assert.equal(line.textContent, 'Loadingx 3.0%');
  assert.equal(root.querySelectorAll('p')[1].textContent, '- ');
});

const menu = `<details class="take" open><summary tabindex="0"></summary><button data-take="csv"></button>
  <p role="status" data-failed="Not made.">old</p></details>`;

test('a click elsewhere closes a menu, one inside does not; Escape closes it and goes back to its name', () => {
  const root = place();
  root.innerHTML = menu + menu;
  const [first, second] = root.querySelectorAll('details');
  click(first.querySelector('summary').parentElement);
  assert.deepEqual([first.open, second.open], [true, false]);
  const key = name => press(first.querySelector('button'), name);
  key('a');
  assert.equal(first.open, true);
  key('Escape');
  assert.deepEqual([first.open, document.activeElement], [false, first.querySelector('summary')]);
  first.open = true;
  click(document.body);
  assert.equal(first.open, false);
});

test('a file is made of the picture above its menu, of a canvas or of a drawing with its numbers; if it cannot be, that is said', async () => {
  const made = [], known = {models: [], versions: 'v', cite: 'c'}, soon = globalThis.setTimeout;
  mock.method(globalThis, 'setTimeout', (then, ms) => ms > 1000 ? 0 : soon(then, ms));
  Object.assign(globalThis, {fetch: async address => new Response(JSON.stringify(known), {status: /null|undefined/.test(address) ? 500 : 200})});
  Object.assign(URL, {createObjectURL: blob => { made.push(blob); return 'blob:1'; }});
  begun();
  const {element, root} = await canvas('claims/shares', shares({right: 2}));
  element.insertAdjacentHTML('beforeend', menu);
  const details = [...element.querySelectorAll('details')].at(-1);
  const files = async count => { for (let i = 0; i < 200 && made.length < count; i++) await settled(10); await settled(10); };
  click(details.querySelector('button'));
  assert.equal(details.querySelector('[role=status]').textContent, '');
  await files(1);
  assert.match(await made[0].text(), /\r\nreport,verdict,claims,share_of_the_report,share_of_the_decided\r\nall,Right,2,1,1\r\nall,Wrong,0,0,0\r\n$/);
  assert.equal(details.open, false);
  const drawn = document.createElement('div');
  drawn.className = 'drawn';
  drawn.dataset.kind = 'tasks/scores';
  drawn.dataset.numbers = JSON.stringify({columns: ['a'], rows: [[7]], constants: {}, said: {found: 'it'}});
  drawn.innerHTML = menu;
  element.append(drawn);
  click(drawn.querySelector('button'));
  await files(2);
  assert.match(await made[1].text(), /# picture: tasks\/scores[^]*# found: it\r\na\r\n7\r\n$/);
  drawn.dataset.numbers = '{broken';
  drawn.querySelector('details').open = true;
  click(drawn.querySelector('button'));
  for (let i = 0; i < 100 && !broken.length; i++) await settled(10);
  assert.deepEqual([drawn.querySelector('[role=status]').textContent, drawn.querySelector('details').open, broken.length], ['Not made.', true, 1]);
  assert.ok(root.isConnected);
  mock.restoreAll();
});

test('light and dark are switched, kept, and drawn anew by the pictures that are still there', async () => {
  const root = place();
  root.innerHTML = `<button id="theme-switch"></button><a class="skip" href="#x"></a>
    <div id="tabs"><b role="tab"></b><b role="tab" aria-selected="true" tabindex="0"></b></div>`;
  const film = {texts: {heads: '', chart: '', label: ''}, model: 'albert', size: 1, heads: 1, step: [], tiles: 'AA==', figures: [{data: [{line: {}}], layout: {}}]};
  const one = document.createElement('div');
  root.append(one);
  await canvas('depth/film', JSON.stringify(film), one);
  const shown = one.querySelector('.canvas'), tiles = [];
  const drawn = () => { if (!tiles.includes(shown.querySelector('canvas'))) tiles.push(shown.querySelector('canvas')); return tiles.length; };
  assert.deepEqual([gradio.isDark(), drawn()], [false, 1]);
  click(root.querySelector('#theme-switch'));
  assert.deepEqual([gradio.isDark(), localStorage.getItem('explorer-theme')], [true, '"dark"']);
  await until(() => drawn() === 2);
  one.remove();
  click(root.querySelector('#theme-switch'));
  assert.deepEqual([gradio.isDark(), localStorage.getItem('explorer-theme')], [false, '"light"']);
  await settled(20);
  assert.deepEqual([drawn(), broken], [2, []]);
  const skip = new MouseEvent('click', {bubbles: true, cancelable: true});
  root.querySelector('.skip').dispatchEvent(skip);
  assert.deepEqual([skip.defaultPrevented, document.activeElement], [true, root.querySelectorAll('b')[1]]);
});
