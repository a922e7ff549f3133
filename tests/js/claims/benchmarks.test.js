import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, texts} from '../dom.js';

const {table} = await import('../../../assets/js/claims/benchmarks.js');

const said = {system: 'System', bars: 'Bars: {column}', sort: 'Sort by {column}', table: 'Table', published: 'published', slip: 'slip'};
const scores = {id: 'distilbert-1', paper: 'distilbert', title: 'GLUE', source: 'DistilBERT, Table 1', split: 'dev', protocol: 'A mean of runs.',
  sort: 'Mean',
  columns: [{label: 'Mean', unit: '%'}, {label: 'MCC', unit: 'r × 100'}, {label: 'Loss', unit: 'ppl', lower_is_better: true}],
  rows: [{name: 'ELMo', values: [68.7, 44, 5]}, {name: 'BERT', model: 'bert', values: [79.5, null, 4.5]},
    {name: 'DistilBERT', model: 'distilbert', values: [77, 51.3, null]}],
  flags: [{row: 'BERT', column: 'Mean', kind: 'slip', text: 'Not the mean.'}], note: 'A note.'};
const sizes = {id: 'albert-2', paper: 'albert', title: 'Sizes', source: 'ALBERT, Table 2', split: '-', protocol: 'Counted.', sort: 'Parameters',
  columns: [{label: 'Parameters', unit: 'M', lower_is_better: true}, {label: 'Plain', unit: ''}],
  rows: [{name: 'big', values: [1024.5, 1]}, {name: 'small', values: [12, 2]}], flags: []};
const data = {texts: said, tables: [scores, sizes], addresses: {'Table 1': 'https://paper.test/1'}, terms: {mean: 'box-mean'}};

let serial = 0;
/** A freshly opened page. */
async function shown(changes) {
  const {show: draw} = await import(`../../../assets/js/claims/benchmarks.js?${serial += 1}`), root = place();
  draw(root, {...data, ...changes});
  return root;
}
const heads = root => texts(root, 'thead th');
const names = root => texts(root, 'tbody th');
const sort = (root, i) => click(root.querySelectorAll('thead button')[i]);
const sorts = root => [...root.querySelectorAll('thead th')].map(node => node.getAttribute('aria-sort'));
function choose(root, value) {
  const select = root.querySelector('select');
  select.value = value;
  select.dispatchEvent(new Event('change'));
}

test('the opening table is sorted by its own column, best first', async () => {
  const root = await shown();
  assert.deepEqual(heads(root), ['System', 'Mean ▼', 'MCC (r × 100)', 'Loss (ppl)']);
  assert.deepEqual(sorts(root), [null, 'descending', 'none', 'none']);
  assert.deepEqual(names(root), ['BERT', 'DistilBERT', 'ELMo']);
  assert.equal(root.querySelector('.bm-title').textContent, 'Bars: Mean');
});

test('bars are shares of the longest, with the number as it is printed, and a sign where something is said of it', async () => {
  const root = await shown();
  assert.deepEqual(texts(root, '.bm-bars li'), ['BERT79.5% †', 'DistilBERT77.0%', 'ELMo68.7%']);
  assert.deepEqual([...root.querySelectorAll('.bm-bar i')].map(bar => parseFloat(bar.style.inlineSize).toFixed(1)), ['100.0', '96.9', '86.4']);
  assert.deepEqual([...root.querySelectorAll('.bm-bars li')].map(row => row.getAttribute('data-model')), ['bert', 'distilbert', null]);
  assert.deepEqual([...root.querySelectorAll('.bm-bars li > span:first-child')].map(name => name.className), ['model-name', 'model-name', '']);
  assert.equal(root.querySelector('.bm-bars').getAttribute('aria-label'), 'Bars: Mean');
});

test('a score has its decimal, a missing one a dash, and a sign stands in its own cell alone', async () => {
  const cells = [...(await shown()).querySelectorAll('tbody tr')].map(row => texts(row, 'td'));
  assert.deepEqual(cells, [['79.5†', '–', '4.5'], ['77.0', '51.3', '–'], ['68.7', '44.0', '5']]);
});

