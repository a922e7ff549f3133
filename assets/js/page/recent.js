// The texts compared last, to be chosen again: kept in this browser alone.
import {cut, make} from '../kit/dom.js';
import {recall, remember} from '../kit/memory.js';

/** @typedef {{text: string, hidden: string}} Compared */
const LIMIT = 10,
  LONGEST = 20000,
  SHOWN = 60; // texts, characters kept, characters on the page

/**
 * The newest first, each text once.
 * @param {unknown} kept
 * @param {Compared} one
 * @returns {Compared[]}
 */
export function withNewest(kept, one) {
  /** @param {any} old */
  const fits = ({text, hidden}) =>
    typeof text === 'string' && typeof hidden === 'string' && text.length <= LONGEST;
  const others = (Array.isArray(kept) ? kept : []).filter(
    old => old && fits(old) && old.text !== one.text,
  );
  return [...(fits(one) ? [one] : []), ...others].slice(0, LIMIT);
}

/** @param {string} label @param {(one: Compared) => void} choose */
export function recentTexts(label, choose) {
  const select = make('select', {class: 'chip recent', 'aria-label': label, hidden: true});
  /** @type {Compared[]} */ let listed = [];
  select.addEventListener('change', () => {
    if (select.value) choose(listed[Number(select.value)]); // the list's name chooses nothing
  });
  /** @param {Compared} one the text on the page now */
  const follow = one => {
    listed = withNewest(recall('texts'), one);
    remember('texts', listed);
    const options = listed
      .map(({text}, i) =>
        text === one.text ? null : make('option', {value: String(i)}, cut(text, SHOWN)),
      )
      .filter(Boolean);
    select.replaceChildren(make('option', {value: ''}, label), ...options);
    select.hidden = !options.length;
  };
  return {select, follow};
}
