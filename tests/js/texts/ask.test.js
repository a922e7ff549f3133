// The form of Your texts: how a list that stands in the box is asked for.
import assert from 'node:assert/strict';
import test from 'node:test';
import {inflateRawSync} from 'node:zlib';

import {click, enter, place, until} from '../dom.js';
import {begun} from '../page/stage.js';

const {show} = await import('../../../assets/js/texts/ask.js');
const data = {asks: [], lists: [{name: 'facts', title: 'Facts'}], kinds: {masked: 'masked', plain: 'plain'}, roles: {text: 'Text', answer: 'Answer'},
  poolings: {}, scores: {}, ways: {}, precisions: {}, last: 4, limit: 99, most: 99, texts: {}};
const ROWS = 'text,answer,other\nThe moon moves [MASK] the earth.,around,near\nThe sun is a [MASK].,star,sun\n';

/** The form with a bundled list of ROWS whose kind and a column were chosen; `asked` holds what it asks for. */
async function opened() {
  begun();
  const root = place(), asked = [], ran = [];
  const asks = async question => {
    if (question.packed) question.text = inflateRawSync(Buffer.from(question.packed, 'base64')).toString();
    asked.push(question);
    return JSON.stringify({...question.list ? {text: ROWS} : {}, names: ['text', 'answer', 'other'], kind: question.kind || 'masked', columns: {answer: 'answer'}, n_rows: 2});
  };
  show(root, data, {ask: question => ran.push(question), asks, dark: false});
  const box = root.querySelector('textarea'), next = async n => { await until(() => asked.length === n); await new Promise(setImmediate); };
  click(root.querySelector('[data-list]'));
  await until(() => ran.length === 1);   // it is read, and read again to be run
  const select = i => root.querySelectorAll('select')[i];
  enter(select(0), 'plain');
  await next(3);
  enter(select(1), 'other');
  await next(4);
  return {box, asked: async () => { click(root.querySelector('.tx-run')); await until(() => ran.length === 2); return asked[4]; }};
}

/** What is selected is replaced, as by a paste. */
function pasted(box, text, from = 0, to = box.value.length) {
  box.setSelectionRange(from, to);
  box.dispatchEvent(new Event('beforeinput'));
  box.value = box.value.slice(0, from) + text + box.value.slice(to);
  box.dispatchEvent(new Event('input'));
}
const chosen = ({name, kind, columns}) => ({name, kind, columns});

test('a list that takes the place of another is not read in its format, kind and columns', async () => {
  const text = 'She put the [MASK], still warm, on the table.';
  for (const to of [ROWS.length, ROWS.length - 1]) {   // with the last line's end, and without it
    const {box, asked} = await opened();
    pasted(box, text, 0, to);
    const question = await asked();
    assert.equal(question.text.trim(), text);
    assert.deepEqual(chosen(question), {name: '', kind: '', columns: {}});
  }
});

test('a row that is edited, one that comes in and one that goes are read as the list was', async () => {
  const second = ROWS.indexOf('The sun');
  for (const [text, from, to] of [['The day', 0, 4], ['sky', second + 4, second + 7], ['A,b,c\n', second, second], ['', second, ROWS.length], ['', 0, second]]) {
    const {box, asked} = await opened();
    pasted(box, text, from, to);
    assert.deepEqual(chosen(await asked()), {name: 'list.csv', kind: 'plain', columns: {answer: 'other'}}, `${text} from ${from} to ${to}`);
  }
});

test('an empty box is refused in a sentence; an answer below it, to another list, fades until a list is run, and an introduction does not', async () => {
  begun();
  const root = place(), answer = document.createElement('div'), tab = document.createElement('div');
  const sent = [], said = () => root.querySelector('.tx-said').textContent;
  const faded = () => document.adoptedStyleSheets.flatMap(sheet => [...sheet.cssRules].map(rule => rule.cssText)).some(rule => /#tab-texts.*opacity/.test(rule));
  const asks = async ({packed}) => JSON.stringify(packed && inflateRawSync(Buffer.from(packed, 'base64')).toString() === 'bad' ? {error: 'It is bad.'} : {kind: 'plain', columns: {}, names: ['text'], n_rows: 1});
  show(root, {...data, asks: ['others'], texts: {empty: 'The box is empty.'}}, {ask: question => sent.push(question), asks, dark: false});
  const run = () => click(root.querySelector('.tx-run')), box = root.querySelector('textarea');
  pasted(box, '');
  run();
  await until(() => said() === 'The box is empty.');
  assert.deepEqual([sent.length, faded()], [0, false]);
  tab.id = 'tab-texts';
  answer.className = 'tx-rows';
  tab.append(answer);
  document.body.append(tab);
  run();
  await until(faded);
  assert.equal(sent.length, 0);
  pasted(box, 'good');
  run();
  await until(() => sent.length === 1);
  assert.equal(faded(), false);
  pasted(box, 'bad');
  run();
  await until(() => said() === 'It is bad.');
  await new Promise(setImmediate);
  assert.deepEqual([sent.length, faded()], [1, true]);
});

test('a file is asked for under its own name, and a list that is pasted in its place is not', async () => {
  begun();
  const root = place(), asked = [], ran = [];
  const asks = async question => { asked.push(question); return JSON.stringify({text: ROWS, names: ['text'], kind: 'masked', columns: {}, n_rows: 2}); };
  show(root, data, {ask: question => ran.push(question), asks, dark: false});
  const input = root.querySelector('input[type=file]');
  Object.defineProperty(input, 'files', {value: [new File([ROWS], 'sst2-dev.csv')]});
  input.dispatchEvent(new Event('change'));
  await until(() => root.querySelector('textarea').value === ROWS);
  click(root.querySelector('.tx-run'));
  await until(() => ran.length === 1);
  assert.deepEqual([...asked, ...ran].map(({name}) => name), ['sst2-dev.csv', 'sst2-dev.csv', 'sst2-dev.csv']);
  pasted(root.querySelector('textarea'), 'It sings.');
  click(root.querySelector('.tx-run'));
  await until(() => ran.length === 2);
  assert.equal(ran[1].name, '');
});
