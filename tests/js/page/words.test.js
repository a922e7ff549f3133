import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {click, place, texts} from '../dom.js';
import {begun, reply} from './stage.js';

await import('../../../assets/js/early.js');
await import('../../../assets/js/gradio.js');
const {show, table} = await import('../../../assets/js/page/words.js');

const said = {hint: 'Click a word.', cut: '{shown} shown, {left} left', recent: 'Recent', mask: 'mask {word}', unmask: 'masked: {word}, unmask',
  fill: '[MASK], type a word', edit: 'Edit', first: 'First', second: 'Second', remove: 'Remove'};
const put = [];

/** The word bar, with a text on the page and in the input box. */
function bar(text, params = {}) {
  localStorage.clear();
  const page = place();
  page.innerHTML = `<div id="input-bar"><div id="text-row"><div id="text"><textarea></textarea></div><div id="words"></div><button id="compare"></button></div>
    <div id="examples"><button data-text="The [MASK] sat." title="A cat.">Cat</button><button data-text="Deep." data-tab="depth" data-fold="moves">Depth</button>
    <div id="more-examples"></div><button id="add-sentence"></button><p class="shows"></p></div></div><div id="tabs"></div><button id="put"></button>`;
  page.querySelector('#put').addEventListener('click', () => put.push(window.explorer.placed()));
  const area = page.querySelector('textarea'), root = page.querySelector('#words');
  area.value = text;
  area.dispatchEvent(new Event('input', {bubbles: true}));
  const {state, sent} = begun({text, ...params});
  show(root, {text, ...said});
  return {page, root, area, state, sent, words: () => texts(root, '.strip > *'),
    word: name => [...root.querySelectorAll('.strip button')].find(one => one.textContent === name),
    type(now) { area.value = now; area.dispatchEvent(new Event('input', {bubbles: true})); }};
}
const isEditing = page => page.querySelector('#input-bar').classList.contains('editing');
beforeEach(() => { put.length = 0; });

test('words are buttons, marks are not, a choice is one word, and the text is what was typed', () => {
  const {root, words} = bar('It\'s  5 [he|she] o\'clock, [MASK]!');
  assert.deepEqual(words(), ['It\'s', '5', '[he|she]', 'o\'clock', ',', '[MASK]', '!']);
  assert.equal(root.querySelector('.strip').textContent, 'It\'s  5 [he|she] o\'clock, [MASK]!');
  assert.deepEqual([...root.querySelectorAll('.strip > *')].map(node => node.className),
    ['word', 'word', 'word masked choice', 'word', 'mark', 'word masked', 'mark']);
  assert.deepEqual([...root.querySelectorAll('.strip button')].map(node => node.getAttribute('aria-label')),
    ['mask It\'s', 'mask 5', 'mask o\'clock', '[MASK], type a word']);
  assert.deepEqual([...root.querySelectorAll('.strip button')].map(node => node.getAttribute('aria-pressed')), ['false', 'false', 'false', 'true']);
  assert.equal(root.querySelector('.strip').getAttribute('aria-label'), 'Click a word.');
  assert.deepEqual(bar('a | b').words(), ['a', '|', 'b']);
});

test('a click hides a word, and it is run; once more brings it back', () => {
  const {area, sent, state, word} = bar('A cat sat.');
  click(word('cat'));
  assert.equal(area.value, 'A [MASK] sat.');
  assert.deepEqual([sent[0].text, sent[0].hidden], ['A [MASK] sat.', 'cat']);
  reply(state);
  assert.equal(word('[cat]').getAttribute('aria-label'), 'masked: cat, unmask');
  click(word('[cat]'));
  assert.deepEqual([area.value, sent[1].text, sent[1].hidden], ['A cat sat.', 'A cat sat.', '']);
});

test('the answer to what the box shows leaves its words as they are: one may be pressed', () => {
  const {state, word} = bar('A cat sat.');
  click(word('cat'));
  const pressed = word('[cat]');
  reply(state);
  assert.equal(word('[cat]'), pressed);
});

test('a mask behind a choice has its own word', () => {
  assert.deepEqual(bar('[he|she] saw a [MASK].', {hidden: '|dog'}).words(), ['[he|she]', 'saw', 'a', '[dog]', '.']);
  assert.deepEqual(bar('[MASK] saw a [MASK].', {hidden: 'He|dog'}).words(), ['[He]', 'saw', 'a', '[dog]', '.']);
});

