// Bars of a hundred million: BERT stores 38 in words and 30 in each of two layers; ALBERT has one layer, run twice.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {click, place, press, texts, widen} from '../dom.js';

const {constants, header, show, table} = await import('../../../assets/js/parameters/map.js');

const words = {mode_label: 'mode', modes: {stored: 'Stored', applied: 'Applied'}, family_label: 'family', families: {base: 'Base', large: 'Large', odd: 'Odd'},
  stored_note: 'as stored; dashed: {first}', applied_note: 'as applied', hint: 'point', heads_apart: 'The pooler is in.', terms: {pooler: 'box-pooler'},
  parts: {word_embeddings: 'Word embeddings', embedding_projection: 'Projection', attention: 'Attention', ffn: 'Feed-forward', pooler: 'Pooler', head: 'Head'},
  changes: {factorising: 'factorising', sharing: 'one shared layer', layers: 'fewer layers', pooler: 'no pooler', segments: 'no segments', width: 'narrower'},
  bar: '{label}: {stored} stored, {applied} applied', embeddings: 'embeddings', one_layer: 'one layer of', run: 'run {n} times', layers_each: 'layers of',
  less: 'less {how} than {first}', more: 'more {how} than {first}', how: {stored: 'kept', applied: 'used'}, numbers: 'weights', layer: 'Layer',
  again: 'the same again', tensor_head: ['Tensor', 'Shape', 'Type', 'Bytes']};
const cell = (part, millions, layer = null, calls = 1) => ({part, layer, calls, size: millions * 1e6,
  tensors: [[`${part}.${layer ?? 'x'}`, [millions, 1000, 1000], 'float32', 4e6 * millions]]});
const layer = (n, calls) => [cell('attention', 10, n, calls), cell('ffn', 20, n, calls)];
const row = (key, label, calls, applied, cells, savings) => {
  const total = cells.reduce((sum, one) => sum + one.size, 0);
  return {key, label, total, applied: applied * 1e6, bytes: 4 * total, head: cell('head', 24, null, 0), calls, layer: 3e7, cells, savings, config: {of: label}};
};
const BASE = [
  row('bert', 'BERT', 2, 100, [cell('word_embeddings', 38), ...layer(0), ...layer(1), cell('pooler', 2)], []),
  row('distilbert', 'DistilBERT', 1, 68, [cell('word_embeddings', 38), ...layer(0)], [['layers', 3e7], ['pooler', 2e6]]),
  row('albert', 'ALBERT', 2, 71, [cell('word_embeddings', 8), cell('embedding_projection', 1), ...layer(0, 2), cell('pooler', 2)],
    [['factorising', 29e6], ['sharing', 3e7]]),
];
const LARGE = [row('bert', 'BERT-L', 1, 200, [cell('word_embeddings', 170), ...layer(0)], []),
  row('albert', 'ALBERT-L', 3, 99, [cell('word_embeddings', 9), ...layer(0, 3)], [['factorising', 161e6], ['sharing', 0], ['width', -5e7]])];
const only = (...rows) => ({families: {odd: rows}, texts: words});
const width = part => [part.style.left, part.style.width].map(text => Number(parseFloat(text).toFixed(6)));
const near = (got, wanted) => assert.deepEqual(got.map(at => at.map(v => Number(v.toFixed(6)))), wanted);

function open(data = {families: {base: BASE, large: LARGE}, texts: words}) {
  const root = place();
  show(root, data);
  const bar = key => root.querySelector(`.pm-row[data-model=${key}] .pm-bar`), button = text => [...root.querySelectorAll('.pm-switch button')]
    .find(one => one.textContent === text);
  return {root, bar, cells: key => [...bar(key).querySelectorAll('.pm-cell')], ghosts: key => [...bar(key).querySelectorAll('.pm-ghost')],
    pick: text => click(button(text)), button, line: () => root.querySelector('.pm-line').textContent,
    caption: key => bar(key).parentElement.querySelector('.pm-caption').textContent, current: () => [...root.querySelectorAll('.pm-cell.current')]};
}
beforeEach(() => { const {pick} = open(); pick('Base'); open().pick('Stored'); });

