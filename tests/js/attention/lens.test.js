// The chosen head beside its counterparts: 640 wide, so that panels stand below one another unless a test says more.
import assert from 'node:assert/strict';
import {afterEach, mock, test} from 'node:test';

import {click, enter, packed, painted, point, texts, widen} from '../dom.js';
import {button, setTo, state, wall} from './open.js';
import {EVEN, NEXT, SELF, square, wallData} from './small.js';

/** Reset the lens's controls to their initial state. */
const FIRST = ['words', 'shown', 'closest'];
async function lens(changes, asks) {
  const page = await wall(changes, asks), {made} = page;
  FIRST.forEach((key, i) => { if (made.lens[['unit', 'added', 'others'][i]] !== key) setTo(made.lens.node, key); });
  return {...page, lens: made.lens, node: made.lens.node, pictures: () => made.lens.parts.map(part => part.picture)};
}
const shown = picture => [...picture.picture.values].map(v => Number(v.toFixed(3)));
/** The middle of a cell of the n-th panel. */
const at = (picture, q, k) => [picture.left + picture.step * (k + .5), picture.top + picture.step * (q + .5)];
const reading = node => texts(node, '.aw-reading');
const pressed = node => [...node.querySelectorAll('[aria-pressed=true]')].map(one => one.dataset.key);
const soon = async () => { for (let i = 0; i < 9; i++) await null; };
afterEach(() => { state.wanted = {}; state.accepted = null; });

test('each model has a panel: the chosen head, and how far its counterpart is', async () => {
  const {node, pictures} = await lens({heads: [[NEXT, SELF, EVEN, SELF], [SELF, NEXT]]});
  assert.deepEqual(texts(node, 'figure b'), ['BERT 1.1', 'ALBERT 1.2']);
  assert.deepEqual(texts(node, '.aw-detail'), ['the one, Next 90%; 0.50 nats; 1.0 words', 'JS 0.000, Other; 1.20 nats; 1.3 words']);
  assert.deepEqual([...node.querySelectorAll('figure')].map(one => one.dataset.model), ['bert', 'albert']);
  assert.deepEqual(pictures().map(shown), [NEXT, NEXT]);
  assert.deepEqual(pictures()[1].picture.labels, ['[CLS]', 'cat', 's', '[SEP]']);
  assert.equal(pictures()[0].canvas.getAttribute('aria-label'), 'BERT 1.1. Next 90%; 0.50 nats; 1.0 words');
  assert.equal(texts(node, '.note')[0], 'point at a cell');
});

test('a panel is painted in its model’s colours', async () => {
  const {made, pictures} = await lens();
  assert.deepEqual(pictures().map(one => one.picture.ramp), ['bert', 'albert'].map(key => made.palette.ramps[key]));
  assert.deepEqual(pictures().map(one => one.picture.colour), [made.palette.text.bert, made.palette.text.albert]);
});

test('panels stand side by side from 860 pixels on', async () => {
  const {made, node, pictures} = await lens(), columns = () => node.querySelector('.aw-panels').style.gridTemplateColumns;
  assert.deepEqual([columns(), pictures()[0].width], ['repeat(1, minmax(0, 1fr))', 640]);
  widen(node, 860);
  assert.deepEqual([columns(), pictures()[0].width], ['repeat(2, minmax(0, 1fr))', 416]);
  widen(node, 859);
  assert.equal(pictures()[0].width, 859);
  const before = made.lens.parts[0].picture.canvas.getContext('2d').notes.length;
  widen(node, 859);
  assert.equal(made.lens.parts[0].picture.canvas.getContext('2d').notes.length, before, 'the same width draws nothing');
});

test('one picture is kept while its numbers change', async () => {
  const {made, pick} = await lens(), [{figure}] = made.lens.parts;
  pick(0, 2);
  assert.equal(made.lens.parts[0].figure, figure);
});

