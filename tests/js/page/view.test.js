import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, settled, texts} from '../dom.js';

Object.assign(window, {parent: window});
const sheets = [];
globalThis.CSSStyleSheet = /** @type {any} */ (class { constructor() { sheets.push(this); } replaceSync(text) { this.text = text; } });
Object.defineProperty(document, 'adoptedStyleSheets', {value: [], writable: true});
history.replaceState({}, '', 'http://page.test/?text=linked&tab=depth&fold=none');
const {show, table} = await import('../../../assets/js/page/view.js');
const {choices} = await import('./stage.js');
const {withState, chosen} = await import('../../../assets/js/page/here.js');

const RUN = ['text', 'family', 'hidden'];
const config = {...choices, defaults: {text: 'start', hidden: '', family: 'mini', tab: 'predictions', fold: '', layer: '0'},
  reads: {predictions: RUN, depth: RUN, claims: []},
  limit: 100, longest: 5000, packed: 'z', texts_of: ['text', 'hidden'], drawn_from: {}, home: 'http://home.test/', texts: {computing: 'Soon.', unanswered: 'Nothing.', copy: 'Copy', qr: 'QR', embed: 'Embed', save_tab: 'Save', label: 'Link'}};
const asked = [], root = place();
const page = document.createElement('div');
page.innerHTML = `<div id="input-bar"></div><div id="text"><textarea></textarea></div><button id="put"></button>
  <div id="family"><i class="fm-row" data-model="bert" data-size="mini"></i><i class="fm-row" data-model="bert" data-size="base"></i></div>
  <div id="message"><button data-family="base"><b>use it</b></button><button></button></div>`;
document.body.append(page);
const puts = [], BASE = {preset: 'base', sizes: {bert: 'base', albert: 'base'}};
page.querySelector('#put').addEventListener('click', () => puts.push(window.explorer.placed()));
let state, serial = 0;
withState(now => { state = now; });
const context = {ask: question => asked.push(question), dark: false};
function answer(changes = {}) {
  const {number, params} = JSON.parse(JSON.stringify(asked.at(-1)()));
  show(root, {...config, serial: serial += 1, answer: {number, accepted: true, drawn: true, repaired: [], params: {family: 'mini', ...params},
    text: params.text ?? 'start',
    machine: {}, ...changes}}, context);
}

test('it asks once the page is up, for what the link holds, and draws nothing before', async () => {
  document.documentElement.classList.add('linked');
  show(root, config, context);
  assert.equal(asked.length, 0);
  window.explorer.tell('opened');
  await settled();
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0](), {params: {text: 'linked', tab: 'depth', fold: 'none'}, number: 1, keep: []});
  assert.equal(root.childNodes.length, 0);
  show(root, config, context);
  assert.equal(asked.length, 1);
  assert.ok(document.documentElement.classList.contains('linked'));
});

test('an answer shows the page, draws the link and the family in use, and hides what is stale', () => {
  answer();
  assert.equal(document.documentElement.classList.contains('linked'), false);
  assert.deepEqual(texts(root, 'button, summary'), ['Copy', 'QR', 'Embed', 'Save']);
  assert.match(root.querySelector('input').value, /^http:\/\/home\.test\/\?v=1&family=mini&text=linked&tab=depth/);
  assert.deepEqual([...page.querySelectorAll('#family i')].map(node => node.hasAttribute('hidden')), [false, true]);
  assert.match(sheets.find(sheet => /tab-/.test(sheet.text ?? '')).text, /^#tab-predictions > \* \{ visibility: hidden; \} #tab-predictions::before \{ content: "[^"]*"; \} #tab-claims/);
});

test('the same answer again draws the link alone', () => {
  const {accepted} = state;
  state.set({layer: 3});
  const data = {...config, serial, answer: {
    number: state.number, accepted: true, drawn: true, repaired: ['layer'], params: {family: 'mini'}, text: 'x', machine: {}}};
  show(root, data, context);
  assert.equal(chosen('layer'), '3');
  assert.equal(state.accepted, accepted);
  assert.match(root.querySelector('input').value, /layer=3/);
});

test('Back brings what was compared there, into the box and the family too', () => {
  const before = asked.length, event = Object.assign(new Event('popstate'), {state: {view: {text: 'earlier', family: 'base', hidden: '', tab: 'depth'}}});
  window.dispatchEvent(event);
  assert.equal(asked.length, before + 1);
  assert.deepEqual([asked.at(-1)().params.text, page.querySelector('textarea').value, puts.at(-1)], ['earlier', 'earlier', {tab: 'depth', ...BASE}]);
  answer();
  window.dispatchEvent(Object.assign(new Event('popstate'), {state: null}));
  assert.equal(asked.at(-1)().params.text, 'linked');   // a history entry without a state: its address counts
  answer();
});

test('the way back from a family that cannot be had takes another one', () => {
  const before = asked.length, [use, none] = page.querySelectorAll('#message button');
  click(none);
  assert.equal(asked.length, before);
  click(use.firstChild);
  assert.deepEqual([puts.at(-1), asked.length, asked.at(-1)().params.family], [{tab: undefined, ...BASE}, before + 1, 'base']);
});

test('an empty tab says that it is computed, or that it was not', () => {
  const said = () => sheets.map(sheet => sheet.text ?? '').find(text => /#tab-claims::before/.test(text)).match(/#tab-claims::before \{ content: "(.*?)"/)[1];
  answer();
  state.show('claims');
  assert.equal(said(), 'Soon.');
  answer({accepted: false, drawn: false});
  assert.deepEqual([said(), state.tab], ['Nothing.', 'claims']);
  state.compare({family: 'mini'});
  assert.equal(said(), 'Soon.');
  answer();
});

test('the table has a row for each parameter of the answer', () => {
  assert.deepEqual(table({answer: {text: 'x', params: {family: 'mini'}}}), {columns: ['parameter', 'value'], rows: [['text', 'x'], ['family', 'mini']]});
  assert.deepEqual(table({}).rows, []);
});
