// A view that the page leads to, in the tour or in a lesson: opened as its link opens it, with the
// place lit that is spoken of.
import {config, visit} from './here.js';
import {openNext} from './folds.js';
import {landOnPicture} from './landing.js';
import {typeText} from './parts.js';
import {put} from './tabs.js';

const lighting = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, lighting];
let turn = 0; // the newest place that was to be lit

/**
 * Set these parameters of the address, which are no fields of the link; null takes one away.
 * @param {Record<string, string | null>} changes
 * @param {boolean} isNew a new place in the browser's history
 */
export function address(changes, isNew = false) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (isNew) history.pushState(history.state, '', url);
  else history.replaceState(history.state, '', url);
}

/** Open on this page what a link with these fields opens. @param {Record<string, string>} fields */
export function openView({tab, fold, ...rest}) {
  const {defaults} = config(),
    text = rest.text ?? defaults.text;
  typeText(text);
  // before the first answer the link's own folds are still to be opened
  visit({...rest, text, tab, fold});
  put({family: rest.family ?? defaults.family, tab});
  openNext(tab, fold);
}

/**
 * Light the first of these that is drawn, however often it is drawn anew; it comes into sight when
 * it is there.
 * @param {string} place a selector; empty: none
 * @param {() => number} [below] how much of the window's lower end is covered
 */
export function light(place, below = () => 0) {
  const mine = ++turn;
  lighting.replaceSync('');
  const drawn = () =>
    /** @type {HTMLElement[]} */ ([...document.querySelectorAll(place)]).find(
      picture => picture.childElementCount && picture.getClientRects().length,
    ) ?? null;
  // a busy server answers late
  const changes = new MutationObserver(() => look());
  const look = () => {
    changes.disconnect();
    if (turn !== mine) return;
    const picture = drawn();
    if (!picture) {
      changes.observe(document.body, {childList: true, subtree: true, attributes: true});
      return;
    }
    const {kind} = picture.dataset;
    // Around a row, whose table hides what stands over its edge, the line is drawn inside.
    const room = picture.matches('tr')
      ? 'outline-offset: -3px; padding-inline: 8px'
      : 'outline-offset: 2px';
    lighting.replaceSync(
      `${place}${kind ? `[data-kind="${kind}"]` : ''}` +
        `{ outline: 3px solid var(--warn); border-radius: 4px; ${room}; }`,
    );
    landOnPicture(drawn, below);
  };
  if (place) setTimeout(look, 0); // the key that chose the stop is no act against it
}
