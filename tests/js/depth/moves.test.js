// How one word moves (travel), and one shared head over its applications (film).
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, coloured, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';
import {COLOURS} from './palette.js';

const travel = await import('../../../assets/js/depth/travel.js');
const said = {start: 'to start', end: 'to end', layer: 'layer', embeddings: 'emb.', finding: 'It moves.', word: 'Word', note: 'Note.'};
const moves = {texts: said, words: ['cat', 'sat'], first: 1, models: [
  {key: 'bert', label: 'BERT', groups: [[1], [2]], start: [[1, 1], [.75, .5], [.5, .25]], end: [[.25, .125], [.5, .375], [1, 1]]},
  {key: 'albert', label: 'ALBERT', groups: [[1], [2]], start: [[1, 1], [-.5, .1]], end: [[.1, .2], [1, 1]]}]};

function moved(params, changes) {
  const {state} = begun(params), root = place();
  travel.show(root, {...moves, ...changes}, /** @type {any} */ ({}));
  return {root, state, charts: [...root.querySelectorAll('.ch')]};
}

test('a chart for each model: how near a word is to where it began and to where it ends', () => {
  const {root, charts} = moved();
  assert.equal(root.querySelector('.finding').textContent, 'It moves.');
  assert.deepEqual(texts(root, '.ch figcaption'), ['BERT', 'ALBERT']);
  assert.deepEqual(charts.map(chart => texts(chart, '.ch-item')), [['to start 0.25', 'to end 1'], ['to start 0.1', 'to end 1']]);
  assert.deepEqual([...charts[0].querySelectorAll('.ch-key')].map(key => key.classList.contains('dash')), [true, false]);
  assert.deepEqual(texts(charts[0], 'text[text-anchor=middle]'), ['emb.', '1', '2']);
  assert.deepEqual(texts(charts[1], 'text[text-anchor=middle]'), ['emb.', '1']);
  assert.deepEqual(charts.map(chart => chart.querySelectorAll('.ch-dot').length), [6, 4]);
  assert.equal(charts[0].querySelector('svg').getAttribute('aria-label'), 'BERT: to start, to end');
  assert.equal(charts[0].querySelector('svg').getAttribute('height'), '190');
  assert.equal(texts(root, '.ch-at')[0], 'layer 2');
});

test('all charts have one scale: to 1, from nothing or the least that is found', () => {
  const ends = chart => { const all = texts(chart, 'text[text-anchor=end]').map(Number); return [all[0], all.at(-1)]; };
  assert.deepEqual(moved().charts.map(ends), [[-.5, 1], [-.5, 1]]);
  assert.deepEqual(moved({}, {models: moves.models.slice(0, 1)}).charts.map(ends), [[0, 1]]);
});

test('another word is chosen, kept in the link, and the page\'s own is not', () => {
  const {root, state, charts} = moved(), [cat, sat] = root.querySelectorAll('.aw-choice button');
  assert.deepEqual([cat, sat].map(button => button.getAttribute('aria-pressed')), ['false', 'true']);
  click(cat);
  assert.deepEqual(charts.map(chart => texts(chart, '.ch-item')), [['to start 0.5', 'to end 1'], ['to start -0.5', 'to end 1']]);
  assert.equal(state.wanted.at, '0');
  click(sat);
  assert.equal(state.wanted.at, undefined);
});

test('a link opens its word, unless the text has none there', () => {
  const pressed = params => [...moved(params).root.querySelectorAll('.aw-choice button')].map(button => button.getAttribute('aria-pressed')).indexOf('true');
  assert.deepEqual([pressed({at: '0'}), pressed({at: '1'}), pressed({at: '2'}), pressed({at: '-5'})], [0, 1, 1, 1]);
});

test('the table of a word\'s way has a row for each word at each layer', () => {
  const {columns, rows} = travel.table(moves);
  assert.deepEqual(columns, ['model', 'layer', 'word', 'cosine_to_start', 'cosine_to_end']);
  assert.deepEqual([rows.length, rows[3]], [10, ['BERT', 1, 'sat', .5, .375]]);
  assert.deepEqual(travel.constants(moves), {WORDS: ['cat', 'sat'], GROUPS: {BERT: [[1], [2]], ALBERT: [[1], [2]]}});
});

Object.assign(globalThis, {ImageData: class { constructor(width, height) { this.data = new Uint8ClampedArray(4 * width * height); } }});
const film = await import('../../../assets/js/depth/film.js');
/** Two heads in three layers: every cell of a tile is 10 · layer + head. */
const tiles = Buffer.from([0, 1, 2].flatMap(layer => [0, 1].flatMap(head => Array(4).fill(100 * layer + 50 * head)))).toString('base64');
const shared = {texts: {step: 'js {js}', chart: 'Chart', label: 'Head {head}', heads: 'Heads'}, model: 'bert', size: 2, heads: 2, tiles,
  from_first: [[0, 0], [.25, .5], [.125, .75]], step: [[.25, .5], [.333, .25]], groups: [[1]], read: [0]};
