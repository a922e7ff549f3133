import assert from 'node:assert/strict';
import {test} from 'node:test';

import {painted} from '../dom.js';
import {painter, wallData} from './small.js';

const {headAt, sharesOf, unpackWall} = await import('../../../assets/js/attention/heads.js');
const {Tiles} = await import('../../../assets/js/attention/tiles.js');

/** Tiles of the small wall in an element of a given width: 640 has one model a row, 1000 has both side by side. */
async function tiles(changes = {}, width = 1000, tall = {}) {
  const root = painter(), wall = await unpackWall(wallData(changes));
  Object.defineProperty(root, 'clientWidth', {value: width, configurable: true});
  const made = Object.assign(new Tiles(root, wall, {dark: false}, headAt(wall, 0, 0)), tall);
  made.layout();
  return made;
}
/** A wall of many empty heads. */
const manyHeads = (heads, layers = 1) => {
  const data = wallData(), count = 2 * heads * layers;
  const models = data.models.map((model, m) => ({...model, heads, layers: m ? 1 : layers, rows: [0, 1, 2, 3].slice(0, m ? 1 : layers),
    kind: Array(count).fill(0)}));
  return {models, exact: false, bytes: Array(16 * heads * (layers + 1)).fill(0)};
};
/** A block has 30 pixels for its numbers at the left and 46 above; the gap between tiles is 5. */
const LEFT = 30, TOP = 46, TILE = 56, STEP = TILE + 5;

test('two models stand side by side, each tile in the row and the column of its head', async () => {
  const {places, tile, across, height, baseWidth, blocks} = await tiles(), second = 517;   // (1000 - 34) / 2 + 34
  assert.deepEqual([tile, across, baseWidth], [TILE, true, 1000]);
  assert.deepEqual(places[0], [[0, 0], [0, 1], [1, 0], [1, 1]].map(([row, column]) => ({x: LEFT + column * STEP, y: TOP + row * STEP})));
  assert.deepEqual(places[1], [0, 1].map(column => ({x: second + LEFT + column * STEP, y: TOP + STEP})), 'ALBERT’s layer is of BERT’s second row');
  assert.equal(height, TOP + 2 * STEP + 4);
  assert.deepEqual(blocks.map(block => [block.left, block.top, block.height, block.width]),
    [[0, 0, TOP + 2 * STEP, LEFT + 2 * STEP], [second, 0, TOP + 2 * STEP, LEFT + 2 * STEP]]);
});

test('on a narrow page one model stands below the other, each from its first row', async () => {
  const {places, across, height} = await tiles({}, 640), below = TOP + 2 * STEP + 18;
  assert.equal(across, false);
  assert.deepEqual(places[1].map(({x, y}) => [x, y]), [[LEFT, below + TOP], [LEFT + STEP, below + TOP]]);
  assert.equal(height, below + TOP + STEP + 4);
  assert.equal((await tiles({}, 699)).across, false);
  assert.equal((await tiles({}, 700)).across, true);
});

test('tiles are between 14 and 56 wide and fill their block', async () => {
  assert.equal((await tiles(manyHeads(12))).tile, 32);            // (483 - 30) / 12 = 37.75
  assert.equal((await tiles(manyHeads(12), 600)).tile, 42);       // 570 / 12 = 47.5
  const narrow = await tiles(manyHeads(12), 200);
  assert.equal(narrow.tile, 14);
  assert.equal(narrow.baseWidth, LEFT + 12 * 19, 'the wall is wider than its place');
});

test('nothing is laid out where there is no width', async () => {
  assert.deepEqual((await tiles({}, 0)).places, []);
});

test('tiles are sorted within each model: by entropy, the farthest first, by kind and in it by entropy', async () => {
  const order = async (name, changes = {}) => {
    const made = await tiles(changes);
    made.order = name;
    made.layout();
    return made.places.map(places => [...places.keys()].sort((a, b) => places[a].y - places[b].y || places[a].x - places[b].x));
  };
  assert.deepEqual(await order('place'), [[0, 1, 2, 3], [0, 1]]);
  assert.deepEqual(await order('entropy'), [[3, 1, 0, 2], [0, 1]]);
  assert.deepEqual(await order('distance'), [[3, 2, 0, 1], [1, 0]]);
  const data = wallData();
  Object.assign(data.models[0], {kind: [2, 1, 2, 1], entropy: [4, 3, 2.5, 9]});
  assert.deepEqual((await order('kind', {models: data.models}))[0], [1, 3, 2, 0]);
  assert.deepEqual(await order('alike'), [[0, 2, 1, 3], [1, 0]]);   // from the head that attends to the next word: uniform heads are nearer
});

