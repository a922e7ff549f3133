// A chart of 400 pixels, as it is drawn: names of three letters leave 35 pixels at the left, 24 stay free at the right, 14 above, 26 below.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, point, texts, widen, widthsLater} from '../dom.js';

widthsLater();
const {chart} = await import('../../../assets/js/kit/chart.js');

const LEFT = 35, RIGHT = 376, TOP = 14, BOTTOM = 164;
const NAMES = {range: [0, 4], ticks: [0, 2, 4], print: v => `${v}.0`};   // three letters each
const base = {xs: [0, 1, 2, 3, 4], y: NAMES, lines: [{label: 'A', model: 'bert', values: [0, 1, 2, 3, 4]}]};
const px = x => LEFT + (RIGHT - LEFT) * x / 4, py = y => BOTTOM - (BOTTOM - TOP) * y / 4;

function open(changes = {}, width = 400) {
  const root = place(), made = chart({...base, ...changes});
  root.append(made.node);
  const plot = root.querySelector('.ch-plot');
  widen(plot, width);
  const attributes = (selector, ...names) => [...root.querySelectorAll(selector)].map(node => names.map(name => {
    const text = node.getAttribute(name);
    return text !== null && text !== '' && Number.isFinite(Number(text)) ? Number(Number(text).toFixed(4)) : text;
  }));
  return {root, made, plot, attributes, path: selector => [...root.querySelectorAll(selector)].map(node => node.getAttribute('d')),
    legend: () => texts(root, '.ch-legend > *'), mark: () => root.querySelector('.ch-mark')};
}
const at = (x, y) => `${px(x).toFixed(1)} ${py(y).toFixed(1)}`;
const rounded = list => list.map(row => row.map(v => (typeof v === 'number' ? Number(v.toFixed(4)) : v)));

test('a line goes through its values', () => {
  const {path, attributes, root} = open();
  assert.deepEqual(path('.ch-line'), [`M${at(0, 0)}L${at(1, 1)}L${at(2, 2)}L${at(3, 3)}L${at(4, 4)}`]);
  assert.deepEqual(attributes('.ch-line', 'data-model', 'data-part', 'style', 'stroke-dasharray'), [['bert', null, null, null]]);
  assert.deepEqual(attributes('svg', 'width', 'height', 'role'), [[400, 190, 'img']]);
  assert.equal(root.querySelectorAll('.ch-dot').length, 0);
});

test('a line is broken where a value is missing, and one of none is drawn nowhere', () => {
  const lines = values => open({lines: [{label: 'A', values}]}).path('.ch-line')[0];
  assert.equal(lines([0, 1, null, 3, 4]), `M${at(0, 0)}L${at(1, 1)}M${at(3, 3)}L${at(4, 4)}`);
  assert.equal(lines([0, Infinity, 2, NaN, 4]), `M${at(0, 0)}M${at(2, 2)}M${at(4, 4)}`);
  assert.equal(lines([null, null, null, null, null]), 'M0 0');
});

test('a line has its own colour, its weight and its dashes', () => {
  const values = [0, 1, 2, 3, 4], {attributes} = open({readout: 'x', lines: [{label: 'A', values, colour: 'red', dash: true}, {label: 'B', values,
    part: 'ffn', dash: '7 4', weight: 'faint'}]});
  assert.deepEqual(attributes('.ch-line', 'style', 'data-part', 'stroke-dasharray', 'class').map(row => row.map(v => v?.trim?.() ?? v)),
    [['--own: red', null, '2 4', 'ch-line'], [null, 'ffn', '7 4', 'ch-line faint']]);
  assert.deepEqual(attributes('.ch-key', 'class'), [['ch-key dash'], ['ch-key dash']]);
  assert.deepEqual(open({readout: 'x'}).attributes('.ch-key', 'class'), [['ch-key']]);
});

test('a band runs along its upper ends and back along its lower ones', () => {
  const band = [[0, 2], [0, 3], null, [1, 4], [2, 4]], {path, attributes} = open({lines: [{label: 'A', model: 'bert', values: [1, 2, 2, 3, 3], band}]});
  assert.deepEqual(path('.ch-band'), [`M${at(0, 2)}L${at(1, 3)}L${at(1, 0)}L${at(0, 0)}Z`, `M${at(3, 4)}L${at(4, 4)}L${at(4, 2)}L${at(3, 1)}Z`]);
  assert.deepEqual(attributes('.ch-band', 'data-model'), [['bert'], ['bert']]);
});

test('every value has a dot where that is asked for', () => {
  const {attributes} = open({dotted: true, lines: [{label: 'A', values: [0, null, 2, NaN, 4]}]});
  assert.deepEqual(attributes('.ch-dot', 'cx', 'cy', 'r'), rounded([[px(0), py(0), 3.5], [px(2), py(2), 3.5], [px(4), py(4), 3.5]]));
});

