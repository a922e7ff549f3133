import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {click, place, texts} from '../dom.js';
import {begun, reply} from './stage.js';

const {show, table} = await import('../../../assets/js/page/words.js');

const said = {text: 'start', hint: 'Click a word.', keys: 'Ctrl+Enter', try: 'Try:', cut: '{shown} shown, {left} left', recent: 'Recent',
  examples: [{label: 'Cat', text: 'The [MASK] sat.', shows: 'A cat.'}, {label: 'Depth', text: 'Deep.', tab: 'depth', fold: 'moves'}]};
const put = [];

/** The bar with a text on the page and in the box. */
function bar(text, params = {}, changes = {}) {
  localStorage.clear();
  const page = place();
  page.innerHTML = '<div id="text"><textarea></textarea></div><div id="words"></div><button id="put"></button><button id="compare"></button>';
  page.querySelector('#put').addEventListener('click', () => put.push(window.explorer.placed()));
  const area = page.querySelector('textarea'), root = page.querySelector('#words');
  area.value = text;
  area.dispatchEvent(new Event('input', {bubbles: true}));
  const {state, sent} = begun({text, ...params});
  show(root, {...said, ...changes});
  return {page, root, area, state, sent, words: () => texts(root, '.strip > *'),
    word: name => [...root.querySelectorAll('.strip button')].find(one => one.textContent === name),
    type(now) { area.value = now; area.dispatchEvent(new Event('input', {bubbles: true})); }};
}
beforeEach(() => { put.length = 0; });

test('words are buttons, marks are not, a separator is a sign, a choice is one word', () => {
  const {root, words} = bar('It\'s 5 [he|she] o\'clock, [SEP] [MASK]!');
  assert.deepEqual(words(), ['It\'s', '5', '[he|she]', 'o\'clock', ',', '⟂', '[MASK]', '!']);
  assert.deepEqual([...root.querySelectorAll('.strip > *')].map(node => node.className),
    ['word', 'word', 'word masked choice', 'word', 'mark', 'sep', 'word masked', 'mark']);
  assert.deepEqual([...root.querySelectorAll('.strip button')].map(node => node.getAttribute('aria-label')),
    ['mask It\'s', 'mask 5', 'mask o\'clock', '[MASK], type a word in its place']);
  assert.deepEqual([...root.querySelectorAll('.strip button')].map(node => node.getAttribute('aria-pressed')), ['false', 'false', 'false', 'true']);
  assert.equal(root.querySelector('.strip').getAttribute('aria-label'), 'Click a word.');
  assert.equal(root.querySelector('.hint').textContent, 'Click a word. Ctrl+Enter');
  assert.deepEqual(bar('a | b').words(), ['a', '|', 'b']);
});

test('a click hides a word, and it is run; once more brings it back', () => {
  const {area, sent, state, word} = bar('A cat sat.');
  click(word('cat'));
  assert.equal(area.value, 'A [MASK] sat.');
  assert.deepEqual([sent[0].text, sent[0].hidden], ['A [MASK] sat.', 'cat']);
  reply(state);
  assert.equal(word('[cat]').getAttribute('aria-label'), 'masked: cat, bring back');
  click(word('[cat]'));
  assert.deepEqual([area.value, sent[1].text, sent[1].hidden], ['A cat sat.', 'A cat sat.', '']);
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
  assert.equal(root.querySelector('.strip').lastChild.textContent, '400 shown, 1,200 left');
  assert.equal(bar('w '.repeat(400)).words().length, 400);
});

test('an example is run as it is, and says what it shows', () => {
  const {root, area, sent, state} = bar('A cat sat.', {hidden: ''}), [cat] = root.querySelectorAll('.chips button');
  assert.deepEqual(texts(root, '.chips > :not(select)'), ['Try:', 'Cat', 'Depth']);
  assert.deepEqual([...root.querySelectorAll('.chips button')].map(chip => chip.title), ['A cat.', 'Deep.']);
  assert.equal(root.querySelector('.shows').textContent, '');
  click(cat);
  assert.deepEqual([area.value, sent[0].text, sent[0].hidden, put.length], ['The [MASK] sat.', 'The [MASK] sat.', '', 0]);
  reply(state);
  assert.equal(root.querySelector('.shows').textContent, 'A cat.');
});

test('an example of another tab opens it, one of this tab does not open it again', () => {
  const {root} = bar('A cat sat.'), [, deep] = root.querySelectorAll('.chips button');
  click(deep);
  assert.deepEqual(put, [{tab: 'depth'}]);
  const there = bar('A cat sat.', {tab: 'depth'});
  click(there.root.querySelectorAll('.chips button')[1]);
  assert.equal(put.length, 1);
});

test('the texts compared before can be chosen again, with their hidden words', () => {
  const {root, state, sent, area} = bar('A cat sat.'), select = root.querySelector('select');
  assert.deepEqual([select.hidden, root.querySelector('.chips').firstElementChild, select.getAttribute('aria-label')], [true, select, 'Recent']);
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
});

test('a link\'s text that is refused is the one that is shown', () => {
  const {root, words, type} = bar('x'), {state} = begun({text: 'y'});
  state.accepted = null;
  state.wanted = {text: 'Too long.'};
  type('Too long.');
  reply(state, {accepted: false, drawn: false});
  assert.deepEqual([words(), root.querySelector('.strip').dataset.text], [['Too', 'long', '.'], 'Too long.']);
});

test('Ctrl or Cmd with Enter compares; Enter alone does not', () => {
  const {page} = bar('x');
  let pressed = 0;
  page.querySelector('#compare').addEventListener('click', () => { pressed += 1; });
  const press = how => {
    const event = new KeyboardEvent('keydown', {bubbles: true, cancelable: true, ...how});
    page.dispatchEvent(event);
    return event.defaultPrevented;
  };
  assert.deepEqual([press({key: 'Enter', ctrlKey: true}), press({key: 'Enter', metaKey: true}), press({key: 'Enter'}), press({key: 'a', ctrlKey: true})],
    [true, true, false, false]);
  assert.equal(pressed, 2);
  assert.deepEqual(table({text: 'A cat.'}), {columns: ['word'], rows: [['A'], ['cat'], ['.']]});
});