test('pieces are shown where both heads have them; added tokens by their own marks', async () => {
  const data = wallData();
  const {node, pictures} = await lens({models: data.models.map(model => ({...model, groups: [[0], [1], [2], [3]]}))});
  click(button(node, 'pieces'));
  assert.deepEqual(pictures()[0].picture.labels, ['[CLS]', 'cat', 's', '[SEP]']);
  assert.ok(pressed(node).includes('pieces'));
  setTo(node, 'hidden');
  assert.deepEqual(pictures()[0].picture.labels, ['cat', 's']);
});

test('a word of two pieces is one row between words and two between pieces', async () => {
  const words = {words: ['[CLS]', 'cats', '[SEP]'], special: [1, 0, 1], masks: [0, 0, 0], bytes: Array(54).fill(0)}, data = wallData(words);
  const models = data.models.map(model => ({...model, groups: [[0], [1, 2], [3]], added: [1, 0, 0, 1]}));
  const {node, pictures} = await lens({...words, models});
  assert.deepEqual(shown(pictures()[0]), [0, 1, 0, 0, .5, .5, 1, 0, 0]);
  click(button(node, 'pieces'));
  assert.deepEqual([pictures()[0].picture.n, shown(pictures()[0])], [4, NEXT]);
  setTo(node, 'hidden');
  assert.deepEqual(shown(pictures()[0]), [0, 1, 0, 0]);
  click(button(node, 'words'));
  assert.deepEqual([pictures()[0].picture.labels, shown(pictures()[0])], [['cats'], [.5]]);
});

test('without added tokens their cells go, or what is left is the whole', async () => {
  const {node, pictures} = await lens({heads: [[EVEN, SELF, NEXT, SELF], [EVEN, SELF]]});
  setTo(node, 'hidden');
  assert.deepEqual([pictures()[0].picture.labels, shown(pictures()[0])], [['cat', 's'], [.25, .25, .25, .25]]);
  setTo(node, 'rest');
  assert.deepEqual(shown(pictures()[0]), [.5, .5, .5, .5]);
  assert.equal(button(node, 'rest').parentElement.value, 'rest');
});

test('what is left is shared out in each row for itself', async () => {
  const mixed = [1, 0, 0, 0, .1, .2, .3, .4, .4, .1, .3, .2, 0, 0, 0, 1], {node, pictures} = await lens({heads: [[mixed, SELF, NEXT, SELF], [mixed, SELF]]});
  setTo(node, 'rest');
  assert.deepEqual(shown(pictures()[0]), [.4, .6, .25, .75]);
});

test('a row of which nothing is left stays empty', async () => {
  const away = square(4, (_, k) => Number(k === 3)), {node, pictures} = await lens({heads: [[away, SELF, EVEN, NEXT], [away, SELF]]});
  setTo(node, 'rest');
  assert.deepEqual(shown(pictures()[0]), [0, 0, 0, 0]);
});

test('beside the head stands the most similar one or the one in its place; the wall follows', async () => {
  const {made, node, lens: {heads}} = await lens();
  assert.deepEqual(heads.map(head => [head.m, head.i]), [[0, 0], [1, 1]]);
  setTo(node, 'same');
  assert.deepEqual([made.lens.heads.map(head => [head.m, head.i]), made.others], [[[0, 0], [1, 0]], 'same']);
  assert.equal(painted(made.over, 'strokeRect')[0].given[0], made.places[1][0].x - 1);
  assert.equal((await wall()).made.lens.others, 'same', 'a new text keeps it');
});

test('another counterpart’s exact numbers are asked for, not those of a view', async () => {
  const {node, asked} = await lens({exact: false});
  asked.length = 0;
  click(button(node, 'lines'));
  assert.deepEqual(asked, []);
  setTo(node, 'same');
  assert.deepEqual(asked[0].heads, [['bert', 0, 0], ['albert', 0, 0]]);
  assert.equal(texts(node, '.note')[0], 'waiting');
});

test('the view is told to the page and begins as it says', async () => {
  const {node} = await lens();
  assert.ok(pressed(node).includes('matrix'));
  click(button(node, 'lines'));
  assert.equal(state.wanted.view, 'lines');
  const {made} = await wall();
  assert.equal(made.lens.view, 'lines');
});

