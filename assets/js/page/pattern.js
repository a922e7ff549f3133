// What counts as a word and as a choice, as in explorer/models/tokens.py; a choice, [he|she], is
// one word here.
const ALTERNATIVE = '(?:(?!\\n)[\\s\\x85])*[^\\[\\]|\\s\\x85][^\\[\\]|\\n]*'; // none is blank
const OFFERED = `\\[(?=[^\\[\\]\\n]{1,400}\\])${ALTERNATIVE}(?:\\|${ALTERNATIVE})+\\]`;
const LETTER = '\\p{L}\\p{N}_',
  ATTACHED = '\\p{M}\\u200c\\u200d',
  LETTERS = `[${LETTER}][${LETTER}${ATTACHED}]*`;
const WORD = new RegExp(
  `${OFFERED}|\\[(?:MASK|SEP|CLS|UNK|PAD)\\]|${LETTERS}(?:['’]${LETTERS})*` +
    `|[^${LETTER}\\s][${ATTACHED}]*`,
  'gu',
);
const HAN = '[\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3fffd}]',
  RUNS = new RegExp(`${HAN}[${ATTACHED}]*|(?:(?!${HAN}).)+`, 'gsu');
const ATOM =
    '\\[[^\\[\\]\\s]{1,400}\\]|Br|Cl|>>|>(?!>)|%[0-9]{2}|[BCNOPSFIbcnops]' +
    '|[\\-=#+\\/\\\\:~@?*$().0-9]',
  ATOMS = new RegExp(ATOM, 'gu');
const FORMULA = new RegExp(
  '(?<!\\S)(?=\\S*(?:=|#|>>|[A-Za-z\\])]\\((?=[A-Z=#\\[])|[A-Za-z]([0-9])\\S*[A-Za-z]\\1))' +
    `(?:${ATOM}){5,}(?!\\S)`,
  'gu',
);
export const MASK = new RegExp(`\\[MASK\\]|${OFFERED}`, 'gu');

/** The text as it is run: a mask in place of every choice. @param {string} text */
export const hideChoices = text => text.replace(MASK, '[MASK]');

/**
 * The words of a text and where each begins.
 * @param {string} text
 * @returns {{text: string, index: number}[]}
 */
export function wordsOf(text) {
  /** @type {{text: string, index: number}[]} */
  const words = [];
  /** @param {string} part @param {number} from @param {RegExp} pattern */
  const add = (part, from, pattern) => {
    for (const match of part.matchAll(pattern))
      words.push({text: match[0], index: from + match.index});
  };
  /** @param {number} from @param {number} to */
  const plain = (from, to) => {
    for (const match of text.slice(from, to).matchAll(WORD)) {
      if (match[0].includes('|')) words.push({text: match[0], index: from + match.index});
      else add(match[0], from + match.index, RUNS);
    }
  };
  let end = 0;
  for (const formula of text.matchAll(FORMULA)) {
    plain(end, formula.index);
    add(formula[0], formula.index, ATOMS);
    end = formula.index + formula[0].length;
  }
  plain(end, text.length);
  return words;
}

/** @param {string} text @returns {string[]} */
export const splitWords = text => wordsOf(text).map(word => word.text);
