// A row of buttons is one stop of the tab key; the arrows move in it, Home and End to its ends.
import {closest} from './dom.js';

/** @param {HTMLElement} row @param {Element} chosen */
function stop(row, chosen) {
  for (const button of row.querySelectorAll('button')) button.tabIndex = button === chosen ? 0 : -1;
}

/** The row was drawn anew: its first button is the stop. @param {HTMLElement} row */
export function rove(row) {
  row.dataset.rove = '';
  const first = row.querySelector('button');
  if (first) stop(row, first);
}

document.addEventListener('focusin', event => {
  const row = closest(event, '[data-rove]');
  if (row) stop(row, /** @type {Element} */ (event.target));
});
document.addEventListener('keydown', event => {
  const row = closest(event, '[data-rove]');
  if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
  const all = [...row.querySelectorAll('button')],
    at = all.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  const next = {ArrowRight: at + 1, ArrowLeft: at - 1 + all.length, Home: 0, End: all.length - 1}[
    event.key
  ];
  if (next === undefined || at < 0) return;
  event.preventDefault();
  all[next % all.length].focus();
});
