// A layer as a flow chart: boxes and lines, their details, lists of a long text, the arithmetic, and another position.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {COLOURS} from '../depth/palette.js';
import {click, coloured, enter, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';

Object.assign(globalThis, {ImageData: class { constructor(width, height) { this.data = new Uint8ClampedArray(4 * width * height); } }});
const stations = await import('../../../assets/js/layer/stations.js');
const packed = values => Buffer.from(new Float32Array(values).buffer).toString('base64');
const names = ['embedding', 'input', 'scores', 'softmax', 'heads', 'projection', 'attended', 'attention_norm', 'feed_forward', 'summed', 'output'];
const vectors = {input: [3, 4], projection: [1, 0], attended: [4, 4], attention_norm: [1, -1], feed_forward: [0, 2], summed: [1, 1], output: [-1, 1]};
const said = {
  finding: '{place}{first} changes {word} more than {second}, in {models}', place: 'In layer {n}, ', places: 'Here, ', rest: '; {block} changes it more in {models}', equal: '{place}{first} and {second} change {word} equally in {models}', equal_rest: '; both equally in {models}',
  every: {both: 'both', all: 'all {n}'}, numbers: {3: 'three'}, and: ' and ', blocks: {attention: 'attention', feed_forward: 'feed-forward'},
  stages: {input: 'Input', attention: 'Attention', norm1: 'Norm 1', feed: 'FF', norm2: 'Norm 2'}, from: 'from {n}', from_embedding: 'embedding', to: 'to {n}', again: 'again {n}', to_head: 'head', ends: 'end',
  reads: 'mean of {n}', alone: '{word} alone', predicts: 'says {word} {p}', turned: 'turned {n}', show_all: 'All {n}', show_few: 'The {n}',
  word: 'Word', layer: 'Layer', head: 'Head', norm: 'norm {n}', cosine: 'cos {n}', stations: Object.fromEntries(names.map(name => [name, `<${name}>`])),
  said: Object.fromEntries(names.map(name => [name, `about ${name} of {word}`])), dot: '{key}', dot_head: ['i', 'q', 'k', 'qk'], dot_sum: '{sum} / {d} = {score}', softmax_head: ['t', 's', 'e', 'w'], softmax_said: 'max {most} sum {sum}',
  values_head: ['t', 'w', 'n', 'wn'], heads_head: ['h', 'n'], norm_head: ['i', 'x', 'a', 'b', 'y'], norm_said: '{mean} {deviation}', units_head: ['u', 'v', 'n'], units_said: '{n} of {all}', rows: {word: 'word', position: 'position'},
  dimension: 'Dimension', projected: 'dimension {i}', projected_head: ['i', 'x', 'w', 'xw'], projected_sum: '{sum} + {bias} = {result}', no_segment: 'no segment', factorised: '{e} to {d}', sum_head: ['i', 'sum'], dimensions: '{n}', input_said: '{n} numbers', key: 'Key', open: 'open {station}', strip: '{station} {model} {n} {norm}', scale: 'Scale', terms: {logit: 'box'}, note: 'Click a box.\nA logit.', waiting: 'Computing', lacking: 'Lacking',
};
const model = (key, more = {}) => ({
  key, label: key.toUpperCase(), layer: 1, n_layers: 3, head: 0, n_heads: 2, note: `note ${key}`, pieces: '', tokens: ['[CLS]', 'cat', '<b>'], raw: ['[CLS]', 'cat', '##b'], position: 1,
  vectors: Object.fromEntries(Object.entries(vectors).map(([name, values]) => [name, packed(values)])), norms: Object.fromEntries(Object.entries(vectors).map(([name, values]) => [name, Math.hypot(...values)])),
  cosines: {projection: .5, attended: .25, attention_norm: -.125, feed_forward: 0, summed: .1, output: 1}, query: packed([1, 2]), keys: packed([1, 0, 0, 3, -1, -1]), read: packed([2, 0]), value_lengths: [1, 2, 3],
  scores: [.7071068, 4.2426407, -2.1213203], exponentials: [.0291, 1, .0017], weights: [.0282, .9701, .0017], read_from: [.25, .7, .05], shares: false, heads: [3, 1], units: [[7, 2.5, 3]], active: 1, d_ffn: 8,
  normalised: Object.fromEntries(['embedding', 'attention_norm', 'output'].map((name, i) => [name, {mean: .5, deviation: 2, rows: [[1, 4 + i, 2, 1, 4.5 + i]]}])),
  embedding: {parts: {word: packed([1, 2]), position: packed([.5, -4])}, normalised: packed([3, 4]), projected: {shown: [3, 0], weight: packed([1, 2, -1, 0]), bias: [.5, 0], result: [11.5, -3]}, dimensions: 2, width: 4},
  readings: [['the', .5], ['a', .0004], ['cat', .75]], changed_by: 'attention', blocks: {attention: .25, feed_forward: .5}, angles: {attention: 75.5, feed_forward: 60}, ...more});
const chosen = {words: ['cat', 'sat'], at: 0, first: 1, deepest: 'bert', widest: 'bert'};
const data = (more = {}) => ({models: [model('bert'), model('albert', {changed_by: 'feed_forward', blocks: {attention: .5, feed_forward: .25}, angles: {attention: 60, feed_forward: 75.5}, shares: true, readings: [['a', .1], ['a', .2], ['a', .5004]]})], chosen, cards: [{key: 'distilbert', label: 'D', why: 'Away.'}], texts: said, ...more});
const fields = {model: 'bert', head: '0'};

function shown(asks, more, link = {}) {
  const {state} = begun({tab: 'layer', ...link}, {defaults: {text: 'start', hidden: '', family: 'mini', tab: 'predictions', layer: '0', at: '-1', look: '', ...fields}, reads: {predictions: ['text'], layer: ['text']}});
  const root = coloured(place(), {...COLOURS, plus: '#000080', 'plus-fill': '#8080ff', minus: '#800000', 'minus-fill': '#ff8080'});
  stations.show(root, data(more), {dark: false, asks, ask() {}});
  return {root, state};
}
const ALL = {look: 'stages:input.attention.norm1.feed.norm2'};
const row = (root, name) => root.querySelector(`[data-station=${name}]`), stage = (root, name) => root.querySelector(`[data-stage=${name}]`);
const boxes = (root, name) => texts(stage(root, name), '.ly-box');

test('the layer is drawn as its blocks, what the head reads where there is a state, and what the block moved', () => {
  const {root} = shown();
  assert.equal(root.querySelector('.finding').textContent, 'In layer 2, attention changes cat more than feed-forward, in BERT; feed-forward changes it more in ALBERT.');
  assert.deepEqual([...root.querySelectorAll('[data-stage]')].map(node => node.dataset.stage), ['input', 'attention', 'norm1', 'feed', 'norm2']);
  assert.deepEqual(texts(root, '.ly-heads small'), ['note bert', 'note albert']);
  assert.deepEqual(boxes(root, 'input'), ['Inputfrom 1says the 0.500', 'Inputfrom 1says a 0.100']);
  assert.deepEqual(boxes(root, 'attention')[0], 'Attentionmean of 2cat0.700[CLS]0.250<b>0.050');
  assert.deepEqual(boxes(root, 'norm1'), ['Norm 1says a 4.0×10⁻⁴turned 76°', 'Norm 1says a 0.200turned 60°']);
  assert.deepEqual(boxes(root, 'feed'), ['FFcat alone', 'FFcat alone']);
  assert.deepEqual(boxes(root, 'norm2'), ['Norm 2says cat 0.750turned 60°', 'Norm 2says a 0.500turned 76°']);
  const bars = [...stage(root, 'attention').querySelectorAll('.ly-lane[data-model=bert] i')].map(bar => Number(bar.style.getPropertyValue('--share')).toFixed(3));
  assert.deepEqual(bars, ['1.000', '0.357', '0.071']);
  assert.deepEqual(texts(root, '.card p'), ['Away.']);
});

test('only a shared layer is a loop; a line leads around each block, and the layer leads on', () => {
  const {root} = shown(), lines = key => [...root.querySelectorAll(`.ly-lane[data-model=${key}] .ly-line`)].map(line => line.className.replace('ly-line ', ''));
  const blocks = ['down', 'past', 'down', 'joins'];
  assert.deepEqual(lines('bert'), [...blocks, ...blocks, 'down']);
  assert.deepEqual(lines('albert').filter(line => !blocks.includes(line)), ['enters', 'loops', 'loops', 'loops', 'loops', 'leaves']);
  assert.deepEqual(texts(root, '.ly-exit'), ['to 3', 'again 3']);
  const last = shown(undefined, {models: [model('bert', {layer: 2}), model('albert', {layer: 0, shares: true}), model('distilbert', {layer: 2, readings: null})]}).root;
  assert.deepEqual(texts(last, '.ly-exit'), ['head', 'again 2', 'end']);
  assert.deepEqual(boxes(last, 'input').map(said => said.slice(0, 14)), ['Inputfrom 2say', 'Inputembedding', 'Inputfrom 2']);
  assert.deepEqual(boxes(last, 'norm1')[2], 'Norm 1turned 76°');
});

test('the finding names the block that turned the word further, by the degrees that are printed', () => {
  const said = models => shown(undefined, {models}).root.querySelector('.finding').textContent;
  const far = {angles: {attention: 40, feed_forward: 75}, changed_by: 'feed_forward'}, alike = {angles: {attention: 60.4, feed_forward: 59.6}, changed_by: 'attention'};
  const [bert, student, albert] = ['bert', 'distilbert', 'albert'].map(key => more => model(key, more));
  assert.equal(said([bert()]), 'In layer 2, attention changes cat more than feed-forward, in BERT.');
  assert.equal(said([bert(), student()]), 'In layer 2, attention changes cat more than feed-forward, in both.');
  assert.equal(said([bert(), student(), albert()]), 'In layer 2, attention changes cat more than feed-forward, in all three.');
  assert.equal(said([bert(), student(far), albert()]), 'In layer 2, attention changes cat more than feed-forward, in BERT and ALBERT; feed-forward changes it more in DISTILBERT.');
  assert.equal(said([bert(alike), student(), albert(far)]),
    'In layer 2, attention changes cat more than feed-forward, in DISTILBERT; feed-forward changes it more in ALBERT; both equally in BERT.');
  assert.equal(said([bert(alike)]), 'In layer 2, attention and feed-forward change cat equally in BERT.');
  assert.equal(said([bert(), student({layer: 0})]), 'Here, attention changes cat more than feed-forward, in both.');
  assert.equal(said([bert({angles: {attention: .2, feed_forward: .7}})]), 'In layer 2, attention and feed-forward change cat equally in BERT.');
});

test('a box opens the stations of its row, for all models; the link and Back say which are open', () => {
  const {root, state} = shown(), press = name => click(stage(root, name).querySelector('.ly-box'));
  const open = () => [...root.querySelectorAll('[data-stage]')].filter(one => !one.querySelector('.ly-details').hidden).map(one => one.dataset.stage);
  assert.deepEqual([root.querySelectorAll('[data-station]').length, root.querySelector('.ly-scale').hidden], [0, true]);
  press('norm2');
  press('attention');
  assert.deepEqual([open(), state.wanted.look], [['attention', 'norm2'], 'stages:attention.norm2']);
  assert.deepEqual([...root.querySelectorAll('[data-station]')].map(node => node.dataset.station), ['scores', 'softmax', 'heads', 'projection', 'summed', 'output']);
  assert.deepEqual([...stage(root, 'attention').querySelectorAll('.ly-box')].map(box => box.getAttribute('aria-expanded')), ['true', 'true']);
  assert.match(root.querySelector('.ly-scale').textContent, /±4\.00/);
  click(row(root, 'softmax').querySelector('h4 button'));
  assert.equal(state.wanted.look, 'stages:attention.norm2,sums:softmax');
  press('norm2');
  assert.deepEqual(open(), ['attention']);
  state.walk({...state.wanted, look: 'stages:feed'});
  assert.deepEqual(open(), ['feed']);
  const again = shown(undefined, undefined, {look: 'stages:attention.unknown,sums:attentionnorm.softmax'}).root;
  assert.equal(row(again, 'softmax').querySelector('.ly-open').hidden, false);
  assert.equal(row(again, 'scores').querySelector('.ly-open').hidden, true);
});

test('a station says its sentence, its numbers and what is this model\'s alone', () => {
  const {root} = shown(undefined, undefined, ALL);
  assert.deepEqual([...root.querySelectorAll('[data-station]')].map(node => node.dataset.station), names);
  assert.deepEqual(texts(row(root, 'scores'), '.note'), ['about scores of cat']);
  assert.deepEqual(texts(row(root, 'attention_norm'), 'small'), ['norm 1.41cos −0.125', 'norm 1.41cos −0.125']);
  assert.deepEqual(texts(row(root, 'embedding'), '.ly-own'), ['no segment; 2 to 4', 'no segment; 2 to 4']);
  assert.deepEqual(texts(row(root, 'softmax'), '.ly-cell[data-model=bert] b'), ['0.028', '0.970', '0.002']);
  const bars = [...row(root, 'scores').querySelectorAll('.ly-cell[data-model=bert] i')];
  assert.deepEqual(bars.map(bar => [bar.className, Number(bar.style.getPropertyValue('--share')).toFixed(3)]), [['', '0.167'], ['', '1.000'], ['less', '0.500']]);
  assert.equal(row(root, 'scores').querySelector('.self').textContent.slice(0, 3), 'cat');
});

test('a strip has the colours of the style sheet: one end for positive numbers, the other for negative ones', () => {
  const {root} = shown(undefined, undefined, ALL), strip = row(root, 'attention_norm').querySelector('.ly-cell[data-model=bert] canvas');
  const [[, {data}]] = strip.getContext('2d').notes.filter(([name]) => name === 'putImageData'), pixels = new Uint32Array(data.buffer);
  const [plus, minus] = [pixels[0], pixels.at(-1)].map(pixel => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]);
  assert.ok(plus[2] > plus[0] && minus[0] > minus[2], `${plus}, ${minus}`);
});

