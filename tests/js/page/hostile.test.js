// A link may hold anything in any of its fields: none of it becomes a selector, a CSS rule or an inherited property name.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, settled} from '../dom.js';
import {begun, choices, reply} from './stage.js';

const sheets = [];
globalThis.CSSStyleSheet = /** @type {any} */ (class { constructor() { sheets.push(this); this.text = ''; } replaceSync(text) { this.text = text; } });
Object.defineProperty(document, 'adoptedStyleSheets', {value: [], writable: true});
const {landOn} = await import('../../../assets/js/page/landing.js');
const {cutDown} = await import('../../../assets/js/page/link.js');
const {sizesOf} = await import('../../../assets/js/page/family.js');
const {controlsOf} = await import('../../../assets/js/page/here.js');
const {Folds, openNext} = await import('../../../assets/js/page/folds.js');
const folds = new Folds();
const {marked, named} = await import('../../../assets/js/kit/dom.js');

const NASTY = ['"]x', 'a"b', "a'b", ')', ':has(', '*', '\\', 'a b', '} * { display: none', '#', '', '\u0000', '1', '-', 'é"',
  'constructor', '__proto__', 'toString', 'hasOwnProperty'];
const pairs = NASTY.flatMap(tab => [[tab, 'summary'], ['depth', tab], [tab, tab]]);

test('the page lands on nothing where a link names what is not there', () => {
  place();
  for (const [tab, fold] of pairs) assert.doesNotThrow(() => landOn(tab, fold), `${tab} ${fold}`);
});

test('what is there is found under any name', () => {
  const root = place();
  for (const name of NASTY.filter(one => one && one !== '\u0000')) {
    const node = document.createElement('i');
    node.id = `fold-${name}-${name}`;
    node.setAttribute('data-claim', name);
    root.replaceChildren(document.createElement('b'), node);
    assert.equal(named(`fold-${name}-${name}`), node, name);
    assert.equal(marked(root, 'data-claim', name), node, name);
  }
});

test('an embedded page is cut down by a rule that no link writes', () => {
  for (const [tab, fold] of pairs) {
    cutDown({tab, fold});
    const plain = [tab, fold].every(one => /^[a-z_]+$/.test(one));
    assert.equal(sheets.at(-1).text.includes(`#tab-${tab} `), plain, `${tab} ${fold}`);
    if (!plain) assert.equal(sheets.at(-1).text, '.embed .fold { display: none !important; }');
  }
});

test('no family and no column has the name of what every object has', () => {
  for (const name of NASTY) {
    for (const family of [name, `${name}=mini`, `bert=${name}`, `mini,${name}=${name}`, `mini,${name}`]) {
      if (family === 'mini,') continue;
      assert.equal(sizesOf(family, choices), null, family);
    }
  }
});

test('the page opens on such a link, follows its answer, and walks back to it', async () => {
  place();
  for (const [tab, fold] of pairs) {
    const {state, sent} = begun({}, {moved: {depth: {summary: {tab: 'predictions'}}}}, folds);
    state.wanted = {};
    state.open({tab, fold, [tab]: fold, family: tab});
    assert.deepEqual(controlsOf(tab), {preset: null, sizes: {}});
    folds.follow(state);
    openNext(tab, fold);
    reply(state, {params: {family: 'mini'}, repaired: ['tab', 'fold', 'family']});
    assert.deepEqual([state.tab, state.get('fold')], ['predictions', '']);
    folds.follow(state);
    state.walk({text: 'other'}, tab);
    assert.ok(state.knows(state.tab), 'a place in the history leads to a tab');
    assert.equal(sent.length, 2);
    await settled();
  }
});
