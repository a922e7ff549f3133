import assert from 'node:assert/strict';
import {mock, test} from 'node:test';

import {click, place, texts} from '../dom.js';
import {begun} from './stage.js';

mock.timers.enable({apis: ['setTimeout']});
const posted = [];
Object.assign(window, {parent: window, scrollY: 100});
const {cutDown, drawLink, frameFor, postHeight} = await import('../../../assets/js/page/link.js');

const said = {label: 'Link', copy: 'Copy', copied: 'Copied.', press: 'Press Ctrl+C.', embed: 'Embed', embed_copied: 'Lines copied.', title: 'A "title"',
  save_tab: 'Save', not_taken: 'Not saved.', qr: 'QR', qr_alt: 'A code', qr_save: 'Save code', full_view: 'Full view', no_room: 'No room: {length} of {longest}.', local: 'Only here: {host}.'};
const LINK = 'http://home.test/?v=1&family=mini&text=a+cat';
const home = {home: 'http://home.test/'};

let copies = [];
const clipboard = {writeText: async text => { copies.push(text); }};
Object.defineProperty(globalThis, 'navigator', {value: {clipboard}, configurable: true});
Object.assign(globalThis, {reportError() {}});

function drawn(config = home, saveTab = async () => {}) {
  copies = [];
  const {state} = begun({text: 'a cat', tab: 'predictions'}, config), root = place();
  drawLink(root, state, said, saveTab);
  const [copy, embed, save] = root.querySelectorAll(':scope > button');
  return {root, state, copy, embed, save, field: root.querySelector('input'), hint: () => root.querySelector('[role=status]').textContent};
}
const soon = async () => { for (let i = 0; i < 9; i++) await null; };

test('the link is copied as it is now, and for four seconds it says so', async () => {
  const {root, copy, field, hint} = drawn();
  assert.deepEqual(texts(root, 'button, summary'), ['Copy', 'QR', 'Embed', 'Save']);
  assert.equal(field.value, LINK);
  assert.equal(hint(), '');
  click(copy);
  await soon();
  assert.deepEqual([copies, hint()], [[LINK], 'Copied.']);
  mock.timers.tick(3999);
  assert.equal(hint(), 'Copied.');
  mock.timers.tick(1);
  assert.equal(hint(), '');
});

test('what is said second stands for its own four seconds', async () => {
  const {copy, embed, hint} = drawn();
  click(copy);
  await soon();
  mock.timers.tick(3900);
  click(embed);
  await soon();
  mock.timers.tick(3999);
  assert.equal(hint(), 'Lines copied.');
  mock.timers.tick(1);
  assert.equal(hint(), '');
});

test('where the clipboard refuses it is selected, and the reader is told to press', async () => {
  const {copy, field, hint} = drawn(), write = clipboard.writeText;
  clipboard.writeText = async () => { throw new Error('no'); };
  let works = true, selected = 0;
  document.execCommand = name => name === 'copy' && works;
  field.select = () => { selected += 1; };
  click(copy);
  await soon();
  assert.deepEqual([hint(), selected, field.value], ['Copied.', 2, LINK]);
  works = false;
  click(copy);
  await soon();
  clipboard.writeText = write;
  assert.equal(hint(), 'Press Ctrl+C.');
});

test('lines for another page: a frame of this view that follows the height, its title quoted', async () => {
  const {embed, hint} = drawn();
  click(embed);
  await soon();
  assert.equal(hint(), 'Lines copied.');
  assert.equal(copies[0], frameFor(LINK, said.title));
  const holder = document.createElement('div');
  holder.innerHTML = frameFor('http://home.test/?text=%22&v=1', 'a <b> & "c"');
  const frame = holder.querySelector('iframe');
  assert.equal(frame.getAttribute('src'), 'http://home.test/?text=%22&v=1&embed=1');
  assert.deepEqual([frame.title, frame.height], ['a <b> & "c"', '640']);
  assert.match(holder.querySelector('script').textContent, /e\.data\?\.type === 'bert-family-explorer'\) f\.height = e\.data\.height/);
});

test('where even packed texts have no room nothing is offered but the file, and that is said', async () => {
  mock.timers.reset();
  let {hint} = drawn({...home, longest: 20});
  for (let i = 0; i < 500 && !hint(); i++) {   // packing takes a moment
    await new Promise(done => { setTimeout(done, 10); });
    ({hint} = drawn({...home, longest: 20}));
  }
  mock.timers.enable({apis: ['setTimeout']});
  assert.match(hint(), /^No room: \d+ of 20\.$/);
  assert.deepEqual(texts(document.body, 'button'), ['Save']);
  assert.equal(document.querySelector('input'), null);
});

