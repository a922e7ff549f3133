import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, packed, place, point, texts, widen, widthsLater} from '../dom.js';
import {painter} from './small.js';

widthsLater();
const {clear, constants, show, table, theme} = await import('../../../assets/js/attention/summary.js');

const VALUES = [.5, .25, .25, 0, 1, 0, .125, .125, .75];
const data = {words: ['cat', '##s', 'sat'], texts: {scale: 'to {top}', title: '{label}: {kind}', zoom: {in: 'in', out: 'out', all: 'all'}, kind: 'rollout', hint: 'point', cell: '{query} → {key}: {value}', way: 'rollout', added: 'added', addeds: {hidden: 'hidden', shown: 'shown'}}, special: [0, 0, 0],
  models: [{key: 'bert', label: 'BERT', detail: 'of 12 layers', values: packed(VALUES), groups: [[0], [1], [2]]},
    {key: 'albert', label: 'ALBERT', detail: 'of one', values: packed(VALUES.map(v => v / 10)), groups: [[0], [1], [2]]}]};
const notes = root => [...root.querySelectorAll('canvas')].map(one => one.getContext('2d').notes.length);

function open(dark = false) {
  const root = painter();
  show(root, data, {dark, ask() {}});
  return {root, canvases: [...root.querySelectorAll('canvas')]};
}

test('each model has a panel with its name, what it is, and a matrix between words', () => {
  const {root, canvases} = open();
  assert.deepEqual([texts(root, 'figure b'), texts(root, '.aw-detail'), texts(root, '.note')], [['BERT: rollout', 'ALBERT: rollout'], ['of 12 layers', 'to 100.0%',
    'of one', 'to 10.0%'], ['point']]);
  assert.deepEqual([...root.querySelectorAll('figure')].map(one => one.dataset.model), ['bert', 'albert']);
  assert.deepEqual(canvases.map(one => one.getAttribute('aria-label')), ['BERT: rollout', 'ALBERT: rollout']);
});

test('small numbers fill the scale: a tenth with ten times the gain has the same numbers of shades', () => {
  const {canvases} = open(), put = canvas => canvas.getContext('2d').notes.find(note => note[0] === 'drawImage')[1]
    .getContext('2d').notes.find(note => note[0] === 'putImageData')[1];
  const shades = canvases.map(canvas => [...new Uint32Array(put(canvas).data.buffer)]);
  const ranks = list => list.map(c => [...new Set(list)].indexOf(c));
  assert.deepEqual(ranks(shades[0]), ranks(shades[1]));
  assert.notDeepEqual(shades[0], shades[1]);
});

test('the added tokens are left out until they are asked for; what is left fills the scale', () => {
  const root = painter(), size = () => root.querySelector('canvas').width;
  show(root, {...data, words: ['[CLS]', 'cat', 'sat'], special: [1, 0, 0]}, {dark: false, ask() {}});
  const [hidden, all] = root.querySelectorAll('.aw-choice button'), without = size();
  assert.equal(hidden.getAttribute('aria-pressed'), 'true');
  click(all);
  assert.equal(size() - without, 36 + 10, 'one cell more, and a longer label');
  click(hidden);
  assert.equal(size(), without);
});

test('a pointed cell is read in both panels and said once', () => {
  const {root, canvases} = open(), reading = () => texts(root, '.aw-reading'), live = root.querySelector('[role=status]');
  // the longest word takes 20 pixels: squares of 36 begin at 30
  point(canvases[1], 'pointermove', 30 + 36 * 2 + 3, 30 + 3);
  assert.deepEqual([reading(), live.textContent], [['cat → sat: 0.2500', 'cat → sat: 0.0250'], 'cat → sat: 0.0250']);
  point(canvases[0], 'pointermove', 30 + 36 + 3, 30 + 36 * 2 + 3);
  assert.deepEqual([reading(), live.textContent], [['sat → s: 0.1250', 'sat → s: 0.0125'], 'sat → s: 0.1250']);
  point(canvases[0], 'pointermove', 1, 1);
  assert.deepEqual([reading(), live.textContent], [['', ''], '']);
});

