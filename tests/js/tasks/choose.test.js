import assert from 'node:assert/strict';
import {test} from 'node:test';

import {dotsOf, scores, stairs, table} from '../../../assets/js/tasks/choose.js';

test('the front goes straight on from each of its points, then up to the next', () => {
  assert.deepEqual(stairs([]), []);
  assert.deepEqual(stairs([[1, 5]]), [[1, 5]]);
  assert.deepEqual(stairs([[1, 5], [3, 6], [4, 9]]), [[1, 5], [3, 5], [3, 6], [4, 6], [4, 9]]);
});

test('the axis of scores holds all of them with some room, and no share below 0 or above 100', () => {
  assert.deepEqual(scores([50, 70]), [45, 75]);
  assert.deepEqual(scores([99]), [97, 100]);
  assert.deepEqual(scores([1, 2]), [0, 4]);
});

test('a model stands at its score in per cent, with an interval only where there is one', () => {
  const models = [{key: 'a', label: 'A', megabytes: [5, 5, 5], score: [.5, .25, .75], fits: true},
    {key: 'b', label: 'B', megabytes: [3, 2, 4], score: [.25, null, null], fits: false}];
  assert.deepEqual(dotsOf(models, 'megabytes'), [
    {x: 5, y: 50, across: null, up: [25, 75], model: 'a', label: 'A', hollow: false},
    {x: 3, y: 25, across: [2, 4], up: null, model: 'b', label: 'B', hollow: true}]);
});

test('the table leaves empty what was not measured', () => {
  const models = [{label: 'A', megabytes: [5, 5, 5], milliseconds: null, score: [.5, .4, .6], fits: false}];
  assert.deepEqual(table({models}).rows, [['A', 5, 5, 5, null, null, null, .5, .4, .6, false]]);
});
