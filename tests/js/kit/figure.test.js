// Charts: reserved space from the start, Plotly once they are near, the page's light or dark theme.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {charts, place, settled, texts, widen} from '../dom.js';

const {constants, figure, header, show, specs, table, whole} = await import('../../../assets/js/kit/figure.js');

const spec = (title, height) => ({data: [{x: [1, 2], y: [3, 4]}], layout: {title: {text: title}, height}});
const numbers = {columns: ['model', 'value'], rows: [['BERT', 1.5], ['ALBERT', null]], constants: {N: 2}, said: {text: null}};
function shown(changes) {
  const root = place();
  show(root, {figures: [spec('First', 250), spec('Second')], numbers, ...changes}, /** @type {any} */ ({}));
  return root;
}

test('charts side by side, each as high as its view says from the start, named by its title', () => {
  const root = shown();
  assert.deepEqual([...root.querySelectorAll('.fg-pair .fg')].map(node => [node.style.height, node.getAttribute('aria-label'), node.getAttribute('role')]),
    [['250px', 'First', 'figure'], ['320px', 'Second', 'figure']]);
  assert.deepEqual(charts(root).map(({data}) => data), [spec('', 0).data, spec('', 0).data]);
  assert.deepEqual([texts(root, 'figcaption'), charts(root)[0].layout.title], [['First', 'Second'], undefined], 'the title is text of the page, which wraps');
  assert.equal(shown({figures: [spec('One')]}).querySelector('.fg-pair'), null);
});

test('a chart that has no title says what it shows by its label', () => {
  const root = shown({figures: [{data: [], layout: {meta: {label: 'What it shows'}}}]});
  assert.equal(root.querySelector('.fg').getAttribute('aria-label'), 'What it shows');
});

test('the sentence stands above, the note below, and a table for who cannot see it', () => {
  const root = shown({finding: 'It rises.', note: 'In nats.'});
  assert.deepEqual([...root.children].map(node => node.className), ['finding', 'fg-pair', 'note', 'sr-only']);
  assert.deepEqual([texts(root, '.finding'), texts(root, '.note')], [['It rises.'], ['In nats.']]);
  assert.deepEqual([texts(root, 'th'), texts(root, 'td')], [['model', 'value'], ['BERT', '1.5', 'ALBERT', '–']]);
  assert.deepEqual([...shown().children].map(node => node.className), ['fg-pair', 'sr-only']);
});

test('the look is the page\'s, and follows it', async () => {
  const root = shown(), look = () => charts(root).map(({layout}) => layout.template.look);
  assert.deepEqual(look(), ['light', 'light']);
  document.body.classList.add('dark');
  await settled();
  assert.deepEqual(look(), ['dark', 'dark']);
  assert.deepEqual(charts(shown()).map(({layout}) => layout.template.look), ['dark', 'dark']);
  document.body.classList.remove('dark');
  await settled();
  assert.equal(root.querySelector('.fg').draws, 2, 'a chart that has left the page is not drawn again');
});

test('other traces are drawn at once, and another width is told', () => {
  const root = place(), chart = figure(spec('One'), 'One');
  root.append(chart.node);
  chart.set({data: [{y: [9]}]});
  assert.deepEqual([charts(root)[0].data, texts(root, 'figcaption')], [[{y: [9]}], ['One']]);
  const before = chart.node.querySelector('.fg').resized;
  widen(chart.node.querySelector('.fg'), 300);
  widen(chart.node.querySelector('.fg'), 300);
  assert.equal(chart.node.querySelector('.fg').resized, before + 1);
});

test('a chart that was redrawn is ended: Plotly and the page keep nothing of it', async () => {
  const root = place(), nodes = [], draw = async title => {
    const chart = figure(spec(title), title);
    root.replaceChildren(chart.node);
    nodes.push(chart.node.querySelector('.fg'));
    await chart.whole();
  };
  for (const title of ['One', 'Two', 'Three', 'Four']) await draw(title);
  assert.deepEqual(nodes.map(node => Boolean(node.drawn)), [false, false, true, true], 'the last to leave is ended by the next');
});

test('its numbers, their constants and what is said of them are the view\'s', () => {
  const data = {figures: [], numbers};
  assert.deepEqual([table(data), constants(data), header(data)], [{columns: numbers.columns, rows: numbers.rows}, {N: 2}, {text: null}]);
});

test('the library is asked for when a chart is near, once for all, and drawn out of sight by `whole`', async () => {
  const {charts: given} = window.explorer, asked = [];
  const NearNever = class { observe() {} };
  const [observer, fetching, append] = [globalThis.IntersectionObserver, globalThis.fetch, document.head.append];
  delete window.explorer.charts;
  Object.assign(globalThis, {IntersectionObserver: NearNever, Plotly: given.Plotly,
    fetch: async address => { asked.push(address.split('/').at(-1)); return {ok: true, json: async () => given.templates}; }});
  document.head.append = node => { asked.push(node.src.split('/').at(-1)); queueMicrotask(() => node.onload()); };
  const root = shown();
  assert.deepEqual([charts(root), asked], [[undefined, undefined], []]);
  await whole(root);
  assert.deepEqual([charts(root).length, asked.toSorted()], [2, ['plotly.min.js', 'templates.json']]);
  assert.equal(charts(root)[1].layout.template.look, 'light');
  document.head.append = append;
  Object.assign(globalThis, {IntersectionObserver: observer, fetch: fetching});
  window.explorer.charts = given;
});

test('a library that could not be had is asked for again by the next look or save, and until then the chart says so', async () => {
  const {charts: given} = window.explorer, [observer, fetching, append, report] = [globalThis.IntersectionObserver, globalThis.fetch, document.head.append, globalThis.reportError];
  const reported = [], looks = [];
  let fails = true;
  delete window.explorer.charts;
  Object.assign(globalThis, {Plotly: given.Plotly, reportError: error => reported.push(error.message),
    IntersectionObserver: class { constructor(heard) { this.look = () => heard([{isIntersecting: true}], this); } observe() { looks.push(this); } disconnect() { looks.splice(looks.indexOf(this), 1); } },
    fetch: async () => ({ok: true, json: async () => given.templates})});
  document.head.append = node => { queueMicrotask(() => fails ? node.onerror() : node.onload()); };
  const anew = await import('../../../assets/js/kit/figure.js?anew'), root = place(), [one, other] = ['One', 'Other'].map(title => anew.figure(spec(title), title));
  root.className = 'canvas';
  root.dataset.failed = 'It failed.';
  root.append(one.node, other.node);
  looks[0].look();
  await settled();
  assert.deepEqual([texts(root, '.fg'), reported.length], [['It failed.', ''], 1]);
  await assert.rejects(other.whole(), /no .*plotly/);
  assert.deepEqual(texts(root, '.fg'), ['It failed.', 'It failed.']);
  fails = false;
  await other.whole();
  looks[0].look();
  await settled();
  assert.deepEqual([texts(root, '.fg'), charts(root).map(({layout}) => layout.template.look), looks.length], [['', ''], ['light', 'light'], 1]);
  document.head.append = append;
  Object.assign(globalThis, {IntersectionObserver: observer, fetch: fetching, reportError: report});
  window.explorer.charts = given;
});

test('a chart as a figure that Plotly opens: its data, its layout, the page\'s look', async () => {
  const [first, second] = await specs(shown());
  assert.deepEqual([first.data, first.layout.title.text, first.layout.template.look], [spec('', 0).data, 'First', 'light']);
  assert.equal(second.layout.title.text, 'Second');
  assert.deepEqual(await specs(place()), []);
});
