import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, texts} from '../dom.js';

const {filter, setFilter} = await import('../../../assets/js/claims/filter.js');
const {show, table} = await import('../../../assets/js/claims/shares.js');

const data = {texts: {label: 'Verdicts', report: '{name}, {kind}: {right} of {n}', right_share: '{share}% of {n}', kind: '{kind}; {n} claims',
  rule: 'How?', rules: {right: 'the same', imprecise: 'in part', wrong: 'otherwise', unsupported: 'nothing'}},
  verdicts: {right: 'Right', imprecise: 'Imprecise', wrong: 'Wrong', unsupported: 'No source'}, total: {right: 6, imprecise: 3, wrong: 3},
  reports: [{id: 'a', name: 'Report A', kind: 'a list', counts: {right: 2, wrong: 1, unsupported: 5}}, {id: 'b', name: 'Report B', kind: 'a story', counts: {wrong: 2, imprecise: 3, right: 4}}]};

function shown() {
  const root = place();
  setFilter({verdict: '', report: ''});
  show(root, data);
  return root;
}
const grown = (root, selector) => [...root.querySelectorAll(selector)].map(node => [node.dataset.verdict, Number(Number(node.style.flexGrow).toFixed(3))]);
const pressed = (root, selector) => [...root.querySelectorAll(selector)].map(node => node.getAttribute('aria-pressed'));

test('parts as long as their share, in the verdicts\' order, none for what did not come', () => {
  const root = shown();
  assert.deepEqual(grown(root, '.cs-segment'), [['right', .5], ['imprecise', .25], ['wrong', .25]]);
  assert.deepEqual(texts(root, '.cs-segment'), ['6 right', '3 imprecise', '3 wrong']);
  assert.equal(root.querySelector('.cs-segment').title, '6 right');
  assert.deepEqual(grown(root.querySelector('.cs-reports'), '.cs-thin i'),
    [['right', .25], ['wrong', .125], ['unsupported', .625], ['right', .444], ['imprecise', .333], ['wrong', .222]]);
  assert.deepEqual(texts(root, '.cs-key li'), ['✓Right', '≈Imprecise', '✕Wrong', '?No source']);
});

test('the rule says what each verdict means', () => {
  const root = shown();
  assert.equal(root.querySelector('.cs-rule summary').textContent, 'How?');
  assert.deepEqual(texts(root, '.cs-rule dt'), ['Right', 'Imprecise', 'Wrong', 'No source', 'Report A', 'Report B']);
  assert.deepEqual(texts(root, '.cs-rule dd'), ['the same', 'in part', 'otherwise', 'nothing', 'A list; 8 claims', 'A story; 9 claims']);
});

test('each report says how much is right of what has a source', () => {
  const root = shown();
  assert.deepEqual(texts(root, '.cs-report'), ['Report A67% of 3', 'Report B44% of 9']);
  assert.deepEqual([...root.querySelectorAll('.cs-report')].map(node => node.title), ['Report A, a list: 2 of 8', 'Report B, a story: 4 of 9']);
});

test('a part and a report filter the ledger, once more for all of it again', () => {
  const root = shown(), [, , wrong] = root.querySelectorAll('.cs-segment'), [, second] = root.querySelectorAll('.cs-report');
  click(wrong);
  click(second);
  assert.deepEqual([filter.verdict, filter.report], ['wrong', 'b']);
  assert.deepEqual([pressed(root, '.cs-segment'), pressed(root, '.cs-report')], [['false', 'false', 'true'], ['false', 'true']]);
  click(root.querySelector('.cs-segment'));
  assert.deepEqual([filter.verdict, pressed(root, '.cs-segment')], ['right', ['true', 'false', 'false']]);
  click(root.querySelector('.cs-segment'));
  click(second);
  assert.deepEqual([filter.verdict, filter.report, pressed(root, '.cs-report')], ['', '', ['false', 'false']]);
});

test('a filter that was set before is shown', () => {
  setFilter({verdict: 'wrong'});
  const root = place();
  show(root, data);
  assert.deepEqual(pressed(root, '.cs-segment'), ['false', 'false', 'true']);
  setFilter({verdict: ''});
});

test('the table counts every verdict of all and of each report', () => {
  const {columns, rows} = table(data);
  assert.deepEqual(columns, ['report', 'verdict', 'claims', 'share_of_the_report', 'share_of_the_decided']);
  assert.equal(rows.length, 12);
  assert.deepEqual(rows.slice(2, 6).map(row => row.slice(0, 3)), [['all', 'Wrong', 3], ['all', 'No source', 0], ['Report A', 'Right', 2], ['Report A', 'Imprecise', 0]]);
  for (const report of ['all', 'Report A']) assert.equal(rows.filter(([name]) => name === report).reduce((sum, row) => sum + row[3], 0), 1);
});

test('what has no source is no part of the share of the decided claims', () => {
  const {rows} = table({...data, total: {right: 3, wrong: 1, unsupported: 6}, reports: []});
  const share = Object.fromEntries(rows.map(row => [row[1], row[4]]));
  assert.deepEqual([share.Right, share.Wrong, share['No source']], [0.75, 0.25, null]);
});
