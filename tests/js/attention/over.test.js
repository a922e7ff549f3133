// Overlays of the tiles: names, frames, curves, the pointer, the arrow keys, the animation.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {painted} from '../dom.js';
import {painter, wallData} from './small.js';

const {headAt, unpackWall} = await import('../../../assets/js/attention/heads.js');
const {Tiles} = await import('../../../assets/js/attention/tiles.js');

async function tiles(changes = {}, width = 1000) {
  const root = painter(), wall = await unpackWall(wallData(changes));
  Object.defineProperty(root, 'clientWidth', {value: width, configurable: true});
  const made = new Tiles(root, wall, {dark: false}, headAt(wall, 0, 0));
  made.layout();
  return made;
}
const LEFT = 30, TOP = 46, TILE = 56, STEP = 61, SECOND = 517;
const written = made => painted(made.base, 'fillText').map(one => [...one.given, one.textAlign, one.fillStyle]);

test('a model’s name stands above its tiles, with what it is made of, then the numbers of its heads and layers', async () => {
  const made = await tiles(), {text, soft} = made.palette;
  assert.deepEqual(written(made), [
    ['BERT', LEFT, 15, 'left', text.bert], ['2 layers of 2', LEFT + 24 + 8, 15, 'left', soft],
    ['1', LEFT + 28, TOP - 8, 'center', soft], ['2', LEFT + STEP + 28, TOP - 8, 'center', soft],
    ['1', LEFT - 8, TOP + 28, 'right', soft], ['2', LEFT - 8, TOP + STEP + 28, 'right', soft],
    ['ALBERT', SECOND + LEFT, 15, 'left', text.albert], ['one layer, once', SECOND + LEFT + 36 + 8, 15, 'left', soft],
    ['1', SECOND + LEFT + 28, TOP - 8, 'center', soft], ['2', SECOND + LEFT + STEP + 28, TOP - 8, 'center', soft],
    ['1', SECOND + LEFT - 8, TOP + STEP + 28, 'right', soft]]);
  const baselines = painted(made.base, 'fillText').map(one => one.textBaseline);
  assert.deepEqual(baselines.slice(0, 6), [...Array(4).fill('alphabetic'), 'middle', 'middle']);
});

test('what is sorted has no numbers', async () => {
  const made = await tiles();
  made.order = 'entropy';
  made.layout();
  assert.deepEqual(written(made).map(text => text[0]), ['BERT', '2 layers of 2', 'ALBERT', 'one layer, once']);
});

test('below the other, a model’s name stands above its own tiles', async () => {
  const made = await tiles({}, 640);
  assert.deepEqual(written(made).find(text => text[0] === 'ALBERT').slice(1, 3), [LEFT, TOP + 2 * STEP + 18 + 15]);
});

test('what a model is made of is left out where it has no room', async () => {
  const data = wallData(), said = async (width, letters) => {
    data.texts = {...data.texts, shapes: {bert: 'x'.repeat(letters), albert: ''}};
    return written(await tiles({texts: data.texts}, width)).some(text => text[0] === 'x'.repeat(letters));
  };
  // side by side: 500 - 34 - 30 - 24 - 8 = 404 pixels, 67 letters; alone: 640 - 34 - 62 = 544, 90 letters
  assert.deepEqual([await said(1000, 67), await said(1000, 68)], [true, false]);
  assert.deepEqual([await said(640, 90), await said(640, 91)], [true, false]);
  // 12 heads of 14 pixels are wider than a place of 200: 258 - 62 = 196 pixels, 32 letters
  const models = wallData().models.map(model => ({...model, heads: 12, layers: 1, rows: [0], kind: Array(12).fill(0)}));
  const wide = async letters => written(await tiles({models, exact: false, bytes: Array(384).fill(0),
    texts: {...data.texts, shapes: {bert: 'x'.repeat(letters), albert: ''}}}, 200)).some(text => text[0] === 'x'.repeat(letters));
  assert.deepEqual([await wide(32), await wide(33)], [true, false]);
});

