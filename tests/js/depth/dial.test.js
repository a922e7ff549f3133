import assert from 'node:assert/strict';
import {test} from 'node:test';

import {charts, place, settled, shares, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {dial} = await import('../../../assets/js/depth/dial.js');

const said = {times: 'times', usual: 'as usual', kl: 'KL', dial_chart: 'KL from usual', beyond: 'up to {n} times', work: '{gflop}, {share}', same_work: '{gflop}, usual',
  same: 'same as {n}',
  other: 'not as {n}', distance: '{kl} nats', lacking: 'Not now.', dial: 'What of {model}?', dial_note: 'Note.'};
const model = {key: 'albert', label: 'ALBERT', layers: 2, flops: [1.5e9, 3e9, 4.5e9, 6e9],
  chart: {data: [{x: [1, 2, 3, 4], y: []}], layout: {height: 190, shapes: [{x0: 2, x1: 2, line: {dash: 'dot'}}, {x0: 2, x1: 2}]}}, masks: [{}, {kl: [9, .5, 0],
  top: [[['embedding', 1]], [['dog', .6], ['cat', .25]], [['cat', .75], ['dog', .125]]]}]};
const deep = {top: [[['dog', .6]], [['cat', .75]], [['cat', .5]], [['cow', .4]]], kl: [.5, 0, .25, 1]};

let nth = 0;   // each test has its own text, because a dial caches its responses by text
function shown(params, asks = async () => JSON.stringify(deep)) {
  const {state} = begun(params), asked = [];
  const node = dial(model, 1, {texts: said, run: {text: `x${nth += 1}`}}, /** @type {any} */ ({asks: question => { asked.push(question); return asks(question); }}));
  place().append(node);
  return {node, state, asked};
}
function turn(node, times) {
  const input = node.querySelector('input');
  input.value = String(times);
  input.dispatchEvent(new Event('input'));
}
const facts = node => texts(node, '.dd-facts li');
const curve = node => charts(node)[0].data[0].y, axis = node => charts(node)[0].layout.xaxis.range;

test('it stands at the usual depth, with the final answers, asked of nobody', () => {
  const {node, asked} = shown(), input = node.querySelector('input');
  assert.deepEqual([input.min, input.max, input.value], ['1', '4', '2']);
  assert.equal(node.querySelector('output').textContent, '2 × (as usual)');
  assert.deepEqual(texts(node, '.dd-list li'), ['cat0.750', 'dog0.125']);
  assert.deepEqual(shares(node, '.dd-bar'), [.75, .125]);
  assert.deepEqual(facts(node), ['same as 2', '0.000 nats', '3.00\u00a0GFLOP, usual']);
  assert.equal(node.querySelector('h3').textContent, 'What of ALBERT?');
  assert.equal(asked.length, 0);
});

test('fewer times: what the layer before has to say, and what it costs; the link keeps it, but not the usual', () => {
  const {node, state, asked} = shown();
  turn(node, 1);
  assert.deepEqual([node.querySelector('output').textContent, node.querySelector('input').getAttribute('aria-valuetext')], ['1 ×', '1 ×']);
  assert.deepEqual(texts(node, '.dd-list li'), ['dog0.600', 'cat0.250']);
  assert.deepEqual(facts(node), ['not as 2', '0.500 nats', '1.50\u00a0GFLOP, 0.50 ×']);
  assert.equal(state.wanted.times, '1');
  turn(node, 2);
  assert.equal(state.wanted.times, undefined);
  assert.equal(asked.length, 0);
});

test('beyond the usual depth the server is asked once, and until then it says how far', async () => {
  const {node, asked} = shown();
  assert.deepEqual(curve(node), [.5, 0, null, null]);
  assert.deepEqual(axis(node), [.5, 2.5], 'no empty half');
  turn(node, 3);
  assert.equal(node.querySelector('.dd-answer').textContent, 'up to 4 times');
  await settled();
  assert.deepEqual(texts(node, '.dd-list li'), ['cat0.500']);
  assert.deepEqual(facts(node), ['same as 2', '0.250 nats', '4.50\u00a0GFLOP, 1.50 ×']);
  turn(node, 4);
  assert.deepEqual(facts(node), ['not as 2', '1.000 nats', '6.00\u00a0GFLOP, 2.0 ×']);
  assert.deepEqual(curve(node), [.5, 0, .25, 1]);
  await settled();
  assert.deepEqual(asked, [{params: {text: `x${nth}`}, want: 'dial', model: 'albert', mask: 1}]);
});

test('the chart marks where the dial stands and the usual depth', () => {
  const {node} = shown(), marks = () => charts(node)[0].layout.shapes.map(({x0, x1}) => [x0, x1]);
  assert.deepEqual(marks(), [[2, 2], [2, 2]]);
  turn(node, 1);
  assert.deepEqual(marks(), [[2, 2], [1, 1]]);
  assert.equal(node.querySelector('.fg').style.height, '190px');
});

test('a link opens it at its depth, asks where it must, and stays within the most', async () => {
  const {node, asked} = shown({times: '9'});
  assert.equal(node.querySelector('input').value, '4');
  assert.equal(asked.length, 1);
  await settled();
  assert.deepEqual(texts(node, '.dd-list li'), ['cow0.400']);
  assert.equal(shown({times: '1'}).node.querySelector('input').value, '1');
});

test('a failure that comes when the dial stands at a known answer does not replace it', async () => {
  let fail;
  const {node, asked} = shown({}, () => new Promise((_, failed) => { fail = failed; }));
  turn(node, 3);
  turn(node, 2);
  fail(new Error('no'));
  await settled();
  assert.deepEqual(texts(node, '.dd-list li'), ['cat0.750', 'dog0.125']);
  turn(node, 4);
  assert.equal(asked.length, 2, 'and it may be asked again');
});

test('where the server cannot answer it says so, and may be asked again', async () => {
  let fails = true;
  const {node, asked} = shown({}, async () => { if (fails) throw new Error('no'); return JSON.stringify(deep); });
  turn(node, 3);
  await settled();
  assert.equal(node.querySelector('.dd-answer').textContent, 'Not now.');
  fails = false;
  turn(node, 4);
  await settled();
  assert.equal(asked.length, 2);
  assert.deepEqual(texts(node, '.dd-list li'), ['cow0.400']);
});
