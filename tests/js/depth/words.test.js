import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, texts} from '../dom.js';

const {wordFinding, wordMaps} = await import('../../../assets/js/depth/words.js');

const said = {place_cell: '{word} at {layer}: {rank}', words_strip: 'strip of {model}', embeddings: 'embeddings', layer: 'layer {n}',
  words_note: 'Note.', first_words: 'The first {n} of {all}.', words_said: 'Said: ', words_finding: '{model} has {first} of {n}',
  words_counted: 'Counted {n} of {all}.', words_none: 'None.'};
const data = {words: ['cat', 'sat'], n_words: 2, counted: 2, models: [
  {key: 'bert', label: 'BERT', first: 1, rank: [[1, null], [1499, 1]]}, {key: 'albert', label: 'ALBERT', first: 2, rank: [[10, 100], [1, 1]]}]};

test('a cell holds the place of the word, in thousands from a thousand on, and a dash where there is none', () => {
  const root = place();
  root.append(...wordMaps(data, said));
  assert.deepEqual(texts(root, '.dw[data-model=bert] td'), ['1', '–', '1k', '1']);
  assert.deepEqual(texts(root, '.dw[data-model=bert] th'), ['BERT', 'cat', 'sat', 'embeddings', '1']);
});

test('the sentence counts the words that all models can read, and says how many where some are left out', () => {
  const sentence = counted => wordFinding({...data, counted}, said).textContent;
  assert.equal(sentence(2), 'Said: BERT has 1 of 2; ALBERT has 2 of 2.');
  assert.equal(sentence(1), 'Said: BERT has 1 of 1; ALBERT has 2 of 1. Counted 1 of 2.');
  assert.equal(sentence(0), 'None.');
});