test('lines show the chosen mass of each row; only they have its slider', async () => {
  const {made, node, pictures} = await lens(), slider = node.querySelector('input'), label = node.querySelector('.aw-mass');
  assert.equal(label.hidden, true);
  assert.deepEqual([slider.min, slider.max, slider.step, slider.value, label.textContent], ['10', '100', '5', '70', 'mass 70%']);
  click(button(node, 'lines'));
  assert.deepEqual([label.hidden, pictures()[0].picture.mass, node.querySelectorAll('.aw-under .chip').length], [false, .7, 0]);
  enter(slider, '45');
  assert.deepEqual([made.lens.mass, label.textContent, pictures()[0].picture.mass], [.45, 'mass 45%', .45]);
  enter(slider, '70');
});

test('a difference is drawn for every pair, one minus the other, in both their colours', async () => {
  const {made, node, pictures} = await lens({heads: [[EVEN, SELF, NEXT, SELF], [SELF, NEXT]]});
  click(button(node, 'difference'));
  const [first] = pictures(), {picture} = first;
  assert.deepEqual([texts(node, 'figure b'), texts(node, '.aw-detail')], [['BERT 1.1 − ALBERT 1.1'], ['BERT over ALBERT']]);
  assert.equal(first.canvas.getAttribute('aria-label'), 'BERT 1.1 − ALBERT 1.1');
  assert.deepEqual(shown(first), EVEN.map((v, i) => v - SELF[i]));
  assert.deepEqual([picture.signed, picture.ramp, picture.exact], [true, made.palette.diverging('column-bert', 'column-albert'), true]);
  assert.equal(node.querySelector('figure').dataset.model, '');
  click(button(node, 'pieces'));
  assert.deepEqual([button(node, 'pieces').disabled, pressed(node).includes('words')], [true, true]);
  click(button(node, 'matrix'));
  assert.equal(button(node, 'pieces').disabled, false);
});

test('three models make three differences', async () => {
  const data = wallData(), models = [...data.models, {...data.models[1], key: 'bert', label: 'MINI'}];
  const {node} = await lens({models, heads: [[NEXT, SELF, EVEN, SELF], [SELF, NEXT], [NEXT, SELF]]});
  click(button(node, 'difference'));
  assert.deepEqual(texts(node, 'figure b'), ['BERT 1.1 − ALBERT 1.2', 'BERT 1.1 − MINI 1.1', 'ALBERT 1.2 − MINI 1.1']);
});

test('a pointed cell is read in every panel with four digits, said once, and its row’s word is lit', async () => {
  const {made, node, pictures} = await lens(), live = node.querySelector('[role=status]'), [first, second] = pictures();
  point(first.canvas, 'pointermove', ...at(first, 1, 2));
  assert.deepEqual(reading(node), ['cat → s: 1.0000', 'cat → s: 0.2500']);
  assert.deepEqual([first.cell, second.cell, live.textContent, made.word], [[1, 2], [1, 2], 'cat → s: 1.0000', 1]);
  point(second.canvas, 'pointermove', ...at(second, 3, 0));
  assert.deepEqual([live.textContent, made.word], ['[SEP] → [CLS]: 0.2500', 3]);
  point(second.canvas, 'pointermove', 0, 0);
  assert.deepEqual([reading(node), live.textContent, made.word], [['', ''], '', null]);
});

test('the lit word is the wall’s also where added tokens are left out', async () => {
  const {made, node, pictures} = await lens();
  setTo(node, 'hidden');
  point(pictures()[0].canvas, 'pointermove', ...at(pictures()[0], 1, 0));
  assert.deepEqual([made.word, reading(node)[0]], [2, 's → cat: 0.0000']);
});

test('between pieces a cell is of its own model alone', async () => {
  const {made, node, pictures} = await lens();
  click(button(node, 'pieces'));
  point(pictures()[0].canvas, 'pointermove', ...at(pictures()[0], 1, 2));
  assert.deepEqual([reading(node), pictures()[1].cell, made.word], [['cat → s: 1.0000', ''], null, null]);
});