test('each model has its bar, on one scale, cut into its parts from left to right', () => {
  const {root, cells} = open();
  assert.deepEqual([texts(root, 'h3'), texts(root, '.pm-total')], [['BERT', 'DistilBERT', 'ALBERT'], ['100.0\u00a0M', '68.0\u00a0M', '41.0\u00a0M']]);
  assert.deepEqual(texts(root, '.pm-unit'), ['400.0\u00a0MB fp32', '272.0\u00a0MB fp32', '164.0\u00a0MB fp32']);
  near(cells('bert').map(width), [[0, 38], [38, 10], [48, 20], [68, 10], [78, 20], [98, 2]]);
  assert.deepEqual(cells('bert').map(part => part.dataset.part), ['word_embeddings', 'attention', 'ffn', 'attention', 'ffn', 'pooler']);
  assert.deepEqual(cells('bert').map(part => part.classList.contains('starts')), [false, true, false, true, false, false]);
  assert.deepEqual(texts(root, '.pm-cell'), ['embeddings', '', '1', '', '2', '', 'embeddings', '', '1', 'embeddings', '', '', '1', '', '2', '']);
});

test('what is saved follows as dashed parts up to the first model’s length', () => {
  const {ghosts, cells} = open();
  near(ghosts('distilbert').map(width), [[68, 30], [98, 2]]);
  near(ghosts('albert').map(width), [[41, 29], [70, 30]]);
  assert.deepEqual(ghosts('albert').map(part => [part.title, part.textContent]), Array(2).fill(0).map((_, i) =>
    Array(2).fill(['factorising: −29.0\u00a0M', 'one shared layer: −30.0\u00a0M'][i])));
  near(cells('albert').map(width), [[0, 8], [8, 1], [9, 10], [19, 20], [39, 0], [39, 0], [39, 2]]);
});

test('as applied, a shared layer stands again as often as it runs, and sharing saves nothing', () => {
  const {root, pick, cells, ghosts, caption} = open();
  const folded = list => list.map(part => Number(part.classList.contains('folded'))).join('');
  assert.deepEqual([folded(cells('albert')), folded(ghosts('albert'))], ['0000110', '00']);
  assert.deepEqual(cells('albert').map(part => part.classList.contains('again')), [false, false, false, false, true, true, false]);
  pick('Applied');
  near(cells('albert').map(width), [[0, 8], [8, 1], [9, 10], [19, 20], [39, 10], [49, 20], [69, 2]]);
  near(ghosts('albert').map(width), [[71, 29], [100, 0]]);
  assert.deepEqual([folded(cells('albert')), folded(ghosts('albert'))], ['0000000', '01']);
  assert.deepEqual([texts(root, '.pm-total'), texts(root, '.pm-unit')], [['100.0\u00a0M', '68.0\u00a0M', '71.0\u00a0M'], ['applied', 'applied', 'applied']]);
  assert.equal(root.querySelector('.note').textContent, 'as applied');
  assert.equal(caption('albert'),
    'embeddings 9.00\u00a0M, one layer of 30.0\u00a0M, run 2 times, pooler 2.00\u00a0M. 29.0\u00a0M less used than BERT: factorising 29.0\u00a0M (100.0%).');
  assert.match(caption('distilbert'), /32\.0\u00a0M less used/);
});

test('the caption says what a bar is made of and what it lacks', () => {
  const {root, caption} = open();
  assert.equal(caption('bert'), 'embeddings 38.0\u00a0M, 2 layers of 30.0\u00a0M, pooler 2.00\u00a0M');
  assert.equal(caption('distilbert'),
    'embeddings 38.0\u00a0M, one layer of 30.0\u00a0M. 32.0\u00a0M less kept than BERT: fewer layers 30.0\u00a0M (93.8%), no pooler 2.00\u00a0M (6.3%).');
  assert.equal(caption('albert'),
    'embeddings 9.00\u00a0M, one layer of 30.0\u00a0M, run 2 times, pooler 2.00\u00a0M. '
    + '59.0\u00a0M less kept than BERT: factorising 29.0\u00a0M (49.2%), one shared layer 30.0\u00a0M (50.8%).');
  assert.equal(root.querySelector('.note').textContent, 'as stored; dashed: BERT');
});

