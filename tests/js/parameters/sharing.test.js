// A model of twelve layers, 3 M in attention and 5 M in feed-forward each, 10 M outside of them.
import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {charts, click, enter, place, texts} from '../dom.js';

const {show} = await import('../../../assets/js/parameters/sharing.js');

const TOTALS = {none: 106, attention: 73, ffn: 51, all: 18};   // 10 + 12 * 8, 10 + 3 + 60, 10 + 36 + 5, 10 + 8
const row = (mode, more = 0) => ({mode, total: 1e6 * (TOTALS[mode] + more), applied: 1e6 * (106 + more), printed: TOTALS[mode] + 1, squad1: '88.5/81.0',
  squad2: '78.8/75.5',
  mnli: 81.6, sst2: 90, race: 63.46, average: 80.1});
const modes = more => ['all', 'attention', 'ffn', 'none'].map(mode => row(mode, more));
const said = {finding: '{none} none, {all} all, {attention} attention, {ffn} feed-forward, {applied} applied', label: 'modes', e: 'E', depth: 'depth',
  scores: 'scores',
  published: 'published', deep: '{depth} layer{one}: {albert} or {bert}, {layer} each', chart: 'by depth', modes: {none: 'nothing', attention: 'attention',
    ffn: 'feed-forward', all: 'everything'},
  score_heads: ['shared', 'here', 'paper', 'SQuAD1', 'SQuAD2', 'MNLI', 'SST-2', 'RACE', 'mean']};
const data = {modes: {128: modes(0), 768: modes(20)}, parts: {attention: 3e6, ffn: 5e6}, texts: said,
  figures: [1, 2].map(n => ({layout: {meta: n}, data: [...[1, 2, 3, 4].map(() => ({mode: 'lines', y: [n, n]})), ...[1, 2, 3, 4].map(() => ({mode: 'markers+text', x: [], y: []}))]}))};

function open(given = data) {
  const root = place();
  show(root, given);
  const [slider] = root.querySelectorAll('input'), findings = () => texts(root, '.finding');
  return {root, slider, findings, pick: text => click([...root.querySelectorAll('.pm-switch button')].find(one => one.textContent === text))};
}
beforeEach(() => { const {pick, slider} = open(); pick('E = 128'); enter(slider, '11'); });

test('the sentence has what each way of sharing stores and what all apply', () => {
  const {findings, pick} = open();
  assert.equal(findings()[0], '106.0\u00a0M none, 18.0\u00a0M all, 73.0\u00a0M attention, 51.0\u00a0M feed-forward, 106.0\u00a0M applied');
  pick('E = 768');
  assert.equal(findings()[0], '126.0\u00a0M none, 38.0\u00a0M all, 93.0\u00a0M attention, 71.0\u00a0M feed-forward, 126.0\u00a0M applied');
});

test('a bar is as long as what it stores beside sharing nothing', () => {
  const {root} = open(), bars = [...root.querySelectorAll('.pt-modes .kept')];
  assert.deepEqual(bars.map(one => Number(parseFloat(one.style.width).toFixed(3))), [18, 73, 51, 106].map(v => Number((100 * v / 106).toFixed(3))));
  assert.deepEqual(bars.map(one => parseFloat(one.style.left)), [0, 0, 0, 0]);
  assert.match(bars[0].style.background, /--column-albert-fill/);
  assert.deepEqual(texts(root, '.pt-modes .what'), ['everything', 'attention', 'feed-forward', 'nothing']);
  assert.deepEqual(texts(root, '.pt-modes .n'), ['18,000,000', '73,000,000', '51,000,000', '106,000,000']);
});

test('any depth is counted from the parts: shared ones once, the others in every layer', () => {
  const {slider, findings, root} = open(), deep = at => { enter(slider, String(at)); return [findings()[1], charts(root)[0].data.slice(4).map(point => point.text[0])]; };
  assert.deepEqual(deep(11), ['12 layers: 18.0\u00a0M or 106.0\u00a0M, 8,000,000 each', ['18.0\u00a0M', '73.0\u00a0M', '51.0\u00a0M', '106.0\u00a0M']]);
  assert.deepEqual(deep(0), ['1 layer: 18.0\u00a0M or 18.0\u00a0M, 8,000,000 each', ['18.0\u00a0M', '18.0\u00a0M', '18.0\u00a0M', '18.0\u00a0M']]);
  assert.deepEqual(deep(23), ['24 layers: 18.0\u00a0M or 202.0\u00a0M, 8,000,000 each', ['18.0\u00a0M', '133.0\u00a0M', '87.0\u00a0M', '202.0\u00a0M']]);
  assert.deepEqual([slider.min, slider.max], ['0', '47']);
  assert.match(deep(47)[0], /^48 layers/);
  deep(11);
});

test('the depth that was chosen stays for another embedding and another drawing', () => {
  const {slider, pick, findings} = open();
  enter(slider, '1');
  pick('E = 768');
  assert.equal(findings()[1], '2 layers: 38.0\u00a0M or 46.0\u00a0M, 8,000,000 each');
  const again = open();
  assert.deepEqual([again.slider.value, again.findings()[1]], ['1', '2 layers: 38.0\u00a0M or 46.0\u00a0M, 8,000,000 each']);
  assert.equal(again.root.querySelector('.pm-switch [aria-pressed=true]').textContent, 'E = 768');
});

test('the paper’s scores stand beside what is counted here, marked as published', () => {
  const {root} = open(), rows = [...root.querySelectorAll('.table tbody tr')].map(line => [...line.children]);
  assert.deepEqual(texts(root, '.table thead th'), said.score_heads);
  assert.deepEqual(rows[0].map(cell => cell.textContent), ['everything', '18.0\u00a0M', '19\u00a0M', '88.5/81.0', '78.8/75.5', '81.6', '90.0', '63.5', '80.1']);
  assert.deepEqual(rows[0].map(cell => cell.className), ['', '', ...Array(7).fill('published')]);
  assert.deepEqual(rows[0].map(cell => cell.dataset.label), said.score_heads);
  assert.equal(rows.length, 4);
});

test('the chart is the embedding\'s own, with a point for each way at the chosen depth', () => {
  const {root, slider, pick} = open();
  enter(slider, '23');
  const [{data: [lines, , , , ...points], layout}] = charts(root);
  assert.deepEqual([lines.y, layout.meta], [[1, 1], 1]);
  assert.deepEqual(points.map(({x: [x], y: [y]}) => [x, y]), [[24, 18e6], [24, 133e6], [24, 87e6], [24, 202e6]]);
  pick('E = 768');
  assert.deepEqual([charts(root)[0].layout.meta, charts(root)[0].data[0].y], [2, [2, 2]]);
  enter(slider, '11');
});
