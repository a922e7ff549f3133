// What counts as a word and as a choice, as in explorer/models/tokens.py; a choice, [he|she], is one word here.
const ALTERNATIVE = '(?:(?!\\n)[\\s\\x85])*[^\\[\\]|\\s\\x85][^\\[\\]|\\n]*';   // none is blank
const OFFERED = `\\[(?=[^\\[\\]\\n]{1,400}\\])${ALTERNATIVE}(?:\\|${ALTERNATIVE})+\\]`;
const LETTER = '\\p{L}\\p{N}_', ATTACHED = '\\p{M}\\u200c\\u200d', LETTERS = `[${LETTER}][${LETTER}${ATTACHED}]*`;
export const WORD = new RegExp(`${OFFERED}|\\[(?:MASK|SEP|CLS|UNK|PAD)\\]|${LETTERS}(?:['’]${LETTERS})*|[^${LETTER}\\s][${ATTACHED}]*`, 'gu');
export const MASK = new RegExp(`\\[MASK\\]|${OFFERED}`, 'gu');

/** The text as it is run: a mask in place of every choice. @param {string} text */
export const hideChoices = text => text.replace(MASK, '[MASK]');

/** @param {string} text @returns {string[]} */
export const splitWords = text => [...text.matchAll(WORD)].map(match => match[0]);
