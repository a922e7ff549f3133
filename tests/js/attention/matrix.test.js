import assert from 'node:assert/strict';
import {test} from 'node:test';

import {painted, place, point, press} from '../dom.js';

const {Matrix} = await import('../../../assets/js/attention/matrix.js');

const RAMP = Uint32Array.from({length: 256}, (_, i) => (255 << 24 | i << 16 | i << 8 | i) >>> 0);   // from black to white
const SIGNED = Uint32Array.from({length: 511}, (_, i) => i);
const palette = {ink: 'ink', soft: 'soft', paper: 'paper'};
const WORDS = ['cat', 'sat', 'elephants'], VALUES = [1, 0, .25, .004, .5, .04, 0, 0, 0];
/** Three words at 300 pixels: the longest word is 54 wide, so that squares of 36 begin at 64. */
const LEFT = 64, STEP = 36;

function drawn(changes = {}, width = 300) {
  const told = [], matrix = new Matrix(cell => { told.push(cell); matrix.mark(cell); }), root = place();
  root.append(matrix.node);
  matrix.draw({labels: WORDS, values: VALUES, n: 3, ramp: RAMP, palette, label: 'three words', ...changes}, width);
  matrix.mark(null);
  return {matrix, told, canvas: matrix.canvas};
}
const colours = matrix => [...matrix.cells.out];
const many = (n, width, changes = {}) => drawn({labels: Array.from({length: n}, (_, i) => `w${i}`), n, values: Array(n * n).fill(0), ...changes}, width);
const at = (q, k) => [LEFT + STEP * k + 5, LEFT + STEP * q + 5];

test('the picture has a name, and its words stand before its squares', () => {
  const {matrix, canvas} = drawn();
  assert.equal(canvas.getAttribute('aria-label'), 'three words');
  assert.deepEqual([matrix.left, matrix.top, matrix.step], [LEFT, LEFT, STEP]);
  assert.deepEqual([canvas.width, canvas.height], [LEFT + 3 * STEP + 2, LEFT + 3 * STEP + 2]);
});

test('squares fill the width up to 36 pixels, and fit it whatever their number; words have room for 20 to 92', () => {
  assert.equal(drawn({}, 160).matrix.step, 31);
  for (const [n, width] of [[200, 350], [200, 395], [512, 350], [512, 395]]) {
    const {matrix, canvas} = many(n, width);
    assert.ok(canvas.width <= width && canvas.width > width - 3, `${n} words at ${width}: ${canvas.width}`);
    assert.equal(canvas.height, canvas.width);
    assert.equal(matrix.buttons.node.hidden, false);
  }
  assert.equal(drawn().matrix.buttons.node.hidden, true, 'three words are large');
  assert.equal(drawn({labels: ['a', 'b', 'c']}).matrix.left, 30);
  assert.equal(drawn({labels: ['a', 'b', 'x'.repeat(40)]}).matrix.left, 102);
});

test('a cell’s colour is the root of its value, at most the last', () => {
  assert.deepEqual(colours(drawn().matrix), [255, 0, 128, 16, 180, 51, 0, 0, 0].map(i => RAMP[i]));
  assert.deepEqual(colours(drawn({values: VALUES.map(v => v / 100), gain: 100}).matrix), colours(drawn().matrix));
  assert.equal(colours(drawn({gain: 9}).matrix)[2], RAMP[255]);
  const put = drawn().matrix.cells.tile.getContext('2d').notes.find(note => note[0] === 'putImageData');
  assert.deepEqual([put[1].width, put[1].height, put[2], put[3]], [3, 3, 0, 0]);
  const {tile} = drawn().matrix.cells;
  assert.deepEqual([tile.width, tile.height], [3, 3]);
});

test('a difference goes both ways from the middle of its colours', () => {
  const values = [1, -1, .25, -.16, 0, .01, -2, 2, 0];
  assert.deepEqual(colours(drawn({values, signed: true, ramp: SIGNED}).matrix), [510, 0, 383, 153, 255, 281, 0, 510, 255]);
});

