// A PNG with metadata: valid checksums, the complete text, all other chunks unchanged.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {crc32} from 'node:zlib';

import {crc, described} from '../../../assets/js/take/png.js';

const DOT = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const about = {text: 'Où est [MASK]? 漢字', models: ['a', 'b'], link: 'http://page.test/?v=1'};

function chunks(png) {
  const found = [];
  for (let at = 8; at < png.length; at += found.at(-1).length + 12) {
    const length = png.readUInt32BE(at), body = png.subarray(at + 4, at + 8 + length);
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(body));
    found.push({length, name: body.subarray(0, 4).toString(), content: body.subarray(4)});
  }
  return found;
}

test('the sum is the one of the format', () => {
  for (const text of ['', 'IEND', 'Où? 漢字'.repeat(99)]) assert.equal(crc(new TextEncoder().encode(text)), crc32(text));
});

test('what is known stands behind the header, the picture is untouched', async () => {
  const png = Buffer.from(await described(new Uint8Array(DOT), about).arrayBuffer()), found = chunks(png);
  assert.deepEqual(found.map(one => one.name), ['IHDR', 'iTXt', 'iTXt', 'iTXt', 'IDAT', 'IEND']);
  assert.equal(found[1].content.toString(), 'text\0\0\0\0\0Où est [MASK]? 漢字');
  assert.equal(found[2].content.toString(), 'models\0\0\0\0\0["a","b"]');
  assert.deepEqual(found.filter(one => one.name !== 'iTXt').map(one => one.content.toString('hex')), chunks(DOT).map(one => one.content.toString('hex')));
});
