// What counts as a word, as in explorer/models/tokens.py; a choice, [he|she], is one word here.
export const WORD = /\[[^\[\]|]+(?:\|[^\[\]|]+)+\]|\[(?:MASK|SEP|CLS|UNK|PAD)\]|[\p{L}\p{N}_\u0300-\u036f]+(?:['’][\p{L}\p{N}_\u0300-\u036f]+)*|[^\p{L}\p{N}_\s]/gu;

/** @param {string} text @returns {string[]} */
export const splitWords = text => [...text.matchAll(WORD)].map(match => match[0]);