test('a mask without a word is offered: selected in the box, for a word to be typed', () => {
  const {area, sent, root} = bar('A [MASK] and [MASK].'), masks = root.querySelectorAll('.strip .masked'), chosen = [];
  area.setSelectionRange = (...given) => chosen.push(given);
  click(masks[1]);
  assert.deepEqual([chosen, document.activeElement, sent.length], [[[13, 19]], area, 0]);
  area.value = 'Something else [MASK] [MASK]';   // typed on without an event
  click(masks[0]);
  assert.equal(chosen.length, 1);
});

test('the strip follows what is typed, and keeps the words behind the masks', () => {
  const {words, type, root} = bar('A [MASK] sat.', {hidden: 'cat'});
  type('So a [MASK] sat.');
  assert.deepEqual(words(), ['So', 'a', '[cat]', 'sat', '.']);
  assert.equal(root.querySelector('.strip').dataset.text, 'A [MASK] sat.');
  const other = document.createElement('input');
  root.append(other);
  other.dispatchEvent(new Event('input', {bubbles: true}));
  assert.deepEqual(words()[0], 'So');
});

test('an answer does not take back what was typed on meanwhile', () => {
  const {state, words, type, root} = bar('One.');
  state.compare({text: 'Two.', family: 'mini'});
  type('Two and more.');
  reply(state);
  assert.deepEqual([words(), root.querySelector('.strip').dataset.text], [['Two', 'and', 'more', '.'], 'Two.']);
});

test('a long text shows its first four hundred words and says how many are left', () => {
  const {words, root} = bar('w '.repeat(1600));
  assert.equal(words().length, 401);
  assert.equal(root.querySelector('.strip').lastChild.textContent.trim(), '400 shown, 1,200 left');
  assert.equal(bar('w '.repeat(400)).words().length, 400);
});

test('an example is run as it is, and says what it shows', () => {
  const {page, area, sent, state} = bar('A cat sat.', {hidden: ''});
  assert.equal(page.querySelector('.shows').textContent, '');
  click(page.querySelector('#examples [data-text]'));
  assert.deepEqual([area.value, sent[0].text, sent[0].hidden, put.length], ['The [MASK] sat.', 'The [MASK] sat.', '', 0]);
  reply(state);
  assert.equal(page.querySelector('.shows').textContent, 'A cat.');
});

test('an example of another tab opens it, one of this tab does not open it again', () => {
  click(bar('A cat sat.').page.querySelectorAll('#examples [data-text]')[1]);
  assert.deepEqual(put, [{tab: 'depth'}]);
  click(bar('A cat sat.', {tab: 'depth'}).page.querySelectorAll('#examples [data-text]')[1]);
  assert.equal(put.length, 1);
});

test('it is a text box while it is typed in, and words again once that is answered or left', () => {
  const {page, area, state, type} = bar('One.');
  const press = key => area.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  area.dispatchEvent(new Event('focusin', {bubbles: true}));
  assert.ok(isEditing(page));
  type('Two.');
  state.compare({text: 'Two.'});
  reply(state);
  assert.ok(!isEditing(page));
  press('Tab');
  assert.ok(!isEditing(page));
  press('x');
  assert.ok(isEditing(page));
  area.dispatchEvent(new Event('focusout', {bubbles: true}));
  assert.ok(!isEditing(page));
});

test('a pair has two boxes, and is the same text with [SEP]', () => {
  const {root, page, area, sent, word} = bar('The king died. [SEP] His [MASK] reigned.'), boxes = root.querySelectorAll('textarea');
  assert.deepEqual([...boxes].map(box => [box.getAttribute('aria-label'), box.value]), [['First', 'The king died.'], ['Second', 'His [MASK] reigned.']]);
  assert.deepEqual([...root.querySelectorAll('.strip')].map(strip => strip.textContent), ['The king died.', 'His [MASK] reigned.']);
  assert.equal(area.tabIndex, -1);
  boxes[1].value = 'Her [MASK] reigned.';
  boxes[1].dispatchEvent(new Event('input', {bubbles: true}));
  assert.equal(area.value, 'The king died. [SEP] Her [MASK] reigned.');
  const chosen = [];
  boxes[1].setSelectionRange = (...given) => chosen.push(given);
  click(word('[MASK]'));
  assert.deepEqual([chosen, document.activeElement], [[[4, 10]], boxes[1]]);
  click(word('king'));
  assert.equal(sent[0].text, 'The [MASK] died. [SEP] Her [MASK] reigned.');
  click(page.querySelector('[aria-label=Remove]'));
  assert.deepEqual([sent[1].text, root.querySelectorAll('textarea').length, area.tabIndex], ['The [MASK] died.', 0, 0]);
});

