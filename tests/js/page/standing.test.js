// The input box differs from the compared text: faded pictures, the note, and the button to go back.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, enter, place} from '../dom.js';

const sheets = [];
globalThis.CSSStyleSheet = /** @type {any} */ (class { constructor() { sheets.push(this); } replaceSync(text) { this.text = text; } });
Object.defineProperty(document, 'adoptedStyleSheets', {value: [], writable: true});
await import('../../../assets/js/page/standing.js');
const {begun, reply} = await import('./stage.js');

const root = place();
root.innerHTML = '<div id="text"><textarea>a cat</textarea></div><div id="standing"><p hidden><span></span><button><i>back</i></button></p></div>';
const box = root.querySelector('textarea'), note = root.querySelector('p');
const faded = () => sheets.map(sheet => sheet.text ?? '').find(text => text.includes('opacity')) ?? '';
const config = {texts: {standing: 'For “{text}”, press Enter.', standing_refused: 'For “{text}”.'}};

test('another text fades every tab that reads one, says which text it is for, and its own brings all back', () => {
  begun({text: 'a cat'}, config);
  assert.deepEqual([note.hidden, faded()], [true, '']);
  enter(box, 'a dog');
  assert.deepEqual([note.hidden, note.textContent], [false, 'For “a cat”, press Enter.back']);
  assert.deepEqual(faded().match(/#tab-\w+/g), ['#tab-predictions', '#tab-depth', '#tab-distillation']);
  enter(box, ' a cat\n');
  assert.deepEqual([note.hidden, faded()], [true, '']);
});

test('a refusal leaves it as it is, and a click puts the compared text back', () => {
  const {state} = begun({text: 'a cat'}, config);
  enter(box, '');
  state.compare({text: ''});
  reply(state, {accepted: false, drawn: false});
  assert.deepEqual([note.hidden, note.textContent], [false, 'For “a cat”.back']);
  enter(box, 'a dog');
  assert.equal(note.textContent, 'For “a cat”, press Enter.back');
  click(root.querySelector('i'));
  assert.deepEqual([box.value, note.hidden], ['a cat', true]);
});

test('what was typed another way than it is run is no other text; a long one is cut where it is named', () => {
  const {state} = begun({text: 'a cat'}, config);
  enter(box, 'the [mask]');
  state.compare({text: 'the [mask]'});
  reply(state, {text: 'the [MASK]'});
  assert.equal(note.hidden, true);
  const long = 'word '.repeat(40).trim();
  state.compare({text: long});
  reply(state);
  assert.equal(note.hidden, false);
  assert.equal(note.querySelector('span').textContent, `For “${long.slice(0, 89)}…”, press Enter.`);
  enter(box, long);
  assert.equal(note.hidden, true);
  state.compare({text: `a${'😀'.repeat(90)}`});
  reply(state);
  assert.equal(note.querySelector('span').textContent, `For “a${'😀'.repeat(88)}…”, press Enter.`);
});