let dark = false;
function filmed(changes) {
  const root = coloured(place(), COLOURS);
  film.show(root, {...shared, ...changes}, {get dark() { return dark; }, ask() {}});
  return root;
}
/** The one colour of each tile, as it was painted. */
const inks = root => [...root.querySelectorAll('figure:not(.ch) canvas')].map(canvas => {
  const drawn = canvas.getContext('2d').notes.find(([name]) => name === 'drawImage');
  assert.deepEqual(drawn.slice(2), [0, 0, 92, 92]);
  const [[, image, ...at]] = drawn[1].getContext('2d').notes.filter(([name]) => name === 'putImageData');
  assert.deepEqual(at, [0, 0]);
  const cells = [...new Uint32Array(image.data.buffer)];
  assert.equal(new Set(cells).size, 1);
  return cells[0] >>> 8 & 255;
});
const head = (root, i) => click(root.querySelectorAll('.aw-choice button')[i]);

test('a tile for each layer, of the chosen head, fuller where it looks more', () => {
  const root = filmed(), first = inks(root);
  assert.equal(first.length, 3);
  assert.deepEqual(texts(root, '.df figcaption'), ['1', '2js 0.25', '3js 0.33']);
  assert.equal(root.querySelector('.df').getAttribute('aria-label'), 'Head 1');
  head(root, 1);
  const second = inks(root);
  assert.deepEqual(texts(root, '.df figcaption'), ['1', '2js 0.50', '3js 0.25']);
  assert.equal(root.querySelector('.df').getAttribute('aria-label'), 'Head 2');
  const green = [first[0], second[0], first[1], second[1], first[2], second[2]];   // bytes 0, 50, 100, … of a ramp from white
  assert.ok(green.every((v, i) => i === 0 || v < green[i - 1]), String(green));
  head(root, 0);
});

test('small squares are drawn as squares, large ones smoothed', () => {
  const empty = size => Buffer.from(new Uint8Array(6 * size * size)).toString('base64');
  const smooth = size => filmed({size, tiles: empty(size)}).querySelector('.df canvas').getContext('2d').imageSmoothingEnabled;
  assert.deepEqual([smooth(2), smooth(92), smooth(93)], [false, false, true]);
});

test('the chart has a line for each head, the chosen one in front and strong', () => {
  const root = filmed(), kinds = () => [...root.querySelectorAll('.ch-line')].map(line => line.getAttribute('class').trim());
  assert.deepEqual(kinds(), ['ch-line faint', 'ch-line strong']);
  const ends = () => root.querySelectorAll('.ch-line')[1].getAttribute('d').split(/[ML]/).slice(1).map(point => Number(point.split(' ')[1]));
  const before = ends();
  head(root, 1);
  assert.ok(ends()[2] < before[2], 'the other head ends higher');
  assert.equal(ends()[2], 14);   // the largest of all at the top
  assert.deepEqual(texts(root.querySelector('.ch'), 'text[text-anchor=middle]'), ['1', '2', '3']);
  assert.equal(root.querySelector('.ch svg').getAttribute('height'), '210');
  const names = [...root.querySelectorAll('.ch text[text-anchor=middle]')].map(node => Number(node.getAttribute('x')).toFixed(1));
  assert.deepEqual(root.querySelector('.ch-line').getAttribute('d').split(/[ML]/).slice(1).map(point => point.split(' ')[0]), names);
  head(root, 0);
});

test('heads that never change keep a scale of a hundredth', () => {
  const root = filmed({from_first: [[0, 0], [0, 0], [0, 0]]}), named = texts(root.querySelector('.ch'), 'text[text-anchor=end]').map(Number);
  assert.deepEqual([named[0], named.at(-1)], [0, .01]);
});

test('the head stays for the next text as far as there is one, and light and dark are drawn anew', () => {
  const root = filmed();
  head(root, 1);
  assert.equal(filmed().querySelector('.df').getAttribute('aria-label'), 'Head 2');
  const one = filmed({heads: 1, from_first: [[0], [1]], step: [[1]]});
  assert.equal(one.querySelector('.df').getAttribute('aria-label'), 'Head 1');
  const tile = one.querySelector('.df canvas'), light = inks(one);
  dark = true;
  film.theme(one);
  dark = false;
  assert.notEqual(one.querySelector('.df canvas'), tile);
  assert.notDeepEqual(inks(one), light);
  film.theme(place());
  assert.equal(one.dataset.model, 'bert');
});

test('the table of a shared head has a row for each head and layer, the first has none before it', () => {
  const {columns, rows} = film.table(shared);
  assert.deepEqual(columns, ['layer', 'head', 'js_from_first_nats', 'js_from_layer_before_nats']);
  assert.deepEqual(rows, [[1, 1, 0, null], [1, 2, 0, null], [2, 1, .25, .25], [2, 2, .5, .5], [3, 1, .125, .333], [3, 2, .75, .25]]);
  assert.deepEqual(film.constants(shared), {GROUPS: [[1]], READ: [0]});
});
