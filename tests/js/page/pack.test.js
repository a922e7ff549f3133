// Long texts in a link: packed in Python's format, refused where even that is too long.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {inflateRawSync} from 'node:zlib';

import {lengthOf, NONE, shortened} from '../../../assets/js/page/pack.js';

const config = /** @type {any} */ ({limit: 5000, longest: 1900, packed: 'z', texts_of: ['text', 'passage']});
const unpacked = z => JSON.parse(inflateRawSync(Buffer.from(z, 'base64url')).toString());
const text = `${'The cat “sat” & slept — 日本 🙂 '.repeat(100)}[MASK]`;

test('every text of the link is in the one field, and what is no text stays beside it', async () => {
  const {fits, params, length} = await shortened({v: '1', family: 'mini', layer: '2', text, passage: 'Short.'}, config);
  const {z, ...rest} = params;
  assert.deepEqual([fits, rest, unpacked(z)], [true, {v: '1', family: 'mini', layer: '2'}, {text, passage: 'Short.'}]);
  assert.match(z, /^[\w-]+$/, 'nothing that an address would encode');
  assert.ok(length === lengthOf(params) && length < 300, String(length));
});

test('what has no room is refused whole, and the address says that something is missing', async () => {
  let seed = 1;
  const noise = Array.from({length: 4000}, () => String.fromCharCode(33 + (seed = seed * 48271 % 2147483647) % 89)).join('');
  for (const long of [noise, 'a'.repeat(5001)]) {
    const {fits, params} = await shortened({v: '1', text: long}, config);
    assert.deepEqual([fits, params], [false, {v: '1', z: NONE}]);
  }
});

test('a browser that cannot deflate refuses too', async () => {
  const {CompressionStream} = globalThis;
  delete globalThis.CompressionStream;
  const {fits, params} = await shortened({v: '1', text}, config);
  globalThis.CompressionStream = CompressionStream;
  assert.deepEqual([fits, params.z], [false, NONE]);
});
