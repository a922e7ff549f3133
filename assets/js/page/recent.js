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
 * @param {Compared} newest
 * @returns {Compared[]}
 */
export function withNewest(kept, newest) {
  /** @param {any} old */
  const fits = ({text, hidden}) =>
    typeof text === 'string' && typeof hidden === 'string' && text.length <= LONGEST;
  const others = (Array.isArray(kept) ? kept : []).filter(
    old => old && fits(old) && old.text !== newest.text,
  );
  return [...(fits(newest) ? [newest] : []), ...others].slice(0, LIMIT);
}

/** @param {string} label @param {(compared: Compared) => void} choose */
export function recentTexts(label, choose) {
  const select = make('select', {class: 'chip recent', 'aria-label': label, hidden: true});
  /** @type {Compared[]} */ let listed = [];
  select.addEventListener('change', () => {
    if (select.value) choose(listed[Number(select.value)]); // the list's name chooses nothing
  });
  /** @param {Compared} now the text on the page */
  const follow = now => {
    listed = withNewest(recall('texts'), now);
    remember('texts', listed);
    const options = listed.flatMap(({text}, i) =>
      text === now.text ? [] : [make('option', {value: String(i)}, cut(text, SHOWN))],
    );
    select.replaceChildren(make('option', {value: ''}, label), ...options);
    select.hidden = !options.length;
  };
  return {select, follow};
}