test('all squares are one image, with lines of paper between them while they are large', () => {
  const {canvas, matrix} = drawn();
  const [image] = painted(canvas, 'drawImage');
  assert.deepEqual(image.given, [matrix.cells.tile, LEFT, LEFT, 3 * STEP, 3 * STEP]);
  assert.equal(image.imageSmoothingEnabled, false);
  assert.deepEqual(painted(canvas, 'fillRect').map(one => [one.fillStyle, ...one.given]), [1, 2, 3].flatMap(i => [
    ['paper', LEFT + i * STEP - 1, LEFT, 1, 3 * STEP], ['paper', LEFT, LEFT + i * STEP - 1, 3 * STEP, 1]]));
  assert.equal(painted(drawn({}, 99).canvas, 'fillRect').length, 6);   // 11 pixels
  assert.equal(painted(drawn({}, 96).canvas, 'fillRect').length, 0);   // 10
});

test('a cell says its per cent but not a 0, in the colour that is read on its own', () => {
  const {canvas} = drawn(), numbers = painted(canvas, 'fillText').filter(one => /^-?\d+$/.test(one.given[0]));
  const place = (q, k) => [LEFT + k * STEP + 18, LEFT + q * STEP + 19, STEP - 3];
  assert.deepEqual(numbers.map(one => one.given), [['100', ...place(0, 0)], ['25', ...place(0, 2)], ['50', ...place(1, 1)], ['4', ...place(1, 2)]]);
  assert.deepEqual(numbers.map(one => one.fillStyle), ['#10131a', '#ffffff', '#10131a', '#ffffff']);
  assert.deepEqual([numbers[0].textAlign, numbers[0].textBaseline], ['center', 'middle']);
  const negative = painted(drawn({values: [-.5, -.001, 0, 0, 0, 0, 0, 0, 0], signed: true, ramp: SIGNED}).canvas, 'fillText').map(one => one.given[0]);
  assert.ok(negative.includes('-50') && !negative.includes('-0'));
});

test('what is light depends on green most and on blue least', () => {
  const ink = (r, g, b) => painted(drawn({values: [1, 0, 0, 0, 0, 0, 0, 0, 0], ramp: RAMP.map(() => (255 << 24 | b << 16 | g << 8 | r) >>> 0)}).canvas,
    'fillText').find(one => one.given[0] === '100').fillStyle;
  const dark = '#10131a', white = '#ffffff';
  assert.deepEqual([ink(0, 240, 0), ink(0, 238, 0)], [dark, white]);        // .587 * 240 = 140.9
  assert.deepEqual([ink(255, 109, 0), ink(255, 108, 0)], [dark, white]);    // 76.2 + 63.98
  assert.deepEqual([ink(0, 190, 255), ink(0, 188, 255)], [dark, white]);    // 111.5 + 29.07
});

test('no numbers stand in squares of less than 18 pixels', () => {
  const numbers = width => painted(drawn({}, width).canvas, 'fillText').filter(one => /\d/.test(one.given[0])).length;
  assert.equal(numbers(LEFT + 2 + 54), 4);
  assert.equal(numbers(LEFT + 2 + 53), 0);
});

test('every word stands before its row and, turned, above its column', () => {
  const {canvas} = drawn(), notes = painted(canvas).filter(one => ['fillText', 'translate', 'rotate', 'save', 'restore'].includes(one.call));
  const words = notes.slice(notes.findIndex(one => one.given[0] === 'cat'));
  WORDS.forEach((word, i) => {
    const [row, save, move, turn, column, back] = words.slice(6 * i, 6 * i + 6), middle = LEFT + i * STEP + 18;
    assert.deepEqual([row.given, row.textAlign, row.fillStyle], [[word, LEFT - 6, middle], 'right', 'soft']);
    assert.deepEqual([save.call, move.given, turn.given, back.call], ['save', [middle, LEFT - 6], [-Math.PI / 2], 'restore']);
    assert.deepEqual([column.given, column.textAlign], [[word, 0, 1], 'left']);
  });
});

