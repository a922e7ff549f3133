import assert from 'node:assert/strict';
import {afterEach, beforeEach, mock, test} from 'node:test';

import {click, enter, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {chosen} = await import('../../../assets/js/page/here.js');
const {show, table} = await import('../../../assets/js/parameters/build.js');

const said = {fields: {n_layers: 'Layers', d_model: 'Width'}, sharing: 'Sharing', modes: {none: 'nothing', all: 'all', ffn: 'feed-forward'}, pooler: 'Pooler',
  yes_no: {yes: 'yes', no: 'no'}, presets: 'Start from', start: {name: 'mine'}};
const presets = [{name: 'BERT', n_layers: 12, d_model: 768, sharing: 'none', has_pooler: true}, {name: 'ALBERT', n_layers: 6, d_model: 512, sharing: 'all',
  has_pooler: false}];

beforeEach(() => mock.timers.enable({apis: ['setTimeout']}));
afterEach(() => mock.timers.reset());

function open() {
  const root = place(), asked = [];
  show(root, {presets, texts: said}, {ask: question => asked.push(question.shape)});
  const [layers, width] = root.querySelectorAll('input'), [sharing, pooler] = root.querySelectorAll('select');
  return {root, asked, layers, width, sharing, pooler, preset: i => click(root.querySelectorAll('.chip')[i]), wait: ms => mock.timers.tick(ms)};
}

test('the form begins with the first model, and asks nothing by itself', () => {
  const {root, layers, width, sharing, pooler, asked, wait} = open();
  assert.deepEqual([layers.value, width.value, sharing.value, pooler.value], ['12', '768', 'none', 'yes']);
  assert.deepEqual(texts(root, 'label > span'), ['Layers', 'Width', 'Sharing', 'Pooler']);
  assert.deepEqual(texts(root, '.chips > *'), ['Start from', 'BERT', 'ALBERT']);
  assert.deepEqual([...sharing.options].map(one => [one.value, one.textContent]), [['none', 'nothing'], ['all', 'all'], ['ffn', 'feed-forward']]);
  assert.deepEqual([layers.type, layers.min, layers.step, layers.name], ['number', '0', '1', 'n_layers']);
  wait(1000);
  assert.deepEqual(asked, []);
});

test('what is typed is sent once it is quiet for a quarter of a second', () => {
  const {width, layers, asked, wait} = open();
  width.value = '1';
  width.dispatchEvent(new Event('input'));
  wait(249);
  layers.value = '3';
  layers.dispatchEvent(new Event('input'));
  wait(249);
  assert.deepEqual(asked, []);
  wait(1);
  assert.deepEqual(asked, [{name: 'mine', n_layers: 3, d_model: 1, sharing: 'none', has_pooler: true}]);
});

test('an empty field is no number', () => {
  const {width, asked, wait} = open();
  width.value = '';
  width.dispatchEvent(new Event('input'));
  wait(250);
  assert.equal(asked[0].d_model, null);
});

test('a menu is sent like a field', () => {
  const {sharing, pooler, asked, wait} = open();
  enter(sharing, 'ffn');
  wait(250);
  enter(pooler, 'no');
  wait(250);
  enter(pooler, 'yes');
  wait(250);
  assert.deepEqual(asked.map(shape => [shape.sharing, shape.has_pooler]), [['ffn', true], ['ffn', false], ['ffn', true]]);
});

test('a model’s button fills in all of its shape and asks', () => {
  const {layers, width, sharing, pooler, asked, wait, preset} = open();
  preset(1);
  assert.deepEqual([layers.value, width.value, sharing.value, pooler.value], ['6', '512', 'all', 'no']);
  wait(250);
  assert.deepEqual(asked, [presets[1]]);
  preset(0);
  assert.deepEqual([layers.value, sharing.value, pooler.value], ['12', 'none', 'yes']);
});

test('what was filled in is there when the form is drawn again', () => {
  const {layers, preset, pooler} = open();
  preset(1);
  layers.value = '9';
  layers.dispatchEvent(new Event('input'));
  const again = open();
  assert.deepEqual([again.layers.value, again.width.value, again.sharing.value, again.pooler.value, pooler.value], ['9', '512', 'all', 'no', 'no']);
});

test('Enter does not leave the page', () => {
  const {root} = open(), sent = new Event('submit', {cancelable: true});
  root.querySelector('form').dispatchEvent(sent);
  assert.ok(sent.defaultPrevented);
});

test('its table has the shapes to start from', () => {
  assert.deepEqual(table({presets}), {columns: ['name', 'n_layers', 'd_model', 'sharing', 'has_pooler'],
    rows: [['BERT', 12, 768, 'none', true], ['ALBERT', 6, 512, 'all', false]]});
});

test('the shape goes into the link and comes from there, and is asked for', () => {
  begun();
  const first = open();
  first.preset(0);
  first.layers.value = '4';
  first.layers.dispatchEvent(new Event('input'));
  first.preset(1);
  assert.equal(chosen('look'), 'shape:6.512.all.no');
  first.preset(0);
  assert.equal(chosen('look'), '', 'the first model is the usual one');
  begun({look: 'shape:3.64.ffn.yes'});
  const linked = open();
  assert.deepEqual([linked.layers.value, linked.width.value, linked.sharing.value, linked.pooler.value], ['3', '64', 'ffn', 'yes']);
  linked.wait(250);
  assert.deepEqual(linked.asked.map(({n_layers, d_model, sharing}) => [n_layers, d_model, sharing]), [[3, 64, 'ffn']]);
  begun();
  assert.equal(open().layers.value, '12', 'Back to no shape is the first model');
  for (const broken of ['3', '3.64.none', '3.64.other.yes', '1.2.3.none.yes']) {
    begun({look: `shape:${broken}`});
    const other = open();
    other.wait(1000);
    assert.deepEqual(other.asked, []);
  }
});
