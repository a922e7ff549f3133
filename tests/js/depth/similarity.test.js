import assert from 'node:assert/strict';
import {test} from 'node:test';

import {coloured, place, texts, WIDTH} from '../dom.js';
import {COLOURS} from './palette.js';

const {constants, show, table, theme} = await import('../../../assets/js/depth/similarity.js');

const said = {layer: '{model} layer {n}', embeddings: '{model} emb.', hint: 'Point at a cell.', cka: 'CKA', shuffled: 'Shuffled',
  cell: '{row} and {column}: {cka}, {shuffled}'};
const rows = [{key: 'bert', label: 'BERT', layer: 0}, {key: 'bert', label: 'BERT', layer: 1}, {key: 'albert', label: 'ALBERT', layer: 0}];
const data = {texts: said, rows, cka: [[1, .5, .1], [.5, 1, .8], [.1, .8, 1.2]], shuffled: [[.9, .2, .3], [.2, .9, .4], [.3, .4, .9]], pairs: [[1, 2]],
  sentences: ['a']};
const context = {dark: false, ask() {}};

function shown(width = WIDTH, changes = {}) {
  const root = coloured(place(), COLOURS);
  Object.defineProperty(root, 'clientWidth', {value: width, configurable: true});
  show(root, {...data, ...changes}, context);
  const [cka, shuffled] = root.querySelectorAll('canvas');
  return {root, cka, shuffled, said: () => root.querySelector('[role=status]').textContent};
}
const notes = canvas => canvas.getContext('2d').notes;
/** What was drawn last of all: since the pen was last placed. */
function last(canvas) {
  const all = notes(canvas);
  return all.slice(all.findLastIndex(([name]) => name === 'setTransform'));
}
/** Each call of one kind with the pen as it was then. */
function calls(canvas, kind) {
  const pen = {}, found = [];
  for (const [name, ...given] of last(canvas)) {
    if (name === kind) found.push({...pen, at: given});
    else if (given.length === 1) pen[name] = given[0];
  }
  return found;
}
const move = (canvas, x, y) => canvas.dispatchEvent(Object.assign(new Event('pointermove'), {offsetX: x, offsetY: y}));
function press(canvas, key) {
  const event = new KeyboardEvent('keydown', {key, cancelable: true});
  canvas.dispatchEvent(event);
  return event.defaultPrevented;
}

test('a cell for each pair of layers, the fuller the more alike, on the cube so that large values differ', () => {
  const {cka, shuffled} = shown(), cells = calls(cka, 'fillRect').slice(0, 9), other = calls(shuffled, 'fillRect').slice(0, 9);
  assert.deepEqual(cells.map(cell => cell.at), [0, 1, 2].flatMap(r => [0, 1, 2].map(c => [34 + 22 * c, 34 + 22 * r, 21, 21])));
  assert.deepEqual(cells.map(cell => Number(cell.globalAlpha.toFixed(3))), [1, .125, .06, .125, 1, .512, .06, .512, 1]);
  assert.deepEqual(other.map(cell => Number(cell.globalAlpha.toFixed(3))).slice(0, 3), [.729, .06, .06]);
  assert.ok(cells.every(cell => cell.fillStyle === 'rgb(0,0,255)'));
  assert.deepEqual([cka.width, cka.height, cka.dataset.step], [102, 102, '22']);
  assert.equal(cka.getAttribute('aria-label'), 'CKA');
});

test('cells shrink with the width, stay large enough to see, and both squares stand side by side where there is room', () => {
  const many = {rows: Array(40).fill(rows[0]), cka: Array(40).fill(Array(40).fill(1)), shuffled: Array(40).fill(Array(40).fill(1)), pairs: []};
  const step = width => shown(width, many).cka.dataset.step;
  assert.deepEqual([step(760), step(800), step(598), step(300)], ['18', '8', '14', '6'].map((v, i) => i === 1 ? String(Math.floor((384 - 38) / 40)) : v));
  assert.equal(step(120), '5');
});

