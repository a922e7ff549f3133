import assert from 'node:assert/strict';
import {test} from 'node:test';

import {lay, laid} from './laid.js';

const {drawing, pixels} = await import('../../../assets/js/take/drawing.js');

const red = {backgroundColor: '#ff0000'};
lay(document.body, [0, 0, 1000, 1000], {'--paper': '#fffffe', '--ink-soft': '#606060'});

function drawn(root, said = {}) {
  const {text, width, height} = drawing(root, {title: 'Title', caption: [], about: {date: 'd'}, ...said});
  return {svg: new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, text, width, height};
}
const names = (node, ...wanted) => wanted.map(name => node.getAttribute(name));
const texts = svg => [...svg.querySelectorAll('text')].map(node => [node.textContent, ...names(node, 'x', 'y', 'textLength')]);
const rects = svg => [...svg.querySelectorAll(':scope > g rect')].filter(node => !node.closest('clipPath')).map(node => names(node, 'x', 'y', 'width',
  'height').map(Number));

test('the picture is as large as what is drawn and a margin, on paper, moved to its corner', () => {
  const {svg, width, height} = drawn(laid('div', [100, 50, 400.5, 200], red));
  assert.deepEqual([width, height], [401 + 32, 200 + 16 + 32]);
  assert.deepEqual(names(svg, 'width', 'height', 'viewBox'), ['433', '248', '0 0 433 248']);
  assert.deepEqual(names(svg.querySelector(':scope > rect'), 'width', 'height', 'fill'), ['433', '248', '#fffffe']);
  assert.equal(svg.querySelector(':scope > g').getAttribute('transform'), 'translate(-84 -34)');
  assert.equal(drawn(laid('div', [0, 0, 10, 10], red)).width, 352);
});

test('it says what it is, and below itself where it is from, in lines that fit', () => {
  const {svg, height} = drawn(laid('div', [0, 0, 400, 200], red), {title: 'A & B', about: {text: '<x>'}, caption: ['short', `${'a rd '.repeat(15)}`,
    'x'.repeat(90)]});
  assert.equal(svg.querySelector('title').textContent, 'A & B');
  assert.deepEqual(JSON.parse(svg.querySelector('metadata').textContent), {text: '<x>'});
  const lines = [...svg.querySelectorAll(':scope > text')];
  assert.deepEqual(lines.map(line => line.textContent), ['short', Array(13).fill('a rd').join(' '), 'a rd a rd', 'x'.repeat(40), 'x'.repeat(50)]);
  assert.deepEqual(lines.map(line => names(line, 'x', 'y', 'fill')), [0, 1, 2, 3, 4].map(i => ['16', String(216 + 16 + 15 * (i + 1) - 4), '#606060']));
  assert.equal(height, 216 + 5 * 15 + 32);
});

test('no sign of two units is cut in two, so that a picture can be made of the lines', () => {
  const {text} = drawn(laid('div', [0, 0, 400, 200], red), {caption: [`Wow${'😀'.repeat(60)}`]});
  assert.equal(text.match(/😀/gu).length, 60);
  assert.ok(text.isWellFormed());
});

test('words of a line are one text at its place; a line that is broken is two', () => {
  const {svg} = drawn(laid('p', [10, 20, 60, 20], {}, 'two cats sat'));   // ten letters a line
  assert.deepEqual(texts(svg), [['two cats s', '10.00', '28.00', '60.00'], ['at', '10.00', '38.00', '12.00']]);
  const [text] = svg.querySelectorAll('text');
  assert.deepEqual(names(text, 'fill', 'font-family', 'font-size', 'font-weight', 'font-style', 'text-decoration', 'lengthAdjust', 'fill-opacity'),
    ['#000000', 'serif', '10px', '400', null, null, 'spacingAndGlyphs', null]);
  assert.deepEqual(texts(drawn(laid('p', [0, 0, 60, 9], {}, 'a  b')).svg), [['a b', '0.00', '8.00', '24.00']]);
  assert.deepEqual(texts(drawn(laid('p', [0, 0, 60, 9], red, '  ')).svg), []);
});

