// Recent texts: newest first, without duplicates, ten at most, and only valid entries from the storage.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {recall, remember} from '../../../assets/js/kit/memory.js';
import {withNewest} from '../../../assets/js/page/recent.js';

const one = text => ({text, hidden: ''});

test('ten texts, the newest first, each once', () => {
  let kept = null;
  for (const text of ['a', 'b', 'a', ...'cdefghijkl']) kept = withNewest(kept, one(text));
  assert.deepEqual(kept.map(({text}) => text), [...'lkjihgfedc']);
  assert.deepEqual(withNewest([one('a'), one('b')], {text: 'b', hidden: 'x'}), [{text: 'b', hidden: 'x'}, one('a')]);
});

test('what is no text is passed over, and one too long is not kept', () => {
  for (const junk of [null, 3, 'text', {text: 'x'}, [null, 3, {}, {text: 4, hidden: ''}]]) {
    assert.deepEqual(withNewest(junk, one('a')), [one('a')]);
  }
  assert.deepEqual(withNewest([one('a')], one('x'.repeat(30000))), [one('a')]);
});

test('a browser that keeps nothing breaks nothing', () => {
  globalThis.window = {get localStorage() { throw new Error('refused'); }};
  remember('texts', [one('a')]);
  assert.equal(recall('texts'), null);
  globalThis.window = {localStorage: {getItem: () => '{broken'}};
  assert.equal(recall('texts'), null);
  delete globalThis.window;
});
