import assert from 'node:assert/strict';
import {test} from 'node:test';

import {painted, place, point, press} from '../dom.js';

const {clip} = await import('../../../assets/js/attention/labels.js');
const {Lines} = await import('../../../assets/js/attention/lines.js');

const picture = {n: 3, labels: ['cat', 'sat', 'mat'], values: [.64, .36, 0, 0, 1, 0, .25, .25, .5], mass: .7, colour: 'blue',
  palette: {ink: 'ink', soft: 'soft'}, label: 'as lines'};

function drawn(changes = {}, width = 400) {
  const lines = new Lines();
  place().append(lines.node);
  lines.draw({...picture, ...changes}, width);
  return lines;
}
/** The strokes as [query, key], from their end points. */
const pairs = lines => painted(lines.canvas, 'stroke').map(({path: [[, , from], [, , , , , , to]]}) => [from, to].map(y => (y - 11) / 22));
/** Three words have lines of 22 pixels; a word has 120 pixels at most. */
const words = lines => painted(lines.canvas, 'fillText').map(one => [one.given[0], one.textAlign, one.font.startsWith('600'), one.fillStyle]);

test('a line goes from each word to those that hold the mass of its row', () => {
  const lines = drawn();
  assert.deepEqual(pairs(lines), [[0, 0], [0, 1], [1, 1], [2, 2], [2, 0]]);
  assert.deepEqual(pairs(drawn({mass: .5})), [[0, 0], [1, 1], [2, 2]]);
  assert.equal(lines.canvas.getAttribute('aria-label'), 'as lines');
});

