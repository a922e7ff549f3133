import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, enter, place, shares, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {chosen} = await import('../../../assets/js/page/here.js');
const {constants, show, table} = await import('../../../assets/js/distillation/losses.js');

const said = {start: {ce: 5, mlm: 2, cos: 1, t: 2}, ce: 'soft', mlm: 'hidden', cos: 'states', weights: {ce: 'α', mlm: 'β', cos: 'γ'}, temperature: 'T',
  unknown: 'unknown', head: 'At T = {t}', word: 'kl {kl}, cos {cos}', strip: 'Words', worst: '{word}: {kl}, {share}', reset: 'Reset', total: 'Sum',
  table: 'Parts', columns: ['part', 'raw', 'times', 'weighted', 'share'], notes: ['One.', 'Two.']};
const data = {texts: said, temperatures: [1, 2, 4], ce: [.5, .25, .125], mlm: 3, cos: .75, tokens: ['[CLS]', 'a', 'cat'],
  kl: [[.1, .2, .3], [.02, .06, .04], [0, 0, 0]], cosine: [.5, .6, .7], place: 1, answer: 7};

const row = (root, i) => texts(root.querySelectorAll('tbody tr')[i], 'th, td');
function shown(changes) {
  const root = place();
  show(root, {...data, ...changes});
  click(root.querySelector('.chip'));   // resets any earlier choice
  return root;
}

test('each part times its weight, its share of the sum, and the sum', () => {
  const root = shown();   // 5 · 0.25 + 2 · 3 + 1 · 0.75 = 8
  assert.deepEqual(row(root, 0), ['soft', '0.250', '× 5', '1.250', '15.6%']);
  assert.deepEqual(row(root, 1), ['hidden', '3.000', '× 2', '6.000', '75.0%']);
  assert.deepEqual(row(root, 2), ['states', '0.750', '× 1', '0.750', '9.4%']);
  assert.equal(root.querySelector('.dl-total').textContent, '8.000');
  assert.equal(root.querySelector('.dl-total').dataset.value, '8');
  assert.deepEqual(shares(root, '.dl-shares i'), [.156, .75, .094]);
  assert.equal(root.querySelector('tbody td').getAttribute('data-label'), 'raw');
});

test('a word for each token, its bar a share of the worst, which is named with its share of all', () => {
  const root = shown();
  assert.equal(root.querySelector('h3').textContent, 'At T = 2');
  assert.deepEqual(texts(root, '.dl-token'), ['[CLS]', 'a', 'cat']);
  assert.deepEqual(shares(root, '.dl-bar i'), [.333, 1, .667]);
  assert.deepEqual(texts(root, '.dl-kl'), ['0.020', '0.060', '0.040']);
  assert.deepEqual([...root.querySelectorAll('.dl-word')].map(node => node.classList.contains('worst')), [false, true, false]);
  assert.equal(root.querySelectorAll('.dl-word')[2].title, 'kl 0.040, cos 0.700');
  assert.equal(root.querySelector('.ds-sentence').textContent, 'a: 0.060, 50.0%');
  assert.equal(root.querySelector('.dl-strip').getAttribute('aria-label'), 'Words');
});

test('the temperature moves the soft loss and the words alone', () => {
  const root = shown(), t = root.querySelector('#dl-t');
  assert.deepEqual([t.min, t.max, t.value, root.querySelector('[for=dl-t]:is(output)').textContent], ['0', '2', '1', '2']);
  enter(t, '0');
  assert.deepEqual(row(root, 0).slice(1, 4), ['0.500', '× 5', '2.500']);
  assert.equal(row(root, 1)[3], '6.000');
  assert.equal(root.querySelector('h3').textContent, 'At T = 1');
  assert.equal(root.querySelector('.ds-sentence').textContent, 'cat: 0.300, 50.0%');
  assert.equal(t.getAttribute('aria-valuetext'), '1');
});

test('words of which none is apart have empty bars and a share of nothing', () => {
  const root = shown();
  enter(root.querySelector('#dl-t'), '2');
  assert.deepEqual(shares(root, '.dl-bar i'), [0, 0, 0]);
  assert.equal(root.querySelector('.ds-sentence').textContent, '[CLS]: 0.000, 0.0%');
});

