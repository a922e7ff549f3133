// Saving a picture, and a whole tab: requests to the server, file names and contents.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place} from '../dom.js';
import {reply} from '../page/stage.js';
import {box, lay, laid} from './laid.js';

Object.assign(window, {parent: window});
const {resize} = await import('../../../assets/js/kit/dom.js');
const {begin} = await import('../../../assets/js/page/here.js');
const {aboutOf, lookOf, origin, take} = await import('../../../assets/js/take/take.js');
const {takeTab} = await import('../../../assets/js/take/page.js');
await import('../../../assets/js/gradio.js');

const known = {models: [{label: 'BERT', source: 'a/bert', revision: 'r1', sha256: ''}, {label: 'ALBERT', source: 'a/albert', revision: 'r2',
  sha256: 'f'.repeat(64)}],
  versions: 'torch 2', cite: 'Cite.'};
const nothing = {finds: '', prints: '', draws: '', writes: ''};
const served = {'provenance/mini': () => JSON.stringify(known), 'recipe/predictions/gaps.json': () => JSON.stringify({...nothing, computes: 'TEXT = "old"\nMODELS = {}\nN = 1\n'}),
  standalone: () => '<head></head><main><!--content--></main><script><!--taken--></script>'};
const asked = [], saved = [], later = [], soon = globalThis.setTimeout;
Object.assign(globalThis, {
  fetch: async address => { asked.push(address); return address in served ? new Response(served[address]()) : new Response('', {status: 404}); },
  setTimeout: (then, ms) => ms > 1000 ? later.push([then, ms]) : soon(then, ms)});
const forgotten = [];
Object.assign(URL, {createObjectURL: blob => { saved.push({blob}); return 'blob:1'; }, revokeObjectURL: url => forgotten.push(url)});
globalThis.HTMLAnchorElement.prototype.click = function click() { Object.assign(saved.at(-1), {name: this.download, href: this.href}); };
Object.assign(window.explorer, {taken: undefined});

const today = new Date().toISOString().slice(0, 10);
const config = {defaults: {text: '', family: 'mini', tab: 'predictions', hidden: ''}, reads: {predictions: ['text', 'family', 'device', 'dtype'], claims: []},
  limit: 100, longest: 5000, packed: 'z', texts_of: ['text', 'hidden'], home: 'http://home.test/app#x'};
function begun() {
  const state = begin(config, () => {});
  state.open({text: 'A [MASK] or [he|she].'});
  reply(state, {machine: {device: 'cpu', dtype: 'float32'}});
  return state;
}
const table = () => ({columns: ['a'], rows: [[1]]});
const asHere = {width: 0, theme: '', caption: true};
async function taken(ending, picture = {}, kind = 'predictions/gaps', look = asHere) {
  begun();
  const root = place();
  root.append(laid('p', [0, 0, 60, 10], {}, 'word'));
  await take(ending, {kind, root, data: {n: 4}, picture: /** @type {any} */ ({table, ...picture})}, look);
  const {blob, name} = saved.at(-1);
  return {name, type: blob.type, text: await blob.text()};
}

test('a file of rows says where the numbers are from, and is named after the text', async () => {
  const {name, type, text} = await taken('csv');
  assert.equal(name, `a-mask-or-he-she_predictions-gaps_${today}.csv`);
  assert.equal(type, 'text/csv;charset=utf-8');
  assert.equal(text, ['# picture: predictions/gaps', '# text: A [MASK] or [he|she].', '# family: mini',
    `"# models: [""BERT: a/bert@r1"",""ALBERT: a/albert (sha256 ${'f'.repeat(64)})""]"`, '# device: cpu', '# dtype: float32', '# versions: torch 2',
      `# date: ${today}`,
    '# link: http://home.test/app?v=1&family=mini&text=A+%5BMASK%5D+or+%5Bhe%7Cshe%5D.', '# cite: Cite.', 'a', '1', ''].join('\r\n'));
  assert.equal(asked.at(-1), 'provenance/mini');
});

test('of a tab that reads no text only what the picture says itself is told', async () => {
  const {text, name} = await taken('json', {header: ({n}) => ({models: true, link: null, found: n})}, 'claims/shares');
  const {about, rows} = JSON.parse(text);
  assert.deepEqual(Object.keys(about), ['picture', 'models', 'versions', 'date', 'cite', 'found']);
  assert.deepEqual([about.found, rows, name], [4, [[1]], `claims-shares_${today}.json`]);
  begun();
  assert.equal(aboutOf('predictions/gaps', /** @type {any} */ (known), {text: null}).text, undefined);
});

