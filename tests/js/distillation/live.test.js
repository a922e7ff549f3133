import assert from 'node:assert/strict';
import {test} from 'node:test';

import {charts as drawn, click, place, shares, texts} from '../dom.js';

let serial = 0;
const fresh = () => import(`../../../assets/js/distillation/live.js?${serial += 1}`);   // a freshly opened page

const said = {run: 'run {name}: {layers} {start}, {weights}, T = {t}, {steps}', starts: {copied: 'copied', random: 'random'}, earlier: 'run',
  total: 'this run', parts: {ce: 'L_ce', mlm: 'L_mlm', cos: 'L_cos'}, same: 'same', five: 'five', found: 'found', loss_title: 'Loss',
  parts_title: 'Parts', agree_title: 'Agreement', soft: 'At T = {t}', teacher: 'BERT', student: 'student', step: 'step', progress: 'Progress',
  lay_over: 'Lay over', stopped: 'Stopped after {step}.'};

const curve = (name, x, y) => ({name, x, y, line: {}}), chart = (text, ...data) => ({data, layout: {title: {text}}});
/** A run of `steps`, with distinct losses. */
const run = (steps, changes = {}) => ({texts: said, keys: {teacher: 'bert', student: 'distilbert'}, sentence: `Step ${steps.at(-1) ?? 0}.`, done: false, steps, words: ['cat', 'dog'],
  settings: {layers: 2, start: 'copied', temperature: 2, steps: 40, ce: 5, mlm: 2, cos: .5, seed: 0},
  parts: {loss: steps.map(step => 9 - step / 10), ce: steps.map(() => 1), mlm: steps.map(() => 3), cos: steps.map(() => 4)},
  exams: [0, ...steps], agreement: {same_first: [0, ...steps.map(() => .5)], shared_five: [.1, ...steps.map(() => .25)], found: [.2, ...steps.map(() => .75)]},
  figures: [chart('Agreement', curve('same', [0, ...steps], [])), chart('Loss', curve('this run', steps, steps.map(step => 9 - step / 10))),
    chart('Parts', curve('L_ce', steps, []), curve('L_mlm', steps, []))],
  teacher: [.5, .2], student: [.4, .05], ...changes});
const lines = (root, i) => drawn(root)[i].data.map(({name, line}) => line.dash ? `${name} (${line.dash})` : name);
const LOSS = 1;
const ended = (steps, changes) => run(steps, {done: true, ...changes});

test('a run on its way: its sentence, its bar, its losses and what it agrees on', async () => {
  const {show} = await fresh(), root = place();
  show(root, run([10, 20]));
  assert.equal(root.querySelector('[role=status]').textContent, 'Step 20.');
  const bar = root.querySelector('progress');
  assert.deepEqual([bar.max, bar.value, bar.hidden], [40, 20, false]);
  assert.deepEqual(texts(root, 'figcaption'), ['Agreement', 'Loss', 'Parts']);
  assert.deepEqual(drawn(root)[LOSS].data.map(({x, y}) => [x, y]), [[[10, 20], [8, 7]]]);
  assert.deepEqual([0, 1, 2].map(i => lines(root, i)), [['same'], ['this run'], ['L_ce', 'L_mlm']]);
});

test('the reader\'s words: both models, bars as shares of the most likely one', async () => {
  const {show} = await fresh(), root = place();
  show(root, run([10]));
  assert.equal(root.querySelector('h3').textContent, 'At T = 2');
  assert.deepEqual(texts(root, '.ds-legend .model-name'), ['BERT', 'student']);
  assert.deepEqual(texts(root, '.ds-row'), ['cat0.5000.400', 'dog0.2000.050']);
  assert.deepEqual(shares(root, '.ds-bar'), [1, .8, .4, .1]);
  assert.deepEqual([...root.querySelectorAll('.ds-row .ds-p')].map(node => node.getAttribute('data-model')), ['bert', 'distilbert', 'bert', 'distilbert']);
});

test('before the first step nothing is drawn that is not known', async () => {
  const {show} = await fresh(), root = place();
  show(root, run([], {teacher: [0, 0], student: [0, 0]}));
  assert.equal(root.querySelector('progress').value, 0);
  assert.deepEqual(shares(root, '.ds-bar'), [0, 0, 0, 0]);
});

