import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, texts, widen} from '../dom.js';

const {said, show, table} = await import('../../../assets/js/parameters/spectrum.js');

const words = {short: '{label}: {rank} of {width}, {empty} empty.', full: '{label} is full: {rank} of {width}, {empty}.', rank: '{label} has rank {rank}',
  note: 'note', index: 'index'};
const data = {texts: words, lines: [{key: 'bert', label: 'BERT', rank: 1200, width: 1200, values: Array.from({length: 1200}, (_, i) => (i ? .5 : 1))},
  {key: 'albert', label: 'ALBERT', rank: 128, width: 1200, values: [1, 1e-3, 1e-9]}]};

function open(given = data) {
  const root = place();
  show(root, given);
  widen(root.querySelector('.ch-plot'), 620);   // the first width comes before the chart is on the page
  const lines = [...root.querySelectorAll('.ch-line')].map(one => one.getAttribute('d').slice(1).split('L').map(at => at.split(' ').map(Number)));
  return {root, lines};
}

test('the sentence says which table is of full rank and what the other lacks', () => {
  const {root} = open();
  assert.equal(root.querySelector('.finding').textContent, 'BERT is full: 1,200 of 1,200, 0. ALBERT: 128 of 1,200, 1,072 empty.');
  assert.equal(root.querySelector('svg').getAttribute('aria-label'), root.querySelector('.finding').textContent);
});

test('the legend has each model’s rank in its colour', () => {
  const {root} = open();
  assert.deepEqual([...root.querySelectorAll('.pt-key li')].map(one => [one.dataset.model, one.textContent]),
    [['bert', 'BERT has rank 1,200'], ['albert', 'ALBERT has rank 128']]);
});

test('a line has a place for each value and ends where they end', () => {
  const {root, lines: [bert, albert]} = open();
  assert.deepEqual([bert.length, albert.length], [1200, 3]);
  assert.deepEqual([...root.querySelectorAll('.ch-line')].map(one => [one.getAttribute('data-model'), one.getAttribute('stroke-dasharray')]),
    [['bert', ''], ['albert', '7 4']]);
  assert.deepEqual([bert[0][0], bert[1199][0]], [albert[0][0], 596]);
});

test('the axis is in powers of ten from 1 down to a rounding error', () => {
  const {root, lines: [, albert]} = open(), bottom = 300 - 42, y = power => bottom - (bottom - 14) * (18 + power) / 18;
  [0, -3, -9].forEach((power, i) => assert.ok(Math.abs(albert[i][1] - y(power)) < .06));
  const names = texts(root, 'svg text');
  assert.deepEqual(names.slice(0, 7), ['1', '10⁻³', '10⁻⁶', '10⁻⁹', '10⁻¹²', '10⁻¹⁵', '10⁻¹⁸']);
});

test('the places named are round and within the width', () => {
  const names = given => texts(open(given).root, 'svg text').slice(7, -1).map(Number);
  assert.deepEqual(names(data), [1, 64, 128, 192, 256, 320, 384, 512, 640, 768]);
  const narrow = {...data, lines: data.lines.map(line => ({...line, width: 128}))};
  assert.deepEqual(names(narrow), [1, 64, 128]);
});

test('an upright line stands at the rank of the table that is not full', () => {
  const {root, lines: [bert]} = open(), rules = [...root.querySelectorAll('.ch-rule')];
  assert.equal(rules.length, 1);
  assert.ok(Math.abs(Number(rules[0].getAttribute('x1')) - bert[127][0]) < .06);
});

test('the axis is as wide as the widest table', () => {
  const {lines} = open({...data, lines: [{...data.lines[0], width: 600, values: data.lines[0].values.slice(0, 600)}, data.lines[1]]});
  assert.ok(lines[0].at(-1)[0] < 350);
});

test('its table has all values by their place; no text is read here', () => {
  assert.deepEqual(table({lines: data.lines.slice(1)}), {columns: ['model', 'index', 'singular_value_over_largest'],
    rows: [['ALBERT', 1, 1], ['ALBERT', 2, 1e-3], ['ALBERT', 3, 1e-9]]});
  assert.deepEqual(said(), {family: true, models: true});
});
