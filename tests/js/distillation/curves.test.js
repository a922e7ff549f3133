import assert from 'node:assert/strict';
import {test} from 'node:test';

import {charts, click, place, settled, texts} from '../dom.js';
import {begun} from '../page/stage.js';
import {lab, STUDENT, TEACHER} from './soft.js';

const {show, whole} = await import('../../../assets/js/distillation/lab.js');
const {curves, decades} = await import('../../../assets/js/distillation/curves.js');

async function drawn() {
  begun();
  const root = place();
  show(root, lab(), {});
  await whole(root);
  return root;
}
const kl = (p, q) => p.reduce((sum, one, i) => sum + one * Math.log(one / q[i]), 0);
const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-6, `${one}, ${other}`);
/** The traces of a chart: each line's values by measure, the points, and the vertical line at the slider's value. */
function drawnBy({data, layout}) {
  const {x, y} = data.at(-1), [{x0, x1}] = layout.shapes;
  return {lines: Object.fromEntries(data.slice(0, -1).map(trace => [trace.meta, trace.y])), shown: data.slice(0, -1).filter(trace => trace.visible).map(trace => trace.meta),
    points: y, at: [...new Set([...x, x0, x1])]};
}
const both = root => charts(root).map(drawnBy);

test('two charts over temperature, with a point on every line where the dial stands', async () => {
  const root = await drawn(), [divergences, gradients] = both(root);
  const mean = TEACHER.map((p, i) => (p + STUDENT[i]) / 2), js = (kl(TEACHER, mean) + kl(STUDENT, mean)) / 2;
  const length = Math.sqrt(TEACHER.reduce((sum, p, i) => sum + (p - STUDENT[i]) ** 2, 0));
  [kl(TEACHER, STUDENT), kl(TEACHER, STUDENT), js].forEach((value, i) => near(divergences.points[i], value));
  [length, length].forEach((value, i) => near(gradients.points[i], value));
  assert.deepEqual([divergences.at, gradients.at], [[1], [1]]);
  assert.deepEqual(root.querySelector('.dc tbody tr').children.length, 7);
  assert.deepEqual(texts(root, '.dc th'), ['T', 'times T2', 'forward', 'JS', 'mean', 'with T2', 'plain']);
});

test('the factor is the square of the temperature, and the mark moves with the dial', async () => {
  const root = await drawn(), [, two] = root.querySelectorAll('.ds-presets button');
  const [{lines: {soft_loss: loss, ab: plain}}] = both(root);
  [.5, 1, 2].forEach((t, i) => near(loss[i], t * t * plain[i]));
  click(two);
  for (const {at, points, lines} of both(root)) {
    assert.deepEqual(at, [2]);
    near(points[0], Object.values(lines)[0][2]);
  }
  click(root.querySelector('.ds-presets button'));
});

test('the mean over the words is one line more, a tenth of the loss, and stays chosen', async () => {
  const root = await drawn(), note = root.querySelector('.dc [role=status]');
  const tick = box => { click(box); box.dispatchEvent(new Event('change')); };
  assert.deepEqual([note.textContent, both(root)[0].shown], ['', ['soft_loss', 'ab', 'js']]);
  tick(root.querySelector('#dc-mean'));
  const [{lines, points}] = both(root);
  assert.equal(note.textContent, 'by 10');
  near(lines.mean[0], lines.soft_loss[0] / 10);
  near(points[3], points[0] / 10);
  const again = await drawn();
  assert.equal(again.querySelector('#dc-mean').checked, true);
  assert.equal(both(again)[0].shown.length, 4);
  tick(again.querySelector('#dc-mean'));
  assert.equal(both(again)[0].shown.length, 3);
});

test('how many of the first words both share: of one, of five, of ten', async () => {
  const root = await drawn();
  assert.equal(root.querySelector('.dc > p').textContent, '0 of 1, 3 of 5, 7 of 10');
});

test('they are computed once, when they come into sight, a few at a time, and not for a page that has moved on', async () => {
  const seen = [], Watch = globalThis.IntersectionObserver;
  let left = 0;
  globalThis.IntersectionObserver = class { constructor(heard) { this.heard = heard; } observe() { seen.push(this.heard); } disconnect() { left += 1; } };
  try {
    const data = lab(), {floats} = await import('../../../assets/js/kit/numbers.js');
    const [teacher, student] = data.models.map(model => ({...model, logits: floats(model.logits)}));
    const one = curves({...data, teacher, student}), gone = curves({...data, teacher, student});
    place().append(one.node);
    seen[0]([{isIntersecting: false}]);
    await settled(50);
    assert.equal(one.node.querySelectorAll('tbody').length, 0);
    assert.deepEqual([...one.node.querySelectorAll('.fg')].map(plot => plot.getAttribute('style')), data.curves.map(spec => `height:${spec.layout.height ?? 320}px`), 'places as high as the charts');
    seen[0]([{isIntersecting: false}, {isIntersecting: true}]);
    seen[0]([{isIntersecting: true}]);
    assert.equal(one.node.querySelectorAll('tbody').length, 0, 'not at once');
    await one.whole();
    assert.equal(one.node.querySelectorAll('tbody').length, 1);
    assert.equal(one.node.querySelectorAll('.fg').length, 2);
    assert.equal(left, 1);
    await gone.whole();
    assert.equal(gone.node.querySelectorAll('tbody').length, 0);
  } finally {
    globalThis.IntersectionObserver = Watch;
  }
});

test('what could not be drawn or computed is tried again by the next save, and its place says so until then', async () => {
  const reported = [], {charts: given} = window.explorer, {append} = document.head, [report, fetching] = [globalThis.reportError, globalThis.fetch];
  let fails = true;
  delete window.explorer.charts;
  Object.assign(globalThis, {Plotly: given.Plotly, reportError: error => reported.push(error.message), fetch: async () => ({ok: !fails, json: async () => given.templates})});
  document.head.append = node => { queueMicrotask(() => node.onload()); };
  begun();
  const root = place(), data = lab(), {data: [{x}]} = data.curves[0];
  root.className = 'canvas';
  root.dataset.failed = 'It failed.';
  show(root, data, {});
  await assert.rejects(whole(root), /templates/);
  assert.deepEqual([texts(root, '.fg'), reported.length, root.querySelectorAll('.ds-row').length], [['It failed.', 'It failed.'], 3, 10]);
  fails = false;
  await whole(root);
  assert.deepEqual([texts(root, '.fg'), both(root).length, root.querySelectorAll('.dc tbody').length], [['', ''], 2, 1]);
  data.curves[0].data[0].x = null;
  show(root, data, {});
  await assert.rejects(whole(root));
  assert.deepEqual(texts(root, '.fg-pair'), ['It failed.']);
  data.curves[0].data[0].x = x;
  await whole(root);
  assert.equal(both(root).length, 2);
  document.head.append = append;
  Object.assign(globalThis, {reportError: report, fetch: fetching});
  window.explorer.charts = given;
});

test('an axis holds its values, but not the decades in which two sure models only round differently', () => {
  assert.deepEqual(decades([0.01, 10, 0, NaN]), [-2.1, 1.1]);
  assert.deepEqual(decades([1e-80, 1e-3, 2]), [-6.1, Math.log10(2) + 0.1]);
  assert.deepEqual(decades([1e-80, 0]), [-6.1, -4.9]);
});
