import assert from 'node:assert/strict';
import {test} from 'node:test';

import '../page.js';

const {table} = await import('../../../assets/js/attention/switches.js');

test('every head of a model that can be had has a row, counted from one, with what is lost without it', () => {
  const models = [{label: 'A', layers: 2, heads: 2, nats: [[.1, .2], [.3, .4]]},
    {card: 'not here'}, {label: 'B', layers: 1, heads: 2, nats: []}];
  assert.deepEqual(table({models}).rows, [['A', 1, 1, .1], ['A', 1, 2, .2], ['A', 2, 1, .3], ['A', 2, 2, .4],
    ['B', 1, 1, null], ['B', 1, 2, null]]);
});
