// A link opens with what it names in sight, and keeps it there while what lies above gets its
// height, until the reader acts.
import {find, named, the} from '../kit/dom.js';
import {coveredAbove} from './parts.js';

const ACTS = ['wheel', 'touchmove', 'pointerdown', 'keydown', 'popstate'];
const LEAST_SEEN = 300,
  MAX_ROOM = 0.7; // of a picture from its top: CSS pixels, and of the room that there is
let end = () => {};
let isHeld = false; // a picture is held in sight: a tab that opens does not move the page

/**
 * The title of a fold; of a tab, or of a part of it, the headline in sight.
 * @param {string} tab
 * @param {string} fold
 */
function placeOf(tab, fold) {
  const title = fold ? named(`fold-${tab}-${fold}`) : null;
  const headlines = /** @type {Iterable<HTMLElement>} */ (
    named(`tab-${tab}`)?.querySelectorAll('.finding') ?? []
  );
  const isTitle = Boolean(title && title.getClientRects().length && !title.matches('.part-tab'));
  return {
    isTitle,
    place: isTitle ? title : ([...headlines].find(line => line.getClientRects().length) ?? null),
  };
}

/**
 * Where the page is to be scrolled to: a title comes below what sticks there, a headline only into
 * sight.
 * @param {HTMLElement | null} place @param {boolean} isTitle @param {boolean} wasBelow
 */
function goalOf(place, isTitle, wasBelow) {
  const tabs = find(document, '#tabs');
  if (place && isTitle) return Math.max(0, topOf(place) - coveredAbove());
  if (tabs && wasBelow) return topOf(tabs);
  return !tabs || !place || place.getBoundingClientRect().bottom + scrollY <= innerHeight
    ? 0
    : topOf(tabs);
}

/** @param {HTMLElement} node */
const topOf = node => Math.max(0, Math.round(node.getBoundingClientRect().top + scrollY));

/**
 * All whose height decides where a place begins.
 * @param {Element | null} node
 * @returns {Element[]}
 */
function above(node) {
  const parent = node?.parentElement;
  if (!node || !parent || node === document.body) return [document.body];
  const before = [...parent.children];
  return [...before.slice(0, before.indexOf(node)), ...above(parent)];
}

/**
 * @param {string} tab
 * @param {string} fold empty for the tab alone
 * @param {boolean} [wasBelow] whether the page was scrolled further than the row of tabs
 */
export function landOn(tab, fold, wasBelow = false) {
  if (isHeld) return;
  hold(
    () => placeOf(tab, fold).place,
    () => {
      const {place, isTitle} = placeOf(tab, fold);
      return goalOf(place, isTitle, wasBelow);
    },
  );
}

/**
 * Keep a picture, or its upper part, in sight between the row of tabs and what covers the lower end
 * of the screen.
 * @param {() => HTMLElement | null} pictureNow @param {() => number} coveredBelow CSS pixels
 */
export function landOnPicture(pictureNow, coveredBelow) {
  hold(pictureNow, () => goalOfPicture(pictureNow(), coveredBelow()));
  isHeld = true;
}

/**
 * The page's top if the picture is in sight there, else the row of tabs, else the picture's own
 * top.
 * @param {HTMLElement | null} picture
 * @param {number} below
 */
function goalOfPicture(picture, below) {
  if (!picture) return scrollY;
  const seen = Math.max(LEAST_SEEN, MAX_ROOM * (innerHeight - coveredAbove() - below));
  const top = topOf(picture),
    lowest = top + Math.min(picture.offsetHeight, seen) - innerHeight + below;
  return (
    [0, topOf(the(document, '#tabs'))].find(goal => goal >= lowest) ??
    Math.max(0, top - coveredAbove() - 12)
  );
}

/**
 * Scroll to a goal now and whenever something above the place changes its height, until the reader
 * acts.
 * @param {() => HTMLElement | null} placeNow
 * @param {() => number} goalNow
 */
function hold(placeNow, goalNow) {
  end();
  const {body, documentElement: page} = document,
    seen = new Set();
  let at = scrollY,
    height = 0;
  const settle = () => {
    for (const part of above(placeNow())) {
      if (seen.has(part)) continue;
      seen.add(part);
      watch.observe(part);
    }
    const goal = goalNow();
    // the last fold of a page comes to the top too
    if (goal) body.style.minHeight = `${goal + innerHeight}px`;
    if (Math.abs(scrollY - goal) > 1) scrollTo({top: goal, behavior: 'instant'});
    [at, height] = [scrollY, page.scrollHeight];
  };
  const watch = new ResizeObserver(settle);
  // Somebody else has scrolled: the reader, unless the page has changed its height and moved by
  // itself.
  const moved = () => {
    if (page.scrollHeight === height && Math.abs(scrollY - at) > 2) end();
  };
  end = () => {
    isHeld = false;
    watch.disconnect();
    for (const act of ACTS) removeEventListener(act, end);
    removeEventListener('scroll', moved);
    page.style.overflowAnchor = '';
    addEventListener('scroll', release);
  };
  for (const act of ACTS) addEventListener(act, end, {passive: true});
  addEventListener('scroll', moved);
  page.style.overflowAnchor = 'none'; // what lies above is made up for here
  settle();
}

/**
 * The room that was made below goes as soon as nobody sees it: at once it would move the page under
 * a reader's finger.
 */
function release() {
  const main = find(document, 'main'),
    inner = main?.firstElementChild,
    room =
      main && inner
        ? main.getBoundingClientRect().bottom - inner.getBoundingClientRect().bottom
        : 0;
  if (document.body.getBoundingClientRect().bottom - room < innerHeight) return;
  document.body.style.minHeight = '';
  removeEventListener('scroll', release);
}
