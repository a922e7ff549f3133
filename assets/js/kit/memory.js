// What this browser keeps for its reader. Where it may keep nothing (a private window), nothing
// breaks.

/**
 * @typedef {'localStorage' | 'sessionStorage'} Place for good, or until the browser's tab is closed
 */

/** @param {string} name @param {Place} place @returns {any} null where nothing is kept */
export function recall(name, place = 'localStorage') {
  try {
    return JSON.parse(window[place].getItem(`explorer-${name}`) ?? 'null');
  } catch {
    return null;
  }
}

/** @param {string} name @param {unknown} value @param {Place} place */
export function remember(name, value, place = 'localStorage') {
  try {
    window[place].setItem(`explorer-${name}`, JSON.stringify(value));
  } catch {
    /* it is forgotten */
  }
}
