// Words that the glossary explains: buttons in the flow of a sentence, which open the page's boxes.
import {make} from './dom.js';

/** One word that opens its box. @param {string} shown @param {string} box */
const term = (shown, box) =>
  make('button', {type: 'button', class: 'term', popovertarget: box}, shown);

/** @param {string} word */
export const literal = word => word.replace(/[[\].()/]/g, '\\$&');

/**
 * Explains each word at the first place where it stands, sentence after sentence.
 * @param {Record<string, string>} terms the word as it is shown, and the id of its box
 */
export function explainer(terms) {
  const left = new Map(Object.entries(terms));
  const pattern = new RegExp(`(?<!\\w)(${[...left.keys()].map(literal).join('|')})(?!\\w)`);
  return (/** @type {string} */ text) =>
    text.split(pattern).map((part, i) => {
      const box = i % 2 ? left.get(part) : null;
      left.delete(box ? part : '');
      return box ? term(part, box) : part;
    });
}

/** The same for one sentence. @param {string} text @param {Record<string, string>} terms */
export const explained = (text, terms) => explainer(terms)(text);