test('letters are written as the style sheet has them', () => {
  const one = style => drawn(laid('p', [0, 0, 600, 10], style, 'Word')).svg.querySelector('text');
  assert.equal(one({textTransform: 'uppercase'}).textContent, 'WORD');
  assert.equal(one({textTransform: 'lowercase'}).textContent, 'word');
  assert.deepEqual(names(one({fontStyle: 'italic', fontWeight: '700', color: 'rgba(255, 0, 0, 0.4)', textDecorationLine: 'line-through'}),
    'font-style', 'font-weight', 'fill', 'fill-opacity', 'text-decoration'), ['italic', '700', '#ff0000', '0.4', 'line-through']);
});

test('a sign that the style sheet writes before a word stands at its start', () => {
  const {svg} = drawn(laid('p', [10, 20, 60, 12], {...red, before: '"→"'}, ''));
  assert.deepEqual(texts(svg), [['→', '10.00', '29.60', null]]);
  assert.deepEqual(texts(drawn(laid('p', [10, 20, 60, 12], {...red, before: '"▸ " / ""'}, '')).svg), [['▸ ', '10.00', '29.60', null]]);
  assert.deepEqual(texts(drawn(laid('p', [10, 20, 60, 12], {...red, before: 'none'})).svg), []);
});

test('what is marked over several lines has a box on each of them', () => {
  const mark = laid('mark', [0, 0, 100, 40], {...red, display: 'inline', lines: [[60, 0, 40, 20], [0, 20, 30, 20]]});
  assert.deepEqual(rects(drawn(laid('p', [0, 0, 100, 40], {}, mark)).svg), [[60, 0, 40, 20], [0, 20, 30, 20]]);
  const one = laid('mark', [60, 0, 40, 20], {...red, display: 'inline', lines: [[60, 0, 40, 20]]});
  assert.deepEqual(rects(drawn(one).svg), [[60, 0, 40, 20]]);
});

test('an empty box that the style sheet draws stands where it is placed, or before the first line', () => {
  const line = {content: '""', position: 'absolute', left: '50px', top: '-3px', width: '1px', height: '16px', backgroundColor: '#000000'};
  const track = after => drawn(laid('div', [10, 20, 100, 10], {...red, position: 'relative', after})).svg;
  assert.deepEqual(rects(track(line)), [[10, 20, 100, 10], [60, 17, 1, 16]]);
  for (const none of [{...line, content: 'none'}, {...line, content: '"x"'}, {...line, maskImage: 'url(x)'}, {...line, position: 'static'}]) {
    assert.deepEqual(rects(track(none)), [[10, 20, 100, 10]], JSON.stringify(none));
  }
  const key = {content: '""', width: '12px', height: '12px', backgroundColor: '#000000'};
  assert.deepEqual(rects(drawn(laid('span', [10, 20, 100, 20], {...red, before: key})).svg), [[10, 20, 100, 20], [10, 24, 12, 12]]);
});

test('a place that an attribute names by the address of the page is one of the file', () => {
  const part = document.createElementNS('http://www.w3.org/2000/svg', 'g'), chart = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  part.setAttribute('clip-path', "url('http://127.0.0.1/?tab=parameters#clip1xy')");
  chart.append(lay(part, [0, 0, 50, 50], {fill: 'url("http://127.0.0.1/?tab=depth#ramp")'}));
  const {svg, text} = drawn(lay(chart, [0, 0, 50, 50]));
  assert.equal(svg.querySelector('g > svg > g').getAttribute('fill'), 'url(#ramp)');
  assert.equal(svg.querySelector('g > svg > g').getAttribute('clip-path'), 'url(#clip1xy)');
  assert.doesNotMatch(text, /127\.0\.0\.1/);
});

