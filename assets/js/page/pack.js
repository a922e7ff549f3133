// Texts too long for a link as they are: deflated, in base64url, as explorer/links/codec.py reads
// them.

/**
 * @typedef {{fits: boolean, params: Record<string, string>, length: number}} Link `length`:
 *   characters as they are encoded
 */

/** A text or bytes, deflated, in base64. @param {string | Uint8Array} content */
export async function deflated(content) {
  const stream = new Blob([/** @type {BlobPart} */ (content)])
    .stream()
    .pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
}

/** @param {Record<string, string>} texts */
const pack = async texts =>
  (await deflated(JSON.stringify(texts)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Characters of a link's fields as they are encoded. @param {Record<string, string>} params */
export const lengthOf = params => new URLSearchParams(params).toString().length;

/**
 * The link of fields for which there is no room as they are.
 * @param {Record<string, string>} params
 * @param {import('./state.js').Config} config
 * @returns {Promise<Link>}
 */
export async function shortened(params, {limit, longest, packed, texts_of: names}) {
  const texts = Object.fromEntries(Object.entries(params).filter(([name]) => names.includes(name)));
  const rest = Object.fromEntries(Object.entries(params).filter(([name]) => !names.includes(name)));
  const can = 'CompressionStream' in globalThis,
    short = can ? {...rest, [packed]: await pack(texts)} : params,
    length = lengthOf(short);
  const fits = can && length <= longest && Object.values(texts).every(text => text.length <= limit);
  return {fits, params: fits ? short : {...rest, [packed]: NONE}, length};
}

/** Stands in the address for texts that have no room there. */
export const NONE = 'none';
