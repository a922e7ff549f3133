// The row of tabs: a tab is chosen by a click, a key, a link or a picture, and begins at its top.
import {closest, find, named, the} from '../kit/dom.js';
import {controlsOf, withState} from './here.js';
import {landOn} from './landing.js';
import {opened} from './parts.js';

/**
 * What Gradio's own controls are to show, where the page and not the reader changes them: the
 * family, the tab.
 */
/** @type {{preset?: string | null, sizes?: Record<string, string>, tab?: string}} */
let placed = {};
/** @param {{family?: string, tab?: string}} values */
export function put(values) {
  const {family, tab} = values;
  placed = {tab, ...(family ? controlsOf(family) : {})};
  if (values.tab) nameInSight(values.tab);
  const button = find(document, '#put');
  (button?.matches('button') ? button : button && find(button, 'button'))?.click();
}

/** Opens a tab. @param {string} tab */
export function showTab(tab) {
  beginTab(tab);
  put({tab});
}

/** A tab's name comes into the sight of its row, which a phone scrolls. @param {string} tab */
function nameInSight(tab) {
  const row = find(document, '#tabs [role=tablist]'),
    button = named(`tab-${tab}-button`);
  if (row && button)
    row.scrollLeft = button.offsetLeft - (row.clientWidth - button.offsetWidth) / 2;
}

/** A tab begins at its top, however far the one before was scrolled. @param {string} tab */
function beginTab(tab) {
  const wasBelow = the(document, '#tabs').getBoundingClientRect().top < 0;
  withState(state => state.show(tab));
  nameInSight(tab);
  // the key that chose it is no act against it
  if (wasBelow) setTimeout(() => landOn(tab, '', true), 0);
}

// Arrows, Home and End move between the tabs that have room; Gradio's tabs hear of clicks alone.
document.addEventListener('keydown', event => {
  const tab = closest(event, '#tabs [role=tab]');
  if (!tab || event.ctrlKey || event.altKey || event.metaKey) return;
  const tabs = [...(tab.parentElement?.querySelectorAll('[role=tab]') ?? [])],
    at = tabs.indexOf(tab);
  const next = {ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1}[
    event.key
  ];
  if (next === undefined) return;
  event.preventDefault();
  const chosen = /** @type {HTMLElement} */ (tabs[next % tabs.length]);
  chosen.focus({preventScroll: true}); // else the page scrolls for a row that is in sight already
  chosen.click();
});

// A reader's click chooses a tab; what Gradio's own event tells comes later, when another may be in
// sight again.
document.addEventListener(
  'click',
  event => {
    const tab = closest(event, '#tabs [role=tab][data-tab-id]')?.dataset.tabId;
    if (tab) beginTab(tab);
  },
  true,
); // before Gradio shows it, which can make the page shorter

// A row that gets its place, or another width, after the tab was chosen: the name comes into sight
// again.
opened.then(() => {
  const row = find(document, '#tabs [role=tablist]');
  if (row) new ResizeObserver(() => withState(state => nameInSight(state.tab))).observe(row);
});

/** What Gradio's own controls are to show. */
export const placedNow = () => placed;