test('where one change adds weights there are no shares, and no dashed part for it', () => {
  const {pick, caption, ghosts, cells} = open();
  pick('Large');
  assert.match(caption('albert'), /\. 111\.0\u00a0M less kept than BERT-L: factorising 161\.0\u00a0M, one shared layer 0, narrower 50\.0\u00a0M\.$/);
  near(ghosts('albert').map(width), [[19.5, 80.5]]);
  assert.equal(cells('albert').length, 3 + 4, 'a layer of three calls stands two more times');
  const more = open(only(LARGE[0], {...LARGE[1], savings: [['width', -3e7], ['layers', -1e7]]}));
  assert.match(more.caption('albert'), /40\.0\u00a0M more kept than BERT-L: narrower 30\.0\u00a0M \(75\.0%\), fewer layers 10\.0\u00a0M \(25\.0%\)\.$/);
});

test('a share too small to print is left out', () => {
  const steps = savings => open(only(LARGE[0], {...LARGE[1], savings})).caption('albert').split('-L: ')[1];
  assert.equal(steps([['width', 99950], ['segments', 50]]), 'narrower 99,950 (> 99.9%), no segments 50 (0.1%).');
  assert.equal(steps([['width', 99951], ['segments', 49]]), 'narrower 99,951 (> 99.9%), no segments 49.');
  assert.equal(open(only(LARGE[0], {...LARGE[1], savings: [['segments', 1], ['width', 0]]})).ghosts('albert').length, 1, 'one weight is a saving');
});

test('the scale holds what is applied, too', () => {
  const {cells} = open(only({...BASE[2], applied: 82e6}));
  near(cells('albert').slice(0, 1).map(width), [[0, 9.756098]]);
});

test('at first the last model’s feed-forward layer is looked at, with its tensors', () => {
  const {root, line, current} = open();
  assert.equal(line(), 'ALBERT, Layer 1, Feed-forward: 20,000,000 weights, 48.8% (run 2 times)');
  assert.equal(root.querySelector('.pm-line .model-name').dataset.model, 'albert');
  assert.deepEqual([texts(root, '.pm-inspector th'), texts(root, '.pm-inspector td')],
    [['Tensor', 'Shape', 'Type', 'Bytes', 'ffn.0'], ['20 × 1000 × 1000', 'float32', '80,000,000']]);
  assert.deepEqual([...root.querySelectorAll('.pm-inspector th')].map(one => one.getAttribute('scope')), ['col', 'col', 'col', 'col', 'row']);
  assert.deepEqual([...root.querySelectorAll('.pm-inspector tbody tr > *')].map(one => one.dataset.label), words.tensor_head);
  assert.deepEqual([...root.querySelector('.pm-inspector').children].map(one => one.classList[0]), ['pm-line', 'table']);
  assert.equal(root.querySelector('.pm-inspector .table').getAttribute('aria-label'), 'Tensor');
  assert.equal(current().length, 0);
});

test('what the pointer or a finger meets is looked at, in one bar at a time', () => {
  const {cells, line, current} = open(), [words, attention] = cells('bert');
  words.dispatchEvent(new Event('pointerenter'));
  assert.deepEqual([line(), current()], ['BERT, Word embeddings: 38,000,000 weights, 38.0%', [words]]);
  attention.dispatchEvent(new Event('pointerdown'));
  assert.deepEqual([line(), current()], ['BERT, Layer 1, Attention: 10,000,000 weights, 10.0%', [attention]]);
  const [other] = cells('albert');
  other.dispatchEvent(new Event('pointerenter'));
  assert.deepEqual(current(), [other]);
});