test('the level axis has a line and a name for each round number', () => {
  const {attributes, root} = open();
  assert.deepEqual(attributes('.ch-grid', 'x1', 'x2', 'y1', 'y2'), [0, 2, 4].map(v => [LEFT, RIGHT, py(v), py(v)]));
  assert.deepEqual(attributes('text[text-anchor=end]', 'x', 'y'), [0, 2, 4].map(v => [LEFT - 8, py(v) + 4]));
  assert.deepEqual(texts(root, 'text[text-anchor=end]'), ['0.0', '2.0', '4.0']);
});

test('the level axis takes the room of its longest name', () => {
  const left = print => open({y: {...NAMES, print}}).attributes('.ch-grid', 'x1')[0][0];
  assert.deepEqual([left(v => String(v)), left(v => (v === 2 ? 'twenty' : 'x'))], [35, 14 + 7 * 6]);
});

test('the lower axis names round numbers below it, about one in 90 pixels', () => {
  const {attributes, root} = open();
  assert.deepEqual(attributes('text[text-anchor=middle]', 'x', 'y'), rounded([0, 1, 2, 3, 4].map(v => [px(v), BOTTOM + 18])));
  assert.deepEqual(texts(root, 'text[text-anchor=middle]'), ['0', '1', '2', '3', '4']);
  const names = width => texts(open({xs: [0, 40], lines: []}, width).root, 'text[text-anchor=middle]');
  assert.deepEqual([names(180), names(400), names(900)], [['0', '20', '40'], ['0', '10', '20', '30', '40'], ['0', '5', '10', '15', '20', '25', '30', '35',
    '40']]);
});

test('a name without room is left out', () => {
  const shown = (ticks, print) => texts(open({x: {range: [0, 341], ticks, print}}).root, 'text[text-anchor=middle]');   // a pixel each
  const four = () => 'four';   // 28 pixels, and 6 between
  assert.equal(shown([100, 134, 167, 168], four).length, 3);
  assert.equal(shown([100, 133], four).length, 1);
  assert.equal(shown([0], four).length, 1);
});

test('a title of the lower axis stands in its middle and takes room', () => {
  const {attributes, root} = open({x: {title: 'layer'}});
  assert.deepEqual([texts(root, '.ch-title'), attributes('.ch-title', 'x', 'y', 'text-anchor')], [['layer'], [[(LEFT + RIGHT) / 2, 186, 'middle']]]);
  assert.equal(attributes('.ch-grid', 'y1')[0][0], 190 - 42);
});

test('upright lines, level lines and names at the end of lines stand at their numbers', () => {
  const {attributes, root} = open({rules: [1], levels: [3], ends: [{y: 2, label: 'end'}]});
  assert.deepEqual(attributes('.ch-rule', 'x1', 'x2', 'y1', 'y2'), rounded([[px(1), px(1), TOP, BOTTOM]]));
  assert.deepEqual(attributes('.ch-level', 'x1', 'x2', 'y1', 'y2'), [[LEFT, RIGHT, py(3), py(3)]]);
  assert.deepEqual([texts(root, '.ch-name'), attributes('.ch-name', 'x', 'y', 'text-anchor')], [['end'], [[RIGHT - 4, py(2) - 8, 'end']]]);
});

test('a dot has its intervals, and its name where the corner is free', () => {
  const {attributes, root} = open({dots: [{x: 1, y: 2, model: 'bert', label: 'left', across: [0, 2], up: [1, 3], hollow: true}, {x: 3, y: 3, r: 9,
    label: 'right'}]});
  assert.deepEqual(attributes('.ch-dot', 'cx', 'cy', 'r', 'class', 'data-model'),
    rounded([[px(1), py(2), 5, 'ch-dot hollow', 'bert'], [px(3), py(3), 9, 'ch-dot', null]]));
  assert.deepEqual(attributes('.ch-whisker', 'x1', 'x2', 'y1', 'y2', 'data-model'),
    rounded([[px(0), px(2), py(2), py(2), 'bert'], [px(1), px(1), py(1), py(3), 'bert']]));
  assert.deepEqual(attributes('.ch-name', 'x', 'y', 'text-anchor'), rounded([[px(1) + 10, py(2) - 9, 'start'], [px(3) - 10, py(3) - 9, 'end']]));
  assert.deepEqual(texts(root, '.ch-name'), ['left', 'right']);
  const anchor = x => open({x: {range: [0, 341]}, dots: [{x, y: 1, label: 'dot'}]}).attributes('.ch-name', 'text-anchor')[0][0];
  assert.deepEqual([anchor(130), anchor(131)], ['start', 'end']);
});

