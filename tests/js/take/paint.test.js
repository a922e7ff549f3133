import assert from 'node:assert/strict';
import {test} from 'node:test';

import {box, PLAIN} from './laid.js';

const {bordered, inks, striped} = await import('../../../assets/js/take/paint.js');

const at = box(10, 20, 100, 40);
const said = node => Object.fromEntries(node.getAttributeNames().map(name => [name, node.getAttribute(name)]));
const style = changes => ({...PLAIN, ...changes});
const border = (sides, width, colour, line = 'solid') => Object.fromEntries(sides.flatMap(side =>
  [[`border${side}Width`, width], [`border${side}Color`, colour], [`border${side}Style`, line]]));

test('a colour is six digits and how opaque it is; nothing is no colour', () => {
  assert.deepEqual(inks('rgb(1, 2, 255)'), ['#0102ff', 1]);
  assert.deepEqual(inks('rgba(16, 32, 48, 0.2)'), ['#102030', .2]);
  assert.deepEqual(inks('rgba(1, 2, 3, 0)'), ['none', 0]);
  for (const none of ['', 'none', 'transparent']) assert.deepEqual(inks(none), ['none', 0]);
  assert.deepEqual(inks('inherit'), ['#000000', 1], 'not the colour before');
  assert.equal(inks('rgb(1, 2, 255)'), inks('rgb(1, 2, 255)'));
});

test('a box without a size or a colour is not drawn', () => {
  assert.deepEqual(striped(style({backgroundColor: '#ff0000'}), box(0, 0, 0, 5)), []);
  assert.deepEqual(striped(style({backgroundColor: '#ff0000'}), box(0, 0, 5, 0)), []);
  assert.deepEqual(striped(style({}), at), []);
});

test('a box of one colour, with its corners no rounder than half of it', () => {
  const [rect, ...more] = striped(style({backgroundColor: '#ff0000', borderTopLeftRadius: '8px'}), at);
  assert.deepEqual([said(rect), more], [{x: '10', y: '20', width: '100', height: '40', rx: '8', fill: '#ff0000'}, []]);
  assert.equal(striped(style({backgroundColor: '#ff0000', borderTopLeftRadius: '99px'}), at)[0].getAttribute('rx'), '20');
  assert.equal(striped(style({backgroundColor: '#ff0000', borderTopLeftRadius: '99px'}), box(0, 0, 10, 40))[0].getAttribute('rx'), '5');
  const [pale] = striped(style({backgroundColor: 'rgba(255, 0, 0, 0.4)'}), at);
  assert.deepEqual([pale.getAttribute('fill-opacity'), pale.getAttribute('rx')], ['0.400', null]);
});

test('a share of a box is filled from its left', () => {
  const found = striped(style({backgroundColor: '#ffffff', backgroundImage: 'linear-gradient(90deg, rgb(0, 0, 255) 25%, transparent 25%)'}), at);
  assert.deepEqual(found.map(rect => [rect.getAttribute('width'), rect.getAttribute('fill')]), [['100', '#ffffff'], ['25', '#0000ff']]);
});

test('a colour that changes to the right is a gradient of its stops', () => {
  const [ramp, rect, ...more] = striped(style({backgroundImage: 'linear-gradient(to right, rgba(0, 0, 0, 0), rgb(255, 0, 0) 25%, rgba(0, 0, 255, 0.4))'}), at);
  assert.deepEqual([...ramp.children].map(stop => ['offset', 'stop-color', 'stop-opacity'].map(name => stop.getAttribute(name))),
    [['0', '#ff0000', '0.000'], ['0.25', '#ff0000', null], ['1', '#0000ff', '0.400']]);
  assert.deepEqual([rect.getAttribute('fill'), rect.getAttribute('width'), more], [`url(#${ramp.id})`, '100', []]);
});

test('a shadow without blur is a line around the box, inside or outside', () => {
  const ring = boxShadow => bordered(style({boxShadow}), at).map(rect => ['x', 'width', 'stroke', 'stroke-width'].map(name => rect.getAttribute(name)));
  assert.deepEqual(ring('rgb(255, 0, 0) 0px 0px 0px 1px inset'), [['10.5', '99', '#ff0000', '1']]);
  assert.deepEqual(ring('rgb(255, 0, 0) 0px 0px 0px 2px'), [['9', '102', '#ff0000', '2']]);
  assert.deepEqual(ring('rgb(255, 0, 0) 0px 2px 4px 0px'), []);
});

