import assert from 'node:assert/strict';
import {test} from 'node:test';

import {COLOURS, painter} from './small.js';

const {css, headImage, paletteOf} = await import('../../../assets/js/attention/colours.js');

const hex = name => [1, 3, 5].map(i => parseInt(COLOURS[name].slice(i, i + 2), 16));
const parts = c => [c & 255, c >>> 8 & 255, c >>> 16 & 255];
const part = (a, b, share) => a.map((v, i) => Math.round(v * (1 - share) + b[i] * share));
const between = (c, [a, b]) => parts(c).every((v, i) => v >= Math.min(a[i], b[i]) - 1 && v <= Math.max(a[i], b[i]) + 1);
const root = painter(), [light, dark] = [false, true].map(night => paletteOf(root, ['bert', 'albert'], night));
const WHITE = [255, 255, 255], BLACK = [0, 0, 0];

test('the page’s colours are the style sheet’s', () => {
  assert.deepEqual([light.ink, light.soft, light.line, light.panel, light.paper, light.accent],
    ['rgb(0,0,0)', 'rgb(102,102,102)', 'rgb(204,204,204)', 'rgb(255,255,255)', 'rgb(250,250,250)', 'rgb(255,136,0)']);
  assert.deepEqual(light.text, {bert: 'rgb(0,0,200)', albert: 'rgb(200,0,0)'});
  assert.equal(css([1.4, 2.6, 3]), 'rgb(1,3,3)');
});

test('a model’s ramp runs from the panel through its colour, 256 steps, and no step is seen through', () => {
  for (const {ramps} of [light, dark]) {
    assert.deepEqual(Object.keys(ramps), ['bert', 'albert']);
    for (const key of ['bert', 'albert']) {
      assert.equal(ramps[key].length, 256);
      assert.ok(ramps[key].every(c => c >>> 24 === 255));
    }
  }
});

test('the light ramp ends near the panel and near black, and passes its stops on the way', () => {
  for (const key of ['bert', 'albert']) {
    const ramp = light.ramps[key], panel = hex('panel'), fill = hex(`column-${key}-fill`), strong = hex(`column-${key}`);
    assert.deepEqual(parts(ramp[0]), part(panel, fill, .05));
    assert.deepEqual(parts(ramp[255]), part(strong, BLACK, .55));
    const stops = [part(panel, fill, .05), part(panel, fill, .55), part(fill, strong, .6), part(strong, BLACK, .55)];
    [[10, 0], [110, 0], [118, 1], [185, 1], [195, 2], [250, 2]].forEach(([at, from]) => assert.ok(between(ramp[at], stops.slice(from, from + 2)), `${at}`));
    parts(ramp[115]).forEach((v, i) => assert.ok(Math.abs(v - stops[1][i]) <= 2));
    parts(ramp[191]).forEach((v, i) => assert.ok(Math.abs(v - stops[2][i]) <= 2));
  }
});

test('the dark ramp ends near white', () => {
  const ramp = dark.ramps.bert, panel = hex('panel'), fill = hex('column-bert-fill'), strong = hex('column-bert');
  assert.deepEqual(parts(ramp[0]), part(panel, fill, .1));
  assert.deepEqual(parts(ramp[255]), part(strong, WHITE, .72));
  parts(ramp[115]).forEach((v, i) => assert.ok(Math.abs(v - part(panel, fill, .62)[i]) <= 2));
  parts(ramp[191]).forEach((v, i) => assert.ok(Math.abs(v - strong[i]) <= 2));
  assert.ok(between(ramp[153], [part(panel, fill, .62), strong]) && between(ramp[223], [strong, part(strong, WHITE, .72)]));
});

test('halfway between two stops a ramp is halfway between their colours', () => {
  const half = part(part(hex('panel'), hex('column-bert-fill'), .05), part(hex('panel'), hex('column-bert-fill'), .55), .5);
  const at = .225 * 255, [low, high] = [Math.floor(at), Math.ceil(at)].map(i => parts(light.ramps.bert[i]));
  half.forEach((v, i) => assert.ok(v <= low[i] + 1 && v >= high[i] - 1));
});

test('a difference runs from the second model over nothing to the first', () => {
  for (const [palette, away, share] of [[light, BLACK, .15], [dark, WHITE, .25]]) {
    const ramp = palette.diverging('column-bert', 'column-albert');
    assert.equal(ramp.length, 511);
    assert.deepEqual(parts(ramp[0]), part(hex('column-albert'), away, share));
    assert.deepEqual(parts(ramp[510]), part(hex('column-bert'), away, share));
    assert.deepEqual(parts(ramp[255]), part(hex('panel'), hex('ink'), .04));
    parts(ramp[127]).forEach((v, i) => assert.ok(Math.abs(v - part(hex('panel'), hex('column-albert-fill'), .6)[i]) <= 2));
    parts(ramp[383]).forEach((v, i) => assert.ok(Math.abs(v - part(hex('panel'), hex('column-bert-fill'), .6)[i]) <= 2));
  }
});

test('a head’s image has one pixel a cell, in its model’s colours', () => {
  const bytes = Uint8Array.of(9, 9, 9, 9, 0, 85, 170, 255), wall = {size: 2, models: [{key: 'albert', bytes: []}, {key: 'bert', bytes}]};
  const tile = headImage(wall, {m: 1, i: 1}, light);
  assert.deepEqual([tile.width, tile.height], [2, 2]);
  const put = tile.getContext('2d').notes.find(note => note[0] === 'putImageData');
  assert.deepEqual([...new Uint32Array(put[1].data.buffer)], [0, 85, 170, 255].map(byte => light.ramps.bert[byte]));
  assert.deepEqual([put[1].width, put[1].height, put[2], put[3]], [2, 2, 0, 0]);
});
