import assert from 'node:assert/strict';
import {test} from 'node:test';

import {packed} from '../dom.js';
import {EVEN, FIRST, NEXT, SELF, square, wallData} from './small.js';

const {apartText, betweenWords, distancesFrom, headAt, partnersOf, receiveExact, sameHead, unpackWall, wordLabel, wordRows} =
  await import('../../../assets/js/attention/heads.js');

const near = (a, b, within = 1e-6) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);
/** Jensen-Shannon divergence between one certain word and four equally likely ones, in closed form. */
const ONE_TO_FOUR = (Math.log(1 / .625) + .25 * Math.log(.25 / .625) + .75 * Math.log(2)) / 2;

test('a word is shown without the marks of its tokenizer, and a mark alone stays', () => {
  assert.deepEqual(['##ing', '▁the', 'cat', '▁', '##'].map(wordLabel), ['ing', 'the', 'cat', '▁', '##']);
});

test('unpacked, every model has its own bytes and its exact heads', async () => {
  const wall = await unpackWall(wallData());
  assert.deepEqual([wall.n, wall.size], [4, 4]);
  assert.deepEqual(wall.models.map(model => [model.m, model.count, model.bytes.length]), [[0, 4, 64], [1, 2, 32]]);
  assert.deepEqual([...wall.models[1].bytes.slice(0, 16)], SELF.map(share => 255 * share));
  assert.deepEqual(wall.models.map(model => model.exact.map(head => [...head.words])), [[NEXT, SELF, EVEN, FIRST], [SELF, EVEN]]);
  assert.deepEqual([...wall.models[0].exact[1].pieces], SELF);
});

test('two pieces of a word are one word of the wall, also where the heads travel with it', async () => {
  const data = wallData({words: ['[CLS]', 'cats', '[SEP]'], special: [1, 0, 1], masks: [0, 0, 0], bytes: Array(54).fill(0)});
  for (const model of data.models) model.groups = [[0], [1, 2], [3]];
  const wall = await unpackWall(data);
  assert.deepEqual([...wall.models[0].exact[0].words], [0, 1, 0, 0, .5, .5, 1, 0, 0]);
  assert.deepEqual([...wall.models[1].exact[0].words], [1, 0, 0, 0, 1, 0, 0, 0, 1]);
});

test('without exact heads a share is the square of its byte, and the place of a pooled word is that of its block', async () => {
  const bytes = [...Array(16).fill(0), 255, 51, 102, 153, ...Array(4).fill(255)];
  const data = wallData({words: ['a', 'b', 'c'], special: [0, 0, 0], pool: 2, exact: false, bytes});
  const wall = await unpackWall(data);
  assert.equal(wall.size, 2);
  assert.equal(wall.models[0].exact.every(head => head === null), true);
  const {values, exact} = betweenWords(wall, headAt(wall, 1, 0));
  assert.equal(exact, false);
  [1, 1, .04, 1, 1, .04, .16, .16, .36].forEach((share, c) => near(values[c], share));
  assert.deepEqual([...betweenWords(wall, headAt(wall, 1, 1)).values], Array(9).fill(1));
});

test('an exact answer takes its place, and one for a text that is gone takes none', async () => {
  const wall = await unpackWall(wallData({exact: false}));
  receiveExact(wall, {heads: [{model: 'bert', layer: 1, head: 0, pieces: packed(NEXT)}, {model: 'albert', layer: 0, head: 1, words: packed(FIRST)},
    {model: 'mini', layer: 0, head: 0, words: packed(FIRST)}, {model: 'bert', layer: 0, head: 0, words: packed([1, 0, 0, 1])},
    {model: 'bert', layer: 0, head: 1, pieces: packed([1])}]});
  assert.deepEqual(wall.models.map(model => model.exact.map(Boolean)), [[false, false, true, false], [false, true]]);
  assert.deepEqual([...wall.models[0].exact[2].pieces], NEXT);
  assert.deepEqual([[...wall.models[1].exact[1].words], wall.models[1].exact[1].pieces], [FIRST, null]);
  assert.deepEqual([...betweenWords(wall, headAt(wall, 1, 1)).values], FIRST);
  assert.equal(betweenWords(wall, headAt(wall, 1, 1)).exact, true);
});

test('a head is known by its model and its number', async () => {
  const wall = await unpackWall(wallData());
  assert.deepEqual(headAt(wall, 0, 3), {m: 0, i: 3, layer: 1, head: 1});
  assert.deepEqual(headAt(wall, 1, 1), {m: 1, i: 1, layer: 0, head: 1});
  assert.deepEqual([[0, 1], [1, 1], [0, 2]].map(([m, i]) => sameHead({m, i}, {m: 0, i: 1})), [true, false, false]);
  assert.deepEqual([sameHead(null, {m: 0, i: 1}), sameHead({m: 0, i: 1}, null)], [false, false]);
});

test('only rows of words are compared, or all where there is none', () => {
  assert.deepEqual(wordRows({words: ['a', 'b', 'c'], special: [1, 0, 1]}), [1]);
  assert.deepEqual(wordRows({words: ['a', 'b'], special: [1, 1]}), [0, 1]);
});