test('as applied, a part’s share is of all that is applied, and a copy is the same tensors', () => {
  const {pick, line, cells} = open();
  pick('Applied');
  assert.equal(line(), 'ALBERT, Layer 1, Feed-forward: 20,000,000 weights, 28.2% (run 2 times)');
  cells('albert')[4].dispatchEvent(new Event('pointerenter'));
  assert.equal(line(), 'ALBERT, Layer 2, Attention: 10,000,000 weights, 14.1% (the same again)');
});

test('a share has one decimal, and what is nearly nothing is not called nothing', () => {
  const share = size => { const {cells, line} = open(only({...BASE[0], cells: [{...BASE[0].cells[0], size}, ...BASE[0].cells.slice(1)]}));
    cells('bert')[0].dispatchEvent(new Event('pointerenter'));
    return line().split(', ').at(-1); };
  assert.deepEqual([share(1e6), share(999999), share(10000)], ['1.0%', '1.0%', '< 0.1%']);
});

test('the head stands beside the bar, and is no share of it', () => {
  const {root, pick, line} = open(), chips = [...root.querySelectorAll('.pm-head')];
  assert.deepEqual(chips.map(one => one.textContent), Array(3).fill('+ 24.0\u00a0M head'));
  click(chips[1]);
  assert.equal(line(), 'DistilBERT, Head: 24,000,000 weights');
  pick('Applied');
  click(chips[2]);
  assert.equal(line(), 'ALBERT, Head: 24,000,000 weights');
});

test('the arrows walk the parts in sight, Home and End go to the ends', () => {
  const {pick, bar, cells, current} = open(), at = () => cells('albert').indexOf(current()[0]);
  const walk = (...keys) => keys.map(key => { press(bar('albert'), key); return at(); });
  assert.deepEqual(walk('ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowLeft', 'End', 'ArrowRight', 'ArrowLeft', 'Home'), [0, 1, 0, 0, 6, 6, 3, 0]);
  pick('Applied');
  assert.deepEqual(walk('End', 'ArrowLeft', 'ArrowLeft'), [6, 5, 4]);
  assert.deepEqual([press(bar('albert'), 'ArrowLeft'), press(bar('albert'), 'ArrowUp')], [false, true]);
  assert.equal(bar('albert').getAttribute('aria-label'), 'ALBERT: 41.0\u00a0M stored, 71.0\u00a0M applied');
  assert.deepEqual([bar('albert').tabIndex, bar('albert').getAttribute('role')], [0, 'group']);
});

test('the pointer and the arrows walk on from one another', () => {
  const {bar, cells, current} = open();
  cells('bert')[2].dispatchEvent(new Event('pointerenter'));
  press(bar('bert'), 'ArrowRight');
  assert.deepEqual(current(), [cells('bert')[3]]);
});

test('a label that does not fit its part is cut', () => {
  const {bar, pick, cells, ghosts} = open(), label = part => part.querySelector('span'), cut = part => label(part).classList.contains('cut');
  for (const one of bar('albert').querySelectorAll('span')) Object.defineProperty(one, 'offsetWidth', {value: 60, configurable: true});
  const [words] = cells('albert'), [factorising, sharing] = ghosts('albert');
  pick('Stored');
  assert.deepEqual([words, factorising, sharing].map(cut), [true, false, false]);   // 8% of 640 pixels are 51
  pick('Applied');
  assert.deepEqual([words, factorising, sharing].map(cut), [true, false, true]);
  widen(bar('albert'), 800);                                                        // 64
  assert.equal(cut(words), false);
  widen(bar('albert'), 799);
  assert.equal(cut(words), true);
});

