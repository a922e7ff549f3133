import assert from 'node:assert/strict';
import {test} from 'node:test';

import '../page.js';

const {axesOf} = await import('../../../assets/js/kit/chart.js');

test('the axis holds what is sure of each line, not the line alone', () => {
  const {py} = axesOf({xs: [0, 1], lines: [{values: [2, 3], band: [[1, 4], null]}, {values: [2, 2]}]}, 400);
  assert.ok(py(4) < py(3.5), 'the upper end is not cut off');
  assert.ok(py(1) > py(1.5), 'nor is the lower one');
});

test('the axis holds the level that is asked for', () => {
  const {py} = axesOf({xs: [0, 1], lines: [{values: [2, 3]}], levels: [9]}, 400);
  assert.ok(py(9) < py(8));
});

test('a named range is kept, and what lies outside of it stands at its edge', () => {
  const {py, x0, x1} = axesOf({xs: [0, 1], lines: [{values: [2, 3]}], x: {range: [-1, 5]}, y: {range: [0, 2]}}, 400);
  assert.deepEqual([x0, x1], [-1, 5]);
  assert.equal(py(3), py(2));
});

test('a narrow chart tries two names at least', () => {
  assert.deepEqual(axesOf({xs: [0, 40], lines: []}, 90).xTicks, [0, 20, 40]);
});

test('without a place the axis runs from 0 to 1, and a logarithmic one holds what is above its floor', () => {
  const {x0, x1} = axesOf({xs: [], lines: []}, 400);
  assert.deepEqual([x0, x1], [0, 1]);
  const axes = floor => axesOf({xs: [1, 2], lines: [{values: [1e-9, 1e-3, 1]}], y: {log: true}, floor}, 400);
  assert.deepEqual(axes().yTicks.at(0), 1e-3);
  assert.deepEqual(axes(1e-10).yTicks.at(0), 1e-9);
  const millionths = axesOf({xs: [1, 2], lines: [{values: [5e-7, 2e-6, 1]}], y: {log: true}}, 400);
  assert.equal(millionths.py(2e-6), millionths.bottom, 'a millionth is the floor where none is named');
  const {py, bottom} = axes();
  assert.deepEqual([py(1e-3), py(1e-9), py(1)], [bottom, bottom, 14]);
});

test('about four round numbers are named on the level axis', () => {
  assert.deepEqual(axesOf({xs: [0, 1], lines: [{values: [0, 100]}]}, 400).yTicks, [0, 50, 100]);
  assert.deepEqual(axesOf({xs: [0, 1], lines: [{values: [0, 8]}]}, 400).yTicks, [0, 2, 4, 6, 8]);
});