test('how far heads are apart is the same from exact numbers and from bytes', async () => {
  for (const exact of [true, false]) {
    const wall = await unpackWall(wallData({exact})), within = exact ? 1e-6 : .01;
    const [bert, albert] = distancesFrom(wall, headAt(wall, 1, 0));
    [Math.log(2), 0, ONE_TO_FOUR, Math.log(2)].forEach((far, i) => near(bert[i], far, within));
    [0, ONE_TO_FOUR].forEach((far, i) => near(albert[i], far, within));
    const [second] = distancesFrom(wall, headAt(wall, 0, 3));
    [Math.log(2), Math.log(2), ONE_TO_FOUR, 0].forEach((far, i) => near(second[i], far, within));
  }
});

test('what only the rows of added tokens do is no difference', async () => {
  const same = NEXT.map((share, c) => (c < 4 || c >= 12 ? 1 - share : share));
  for (const exact of [true, false]) {
    const wall = await unpackWall(wallData({exact, heads: [[NEXT, same, EVEN, FIRST], [SELF, EVEN]]}));
    assert.equal(distancesFrom(wall, headAt(wall, 0, 0))[0][1], 0);
  }
});

test('pooled rows are compared as shares of their own sum, each once', async () => {
  const bytes = [255, 0, 0, 255, 51, 0, 0, 204, 102, 102, 255, 255, 0, 0, 0, 0, 0, 255, 255, 0, 255, 255, 255, 255];
  const wall = await unpackWall(wallData({pool: 2, exact: false, special: [1, 0, 0, 0], bytes}));
  const [bert, albert] = distancesFrom(wall, headAt(wall, 0, 0));
  near(bert[0], 0);
  near(bert[1], 0);
  const half = (Math.log(1 / .75) + .5 * Math.log(.5 / .75) + .5 * Math.log(2)) / 2;
  near(bert[2], half);
  near(albert[0], Math.log(2));
  near(albert[1], half);
  near(bert[3], Math.log(2) / 2);   // an empty row stays empty
  near(distancesFrom(wall, headAt(wall, 1, 1))[0][2], 0);
});

test('in a pooled wall a block counts where any of its words does', async () => {
  const bytes = [255, 0, 0, 255, 0, 255, 0, 255, ...Array(16).fill(255)];
  const far = async special => distancesFrom(await unpackWall(wallData({pool: 2, exact: false, special, bytes})), {m: 0, i: 0})[0][1];
  near(await far([1, 0, 1, 1]), Math.log(2));
  near(await far([1, 1, 0, 1]), 0);
  near(await far([0, 0, 0, 1]), Math.log(2) / 2);
});

test('beside the anchor stands the most similar head, or the one in its place', async () => {
  const wall = await unpackWall(wallData());
  const partners = (m, i, others) => partnersOf(wall, headAt(wall, m, i), others).map(head => [head.m, head.i]);
  assert.deepEqual(partners(0, 2, 'closest'), [[0, 2], [1, 1]]);
  assert.deepEqual(partners(1, 1, 'closest'), [[0, 2], [1, 1]]);
  assert.deepEqual(partners(0, 2, 'same'), [[0, 2], [1, 0]]);
  assert.deepEqual(partners(1, 1, 'same'), [[0, 3], [1, 1]]);   // its row is BERT's second
  assert.deepEqual(partners(1, 0, 'closest'), [[0, 1], [1, 0]]);
});

test('the same place in a model of fewer heads is its last one', async () => {
  const data = wallData({exact: false});
  Object.assign(data.models[1], {layers: 2, heads: 1, rows: [0, 1]});
  const wall = await unpackWall(data);
  assert.deepEqual(partnersOf(wall, headAt(wall, 0, 3), 'same')[1], {m: 1, i: 1, layer: 1, head: 0});
  data.models[1].rows = [0, 3];
  assert.equal(partnersOf(await unpackWall(data), headAt(wall, 0, 2), 'same')[1].i, 0, 'row 0 is nearer to 1 than row 3');
});

test('partners are found once for each anchor', async () => {
  const wall = await unpackWall(wallData()), anchor = headAt(wall, 0, 0);
  assert.equal(partnersOf(wall, anchor, 'same'), partnersOf(wall, anchor, 'same'));
  assert.notEqual(partnersOf(wall, anchor, 'same'), partnersOf(wall, headAt(wall, 1, 0), 'same'));
  assert.notEqual(partnersOf(wall, anchor, 'same'), partnersOf(wall, anchor, 'closest'));
});

test('a divergence has three digits where both heads are exact, two where one is rounded, none where words are pooled', async () => {
  const wall = await unpackWall(wallData({exact: false})), a = headAt(wall, 0, 0), b = headAt(wall, 1, 0);
  assert.equal(apartText(wall, a, b), '≈ 0.69');
  wall.models[0].exact[0] = {words: Float64Array.from(NEXT), pieces: null};
  assert.equal(apartText(wall, a, b), '≈ 0.69');
  assert.equal(apartText(wall, b, a), '≈ 0.69');
  wall.models[1].exact[0] = {words: Float64Array.from(EVEN), pieces: null};
  assert.equal(apartText(wall, a, b), ONE_TO_FOUR.toFixed(3));
  const pooled = await unpackWall(wallData({pool: 2, exact: false, bytes: Array(24).fill(9)}));
  assert.equal(apartText(pooled, headAt(pooled, 0, 0), headAt(pooled, 0, 1)), '…');
  for (const m of [0, 1]) pooled.models[m].exact[0] = {words: Float64Array.from(square(4, () => .25)), pieces: null};
  assert.equal(apartText(pooled, headAt(pooled, 0, 0), headAt(pooled, 1, 0)), '0.000');
});