test('a marked cell stays for the next head while it has one', async () => {
  const {node, pictures, pick} = await lens();
  point(pictures()[0].canvas, 'pointermove', ...at(pictures()[0], 3, 0));
  pick(0, 1);
  assert.deepEqual(reading(node), ['[SEP] → [CLS]: 0.0000', '[SEP] → [CLS]: 0.0000']);
  setTo(node, 'hidden');
  assert.deepEqual(reading(node), ['', '']);
  assert.equal(pictures()[0].cell, null);
});

test('what is rounded says so and is not copied', async () => {
  const {node, pictures} = await lens({exact: false}), [first] = pictures();
  assert.deepEqual([texts(node, '.note')[0], [...node.querySelectorAll('.aw-under .chip')].map(one => one.disabled)], ['waiting', [true, true]]);
  point(first.canvas, 'pointermove', ...at(first, 1, 2));
  assert.deepEqual([reading(node)[1], node.querySelector('.aw-under .chip').disabled], ['cat → s: ≈ 0.25', true]);
  assert.match(reading(node)[0], /≈ 1\.00$/, 'the cell of its own row and column');
});

test('numbers that could not be had are not waited for, and a file of them says that they are rounded', async () => {
  let is = 'away';
  const {lens: made, node, pick} = await lens({exact: false}, async () => { if (is === 'away') throw new Error('away'); return new Promise(() => {}); });
  await soon();
  const told = () => texts(node, '.note')[0];
  assert.equal(told(), 'rounded');
  setTo(node, 'hidden');
  assert.equal(told(), 'rounded', 'it is drawn anew, and nobody has asked again');
  assert.equal(made.part().picture.header().state.rounded, 'to 1 of 255 steps');
  is = 'slow';
  pick(0, 2);
  assert.equal(told(), 'waiting');
  const exact = await lens();
  assert.equal('rounded' in exact.lens.part().picture.header().state, false);
});

test('one model has no difference, also where a link asks for it', async () => {
  state.wanted = {view: 'difference'};
  const {lens: made, node} = await lens({models: [wallData().models[0]], heads: [[NEXT, SELF, EVEN, SELF]]});
  assert.deepEqual([made.view, button(node, 'difference').disabled, made.parts.length], ['matrix', true, 1]);
  state.wanted = {};
  assert.equal(button((await lens()).node, 'difference').disabled, false);
});

test('one exact head and one rounded head differ by a rounded number, and pieces wait for both', async () => {
  const answer = {heads: [{model: 'bert', layer: 0, head: 0, pieces: packed(NEXT)}]};
  const {made, node, pictures} = await lens({exact: false}, async () => JSON.stringify(answer));
  await new Promise(setImmediate);
  assert.equal(texts(node, '.note')[0], 'waiting');
  click(button(node, 'pieces'));
  assert.deepEqual([made.lens.unit, pressed(node).includes('words')], ['pieces', true]);
  click(button(node, 'difference'));
  assert.equal(pictures()[0].picture.exact, false);
});

test('of a text of too many pieces, pieces are not to be had', async () => {
  const note = async limit => {
    const {node} = await lens({pieces_limit: limit});
    click(button(node, 'pieces'));
    return texts(node, '.note')[0];
  };
  assert.deepEqual([await note(4), await note(3)], ['point at a cell', 'more than 3']);
  assert.equal(texts((await lens({pieces_limit: 3})).node, '.note')[0], 'point at a cell', 'words are');
});

test('a marked row is copied with all its numbers, and the button says so for a while', async () => {
  mock.timers.enable({apis: ['setTimeout']});
  const {node, pictures} = await lens(), copies = [...node.querySelectorAll('.aw-under .chip')], taken = [];
  Object.defineProperty(globalThis, 'navigator', {configurable: true, value: {clipboard: {writeText: async text => { taken.push(text); }}}});
  assert.deepEqual(copies.map(one => one.disabled), [true, true]);
  point(pictures()[0].canvas, 'pointermove', ...at(pictures()[0], 1, 2));
  assert.deepEqual(copies.map(one => one.disabled), [false, false]);
  click(copies[1]);
  await soon();
  assert.deepEqual(taken, ['cat\t[CLS]\t0.25\ncat\tcat\t0.25\ncat\ts\t0.25\ncat\t[SEP]\t0.25']);
  assert.equal(copies[1].textContent, 'copied');
  mock.timers.tick(1499);
  assert.equal(copies[1].textContent, 'copied');
  mock.timers.tick(1);
  assert.equal(copies[1].textContent, 'copy');
  mock.timers.reset();
});

