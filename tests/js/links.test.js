// A source's text stays as it is printed; each paper in it has its address.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {address, papers} from '../../assets/js/kit/links.js';

test('two papers in one source are two addresses', () => {
  const parts = papers('BERT arXiv:1810.04805; ALBERT arXiv:1909.11942v6 Table 1');
  assert.deepEqual(parts.filter((_, i) => i % 2).map(address), ['https://arxiv.org/abs/1810.04805', 'https://arxiv.org/abs/1909.11942v6']);
  assert.equal(papers('measured here').length, 1);
});

test('no claim names a paper that is no link, and no word of a source is lost', () => {
  const {claims} = JSON.parse(readFileSync(new URL('../../assets/data/claims.json', import.meta.url), 'utf8'));
  for (const {source = ''} of claims) {
    const parts = papers(source);
    assert.equal(parts.join(''), source);
    assert.equal(parts.filter((_, i) => i % 2 === 0).some(part => /arxiv\W*\d/i.test(part)), false, source);
  }
});
