// The text of a source is unchanged; names with an address become links, the longest name first.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {parts} from '../../../assets/js/kit/links.js';

const places = {'docs albert.md': 'a', 'arXiv:1909.11942v6': 'p', docs: 'd'};

test('two links in one source are two, and no word of it is lost', () => {
  const source = 'ALBERT arXiv:1909.11942v6 Table 1; docs albert.md; docs; measured here';
  const found = parts(source, places);
  assert.deepEqual(found.filter((_, i) => i % 2), ['arXiv:1909.11942v6', 'docs albert.md', 'docs']);
  assert.equal(found.join(''), source);
});

test('a source without a link, and links without a name, stay as they are', () => {
  assert.deepEqual(parts('measured here', places), ['measured here']);
  assert.deepEqual(parts('docs', {}), ['docs']);
});
