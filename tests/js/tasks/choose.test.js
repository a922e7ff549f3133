import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, texts} from '../dom.js';

const {dotsOf, scores, show, stairs, table} = await import('../../../assets/js/tasks/choose.js');

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

const one = (key, megabytes, score, changes = {}) => ({key, label: key.toUpperCase(), megabytes: [megabytes, null, null], milliseconds: null,
  score: score && [score, score - .1, score + .1], fits: true, ...changes});
const titles = {score: 'Score', megabytes: 'MB', milliseconds: 'ms', unmeasured: 'Not Measured', against_megabytes: 'by size',
  against_milliseconds: 'by time', front: 'front'};
const data = changes => ({titles, models: [one('albert', 10, .4), one('bert', 50, .6, {fits: false}), one('distilbert', 30, .5), one('other', 20, null)],
  limits: {megabytes: 40, milliseconds: null, score: .45}, fronts: {megabytes: ['albert', 'distilbert', 'bert'], milliseconds: []}, ...changes});
function shown(changes) {
  const root = place();
  show(root, data(changes));
  return root.querySelector('.ch-pair');
}
const at = (chart, selector, name) => [...chart.querySelectorAll(selector)].map(node => Number(node.getAttribute(name)));

test('a chart where something was measured, a word where nothing was', () => {
  const pair = shown();
  assert.equal(pair.querySelector('figcaption').textContent, 'Score, by size');
  assert.equal(pair.querySelector('.tc-none').textContent, 'ms: not measured');
  assert.deepEqual(texts(pair, '.ch-name'), ['ALBERT', 'BERT', 'DISTILBERT']);
  assert.equal(pair.querySelector('svg').getAttribute('height'), '300');
  assert.equal(texts(pair, '.ch-title')[0], 'MB');
});

test('the axes hold the widest model or the reader\'s limit with some room, and every score with its interval', () => {
  const pair = shown(), [albert, bert, distilbert] = at(pair, '.ch-dot', 'cx'), right = 640 - 24;
  assert.ok(Math.abs((distilbert - albert) * 2 - (bert - albert)) < .01, 'in proportion');
  const zero = albert - (bert - albert) / 4;
  assert.ok(Math.abs((right - zero) / (bert - zero) - 1.15) < .01);
  const wide = shown({limits: {megabytes: 100, milliseconds: null, score: null}}), [near, , far] = [...at(wide, '.ch-dot', 'cx')].sort((a, b) => a - b);
  assert.ok(Math.abs((right - (near - (far - near) / 4)) / (far - (near - (far - near) / 4)) - 2.3) < .01);
  const [y] = at(pair, '.ch-dot', 'cy'), bottom = 258, top = 14;   // scores from 30 − 10 to 70 + 10: 40 lies a third of the way up
  assert.ok(Math.abs(y - (bottom - (bottom - top) / 3)) < .01, String(y));
});

test('limits are lines, where there are any; a model that keeps them is full, another hollow', () => {
  const pair = shown(), [albert, bert, distilbert] = at(pair, '.ch-dot', 'cx');
  const [rule] = at(pair, '.ch-rule', 'x1'), [level] = at(pair, '.ch-level', 'y1'), y = at(pair, '.ch-dot', 'cy');
  assert.ok(Math.abs(rule - (distilbert + bert) / 2) < .01 && albert < rule);
  assert.ok(Math.abs(level - (y[0] + y[2]) / 2) < .01);
  assert.deepEqual([...pair.querySelectorAll('.ch-dot')].map(dot => dot.classList.contains('hollow')), [false, true, false]);
  assert.equal(pair.querySelectorAll('.ch-whisker').length, 3);
  const free = shown({limits: {megabytes: null, milliseconds: null, score: null}});
  assert.deepEqual([free.querySelectorAll('.ch-rule').length, free.querySelectorAll('.ch-level').length], [0, 0]);
});

test('a least score below all others is still in sight', () => {
  const pair = shown({limits: {megabytes: null, milliseconds: null, score: .05}}), [level] = at(pair, '.ch-level', 'y1');
  assert.ok(level < 258 && level > at(pair, '.ch-dot', 'cy')[0]);
});

test('the front is a dotted line of steps through its models', () => {
  const pair = shown(), line = pair.querySelector('.ch-line');
  const points = line.getAttribute('d').split(/[ML]/).slice(1).map(point => point.split(' ').map(Number));
  assert.equal(line.getAttribute('stroke-dasharray'), '2 4');
  const xs = at(pair, '.ch-dot', 'cx'), ys = at(pair, '.ch-dot', 'cy');
  const expected = [[xs[0], ys[0]], [xs[2], ys[0]], [xs[2], ys[2]], [xs[1], ys[2]], [xs[1], ys[1]]];
  points.forEach(([x, y], i) => assert.ok(Math.abs(x - expected[i][0]) < .1 && Math.abs(y - expected[i][1]) < .1));
  assert.equal(points.length, 5);
});
