// How a picture is looked at: choices that change no number that a model computes, all in one field
// of the link.
import {choose, chosen} from './here.js';

/** @param {string} field */
const read = field =>
  new Map(
    field
      .split(',')
      .filter(Boolean)
      .map(entry => /** @type {[string, string]} */ (entry.split(':'))),
  );

/**
 * A choice that outlives a new text, that a link brings and Back restores. A saved file has no
 * link: there it lives with the page.
 * @param {string} name letters alone @param {string | number} usual what the link leaves out
 * @returns {{value: string}}
 */
export function look(name, usual) {
  let own = String(usual);
  return {
    get value() {
      const field = chosen('look');
      return field === null ? own : (read(field).get(name) ?? String(usual));
    },
    set value(value) {
      own = String(value);
      const all = read(chosen('look') ?? '');
      if (own === String(usual)) all.delete(name);
      else all.set(name, own);
      choose({
        look: [...all]
          .map(pair => pair.join(':'))
          .toSorted()
          .join(','),
      });
    },
  };
}