test('stripes are a pattern of their two colours at their angle', () => {
  const striped45 = 'repeating-linear-gradient(135deg, rgb(0, 0, 255) 0px, rgb(0, 0, 255) 3px, rgba(255, 0, 0, 0.2) 3px, rgba(255, 0, 0, 0.2) 50%)';
  const [pattern, rect] = striped(style({backgroundImage: striped45}), at);
  assert.equal(pattern.getAttribute('patternTransform'), 'rotate(45)');
  assert.deepEqual([pattern.getAttribute('width'), pattern.getAttribute('height'), pattern.getAttribute('patternUnits')], ['6', '6', 'userSpaceOnUse']);
  assert.deepEqual([...pattern.children].map(one => ['x', 'width', 'height', 'fill', 'fill-opacity'].map(name => one.getAttribute(name))),
    [['0', '3', '6', '#0000ff', null], ['3', '3', '6', '#ff0000', '0.200']]);
  assert.equal(rect.getAttribute('fill'), `url(#${pattern.id})`);
  assert.equal(rect.getAttribute('width'), '100');
  const [again] = striped(style({backgroundImage: 'repeating-linear-gradient(rgb(1, 2, 3), rgb(3, 2, 1))'}), at);
  assert.notEqual(again.id, pattern.id);
  assert.equal(again.getAttribute('patternTransform'), 'rotate(-45)');
  assert.deepEqual(striped(style({backgroundImage: 'url(x.png)'}), at), []);
});

test('four borders alike are one frame inside the edge', () => {
  const [frame, ...more] = bordered(style({...border(['Top', 'Right', 'Bottom', 'Left'], '2px', 'rgba(0, 0, 255, 0.4)'), borderTopLeftRadius: '6px'}), at);
  assert.deepEqual(more, []);
  assert.deepEqual(said(frame), {x: '11', y: '21', width: '98', height: '38', rx: '6', fill: 'none', stroke: '#0000ff', 'stroke-opacity': '0.400',
    'stroke-width': '2'});
  const dashed = line => bordered(style(border(['Top', 'Right', 'Bottom', 'Left'], '2px', '#0000ff', line)), at)[0].getAttribute('stroke-dasharray');
  assert.deepEqual(['dashed', 'dotted', 'solid'].map(dashed), ['6 4', '2 2', null]);
  const [tiny] = bordered(style(border(['Top', 'Right', 'Bottom', 'Left'], '8px', '#0000ff')), box(0, 0, 4, 3));
  assert.deepEqual([tiny.getAttribute('width'), tiny.getAttribute('height'), tiny.getAttribute('rx')], ['0', '0', null]);
});

test('borders that differ are drawn each at its edge', () => {
  const places = style => bordered(style, at).map(one => ['x', 'y', 'width', 'height', 'fill'].map(name => one.getAttribute(name)));
  const four = {...border(['Top', 'Bottom'], '4px', '#00ff00'), ...border(['Right', 'Left'], '2px', '#00ff00')};
  assert.deepEqual(places(style(four)), [['10', '20', '100', '4', '#00ff00'], ['108', '20', '2', '40', '#00ff00'],
    ['10', '56', '100', '4', '#00ff00'], ['10', '20', '2', '40', '#00ff00']]);
  assert.equal(places(style({...border(['Top', 'Right', 'Bottom'], '2px', '#00ff00'), ...border(['Left'], '2px', '#0000ff')})).length, 4);
  assert.deepEqual(places(style({...border(['Top'], '2px', 'transparent'), ...border(['Left'], '2px', '#0000ff', 'none'), ...border(['Right'], '0px',
    '#0000ff')})), []);
});

test('a broken border is a line along the middle of its edge', () => {
  const places = side => {
    const [line] = bordered(style(border([side], '4px', '#00ff00', 'dashed')), at);
    return ['x1', 'x2', 'y1', 'y2', 'stroke', 'stroke-width', 'stroke-dasharray'].map(name => line.getAttribute(name));
  };
  assert.deepEqual(places('Top'), ['10', '110', '22', '22', '#00ff00', '4', '12 8']);
  assert.deepEqual(places('Bottom'), ['10', '110', '58', '58', '#00ff00', '4', '12 8']);
  assert.deepEqual(places('Left'), ['12', '12', '20', '60', '#00ff00', '4', '12 8']);
  assert.deepEqual(places('Right'), ['108', '108', '20', '60', '#00ff00', '4', '12 8']);
  assert.equal(bordered(style(border(['Top'], '4px', '#00ff00', 'dotted')), at)[0].getAttribute('stroke-dasharray'), '4 4');
});

test('an outline lies outside the box by its offset; the browser\'s own is left out', () => {
  const outline = changes => bordered(style({outlineStyle: 'solid', outlineWidth: '2px', outlineOffset: '3px', outlineColor: '#ff0000', ...changes}), at);
  const [frame] = outline({});
  assert.deepEqual(['x', 'y', 'width', 'height', 'stroke', 'stroke-width'].map(name => frame.getAttribute(name)), ['6', '16', '108', '48', '#ff0000', '2']);
  assert.equal(outline({outlineStyle: 'dotted'})[0].getAttribute('stroke-dasharray'), '2 2');
  for (const none of [{outlineStyle: 'auto'}, {outlineStyle: 'none'}, {outlineWidth: '0px'}]) assert.deepEqual(outline(none), []);
});