test('a line is as wide and as dark as its share', () => {
  const strokes = painted(drawn().canvas, 'stroke'), near = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} ${b}`);
  [.64, .36, 1, .5, .25].forEach((share, i) => {
    near(strokes[i].lineWidth, .75 + 4 * share);
    near(strokes[i].globalAlpha, .12 + .88 * Math.sqrt(share));
    assert.deepEqual([strokes[i].strokeStyle, strokes[i].lineCap], ['blue', 'round']);
  });
});

test('it swings from the left words to the right ones', () => {
  const [, line] = painted(drawn().canvas, 'stroke');
  assert.deepEqual(line.path, [['moveTo', 120, 11], ['bezierCurveTo', 200, 11, 200, 33, 280, 33]]);
  const [narrow] = painted(drawn({}, 200).canvas, 'stroke');
  assert.deepEqual(narrow.path, [['moveTo', 64, 11], ['bezierCurveTo', 100, 11, 100, 11, 136, 11]]);
});

test('the picture is at most 460 wide and has a line for each word, a narrower one from 41 words on', () => {
  const lines = drawn({}, 900), many = n => drawn({n, labels: Array(n).fill('a'), values: Array(n * n).fill(0)});
  assert.deepEqual([lines.canvas.width, lines.canvas.height], [460, 70]);
  assert.equal(drawn({}, 300).canvas.width, 300);
  assert.deepEqual([many(40).canvas.height, many(41).canvas.height], [884, 660]);
});

test('every word stands at both sides', () => {
  const lines = drawn();
  assert.deepEqual(words(lines).slice(0, 2), [['cat', 'right', false, 'ink'], ['cat', 'left', false, 'ink']]);
  assert.deepEqual(painted(lines.canvas, 'fillText').map(one => one.given.slice(1)), [0, 1, 2].flatMap(i => [[114, 22 * i + 11], [286, 22 * i + 11]]));
  assert.ok(painted(lines.canvas, 'fillText').every(one => one.globalAlpha === 1 && one.textBaseline === 'middle'));
});

test('a pointed word on the left lights what it looks at, with the shares', () => {
  const lines = drawn();
  point(lines.canvas, 'pointermove', -1, 50);   // without a layout the middle is at 0
  assert.equal(lines.row, 'query/2');
  assert.deepEqual(words(lines), [['cat', 'right', false, 'soft'], ['cat 0.25', 'left', true, 'ink'], ['sat', 'right', false, 'soft'],
    ['sat', 'left', false, 'soft'], ['mat', 'right', true, 'ink'], ['mat 0.50', 'left', true, 'ink']]);
  assert.deepEqual(painted(lines.canvas, 'stroke').map(one => one.globalAlpha > .04), [false, false, false, true, true]);
  assert.equal(painted(lines.canvas, 'stroke')[0].globalAlpha, .04);
});

test('a pointed word on the right lights what looks at it', () => {
  const lines = drawn();
  point(lines.canvas, 'pointermove', 0, 5);
  assert.equal(lines.row, 'key/0');
  assert.deepEqual(words(lines), [['0.64 cat', 'right', true, 'ink'], ['cat', 'left', true, 'ink'], ['sat', 'right', false, 'soft'],
    ['sat', 'left', false, 'soft'], ['0.25 mat', 'right', true, 'ink'], ['mat', 'left', false, 'soft']]);
  assert.deepEqual(painted(lines.canvas, 'stroke').map(one => one.globalAlpha > .04), [true, false, false, false, true]);
});

test('the sides meet in the middle of the picture', () => {
  const lines = drawn();
  lines.canvas.getBoundingClientRect = () => new DOMRect(100, 20, 400, 70);
  const side = x => { point(lines.canvas, 'pointermove', x, 30); return lines.row; };
  assert.deepEqual([side(299), side(300), side(101)], ['query/0', 'key/0', 'query/0']);
});

test('above the words, below them and away from the picture nothing is pointed at', () => {
  const lines = drawn(), row = y => { point(lines.canvas, 'pointermove', 0, y); return lines.row; };
  assert.deepEqual([row(0), row(-1), row(65), row(66), row(30)], ['key/0', null, 'key/2', null, 'key/1']);
  point(lines.canvas, 'pointerleave');
  assert.equal(lines.row, null);
  assert.ok(painted(lines.canvas, 'stroke').every(one => one.globalAlpha > .04));
});

test('a word is painted anew only when another is pointed at', () => {
  const lines = drawn(), paints = () => lines.canvas.getContext('2d').notes.filter(note => note[0] === 'setTransform').length, before = paints();
  point(lines.canvas, 'pointermove', 0, 5);
  point(lines.canvas, 'pointermove', 0, 6);
  assert.equal(paints(), before + 1);
});

test('the arrows walk the left words from the first to the last', () => {
  const lines = drawn(), walk = (...keys) => keys.map(key => { press(lines.canvas, `Arrow${key}`); return lines.row; });
  assert.deepEqual(walk('Down', 'Down', 'Down', 'Down', 'Up', 'Up', 'Up'), ['query/0', 'query/1', 'query/2', 'query/2', 'query/1', 'query/0', 'query/0']);
  assert.deepEqual([press(lines.canvas, 'ArrowUp'), press(lines.canvas, 'ArrowLeft')], [false, true]);
});

test('a word is cut to its room, and more of it where its share stands beside it', () => {
  const lines = drawn({labels: ['x'.repeat(30), 'sat', 'mat']});
  assert.equal(words(lines)[0][0], `${'x'.repeat(17)}…`);   // 18 * 6 <= 112
  point(lines.canvas, 'pointermove', 0, 5);
  assert.deepEqual(words(lines).slice(0, 2).map(word => word[0]), [`0.64 ${'x'.repeat(11)}…`, `${'x'.repeat(17)}…`]);   // 12 * 6 <= 76
});

test('a cut word keeps a letter, and what fits exactly is not cut', () => {
  const pen = {measureText: text => ({width: 6 * text.length})};
  assert.deepEqual([clip(pen, 'word', 24), clip(pen, 'word', 23), clip(pen, 'words', 12), clip(pen, 'word', 0)], ['word', 'wo…', 'w…', 'w…']);
  assert.deepEqual([clip(pen, '😀😀😀', 30), clip(pen, '😀😀', 0)], ['😀😀…', '😀…'], 'nor is a sign of two units cut in two');
});
