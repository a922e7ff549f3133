// Sources as they are printed, with a link wherever one names a place to read it.
import {make} from './dom.js';
import {literal} from './term.js';

/**
 * A text in parts; every second one is a link.
 * @param {string} text
 * @param {Record<string, string>} addresses what is a link, the longest first, and where it leads
 */
export const parts = (text, addresses) =>
  Object.keys(addresses).length
    ? text.split(new RegExp(`(${Object.keys(addresses).map(literal).join('|')})`))
    : [text];

/** @param {string} text @param {Record<string, string>} addresses */
export const linked = (text, addresses) =>
  parts(text, addresses).map((part, i) =>
    i % 2 ? make('a', {href: addresses[part], target: '_blank', rel: 'noopener'}, part) : part,
  );
