import assert from 'node:assert/strict';
import {afterEach, beforeEach, mock, test} from 'node:test';

import {click, place, press, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {chosen} = await import('../../../assets/js/page/here.js');
const {clear, show, table} = await import('../../../assets/js/attention/switches.js');

const words = {all_on: 'all on', all_off: 'all off', strongest: 'the {n} strongest', weakest: 'weaker half', hint: 'Click.',
  scale: 'From {low} to {high} nats.',
  grid: 'heads of {model}', layer: 'layer {layer}', head: '{model} {layer}.{head}', on: 'on', off: 'off', alone: '{nats} nats', count: '{off} of {all} off'};
/** BERT has three layers of two heads, ALBERT two of three. */
const NATS = [[.4, .1], [0, .0004], [.025, .0996]], OTHER = [[.01, .02, .03], [.04, .05, .06]];
const data = (changes = {}) => ({text: 'a cat', texts: words, models: [{key: 'bert', label: 'BERT', layers: 3, heads: 2, nats: []},
  {key: 'albert', label: 'ALBERT', layers: 2, heads: 3, nats: []}, {key: 'mini', label: 'MINI', card: 'is not here'}], ...changes});
const swept = (changes = {}) => {
  const {models, ...rest} = data(changes);
  return {...rest, models: models.map((model, i) => (model.card ? model : {...model, nats: [NATS, OTHER][i]}))};
};

beforeEach(() => mock.timers.enable({apis: ['setTimeout']}));
afterEach(() => mock.timers.reset());

function open(given = data(), link = {}) {
  begun(link);
  const root = place(), asked = [], ask = question => asked.push(question);
  show(root, given, {ask});
  return {root, asked, again: next => show(root, next, {ask}), cell: (key, i) => root.querySelector(`[data-cell="${key}/${i}"]`),
    chip: text => [...root.querySelectorAll('.hs-chips button')].find(one => one.textContent === text),
    wait(ms = 120) { mock.timers.tick(ms); return asked.at(-1)?.off; },
    off: () => [...root.querySelectorAll('.hs-head.off')].map(one => one.dataset.cell), counts: () => texts(root, '.badge')};
}

test('every model has a switch for each head, layer by layer, and one that is not here says why', () => {
  const {root, cell} = open();
  assert.deepEqual([...root.querySelectorAll('.columns > section')].map(one => [one.dataset.model, one.className]),
    [['bert', 'hs-column'], ['albert', 'hs-column'], ['mini', 'card plain']]);
  assert.deepEqual([...root.querySelectorAll('[data-model=albert] .hs-row')].map(row => [...row.querySelectorAll('.hs-head')].map(one => one.dataset.cell)),
    [['albert/0', 'albert/1', 'albert/2'], ['albert/3', 'albert/4', 'albert/5']]);
  assert.deepEqual(texts(root, '[data-model=bert] .hs-layer'), ['1', '2', '3']);
  assert.equal(root.querySelectorAll('.hs-layer')[1].getAttribute('aria-label'), 'layer 2');
  assert.deepEqual([...root.querySelectorAll('.hs-grid')].map(one => one.getAttribute('aria-label')), ['heads of BERT', 'heads of ALBERT']);
  assert.match(root.querySelector('[data-model=albert] .hs-grid').style.gridTemplateColumns, /^30px repeat\(3, minmax\(16px, 1fr\)\)$/);
  assert.deepEqual(texts(root, '.card *'), ['MINI', 'is not here']);
  assert.equal(cell('bert', 5).getAttribute('aria-label'), 'BERT 3.2, on');
  assert.equal(cell('albert', 3).title, 'ALBERT 2.1, on');
});

test('before anything is measured there are no strongest heads and no scale', () => {
  const {root, cell} = open();
  assert.deepEqual(texts(root, '.hs-chips button'), ['all on', 'all off']);
  assert.deepEqual([texts(root, '.note'), cell('bert', 0).classList.contains('known')], [['Click.'], false]);
});

test('a head that was measured says what is lost without it and is as dark as the root of its share', () => {
  const {root, cell} = open(swept()), share = (key, i) => cell(key, i).style.getPropertyValue('--share');
  assert.deepEqual(texts(root, '.note'), ['Click.', 'From 0 to 0.40 nats.']);
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(i => share('bert', i)), ['100', '50', '0', '3', '25', '50']);
  assert.equal(share('albert', 5), '39');   // sqrt(.06 / .4)
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(i => cell('bert', i).title.split(', ')[2]),
    ['0.40 nats', '0.10 nats', '0 nats', '4.0×10⁻⁴ nats', '0.025 nats', '0.10 nats']);
  assert.ok(cell('bert', 2).classList.contains('known'));
});

