// Open folds show the text that was compared last, and the link names those of its tab.
import {foldsInSight, foldsOf, onFold} from './parts.js';
import {showTab} from './tabs.js';
import {closest} from '../kit/dom.js';
import {recall, remember} from '../kit/memory.js';
import {choose, chosen, linkNow, withState} from './here.js';
import {landOn} from './landing.js';

const shown = new WeakMap(); // fold -> the run it shows
let fromLink = true;
let example = ''; // the fold that an example or a stop of the tour has opened
/**
 * @type {Set<string>} The open folds and chosen parts of all tabs, in the order of opening: a link
 *   names those of its tab, a reload brings all.
 */
const open = new Set(isReload() ? recall('folds', 'sessionStorage') : []);
const toOpen = new Set(open); // those that wait for their tab to come into sight

function isReload() {
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (
    performance.getEntriesByType('navigation')
  );
  return visit?.type === 'reload';
}

/** @param {string} tab */
const idsIn = tab => [...open].filter(id => id.startsWith(`fold-${tab}-`));

/** Keep what is open for a reload, and for the link that of its tab. */
function keep() {
  remember('folds', [...open], 'sessionStorage');
  const tab = chosen('tab'),
    names = idsIn(tab)
      .map(id => id.slice(`fold-${tab}-`.length))
      .join(',');
  if (names !== chosen('fold')) choose({fold: names || null});
}

export function followFolds(state) {
  // the server knows nothing of the link yet: its folds would be of the opening example
  if (!state.accepted && !state.refused) return;
  for (const fold of foldsInSight()) {
    if (fold.isOpen() && shown.get(fold.node) !== state.runKey) {
      shown.set(fold.node, state.runKey);
      fold.refresh();
    }
  }
  // beside those that its reader has opened before the first answer
  if (fromLink) want(idsOf(state.tab, state.get('fold')));
  fromLink = false;
  keep();
  openKept(state.tab);
}

/** @param {string} tab @param {string} [names] with commas between */
const idsOf = (tab, names) => (names ? names.split(',').map(name => `fold-${tab}-${name}`) : []);

/** Open these with the next answer. @param {string[]} ids */
function want(ids) {
  for (const id of ids) for (const set of [open, toOpen]) set.add(id);
}

/**
 * Open these folds of a tab, and the part of that name, with its next answer; close all others.
 * @param {string} tab
 * @param {string} [names] with commas between
 */
export function showFolds(tab, names) {
  const ids = idsOf(tab, names);
  for (const id of idsIn(tab)) for (const set of [open, toOpen]) set.delete(id);
  want(ids);
  const folds = foldsOf(tab),
    isPartNamed = folds.some(fold => fold.isPart && ids.includes(fold.node.id));
  for (const fold of folds) {
    const {isPart, isFirst, node} = fold;
    if (
      isPart ? isFirst && !isPartNamed && !fold.isOpen() : fold.isOpen() && !ids.includes(node.id)
    )
      fold.press();
  }
}

/**
 * What folds show besides the text is another than before: they compute again.
 * @param {string} tab
 */
export function forgetShown(tab) {
  for (const {node} of foldsOf(tab)) shown.delete(node);
}

/**
 * Open a fold with the next answer, and close the one that was opened so before.
 * @param {string} tab
 * @param {string} [name] none: only close
 */
export function openNext(tab, name) {
  const before = foldsInSight().find(fold => fold.node.id === example),
    id = name ? `fold-${tab}-${name}` : '';
  if (before && example !== id && before.isOpen()) before.press();
  example = id;
  if (!name) return;
  want([id]);
  landOn(tab, name);
  withState(now => {
    if (now.isThere(tab)) openKept(tab);
  }); // no answer comes where the tab shows this text already
}

// On a busy machine the tab may come into sight long after its answer: then the wait goes on with
// what changes on the page.
const late = new MutationObserver(() => {
  late.disconnect();
  openKept(chosen('tab'));
});

/**
 * @type {WeakSet<HTMLElement>} folds that Gradio leaves as they are: in the frame after it has
 *   built a tab, it closes those that were opened meanwhile
 */
const built = new WeakSet();

// The tab may come into sight only after its answer, and a header may be there before it listens:
// then a little later.
function openKept(tab, tries = 50) {
  const awaited = [...toOpen].filter(id => id.startsWith(`fold-${tab}-`));
  if (!awaited.length || chosen('tab') !== tab) return;
  const found = new Map(foldsInSight().map(fold => [fold.node.id, fold]));
  const fresh = awaited
    .map(id => found.get(id))
    .filter(fold => fold && !fold.isPart && !built.has(fold.node));
  if (fresh.length) {
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        // a hidden window gets no frames: Gradio waits for them too
        for (const {node} of fresh) built.add(node);
        openKept(tab, tries);
      }),
    );
    return;
  }
  for (const id of awaited) {
    const fold = found.get(id);
    if (!fold) continue;
    if (fold.isOpen()) {
      toOpen.delete(id);
      continue;
    }
    fold.press();
  }
  if (tries) setTimeout(() => openKept(tab, tries - 1), 100);
  else if (!awaited.some(id => found.has(id)))
    late.observe(document.body, {childList: true, subtree: true, attributes: true});
}

// What its reader closes is not opened again, even if nothing has seen it open yet: a busy browser
// handles a click before its timers.
document.addEventListener(
  'click',
  event => {
    const header = event.isTrusted ? closest(event, '.fold button.label-wrap.open') : null;
    if (header) toOpen.delete(header.closest('.fold').id);
  },
  true,
);

onFold(fold =>
  withState(state => {
    const {id} = fold.node;
    if (fold.isOpen()) toOpen.delete(id);
    else if (toOpen.has(id)) return; // a press that nobody heard
    if (fold.isPart)
      for (const sibling of fold.node.parentElement.children)
        if (sibling !== fold.node) open.delete(sibling.id);
    if (fold.isOpen()) shown.set(fold.node, state.runKey); // opening computes by itself
    if (fold.isOpen() && !fold.isFirst) open.add(id);
    else open.delete(id);
    keep();
  }),
);

// A link to a fold that the browser itself opens (with a key, the middle button or its menu) has
// the page's text and models with it.
for (const kind of ['pointerdown', 'focusin']) {
  document.addEventListener(kind, event => {
    const link = /** @type {HTMLAnchorElement | null} */ (closest(event, 'a[data-fold]'));
    if (!link) return;
    const [tab, fold] = link.dataset.fold.split('/'),
      url = linkNow(tab);
    for (const [name, value] of Object.entries({tab, fold})) url.searchParams.set(name, value);
    link.href = url.href;
  });
}

document.addEventListener('click', event => {
  // a link to a fold of another tab
  const link = closest(event, 'a[data-fold]');
  // with a key the browser opens it beside this page
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const [tab, fold] = link.dataset.fold.split('/');
  showTab(tab);
  choose({fold}); // before the first answer the link's own folds are still to be opened
  openNext(tab, fold);
});