test('names stand along both edges, each as long as its model\'s layers, with lines between models', () => {
  const {cka} = shown(), names = calls(cka, 'fillText');
  assert.deepEqual(names.map(name => [name.at, name.fillStyle, name.globalAlpha]), [
    [['BERT', 0, 0, 40], 'rgb(128,64,0)', 1], [['BERT', 0, 0, 40], 'rgb(128,64,0)', 1], [['ALBERT', 0, 0, 18], 'rgb(0,128,64)', 1], [['ALBERT', 0, 0, 18],
      'rgb(0,128,64)', 1]]);
  const moves = last(cka).filter(([name]) => name === 'translate').map(([, x, y]) => [x, y]);
  assert.deepEqual(moves, [[34, 12], [12, 76], [78, 12], [12, 98]]);
  assert.deepEqual(last(cka).filter(([name]) => name === 'rotate').map(([, turn]) => turn), [-Math.PI / 2, -Math.PI / 2]);
  const marks = calls(cka, 'fillRect').slice(9);
  assert.deepEqual(marks.map(mark => mark.at), [[34, 28, 42, 3], [28, 34, 3, 42], [78, 28, 20, 3], [28, 78, 3, 20], [77, 34, 1, 66], [34, 77, 66, 1]]);
  assert.equal(marks.at(-1).fillStyle, 'rgb(96,96,96)');
  assert.equal(last(cka).filter(([name]) => name === 'save').length, 4);
  assert.equal(last(cka).filter(([name]) => name === 'restore').length, 4);
});

test('pairs of which it is known are framed, both ways, where the words stand in their order alone', () => {
  const {cka, shuffled} = shown();
  assert.deepEqual(calls(cka, 'strokeRect').map(frame => [frame.at, frame.lineWidth, frame.strokeStyle]),
    [[[78, 56, 21, 21], 2, 'rgb(16,16,16)'], [[56, 78, 21, 21], 2, 'rgb(16,16,16)']]);
  assert.deepEqual(calls(shuffled, 'strokeRect'), []);
});

test('the cell under the pointer is read out and framed in both squares', () => {
  const {cka, shuffled, said} = shown();
  assert.equal(said(), 'Point at a cell.');
  move(cka, 34 + 22, 34);
  assert.equal(said(), 'BERT emb. and BERT layer 1: 0.500, 0.200');
  assert.deepEqual(calls(shuffled, 'strokeRect').map(frame => frame.at), [[56, 34, 21, 21]]);
  const drawn = notes(cka).length;
  move(cka, 34 + 40, 50);
  assert.equal(notes(cka).length, drawn, 'the same cell is not drawn again');
  move(shuffled, 99, 99);
  assert.equal(said(), 'ALBERT emb. and ALBERT emb.: 1.200, 0.900');
  for (const [x, y] of [[33, 50], [50, 33], [100, 50], [50, 100]]) {
    move(cka, 40, 40);
    assert.notEqual(said(), 'Point at a cell.');
    move(cka, x, y);
    assert.equal(said(), 'Point at a cell.', `${x}, ${y}`);
  }
});

test('arrows move over the cells and stop at the edges', () => {
  const {cka, said} = shown();
  assert.equal(press(cka, 'a'), false);
  assert.equal(press(cka, 'ArrowRight'), true);
  assert.match(said(), /^BERT emb\. and BERT layer 1/);
  press(cka, 'ArrowDown');
  assert.match(said(), /^BERT layer 1 and BERT layer 1/);
  for (let i = 0; i < 4; i++) { press(cka, 'ArrowDown'); press(cka, 'ArrowRight'); }
  assert.match(said(), /^ALBERT emb\. and ALBERT emb\./);
  press(cka, 'ArrowLeft');
  assert.match(said(), /^ALBERT emb\. and BERT layer 1/);
  press(cka, 'ArrowUp');
  assert.match(said(), /^BERT layer 1 and BERT layer 1/);
  for (let i = 0; i < 4; i++) { press(cka, 'ArrowUp'); press(cka, 'ArrowLeft'); }
  assert.match(said(), /^BERT emb\. and BERT emb\./);
});

test('light and dark are drawn anew; a place without a width is not drawn', () => {
  const {root, cka} = shown(), drawn = notes(cka).length;
  theme(root);
  assert.equal(notes(cka).length, 2 * drawn);
  theme(place());
  assert.equal(notes(shown(0).cka).length, 0);
});

test('the table has a row for each pair of layers', () => {
  const {columns, rows: found} = table(data);
  assert.deepEqual(columns, ['model', 'layer', 'other_model', 'other_layer', 'cka', 'cka_shuffled']);
  assert.deepEqual([found.length, found[5]], [9, ['BERT', 1, 'ALBERT', 0, .8, .4]]);
  assert.deepEqual(constants(data), {TEXTS: ['a']});
  assert.deepEqual(texts(shown().root, 'figcaption'), ['CKA', 'Shuffled']);
});