test('three digits stand below a tenth, two from there on, powers of ten below a thousandth', () => {
  const nats = values => { const {cell} = open(data({models: [{key: 'a', label: 'A', layers: 1, heads: values.length, nats: [values]}]}));
    return values.map((_, i) => cell('a', i).title.split(', ')[2]); };
  assert.deepEqual(nats([.0995, .0994, .001, .00099]), ['0.10 nats', '0.099 nats', '0.001 nats', '9.9×10⁻⁴ nats']);
});

test('a layer that is still to be measured has no number yet', () => {
  const half = data();
  half.models[0].nats = [[.4, .1]];
  const {root, cell} = open(half);
  assert.deepEqual([cell('bert', 1).title, cell('bert', 2).title], ['BERT 1.2, on, 0.10 nats', 'BERT 2.1, on']);
  assert.deepEqual([1, 2].map(i => cell('bert', i).classList.contains('known')), [true, false]);
  assert.deepEqual(texts(root, '.hs-chips button'), ['all on', 'all off'], 'the strongest are not known');
});

test('where no head matters none is darker', () => {
  const {root, cell} = open(data({models: [{key: 'a', label: 'A', layers: 1, heads: 2, nats: [[0, 0]]}]}));
  assert.deepEqual([cell('a', 0).classList.contains('known'), texts(root, '.note')], [false, ['Click.']]);
});

test('a click turns a head off and on again; a run of clicks asks once', () => {
  const {cell, off, counts, asked, wait} = open();
  assert.deepEqual(counts(), ['0 of 6 off', '0 of 6 off']);
  click(cell('bert', 3));
  assert.deepEqual([off(), counts(), cell('bert', 3).title, cell('bert', 3).getAttribute('aria-selected')], [['bert/3'], ['1 of 6 off', '0 of 6 off'],
    'BERT 2.2, off', 'true']);
  wait(119);
  assert.equal(asked.length, 0);
  click(cell('albert', 5));
  click(cell('albert', 1));
  wait(119);
  assert.equal(asked.length, 0);
  assert.deepEqual(wait(1), {bert: [[1, 1]], albert: [[0, 1], [1, 2]]});
  click(cell('bert', 3));
  assert.deepEqual([off(), cell('bert', 3).getAttribute('aria-selected')], [['albert/1', 'albert/5'], 'false']);
  assert.deepEqual(wait(), {bert: [], albert: [[0, 1], [1, 2]]});
  assert.equal(asked.length, 2);
});

test('a layer’s name turns all its heads off, and on where all are off', () => {
  const {root, cell, off, wait} = open(), layer = root.querySelectorAll('[data-model=albert] .hs-layer')[1];
  click(cell('albert', 4));
  click(layer);
  assert.deepEqual(off(), ['albert/3', 'albert/4', 'albert/5']);
  assert.deepEqual(wait(), {bert: [], albert: [[1, 0], [1, 1], [1, 2]]});
  click(layer);
  assert.deepEqual(off(), []);
});

test('all heads, the five strongest or the weaker half go off together', () => {
  const {chip, off, wait, counts} = open(swept());
  click(chip('all off'));
  assert.deepEqual([off().length, counts()], [12, ['6 of 6 off', '6 of 6 off']]);
  click(chip('the 5 strongest'));
  assert.deepEqual(off(), [0, 1, 3, 4, 5].map(i => `bert/${i}`).concat([1, 2, 3, 4, 5].map(i => `albert/${i}`)));
  click(chip('weaker half'));
  assert.deepEqual(wait(), {bert: [[1, 0], [1, 1], [2, 0]], albert: [[0, 0], [0, 1], [0, 2]]});
  click(chip('all on'));
  assert.deepEqual([off(), wait()], [[], {bert: [], albert: []}]);
});

test('of an odd number of heads the weaker half is the smaller one', () => {
  const {chip, off} = open(data({models: [{key: 'a', label: 'A', layers: 1, heads: 3, nats: [[.2, .1, .3]]}]}));
  click(chip('weaker half'));
  assert.deepEqual(off(), ['a/1']);
});

