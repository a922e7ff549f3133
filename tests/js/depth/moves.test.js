// The movement of one word (travel), and one shared head over its applications (film).
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {charts, click, coloured, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';
import {COLOURS} from './palette.js';

const travel = await import('../../../assets/js/depth/travel.js');
const said = {start: 'to start', end: 'to end', layer: 'layer', embeddings: 'emb.', finding: 'It moves.', word: 'Word', note: 'Note.'};
const spec = (title, n) => ({data: [{name: 'to start', x: n, y: []}, {name: 'to end', x: n, y: []}], layout: {title: {text: title}, height: 250}});
/** Two words: for each model the values to the start and to the end, a row of layers for each word. */
const moves = {texts: said, words: ['cat', 'sat'], first: 1, figures: [spec('BERT', [0, 1, 2]), spec('ALBERT', [0, 1])],
  ways: [[[[1, .75, .5], [1, .5, .25]], [[.25, .5, 1], [.125, .375, 1]]], [[[1, -.5], [1, .1]], [[.1, 1], [.2, 1]]]]};

function moved(params) {
  const {state} = begun(params), root = place();
  travel.show(root, moves, /** @type {any} */ ({}));
  return {root, state, ys: () => charts(root).map(({data}) => data.map(line => line.y))};
}

test('a chart for each model: how near a word is to where it began and to where it ends', () => {
  const {root, ys} = moved();
  assert.equal(root.querySelector('.finding').textContent, 'It moves.');
  assert.deepEqual(texts(root, 'figcaption'), ['BERT', 'ALBERT']);
  assert.deepEqual(ys(), [[[1, .5, .25], [.125, .375, 1]], [[1, .1], [.2, 1]]]);
  assert.deepEqual([...root.querySelectorAll('.fg')].map(node => [node.getAttribute('aria-label'), node.style.height]),
    [['BERT: to start, to end', '250px'], ['ALBERT: to start, to end', '250px']]);
});

test('another word is chosen, kept in the link, and the page\'s own is not', () => {
  const {root, state, ys} = moved(), [cat, sat] = root.querySelectorAll('.aw-choice button');
  assert.deepEqual([cat, sat].map(button => button.getAttribute('aria-pressed')), ['false', 'true']);
  click(cat);
  assert.deepEqual(ys(), [[[1, .75, .5], [.25, .5, 1]], [[1, -.5], [.1, 1]]]);
  assert.equal(state.wanted.at, '0');
  click(sat);
  assert.equal(state.wanted.at, undefined);
});

test('a link opens its word, unless the text has none there', () => {
  const pressed = params => [...moved(params).root.querySelectorAll('.aw-choice button')].map(button => button.getAttribute('aria-pressed')).indexOf('true');
  assert.deepEqual([pressed({at: '0'}), pressed({at: '1'}), pressed({at: '2'}), pressed({at: '-5'})], [0, 1, 1, 1]);
  assert.deepEqual(moved({at: '0'}).ys()[0][0], [1, .75, .5]);
});

Object.assign(globalThis, {ImageData: class { constructor(width, height) { this.data = new Uint8ClampedArray(4 * width * height); } }});
const film = await import('../../../assets/js/depth/film.js');
/** Two heads in three layers: every cell of a tile is 10 · layer + head. */
const tiles = Buffer.from([0, 1, 2].flatMap(layer => [0, 1].flatMap(head => Array(4).fill(100 * layer + 50 * head)))).toString('base64');
const shared = {texts: {step: 'js {js}', chart: 'Chart', label: 'Head {head}', heads: 'Heads'}, model: 'bert', size: 2, heads: 2, tiles,
  figures: [{layout: {height: 260}, data: [{name: 'head 1', y: [0, .25, .125], line: {color: '#111'}}, {name: 'head 2', y: [0, .5, .75], line: {color: '#111'}}]}],
  step: [[.25, .5], [.333, .25]]};
let dark = false;
function filmed(changes) {
  const root = coloured(place(), COLOURS);
  film.show(root, {...shared, ...changes}, {get dark() { return dark; }, ask() {}});
  return root;
}
/** The colour of each painted tile. */
const inks = root => [...root.querySelectorAll('figure canvas')].map(canvas => {
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
  assert.deepEqual(texts(root, '.df figcaption'), ['1', '2js 0.250', '3js 0.333']);
  assert.equal(root.querySelector('.df').getAttribute('aria-label'), 'Head 1');
  head(root, 1);
  const second = inks(root);
  assert.deepEqual(texts(root, '.df figcaption'), ['1', '2js 0.500', '3js 0.250']);
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
  const root = filmed(), lines = () => charts(root)[0].data.map(({name, opacity, line}) => [name, opacity, line.width, line.color]);
  assert.deepEqual(lines(), [['head 2', .3, 1.25, '#111'], ['head 1', 1, 3, '#111']]);
  head(root, 1);
  assert.deepEqual(lines(), [['head 1', .3, 1.25, '#111'], ['head 2', 1, 3, '#111']]);
  head(root, 0);
});

test('the chosen head is in the link, and a link brings it', () => {
  const {state} = begun(), shown = root => root.querySelector('.df').getAttribute('aria-label');
  const root = filmed();
  assert.equal(shown(root), 'Head 1');
  head(root, 1);
  assert.equal(state.wanted.look, 'shared:1');
  assert.deepEqual(film.header(shared), {state: {head_drawn: 2}});
  head(root, 0);
  assert.ok(!state.wanted.look);
  begun({look: 'shared:1'});
  assert.equal(shown(filmed()), 'Head 2');
  begun({look: 'shared:x'});
  assert.equal(shown(filmed()), 'Head 1');
  begun();
});

test('the head stays for the next text as far as there is one, and light and dark are drawn anew', () => {
  const root = filmed();
  head(root, 1);
  assert.equal(filmed().querySelector('.df').getAttribute('aria-label'), 'Head 2');
  const one = filmed({heads: 1, step: [[1]], figures: [{layout: {}, data: [shared.figures[0].data[0]]}]});
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
