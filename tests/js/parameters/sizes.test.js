// Three invented sizes beside the two that the sentence compares; work is 2 + 3 per token + a little per pair.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {charts, click, enter, place, texts} from '../dom.js';

const {constants, header, show, table} = await import('../../../assets/js/parameters/sizes.js');

const row = (key, name, total, flops, printed, shape) => ({key, name, label: name.split('-')[0], size: name, total, stored_layers: key === 'albert' ? 1 : shape.layers, applied: 3 * total, flops, printed, config: `${name}.json`, ...shape});
const rows = [
  row('bert', 'bert-large-uncased', 300e6, [1e9, 2e9, 1e6], [[340, 'BERT']], {layers: 24, width: 1024, embedding: 1024, heads: 16}),
  row('albert', 'albert-xxlarge-v2', 225e6, [0, 8e9, 4e6], [[235, 'ALBERT'], [233, 'hub']], {layers: 12, width: 4096, embedding: 128, heads: 64}),
  row('albert', 'albert-base-v2', 12e6, [0, 1e9, 0], [[11, 'A "small", one']], {layers: 12, width: 768, embedding: 128, heads: 12}),
];
const lengths = [1, 8, 16, 32, 64, 128, 256, 384, 512];
const figures = lengths.map(n => ({layout: {meta: {label: `at ${n}`}}, data: [{x: [n]}]}));
const words = {finding: '{weights} of the weights ({stored} of {of_stored}), {work} of the work ({done} of {of_done}) at {length} {tokens}', tokens: ['token', 'tokens'],
  form: 'form', forms: {chart: 'a chart', table: 'a table'}, layers: {own: '{n} layers', shared: 'one, {n} times'}, chart_note: 'dotted', bytes: 'bytes', label: 'sizes', length: 'length', unit: 'unit', note: 'note',
  units: 'MB and MiB', terms: {MiB: 'box-mib'}, heads: {name: 'model', total: 'weights', printed: 'printed', off: 'off', applied: 'applied',
    work: 'GFLOPs at {length}',
    layers: 'layers', width: 'width', embedding: 'embedding', heads: 'heads'}};

const data = {rows, figures, lengths, texts: words};

function open() {
  const root = place();
  show(root, data);
  const cells = name => { const at = texts(root, 'thead th').findIndex(text => text.replace(/ [▾▴]$/, '') === name);
    return [...root.querySelectorAll('tbody tr')].map(line => line.children[at]); };
  const heads = () => [...root.querySelectorAll('thead th')], sort = name => click(heads()[texts(root,
    'thead th').findIndex(text => text.startsWith(name))].firstChild);
  return {root, heads, sort, cells, column: name => cells(name).map(cell => cell.textContent), order: () => texts(root, 'tbody th'),
    length: root.querySelector('input'), pick: text => click([...root.querySelectorAll('button')].find(one => one.textContent === text)),
    sorted: () => heads().filter(head => head.hasAttribute('aria-sort')).map(head => [head.textContent, head.getAttribute('aria-sort')])};
}
beforeEach(() => {
  const {sort, sorted, length, pick} = open();
  pick('a table');
  enter(length, '5');
  pick('MB (10⁶)');
  sort('model');
  sort('weights');
  assert.deepEqual(sorted(), [['weights ▾', 'descending']]);
});

test('it begins with the most weights first, and the work at 128 tokens', () => {
  const {order, heads, root} = open();
  assert.deepEqual(order(), ['bert-large-uncased', 'albert-xxlarge-v2', 'albert-base-v2']);
  assert.deepEqual(heads().map(head => head.textContent),
    ['model', 'weights ▾', 'printed', 'off', 'applied', 'GFLOPs at 128', 'L', 'H', 'E', 'A', 'fp32 MB', 'fp16 MB', 'int8 MB']);
  assert.deepEqual([...root.querySelectorAll('tbody tr')].map(line => line.dataset.model), ['bert', 'albert', 'albert']);
});

