import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {constants, header, show, table} = await import('../../../assets/js/distillation/agreement.js');

const said = {first: 'same first', five: 'of five', kl: 'KL', teacher_right: 'teacher right', student_right: 'student right', worst: 'Worst',
  columns: ['sentence', 'teacher', 'student', 'KL', 'shared'], note: 'On 8 sentences.', pair: ['before', 'after']};
const data = {texts: said, first: .625, five: .7, kl: .12345, teacher_right: .5, student_right: .25, ran: {family: 'base', device: 'cpu', dtype: 'float16'},
  worst: [{text: 'A [MASK] sat.', answer: 'cat', teacher: 'dog', student: 'man', kl: 1.5, shared: 2, opens: {text: 'A cat sat.', word: 1}},
    {text: '[MASK] ran.', answer: 'He', teacher: 'she', student: 'he', kl: .25, shared: 0, opens: {text: 'He ran.', word: 0}}]};

test('five numbers, each with what it is, and the sentences that are furthest apart', () => {
  const root = place();
  show(root, data);
  assert.deepEqual(texts(root, '.da-big'), ['62.5%same first', '70.0%of five', '0.123KL', '50.0%teacher right', '25.0%student right']);
  assert.deepEqual(texts(root, 'tbody tr'), ['A cat sat.dogman1.5002', 'He ran.shehe0.2500']);
  assert.deepEqual(texts(root, '.da-gap'), ['cat', 'He']);
  assert.equal(root.querySelector('.note').textContent, 'On 8 sentences.');
  assert.equal(root.querySelector('figcaption').textContent, 'Worst');
});

test('a sentence is opened in the lab with its word hidden', () => {
  const {sent} = begun(), root = place(), lab = document.createElement('div'), area = document.createElement('div');
  lab.dataset.kind = 'distillation/lab';
  const seen = [];
  lab.scrollIntoView = how => seen.push(how.block);
  area.id = 'text';
  area.append(document.createElement('textarea'));
  document.body.append(lab, area);
  show(root, data);
  click(root.querySelector('.da-sentence'));
  assert.equal(area.firstChild.value, 'A cat sat.');
  assert.deepEqual([sent[0].text, sent[0].word, sent.length], ['A cat sat.', '1', 1]);
  assert.deepEqual(seen, ['start']);
  lab.remove();
  click(root.querySelectorAll('.da-sentence')[1]);
  assert.equal(sent[1].word, '0');
});

test('on its way it says how far it is; stopped, it says so and the bar is gone', () => {
  const root = place();
  show(root, {done: 0, n: 8, sentence: 'Running.'});
  show(root, {done: 3, n: 8, sentence: 'Running.'});
  const bar = root.querySelector('progress');
  assert.deepEqual([bar.value, bar.max, root.textContent, root.querySelector('[role=status]').textContent], [3, 8, 'Running.', 'Running.']);
  assert.deepEqual([root.querySelector('.da-bigs'), root.lastElementChild], [null, bar]);
  show(root, {done: null, n: 8, sentence: 'Stopped.'});
  assert.deepEqual([root.textContent, root.querySelector('progress')], ['Stopped.', null]);
  show(root, data);
  assert.equal(texts(root, '.da-big').length, 5);
});

test('its rows and its lines of Python hold the sentences, none while it runs; its files name no text, and the models that it was run with', () => {
  assert.deepEqual(header(data), {text: null, family: 'base', device: 'cpu', dtype: 'float16'});
  assert.deepEqual(header({done: 1}), {text: null});
  assert.deepEqual(table(data).rows, [['A [MASK] sat.', 'cat', 'dog', 'man', 1.5, 2], ['[MASK] ran.', 'He', 'she', 'he', .25, 0]]);
  assert.deepEqual(constants(data), {SENTENCES: ['A [MASK] sat.', '[MASK] ran.'], PAIR: ['before', 'after']});
  assert.deepEqual([table({done: 1}).rows, constants({done: 1})], [[], {SENTENCES: [], PAIR: []}]);
});
