// Interaction with the wall: pointer, click, keys, and the requests that they cause.
import assert from 'node:assert/strict';
import {afterEach, test} from 'node:test';

import {click, packed, painted, point, press, texts} from '../dom.js';
import {button, setTo, lock, state, wall} from './open.js';
import {EVEN, NEXT, SELF} from './small.js';

const pointed = made => made.point && [made.point.m, made.point.i];
afterEach(() => { state.wanted = {}; state.accepted = null; });

test('the head under the mouse shows a card beside its tile; a finger shows none', async () => {
  const {made, card, hover} = await wall();
  assert.equal(card.hidden, true);
  hover(0, 1, 'touch');
  assert.deepEqual([card.hidden, made.point], [true, null]);
  hover(0, 1);
  assert.deepEqual([card.hidden, pointed(made)], [false, [0, 1]]);
  assert.deepEqual(texts(card, 'b'), ['BERT 1.2', 'ALBERT 1.1']);
  assert.deepEqual(texts(card, 'span'), ['', 'JS 0.000']);
  assert.deepEqual(texts(card, 'p'), ['Self 76%; 0.25 nats; 0.0 words']);
  assert.deepEqual([...card.querySelectorAll('figure')].map(one => one.dataset.model), ['bert', 'albert']);
  const [image] = painted(card.querySelector('canvas'), 'drawImage');
  assert.deepEqual([image.given.slice(1), image.imageSmoothingEnabled], [[0, 0, 132, 132], false]);
  hover(0, 2);
  assert.deepEqual(texts(card, 'p'), ['Other; 1.39 nats; 1.3 words']);
  point(made.stage, 'pointermove', 1, 1);
  assert.deepEqual([card.hidden, made.point], [true, null]);
  hover(1, 0);
  assert.deepEqual(texts(card, 'b'), ['BERT 1.2', 'ALBERT 1.1']);
});

test('the card goes with the pointer or the focus', async () => {
  const {made, card, stage, hover} = await wall();
  for (const gone of ['pointerleave', 'blur']) {
    hover(0, 1);
    stage.dispatchEvent(new Event(gone));
    assert.deepEqual([card.hidden, made.point], [true, null]);
  }
});

test('a head that is pointed at twice is drawn once', async () => {
  const {made, hover} = await wall(), drawn = () => made.over.getContext('2d').notes.length;
  hover(0, 1);
  const before = drawn();
  hover(0, 1);
  assert.equal(drawn(), before);
  hover(0, 2);
  assert.notEqual(drawn(), before);
});

test('the card stands below its tile and within the wall, above where there is no room below', async () => {
  const {made, card, stage, hover} = await wall();
  for (const [name, value] of [['offsetWidth', 100], ['offsetHeight', 80]]) Object.defineProperty(card, name, {value, configurable: true});
  const moved = (m, i) => { hover(m, i === 0 ? 1 : 0); hover(m, i); return card.style.transform.match(/-?\d+/g).map(Number); };
  const {tile, places: [[, {x, y}]]} = made;
  assert.deepEqual(moved(0, 1), [x + tile / 2 - 50, y + tile + 12]);
  assert.deepEqual(moved(0, 0), [8, y + tile + 12]);                  // 30 + 28 - 50
  Object.defineProperty(card, 'offsetWidth', {value: 200});
  assert.deepEqual(moved(0, 0), [0, y + tile + 12]);
  made.width = 150;
  assert.deepEqual(moved(0, 1), [0, y + tile + 12]);
  Object.defineProperty(card, 'offsetWidth', {value: 100});
  made.width = 120;
  assert.deepEqual(moved(0, 1)[0], 20);
  const low = made.places[0][3].y, below = low + tile + 12, room = top => {
    stage.getBoundingClientRect = () => ({top, left: 0});
    made.base.getBoundingClientRect = () => ({top: 0, left: 0});
    return moved(0, 3)[1];
  };
  assert.equal(room(innerHeight - below - 80), below);
  assert.equal(room(innerHeight - below - 79), low - 80 - 12);
  Object.defineProperty(card, 'offsetHeight', {value: innerHeight});
  assert.equal(room(0), below, 'nor above');
});

