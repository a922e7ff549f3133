import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, texts, widen, widthsLater} from '../dom.js';

widthsLater();
const {captioned, closest, el, find, fine, make, resize, say, sayNodes, sized, stacks, svg, vary, word} = await import('../../../assets/js/kit/dom.js');

test('an attribute that is empty is left out, one that is true is set, and a string is never markup', () => {
  const node = make('p', {class: 'a', title: null, lang: undefined, hidden: true, dir: false, 'data-n': 0}, '<b>', null, false, make('i'), undefined, 0);
  assert.equal(node.outerHTML, '<p class="a" hidden="" data-n="0">&lt;b&gt;<i></i>0</p>');
  assert.equal(make('b', {text: '<i>'}).outerHTML, '<b>&lt;i&gt;</b>');
  assert.equal(make('br').attributes.length, 0);
});

test('a drawing’s parts are of SVG', () => {
  const node = svg('line', {x1: 0, class: null}, svg('title'));
  assert.deepEqual([node.namespaceURI, node.getAttribute('x1'), node.hasAttribute('class'), node.firstChild.namespaceURI],
    ['http://www.w3.org/2000/svg', '0', false, 'http://www.w3.org/2000/svg']);
});

test('an element has a class where it is given one, and its text', () => {
  const node = el('td', 'n', 5, {scope: 'row'});
  assert.deepEqual([node.className, node.textContent, node.getAttribute('scope')], ['n', '5', 'row']);
  assert.equal(el('i', '').hasAttribute('class'), false);
  assert.equal(word('cat').outerHTML, '<em class="w" translate="no">cat</em>');
  assert.deepEqual(['.', '', '…', '2', 'é', '日', '\'s'].map(text => word(text).textContent), ['“.”', '“”', '“…”', '2', 'é', '日', '\'s']);
});

test('holes of a sentence are filled, those without a value stay', () => {
  assert.equal(say('{n} of {all}, {n} {none}', {n: 0, all: 5}), '0 of 5, 0 {none}');
  const b = make('b');
  assert.deepEqual(sayNodes('a {x} c {y}', {x: b, y: 2}), ['a ', b, ' c ', 2, '']);
});

test('a table’s cells know their column’s name', () => {
  const root = place();
  root.innerHTML = '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><th>1</th><td>2</td></tr><tr><th>3</th><td>4</td></tr></tbody></table>';
  assert.equal(stacks(root), root);
  assert.deepEqual([...root.querySelectorAll('tbody tr > *')].map(cell => cell.dataset.label), ['A', 'B', 'A', 'B']);
  assert.ok(root.classList.contains('stacks'));
  const figure = captioned('said', root);
  assert.deepEqual([figure.className, texts(figure, 'figcaption'), figure.lastChild], ['tabled', ['said'], root]);
});

test('a picture is drawn for each new width, in whole pixels, and not in a closed fold', () => {
  const node = place(), widths = [], again = sized(node, width => widths.push(width));
  widen(node, 300.9);
  widen(node, 300.2);
  widen(node, 0);
  again();
  widen(node, 300);
  widen(node, 301);
  assert.deepEqual(widths, [300, 301]);
  again();
  assert.deepEqual(widths, [300, 301, 301]);
});

test('a canvas has a pixel for each of the screen’s, three for one at most', () => {
  const canvas = make('canvas'), ratio = dense => {
    globalThis.devicePixelRatio = dense;
    const pen = resize(canvas, 100, 50);
    return [canvas.width, canvas.height, pen.notes.at(-1)[1], pen.notes.at(-1)[4]];
  };
  assert.deepEqual([ratio(1), ratio(1.25), ratio(2), ratio(4), ratio(.5), ratio(0)],
    [[100, 50, 1, 1], [125, 63, 1.25, 1.25], [200, 100, 2, 2], [300, 150, 3, 3], [100, 50, 1, 1], [100, 50, 1, 1]]);
  assert.deepEqual([canvas.style.width, canvas.style.height], ['100px', '50px']);
  ratio(2);
  assert.deepEqual(canvas.getContext('2d').notes.at(-1), ['setTransform', 2, 0, 0, 2, 0, 0]);
  ratio(1);
  resize(canvas, 0, 0);
  assert.deepEqual([canvas.width, canvas.height], [1, 1]);
});

test('what is taken away is drawn twice as fine at least', () => {
  const canvas = make('canvas'), width = dense => { globalThis.devicePixelRatio = dense; resize(canvas, 100, 50); return canvas.width; };
  fine(true);
  assert.deepEqual([width(1), width(3)], [200, 300]);
  fine(false);
  assert.equal(width(1), 100);
});

test('the element around an event is found, and none where it has no element', () => {
  const root = place();
  root.innerHTML = '<p class="a"><b></b></p>';
  const b = find(root, 'b');
  assert.deepEqual([closest({target: b}, '.a')?.className, closest({target: b}, '.x'), closest({target: document}, '.a')], ['a', null, null]);
  vary(b, '--share', .5);
  assert.equal(b.style.getPropertyValue('--share'), '0.5');
});
