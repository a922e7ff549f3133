// What a PNG says of itself: one text chunk for each thing that is known, as the format has them.
const FIRST = 33; // bytes of the signature and of the header, which comes first
const REMAINDERS = Uint32Array.from({length: 256}, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** @param {Uint8Array} bytes */
export const crc = bytes =>
  (bytes.reduce((sum, byte) => REMAINDERS[(sum ^ byte) & 255] ^ (sum >>> 8), 0xffffffff) ^
    0xffffffff) >>>
  0;

/**
 * One piece of a PNG: its length, its name, what it holds, and a sum over both.
 * @param {string} name
 * @param {Uint8Array<ArrayBuffer>} content
 */
function chunk(name, content) {
  const whole = new Uint8Array(content.length + 12),
    view = new DataView(whole.buffer);
  view.setUint32(0, content.length);
  whole.set(new TextEncoder().encode(name), 4);
  whole.set(content, 8);
  view.setUint32(content.length + 8, crc(whole.subarray(4, content.length + 8)));
  return whole;
}

/**
 * A PNG with what is known of it, each under its name.
 * @param {Uint8Array<ArrayBuffer>} png
 * @param {import('./files.js').About} about
 */
export function described(png, about) {
  const texts = Object.entries(about).map(([name, value]) =>
    chunk(
      'iTXt',
      new TextEncoder().encode(
        `${name}\0\0\0\0\0${typeof value === 'string' ? value : JSON.stringify(value)}`,
      ),
    ),
  ); // plain, in no language
  return new Blob([png.subarray(0, FIRST), ...texts, png.subarray(FIRST)], {type: 'image/png'});
}