test('a click keeps a head: the page is told, it is said, and its exact numbers are asked for', async () => {
  const {made, asked, live, pick, hover, card} = await wall({exact: false});
  hover(0, 1);
  state.accepted = {text: 'cats', family: 'base'};
  asked.length = 0;
  pick(0, 3);
  assert.deepEqual([lock(made), made.point, card.hidden], [[0, 3], null, true]);
  assert.deepEqual([state.wanted.layer, state.wanted.head, state.get('model')], ['1', '1', 'bert']);
  assert.equal(live.textContent, 'BERT 2.2: First 80%; 0.13 nats; 1.5 words');
  assert.deepEqual(asked, [{params: {text: 'cats', family: 'base', model: 'bert', layer: '1', head: '1'}, heads: [['bert', 1, 1], ['albert', 0, 1]]}]);
  pick(1, 0);
  assert.deepEqual([state.get('model'), state.get('layer'), state.get('head')], ['albert', '0', '0']);
  assert.equal(texts(made.lens.node, 'figure b')[1], 'ALBERT 1.1');
});

test('a click beside all tiles changes nothing', async () => {
  const {made} = await wall();
  point(made.stage, 'click', 1, 1);
  assert.deepEqual(lock(made), [0, 0]);
});

test('sorted by likeness, the tiles move about the new head', async () => {
  const {root, made, pick} = await wall();
  setTo(root, 'alike');
  const first = made.places[0][0];
  pick(0, 3);
  assert.deepEqual(made.places[0][3], first);
});

test('what is exact already is not asked for; an answer is drawn', async () => {
  const whole = await wall();
  assert.deepEqual(whole.asked, []);
  let answer;
  const {made, asked} = await wall({exact: false}, () => new Promise(done => { answer = done; }));
  assert.deepEqual(asked.map(one => one.heads), [[['bert', 0, 0], ['albert', 0, 1]]]);
  assert.equal(made.lens.note.textContent, 'waiting');
  answer(JSON.stringify({heads: [{model: 'bert', layer: 0, head: 0, pieces: packed(NEXT)}, {model: 'albert', layer: 0, head: 1, pieces: packed(EVEN)}]}));
  await new Promise(setImmediate);
  assert.equal(made.lens.note.textContent, 'point at a cell');
  made.ask();
  assert.equal(asked.length, 1);
});

test('an answer for a wall that is gone is not heard, and where there is none the lens says so', async () => {
  let answer, refuse;
  const old = await wall({exact: false}, () => new Promise(done => { answer = done; }));
  const {made} = await wall({exact: false}, () => new Promise((_, no) => { refuse = no; }));
  answer(JSON.stringify({heads: [{model: 'bert', layer: 0, head: 0, pieces: packed(SELF)}]}));
  refuse(new Error());
  await new Promise(setImmediate);
  assert.deepEqual([old.made.wall.models[0].exact[0], made.lens.note.textContent], [null, 'rounded']);
});

test('the arrows point, Enter and Space keep, Escape lets go', async () => {
  const {made, stage, live} = await wall();
  assert.equal(press(stage, 'ArrowRight'), false);
  assert.deepEqual([pointed(made), live.textContent], [[0, 1], 'BERT 1.2: Self 76%; 0.25 nats; 0.0 words']);
  press(stage, 'ArrowDown');
  press(stage, 'ArrowLeft');
  assert.deepEqual(pointed(made), [0, 2]);
  assert.equal(press(stage, 'Enter'), false);
  assert.deepEqual([lock(made), made.point], [[0, 2], null]);
  press(stage, 'ArrowUp');
  assert.deepEqual(pointed(made), [0, 0]);
  press(stage, 'ArrowUp');
  assert.deepEqual(pointed(made), [0, 0], 'there is none above');
  assert.equal(press(stage, ' '), false);
  assert.deepEqual(lock(made), [0, 0]);
  press(stage, 'ArrowRight');
  press(stage, 'Escape');
  assert.deepEqual([lock(made), made.point], [[0, 0], null]);
  assert.deepEqual([press(stage, 'Tab'), press(stage, 'Escape')], [true, true]);
});
