import assert from 'node:assert/strict';
import {test} from 'node:test';

import {dial, nearest, niceTop} from '../../../assets/js/kit/scales.js';

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

test('the nearest stop', () => {
  assert.equal(nearest([1, 2, 4, 8], 3.1), 2);
  assert.equal(nearest([1, 10, 100], 40), 1);
});

test('a dial stops exactly at its ends and at round numbers, and moves by equal ratios', () => {
  const {place, round, steps, value} = dial(.05, 20);
  assert.deepEqual(round, [.05, .1, .2, .5, 1, 2, 5, 10, 20]);
  assert.deepEqual([value(0), value(steps), value(String(place(2)))], [.05, 20, 2]);
  for (let at = 1; at <= steps; at++) assert.ok(value(at) > value(at - 1));
  assert.ok(Math.abs(value(200) / value(100) - value(500) / value(400)) < .02);
});

test('every round share is its own top, and a little more has the next', () => {
  const steps = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1];
  assert.deepEqual(steps.map(niceTop), steps);
  assert.deepEqual(steps.slice(0, -1).map(step => niceTop(1.01 * step)), steps.slice(1));
});

test('a dial’s places are equal ratios, and between its round stops it says three digits', () => {
  const {place, value} = dial(.05, 20), small = dial(1, 100, 4);
  assert.deepEqual([place(.05), place(1), place(20)], [0, 300, 600]);
  assert.deepEqual([dial(1, 100).value(100), dial(1, 100).value(50), value(150)], [2.15, 1.47, .224]);
  assert.deepEqual([small.round, small.value(1), small.value(2), small.value('3')], [[1, 2, 5, 10, 20, 50, 100], 2, 10, 20]);
  assert.deepEqual(dial(.01, .02).round, [.01, .02]);
});

test('of two stops that are as near the first is taken', () => assert.equal(nearest([1, 3, 5], 2), 0));
