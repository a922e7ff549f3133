// Parts of the page that Gradio builds: the text box, the row of tabs, folds; found here alone.
import {closest, find} from '../kit/dom.js';

export const isDark = () => document.body.classList.contains('dark');

/**
 * Light or dark colours.
 * @param {boolean} dark
 * @param {boolean} forNow for paper or an image, so that early.js does not put the reader's own
 *   theme back
 */
export function setDark(dark, forNow) {
  window.explorer.isOtherTheme = forNow;
  document.body.classList.toggle('dark', dark);
}

/** Gradio's text box, once it is there. */
export const textBox = () =>
  /** @type {HTMLTextAreaElement} */ (document.querySelector('#text textarea'));

/** @param {string} text */
export function typeText(text) {
  const area = textBox();
  area.value = text;
  area.dispatchEvent(new Event('input', {bubbles: true}));
}

/** How much of the screen's top the row of tabs covers while the page is scrolled. */
export function coveredAbove() {
  const bar = find(document, '#tabs > .tab-wrapper');
  return bar && getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0;
}

/**
 * @typedef {{node: HTMLElement, isPart: boolean, isFirst: boolean, isOpen: () => boolean,
 *   press: () => void, refresh: () => void}} Fold
 * A fold, or the button of a tab's part: whether it is open, and two presses.
 */

/** @param {HTMLElement} node @returns {Fold} */
function foldAt(node) {
  const isPart = node.matches('.part-tab'),
    header = isPart ? node : find(node, 'button.label-wrap'),
    refresh = find(node, '.fold-refresh');
  return {
    node,
    isPart,
    isFirst: isPart && !node.previousElementSibling,
    isOpen: () => Boolean(header?.matches('.open, [aria-selected=true]')),
    press: () => header?.click(),
    refresh: () =>
      (refresh?.matches('button') ? refresh : refresh && find(refresh, 'button'))?.click(),
  };
}

const folds = () =>
  /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.fold, .part-tab')]).map(foldAt);
export const foldsInSight = () => folds().filter(({node}) => node.getClientRects().length);
/** @param {string} tab in sight or not */
export const foldsOf = tab => folds().filter(({node}) => node.id.startsWith(`fold-${tab}-`));

/**
 * React to every fold that a click opens or closes, and to every part that it brings in sight,
 * after it did.
 * @param {(fold: Fold) => void} react
 */
export function onFold(react) {
  document.addEventListener('click', event => {
    const part = closest(event, '.part-tab'),
      header = closest(event, '.fold button.label-wrap'),
      node = part ?? /** @type {HTMLElement | null} */ (header?.closest('.fold') ?? null);
    for (const sibling of part?.parentElement?.children ?? []) {
      sibling.setAttribute('aria-selected', String(sibling === part));
      sibling.setAttribute('tabindex', sibling === part ? '0' : '-1');
    }
    if (node) setTimeout(() => react(foldAt(node)), 0);
  });
}

// What a tab shows for another text stays hidden until it is drawn anew.
const hiding = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, hiding];
/** @param {string[]} tabs @param {string} [text] */
export function hideStale(tabs, text = '') {
  const told = JSON.stringify(text);
  hiding.replaceSync(
    tabs
      .map(
        tab => `#tab-${tab} > * { visibility: hidden; } #tab-${tab}::before { content: ${told}; }`,
      )
      .join(' '),
  );
}

/**
 * Say in a tab that is still empty that its first answer is being computed.
 * @param {string} tab
 * @param {string} text
 */
export const sayWaiting = (tab, text) =>
  hiding.replaceSync(
    `#tab-${tab}:not(:has(.finding, .card, .message))::before` +
      `{ content: ${JSON.stringify(text)}; }`,
  );

// What stands for another text than the one that is typed fades, unless the answer comes at once.
const fading = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, fading];
/** @param {string[]} tabs */
export function fade(tabs) {
  fading.replaceSync(
    tabs.map(tab => `#tab-${tab} > * { opacity: .4; transition: opacity .15s .25s; }`).join(' '),
  );
}

/** @type {() => void} */
let up;
/** Kept once Gradio has built the page. */
export const opened = new Promise(done => {
  up = () => done(undefined);
});
export const markOpened = () => up();