test('a weight moves its part and the sum, is printed, and Reset puts all back', () => {
  const root = shown(), mlm = root.querySelector('#dl-mlm');
  assert.deepEqual([mlm.min, mlm.max, mlm.step, mlm.value], ['0', '10', '0.1', '2']);
  enter(mlm, '0.5');
  assert.deepEqual(row(root, 1).slice(2, 4), ['× 0.5', '1.500']);
  assert.equal(root.querySelector('.dl-total').textContent, '3.500');
  assert.equal(root.querySelector('output[for=dl-mlm]').textContent, '0.5');
  assert.equal(root.querySelector('output[for=dl-ce]').textContent, '5');
  enter(root.querySelector('#dl-t'), '0');
  click(root.querySelector('.chip'));
  assert.equal(root.querySelector('.dl-total').textContent, '8.000');
  assert.deepEqual([mlm.value, root.querySelector('#dl-t').value], ['2', '1']);
});

test('without any weight there is no share', () => {
  const root = shown();
  for (const part of ['ce', 'mlm', 'cos']) enter(root.querySelector(`#dl-${part}`), '0');
  assert.deepEqual([0, 1, 2].map(i => row(root, i)[4]), ['', '', '']);
  assert.deepEqual(shares(root, '.dl-shares i'), [0, 0, 0]);
  assert.equal(root.querySelector('.dl-total').textContent, '0.000');
});

test('a part that is not known counts for nothing and says so', () => {
  const root = shown({mlm: null});
  assert.deepEqual(row(root, 1), ['hidden', '–', '× 2', 'unknown', '']);
  assert.equal(root.querySelector('.dl-total').textContent, '2.000');
  assert.deepEqual(shares(root, '.dl-shares i'), [.625, 0, .375]);
});

test('what was chosen stays for the next word, unless its temperatures are others', () => {
  const root = shown();
  enter(root.querySelector('#dl-cos'), '3');
  const next = place();
  show(next, data);
  assert.deepEqual([next.querySelector('#dl-cos').value, next.querySelector('.dl-total').textContent], ['3', '9.500']);
  show(next, {...data, temperatures: [3, 5, 2]});
  assert.equal(next.querySelector('#dl-cos').value, '3');
  show(next, {...data, temperatures: [3, 5, 7], texts: {...said, start: {...said.start, t: 5}}});
  assert.deepEqual([next.querySelector('#dl-cos').value, next.querySelector('#dl-t').value], ['1', '1']);
  assert.deepEqual(texts(next, '.note'), ['One.', 'Two.']);
});

test('its lines of Python know the word and the temperatures', () => {
  const {ce, mlm, cos} = data.texts.start;
  assert.deepEqual(constants({...data, texts: {...said, pair: ['a', 'b']}}), {PAIR: ['a', 'b'], PLACE: 1, ANSWER: 7, TEMPERATURES: [1, 2, 4], WEIGHTS: {ce, mlm, cos}});
});

test('a row for each token at each temperature, with the losses of that temperature', () => {
  const {columns, rows} = table({temperatures: [1, 2], tokens: ['[CLS]', 'a'], kl: [[.25, .75], [.5, .5]], cosine: [.5, .6],
    ce: [7, 8], mlm: null, cos: 10, texts: data.texts}), {ce: a, cos: c} = constants(data).WEIGHTS, total = 7 * a + 10 * c;
  assert.deepEqual(columns, ['temperature', 'position', 'token', 'kl_nats', 'share_of_kl', 'cosine', 'loss_ce', 'loss_mlm', 'loss_cos', 'weighted_ce', 'weighted_mlm',
    'weighted_cos', 'total', 'share_ce', 'share_mlm', 'share_cos']);
  assert.deepEqual(rows.map(row => row.slice(0, 9)), [[1, 1, '[CLS]', .25, .25, .5, 7, null, 10], [1, 2, 'a', .75, .75, .6, 7, null, 10],
    [2, 1, '[CLS]', .5, .5, .5, 8, null, 10], [2, 2, 'a', .5, .5, .6, 8, null, 10]]);
  assert.deepEqual(rows[0].slice(9), [7 * a, null, 10 * c, total, 7 * a / total, null, 10 * c / total]);
});

test('weights and temperature go into the link and come from there', () => {
  begun();
  const root = shown();
  enter(root.querySelector('#dl-ce'), '0.5');
  enter(root.querySelector('#dl-t'), '2');
  assert.equal(chosen('look'), 'loss:5.20.10.40');
  const opened = link => { begun(link); const next = place(); show(next, data); return ['ce', 'mlm', 'cos', 't'].map(name => next.querySelector(`#dl-${name}`).value); };
  assert.deepEqual(opened({look: 'loss:5.20.10.40'}), ['0.5', '2', '1', '2']);
  for (const broken of ['', 'loss:5', 'loss:5.20.10.41', 'loss:5.20.101.40']) assert.deepEqual(opened({look: broken}), ['5', '2', '1', '1']);
  click(root.querySelector('.chip'));
  assert.equal(chosen('look'), '');
});
