// A pair of sentences is one text with a [SEP] in it; the box shows it as two.
const SEPARATOR = /[ \t]*\[SEP\]\s*/;

/**
 * Where the first sentence ends and the second begins; null for a text that is no pair.
 * @param {string} text
 */
export function cutAt(text) {
  const match = SEPARATOR.exec(text);
  return match && {end: match.index, start: match.index + match[0].length};
}

/** @param {string} text @returns {[string, string]} */
export function sentences(text) {
  const cut = cutAt(text);
  return cut ? [text.slice(0, cut.end), text.slice(cut.start)] : [text, ''];
}

/** The text of two boxes; the first alone where the second is empty. @param {string[]} parts */
export const joined = ([first, second]) =>
  second.trim() ? `${first.trimEnd()} [SEP] ${second.trimStart()}` : first;