test('what WebGL has drawn is drawn once more for the file', () => {
  const canvas = laid('canvas', [0, 0, 30, 20]), holder = laid('div', [0, 0, 30, 20], {}, canvas), chart = laid('div', [0, 0, 30, 20], {}, holder);
  Object.assign(canvas, {width: 30, height: 20});
  holder.className = 'gl-container';
  chart.className = 'js-plotly-plot';
  Object.assign(chart, {_fullLayout: {scene: {_scene: {toImage: kind => `data:scene-${kind}`}}}});
  assert.equal(drawn(chart).svg.querySelector('image').getAttribute('href'), 'data:scene-png');
  holder.className = '';
  assert.equal(drawn(chart).svg.querySelector('image').getAttribute('href'), 'data:canvas');
});

test('what is not seen, and what a reader only works, is left out', () => {
  const hidden = [laid('div', [0, 0, 9, 9], {...red, display: 'none'}), laid('div', [0, 0, 9, 9], {...red, visibility: 'hidden'}), laid('input', [0, 0, 9,
    9], red),
    laid('div', [0, 0, 1, 1], {...red, overflow: 'hidden'}), laid('select', [0, 0, 9, 9], red), document.createComment('x')];
  const seen = [laid('div', [0, 0, 1, 2], {...red, overflow: 'hidden'}), laid('div', [0, 0, 2, 1], {...red, overflow: 'hidden'}), laid('div', [0, 0, 1, 1],
    red)];
  const {svg} = drawn(laid('div', [0, 0, 50, 50], {}, ...hidden, ...seen));
  assert.deepEqual(rects(svg), [[0, 0, 1, 2], [0, 0, 2, 1], [0, 0, 1, 1]]);
});

test('notes are drawn with what they are of; how the page is used, and what is pressed or moved, are not', () => {
  const say = (name, className) => { const node = laid('p', [0, 0, 60, 10], {}, name); node.className = className; return node; };
  const notes = [say('0 to 1', 'note scale'), say('in nats', 'note'), say('Click it.', 'note how'), say('press', 'chips'), say('Press it.', 'live-only'), say('T', 'ds-control'), say('pick', 'ds-pick')];
  const chosen = laid('label', [0, 0, 60, 10], {}, laid('span', [0, 0, 60, 10], {}, 'Table'), laid('select', [0, 0, 9, 9]));
  const closed = laid('details', [0, 0, 60, 20], {}, laid('summary', [0, 0, 60, 10], {}, 'sum'), laid('p', [0, 10, 60, 10], {}, 'inside'));
  const {svg} = drawn(laid('div', [0, 0, 90, 90], red, ...notes, chosen, closed));
  assert.deepEqual(texts(svg).map(([text]) => text), ['0 to 1', 'in nats', 'sum']);
  assert.equal(document.body.classList.contains('saving'), false);
});

test('above the picture stands what it is, below it what its signs mean, each in lines that fit', () => {
  const beside = {title: 'Which?', above: ['All of them.'], below: ['Dark: more.']}, {svg, height} = drawn(laid('div', [0, 0, 400, 200], red), {beside, caption: ['from here']});
  assert.deepEqual(texts(svg).map(([text, x, y]) => [text, x, y]), [['Which?', '16', '31'], ['All of them.', '16', '48'], ['Dark: more.', '16', '292'], ['from here', '16', '319']]);
  assert.deepEqual([height, svg.querySelector(':scope > g').getAttribute('transform')], [339, 'translate(16 64)']);
});

test('what is pale is drawn pale as a whole', () => {
  const {svg} = drawn(laid('div', [0, 0, 50, 50], {...red, opacity: '0.5'}, laid('b', [0, 0, 6, 10], {}, 'x')));
  assert.equal(svg.querySelector('g g').getAttribute('opacity'), '0.5');
  assert.equal(svg.querySelector('g g').children.length, 2);
});