test('where the whole label has no room, it stands in two lines, or as its number', () => {
  const {bar, pick, ghosts} = open(), [, sharing] = ghosts('albert'), label = sharing.querySelector('span'), wide = {two: 90, short: 50};
  Object.defineProperty(label, 'offsetWidth', {get: () => wide[label.className] ?? 140, configurable: true});
  pick('Stored');
  const seen = [1, .5, .25, .1].map(share => { widen(bar('albert'), share * 144 / parseFloat(sharing.style.width) * 100); return label.className; });
  assert.deepEqual(seen, ['', 'short', 'cut', 'cut']);
  widen(bar('albert'), 94 / parseFloat(sharing.style.width) * 100);
  assert.equal(label.className, 'two');
  assert.match(label.lastChild.textContent, /^−\d/, 'the number alone says how much');
});

test('the legend names the parts there are, and pointing at one lights it', () => {
  const {root} = open(), [first] = root.querySelectorAll('.pm-legend li'), box = root.querySelector('.pm');
  assert.deepEqual(texts(root, '.pm-legend li'), ['Word embeddings', 'Projection', 'Attention', 'Feed-forward', 'Pooler']);
  assert.equal(first.querySelector('i').dataset.part, 'word_embeddings');
  first.dispatchEvent(new Event('pointerenter'));
  assert.equal(box.dataset.lit, 'word_embeddings');
  first.dispatchEvent(new Event('pointerleave'));
  assert.equal(box.dataset.lit, undefined);
});

test('another family takes the place of the first and the focus stays on its name', () => {
  const {root, pick, button} = open(), tab = document.createElement('div');
  tab.id = 'tab-parameters';
  root.replaceWith(tab);
  tab.append(root);
  pick('Applied');
  pick('Large');
  assert.deepEqual([texts(root, 'h3'), tab.dataset.family, document.activeElement.textContent], [['BERT-L', 'ALBERT-L'], 'large', 'Large']);
  assert.equal(button('Applied').getAttribute('aria-pressed'), 'true');
  assert.equal(root.querySelector('.pm-total').textContent, '200.0\u00a0M');
});

test('a family that is alone has no switch', () => {
  const {root} = open(only(...BASE));
  assert.deepEqual(texts(root, '.pm-switch button'), ['Stored', 'Applied']);
  assert.equal(open({families: {base: BASE, large: LARGE}, texts: words}).button('Large').getAttribute('aria-pressed'), 'false');
});

test('the pooler is explained where it is first named', () => {
  const {root} = open();
  assert.equal(root.querySelector('.term').getAttribute('popovertarget'), 'box-pooler');
  assert.deepEqual(texts(root, '.note'), ['as stored; dashed: BERT', 'point', 'The pooler is in.']);
});

test('its table has every part of every model, and the head', () => {
  const drawn = {families: {base: BASE.slice(2), large: LARGE.slice(1)}, chosen: 'bert=large'}, {columns, rows} = table(drawn);
  assert.deepEqual(columns, ['family', 'model', 'layer', 'part', 'weights', 'applied_times']);
  assert.deepEqual(rows.slice(0, 6), [['base', 'ALBERT', null, 'word_embeddings', 8e6, 1], ['base', 'ALBERT', null, 'embedding_projection', 1e6, 1],
    ['base', 'ALBERT', 1, 'attention', 1e7, 2], ['base', 'ALBERT', 1, 'ffn', 2e7, 2], ['base', 'ALBERT', null, 'pooler', 2e6, 1], ['base', 'ALBERT', null,
    'head', 24e6, 0]]);
  assert.equal(rows.length, 6, 'of the family that is drawn alone');
  assert.deepEqual(constants(drawn), {FAMILY: 'base', CONFIGS: {ALBERT: {of: 'ALBERT'}}});
  const {state, totals} = header(drawn);
  assert.deepEqual(state, {family: 'base', counted: 'stored'});
  assert.deepEqual(totals, {ALBERT: {stored: 41e6, applied: 71e6, fp32_bytes: 164e6, one_layer: 3e7, embeddings: 9e6, saved: {
    stored: {all: 59e6, factorising: {weights: 29e6, percent: 100 * 29 / 59}, sharing: {weights: 3e7, percent: 100 * 30 / 59}},
    applied: {all: 29e6, factorising: {weights: 29e6, percent: 100}}}}});
});
