// Masks and their hidden words: by clicks, by typing, by a link.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {begin, carried, follow, masksOf, read, toggled, written} from '../../../assets/js/page/masks.js';

const at = (text, word) => ({start: text.indexOf(word), end: text.indexOf(word) + word.length});

test('a typed mask stays a typed mask when another word is hidden beside it, and the word comes back', () => {
  const text = 'He was born in the United [MASK].';
  begin(text, '');
  const hid = toggled(text, at(text, 'born'));
  assert.deepEqual(hid, {text: 'He was [MASK] in the United [MASK].', hidden: 'born|'});
  begin(hid.text, hid.hidden);
  const back = toggled(hid.text, at(hid.text, '[MASK]'));
  assert.deepEqual(back, {text, hidden: ''});
});

test('an edit before, between or behind the masks leaves their words alone', () => {
  const text = 'The [MASK] sat on the [MASK].', hidden = ['cat', 'mat'];
  assert.deepEqual(carried(text, hidden, 'Oh, the [MASK] sat on the [MASK].'), hidden);
  assert.deepEqual(carried(text, hidden, 'The [MASK] slept on the [MASK].'), hidden);
  assert.deepEqual(carried(text, hidden, 'The [MASK] sat on the [MASK], still.'), hidden);
  assert.deepEqual(carried(text, hidden, 'The [MASK] sat [MASK] on the [MASK].'), ['cat', '', 'mat']);
  assert.deepEqual(carried(text, hidden, 'The dog sat on the [MASK].'), ['mat']);
  assert.deepEqual(carried(text, hidden, 'The [MASK] sat.'), ['cat']);
  assert.deepEqual(carried(text, hidden, text), hidden);
  assert.deepEqual(carried(text, hidden, ''), []);
});

test('a mask that an edit goes through is a new one', () => {
  assert.deepEqual(carried('a [MASK] b', ['x'], 'a [MASK][MASK] b').filter(Boolean).length <= 1, true);
  assert.deepEqual(carried('a [MASK] b', ['x'], 'quite another [MASK]'), ['']);
});

test('another text that ends in a mask as well hides no word of the text before', () => {
  const text = 'He put the key into the [MASK].', hidden = ['lock'];
  assert.deepEqual(carried(text, hidden, 'The capital of Italy is [MASK].'), ['']);
  assert.deepEqual(carried(text, hidden, 'He is from the [MASK].'), ['']);
  assert.deepEqual(carried(text, hidden, 'He put my keys into the [MASK].'), hidden);
  assert.deepEqual(carried('[MASK].', hidden, '[MASK]!'), hidden);
});

test('of two masks side by side, the one that goes is the second', () => {
  assert.deepEqual(carried('a [MASK] [MASK] b', ['x', 'y'], 'a [MASK] b'), ['x']);
});

test('typing letter by letter keeps a word behind its mask', () => {
  begin('The [MASK] sat.', 'cat');
  let text = 'The [MASK] sat.';
  for (const letter of ' down') { text = text.slice(0, -1) + letter + '.'; follow(text); }
  for (const letter of 'So, ') { text = letter + text; follow(text); }
  assert.deepEqual(follow(text), ['cat']);
});

test('a choice is a mask that hides nothing, and it counts', () => {
  const text = 'The [king|queen] saw a dog.';
  assert.equal(masksOf(text).length, 1);
  begin(text, '');
  assert.equal(toggled(text, at(text, 'dog')).hidden, '|dog');
});

test('a link says the words in reading order and reads back', () => {
  assert.equal(written(['', '']), '');
  assert.deepEqual(read('a [MASK] b [MASK]', written(['', 'c'])), ['', 'c']);
  assert.deepEqual(read('a [MASK]', 'one|two|three'), ['one']);
  assert.deepEqual(read('a [MASK] b [MASK]', ''), ['', '']);
});
