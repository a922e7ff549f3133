import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place} from '../dom.js';

const {beside} = await import('../../../assets/js/take/beside.js');

/** Everything on this page is in sight unless it is hidden. @param {string} markup */
function page(markup) {
  const root = place();
  root.innerHTML = markup;
  for (const node of root.querySelectorAll('*')) node.getClientRects = () => /** @type {any} */ (node.closest('[hidden]') ? [] : [{}]);
  return kind => beside(root.querySelector(`[data-kind=${kind}]`));
}
const TAB = `<div id="tab-depth"><div class="question"><h2>Which layer?</h2></div><p class="finding">Layer 6. <span class="live-only">Press it.</span></p>
  <div class="canvas" data-kind="first"><p class="finding">Inside.</p><p class="note">Drawn with it.</p></div>
  <p class="note">Rows are  layers. <span class="how">Click one.</span></p><p class="note how">Arrow keys move.</p><p class="note">See <a data-fold="a/b">there</a>.</p>
  <details class="note"><summary>One is the most.</summary><p>More.</p></details><details class="note"><summary>Formula</summary><p>x</p></details><p class="note" hidden>Gone.</p>
  <div class="fold"><button class="label-wrap"><span>CKA: alike?</span><span>▼</span></button><p class="fold-finding">Alike.</p><div class="drawn" data-kind="second"><i></i></div>
    <p class="note">Of the second.</p><h3>Heads</h3><div class="canvas" data-kind="third"><h3>Inner</h3></div><p class="note">Of the third.</p></div></div>`;

test('the headline has the question of its tab, its finding and its notes: nothing that only the page can do', () => {
  const {title, above, below} = page(TAB)('first');
  assert.deepEqual([title, above, below], ['Which layer?', ['Layer 6.'], ['Rows are layers.', 'One is the most.']]);
});

test('a picture in a fold has the title of the fold, or the heading above it, and what stands up to the next', () => {
  const of = page(TAB);
  assert.deepEqual(of('second'), {title: 'CKA: alike?', above: ['Alike.'], below: ['Of the second.']});
  assert.deepEqual(of('third'), {title: 'Heads', above: [], below: ['Of the third.']});
});

test('a part of a picture has its own heading and note; without a place nothing is said', () => {
  const of = page(`<div id="tab-x"><p class="finding">F.</p><div class="canvas"><section><h3>Chosen</h3><div data-kind="part"></div><div><p class="note">In percent.</p></div></section></div></div>
    <div data-kind="alone"></div>`);
  assert.deepEqual(of('part'), {title: 'Chosen', above: [], below: ['In percent.']});
  assert.deepEqual(of('alone'), {title: '', above: [], below: []});
});

test('a part of a tab is called as its button, and a tab that was taken away by the title of its file', () => {
  assert.equal(page('<button class="part-tab" aria-controls="part-t-p">Pairs</button><div class="part" id="part-t-p"><div class="drawn" data-kind="p"></div></div>')('p').title, 'Pairs');
  document.body.classList.add('taken');
  assert.equal(page('<h1>Taken</h1><section id="tab-y"><div class="canvas" data-kind="t"></div></section>')('t').title, 'Taken');
  document.body.classList.remove('taken');
});
