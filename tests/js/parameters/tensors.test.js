// Two models, each as stored and as applied: a treemap of each, or the table below it.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {charts, click, place, texts} from '../dom.js';

const {header, show, table} = await import('../../../assets/js/parameters/tensors.js');

const figure = n => ({layout: {title: {text: `figure ${n}`}}, data: [{values: [n]}]});
const data = {figures: [1, 2, 3, 4].map(figure), numbers: {columns: ['tensor'], rows: [['a']], said: {totals: 7}},
  texts: {form: 'form', forms: {map: 'a map', table: 'a table'}, counted: 'count', ways: {stored: 'once', applied: 'each use'}, note: 'area'}};

function open() {
  const root = place();
  show(root, data);
  return {root, drawn: () => charts(root).map(one => one.data[0].values[0]),
    pick: text => click([...root.querySelectorAll('button')].find(one => one.textContent === text))};
}
beforeEach(() => { const {pick} = open(); pick('a map'); pick('once'); });

test('every weight counts once, or for every use in a pass', () => {
  const {drawn, pick} = open();
  assert.deepEqual(drawn(), [1, 2]);
  pick('each use');
  assert.deepEqual(drawn(), [3, 4]);
  assert.deepEqual(open().drawn(), [3, 4], 'it stays');
  assert.deepEqual(header(data), {totals: 7, state: {parts: 'map', counted: 'applied'}});
  assert.deepEqual(table(data), {columns: ['tensor'], rows: [['a']]});
});

test('as a table it leaves the place, and the menu, to the table below', () => {
  const {root, drawn, pick} = open();
  assert.equal(root.hasAttribute('data-empty'), false);
  pick('a table');
  assert.deepEqual([drawn(), root.hasAttribute('data-empty'), texts(root, 'button')], [[], true, ['a map', 'a table']]);
  const again = open();
  assert.equal(again.root.hasAttribute('data-empty'), true, 'it stays');
  again.pick('a map');
  assert.deepEqual([again.drawn(), again.root.hasAttribute('data-empty')], [[1, 2], false]);
});

test('a page that was taken away has the form that was in sight alone', () => {
  window.explorer.taken = {};
  try {
    assert.deepEqual(texts(open().root, 'button'), ['once', 'each use']);
  } finally {
    delete window.explorer.taken;
  }
});
