import assert from 'node:assert/strict';
import {test} from 'node:test';

import {dial, extent, geometric, nearest, niceTop, scale, stretches, ticks} from '../../../assets/js/kit/scales.js';

test('a scale maps its ends to its ends, also a logarithmic one, and holds what is below its floor', () => {
  for (const log of [false, true]) {
    const at = scale(.01, 100, 40, 500, log);
    assert.equal(at(.01), 40);
    assert.ok(Math.abs(at(100) - 500) < 1e-9);
  }
  assert.ok(Math.abs(scale(.01, 100, 0, 4, true)(1) - 2) < 1e-12);
  assert.equal(scale(.01, 100, 40, 500, true)(0), 40);
  assert.equal(scale(5, 5, 0, 100)(5), 0);
});

test('ticks are round, inside the axis and about as many as asked', () => {
  for (const [low, high] of [[0, 1], [0, .37], [0, 9491], [-3, 17], [0, 1e-5]]) {
    const found = ticks(low, high, false, 4);
    assert.ok(found.length >= 2 && found.length <= 6, `${found}`);
    const step = found[1] - found[0], first = Number((step / 10 ** Math.floor(Math.log10(step) + 1e-9)).toPrecision(6));
    assert.ok([1, 2, 5, 10].includes(first), `${step}`);
    for (const tick of found) assert.ok(tick >= low - 1e-12 && tick <= high * (1 + 1e-9));
  }
  assert.deepEqual(ticks(.001, 1000, true, 10), [.001, .01, .1, 1, 10, 100, 1000].map(v => 10 ** Math.round(Math.log10(v))));
  assert.ok(ticks(1e-12, 1e12, true, 4).length <= 5);
});

test('the top of a scale of shares holds the largest and is round', () => {
  for (const p of [1e-9, .0009, .001, .0011, .3, .5, .51, 1]) {
    const top = niceTop(p);
    assert.ok(top >= p);
    assert.ok(p < .001 || top <= 2.5 * p);
  }
});

test('a round share is its own top', () => {
  for (const p of [.001, .02, .5, 1]) assert.equal(niceTop(p), p);
});

test('the nearest stop, by difference or by ratio', () => {
  assert.equal(nearest([1, 2, 4, 8], 3.1), 2);
  assert.equal(nearest([1, 10, 100], 40), 1);
  assert.equal(nearest([1, 10, 100], 40, true), 2);
});

test('an axis starts at 0 unless it is logarithmic, and is never empty', () => {
  assert.deepEqual(extent([2, null, 5, NaN], false, 1e-6), [0, 5]);
  assert.deepEqual(extent([-2, 5], false, 1e-6), [-2, 5]);
  assert.deepEqual(extent([0, 0], false, 1e-6), [0, 1]);
  assert.deepEqual(extent([], false, 1e-6), [0, 1]);
  assert.deepEqual(extent([0, 1e-9, .5, 20], true, 1e-6), [.5, 20]);
  assert.deepEqual(extent([.5], true, 1e-6), [.5, 1]);
});

test('a band is drawn between neighbours only, never across a gap', () => {
  assert.deepEqual(stretches([[1, 2], null, [1, 2], [1, 3]]), [[2, 3]]);
  assert.deepEqual(stretches([[1, 2], [0, Infinity], [1, 2]]), []);
  assert.deepEqual(stretches([[1, 2], [2, 3], null, [1, 2], [3, 4]]), [[0, 1], [3, 4]]);
});

test('a logarithmic axis of few decades also names what lies between the powers of ten', () => {
  assert.deepEqual(ticks(4, 80, true, 4), [5, 10, 20, 50]);
  assert.deepEqual(ticks(1, 1e6, true, 4).map(Math.log10), [0, 2, 4, 6]);
});

