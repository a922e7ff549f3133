import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, texts} from '../dom.js';

const {said, show, table} = await import('../../../assets/js/latency/sweep.js');

const model = (key, ms, ratio, changes = {}) => ({key, label: key.toUpperCase(), ms, ms_band: ms.map(v => [v - 1, v + 1]), ratio,
  ratio_band: ratio.map(v => v && [v - .1, v + .1]), ...changes});
const data = {title: 'tokens', ms: 'Milliseconds', ratio: 'Against BERT', places: [16, 1024], said: {text: null},
  models: [model('bert', [10, 100], [null, null]), model('albert', [11, 50], [1.1, .5]), model('distilbert', [5, 60], [.5, .6])]};
const dashes = chart => [...chart.querySelectorAll('.ch-line')].map(line => line.getAttribute('stroke-dasharray'));

function shown(changes) {
  const root = place();
  show(root, {...data, ...changes});
  return [...root.querySelectorAll('.ch')];
}

test('times of all models, and ratios of those that are compared with the first', () => {
  const [times, ratios] = shown();
  assert.deepEqual(texts(times, '.ch-item'), ['BERT 100', 'ALBERT 50', 'DISTILBERT 60']);
  assert.deepEqual(texts(ratios, '.ch-item'), ['ALBERT 0.5', 'DISTILBERT 0.6']);
  assert.deepEqual([times, ratios].map(chart => chart.querySelector('figcaption').textContent), ['Milliseconds', 'Against BERT']);
  assert.equal(times.querySelector('.ch-at').textContent, 'tokens 1,024');
  assert.deepEqual([times, ratios].map(chart => chart.querySelectorAll('.ch-band').length), [3, 2]);
  assert.deepEqual([times, ratios].map(chart => chart.querySelectorAll('.ch-dot').length), [6, 4]);
});

test('a level line at one, where they swap; both axes of the times go by ratio', () => {
  const [times, ratios] = shown();
  assert.deepEqual([times, ratios].map(chart => chart.querySelectorAll('.ch-level').length), [0, 1]);
  const one = ratios.querySelector('.ch-level').getAttribute('y1');
  const name = [...ratios.querySelectorAll('text')].find(node => node.textContent === '1');
  assert.equal(Number(name.getAttribute('y')), Number(one) + 4);
  const at = value => Number([...times.querySelectorAll('text[text-anchor=end]')].find(node => node.textContent === value).getAttribute('y'));
  assert.ok(Math.abs((at('10') - at('20')) - (at('50') - at('100'))) < .1);
  assert.deepEqual(texts(times, 'text[text-anchor=middle]'), ['16', '1,024', 'tokens']);
  assert.equal(times.querySelector('svg').getAttribute('height'), '300');
  assert.equal(ratios.querySelector('svg').getAttribute('height'), '300');
  assert.deepEqual(texts(shown({places: [16, 64, 1024]})[0], 'text[text-anchor=middle]'), ['16', '64', '1,024', 'tokens']);
});

test('models of one colour are told apart by their dashes, the fifth as the first', () => {
  assert.deepEqual(dashes(shown()[0]), ['', '', '']);
  const five = ['a', 'a', 'b', 'c', 'd'].map(key => model(key, [1, 2], [1, 1]));
  const [times, ratios] = shown({models: five});
  assert.deepEqual(dashes(times), ['', '8 5', '2 4', '8 4 2 4', '']);
  assert.deepEqual(dashes(ratios), dashes(times));
  assert.equal(times.querySelectorAll('.ch-key.dash').length, 3);
});

test('of one model alone nothing is compared; one that could not be run at one length is', () => {
  assert.equal(shown({models: data.models.slice(0, 1)}).length, 1);
  assert.deepEqual(texts(shown({models: [model('a', [1, 2], [1.5, null])]})[1], '.ch-item'), ['A –']);
});

test('a row for each model and length, empty where nothing was measured', () => {
  const {columns, rows} = table({...data, models: [data.models[1], {...model('x', [1, 2], []), ms_band: [[0, 2], null]}]});
  assert.deepEqual(columns, ['model', 'tokens', 'median_ms', 'low_ms', 'high_ms', 'ratio', 'low_ratio', 'high_ratio']);
  assert.deepEqual(rows.map(row => row.slice(0, 6)), [['ALBERT', 16, 11, 10, 12, 1.1], ['ALBERT', 1024, 50, 49, 51, .5], ['X', 16, 1, 0, 2, null],
    ['X', 1024, 2, null, null, null]]);
  assert.deepEqual(rows[3].slice(6), [null, null]);
  assert.equal(said(data), data.said);
});