test('one at work is drawn into the same place, a wait in line takes it away', async () => {
  const {show, clear} = await fresh(), root = place();
  show(root, run([10]));
  const bar = root.querySelector('progress');
  show(root, run([10, 20]));
  assert.equal(root.querySelector('progress'), bar);
  show(root, {waiting: 'You are number 2.'});
  assert.deepEqual([root.textContent, root.children.length], ['You are number 2.', 1]);
  show(root, run([10]));
  assert.equal(root.querySelectorAll('.fg').length, 3);
  clear(root);
  assert.equal(root.childNodes.length, 0);
});

test('a finished run has no bar and can be laid over the next one, dotted, at its own steps', async () => {
  const {show} = await fresh(), root = place();
  show(root, ended([10, 40]));
  assert.equal(root.querySelector('progress').hidden, true);
  assert.deepEqual(texts(root, '.dv-chips .chip'), []);
  assert.equal([...root.querySelectorAll('.note')].find(node => node.textContent === 'Lay over').hidden, true);
  show(root, run([20, 30], {settings: {...run([]).settings, layers: 4}}));
  assert.equal([...root.querySelectorAll('.note')].find(node => node.textContent === 'Lay over').hidden, false);
  const [chip] = root.querySelectorAll('.dv-chips .chip');
  assert.equal(chip.textContent, 'run 1: 2 copied, 5, 2, 0.5, T = 2, 40');
  assert.equal(chip.getAttribute('aria-pressed'), 'false');
  click(chip);
  assert.equal(root.querySelector('.dv-chips .chip').getAttribute('aria-pressed'), 'true');
  assert.deepEqual(lines(root, LOSS), ['this run', 'run 1: this run (dot)']);
  assert.deepEqual(drawn(root)[LOSS].data.map(({x}) => x), [[20, 30], [10, 40]], 'each at its own steps');
  assert.deepEqual([0, 2].map(i => lines(root, i).length), [2, 4]);
  click(root.querySelector('.dv-chips .chip'));
  assert.deepEqual(lines(root, LOSS), ['this run']);
});

test('the same run once more is the same run; another result has the next name; six are kept', async () => {
  const {show} = await fresh(), root = place();
  show(root, ended([10, 40]));
  show(root, ended([10, 40]));
  assert.deepEqual(texts(root, '.dv-chips .chip'), []);
  for (let seed = 1; seed < 8; seed++) show(root, ended([10, 40], {settings: {...run([]).settings, seed, start: 'random'}}));
  const names = texts(root, '.dv-chips .chip').map(text => text.slice(0, 13));
  assert.deepEqual(names, ['run 7: 2 rand', 'run 6: 2 rand', 'run 5: 2 rand', 'run 4: 2 rand', 'run 3: 2 rand']);
});

test('what is laid over stays with the next run, until it is forgotten, and never lies over itself', async () => {
  const {show} = await fresh(), root = place(), one = ended([10, 40]);
  const other = seed => ended([10, 40], {settings: {...one.settings, seed}});
  show(root, one);
  show(root, other(1));
  click(root.querySelector('.dv-chips .chip'));
  show(root, other(2));
  assert.deepEqual(lines(root, LOSS).map(text => text.slice(0, 5)), ['this ', 'run 1']);
  show(root, one);
  assert.deepEqual(lines(root, LOSS), ['this run']);
  for (let seed = 3; seed < 9; seed++) show(root, other(seed));
  assert.equal(lines(root, LOSS).length, 1);
});

test('a run that was stopped is kept as far as it came', async () => {
  const {show} = await fresh(), root = place();
  show(root, run([10, 20]));
  show(root, run([10, 20], {done: true, sentence: 'Stopped after 20.'}));
  assert.equal(root.querySelector('[role=status]').textContent, 'Stopped after 20.');
  assert.equal(root.querySelector('progress').hidden, true);
  show(root, ended([40]));
  assert.deepEqual(texts(root, '.dv-chips .chip').map(text => text.slice(-3)), [' 20']);
});

test('a row for each part at each step, then for each exam; nothing while one waits', async () => {
  const {table} = await fresh(), {columns, rows} = table(run([10, 20]));
  assert.deepEqual(columns, ['step', 'measure', 'value']);
  assert.deepEqual(rows.slice(0, 5), [[10, 'loss', 8], [10, 'ce', 1], [10, 'mlm', 3], [10, 'cos', 4], [20, 'loss', 7]]);
  assert.deepEqual(rows.slice(8), [[0, 'same_first', 0], [0, 'shared_five', .1], [0, 'found', .2], [10, 'same_first', .5], [10, 'shared_five', .25],
    [10, 'found', .75], [20, 'same_first', .5], [20, 'shared_five', .25], [20, 'found', .75]]);
  assert.deepEqual(table({waiting: 'soon'}).rows, []);
});