test('small tiles have a number above every second one', async () => {
  const models = wallData().models.map(model => ({...model, heads: 4, layers: 1, rows: [0], kind: Array(4).fill(0)}));
  const numbers = async tile => {
    const made = await tiles({models, exact: false, bytes: Array(128).fill(0)});
    made.tile = tile;
    made.drawBase();
    return written(made).filter(text => text[3] === 'center').map(text => text[0]).join('').slice(0, 4);
  };
  assert.deepEqual([await numbers(11), await numbers(12)], ['1313', '1234']);
});

const frames = made => painted(made.over, 'strokeRect').map(one => [...one.given, one.lineWidth]);
const ring = (made, m, i, out, width) => {
  const {x, y} = made.places[m][i];
  return [x - out, y - out, TILE + 2 * out, TILE + 2 * out, width];
};

test('the chosen head has a thick frame, its counterpart a thin one, and a curve joins them', async () => {
  const made = await tiles(), [curve] = painted(made.over, 'stroke');
  // the uniform head is nearest to the head that attends to the next word
  assert.deepEqual(frames(made), [ring(made, 1, 1, 1, 1.5), ring(made, 0, 0, 1.5, 2.5)]);
  const from = made.places[0][0], to = made.places[1][1], [x, y] = [from.x + 28, from.y + 28], [px, py] = [to.x + 28, to.y + 28];
  assert.deepEqual(curve.path, [['moveTo', x + 28, y], ['bezierCurveTo', (x + px) / 2, y, (x + px) / 2, py, px - 28, py]]);
  assert.deepEqual([curve.globalAlpha, curve.lineWidth, curve.strokeStyle], [.6, 1.25, made.palette.ink]);
  assert.ok(painted(made.over, 'strokeRect').every(one => (one.globalAlpha ?? 1) === 1));
});

test('a curve to the left leaves its tile on the left', async () => {
  const made = await tiles();
  made.lock = headAt(made.wall, 1, 0);
  made.drawOver();
  const [{path: [[, x], curve]}] = painted(made.over, 'stroke');
  assert.equal(x, made.places[1][0].x);
  assert.equal(curve[5], made.places[0][1].x + TILE);
});

test('the head under the pointer has its own frames, and the chosen one’s curve steps back', async () => {
  const made = await tiles();
  made.point = headAt(made.wall, 0, 1);
  made.drawOver();
  assert.deepEqual(frames(made), [ring(made, 1, 1, 1, 1.5), ring(made, 0, 0, 1.5, 2.5), ring(made, 1, 0, 1, 1.5), ring(made, 0, 1, 1.5, 2.5)]);
  assert.deepEqual(painted(made.over, 'stroke').map(one => one.globalAlpha), [.25, .6]);
  made.point = made.lock;
  made.drawOver();
  assert.deepEqual(painted(made.over, 'stroke').map(one => one.globalAlpha), [.6]);
});

test('models below one another are not joined', async () => {
  const made = await tiles({}, 640);
  assert.equal(painted(made.over, 'stroke').length, 0);
  assert.equal(frames(made).length, 2);
});

test('a tile is found below the pointer, with a pixel around it', async () => {
  const made = await tiles(), {x, y} = made.places[0][1], edge = TILE + 1;
  made.base.getBoundingClientRect = () => new DOMRect(100, 10, 1000, 200);
  const at = (dx, dy) => { const head = made.at({clientX: 100 + x + dx, clientY: 10 + y + dy}); return head && [head.m, head.i]; };
  assert.deepEqual([at(0, 0), at(-1, -1), at(edge, edge)], [[0, 1], [0, 1], [0, 1]]);
  assert.deepEqual([at(-2, 5), at(5, -2), at(edge + 1, 5), at(5, edge + 1)], [null, null, null, null]);
  assert.deepEqual([at(0, STEP), at(-STEP, 0), at(-STEP - TILE, 0)], [[0, 3], [0, 0], null]);
  const second = made.places[1][1];
  assert.deepEqual(made.at({clientX: 100 + second.x + 9, clientY: 10 + second.y + 9}), {m: 1, i: 1, layer: 0, head: 1});
});