test('a frame cuts off what lies outside, and the picture is no larger for it', () => {
  const inner = laid('div', [0, 0, 900, 100], {...red, overflow: 'hidden'}, laid('div', [0, 50, 950, 100], red));
  const root = laid('div', [0, 0, 600, 60], {overflow: 'auto'}, inner);
  const {svg, width, height} = drawn(root), [outer, cut] = svg.querySelectorAll('clipPath');
  assert.deepEqual([width, height], [632, 60 + 48]);
  assert.deepEqual([outer, cut].map(one => names(one.firstElementChild, 'width', 'height')), [['600', '60'], ['900', '100']]);
  assert.equal(svg.querySelector('g[clip-path]').getAttribute('clip-path'), `url(#${outer.id})`);
  assert.notEqual(outer.id, cut.id);
  assert.equal(rects(svg).length, 2);
  assert.equal(drawn(laid('div', [0, 0, 600, 60], {overflow: 'hidden', display: 'inline'}, laid('i', [0, 0, 700, 90], red))).width, 732);
  assert.equal(drawn(laid('div', [0, 0, 600, 60], {...red, overflow: 'hidden'})).svg.querySelector('clipPath'), null);
  const after = laid('div', [0, 0, 10, 10], {}, laid('div', [0, 0, 10, 10], {overflow: 'hidden'}, laid('i', [0, 0, 9, 9], red)), laid('i', [0, 0, 500, 9],
    red));
  assert.equal(drawn(after).width, 532);
});

test('a frame within a frame is cut by both', () => {
  const deep = laid('div', [0, 0, 990, 990], red), inner = laid('div', [100, 100, 900, 900], {overflow: 'hidden'}, deep);
  const {svg, width, height} = drawn(laid('div', [50, 50, 500, 450], {overflow: 'hidden'}, inner));
  assert.deepEqual([width, height], [450 + 32, 400 + 48]);
  assert.equal(svg.querySelector(':scope > g').getAttribute('transform'), 'translate(-84 -84)');
});

test('something rotated is drawn as if it were not, then rotated, and counts as its own frame', () => {
  const node = laid('span', [100, 0, 10, 60], {}, 'word');
  lay(node, [100, 0, 10, 60], {...red, transform: 'matrix(0, -1, 1, 0, 5, 6)', transformOrigin: '30px 5px'}, [75, 25, 60, 10]);
  const {svg, height} = drawn(laid('div', [0, 0, 400, 30], {}, node, laid('i', [0, 0, 400, 5], red)));
  const group = [...svg.querySelectorAll('g')].find(one => /matrix/.test(one.getAttribute('transform')));
  assert.equal(group.getAttribute('transform'), 'translate(105,30) matrix(0,-1,1,0,5,6) translate(-105,-30)');
  assert.deepEqual(texts(group), [['word', '75.00', '33.00', '24.00']]);
  assert.equal(height, 60 + 48);
  assert.equal(node.style.transform, '');
  for (const one of ['1, 0.5, 0, 1', '1, 0, 0.5, 1']) {
    const skew = laid('span', [0, 0, 10, 10], {...red, transform: `matrix(${one}, 0, 0)`});
    assert.equal(drawn(laid('div', [0, 0, 9, 9], {}, skew)).svg.querySelectorAll('g').length, 2);
  }
  const moved = laid('span', [0, 0, 10, 10], {...red, transform: 'matrix(1, 0, 0, 1, 5, 6)'});
  assert.equal(drawn(laid('div', [0, 0, 9, 9], {}, moved)).svg.querySelectorAll('g').length, 1);
});

