import assert from 'node:assert/strict';
import {test} from 'node:test';

import {charts, click, enter, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {chosen} = await import('../../../assets/js/page/here.js');
const {show, table} = await import('../../../assets/js/parameters/embedding.js');

const pins = [{key: 'bert', name: 'BERT', v: 30522, h: 768, e: 768}, {key: 'albert', name: 'ALBERT', v: 30000, h: 768, e: 128}];
const said = {v: 'V', h: 'H', e: 'E', pins: 'models', note: 'note', chart: 'cost', here: 'here',
  saves: 'saves {share}: {split} for {plain}, until {even}', costs: 'costs {share}: {split} for {plain}, until {even}'};
const figures = [{layout: {height: 320}, data: [{name: 'two', x: [1, 64, 4096], y: []}, {name: 'one', x: [1, 64, 4096], y: []}, {name: 'models', x: [768, 128]},
  {name: 'mine', x: [], y: []}]}];
/** The picture on a page that a link has opened; null: as another picture left the page. */
function open(start = pins[1], link = {}) {
  if (link) begun(link);
  const root = place();
  show(root, {pins, start, figures, texts: said});
  const [v, h, e] = root.querySelectorAll('input');
  return {root, v, h, e, said: () => root.querySelector('.finding').textContent, pin: i => click(root.querySelectorAll('.chip')[i]),
    values: () => texts(root, 'output'), drawn: () => charts(root)[0].data};
}

test('the sentence compares one table with two, and says from where on two cost more', () => {
  // 30000 * 768 = 23.04 M; 30000 * 128 + 128 * 768 = 3.938 M: 82.9% less; 23.04 M / 30768 = 748.8
  assert.equal(open().said(), 'saves 82.9%: 3.94\u00a0M for 23.0\u00a0M, until 748');
});

test('a wide embedding costs more than one table', () => {
  const {e, said: sentence} = open();
  enter(e, '12');   // the stop of 768
  assert.equal(sentence(), 'costs 2.6%: 23.6\u00a0M for 23.0\u00a0M, until 748');
});

test('the sliders begin at the model and move by its stops', () => {
  const {v, h, e, values, said: sentence} = open();
  assert.deepEqual(values(), ['30,000', '768', '128']);
  enter(v, '0');
  assert.equal(values()[0], '1,000');
  enter(h, '0');
  assert.equal(values()[1], '64', 'no layer is narrower');
  enter(e, '0');
  assert.deepEqual([values()[2], sentence()], ['1', 'saves 98.3%: 1,064 for 64,000, until 60']);
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
  show(root, {pins: [{...pins[0], v: 119547}, pins[1]], start: {...pins[1], name: 'another'}, figures, texts: said});
  const [slider] = root.querySelectorAll('input'), [output] = root.querySelectorAll('output');
  const stops = Array.from({length: 14}, (_, i) => { enter(slider, String(i)); return output.textContent; });
  assert.deepEqual(stops, ['1,000', '2,000', '5,000', '10,000', '15,000', '20,000', '30,000', '30,522', '40,000', '60,000', '100,000', '119,547', '150,000',
    '250,000']);
});

test('a model’s button sets all three', () => {
  const {root, pin, values, said: sentence} = open();
  pin(0);
  assert.deepEqual([values(), [...root.querySelectorAll('input')].map(one => one.value)], [['30,522', '768', '768'], ['7', '6', '12']]);
  assert.match(sentence(), /^costs 2\.5%: 24\.0\u00a0M for 23\.4\u00a0M/);
  assert.deepEqual([...root.querySelectorAll('.chip')].map(one => [one.dataset.model, one.textContent]), [['bert', 'BERT'], ['albert', 'ALBERT']]);
});

test('the point here is named, unless a model stands there, which has its own name', () => {
  const {pin, drawn, e} = open(), mine = () => { const {x, y, text} = drawn()[3]; return [x[0], y[0], text[0]]; };
  assert.deepEqual(mine(), [128, 30000 * 128 + 128 * 768, '']);
  enter(e, '6');
  assert.deepEqual(mine(), [64, 30000 * 64 + 64 * 768, 'here']);
  pin(0);
  assert.deepEqual(mine(), [768, 30522 * 768 + 768 * 768, '']);
});

test('the curve is of two tables at every width of the view, the level line of one', () => {
  const {drawn, v, h} = open();
  enter(v, '3');
  enter(h, '0');                       // 10,000 by 64
  const [two, one, models] = drawn();
  assert.deepEqual([two.y, one.y], [[10064, 10064 * 64, 10064 * 4096], [640000, 640000, 640000]]);
  assert.equal(models, figures[0].data[2], 'the real models stay where they are');
});

test('what the reader chose stays, goes into the link and comes from there', () => {
  const {e} = open();
  enter(e, '0');
  assert.equal(chosen('look'), 'widths:30000.768.1');
  assert.deepEqual(open(pins[0], null).values(), ['30,000', '768', '1']);
  assert.deepEqual(open(pins[1], {look: 'widths:1000.64.2'}).values(), ['1,000', '64', '2']);
  for (const broken of ['1000', '1001.64.2', '1000.63.2', '1000.64.5']) assert.deepEqual(open(pins[1], {look: `widths:${broken}`}).values(), ['30,000', '768', '128']);
});

test('a model of other widths than the stops has its own, also where the picture begins with it', () => {
  const tiny = {key: 'bert', name: 'TinyBERT', v: 30522, h: 312, e: 312}, root = place();
  begun({});
  show(root, {pins: [tiny, pins[1]], start: pins[1], figures, texts: said});
  click(root.querySelectorAll('.chip')[0]);
  assert.deepEqual(texts(root, 'output'), ['30,522', '312', '312']);
  assert.match(root.querySelector('.finding').textContent, / for 9\.52\u00a0M, /, '30522 * 312');
  const own = {...tiny, h: 300, e: 300};
  begun({});
  show(root, {pins: [own], start: own, figures, texts: said});
  enter(root.querySelectorAll('input')[2], '0');
  assert.match(root.querySelector('.finding').textContent, /^saves .* for 9\.16\u00a0M, /, '30522 * 300');
});

test('the row of the choice has the numbers of the sentence', () => {
  const {pin, said: sentence} = open();
  pin(0);
  const row = table({numbers: {columns: [], rows: []}, pins, start: pins[1]}).rows[0];
  assert.deepEqual(row, ['chosen', 30522, 768, 768, 30522 * 768, 30522 * 768 + 768 * 768]);
  assert.match(sentence(), /^costs 2\.5%: 24\.0\u00a0M/);
});
