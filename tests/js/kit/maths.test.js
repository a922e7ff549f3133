// Properties of the arithmetic; test_maths.py compares the same functions with numpy and scipy.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {betweenGroups, divergences, heaviest, ranks, rowsApart, softmax, sorted} from '../../../assets/js/kit/maths.js';

const near = (a, b, within = 1e-12) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);
const random = (n, seed = 7) => Array.from({length: n}, () => (seed = seed * 16807 % 2147483647) / 2147483647);
const logits = random(50).map(x => 12 * x - 6);
const other = random(50, 99).map(x => 12 * x - 6);

test('probabilities sum to 1 at every temperature and do not care where the logits start', () => {
  for (const t of [.05, 1, 2, 20]) {
    const {p} = softmax(logits, t), moved = softmax(logits.map(z => z + 500), t).p;
    near(p.reduce((a, b) => a + b), 1);
    p.forEach((value, i) => near(value, moved[i], 1e-12));
  }
});

test('a high temperature is flat, a low one picks the first', () => {
  near(Math.max(...softmax(logits, 1e6).p), 1 / 50, 1e-6);
  near(Math.max(...softmax(logits, 1e-3).p), 1);
});

test('nothing is infinite where a probability has underflowed', () => {
  const found = divergences([0, -1000], [0, -900], .05);
  assert.deepEqual(Object.values(found).map(Number.isFinite), [true, true, true, true, true]);
});

test('divergences are 0 between equals, never negative, and Jensen-Shannon is symmetric and at most ln 2', () => {
  const same = divergences(logits, logits, 2), one = divergences(logits, other, .5), two = divergences(other, logits, .5);
  for (const name of ['ab', 'ba', 'js']) near(same[name], 0);
  near(one.js, two.js);
  near(one.ab, two.ba);
  assert.ok(one.ab > 0 && one.ba > 0 && one.js > 0 && one.js <= Math.log(2));
});

test('rows apart: 0 from itself, ln 2 where no cell is shared, only the asked rows count', () => {
  const p = [1, 0, 0, 1], q = [0, 1, 0, 1];
  near(rowsApart(p, p, 2, [0, 1]), 0);
  near(rowsApart(p, q, 2, [0]), Math.log(2));
  near(rowsApart(p, q, 2, [1]), 0);
  near(rowsApart(p, q, 2, [0, 1]), Math.log(2) / 2);
});

test('words of one piece each are the pieces; a row of words keeps the sum of its pieces', () => {
  const pieces = [.5, .25, .25, .1, .2, .7, 0, .4, .6];
  assert.deepEqual([...betweenGroups(pieces, 3, [[0], [1], [2]])], pieces);
  const words = betweenGroups(pieces, 3, [[0, 1], [2]]);
  near(words[0] + words[1], 1);
  near(words[2] + words[3], 1);
  near(words[0], (.5 + .25 + .1 + .2) / 2);
});

test('the heaviest cells reach the mass, and one fewer would not', () => {
  const values = random(36).map(x => x ** 4);
  for (let q = 0; q < 6; q++) {
    const row = values.slice(6 * q, 6 * q + 6), whole = row.reduce((a, b) => a + b);
    const found = heaviest(values, 6, .7).filter(cell => cell[0] === q).map(cell => cell[2]);
    const sum = found.reduce((a, b) => a + b);
    assert.ok(sum >= .7 * whole - 1e-9);
    assert.ok(sum - found.at(-1) < .7 * whole);
    assert.deepEqual(found, row.toSorted((a, b) => b - a).slice(0, found.length));
  }
});

test('ranks undo themselves and leave ties as they came', () => {
  assert.deepEqual(ranks([3, 1, 2, 1]), [3, 0, 2, 1]);
  const keys = random(20), at = ranks(keys);
  const back = at.map((_, i) => keys[at.indexOf(i)]);
  assert.deepEqual(back, keys.toSorted((a, b) => a - b));
});

test('rows without a value come last whichever way is up; texts sort as texts', () => {
  const rows = [{v: 2}, {v: null}, {v: 10}, {v: 1}];
  assert.deepEqual(sorted(rows, row => row.v, false).map(row => row.v), [1, 2, 10, null]);
  assert.deepEqual(sorted(rows, row => row.v, true).map(row => row.v), [10, 2, 1, null]);
  assert.deepEqual(sorted(['b', 'a'], row => row, false), ['a', 'b']);
});