test('the chart says what it shows', () => {
  const label = changes => open(changes).attributes('svg', 'aria-label')[0][0];
  assert.deepEqual([label({title: 'title'}), label({title: 'title', label: 'label'})], ['title', 'label']);
  assert.deepEqual([texts(open({title: 'title'}).root, 'figcaption'), texts(open().root, 'figcaption')], [['title'], []]);
});

test('the legend reads every line at the last place, or at the mark', () => {
  const lines = [{label: 'A', model: 'bert', values: [0, .5, .25, 3, 4]}, {label: 'B', values: [4, 3, null, 1, 0]}], {legend, root, made, mark,
    attributes} = open({lines, readout: 'layer'});
  assert.deepEqual([legend(), mark().style.display], [['A 4', 'B 0', 'layer 4'], 'none']);
  assert.equal(root.querySelector('.ch-item').dataset.model, 'bert');
  made.mark(2);
  assert.deepEqual([legend(), mark().style.display], [['A 0.25', 'B –', 'layer 2'], '']);
  assert.deepEqual(attributes('.ch-mark', 'x1', 'x2', 'y1', 'y2'), rounded([[px(2), px(2), TOP, BOTTOM]]));
  made.mark(1.4);
  assert.equal(legend()[2], 'layer 1');
  made.mark(null);
  assert.equal(mark().style.display, 'none');
  assert.deepEqual(open({lines, readout: 'layer', mark: 1}).legend(), ['A 0.5', 'B 3', 'layer 1']);
  assert.deepEqual(open({lines, readout: 'at', mark: 1, x: {print: v => `<${v}>`}}).legend()[2], 'at <1>');
  assert.deepEqual(open({lines}).legend(), []);
});

test('a mark outside of the axis is not drawn, at its ends it is', () => {
  const seen = mark => open({readout: 'x', mark}).mark().style.display === '';
  assert.deepEqual([-.1, 0, 4, 4.1].map(seen), [false, true, true, false]);
});

test('the nearest place by ratio is read where the axis is logarithmic', () => {
  const {legend} = open({xs: [1, 10, 100], x: {log: true}, lines: [{label: 'A', values: [1, 2, 3]}], readout: 'x', mark: 40});
  assert.deepEqual(legend(), ['A 3', 'x 100']);
});

test('a chart of no places has no place to read', () => {
  assert.deepEqual(open({xs: [], lines: [{label: 'A', values: []}], readout: 'x'}).legend(), ['A –']);
});

test('the place under the pointer is read instead, until it leaves', () => {
  const {plot, legend, mark} = open({readout: 'x', mark: 0});
  point(plot, 'pointermove', px(2) + 20);
  assert.deepEqual([legend(), Number(mark().getAttribute('x1')).toFixed(1)], [['A 2', 'x 2'], px(2).toFixed(1)]);
  point(plot, 'pointermove', 9999);
  assert.equal(legend()[1], 'x 4');
  plot.dispatchEvent(new Event('pointerleave'));
  assert.equal(legend()[1], 'x 0');
});

test('a chart without a legend does not follow the pointer', () => {
  const {plot, mark} = open();
  point(plot, 'pointermove', px(2));
  assert.equal(mark().style.display, 'none');
});

test('new values are drawn at once, in the same place', () => {
  const {made, path, root, attributes} = open({title: 'old'});
  made.set({lines: [{label: 'B', values: [4, 4, 4, 4, 4]}], title: 'new'});
  assert.equal(path('.ch-line')[0].startsWith(`M${at(0, 4)}`), true);
  assert.deepEqual([texts(root, 'figcaption'), attributes('svg', 'aria-label')], [['new'], [['new']]]);
});

test('it is drawn anew for another width only', () => {
  const {plot, root} = open(), first = root.querySelector('svg');
  widen(plot, 400);
  assert.equal(root.querySelector('svg'), first);
  widen(plot, 500);
  assert.equal(root.querySelector('svg').getAttribute('width'), '500');
  widen(plot, 0);
  assert.equal(root.querySelector('svg').getAttribute('width'), '500', 'in a closed fold it stays');
});

test('in a closed fold a chart is drawn as it was, or 320 wide', () => {
  const {plot, made, attributes} = open();
  Object.defineProperty(plot, 'clientWidth', {configurable: true, value: 0});
  made.set({});
  assert.equal(attributes('svg', 'width')[0][0], 400);
  const fresh = chart(base), holder = fresh.node.querySelector('.ch-plot');
  Object.defineProperty(holder, 'clientWidth', {configurable: true, value: 0});
  fresh.set({});
  assert.equal(holder.querySelector('svg').getAttribute('width'), '320');
});