test('weights that differ never print alike beside each other, and none prints as 0', () => {
  const sharp = {weights: [.9991, .00042, .00043], exponentials: [1, .000420378, .000430387]}, {root} = shown(undefined, {models: [model('bert', sharp), model('albert', {weights: [.9987, .0009, .0004]})]}, {look: 'stages:attention,sums:softmax.heads'});
  assert.deepEqual(texts(row(root, 'softmax'), '.ly-cell b'), ['0.999', '4.2×10⁻⁴', '4.3×10⁻⁴', '0.999', '9.0×10⁻⁴', '4.0×10⁻⁴']);
  const cells = (name, which) => [...row(root, name).querySelectorAll('.ly-sum[data-model=bert] tbody tr')].map(line => line.children[which].textContent);
  assert.deepEqual([cells('softmax', 3), cells('softmax', 2)], [['0.99910', '4.200×10⁻⁴', '4.300×10⁻⁴'], ['1.00000', '4.204×10⁻⁴', '4.304×10⁻⁴']]);
  assert.deepEqual([cells('heads', 1), cells('heads', 3)], [['0.99910', '4.200×10⁻⁴', '4.300×10⁻⁴'], ['0.9991', '8.40×10⁻⁴', '0.0013']]);
});

test('lists of a long text show the twelve largest weights, in the order of the text, until all are asked for', async () => {
  const n = 30, many = from => Array.from({length: n}, (_, i) => from(i)), weights = many(i => (i % 5 ? .001 + i / 1e5 : .1 + i / 1e4));
  const long = key => model(key, {tokens: many(i => `t${i}`), raw: many(i => `t${i}`), weights, scores: many(i => i / 10 - 1), exponentials: weights, value_lengths: many(() => 1), keys: packed(many(i => i).flatMap(i => [i, 0]))});
  const answers = async () => JSON.stringify(data({models: [long('bert')]})), {root, state} = shown(answers, {models: [long('bert'), long('albert')]}, {look: 'stages:attention,sums:softmax.heads'});
  const largest = [0, 5, 10, 15, 20, 24, 25, 26, 27, 28, 29, 23].sort((a, b) => a - b).map(i => `t${i}`);
  const names = (name, from) => texts(row(root, name), from);
  const lists = [['scores', '.ly-cell[data-model=bert] li > span:first-child'], ['softmax', '.ly-cell[data-model=bert] li > span:first-child'], ['softmax', '.ly-sum[data-model=bert] tbody th'], ['heads', '.ly-sum[data-model=bert] tbody th']];
  for (const list of lists) assert.deepEqual(names(...list), largest);
  const buttons = () => [...root.querySelectorAll('.ly-more')];
  assert.deepEqual([buttons().length, buttons()[3].textContent], [8, 'All 30']);
  click(buttons()[3]);
  assert.equal(document.activeElement, buttons()[3]);
  assert.deepEqual([buttons()[3].textContent, state.wanted.look], ['The 12', 'stages:attention,sums:softmax.heads,tokens:all']);
  for (const list of lists) assert.equal(names(...list).length, n);
  enter(root.querySelectorAll('.ly-controls select')[1], '2');
  await new Promise(done => { setTimeout(done); });
  assert.equal(names(...lists[0]).length, n);
  assert.equal(root.querySelectorAll('.ly-sum').length, 2);
  click(buttons()[0]);
  assert.deepEqual(names(...lists[0]), largest);
  assert.equal(shown(undefined, undefined, ALL).root.querySelector('.ly-more'), null);
});

