import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, enter, place, texts} from '../dom.js';

const {show, table} = await import('../../../assets/js/parameters/embedding.js');

const pins = [{key: 'bert', name: 'BERT', v: 30522, h: 768, e: 768}, {key: 'albert', name: 'ALBERT', v: 30000, h: 768, e: 128}];
const said = {v: 'V', h: 'H', e: 'E', pins: 'models', note: 'note', chart: 'cost', here: 'here',
  saves: 'saves {share} %: {split} for {plain}, until {even}', costs: 'costs {share} %: {split} for {plain}, until {even}'};
let turn = 0;
/** The picture for models that were not seen before, so that it begins with their own shape. */
function open(start = {...pins[1], name: `ALBERT ${turn++}`}) {
  const root = place();
  show(root, {pins, start, texts: said});
  const [v, h, e] = root.querySelectorAll('input');
  return {root, v, h, e, said: () => root.querySelector('.finding').textContent, pin: i => click(root.querySelectorAll('.chip')[i]),
    values: () => texts(root, 'output'), labels: () => texts(root, 'svg .ch-name'), dots: () => [...root.querySelectorAll('svg .ch-dot')]};
}

test('the sentence compares one table with two, and says from where on two cost more', () => {
  // 30000 * 768 = 23.04 M; 30000 * 128 + 128 * 768 = 3.938 M: 82.9 % less; 23.04 M / 30768 = 748.8
  assert.equal(open().said(), 'saves 82.9 %: 3.94 M for 23.0 M, until 748');
});

test('a wide embedding costs more than one table', () => {
  const {e, said: sentence} = open();
  enter(e, '12');   // the stop of 768
  assert.equal(sentence(), 'costs 2.6 %: 23.6 M for 23.0 M, until 748');
});

test('the sliders begin at the model and move by its stops', () => {
  const {v, h, e, values, said: sentence} = open();
  assert.deepEqual(values(), ['30,000', '768', '128']);
  enter(v, '0');
  assert.equal(values()[0], '1,000');
  enter(h, '0');
  assert.equal(values()[1], '64', 'no layer is narrower');
  enter(e, '0');
  assert.deepEqual([values()[2], sentence()], ['1', 'saves 98.3 %: 1,064 for 64,000, until 60']);
  assert.deepEqual([v.max, h.max, e.max], ['12', '11', '17']);
  enter(v, '12');
  enter(h, '11');
  enter(e, '17');
  assert.deepEqual(values(), ['250,000', '4,096', '4,096']);
});