test('a word that is too long is cut to its room', () => {
  const {canvas} = drawn({labels: ['a', 'b', 'x'.repeat(40)]});
  assert.ok(painted(canvas, 'fillText').filter(one => one.given[0] === `${'x'.repeat(14)}…`).length === 2);   // 15 * 6 <= 94
});

test('small squares name every few words, and make room around the one that is marked', () => {
  const labels = Array.from({length: 20}, (_, i) => `w${i}`), {matrix, canvas} = drawn({labels, n: 20, values: Array(400).fill(0)}, LEFT + 2 + 100);
  assert.equal(matrix.step, 5);
  const rows = () => painted(canvas, 'fillText').filter(one => one.textAlign === 'right').map(one => Number(one.given[0].slice(1)));
  const columns = () => painted(canvas, 'fillText').filter(one => one.textAlign === 'left').map(one => Number(one.given[0].slice(1)));
  assert.deepEqual(rows(), [0, 3, 6, 9, 12, 15, 18]);
  matrix.mark([7, 10]);
  assert.deepEqual(rows(), [0, 3, 7, 12, 15, 18]);        // 6 and 9 are nearer than 14 pixels
  assert.deepEqual(columns(), [0, 3, 6, 10, 15, 18]);
  matrix.mark([0, 0]);
  assert.deepEqual(rows(), [0, 3, 6, 9, 12, 15, 18]);
});

test('squares of just 14 pixels name every word', () => {
  const {canvas} = drawn({}, LEFT + 2 + 42);
  assert.equal(painted(canvas, 'fillText').filter(one => one.textAlign === 'right').length, 3);
  const {matrix, canvas: small} = drawn({}, LEFT + 2 + 39);
  assert.equal(matrix.step, 13);
  assert.equal(painted(small, 'fillText').filter(one => one.textAlign === 'right').length, 2);
});

test('the marked cell is framed with its row and its column, and its two words are strong', () => {
  const {matrix, canvas} = drawn();
  assert.equal(painted(canvas, 'strokeRect').length, 0);
  matrix.mark([1, 2]);
  const side = STEP - 1, x = LEFT + 2 * STEP, y = LEFT + STEP, all = 3 * STEP - 1;
  const frames = painted(canvas, 'strokeRect');
  assert.deepEqual(frames.map(one => [one.strokeStyle, one.lineWidth, one.globalAlpha, ...one.given]), [
    ['ink', 2, undefined, x, y, side, side], ['ink', 1, .35, LEFT, y, all, side], ['ink', 1, .35, x, LEFT, side, all]]);
  assert.deepEqual(canvas.getContext('2d').notes.at(-1), ['restore'], 'the pen is as it was');
  const strong = painted(canvas, 'fillText').filter(one => one.font.startsWith('600'));
  assert.deepEqual(strong.map(one => [one.given[0], one.textAlign, one.fillStyle]), [['sat', 'right', 'ink'], ['elephants', 'left', 'ink']]);
});

test('the pointer tells the cell below it once, and none beside the squares', () => {
  const {told, canvas} = drawn();
  for (const place of [at(0, 0), at(0, 0), at(1, 2), at(2, 2), [LEFT - 1, LEFT + 3], at(2, 0), at(3, 0), at(0, 2), at(0, 3), at(0, 0), [LEFT + 3, LEFT - 1]]) {
    point(canvas, 'pointermove', ...place);
  }
  assert.deepEqual(told, [[0, 0], [1, 2], [2, 2], null, [2, 0], null, [0, 2], null, [0, 0], null]);
});

test('a mouse that leaves takes its cell along; a finger and the keyboard leave theirs', () => {
  const {matrix, told, canvas} = drawn();
  point(canvas, 'pointermove', ...at(1, 1));
  point(canvas, 'pointerleave', 0, 0, 'touch');
  assert.deepEqual(matrix.cell, [1, 1]);
  canvas.focus();
  point(canvas, 'pointerleave');
  assert.deepEqual(matrix.cell, [1, 1]);
  canvas.blur();
  point(canvas, 'pointerleave');
  assert.deepEqual(told, [[1, 1], null]);
});