test('the tab is saved by its name; if it cannot be, that is said', async () => {
  const asked = [], {save, hint} = drawn(home, async tab => { asked.push(tab); });
  click(save);
  await soon();
  assert.deepEqual([asked, hint()], [['predictions'], '']);
  const other = drawn(home, async () => { throw new Error('no'); });
  click(other.save);
  await soon();
  assert.equal(other.hint(), 'Not saved.');
});

test('the code is drawn when it is asked for, for the link as it is', () => {
  const {root} = drawn(), menu = root.querySelector('details');
  menu.dispatchEvent(new Event('toggle'));
  assert.equal(root.querySelector('img'), null);
  menu.open = true;
  menu.dispatchEvent(new Event('toggle'));
  const [image, save] = [root.querySelector('img'), root.querySelector('a')];
  assert.equal(new URLSearchParams(image.getAttribute('src').slice(3)).get('link'), LINK);
  assert.deepEqual([image.alt, image.getAttribute('width'), image.getAttribute('height'), save.getAttribute('href'), save.getAttribute('download')],
    ['A code', '220', '220', image.getAttribute('src'), 'link.svg']);
});

test('inside another page there is a link to the full view alone', () => {
  document.documentElement.classList.add('embed');
  const {root} = drawn();
  document.documentElement.classList.remove('embed');
  assert.deepEqual([root.children.length, root.textContent, root.querySelector('a').href], [1, 'Full view', LINK]);
});

test('inside another page only what was chosen is seen: the tab\'s headline, or one fold', () => {
  const rules = chosen => {
    const before = document.adoptedStyleSheets.length;
    cutDown(chosen);
    return document.adoptedStyleSheets.slice(before).flatMap(sheet => [...sheet.cssRules].map(rule => rule.cssText)).join(' ');
  };
  assert.match(rules({tab: 'depth', fold: 'moves'}), /\.embed \.fold:not\(:is\(#fold-depth-moves, #part-depth-moves\)\), \.embed #tab-depth :is/);
  assert.match(rules({tab: 'depth', fold: ''}), /^\.embed \.fold \{ display: none !important; \}/);
  assert.match(rules({tab: 'depth', fold: 'a) {} *'}), /^\.embed \.fold \{ display: none/);
  assert.match(rules({tab: 'depth'}), /^\.embed \.fold \{ display: none/);
});

test('a page around this one hears how high it is, once for each height, from one watch', () => {
  const watched = [], Watch = globalThis.ResizeObserver, root = place();
  let heard;
  globalThis.ResizeObserver = class { constructor(then) { heard = then; } observe(node) { watched.push(node.id || node.tagName); }
    disconnect() {} unobserve() {} };
  root.innerHTML = '<main></main><div id="tabs"></div><div id="status"></div>';
  postHeight();
  assert.deepEqual(watched, [], 'nobody is around');
  Object.assign(window, {parent: {postMessage: (...given) => posted.push(given)}});
  postHeight();
  postHeight();
  assert.deepEqual(watched, ['MAIN', 'tabs', 'status']);
  heard();
  assert.deepEqual(posted, []);
  const end = document.createElement('div');
  end.id = 'link';
  end.getBoundingClientRect = () => /** @type {any} */ ({bottom: 300.2});
  root.append(end);
  heard();
  heard();
  assert.deepEqual(posted, [[{type: 'bert-family-explorer', height: 413}, '*']]);
  Object.assign(window, {parent: window});
  globalThis.ResizeObserver = Watch;
});

test('a link to this machine\'s own address says that it opens here only, beside the link and below the code', () => {
  for (const address of ['http://127.0.0.1:7860/', 'http://localhost:7860/', 'http://[::1]:7860/']) {
    const {root} = drawn({home: address}), menu = root.querySelector('details'), {host} = new URL(address);
    assert.deepEqual(texts(root, ':scope > .reach'), [`Only here: ${host}.`]);
    menu.open = true;
    menu.dispatchEvent(new Event('toggle'));
    assert.deepEqual(texts(menu, '.reach'), [`Only here: ${host}.`]);
  }
  assert.deepEqual(texts(drawn().root, '.reach'), []);
  assert.deepEqual(texts(drawn({home: 'http://127.example.org/'}).root, '.reach'), []);
});