test('the sentence compares the widest ALBERT with the large BERT', () => {
  const {root, length} = open(), sentence = () => root.querySelector('.finding').textContent;
  // 8e9 * 128 + 4e6 * 128 ** 2 = 1089.5e9 beside 1e9 + 2e9 * 128 + 1e6 * 128 ** 2 = 273.4e9
  assert.equal(sentence(), '0.75 of the weights (225.0\u00a0M of 300.0\u00a0M), 4.0 of the work (1,089.5\u00a0GFLOP of 273.4\u00a0GFLOP) at 128 tokens');
  enter(length, '0');
  assert.equal(sentence(), '0.75 of the weights (225.0\u00a0M of 300.0\u00a0M), 2.7 of the work (8.00\u00a0GFLOP of 3.00\u00a0GFLOP) at 1 token');   // 8.004 beside 3.001
});

test('each model’s row has its counts as they are printed', () => {
  const {column} = open();
  assert.deepEqual(column('weights'), ['300,000,000', '225,000,000', '12,000,000']);
  assert.deepEqual(column('printed'), ['340\u00a0M', '235\u00a0M / 233\u00a0M', '11\u00a0M']);
  assert.deepEqual(column('off'), ['−11.8%', '−4.3%', '+9.1%']);
  assert.deepEqual(column('applied'), ['900.0\u00a0M', '675.0\u00a0M', '36.0\u00a0M']);
  assert.deepEqual(column('GFLOPs at 128'), ['273.4', '1,089.5', '128.0']);
  assert.deepEqual(['L', 'H', 'E', 'A'].map(column), [['24', '12', '12'], ['1,024', '4,096', '768'], ['1,024', '128', '128'], ['16', '64', '12']]);
});

test('bytes are 4, 2 or 1 a weight, in a million or in two to the twentieth', () => {
  const {column, pick} = open();
  assert.deepEqual(['fp32 MB', 'fp16 MB', 'int8 MB'].map(column), [['1,200.0', '900.0', '48.0'], ['600.0', '450.0', '24.0'], ['300.0', '225.0', '12.0']]);
  pick('MiB (2²⁰)');
  assert.deepEqual(column('int8 MiB'), ['286.1', '214.6', '11.4']);
  assert.equal(open().column('int8 MiB')[0], '286.1', 'it stays');
});

test('a bar is as long as its share of the largest', () => {
  const {root, cells} = open(), shares = name => cells(name).map(cell => Number(cell.style.getPropertyValue('--share')));
  assert.deepEqual(shares('weights'), [1, .75, .04]);
  shares('GFLOPs at 128').forEach((share, i) => assert.ok(Math.abs(share - [273.384, 1089.536, 128][i] / 1089.536) < 1e-9));
  assert.equal(root.querySelectorAll('td.with-bar').length, 6);
  assert.deepEqual(cells('applied').map(cell => cell.className), ['', '', '']);
});

test('a short name has its meaning on it, a printed number its source', () => {
  const {heads, cells} = open();
  assert.deepEqual(heads().map(head => head.firstChild.title), ['', '', '', '', '', '', 'layers', 'width', 'embedding', 'heads', '', '', '']);
  assert.deepEqual(cells('printed').map(cell => cell.title), ['340\u00a0M: BERT', '235\u00a0M: ALBERT; 233\u00a0M: hub', '11\u00a0M: A "small", one']);
  assert.deepEqual([cells('L')[0].title, cells('weights')[0].title], ['', '']);
  assert.deepEqual(cells('printed')[1].dataset.label, 'printed');
});

test('a press on a name sorts by it, the largest first; a second one turns that round', () => {
  const {sort, order, sorted} = open(), [bert, wide, small] = ['bert-large-uncased', 'albert-xxlarge-v2', 'albert-base-v2'];
  sort('GFLOPs');
  assert.deepEqual([order(), sorted()], [[wide, bert, small], [['GFLOPs at 128 ▾', 'descending']]]);
  assert.equal(document.activeElement.textContent, 'GFLOPs at 128 ▾');
  sort('GFLOPs');
  assert.deepEqual([order(), sorted()], [[small, bert, wide], [['GFLOPs at 128 ▴', 'ascending']]]);
  sort('model');
  assert.deepEqual([order(), sorted()], [[small, wide, bert], [['model ▴', 'ascending']]]);
  sort('off');
  assert.deepEqual(order(), [small, wide, bert]);
  sort('printed');
  assert.deepEqual(order(), [bert, wide, small]);
  for (const [name, by] of [['applied', [bert, wide, small]], ['L', [bert, wide, small]], ['H', [wide, bert, small]], ['E', [bert, wide, small]], ['A', [wide,
    bert, small]],
    ['fp32', [bert, wide, small]]]) {
    sort(name);
    assert.deepEqual(order(), by, name);
  }
  assert.deepEqual(open().order(), [bert, wide, small], 'the order stays');
});

