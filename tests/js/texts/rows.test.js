// The table of Your texts: which rows a filter leaves, in which order, and what a file has of them.
import assert from 'node:assert/strict';
import test from 'node:test';

import '../page.js';

const {SAID, constants, isLike, labelsSaid, matching, ordersOf, table} = await import('../../../assets/js/texts/rows.js');
const line = (n, right, group, apart) => ({n, lead: [`text ${n}`, 'cat', group], cells: [['a', 0.5, -1, 1, 1], ['b', 0.25, null, null, 0]], group, apart, right, marks: [], open: {tab: 'predictions', text: ''}});
const data = {kind: 'masked', columns: ['row', 'model', 'text', 'answer', 'group', 'word', 'probability', 'answer_log_probability', 'answer_rank', 'answer_pieces'],
  names: {bert: 'mini-BERT', albert: 'mini-ALBERT'}, models: ['bert', 'albert'], total: 4, constants: {}, said: {}, texts: {only: ''},
  lines: [line(3, [true, false], 'x', 0.4), line(1, [false, true], 'y', 0.3), line(4, [false, false], 'x', 0.2), line(2, [], '', 0.1)]};
const numbers = chosen => matching(data, {only: 'all', group: 'all', rows: 'apart', ...chosen}).map(({n}) => n);

test('a filter leaves the rows that are like that', () => {
  assert.deepEqual(numbers({}), [3, 1, 4, 2]);
  assert.deepEqual(numbers({rows: 'list'}), [1, 2, 3, 4]);
  assert.deepEqual(numbers({only: 'bert.albert'}), [3]);
  assert.deepEqual(numbers({only: 'albert.bert'}), [1]);
  assert.deepEqual(numbers({only: 'differ'}), [3, 1]);
  assert.deepEqual(numbers({only: 'wrong'}), [4]);
  assert.deepEqual(numbers({group: '0'}), [3, 4]);
  assert.equal(isLike(data.lines[3], 'wrong', data.models), false);
});

test('a filter that a list does not have hides none of its rows', () => {
  const others = {...data, lines: data.lines.map(one => ({...one, group: '', right: []}))};   // plain sentences
  for (const only of ['wrong', 'differ', 'bert.albert']) assert.equal(matching(others, {only, group: 'all', rows: 'list'}).length, 4, only);
  for (const group of ['0', '3']) assert.equal(matching(others, {only: 'all', group, rows: 'list'}).length, 4, `group ${group}`);
  assert.deepEqual([numbers({only: 'bert.distilbert'}), numbers({group: '3'}), numbers({only: 'x', group: '-1'})], Array(3).fill([3, 1, 4, 2]));
  const alone = {...data, models: ['bert'], lines: [line(1, [true], 'x', 0), line(2, [false], 'x', 0)]};
  assert.deepEqual(['differ', 'wrong'].map(only => matching(alone, {only, group: '0', rows: 'list'}).map(({n}) => n)), [[1, 2], [2]]);
});

test('several labels are a list, and a row without any says so', () => {
  assert.deepEqual(['joy|anger', 'joy', ''].map(labels => labelsSaid(labels, {no_labels: 'none'})), ['joy, anger', 'joy', 'none']);
});

test("a cell has the label of a model's own head where one is scored, and that of its features below it", () => {
  const t = {by_features: 'features: {predicted}', no_head: 'frozen features', no_labels: 'none'}, of = (kind, ...cells) => cells.map(each => SAID[kind](each, {cells}, t, 0));
  assert.deepEqual(of('labelled', ['good', true, 'bad', 0.75, false], ['good', true, null, null, null]), [['bad 0.750', 'features: good'], ['good', 'frozen features']]);
  assert.deepEqual(of('labelled', ['good', true, null, null, null]), [['good', '']]);
  assert.deepEqual(of('labelled', [null, null, 'bad', 0.75, false], [null, null, null, null, null]), [['bad 0.750', ''], ['–', '']]);
  assert.deepEqual(of('multilabel', ['joy|fear', false, '', true]), [['none', 'features: joy, fear']]);
  assert.deepEqual(of('scored', [1.234, 2], [1, null]), [['2.00', 'features: 1.23'], ['1.00', 'frozen features']]);
});

test('a row whose label a head cannot give is neither right nor wrong', () => {
  const unknown = line(5, [null, true], 'x', 0), models = ['bert', 'albert'];
  assert.deepEqual(['differ', 'wrong', 'bert.albert', 'albert.bert'].filter(which => isLike(unknown, which, models)), []);
  assert.equal(isLike(line(6, [null, false], 'x', 0), 'wrong', models), true);
});

test('of pairs the order says that those which only some models have right come first', () => {
  const texts = {apart: 'apart', apart_pairs: 'split first', list: 'list'};
  for (const kind of ['masked', 'plain', 'labelled']) assert.deepEqual(ordersOf({...data, kind, texts}), {apart: 'apart', list: 'list'});
  assert.deepEqual(ordersOf({...data, kind: 'pairs', texts}), {apart: 'split first', list: 'list'});
});

test('a file has all rows in the order of the list, one for each model', () => {
  const {columns, rows} = table(data);
  assert.equal(columns, data.columns);
  assert.deepEqual(rows.map(([n, model]) => [n, model]), [1, 2, 3, 4].flatMap(n => [[n, 'mini-BERT'], [n, 'mini-ALBERT']]));
  assert.deepEqual(rows[0], [1, 'mini-BERT', 'text 1', 'cat', 'y', 'a', 0.5, -1, 1, 1]);
  assert.deepEqual(constants(data).ROWS[0], [1, 'text 1', 'cat', 'y']);
});