test('the arrows begin at the first cell and stop at the edges', () => {
  const {matrix, canvas} = drawn(), go = (...keys) => { keys.forEach(key => press(canvas, `Arrow${key}`)); return matrix.cell; };
  assert.deepEqual(go('Right'), [0, 0]);
  assert.deepEqual(go('Right'), [0, 1]);
  assert.deepEqual(go('Down'), [1, 1]);
  assert.deepEqual(go('Left'), [1, 0]);
  assert.deepEqual(go('Left', 'Up', 'Up', 'Up'), [0, 0]);
  assert.deepEqual(go('Down', 'Down', 'Down', 'Right', 'Right', 'Right'), [2, 2]);
  assert.deepEqual([go('Left'), go('Up')], [[2, 1], [1, 1]]);
  assert.deepEqual([press(canvas, 'ArrowUp'), press(canvas, 'Tab')], [false, true]);
});

const turn = (canvas, deltaY, [x, y], ctrlKey = true) => {
  const event = new MouseEvent('wheel', {clientX: x, clientY: y, ctrlKey, bubbles: true, cancelable: true});
  Object.defineProperty(event, 'deltaY', {value: deltaY});
  Object.defineProperty(event, 'deltaMode', {value: 0});
  return canvas.dispatchEvent(event);
};
function finger(canvas, kind, id, x, y, pointerType = 'touch', buttons = Number(kind !== 'pointerup')) {
  canvas.dispatchEvent(new PointerEvent(kind, {pointerId: id, clientX: x, clientY: y, pointerType, buttons, bubbles: true}));
}
/** The names beside rows, with where their middle is. */
const rowNames = canvas => painted(canvas, 'fillText').filter(one => one.textAlign === 'right').map(one => [one.given[0], one.given[2]]);

test('Ctrl and the wheel enlarge about the pointer; the wheel alone scrolls the page', () => {
  const {matrix, canvas} = many(200, 350), before = matrix.step, place = [LEFT + 142, LEFT + 71];
  assert.equal(turn(canvas, -240, place, false), true);
  assert.equal(matrix.step, before);
  const under = () => [(place[0] - matrix.left - matrix.fromLeft) / matrix.step, (place[1] - matrix.top - matrix.fromTop) / matrix.step];
  const cell = under();
  assert.equal(turn(canvas, -240, place), false, 'not the page');
  assert.ok(matrix.step > 1.5 * before);
  under().forEach((now, i) => assert.ok(Math.abs(now - cell[i]) < 1e-6, 'what is under the pointer stays'));
  for (let i = 0; i < 20; i++) turn(canvas, -240, place);
  assert.ok(Math.abs(matrix.step - 36) < 1e-9, 'until the numbers are easily read');
  for (let i = 0; i < 30; i++) turn(canvas, 240, place);
  assert.equal(matrix.step, before);
});

test('enlarged, names stand at least 14 pixels apart, each beside its own cell and none beside the frame', () => {
  const {matrix, canvas} = many(200, 350);
  for (let i = 0; i < 12; i++) {
    const names = rowNames(canvas);
    assert.ok(names.length >= 5);
    names.forEach(([name, y], j) => {
      assert.ok(!j || y - names[j - 1][1] >= 14 - 1e-9, `${name} at ${y}`);
      assert.ok(y >= matrix.top && y <= matrix.top + matrix.side, `${name} at ${y}`);
      assert.ok(Math.abs(matrix.top + matrix.fromTop + (Number(name.slice(1)) + .5) * matrix.step - y) < 1e-6, name);
    });
    turn(canvas, -60, [LEFT + 100 + i, LEFT + 180]);
  }
});

