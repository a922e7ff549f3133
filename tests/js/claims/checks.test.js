import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, texts} from '../dom.js';

const {filter, open, publish, results, setFilter, listen, running} = await import('../../../assets/js/claims/filter.js');
const checks = await import('../../../assets/js/claims/checks.js');
const line = await import('../../../assets/js/claims/results.js');

const words = {run: 'Run {name}: {measures}', not_run: 'not run', published: 'published', measured: 'measured', expected: 'Expected', holds: 'holds',
  fails: 'fails', waits: 'waits', failed: 'failed', undecided: 'undecided', press: 'press again', running: '{names}: {done} of {total}',
    stopped: 'Stopped: {n} of {total}',
  none: 'None of {total}', done: '{n} of {total}: {holds} hold, {fails} fail, {undecided} open, {waits} wait'};
const data = {texts: words, checks: [{id: 'T1', name: 'Time', measures: 'time', expected: 'less'}, {id: 'S2', name: 'Size', measures: 'size', expected: '12 M'}]};
const result = (id, status, changes = {}) => ({id, status, text: `${id} found`, on: 'this CPU', ...changes});

function forget() {
  for (const id of Object.keys(results)) delete results[id];
  publish({});
}
function list() {
  const root = place(), asked = [];
  checks.show(root, data, {ask: question => asked.push(question)});
  return {root, asked};
}
const news = (found, changes = {}) => ({texts: words, total: 4, running: [], names: changes.running ?? [], results: found, done: null, ...changes});

test('each check says what it measures and expects, and that it was not run', () => {
  forget();
  const {root} = list();
  assert.deepEqual(texts(root, 'li'), ['▷ TimetimeExpected: lessnot run', '▷ SizesizeExpected: 12 Mnot run']);
  assert.equal(root.querySelector('button').getAttribute('aria-label'), 'Run Time: time');
  assert.deepEqual(checks.table(data).rows, [['Time', 'time', 'less', null, null, null], ['Size', 'size', '12 M', null, null, null]]);
});

test('a press asks for the check, and counts how often, each check for itself', () => {
  const {root, asked} = list(), [one, two] = root.querySelectorAll('button');
  for (const button of [one, two, one]) click(button);
  assert.deepEqual(asked, [{check: 'T1', press: 1}, {check: 'S2', press: 1}, {check: 'T1', press: 2}]);
});

test('a result stands in its row as soon as it is there: what, where, and whether it holds', () => {
  forget();
  const {root} = list();
  publish({running: ['S2'], results: [result('T1', 'holds')]});
  assert.deepEqual(texts(root, 'li .cl-cell:last-child'), ['measured, this CPUT1 found holds', '…']);
  assert.deepEqual([...root.querySelectorAll('button')].map(button => button.getAttribute('aria-busy')), ['false', 'true']);
  assert.equal(root.querySelector('.cl-test').dataset.holds, 'true');
  assert.ok(root.querySelector('.cl-outcome').classList.contains('measured'));
  publish({results: [result('S2', 'fails', {published: true})]});
  assert.deepEqual(texts(root, 'li .cl-cell:last-child'), ['measured, this CPUT1 found holds', 'publishedS2 found fails']);
  assert.equal(root.querySelectorAll('.cl-test')[1].dataset.holds, 'false');
  assert.ok(root.querySelectorAll('.cl-outcome')[1].classList.contains('published'));
  assert.equal(running.size, 0);
  assert.deepEqual(checks.table(data).rows, [['Time', 'time', 'less', 'holds', 'T1 found', 'this CPU'], ['Size', 'size', '12 M', 'fails', 'S2 found',
    'this CPU']]);
});

test('an open verdict asks for one press more where more time may decide; one from nowhere has no place', () => {
  const {root} = list();
  publish({results: [result('T1', 'undecided', {timed: true}), result('S2', 'undecided', {on: ''})]});
  assert.deepEqual(texts(root, 'li .cl-cell:last-child'), ['measured, this CPUT1 found press again', 'S2 found undecided']);
  assert.equal(root.querySelector('.cl-test').dataset.holds, 'none');
  assert.deepEqual([open({timed: true}), open({})], ['press', 'undecided']);
});

test('the focus stays on a check while results come in', () => {
  const {root} = list();
  root.querySelectorAll('button')[1].focus();
  publish({results: []});
  assert.equal(document.activeElement, root.querySelectorAll('button')[1]);
  assert.equal(document.activeElement.dataset.check, 'S2');
});

test('whoever listens hears of each change of the filter, and one name listens once', () => {
  const heard = [];
  listen('test', () => heard.push('old'));
  listen('test', () => heard.push(filter.search));
  setFilter({search: 'x'});
  setFilter({search: ''});
  assert.deepEqual(heard, ['x', '']);
  listen('test', () => {});
});

test('the line says how far the checks are, with a bar only while it is known', () => {
  forget();
  const root = place(), said = () => root.querySelector('p').textContent, bar = () => root.querySelector('progress');
  line.show(root, news([]));
  assert.deepEqual([said(), bar().hidden], ['None of 4', true]);
  assert.ok(root.querySelector('.cc-line').classList.contains('live-only'), 'a saved tab has no button to press');
  line.show(root, news([], {running: ['T1', 'S2'], done: 1}));
  assert.deepEqual([said(), bar().hidden, bar().value, bar().getAttribute('max')], ['T1, S2: 1 of 4', false, .25, '1']);
  line.show(root, news([result('T1', 'holds')], {running: ['S2']}));
  assert.deepEqual([said(), bar().hidden], ['S2: 1 of 4', true]);
  const kept = bar();
  line.show(root, news([result('S2', 'fails'), result('A', 'waits'), result('B', 'failed')]));
  assert.deepEqual([said(), bar().hidden, bar()], ['4 of 4: 1 hold, 1 fail, 0 open, 2 wait', true, kept]);
  line.show(root, news([result('T1', 'undecided')], {done: 2}));
  assert.deepEqual([said(), bar().hidden], ['4 of 4: 0 hold, 1 fail, 1 open, 2 wait', true]);
  assert.deepEqual(line.table().rows[0], ['T1', 'undecided', 'T1 found', 'this CPU']);
});

test('Stop says how many were done, and no check is at work any more', () => {
  forget();
  const root = place(), stopped = {running: [], done: 1, stopped: true};
  line.show(root, news([result('T1', 'holds')], {running: ['S2'], done: 1}));
  assert.ok(running.has('S2'));
  line.show(root, news([result('T1', 'holds')], stopped));
  assert.deepEqual([root.querySelector('p').textContent, root.querySelector('progress').hidden, running.size], ['Stopped: 1 of 4', true, 0]);
  line.show(root, news(['S2', 'A', 'B'].map(id => result(id, 'holds')), stopped));
  assert.equal(root.querySelector('p').textContent, '4 of 4: 4 hold, 0 fail, 0 open, 0 wait');
  root.replaceChildren();
  line.show(root, news([]));
  assert.equal(root.children.length, 2);
  line.show(place(), news([]));
});