test('a station opens to its arithmetic', () => {
  const {root} = shown(undefined, undefined, ALL);
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

test('another place is asked of the server, kept in the link, and what was open stays open', async () => {
  const asked = [], answers = async question => { asked.push(question); return JSON.stringify(data({models: [model('bert', {layer: 2})], chosen: {...chosen, at: 1}})); };
  const {root, state} = shown(answers), [, layer] = root.querySelectorAll('.ly-controls select');
  click(stage(root, 'attention').querySelector('.ly-box'));
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
  const {root, state} = shown(answers, {models: [deep, wide], chosen: {...chosen, deepest: 'bert', widest: 'albert'}}, ALL);
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
  const {root} = shown(async () => { throw new Error('away'); }, undefined, ALL);
  enter(root.querySelectorAll('.ly-controls select')[2], '1');
  await new Promise(done => { setTimeout(done); });
  assert.deepEqual([root.querySelector('.ly-top [role=status]').textContent, reported], ['Lacking', ['away']]);
});

test('where there is no other place the server’s own sentence says why', async () => {
  const {root} = shown(async () => '{"error": "There is no word."}', undefined, ALL);
  enter(root.querySelectorAll('.ly-controls select')[2], '1');
  await new Promise(done => { setTimeout(done); });
  assert.equal(root.querySelector('.ly-top [role=status]').textContent, 'There is no word.');
});

test('rows and constants for what is taken away', () => {
  const {columns, rows} = stations.table(data({models: [model('bert'), model('albert', {readings: null})]}));
  assert.ok(rows.every(row => row.length === columns.length));
  const named = rows.map(row => Object.fromEntries(row.map((value, i) => [columns[i], value]))), of = station => named.find(row => row.station === station);
  assert.deepEqual(rows.find(row => row[3] === 'input'), ['BERT', 2, 1, 'input', null, null, 5, null, null, null, null, null, 'the', .5]);
  assert.ok(named.some(({station, norm}) => station === 'embedding' && norm > 0));
  assert.deepEqual([of('attention_norm').prediction, of('attention_norm').probability, of('output').prediction, of('summed').prediction], ['a', .0004, 'cat', null]);
  assert.deepEqual([of('attention_block').cosine, of('attention_block').degrees], [.25, 75.5]);
  assert.deepEqual(rows.filter(row => row[3] === 'softmax')[2], ['BERT', 2, 1, 'softmax', 2, '##b', null, null, null, -2.1213203, .0017, .05, null, null]);
  assert.deepEqual([stations.constants(data()).POSITIONS, stations.constants(data({models: [model('bert'), model('albert', {readings: null})]})).WITH_HEAD], [{BERT: 1, ALBERT: 1}, ['BERT']]);
});