test('its lines of Python know the text, every choice a mask, the models, and the picture\'s own', async () => {
  const {text, type} = await taken('py', {constants: ({n}) => ({N: n})});
  assert.match(text, /\nTEXT = "A \[MASK\] or \[MASK\]\."\nMODELS = \{"BERT": \["a\/bert", "r1"\], "ALBERT": \["a\/albert", "r2"\]\}\nN = 4\n$/);
  assert.equal(type, 'text/x-python;charset=utf-8');
  assert.match((await taken('py')).text, /\nN = 1\n$/);
  await assert.rejects(taken('py', {}, 'predictions/words'), /recipe\/predictions\/words\.json: 404/);
});

test('lines that go through the models go through those of the picture', async () => {
  const of = (computes, rows) => {
    served['recipe/predictions/asked.json'] = () => JSON.stringify({...nothing, computes});
    return taken('py', {table: () => ({columns: ['word', 'model'], rows})}, 'predictions/asked');
  };
  const each = 'MODELS = {}\nfor label in MODELS:\n', answered = [['a', 'ALBERT'], ['b', 'ALBERT']];
  assert.match((await of(each, answered)).text, /\nMODELS = \{"ALBERT": \["a\/albert", "r2"\]\}\n/);
  for (const [computes, rows] of [[each, [['a', 'all']]], ['MODELS = {}\nfor label in list(MODELS)[:2]:\n', answered]]) {
    assert.match((await of(computes, rows)).text, /\nMODELS = \{"BERT": .*"ALBERT": /);
  }
});

test('a drawing is whole, drawn finely and then as before, with its lines below', async () => {
  const order = [], wide = () => { const canvas = document.createElement('canvas'); resize(canvas, 10, 10); return canvas.width; };
  const {text, type} = await taken('svg', {whole: async () => order.push('whole'), theme: () => order.push(wide())});
  assert.deepEqual(order, ['whole', 20, 10]);
  assert.equal(type, 'image/svg+xml');
  const svg = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  assert.equal(svg.querySelector('title').textContent, 'predictions/gaps: A [MASK] or [he|she].');
  const lines = [...svg.querySelectorAll(':scope > text')].map(node => node.textContent);
  assert.equal(lines[0], '“A [MASK] or [he|she].”');
  const origin = 'BERT: a/bert@r1; ALBERT: a/albert \\(sha256 f{8}\\); cpu, float32';
  assert.match(lines.join(' '), new RegExp(`^“.*” ${origin} torch 2; ${today} http://home\\.test.* Cite\\.$`));
  await taken('csv', {whole: async () => order.push('csv')});
  assert.equal(order.length, 3);
});

test('an image in another width and theme, without its lines; then the page is as it was', async () => {
  const seen = [], theme = root => seen.push([document.body.className, root.style.width]);
  const {text} = await taken('svg', {theme}, 'predictions/gaps', {width: 800, theme: 'dark', caption: false});
  assert.deepEqual(seen, [['dark', '800px'], ['dark', '800px'], ['', '']]);
  assert.ok(!text.includes('>Cite.<'));
  const menu = place();
  menu.innerHTML = '<div class="take-look"><select name="width"><option value="1200"></option></select><select name="theme"><option value="light"></option></select><input type="checkbox" name="caption"></div>';
  assert.deepEqual(lookOf(menu), {width: 1200, theme: 'light', caption: false});
  assert.deepEqual(lookOf(place()), {width: NaN, theme: '', caption: true});
});

test('an image has its own theme where the reader has chosen another one before, too', async () => {
  const {explorer, fetch} = window, seen = [], theme = () => seen.push(document.body.classList.contains('dark'));
  localStorage.setItem('explorer-theme', '"light"');
  await import('../../../assets/js/early.js');
  await taken('svg', {theme}, 'predictions/gaps', {width: 0, theme: 'dark', caption: true});
  Object.assign(window, {explorer, fetch});
  localStorage.clear();
  assert.deepEqual(seen, [true, true, false]);
});

test('a notebook has the lines in cells, the bundled models\' folder named, their rows, and the figure last', async () => {
  served['recipe/predictions/joint.json'] = () => JSON.stringify({finds: 'find()', computes: 'MODELS = {}\nrows = []\n', prints: '\nprint(*columns)\n', draws: '\n# A plain figure of these\nfigure = 1\n',
    writes: 'write()'});
  const {text, name, type} = await taken('ipynb', {}, 'predictions/joint'), {cells} = JSON.parse(text);
  assert.equal(type, 'application/x-ipynb+json');
  assert.ok(name.endsWith('.ipynb'));
  assert.deepEqual(cells.map(cell => cell.cell_type), ['markdown', 'code', 'code', 'code']);
  assert.match(cells[0].source, /^# predictions\/joint\n```text\npicture: .*\ntext: A \[MASK\]/);
  assert.match(cells[1].source, /^MODELS = \{"BERT": .*\nrows = \[\]$/);
  assert.deepEqual(cells.slice(2).map(cell => cell.source), ['print(*columns)', '# A plain figure of these\nfigure = 1\nfigure']);
});

test('a picture that says which models it is of has these in its files, whatever the page shows by now', async () => {
  served['provenance/base'] = () => JSON.stringify({...known, models: [{label: 'Base', source: 'a/base', revision: 'r3', sha256: ''}]});
  const {about} = JSON.parse((await taken('json', {header: () => ({family: 'base', device: 'cuda', dtype: 'float16', models: true})})).text);
  assert.deepEqual([about.family, about.models, about.device, about.dtype], ['base', ['Base: a/base@r3'], 'cuda', 'float16']);
});

test('what the reader has chosen in a picture stands in its file, its name and below its drawing', async () => {
  const header = () => ({state: {temperature: 0.5, family: 'bert=large'}}), {name, text} = await taken('json', {header});
  assert.equal(name, `a-mask-or-he-she_predictions-gaps_temperature-0.5_family-bert-large_${today}.json`);
  const {about} = JSON.parse(text);
  assert.deepEqual([about.temperature, about.family, about.state], [0.5, 'bert=large', undefined]);
  assert.match((await taken('svg', {header})).text, />temperature: 0\.5; family: bert=large</);
});

test('where nothing ran, nothing is said of it', () => {
  assert.equal(origin(/** @type {any} */ ({models: ['a'], adapters: ['b'], device: '', dtype: 'float32'})), 'a; b; float32');
  assert.equal(origin(/** @type {any} */ ({models: ['a@' + '1'.repeat(40)], device: ''})), 'a@11111111');
});

test('a page that was taken away has all of it with it and asks nobody', async () => {
  Object.assign(window.explorer, {taken: {provenance: known, recipes: {'predictions/gaps': {...nothing, computes: 'N = 2\n'}}, link: 'http://kept.test/'}});
  const before = asked.length, {text} = await taken('py', {constants: () => ({N: 3})});
  assert.match(text, /link: http:\/\/kept\.test\/\?v=1[^]*\nN = 3\n$/);
  assert.equal(asked.length, before);
  Object.assign(window.explorer, {taken: undefined});
});

test('the address of a file is forgotten a minute later', () => {
  assert.ok(later.length > 3 && later.every(([, ms]) => ms === 60_000));
  later[0][0]();
  assert.deepEqual(forgotten, ['blob:1']);
});

const html = `<div id="tab-predictions">
  <div class="block seen"><div class="html-container seen question"><h2>What?</h2><script>1</script><a href="more" onclick="x()">link</a><input>
    <details class="take" open></details></div></div>
  <div class="block"><div class="prose seen">not seen</div></div>
  <div class="seen" style="display: contents" data-kind="predictions/gaps"><div class="canvas seen"><b>drawn</b></div>
    <details class="take" open><button data-take="py"></button><button data-take="csv"></button></details></div>
  <div class="seen"><div class="canvas seen other"><iframe></iframe></div></div>
  <div class="seen"><div class="canvas seen empty"></div></div>
  <div class="fold seen"><button class="label-wrap open seen">Open fold </button><div class="prose seen">inside</div></div>
  <div class="fold seen"><button class="label-wrap seen">Closed</button><div class="prose seen">closed</div></div>
  <div class="fold seen"><button class="label-wrap open seen">Empty</button><i class="seen">a control</i></div></div>
  <div id="status"><div class="prose"><p class="status">On this CPU.</p></div></div><div id="meanings"><div class="prose">Words.</div></div>
  <button id="theme-switch">◐</button>`;

async function tabTaken(content = html, tab = 'predictions') {
  begun();
  place().innerHTML = content;
  for (const node of document.querySelectorAll('*')) node.getClientRects = () => /** @type {any} */ (node.classList.contains('seen') ? [box(0, 0, 1,
    1)] : []);
  for (const node of document.querySelectorAll('[style]')) lay(node, [0, 0, 0, 0], {display: 'contents'});
  const element = document.querySelector('[data-kind]'), canvas = element.querySelector('.canvas');
  const value = JSON.stringify({models: {}, masks: [], text: '</script>\u2028'});
  window.explorer.mount('predictions/gaps', element, {value}, () => {}, () => {}, async () => '');
  for (let i = 0; i < 200 && canvas.querySelector('b'); i++) await new Promise(done => { soon(done, 10); });   // its module is drawing it
  canvas.append('drawn');
  canvas.innerHTML = '<b>drawn</b>';
  await takeTab(tab, {needs_page: 'Needs the page.', live: 'Live'});
  const {blob, name} = saved.at(-1), text = await blob.text();
  const [, own] = text.match(/window\.explorer\.taken = (.*);<\/script>$/s);
  const body = document.createElement('div');
  body.innerHTML = text.match(/<main>(.*)<\/main>/s)[1];
  return {name, type: blob.type, text, value, taken: JSON.parse(own), own, body};
}

test('a tab taken away: what is seen of it in reading order, closed folds and controls left behind', async () => {
  const {body, name, type, text} = await tabTaken(), section = body.querySelector('section');
  assert.equal(name, `a-mask-or-he-she_predictions_${today}.html`);
  assert.equal(type, 'text/html;charset=utf-8');
  assert.deepEqual([section.id, section.dataset.family], ['tab-predictions', 'mini']);
  assert.deepEqual([...section.children].map(node => node.className), ['taken-text', 'taken-picture', 'note', 'taken-fold']);
  assert.equal(section.querySelector('.note').textContent, 'Needs the page.');
  assert.deepEqual([...section.querySelector('.taken-fold').children].map(node => node.textContent), ['Open fold', 'inside']);
  assert.match(text, /^<head><title>What\? – A \[MASK\] or \[he\|she\]\.<\/title><\/head>/);
  assert.deepEqual([body.querySelector('h1').textContent, body.querySelector('header p').textContent], ['What?', '“A [MASK] or [he|she].”']);
  assert.equal(body.querySelector('#theme-switch').textContent, '◐');
  const rest = [...body.children].slice(2).map(node => node.textContent);
  assert.equal(rest[0], 'On this CPU.');
  assert.match(rest[1], /^BERT: a\/bert@r1; ALBERT.*; cpu, float32; torch 2\.$/);
  assert.match(rest[2], new RegExp(`^Live ${today}\\. Cite\\.$`));
  assert.equal(rest[3], 'Words.');
});

test('a tab that reads no text is saved without the one in the box', async () => {
  const {body, text} = await tabTaken(html.replace('tab-predictions', 'tab-claims'), 'claims');
  assert.match(text, /^<head><title>What\?<\/title><\/head>/);
  assert.equal(body.querySelector('header p').textContent, '');
});

test('what Python wrote keeps its links, and nothing that runs, asks or is open', async () => {
  const text = (await tabTaken()).body.querySelector('.taken-text');
  assert.equal(text.querySelector('script, input'), null);
  assert.deepEqual(text.querySelector('a').getAttributeNames(), ['href']);
  assert.equal(text.querySelector('a').getAttribute('href'), 'http://page.test/more');
  assert.equal(text.querySelector('.take').hasAttribute('open'), false);
});

test('pictures are places with their menus; their numbers and recipes lie in a script that they cannot end', async () => {
  const {body, taken, own, value} = await tabTaken(), picture = body.querySelector('.taken-picture');
  assert.deepEqual([picture.dataset.kind, picture.hasAttribute('data-value'), picture.querySelector('.canvas').childNodes.length], ['predictions/gaps',
    false, 0]);
  assert.equal(picture.querySelector('.take').open, false);
  assert.deepEqual(taken.values, [value]);
  assert.deepEqual(Object.keys(taken.recipes), ['predictions/gaps']);
  assert.match(taken.recipes['predictions/gaps'].computes, /^TEXT/);
  assert.ok(!/[<\u2028]/.test(own));
  assert.deepEqual([taken.params.text, taken.config.home, taken.provenance.cite, taken.dark], ['A [MASK] or [he|she].', config.home, 'Cite.', false]);
  assert.match(taken.link, /^http:\/\/home\.test\/app\?v=1/);
});