test('where the clipboard refuses or there is none a row is copied from a box, or the button says that it is not', async () => {
  mock.timers.enable({apis: ['setTimeout']});
  const {node, pictures} = await lens(), [copy] = node.querySelectorAll('.aw-under .chip'), taken = [];
  point(pictures()[0].canvas, 'pointermove', ...at(pictures()[0], 1, 2));
  let works = true;
  document.execCommand = name => { taken.push([name, document.activeElement.value]); return works; };
  for (const clipboard of [undefined, {writeText: async () => { throw new Error('no'); }}]) {
    for (works of [true, false]) {
      Object.defineProperty(globalThis, 'navigator', {configurable: true, value: {clipboard}});
      click(copy);
      await soon();
      assert.equal(copy.textContent, works ? 'copied' : 'not copied');
      assert.deepEqual([document.querySelectorAll('textarea').length, document.activeElement], [0, copy]);
      mock.timers.tick(1500);
      assert.equal(copy.textContent, 'copy');
    }
  }
  assert.deepEqual(taken, Array(4).fill(['copy', 'cat\t[CLS]\t0\ncat\tcat\t0\ncat\ts\t1\ncat\t[SEP]\t0']));
  mock.timers.reset();
});

test('it has a menu of its own, and its rows are the numbers that are drawn', async () => {
  const {node, lens: made} = await lens(), part = made.part();
  assert.equal(part.kind, 'attention/matrices');
  const whole = part.picture.table(null);
  assert.deepEqual([whole.columns, whole.rows.length, whole.rows[1]], [['head', 'query', 'key', 'attention'], 32, ['BERT 1.1', '[CLS]', 'cat', 1]]);
  setTo(node, 'hidden');
  assert.deepEqual(part.picture.table(null).rows.slice(0, 2), [['BERT 1.1', 'cat', 'cat', 0], ['BERT 1.1', 'cat', 's', 1]]);
  click(button(node, 'difference'));
  assert.equal(part.kind, 'attention/difference');
  const apart = part.picture.table(null);
  assert.deepEqual([apart.columns[3], apart.rows.length], ['difference', 4]);
  assert.deepEqual(apart.rows.map(row => row[3]), [...made.parts[0].shape.square.values]);
  click(button(node, 'matrix'));
});

test('of lines it is not said that a number stands in a cell', async () => {
  const {node} = await lens(), note = () => node.querySelector('.note').textContent;
  assert.equal(note(), 'point at a cell');
  click(button(node, 'lines'));
  assert.equal(note(), 'point at a word');
  click(button(node, 'matrix'));
});

test('matrices beside each other are enlarged together, and the link says by how much', async () => {
  const {made, pictures} = await lens(), [first, second] = pictures();
  mock.timers.enable({apis: ['setTimeout']});
  try {
    first.most = second.most = 12;
    first.zoom.by(2);
    assert.deepEqual([first, second].map(one => one.step / one.fit), [2, 2]);
    mock.timers.tick(200);
    assert.equal(state.wanted.look, 'zoom:4.200.250.250');
    assert.deepEqual(made.lens.header().state.zoom, 2);
    first.zoom.pan(.25, 0);
    made.end();
    mock.timers.tick(200);
    assert.equal(state.wanted.look, 'zoom:4.200.250.250', 'of a text that is gone nothing is kept');
  } finally {
    mock.timers.reset();
  }
  assert.equal((await wall()).made.lens.zoom.zoom, 2);
  state.wanted.look = 'zoom:9.200.250.250';
  assert.equal((await wall()).made.lens.zoom.zoom, 1, 'another number of words is another text');
});
