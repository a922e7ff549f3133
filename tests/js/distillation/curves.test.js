import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, settled, texts} from '../dom.js';
import {begun} from '../page/stage.js';
import {lab, STUDENT, TEACHER} from './soft.js';

const {show, whole} = await import('../../../assets/js/distillation/lab.js');
const {curves} = await import('../../../assets/js/distillation/curves.js');

async function drawn() {
  begun();
  const root = place();
  show(root, lab(), {});
  await whole(root);
  return root;
}
const readOut = chart => texts(chart, '.ch-item');
const brief = v => Number(v.toPrecision(3)).toString();
const kl = (p, q) => p.reduce((sum, one, i) => sum + one * Math.log(one / q[i]), 0);

test('four charts over temperature, each with its names, read out where the dial stands', async () => {
  const root = await drawn(), charts = [...root.querySelectorAll('.ch')];
  assert.deepEqual(texts(root, '.dc figcaption'), ['Divergences', 'Entropies', 'Loss', 'Gradients']);
  const [divergences, entropies, loss, gradients] = charts;
  const mean = TEACHER.map((p, i) => (p + STUDENT[i]) / 2), js = (kl(TEACHER, mean) + kl(STUDENT, mean)) / 2;
  assert.deepEqual(readOut(divergences), [`forward ${brief(kl(TEACHER, STUDENT))}`, `back ${brief(kl(STUDENT, TEACHER))}`, `JS ${brief(js)}`]);
  const entropy = p => -p.reduce((sum, one) => sum + one * Math.log(one), 0);
  assert.deepEqual(readOut(entropies), [`teacher ${brief(entropy(TEACHER))}`, `student ${brief(entropy(STUDENT))}`]);
  assert.deepEqual([...entropies.querySelectorAll('.ch-item')].map(item => item.getAttribute('data-model')), ['bert', 'distilbert']);
  assert.deepEqual(readOut(loss), [`forward ${brief(kl(TEACHER, STUDENT))}`, `times T2 ${brief(kl(TEACHER, STUDENT))}`]);
  const length = Math.sqrt(TEACHER.reduce((sum, p, i) => sum + (p - STUDENT[i]) ** 2, 0));
  assert.deepEqual(readOut(gradients), [`plain ${brief(length)}`, `with T2 ${brief(length)}`]);
  assert.deepEqual(texts(root, '.dc .ch-at'), Array(4).fill('T = 1'));
});

test('what is not multiplied by T² is dotted, and the factor is the square', async () => {
  const root = await drawn(), [, two] = root.querySelectorAll('.ds-presets button'), charts = [...root.querySelectorAll('.ch')];
  for (const chart of charts.slice(2)) {
    assert.deepEqual([...chart.querySelectorAll('.ch-key')].map(key => key.classList.contains('dash')), [true, false]);
  }
  assert.equal(charts[0].querySelectorAll('.dash').length, 0);
  click(two);
  for (const chart of charts.slice(2)) {
    const [plain, times] = [...chart.querySelectorAll('.ch-item b')].map(node => Number(node.textContent));
    assert.ok(Math.abs(times / plain - 4) < .03, `${times} / ${plain}`);
  }
  assert.equal(texts(root, '.ch-at')[0], 'T = 2');
  click(root.querySelector('.ds-presets button'));
});

test('axes: entropies go from 0 to that of ten equal words, temperatures stand at round numbers by ratio', async () => {
  const root = await drawn(), entropies = root.querySelectorAll('.ch')[1];
  const line = entropies.querySelector('.ch-line').getAttribute('d').split(/[ML]/).slice(1).map(point => point.split(' ').map(Number));
  assert.equal(line.length, 82);   // 81 by equal ratios, the middle one T = 1, and T = 2
  const [first, last] = [line[0], line.at(-1)], top = 14, bottom = 164;
  assert.ok(Math.abs(last[1] - top) < 2, 'at T = 20 nearly equal');
  assert.ok(Math.abs(first[1] - bottom) < 3, 'at T = 0.05 nearly sure');
  assert.equal(texts(entropies, 'text[text-anchor=end]')[0], '0');
  assert.deepEqual(texts(entropies, 'text[text-anchor=middle]'), ['0.05', '0.2', '0.5', '1', '2', '5', '20']);
  const losses = root.querySelectorAll('.ch')[2].querySelectorAll('text[text-anchor=end]');
  assert.ok([...losses].every(node => /^(1e|10*$|0\.0*1$)/.test(node.textContent)), 'powers of ten');
});

test('the mean over the words is one line more, a tenth of the loss, and stays chosen', async () => {
  const root = await drawn(), loss = root.querySelectorAll('.ch')[2], note = root.querySelector('.dc [role=status]');
  assert.equal(note.textContent, '');
  click(root.querySelector('#dc-mean'));
  root.querySelector('#dc-mean').dispatchEvent(new Event('change'));
  assert.equal(root.querySelector('#dc-mean').checked, true);
  assert.equal(note.textContent, 'by 10');
  const [, times, mean] = [...loss.querySelectorAll('.ch-item b')].map(node => Number(node.textContent));
  assert.equal(mean, Number((times / 10).toPrecision(3)));
  const again = await drawn();
  assert.equal(again.querySelector('#dc-mean').checked, true);
  assert.equal(again.querySelectorAll('.ch')[2].querySelectorAll('.ch-item').length, 3);
  assert.equal(again.querySelector('.dc [role=status]').textContent, 'by 10');
  click(again.querySelector('#dc-mean'));
  again.querySelector('#dc-mean').dispatchEvent(new Event('change'));
  assert.equal(again.querySelectorAll('.ch')[2].querySelectorAll('.ch-item').length, 2);
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
    assert.equal(one.node.querySelectorAll('.ch').length, 0);
    seen[0]([{isIntersecting: false}, {isIntersecting: true}]);
    seen[0]([{isIntersecting: true}]);
    assert.equal(one.node.querySelectorAll('.ch').length, 0, 'not at once');
    await one.whole();
    assert.equal(one.node.querySelectorAll('.ch').length, 4);
    assert.equal(left, 1);
    await gone.whole();
    assert.equal(gone.node.querySelectorAll('.ch').length, 0);
  } finally {
    globalThis.IntersectionObserver = Watch;
  }
});