test('a width and an embedding stop at powers of two and halfway between the large ones', () => {
  const {h, e, root} = open(), printed = i => root.querySelectorAll('output')[i].textContent;
  const stops = (slider, i) => Array.from({length: Number(slider.max) + 1}, (_, at) => { enter(slider, String(at)); return Number(printed(i).replace(',',
    '')); });
  const wide = [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
  assert.deepEqual([stops(h, 1), stops(e, 2)], [wide, [1, 2, 4, 8, 16, 32, ...wide]]);
});

test('the stops of a vocabulary hold the models’ own, in order', () => {
  const root = place();
  show(root, {pins: [{...pins[0], v: 119547}, pins[1]], start: {...pins[1], name: 'another'}, texts: said});
  const [slider] = root.querySelectorAll('input'), [output] = root.querySelectorAll('output');
  const stops = Array.from({length: 14}, (_, i) => { enter(slider, String(i)); return output.textContent; });
  assert.deepEqual(stops, ['1,000', '2,000', '5,000', '10,000', '15,000', '20,000', '30,000', '30,522', '40,000', '60,000', '100,000', '119,547', '150,000',
    '250,000']);
});

test('a model’s button sets all three', () => {
  const {root, pin, values, said: sentence} = open();
  pin(0);
  assert.deepEqual([values(), [...root.querySelectorAll('input')].map(one => one.value)], [['30,522', '768', '768'], ['7', '6', '12']]);
  assert.match(sentence(), /^costs 2\.5 %: 24\.0 M for 23\.4 M/);
  assert.deepEqual([...root.querySelectorAll('.chip')].map(one => [one.dataset.model, one.textContent]), [['bert', 'BERT'], ['albert', 'ALBERT']]);
});

test('the dot here has the name of the model it is, where that has two tables', () => {
  const {pin, labels, e} = open();
  assert.deepEqual(labels(), ['ALBERT']);
  enter(e, '6');
  assert.deepEqual(labels(), ['here']);
  pin(0);
  assert.deepEqual(labels(), ['here'], 'BERT has one table: the dot of two stands beside it');
});

test('the other models stand as what they store', () => {
  const {dots, pin} = open(), at = dot => ['cx', 'cy'].map(name => Number(dot.getAttribute(name)));
  assert.deepEqual(dots().map(dot => dot.getAttribute('data-model')), ['bert', null]);
  assert.deepEqual(dots().map(dot => dot.getAttribute('r')), ['4', '7']);
  pin(0);
  const [albert, here] = dots();
  assert.equal(dots().length, 2);
  assert.equal(albert.getAttribute('data-model'), 'albert');
  // from 1e9 down to 3e4, logarithmic; BERT's dot of two tables is higher than ALBERT's by the ratio of both
  const ratio = Math.log((30522 * 768 + 768 * 768) / (30000 * 128 + 128 * 768)) / Math.log(1e9 / 3e4);
  const [, top] = [0, 14], bottom = 300 - 42;
  assert.ok(Math.abs(at(albert)[1] - at(here)[1] - ratio * (bottom - top)) < 1e-6);
  const across = Math.log(768 / 128) / Math.log(4096), left = 14 + 7 * 7, right = 640 - 24;   // “100.0 M” takes seven letters
  assert.ok(Math.abs(at(here)[0] - at(albert)[0] - across * (right - left)) < 1e-6);
});

test('a model of one table stands at one table', () => {
  const {dots, root} = open(), [bert] = dots(), bottom = 258;
  const height = bottom - (bottom - 14) * Math.log(30522 * 768 / 3e4) / Math.log(1e9 / 3e4);
  assert.ok(Math.abs(Number(bert.getAttribute('cy')) - height) < 1e-6);
  assert.equal(root.querySelector('svg').getAttribute('aria-label'), 'cost');
});

test('the curve is of two tables from 1 to 4096, the level line of one', () => {
  const {root, v, h} = open();
  enter(v, '3');
  enter(h, '0');                       // 10,000 by 64
  const [split, plain] = [...root.querySelectorAll('.ch-line')].map(one => one.getAttribute('d').slice(1).split('L').map(at => at.split(' ').map(Number)));
  const y = value => 258 - 244 * Math.log(value / 3e4) / Math.log(1e9 / 3e4), near = (a, b) => assert.ok(Math.abs(a - b) <= .06, `${a} ${b}`);
  assert.equal(split.length, 97);
  near(split[96][1], y(10064 * 4096));
  near(split[48][1], y(10064 * 64));
  near(split[0][1], 258);              // 10,064 is below the least that is shown
  plain.forEach(at => near(at[1], y(640000)));
  near(split[48][0], (split[0][0] + split[96][0]) / 2);
  assert.deepEqual([...root.querySelectorAll('.ch-line')].map(one => one.getAttribute('stroke-dasharray')), [null, '6 4']);
});

test('the axes name round numbers', () => {
  const names = texts(open().root, 'svg text').slice(0, 14);
  assert.deepEqual(names, ['0.10 M', '1.00 M', '10.0 M', '100.0 M', '1.0 G', '1', '4', '16', '64', '128', '256', '768', '2,048', '4,096']);
});

test('what the reader chose stays for the same models and goes with them', () => {
  const start = {...pins[1], name: 'kept'}, {e} = open(start);
  enter(e, '0');
  assert.deepEqual(open(start).values(), ['30,000', '768', '1']);
  assert.deepEqual(open({...start, name: 'new'}).values(), ['30,000', '768', '128']);
});

test('its table has what each model stores and what one table would', () => {
  assert.deepEqual(table({pins}), {columns: ['model', 'vocabulary', 'hidden', 'embedding', 'one_table', 'stored'],
    rows: [['BERT', 30522, 768, 768, 23440896, 23440896], ['ALBERT', 30000, 768, 128, 23040000, 3938304]]});
});
