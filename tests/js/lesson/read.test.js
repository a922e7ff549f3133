import assert from 'node:assert/strict';
import {afterEach, test} from 'node:test';

import '../dom.js';
import {ask} from '../../../assets/js/lesson/ask.js';
import {exactP} from '../../../assets/js/lesson/exact.js';
import {cheaper, parted, softened, surest, told, tracked} from '../../../assets/js/lesson/read.js';

const T = {head: '{model} {layer}.{head} {from}', cosines: '{model} 0-{n}', bert: 'B', stored: 's', computed: 'c', kl: 'T{temperature}', factor: 'f', only: 'only {model}', p: 'p'};
const {fetch} = globalThis;
afterEach(() => { globalThis.fetch = fetch; });

test('the surest model has the largest first probability, and unequal ones are printed unequal', () => {
  const rows = /** @type {[string, number][]} */ ([['x', .99801], ['y', .99832], ['z', .5]]).map(([model, probability]) => ({model, word: 'w', probability}));
  assert.deepEqual(surest([rows]), {answer: 'y', numbers: [['x', '“w” 0.9980'], ['y', '“w” 0.9983'], ['z', '“w” 0.5000']]});
});

test('a head is judged by the sentences in which its word gets the most', () => {
  const one = {model: 'B', layer: 3, head: 1, from: 'in', to: 'house', wanted: 'house', share: .79812};
  assert.deepEqual(tracked([one, {...one, to: '[CLS]', share: .4}, one], T), {answer: '2', numbers: [['B 4.2 in', '“house” 0.798'], ['B 4.2 in', '“[CLS]” 0.400'], ['B 4.2 in', '“house” 0.798']]});
});

test('the meanings of a word part where the cosine of the first model falls most', () => {
  const by = cosine => parted([{model: 'bert', cosine}, {model: 'x', cosine: [1, 0]}], T);
  assert.deepEqual(by([.9, .5, .4, .3]), {answer: 'first', numbers: [['B 0-3', '0.900, 0.500, 0.400, 0.300'], ['x 0-1', '1.000, 0.000']]});
  assert.deepEqual([by([.9, .8, .4, .3]).answer, by([.9, .8, .7, .1]).answer], ['between', 'last']);
});

test('what is stored and what is computed are two quotients, and the second is the answer', () => {
  const by = flops => cheaper([{bert: {parameters: 100, flops: 2e10}, albert: {parameters: 10, flops}}], T);
  assert.deepEqual(by(2e10), {answer: 'same', numbers: [['s', '100 / 10 = 10.0'], ['c', '20.0\u00a0GFLOP / 20.0\u00a0GFLOP = 1.00']]});
  assert.deepEqual([by(1e10).answer, by(2e9).answer], ['half', 'ninth']);
});

test('the KL of two temperatures is divided, and multiplied by T squared', () => {
  const by = kl => softened([{temperature: 4, kl: .16}, {temperature: 8, kl}], T);
  assert.deepEqual(by(.04), {answer: '4', numbers: [['T4', '0.160; × T²: 2.560'], ['T8', '0.040; × T²: 2.560'], ['f', '4.00']]});
  assert.deepEqual([by(.15).answer, by(.08).answer, by(.01).answer], ['1', '2', '16']);
});

test('two models differ on the rows that one of them alone has right', () => {
  const rows = (...right) => ['A', 'B'].flatMap((model, m) => right[m].map((isRight, row) => ({row, model, rank: isRight ? 1 : 2})));
  assert.deepEqual(told([rows([1, 1, 1, 0], [1, 0, 0, 0])], T), {answer: 'unclear', numbers: [['A', '75.0% (3 / 4)'], ['B', '25.0% (1 / 4)'], ['only A', '2'], ['only B', '0'], ['p', '0.500']]});
  const many = Array(8).fill(1), none = Array(8).fill(0);
  assert.deepEqual([told([rows(many, none)], T).answer, told([rows(none, many)], T).answer], ['first', 'last']);
  assert.equal(told([rows([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1])], T).answer, 'unclear');   // p = 0.219
});

test("McNemar's exact p is that of scipy.stats.binomtest", () => {
  for (const [a, b, p] of [[2, 0, .5], [5, 3, .7265625], [0, 0, 1], [4, 4, 1], [8, 1, .0390625], [20, 6, .009355306625366211]]) {
    assert.ok(Math.abs(exactP(a, b) - p) < 1e-12, `${a}, ${b}`);
    assert.equal(exactP(a, b), exactP(b, a));
  }
});

test('an endpoint is asked as programs ask it, and a refusal is no answer', async () => {
  const asked = [], reply = told => { globalThis.fetch = /** @type {any} */ (async (address, options) => { asked.push([address, options?.body]); return {json: async () => ({event_id: 'e1'}), text: async () => told}; }); };
  reply('event: heartbeat\ndata: null\n\nevent: complete\ndata: [{"n": 1}]\n\n');
  assert.deepEqual(await ask('predict', ['a', 1]), {n: 1});
  assert.deepEqual(asked, [['gradio_api/call/predict', '{"data":["a",1]}'], ['gradio_api/call/predict/e1', undefined]]);
  reply('event: error\ndata: null\n\n');
  await assert.rejects(ask('predict', []), /predict was not answered/);
});