test('the arrows go to the next tile, and sideways on in the next model', async () => {
  const made = await tiles(), walk = (m, i, ...way) => { const head = made.walk(headAt(made.wall, m, i), way); return head && [head.m, head.i]; };
  assert.deepEqual([walk(0, 0, 1, 0), walk(0, 0, 0, 1), walk(0, 3, -1, 0), walk(0, 3, 0, -1)], [[0, 1], [0, 2], [0, 2], [0, 1]]);
  assert.deepEqual([walk(0, 0, -1, 0), walk(0, 0, 0, -1), walk(0, 2, 0, 1), walk(1, 1, 1, 0)], [null, null, null, null]);
  assert.deepEqual([walk(0, 3, 1, 0), walk(1, 0, -1, 0)], [[1, 0], [0, 3]]);
  assert.deepEqual(walk(0, 1, 1, 0), [1, 0], 'ALBERT’s row is one lower');
  assert.equal(walk(1, 0, 0, -1), null, 'what is above another model’s tile is not above this one');
});

test('of two ways to go the one that is more straight is taken', async () => {
  const made = await tiles(), head = headAt(made.wall, 0, 0), to = () => made.walk(head, [1, 0])?.i;
  const place = (...at) => { made.places = [[[0, 0], ...at].map(([x, y]) => ({x, y})), []]; };
  place([100, 0], [50, 20]);
  assert.equal(to(), 1);          // 100 against 50 + 3 * 20
  place([120, 0], [50, 20]);
  assert.equal(to(), 2);
  place([0, 10], [1, 0]);
  assert.equal(to(), 2);          // a pixel ahead at least
  place([100, 4 * TILE], [600, 4 * TILE + 1]);
  assert.equal(to(), 1);
  place([100, 4 * TILE + 1]);
  assert.equal(to(), undefined);  // too far aside
  place([TILE / 2, 100], [TILE / 2 + 1, 50]);
  assert.equal(made.walk(head, [0, 1])?.i, 1);
});

/** The wall during an animation: `tick` draws one frame some milliseconds later. */
async function flying(reduced = false) {
  const made = await tiles(), frames = [], {requestAnimationFrame, matchMedia} = globalThis;
  Object.assign(globalThis, {requestAnimationFrame: frame => { frames.push(frame); }, matchMedia: () => ({matches: reduced})});
  const before = made.places;
  made.order = 'entropy';
  const {now} = performance;
  performance.now = () => 1000;
  made.layout(true);
  Object.assign(globalThis, {requestAnimationFrame, matchMedia});
  performance.now = now;
  return {made, before, frames, tick(ms) {
    globalThis.requestAnimationFrame = frame => { frames.push(frame); };
    frames.shift()(1000 + ms);
    globalThis.requestAnimationFrame = requestAnimationFrame;
  }};
}

test('newly sorted tiles fly to their places and slow down on the way', async () => {
  const {made, before, frames, tick} = await flying();
  assert.equal(frames.length, 1);
  assert.deepEqual(made.shown, before);
  tick(-50);
  assert.deepEqual(made.shown, before, 'a frame that began earlier is the start');
  tick(210);
  const from = before[0][0], to = made.places[0][0], half = made.shown[0][0];
  assert.notDeepEqual(from, to);
  assert.deepEqual([half.x, half.y], [from.x + .875 * (to.x - from.x), from.y + .875 * (to.y - from.y)]);   // 1 - 1/2 ** 3
  assert.equal(painted(made.base, 'drawImage')[0].given[5], half.x);
  assert.equal(frames.length, 1);
  tick(420);
  assert.deepEqual(made.shown, made.places);
  assert.equal(frames.length, 0, 'there it ends');
});

test('a flight ends where another begins or the wall is gone', async () => {
  const first = await flying();
  first.made.flight += 1;
  first.tick(100);
  assert.deepEqual([first.made.shown, first.frames.length], [first.before, 0]);
  const second = await flying();
  second.made.root.remove();
  second.tick(100);
  assert.deepEqual([second.made.shown, second.frames.length], [second.before, 0]);
});

test('nothing flies for a reader who wants less motion', async () => {
  const {made, frames} = await flying(true);
  assert.equal(frames.length, 0);
  assert.deepEqual(made.shown, made.places);
});