test('a second sentence can be added; left empty, there is none', () => {
  const {root, page, area, state} = bar('The king died.');
  click(page.querySelector('#add-sentence'));
  const [first, second] = root.querySelectorAll('textarea');
  assert.deepEqual([first.value, second.value, document.activeElement], ['The king died.', '', second]);
  second.value = 'His son';
  second.dispatchEvent(new Event('input', {bubbles: true}));
  assert.equal(area.value, 'The king died. [SEP] His son');
  second.value = ' ';
  second.dispatchEvent(new Event('input', {bubbles: true}));
  assert.equal(area.value, 'The king died.');
  second.dispatchEvent(new Event('focusout', {bubbles: true}));
  state.compare({text: 'Another.'});
  area.value = 'Another.';
  area.dispatchEvent(new Event('input', {bubbles: true}));
  reply(state);
  assert.equal(root.querySelectorAll('textarea').length, 0);
});

test('the texts compared before can be chosen again, with their hidden words', () => {
  const {page, state, sent, area} = bar('A cat sat.'), select = page.querySelector('select');
  assert.deepEqual([select.hidden, select.getAttribute('aria-label')], [true, 'Recent']);
  state.compare({text: `The [MASK] ${'x'.repeat(80)}`, hidden: 'dog'});
  reply(state);
  state.compare({text: 'Last.', hidden: ''});
  reply(state);
  assert.deepEqual(texts(select, 'option'), ['Recent', `The [MASK] ${'x'.repeat(49)}…`, 'A cat sat.']);
  assert.equal(select.hidden, false);
  sent.length = 0;
  select.value = '1';
  select.dispatchEvent(new Event('change'));
  assert.deepEqual([sent[0].text.slice(0, 10), sent[0].hidden, area.value.length], ['The [MASK]', 'dog', 91]);
  select.value = '';
  select.dispatchEvent(new Event('change'));
  assert.equal(sent.length, 1);
  for (const text of [`a${'😀'.repeat(60)}`, 'Last.']) {
    state.compare({text, hidden: ''});
    reply(state);
  }
  assert.equal(texts(select, 'option')[1], `a${'😀'.repeat(59)}…`);
});

test('a link\'s text that is refused, or has no answer, is the one that is shown', () => {
  for (const end of [state => reply(state, {accepted: false, drawn: false}), state => state.lost()]) {
    const {root, words, type} = bar('x'), {state} = begun({text: 'y'});
    state.accepted = null;
    state.wanted = {text: 'Too long.'};
    type('Too long.');
    end(state);
    assert.deepEqual([words(), root.querySelector('.strip').dataset.text], [['Too', 'long', '.'], 'Too long.']);
  }
});

test('Ctrl or Cmd with Enter compares; Enter alone is Gradio\'s in its own box, and ours in a pair\'s', () => {
  const {page, area} = bar('x');
  let pressed = 0;
  page.querySelector('#compare').addEventListener('click', () => { pressed += 1; });
  const press = (how, box = area) => {
    const event = new KeyboardEvent('keydown', {bubbles: true, cancelable: true, ...how});
    box.dispatchEvent(event);
    return event.defaultPrevented;
  };
  assert.deepEqual([press({key: 'Enter', ctrlKey: true}), press({key: 'Enter', metaKey: true}), press({key: 'Enter'}), press({key: 'a', ctrlKey: true})],
    [true, true, false, false]);
  assert.equal(pressed, 2);
  click(page.querySelector('#add-sentence'));
  const [, second] = page.querySelectorAll('#words textarea');
  assert.deepEqual([press({key: 'Enter'}, second), press({key: 'Enter', shiftKey: true}, second), pressed], [true, false, 3]);
  bar('A cat.');
  assert.deepEqual(table(), {columns: ['word'], rows: [['A'], ['cat'], ['.']]});
});

test('the last texts are there also where the further examples are drawn later than the words, or anew', () => {
  const {page, state} = bar('A cat sat.');
  page.querySelector('#more-examples').outerHTML = '<div id="more-examples"></div>';
  reply(state);
  assert.equal(page.querySelectorAll('#more-examples select.recent').length, 1);
});
