// The stations of a layer: rows and columns, the arithmetic that opens, the walk, and another place.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {COLOURS} from '../depth/palette.js';
import {click, coloured, enter, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';

Object.assign(globalThis, {ImageData: class { constructor(width, height) { this.data = new Uint8ClampedArray(4 * width * height); } }});
Element.prototype.scrollIntoView = () => {};
const stations = await import('../../../assets/js/layer/stations.js');
const packed = values => Buffer.from(new Float32Array(values).buffer).toString('base64');
const names = ['embedding', 'input', 'scores', 'softmax', 'heads', 'projection', 'attended', 'attention_norm', 'feed_forward', 'summed', 'output'];
const vectors = {input: [3, 4], projection: [1, 0], attended: [4, 4], attention_norm: [1, -1], feed_forward: [0, 2], summed: [1, 1], output: [-1, 1]};
const said = {
  finding: '{place}{first} changes {word} more than {second}, in {models}', place: 'In layer {n}, ', rest: '; {block} changes it more in {models}', equal: '{place}{first} and {second} change {word} equally in {models}',
  every: {both: 'both', all: 'all {n}'}, numbers: {3: 'three'}, at: '{model} (layer {n})', and: ' and ', top: 'top {change}', becomes: '{before} → {after}', stays: 'stays {after}', turned: '{block} {cosine}',
  opens: {attention: 'Attention', feed_forward: 'Feed-forward'}, blocks: {attention: 'attention', feed_forward: 'feed-forward'}, short: {attention: 'att', feed_forward: 'ff'},
  word: 'Word', layer: 'Layer', head: 'Head', back: 'Back', next: 'Next', step: '{i} of {n}', walk: 'Walk', norm: 'norm {n}', cosine: 'cos {n}', stations: Object.fromEntries(names.map(name => [name, `<${name}>`])),
  said: Object.fromEntries(names.map(name => [name, `about ${name} of {word}`])), dot: '{key}', dot_head: ['i', 'q', 'k', 'qk'], dot_sum: '{sum} / {d} = {score}', softmax_head: ['t', 's', 'e', 'w'], softmax_said: 'max {most} sum {sum}',
  values_head: ['t', 'w', 'n', 'wn'], heads_head: ['h', 'n'], norm_head: ['i', 'x', 'a', 'b', 'y'], norm_said: '{mean} {deviation}', units_head: ['u', 'v', 'n'], units_said: '{n} of {all}', rows: {word: 'word', position: 'position'},
  dimension: 'Dimension', projected: 'dimension {i}', projected_head: ['i', 'x', 'w', 'xw'], projected_sum: '{sum} + {bias} = {result}', no_segment: 'no segment', factorised: '{e} to {d}', sum_head: ['i', 'sum'], dimensions: '{n}', input_said: '{n} numbers', key: 'Key', open: 'open {station}', strip: '{station} {model} {n} {norm}', scale: 'Scale', terms: {logit: 'box'}, note: 'A logit.', waiting: 'Computing', lacking: 'Lacking',
};
const model = (key, more = {}) => ({
  key, label: key.toUpperCase(), layer: 1, n_layers: 3, head: 0, n_heads: 2, note: `note ${key}`, pieces: '', tokens: ['[CLS]', 'cat', '<b>'], raw: ['[CLS]', 'cat', '##b'], position: 1,
  vectors: Object.fromEntries(Object.entries(vectors).map(([name, values]) => [name, packed(values)])), norms: Object.fromEntries(Object.entries(vectors).map(([name, values]) => [name, Math.hypot(...values)])),
  cosines: {projection: .5, attended: .25, attention_norm: -.125, feed_forward: 0, summed: .1, output: 1}, query: packed([1, 2]), keys: packed([1, 0, 0, 3, -1, -1]), read: packed([2, 0]), value_lengths: [1, 2, 3],
  scores: [.7071068, 4.2426407, -2.1213203], exponentials: [.0291, 1, .0017], weights: [.0282, .9701, .0017], heads: [3, 1], units: [[7, 2.5, 3]], active: 1, d_ffn: 8,
  normalised: Object.fromEntries(['embedding', 'attention_norm', 'output'].map((name, i) => [name, {mean: .5, deviation: 2, rows: [[1, 4 + i, 2, 1, 4.5 + i]]}])),
  embedding: {parts: {word: packed([1, 2]), position: packed([.5, -4])}, normalised: packed([3, 4]), projected: {shown: [3, 0], weight: packed([1, 2, -1, 0]), bias: [.5, 0], result: [11.5, -3]}, dimensions: 2, width: 4},
  readings: [['the', .5], ['cat', .75]], changed_by: 'attention', blocks: {attention: .25, feed_forward: .5}, ...more});
const chosen = {words: ['cat', 'sat'], at: 0, first: 1, deepest: 'bert', widest: 'bert'};
const data = (more = {}) => ({models: [model('bert'), model('albert', {changed_by: 'feed_forward', blocks: {attention: .5, feed_forward: .25}, readings: [['a', .1], ['a', .2]]})], chosen, cards: [{key: 'distilbert', label: 'D', why: 'Away.'}], texts: said, ...more});
const fields = {model: 'bert', head: '0'};

function shown(asks, more) {
  const {state} = begun({tab: 'layer'}, {defaults: {text: 'start', hidden: '', family: 'mini', tab: 'predictions', layer: '0', at: '-1', ...fields}, reads: {predictions: ['text'], layer: ['text']}});
  const root = coloured(place(), {...COLOURS, plus: '#000080', 'plus-fill': '#8080ff', minus: '#800000', 'minus-fill': '#ff8080'});
  stations.show(root, data(more), {dark: false, asks, ask() {}});
  return {root, state};
}
const row = (root, name) => root.querySelector(`[data-station=${name}]`);

test('a row a station, a column a model, and what changed the word most', () => {
  const {root} = shown();
  assert.equal(root.querySelector('.finding').textContent, 'In layer 2, attention changes cat more than feed-forward, in BERT; feed-forward changes it more in ALBERT.');
  assert.deepEqual([...root.querySelectorAll('[data-station]')].map(node => node.dataset.station), names);
  assert.deepEqual(texts(root, '.ly-heads small'), ['note bert', 'att 0.25', 'top the → cat', 'note albert', 'ff 0.25', 'top stays a']);
  assert.deepEqual(texts(row(root, 'attention_norm'), 'small'), ['norm 1.41cos −0.125', 'norm 1.41cos −0.125']);
  assert.deepEqual(texts(row(root, 'embedding'), '.ly-own'), ['no segment; 2 to 4', 'no segment; 2 to 4']);
  assert.deepEqual(texts(row(root, 'softmax'), '.ly-cell[data-model=bert] b'), ['0.028', '0.970', '0.002']);
  const bars = [...row(root, 'scores').querySelectorAll('.ly-cell[data-model=bert] i')];
  assert.deepEqual(bars.map(bar => [bar.className, Number(bar.style.getPropertyValue('--share')).toFixed(3)]), [['', '0.167'], ['', '1.000'], ['less', '0.500']]);
  assert.equal(row(root, 'scores').querySelector('.self').textContent.slice(0, 3), 'cat');
  assert.deepEqual(texts(root, '.card p'), ['Away.']);
  assert.match(root.querySelector('.ly-scale').textContent, /±4\.00/);
});

test('the finding names the block that turned the word further, by the digits that are printed', () => {
  const said = models => shown(undefined, {models}).root.querySelector('.finding').textContent;
  const far = {blocks: {attention: .75, feed_forward: .25}, changed_by: 'feed_forward'}, alike = {blocks: {attention: .5004, feed_forward: .4996}, changed_by: 'feed_forward'};
  const [bert, student, albert] = ['bert', 'distilbert', 'albert'].map(key => more => model(key, more));
  assert.equal(said([bert()]), 'In layer 2, attention changes cat more than feed-forward, in BERT.');
  assert.equal(said([bert(), student()]), 'In layer 2, attention changes cat more than feed-forward, in both.');
  assert.equal(said([bert(), student(), albert()]), 'In layer 2, attention changes cat more than feed-forward, in all three.');
  assert.equal(said([bert(), student(far), albert()]), 'In layer 2, attention changes cat more than feed-forward, in BERT and ALBERT; feed-forward changes it more in DISTILBERT.');
  assert.equal(said([bert(alike), student(), albert(far)]),
    'In layer 2, attention changes cat more than feed-forward, in DISTILBERT; feed-forward changes it more in ALBERT; attention and feed-forward change cat equally in BERT.');
  assert.equal(said([bert(alike)]), 'In layer 2, attention and feed-forward change cat equally in BERT.');
  assert.equal(said([bert(), student({layer: 0})]), 'Attention changes cat more than feed-forward, in BERT (layer 2) and DISTILBERT (layer 1).');
  assert.equal(said([bert(alike), student({...alike, layer: 0})]), 'Attention and feed-forward change cat equally in BERT (layer 2) and DISTILBERT (layer 1).');
});

test('a column says what its head reads before the layer and after it, and nothing without a head', () => {
  const read = more => texts(shown(undefined, {models: [model('bert', more)]}).root, '.ly-heads small');
  assert.ok(read().includes('top the → cat'));
  assert.ok(read({readings: [['a', .1], ['a', .2]]}).includes('top stays a'));
  assert.ok(!read({readings: null}).some(said => said.startsWith('top')));
});

test('a station opens to its arithmetic', () => {
  const {root} = shown();
  const rows = name => {
    click(row(root, name).querySelector('h4 button'));
    return [...row(root, name).querySelectorAll('.ly-sum[data-model=bert] tbody tr')].map(line => [...line.children].map(cell => cell.textContent));
  };
  assert.deepEqual(rows('scores'), [['2', '2.00000', '3.00000', '6.00000'], ['1', '1.00000', '0.00000', '0.00000']]);
  assert.match(row(root, 'scores').textContent, /6\.00000 \/ 2 = 4\.24264/);
  enter(row(root, 'scores').querySelector('.ly-sum[data-model=bert] select'), '2');
  assert.deepEqual(texts(row(root, 'scores').querySelector('.ly-sum[data-model=bert] tbody tr'), '*'), ['2', '2.00000', '−1.00000', '−2.00000']);
  assert.deepEqual(rows('softmax')[1], ['cat', '4.24264', '1.00000', '0.97010']);
  assert.match(row(root, 'softmax').textContent, /max 4\.24264 sum 1\.03080/);
  assert.deepEqual(rows('heads')[2], ['<b>', '0.00170', '3.0000', '0.0051']);
  assert.deepEqual(rows('projection'), [['1', '3.0000'], ['2', '1.0000']]);
  assert.deepEqual(rows('attended'), [['1', '3.0000', '1.0000', '4.0000'], ['2', '4.0000', '0.0000', '4.0000']]);
  assert.deepEqual(rows('summed')[0], ['1', '1.0000', '0.0000', '1.0000']);
  const sum = [['2', '2.0000', '−4.0000', '−2.0000'], ['1', '1.0000', '0.5000', '1.5000']], projected = [['2', '4.00000', '2.00000', '8.00000'], ['1', '3.00000', '1.00000', '3.00000']];
  assert.deepEqual(rows('embedding'), [...sum, ['2', '4.0000', '2.0000', '1.0000', '4.5000'], ...projected]);
  const own = row(root, 'embedding').querySelector('.ly-sum[data-model=bert]');
  assert.match(own.textContent, /dimension 4.*11\.00000 \+ 0\.50000 = 11\.50000/);
  enter(own.querySelector('select'), '1');
  assert.match(own.textContent, /dimension 1.*−3\.00000 \+ 0\.00000 = −3\.00000/);
  assert.deepEqual(rows('attention_norm'), [['2', '5.0000', '2.0000', '1.0000', '5.5000']]);
  assert.deepEqual(rows('output'), [['2', '6.0000', '2.0000', '1.0000', '6.5000']]);
  assert.deepEqual(rows('feed_forward'), [['8', '2.5000', '3.0000']]);
  assert.match(row(root, 'feed_forward').textContent, /1 of 8/);
  assert.deepEqual([rows('input'), row(root, 'input').querySelector('.ly-sum').textContent], [[], 'BERT2 numbers']);
  const [button, open] = ['h4 button', '.ly-open'].map(part => row(root, 'input').querySelector(part));
  assert.deepEqual([button.getAttribute('aria-expanded'), open.hidden], ['true', false]);
  click(button);
  assert.deepEqual([button.getAttribute('aria-expanded'), open.hidden], ['false', true]);
});

test('the walk speaks of one station after the other', () => {
  const {root} = shown(), [back, next] = root.querySelectorAll('.ly-walk button');
  assert.ok(back.hasAttribute('disabled'));
  click(next);
  click(next);
  assert.equal(root.querySelector('.ly-walk p').textContent, '<input>: about input of cat');
  assert.deepEqual([...root.querySelectorAll('[aria-current]')].map(node => node.dataset.station), ['input']);
  click(back);
  assert.equal(root.querySelector('.ly-count').textContent, '1 of 11');
  assert.ok(back.hasAttribute('disabled'));
  for (let i = 0; i < 20; i++) click(next);
  assert.deepEqual([root.querySelector('.ly-count').textContent, next.hasAttribute('disabled')], ['11 of 11', true]);
});

test('another place is asked of the server, kept in the link, and what was open stays open', async () => {
  const asked = [], answers = async question => { asked.push(question); return JSON.stringify(data({models: [model('bert', {layer: 2})], chosen: {...chosen, at: 1}})); };
  const {root, state} = shown(answers), [, layer] = root.querySelectorAll('.ly-controls select');
  click(row(root, 'softmax').querySelector('h4 button'));
  enter(layer, '2');
  await new Promise(done => { setTimeout(done); });
  assert.equal(asked[0].params.layer, '2');
  assert.deepEqual([state.wanted.layer, root.querySelectorAll('.ly-controls select')[1].value], ['2', '2']);
  assert.equal(row(root, 'softmax').querySelector('.ly-open').hidden, false);
  enter(root.querySelector('.ly-controls select'), '0');
  await new Promise(done => { setTimeout(done); });
  assert.equal(state.wanted.at, '0');
  enter(root.querySelector('.ly-controls select'), '1');
  await new Promise(done => { setTimeout(done); });
  assert.equal(state.wanted.at, undefined);
});

test('the menus are those of the deepest and of the widest model, whose choice the others follow', async () => {
  const deep = model('bert', {n_layers: 24, n_heads: 16, layer: 19}), wide = model('albert', {n_layers: 12, n_heads: 64, layer: 9, head: 40});
  const asked = [], answers = async ({params}) => { asked.push(['model', 'layer', 'head'].map(name => params[name])); throw new Error('enough'); };
  globalThis.reportError = () => {};
  const {root, state} = shown(answers, {models: [deep, wide], chosen: {...chosen, deepest: 'bert', widest: 'albert'}});
  const [, layer, head] = root.querySelectorAll('.ly-controls select');
  assert.deepEqual([layer.children.length, layer.value, head.children.length, head.value], [24, '19', 64, '40']);
  state.set({model: 'albert', layer: 9, head: 40});
  enter(layer, '23');
  enter(head, '63');
  state.set({model: 'albert', layer: 5});
  enter(head, '62');
  await new Promise(done => { setTimeout(done); });
  assert.deepEqual(asked, [['bert', '23', '15'], ['albert', '9', '63'], ['albert', '5', '62']]);
});

test('where the server fails a sentence says so', async () => {
  const reported = [];
  globalThis.reportError = error => reported.push(error.message);
  const {root} = shown(async () => { throw new Error('away'); });
  enter(root.querySelectorAll('.ly-controls select')[2], '1');
  await new Promise(done => { setTimeout(done); });
  assert.deepEqual([root.querySelector('.ly-top [role=status]').textContent, reported], ['Lacking', ['away']]);
});

test('rows and constants for what is taken away', () => {
  const {columns, rows} = stations.table(data());
  assert.equal(columns.length, 10);
  assert.deepEqual(rows.find(row => row[3] === 'input'), ['BERT', 1, 0, 'input', null, null, 5, null, null, null]);
  assert.ok(rows.some(([, , , station, , , norm]) => station === 'embedding' && norm > 0));
  assert.equal(rows.find(row => row[3] === 'attention_block')[7], data().models[0].blocks.attention);
  assert.deepEqual(rows.filter(row => row[3] === 'softmax')[2], ['BERT', 1, 0, 'softmax', 2, '##b', null, null, -2.1213203, .0017]);
  assert.deepEqual(stations.constants(data()).POSITIONS, {BERT: 1, ALBERT: 1});
});