test('a drag moves what is enlarged, up to its edges; whole it points at cells', () => {
  const {matrix, canvas, told} = many(200, 350), drag = (x, y) => { finger(canvas, 'pointerdown', 1, 200, 200, 'mouse'); finger(canvas, 'pointermove', 1, x, y, 'mouse'); finger(canvas, 'pointerup', 1, x, y, 'mouse'); };
  drag(220, 200);
  assert.deepEqual([matrix.fromLeft, told.length], [0, 1]);
  matrix.zoom.by(4);
  const [left, top] = [matrix.fromLeft, matrix.fromTop];
  drag(180, 230);
  assert.ok(Math.abs(matrix.fromLeft - left + 20) < 1e-6 && Math.abs(matrix.fromTop - top - 30) < 1e-6);
  assert.equal(told.length, 1, 'a drag points at nothing');
  drag(5000, 5000);
  assert.deepEqual([matrix.fromLeft, matrix.fromTop].map(Math.abs), [0, 0]);
  drag(-5000, -5000);
  assert.ok(Math.abs(matrix.fromLeft - matrix.side * (1 - 4)) < 1e-6);
  canvas.dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));
  assert.equal(matrix.zoom.zoom, 1);
});

test('a press on the whole matrix that ends elsewhere does not drag it once it is enlarged', () => {
  for (const kind of ['mouse', 'pen']) {
    const {matrix, canvas, told} = many(200, 350);
    finger(canvas, 'pointerdown', 1, 200, 200, kind);   // its end is outside of the matrix
    matrix.zoom.by(4);
    const before = [matrix.fromLeft, matrix.fromTop];
    finger(canvas, 'pointermove', 1, 180, 230, kind, 0);
    assert.deepEqual([matrix.fromLeft, matrix.fromTop, told.length], [...before, 1], 'it points at a cell');
    finger(canvas, 'pointermove', 1, 100, 100, kind, 1);   // pressed elsewhere, and moved here
    assert.deepEqual([matrix.fromLeft, matrix.fromTop], before);
  }
});

test('two fingers enlarge by as much as they part', () => {
  const {matrix, canvas} = many(200, 350);
  finger(canvas, 'pointerdown', 1, 180, 200);
  finger(canvas, 'pointerdown', 2, 220, 200);
  finger(canvas, 'pointermove', 2, 260, 200);
  assert.ok(Math.abs(matrix.zoom.zoom - 2) < 1e-9);
  finger(canvas, 'pointerup', 2, 260, 200);
  finger(canvas, 'pointermove', 1, 170, 200);
  assert.ok(Math.abs(matrix.zoom.zoom - 2) < 1e-9, 'one finger moves it');
});

test('the keyboard enlarges, shows all, and what the arrows come to is in sight', () => {
  const {matrix, canvas} = many(200, 350), inFrame = ([q, k]) => [[q, matrix.fromTop], [k, matrix.fromLeft]].every(([i, from]) => i * matrix.step + from > -1e-6 && (i + 1) * matrix.step + from < matrix.side + 1e-6);
  for (let i = 0; i < 5; i++) press(canvas, '+');
  assert.ok(matrix.step > 7 * matrix.fit);
  matrix.zoom.take({x: 0, y: 0});
  for (let i = 0; i < 60; i++) { press(canvas, 'ArrowRight'); press(canvas, 'ArrowDown'); assert.ok(inFrame(matrix.cell), String(matrix.cell)); }
  assert.ok(matrix.fromLeft < 0);
  press(canvas, '-');
  press(canvas, '0');
  assert.equal(matrix.step, matrix.fit);
  assert.equal(press(drawn().canvas, '+'), true, 'three words are no long text');
});

test('the buttons say how large it is, and only what can be done can be pressed', () => {
  const {matrix} = many(200, 350), [out, into, all] = matrix.buttons.node.querySelectorAll('button'), able = () => [out, into, all].map(one => !one.disabled);
  assert.deepEqual([able(), all.textContent], [[false, true, false], '1×']);
  into.click();
  assert.deepEqual([able(), all.textContent], [[true, true, true], '1.5×']);
  for (let i = 0; i < 12; i++) into.click();
  assert.deepEqual(able(), [true, false, true]);
  all.click();
  assert.deepEqual([able(), all.textContent], [[false, true, false], '1×']);
});
