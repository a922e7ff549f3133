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
