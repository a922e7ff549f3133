import assert from 'node:assert/strict';
import {test} from 'node:test';

import '../page.js';

const {table} = await import('../../../assets/js/distillation/losses.js');

test('a row for each token at each temperature, with the losses of that temperature', () => {
  const {columns, rows} = table({temperatures: [1, 2], tokens: ['[CLS]', 'a'], kl: [[.1, .2], [.3, .4]], cosine: [.5, .6],
    ce: [7, 8], mlm: 9, cos: 10});
  assert.deepEqual(columns, ['temperature', 'position', 'token', 'kl_nats', 'cosine', 'loss_ce', 'loss_mlm', 'loss_cos']);
  assert.deepEqual(rows, [[1, 1, '[CLS]', .1, .5, 7, 9, 10], [1, 2, 'a', .2, .6, 7, 9, 10],
    [2, 1, '[CLS]', .3, .5, 8, 9, 10], [2, 2, 'a', .4, .6, 8, 9, 10]]);
});
