// The words behind the masks: which of a text's masks hides which word, kept through every edit.

import {MASK} from './pattern.js'; // a choice, [he|she], is a mask too

/** Where the masks of a text are. @param {string} text @returns {{start: number, end: number}[]} */
export const masksOf = text =>
  [...text.matchAll(MASK)].map(m => ({start: m.index, end: m.index + m[0].length}));

/** Outside the masks. @param {string} text */
const nLetters = text => text.replace(MASK, '').match(/[\p{L}\p{N}]/gu)?.length ?? 0;

/**
 * The words behind the masks after an edit: what lies wholly before or behind it stays what it was.
 * Where less than half of the shorter text stays, it is another text, and nothing is known of its
 * masks.
 * @param {string} before @param {string[]} hidden @param {string} after @returns {string[]}
 */
export function carried(before, hidden, after) {
  const longest = Math.min(before.length, after.length);
  let head = 0,
    tail = 0;
  while (head < longest && before[head] === after[head]) head += 1;
  while (tail < longest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const nKept = nLetters(after.slice(0, head)) + nLetters(after.slice(after.length - tail));
  if (2 * nKept < Math.min(nLetters(before), nLetters(after))) return masksOf(after).map(() => '');
  const old = new Map();
  masksOf(before).forEach((mask, i) => {
    if (mask.end <= head) old.set(mask.start, hidden[i]);
    else if (mask.start >= before.length - tail)
      old.set(mask.start + after.length - before.length, hidden[i]);
  });
  return masksOf(after).map(mask => old.get(mask.start) ?? '');
}

/** As a link holds them; nothing where no word is known. @param {string[]} hidden */
export const written = hidden => (hidden.some(Boolean) ? hidden.join('|') : '');

/** @param {string} text @param {string} link @returns {string[]} */
export function read(text, link) {
  const words = link.split('|');
  return masksOf(text).map((_, i) => words[i] ?? '');
}

/** @type {{text: string, hidden: string[]}} */
const now = {text: '', hidden: []};

/** The text in the box is this now. @param {string} text */
export function follow(text) {
  Object.assign(now, {hidden: carried(now.text, now.hidden, text), text});
  return now.hidden;
}

/**
 * The page shows this text, and these words are behind its masks.
 * @param {string} text
 * @param {string} link
 */
export function begin(text, link) {
  Object.assign(now, {text, hidden: read(text, link)});
}

/**
 * One word hidden, or one brought back.
 * @param {string} text
 * @param {{start: number, end: number}} at
 * @returns {{text: string, hidden: string}}
 */
export function toggled(text, at) {
  const hidden = [...follow(text)],
    ordinal = masksOf(text).filter(mask => mask.end <= at.start).length;
  const word = text.slice(at.start, at.end),
    isMask = word === '[MASK]';
  const put = isMask ? hidden.splice(ordinal, 1)[0] : '[MASK]';
  if (!isMask) hidden.splice(ordinal, 0, word);
  const changed = text.slice(0, at.start) + put + text.slice(at.end);
  Object.assign(now, {text: changed, hidden});
  return {text: changed, hidden: written(hidden)};
}

/**
 * A gap filled with a predicted word; one that continues the word before joins it.
 * @param {string} text
 * @param {number} ordinal
 * @param {string} word
 */
export function filled(text, ordinal, word) {
  const hidden = [...follow(text)],
    mask = masksOf(text)[ordinal],
    before = text.slice(0, mask.start);
  const start = word.startsWith('…') ? before.trimEnd() + word.slice(1) : before + word;
  hidden.splice(ordinal, 1);
  const changed = start + text.slice(mask.end);
  Object.assign(now, {text: changed, hidden});
  return {text: changed, hidden: written(hidden)};
}