test('a head sorts by its column, once more the other way round; what is missing comes last, and the head keeps the focus', async () => {
  const root = await shown();
  sort(root, 1);
  assert.deepEqual(names(root), ['DistilBERT', 'ELMo', 'BERT']);
  assert.deepEqual(texts(root, '.bm-bars li'), ['DistilBERT51.3', 'ELMo44.0']);
  assert.equal(root.querySelector('.bm-title').textContent, 'Bars: MCC (r × 100)');
  assert.equal(document.activeElement.title, 'Sort by MCC');
  sort(root, 1);
  assert.deepEqual(names(root), ['ELMo', 'DistilBERT', 'BERT']);
  assert.equal(sorts(root)[2], 'ascending');
  assert.equal(heads(root)[2], 'MCC (r × 100) ▲');
  sort(root, 2);
  assert.deepEqual([names(root), sorts(root)[3]], [['BERT', 'ELMo', 'DistilBERT'], 'ascending']);   // less is better
  assert.deepEqual(texts(root, '.bm-bars li'), ['BERT4.5 ppl', 'ELMo5 ppl']);
  sort(root, 2);
  assert.equal(sorts(root)[3], 'descending');
});

test('a number below nothing has a bar as long as it is', async () => {
  const root = await shown({tables: [{...scores, rows: [{name: 'a', values: [-8, 0, 0]}, {name: 'b', values: [4, 0, 0]}], flags: []}]});
  assert.deepEqual([...root.querySelectorAll('.bm-bar i')].map(bar => bar.style.inlineSize), ['50%', '100%']);
});

test('tables stand below their papers; another one begins with its own order', async () => {
  const root = await shown();
  assert.deepEqual([...root.querySelectorAll('optgroup')].map(group => [group.label, ...texts(group, 'option')]),
    [['BERT'], ['DistilBERT', 'GLUE, Table 1'], ['ALBERT', 'Sizes, Table 2'], ['Released']]);
  assert.equal(root.querySelector('select').value, 'distilbert-1');
  choose(root, 'albert-2');
  assert.equal(root.querySelector('select').value, 'albert-2');
  assert.equal(document.activeElement, root.querySelector('select'));
  assert.deepEqual(names(root), ['small', 'big']);
  assert.equal(sorts(root)[1], 'ascending');
  assert.deepEqual(texts(root, '.bm-bars .printed'), ['12 M', '1,024.5 M']);
  sort(root, 1);
  assert.deepEqual(heads(root), ['System', 'Parameters (M)', 'Plain ▼']);
  assert.deepEqual(texts(root, '.bm-bars .printed'), ['2', '1']);
});

test('where the opening table is not there the first one is', async () => {
  assert.equal((await shown({tables: [sizes]})).querySelector('select').value, 'albert-2');
});

test('it says where a table is from, on which part, by what rule, and what is odd about it', async () => {
  const root = await shown(), [from, odd, note] = root.querySelectorAll('.note');
  assert.equal(from.textContent, 'published DistilBERT, Table 1. dev. A mean of runs.');
  assert.deepEqual([from.querySelector('a').textContent, from.querySelector('a').href], ['Table 1', 'https://paper.test/1']);
  assert.equal(from.querySelector('.term').textContent, 'mean');
  assert.equal(odd.textContent, '† BERT, Mean slip Not the mean.');
  assert.equal(note.textContent, 'A note.');
  choose(root, 'albert-2');
  assert.deepEqual(texts(root, '.note'), ['published ALBERT, Table 2. Counted.']);
});

test('the table has a row for each printed number of each published table', () => {
  const {columns, rows} = table(data);
  assert.deepEqual(columns, ['table', 'source', 'system', 'column', 'unit', 'value']);
  assert.equal(rows.length, 13);
  assert.deepEqual(rows[4], ['distilbert-1', 'DistilBERT, Table 1', 'BERT', 'MCC', 'r × 100', null]);
  assert.deepEqual(rows[12], ['albert-2', 'ALBERT, Table 2', 'small', 'Plain', '', 2]);
});

test('its files say which table is drawn', async () => {
  const {header, show} = await import('../../../assets/js/claims/benchmarks.js?header'), root = place();
  show(root, data);
  assert.deepEqual(header(data).state, {table_drawn: 'GLUE'});
  choose(root, 'albert-2');
  assert.deepEqual(header(data).state, {table_drawn: 'Sizes'});
});