test('the arrows walk the grid to its edges and take the tab stop along', () => {
  const {cell} = open(), at = () => document.activeElement.dataset.cell, stops = () => [0, 1, 2, 3, 4, 5].filter(i => cell('albert', i).tabIndex === 0);
  assert.deepEqual(stops(), [0]);
  cell('albert', 0).focus();
  const walk = (...keys) => keys.map(key => { press(document.activeElement, `Arrow${key}`); return at().slice(-1); }).join('');
  assert.equal(walk('Left', 'Up', 'Right', 'Right', 'Right', 'Down', 'Down', 'Left', 'Left', 'Left', 'Up'), '00122554330');
  walk('Down');
  assert.deepEqual(stops(), [3]);
  assert.deepEqual([press(cell('albert', 3), 'ArrowDown'), press(cell('albert', 3), 'Enter')], [false, true]);
});

test('the arrows on a layer’s name are the browser’s', () => {
  const {root} = open();
  assert.equal(press(root.querySelector('.hs-layer'), 'ArrowDown'), true);
});

test('what is off and in focus outlives new numbers for the same text', () => {
  const {cell, again, off} = open(swept());
  click(cell('albert', 4));
  cell('albert', 4).focus();
  again(swept());
  assert.deepEqual([off(), document.activeElement.dataset.cell], [['albert/4'], 'albert/4']);
  assert.equal(cell('albert', 4).title, 'ALBERT 2.2, off, 0.05 nats'.replace('0.05', '0.050'));
});

test('a clicked switch is in focus after new numbers where the page has it; elsewhere the focus stays', () => {
  const {root, cell, again} = open(swept()), outside = document.createElement('button');
  document.body.append(outside);
  click(cell('bert', 2));
  root.querySelector('.hs-layer').focus();
  again(swept());
  assert.equal(document.activeElement.dataset.cell, 'bert/2');
  outside.focus();
  again(swept());
  assert.equal(document.activeElement, outside);
});

test('another text begins with all heads on; the same switches again keep what is off, and ask for its sentence', () => {
  const {cell, again, off, wait, asked} = open(swept());
  click(cell('bert', 1));
  again(swept({text: 'a dog'}));
  assert.deepEqual(off(), []);
  click(cell('bert', 1));
  cell('bert', 1).focus();
  wait();
  const before = asked.length;
  again(data({text: 'a dog'}));   // a fold that was opened before the page's own response gets two responses
  assert.deepEqual([off(), document.activeElement.dataset.cell], [['bert/1'], 'bert/1']);
  wait();
  assert.deepEqual([asked.length, asked.at(-1).off], [before + 1, {bert: [[0, 1]], albert: []}]);
});

test('switches that are taken away ask no more and begin anew', () => {
  const {root, cell, asked, again, off, wait} = open(swept());
  click(cell('bert', 1));
  clear(root);
  assert.equal(root.childNodes.length, 0);
  wait();
  assert.equal(asked.length, 0);
  again(swept());
  assert.deepEqual(off(), ['bert/1'], 'as the link says');
});

test('what is off goes into the link and comes from there, for its own text alone', () => {
  const {cell, chip, again, counts} = open();
  for (const [key, i] of [['bert', 1], ['bert', 5], ['albert', 0]]) click(cell(key, i));
  const look = chosen('look');
  const linked = open(data(), {look});
  assert.deepEqual([linked.off(), linked.wait()], [['bert/1', 'bert/5', 'albert/0'], {bert: [[0, 1], [2, 1]], albert: [[0, 0]]}]);
  assert.deepEqual(open(data({text: 'a dog'}), {look}).off(), []);
  assert.deepEqual(open(data(), {look: `${look}zz`}).off().length > 0, true);
  click(chip('all on'));
  again(swept());
  assert.deepEqual(counts(), ['0 of 6 off', '0 of 6 off']);
});

test('what is too long for a link stays on the page', () => {
  const wide = data({models: [{key: 'bert', label: 'BERT', layers: 34, heads: 32, nats: []}]}), {chip, off, again} = open(wide);
  click(chip('all off'));
  assert.equal(chosen('look'), '');
  again(wide);
  assert.equal(off().length, 1088);
});

test('every head of a model that can be had has a row, counted from one, with what is lost without it', () => {
  const models = [{label: 'A', layers: 2, heads: 2, nats: [[.1, .2], [.3, .4]]},
    {card: 'not here'}, {label: 'B', layers: 1, heads: 2, nats: []}];
  assert.deepEqual(table({models}).rows, [['A', 1, 1, .1], ['A', 1, 2, .2], ['A', 2, 1, .3], ['A', 2, 2, .4],
    ['B', 1, 1, null], ['B', 1, 2, null]]);
});