test('an order by a word has the most attention first, counted without the word itself and the added tokens', async () => {
  const n = 5, rng = (seed => () => (seed = seed * 16807 % 2147483647) / 2147483647)(7);
  const row = () => { const all = [...Array(n)].map(rng), sum = all.reduce((a, b) => a + b); return all.map(x => x / sum); };
  const heads = [4, 2].map(count => [...Array(count)].map(() => [...Array(n)].flatMap(row)));
  const words = ['[CLS]', 'a', 'b', 'c', '[SEP]'], special = [1, 0, 0, 0, 1], groups = words.map((_, i) => [i]);
  const models = wallData().models.map(model => ({...model, groups, pieces: words, added: special}));
  for (const exact of [true, false]) for (const [word, others] of [[2, [1, 3]], [0, [1, 2, 3]], [4, [1, 2, 3]], [1, [2, 3]]]) {
    const made = await tiles({heads, words, special, masks: [0, 0, 0, 0, 0], models, exact});
    for (const way of ['from', 'to']) {
      const share = head => others.reduce((sum, o) => sum + (way === 'from' ? head[word * n + o] : head[o * n + word] / others.length), 0);
      Object.assign(made, {order: way, kept: word});
      made.layout();
      made.places.forEach((places, m) => {
        const shown = [...places.keys()].sort((a, b) => places[a].y - places[b].y || places[a].x - places[b].x), by = heads[m].map(share);
        shown.slice(1).forEach((i, at) => assert.ok(by[shown[at]] >= by[i] - (exact ? 1e-6 : .02)));
        sharesOf(made.wall, word, way)[m].forEach((found, i) => assert.ok(Math.abs(found - by[i]) < (exact ? 1e-6 : .02)));
      });
    }
  }
});

test('an order by a word of a text of one word, or of a long one, is an order', async () => {
  const one = await tiles({}, 1000, {});
  one.wall.special = [1, 0, 1, 1];
  assert.deepEqual(sharesOf(one.wall, 1, 'from').map(shares => [...shares]), [[0, 0, 0, 0], [0, 0]]);
  assert.deepEqual(sharesOf(one.wall, 1, 'to').map(shares => [...shares]), [[0, 0, 0, 0], [0, 0]]);
  const pooled = await unpackWall(wallData({pool: 2, exact: false, bytes: [0, 0, 255, 0, ...Array(20).fill(0)]}));
  assert.deepEqual([...sharesOf(pooled, 2, 'from')[0]], [1, 0, 0, 0]);
});

test('a sorted model begins in the first row also where its layers stand lower', async () => {
  const made = await tiles();
  made.order = 'entropy';
  made.layout();
  assert.deepEqual(made.places[1].map(place => place.y), [TOP, TOP]);
});

/** The drawn tile images: source and target rectangles. */
const images = made => painted(made.base, 'drawImage').map(one => ({from: one.given.slice(1, 5), to: one.given.slice(5), alpha: one.globalAlpha,
  atlas: one.given[0]}));

test('every head is cut from its model’s image and framed', async () => {
  const made = await tiles(), drawn = images(made);
  assert.equal(made.side, 4);
  assert.deepEqual(drawn.map(one => one.from), [[0, 0, 4, 4], [4, 0, 4, 4], [0, 4, 4, 4], [4, 4, 4, 4], [0, 0, 4, 4], [4, 0, 4, 4]]);
  assert.deepEqual(drawn.map(one => one.to), made.places.flat().map(({x, y}) => [x, y, TILE, TILE]));
  assert.deepEqual(drawn.map(one => made.atlases.indexOf(one.atlas)), [0, 0, 0, 0, 1, 1]);
  assert.ok(drawn.every(one => one.alpha === 1));
  const frames = painted(made.base, 'strokeRect');
  assert.deepEqual(frames.map(one => one.given), made.places.flat().map(({x, y}) => [x - .5, y - .5, TILE + 1, TILE + 1]));
  assert.deepEqual([frames[0].strokeStyle, frames[0].lineWidth, frames[0].imageSmoothingEnabled], [made.palette.line, 1, false]);
  assert.deepEqual(painted(made.base, 'clearRect')[0].given, [0, 0, 1000, made.height]);
});

test('a kind that is put aside is faint', async () => {
  const made = await tiles();
  made.hidden = new Set([2]);
  made.drawBase();
  assert.deepEqual(images(made).map(one => one.alpha), [1, .12, 1, 1, .12, 1]);
});