test('a canvas is its pixels where it stands; an empty one is nothing', () => {
  const canvas = Object.assign(laid('canvas', [5, 6, 50, 40]), {width: 100, height: 80});
  assert.deepEqual(names(drawn(canvas).svg.querySelector('image'), 'x', 'y', 'width', 'height', 'href'), ['5', '6', '50', '40', 'data:canvas']);
  assert.equal(drawn(canvas).height, 40 + 48);
  for (const nothing of [{width: 0}, {height: 0}]) {
    const root = laid('div', [0, 0, 9, 9], red, Object.assign(laid('canvas', [5, 6, 50, 40]), {width: 100, height: 80}, nothing));
    assert.equal(drawn(root).svg.querySelector('image'), null);
  }
  assert.equal(drawn(laid('div', [0, 0, 9, 9], red, Object.assign(laid('canvas', [5, 6, 0, 40]), {width: 9, height: 9}))).svg.querySelector('image'), null);
});

test('an SVG keeps its shapes, with the style sheet written into them and nothing that runs', () => {
  const holder = document.createElement('div');
  holder.innerHTML = '<svg class="c" onclick="x()" data-x="1" viewBox="0 0 9 9">'
    + '<path class="p" d="M0 0" transform="scale(2)"></path><text>a</text><script>1</script></svg>';
  const source = lay(holder.firstElementChild, [10, 20, 90, 80], {transform: 'matrix(1, 0, 0, 1, 0, 0)', fill: 'none', stroke: 'none'});
  lay(source.firstElementChild, [0, 0, 1, 1], {fill: 'rgba(255, 0, 0, 0.2)', 'fill-opacity': '0.5', stroke: 'url(#s)', 'stroke-width': '2px',
    transform: 'matrix(2, 0, 0, 2, 0, 0)'});
  lay(source.children[1], [0, 0, 1, 1], {fill: '#0000ff', stroke: 'none', transform: 'matrix(1, 0, 0, 1, 3, 4)', 'text-anchor': 'end'});
  const {svg, height} = drawn(laid('div', [0, 0, 9, 9], {}, source)), copy = svg.querySelector('svg'), [path, text] = copy.children;
  assert.deepEqual(names(copy, 'x', 'y', 'width', 'height', 'overflow', 'viewBox', 'class', 'onclick', 'data-x', 'transform'),
    ['10', '20', '90', '80', 'visible', '0 0 9 9', null, null, null, null]);
  assert.deepEqual(names(path, 'fill', 'fill-opacity', 'stroke', 'stroke-width', 'transform', 'd', 'class'), ['#ff0000', '0.1', 'url(#s)', '2px', 'scale(2)',
    'M0 0', null]);
  assert.deepEqual(names(text, 'fill', 'fill-opacity', 'stroke', 'transform', 'text-anchor'), ['#0000ff', null, 'none', 'matrix(1, 0, 0, 1, 3, 4)', 'end']);
  assert.deepEqual([copy.children.length, text.textContent, height], [2, 'a', 80 + 48]);
});

test('pixels are twice as many in each direction; where there are none it says so', async () => {
  const made = [], create = document.createElement;
  globalThis.Image = /** @type {any} */ (class { async decode() { this.decoded = true; } });
  document.createElement = name => Object.assign(create.call(document, name), {toBlob(done, type) { made.push(this); done(new Blob([type])); }});
  try {
    const found = await pixels({text: '<svg>é</svg>', width: 30, height: 20}), [canvas] = made;
    assert.deepEqual([canvas.width, canvas.height, new TextDecoder().decode(found)], [60, 40, 'image/png']);
    const [image, ...at] = canvas.getContext('2d').notes[0];
    assert.deepEqual([image.src, image.decoded, at], ['data:image/svg+xml;charset=utf-8,%3Csvg%3E%C3%A9%3C%2Fsvg%3E', true, [0, 0, 60, 40]]);
    document.createElement = name => Object.assign(create.call(document, name), {toBlob(done) { done(null); }});
    await assert.rejects(pixels({text: '', width: 1, height: 1}), /no pixels/);
  } finally {
    document.createElement = create;
  }
});