test('the length has stops from 1 to 512', () => {
  const {length, heads} = open();
  const stops = Array.from({length: 9}, (_, i) => { enter(length, String(i)); return heads()[5].textContent; });
  assert.deepEqual(stops, [1, 8, 16, 32, 64, 128, 256, 384, 512].map(stop => `GFLOPs at ${stop}`));
  assert.equal(length.max, '8');
  assert.equal(open().length.value, '8');
});

test('its table and its lines of Python have the chosen length', () => {
  enter(open().length, '3');
  const {columns, rows: lines} = table(data);
  assert.deepEqual(columns.slice(-2), ['flops_at_32_tokens', 'uses_of_a_weight_per_token']);
  assert.deepEqual(lines[2].toSpliced(5, 1), ['albert-base-v2', 12e6, 11, 'A "small", one', rows[2].printed.slice(1).map(([n]) => n).join(' / '), 36e6, 12, 768, 128, 12, 48e6, 24e6, 12e6, 32e9, 32e9 / (2 * 32 * 12e6)]);
  assert.ok(Math.abs(Number(lines[2][5]) - 100 / 11) < 1e-9, 'percent over the printed number');
  assert.deepEqual(header(data).state, {form: 'table', length: 32, unit: 'MB'});
  assert.deepEqual(constants(data), {LENGTH: 32, CONFIGS: {'bert-large-uncased': 'bert-large-uncased.json',
    'albert-xxlarge-v2': 'albert-xxlarge-v2.json', 'albert-base-v2': 'albert-base-v2.json'}});
});

test('the two units are explained', () => {
  const {root} = open();
  assert.equal(root.querySelector('.note .term').getAttribute('popovertarget'), 'box-mib');
  assert.deepEqual(texts(root, '.note'), ['note', 'bytes', 'MB and MiB']);
});

test('the chart is of the chosen length, and what it draws can be read without seeing it', () => {
  const {root, pick, length} = open();
  pick('a chart');
  const [pressed] = [...root.querySelectorAll('.pm-switch button')].filter(one => one.getAttribute('aria-pressed') === 'true').map(one => one.textContent);
  assert.equal(pressed, 'a chart');
  assert.deepEqual(charts(root).map(one => one.data[0].x), [[128]]);
  enter(length, '8');
  assert.deepEqual(charts(root).map(one => one.data[0].x), [[512]]);
  assert.deepEqual(texts(root, '.note'), ['dotted', 'MB and MiB']);
  assert.equal(root.querySelectorAll('.pt-sizes').length, 0);
  assert.deepEqual(texts(root, '.sr-only tbody tr').length, 3);
  assert.ok(texts(root, '.sr-only th').includes('flops_at_512_tokens'));
  assert.deepEqual(header(data).state, {form: 'chart', length: 512}, 'a chart has no unit of bytes');
});

test('below the chart each size has its own drawing and its number of layers', () => {
  const {root, pick} = open();
  pick('a chart');
  const legend = [...root.querySelectorAll('.pt-layers li')];
  assert.deepEqual(legend.map(one => one.textContent), ['bert24 layers', 'albertone, 12 times', 'albertone, 12 times']);
  assert.deepEqual(legend.map(one => [one.dataset.model, one.dataset.size]), rows.map(one => [one.key, one.size]));
});

test('the form stays, and a link of before that names a unit opens the table', () => {
  const {pick} = open();
  pick('a chart');
  assert.equal(open().root.querySelectorAll('.pt-sizes').length, 0);
  pick('a table');
  pick('MiB (2²⁰)');
  pick('a chart');
  assert.equal(open().root.querySelectorAll('.pt-sizes').length, 0, 'chosen again');
});