test('a dial stops exactly at its ends and at round numbers, and moves by equal ratios', () => {
  const {place, round, steps, value} = dial(.05, 20);
  assert.deepEqual(round, [.05, .1, .2, .5, 1, 2, 5, 10, 20]);
  assert.deepEqual([value(0), value(steps), value(String(place(2)))], [.05, 20, 2]);
  for (let at = 1; at <= steps; at++) assert.ok(value(at) > value(at - 1));
  assert.ok(Math.abs(value(200) / value(100) - value(500) / value(400)) < .02);
});

test('equal ratios end at both ends and keep what else is asked for in its place', () => {
  const found = geometric(1, 100, 5, [2]), steps = geometric(1, 100, 5);
  assert.deepEqual([found[0], found[1], found.at(-1)], [1, 2, 100]);
  for (let i = 1; i < steps.length; i++) assert.ok(Math.abs(steps[i] / steps[i - 1] - 100 ** .25) < 1e-9);
});

test('every round share is its own top, and a little more has the next', () => {
  const steps = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1];
  assert.deepEqual(steps.map(niceTop), steps);
  assert.deepEqual(steps.slice(0, -1).map(step => niceTop(1.01 * step)), steps.slice(1));
});

test('an axis is cut at steps of 1, 2 or 5, from the first one inside', () => {
  assert.deepEqual(ticks(0, 1, false, 4), [0, .5, 1]);
  assert.deepEqual(ticks(0, .37, false, 4), [0, .1, .2, .3]);
  assert.deepEqual(ticks(-3, 17, false, 4), [0, 5, 10, 15]);
  assert.deepEqual(ticks(3, 70, false, 4), [20, 40, 60]);
  assert.deepEqual(ticks(0, 40, false, 4), [0, 10, 20, 30, 40]);
  assert.deepEqual(ticks(0, 9.9, false, 1), [0]);
  assert.deepEqual(ticks(1, 1, false, 4), [1]);
});

test('a logarithmic axis has every second, third or seventh power where there are too many', () => {
  assert.deepEqual(ticks(.01, 1, true, 4), [.01, .1, 1]);
  assert.deepEqual(ticks(.01, .99, true, 4), [.01, .02, .05, .1, .2, .5]);
  assert.deepEqual(ticks(1, 1e5, true, 3), [1, 100, 1e4]);
  assert.deepEqual(ticks(1, 1e4, true, 1), [1, 1000]);
  assert.deepEqual(ticks(1e-12, 1e12, true, 4), [1e-12, 1e-5, 100, 1e9]);
  assert.deepEqual(ticks(1, 9, true, 1), [1, 2, 5]);
});

test('an axis below 0 ends where its values do', () => {
  assert.deepEqual(extent([-2, -5], false, 0), [-5, -2]);
  assert.deepEqual(extent([-3], false, 0), [-3, -2]);
  assert.deepEqual(extent([1e-6], true, 1e-6), [1e-6, 1]);
  assert.deepEqual(extent([2e-6, 2.5e-6], true, 1e-6), [2e-6, 4e-6]);
});

test('a dial’s places are equal ratios, and between its round stops it says three digits', () => {
  const {place, value} = dial(.05, 20), small = dial(1, 100, 4);
  assert.deepEqual([place(.05), place(1), place(20)], [0, 300, 600]);
  assert.deepEqual([dial(1, 100).value(100), dial(1, 100).value(50), value(150)], [2.15, 1.47, .224]);
  assert.deepEqual([small.round, small.value(1), small.value(2), small.value('3')], [[1, 2, 5, 10, 20, 50, 100], 2, 10, 20]);
  assert.deepEqual(dial(.01, .02).round, [.01, .02]);
});

test('equal ratios and what else is asked for are said once', () => {
  assert.deepEqual(geometric(1, 100, 3), [1, 10, 100]);
  assert.deepEqual(geometric(1, 100, 3, [50, 10]), [1, 10, 50, 100]);
});

test('of two stops that are as near the first is taken', () => assert.equal(nearest([1, 3, 5], 2), 0));