test('a lit word has its row and its column bright in every tile, the rest a quarter', async () => {
  const made = await tiles();
  made.word = 2;
  made.hidden = new Set([2]);
  made.drawBase();
  const [tile, row, column, faint] = images(made), {x, y} = made.places[0][0], part = TILE / 4;
  assert.deepEqual([tile.alpha, row.alpha, column.alpha, faint.alpha], [.25, 1, 1, .03]);
  assert.deepEqual([row.from, row.to], [[0, 2, 4, 1], [x, y + 2 * part, TILE, part]]);
  assert.deepEqual([column.from, column.to], [[2, 0, 1, 4], [x + 2 * part, y, part, TILE]]);
  const last = images(made).slice(9, 12), place = made.places[0][3];
  assert.deepEqual(last.map(one => one.from), [[4, 4, 4, 4], [4, 6, 4, 1], [6, 4, 1, 4]]);
  assert.deepEqual([last[1].to, last[2].to], [[place.x, place.y + 2 * part, TILE, part], [place.x + 2 * part, place.y, part, TILE]]);
  made.word = 0;
  made.drawBase();
  assert.deepEqual(images(made)[1].from, [0, 0, 4, 1]);
  assert.deepEqual(made.base.getContext('2d').notes.at(-1), ['globalAlpha', 1]);
});

test('a word of a pooled wall lights the row that it is in', async () => {
  const words = [...Array(130).keys()].map(String), marks = words.map(() => 0), size = 44;   // 3 words a row, the last has one
  const models = wallData().models.slice(0, 1).map(model => ({...model, heads: 1, layers: 1, rows: [0], kind: [0]}));
  const made = await tiles({words, special: marks, masks: marks, pool: 3, exact: false, models, bytes: Array(size * size).fill(0)});
  assert.equal(made.side, size);
  for (const [word, row] of [[0, 0], [2, 0], [3, 1], [101, 33], [129, 43]]) {
    made.word = word;
    made.drawBase();
    assert.deepEqual(images(made)[1].from, [0, row, size, 1], `word ${word}`);
  }
});

/** The bytes of a model's image, as its colour ramp shows them. */
const baked = (made, m) => {
  const put = made.atlases[m].getContext('2d').notes.find(note => note[0] === 'putImageData'), ramp = made.palette.ramps[made.wall.models[m].key];
  assert.deepEqual(put.slice(2), [0, 0]);
  return [...new Uint32Array(put[1].data.buffer)].map(c => ramp.indexOf(c));
};

test('a model’s image has its heads side by side, its layers one below the other', async () => {
  const bytes = Array.from({length: 96}, (_, i) => (i % 96) * 2), made = await tiles({exact: false, bytes}), image = baked(made, 0);
  assert.deepEqual([made.atlases[0].width, made.atlases[0].height, made.atlases[1].width, made.atlases[1].height], [8, 8, 8, 4]);
  const ramp = made.palette.ramps.bert, same = (a, b) => assert.equal(ramp[a], ramp[b]);
  for (let i = 0; i < 4; i++) for (let r = 0; r < 4; r++) for (let c = 0; c < 4; c++) {
    same(image[(Math.floor(i / 2) * 4 + r) * 8 + (i % 2) * 4 + c], bytes[i * 16 + r * 4 + c]);
  }
});

test('where a tile has fewer pixels than cells, a pixel shows the largest of its cells', async () => {
  const n = 20, bytes = Array(n * n * 6).fill(0), words = Array(n).fill('x');
  bytes[n * n - 1] = 255;                                // the last cell of the first head
  bytes[3 * n * n + 1 * n + 2] = 200;                    // row 1, column 2 of the fourth
  bytes[3 * n * n + 1 * n + 3] = 100;
  const data = {exact: false, words, special: words.map(() => 0), masks: words.map(() => 0), bytes}, made = await tiles(data, 1000);
  made.tile = 8;
  made.bake(1);
  assert.equal(made.side, 8);
  const image = baked(made, 0), ramp = made.palette.ramps.bert, is = (at, byte) => assert.equal(ramp[image[at]], ramp[byte], `${at}`);
  is(7 * 16 + 7, 255);
  is(6 * 16 + 7, 0);
  is(7 * 16 + 6, 0);
  is(8 * 16 + 8, 200);                                   // 2.5 cells a pixel: column 2 is of the first and of the second
  is(8 * 16 + 9, 200);
  is(8 * 16 + 10, 0);
  is(9 * 16 + 9, 0);
  made.bake(2);
  assert.equal(made.side, 16);
});

test('images are made anew only for another size', async () => {
  const made = await tiles(), [first] = made.atlases;
  made.drawBase();
  assert.equal(made.atlases[0], first);
  made.baked = null;
  made.drawBase();
  assert.notEqual(made.atlases[0], first);
});