test('panels stand side by side from 860 pixels on, and a longer text has smaller squares', () => {
  const {root, canvases} = open(), columns = () => root.querySelector('.aw-panels').style.gridTemplateColumns;
  assert.equal(columns(), 'repeat(1, minmax(0, 1fr))');
  widen(root, 860);
  assert.equal(columns(), 'repeat(2, minmax(0, 1fr))');
  widen(root, 859);
  assert.equal(columns(), 'repeat(1, minmax(0, 1fr))');
  widen(root, 100);
  assert.equal(canvases[0].width, 30 + 3 * 22 + 2);
  Object.defineProperty(root, 'clientWidth', {configurable: true, value: 0});
  const before = notes(root);
  theme(root);
  assert.deepEqual(notes(root), before, 'nothing is drawn in a closed fold');
});

test('side by side, a panel has half of the room that is left between them', () => {
  const words = Array.from({length: 40}, (_, i) => `w${i}`), values = packed(Array(1600).fill(0)), root = painter();
  show(root, {...data, words, models: data.models.map(model => ({...model, values}))}, {dark: false, ask() {}});
  widen(root, 1012);   // (1012 - 28) / 2 = 492: 426 for 40 squares beside the buttons
  assert.equal(root.querySelector('canvas').width, 64 + 40 * 10 + 2);
  widen(root, 1011);
  widen(root, 971);    // 471: 405 pixels are 10 each
  assert.equal(root.querySelector('canvas').width, 64 + 40 * 10 + 2);
  widen(root, 947);    // 459: 393 pixels are 9 each
  assert.equal(root.querySelector('canvas').width, 64 + 40 * 9 + 2);
});

test('the longest text has a matrix too: more cells than a call takes arguments', () => {
  const n = 512, root = painter(), values = packed(Array.from({length: n * n}, (_, i) => (i === n * n - 1 ? .05 : .01)));
  show(root, {...data, words: Array(n).fill('w'), special: Array(n).fill(0), models: [{...data.models[0], values}]}, {dark: false, ask() {}});
  assert.deepEqual(texts(root, '.aw-detail'), ['of 12 layers', 'to 5.0%']);
});

test('it is drawn anew for another width or other colours, not for the same', () => {
  const {root} = open(), first = notes(root);
  widen(root, 640);
  assert.deepEqual(notes(root), first);
  widen(root, 630);
  assert.ok(notes(root)[0] > first[0]);
  const second = notes(root);
  theme(root);
  assert.ok(notes(root)[1] > second[1]);
});

test('what is taken away follows neither the width nor the colours', () => {
  const {root, canvases} = open(), drawn = () => canvases[0].getContext('2d').notes.length;
  clear(root);
  assert.equal(root.childNodes.length, 0);
  const before = drawn();
  widen(root, 700);
  theme(root);
  assert.equal(drawn(), before);
  clear(place());
});

test('new data take the place of the old', () => {
  const {root, canvases} = open(), before = canvases[0].getContext('2d').notes.length;
  show(root, {...data, words: ['dog', 'sat', 'down']}, {dark: false, ask() {}});
  assert.equal(root.querySelectorAll('figure').length, 2);
  widen(root, 700);
  assert.equal(canvases[0].getContext('2d').notes.length, before);
});

test('its table has every cell with its words, its lines of Python the way and the pieces', () => {
  const {columns, rows} = table(data);
  assert.deepEqual(columns, ['model', 'query', 'key', 'value']);
  assert.deepEqual(rows.slice(0, 9), VALUES.map((v, i) => ['BERT', data.words[Math.floor(i / 3)], data.words[i % 3], v]));
  assert.deepEqual([rows.length, rows[9].slice(0, 3)], [18, ['ALBERT', 'cat', 'cat']]);
  const groups = [[0], [1], [2]];
  assert.deepEqual(constants(data), {WORDS: data.words, WAY: 'rollout', GROUPS: {BERT: groups, ALBERT: groups}});
});
