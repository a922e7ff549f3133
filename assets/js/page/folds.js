// Open folds show the text that was compared last, and the link names those of its tab.
import {foldsInSight, foldsOf, onFold} from './parts.js';
import {showTab} from './tabs.js';
import {closest} from '../kit/dom.js';
import {recall, remember} from '../kit/memory.js';
import {choose, chosen, linkNow, withState} from './here.js';
import {landOn} from './landing.js';

/** @typedef {import('./parts.js').Fold} Fold */

function isReload() {
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (
    performance.getEntriesByType('navigation')
  );
  return visit?.type === 'reload';
}

/** @param {string} tab @param {string} [names] with commas between */
const idsOf = (tab, names) => (names ? names.split(',').map(name => `fold-${tab}-${name}`) : []);

/** The tab and the fold of a link to a fold. @param {HTMLElement} link */
const folded = link => (link.dataset.fold ?? '').split('/');

/** Act after the next two frames. @param {() => void} act */
const afterFrames = act => requestAnimationFrame(() => requestAnimationFrame(act));

/** The folds of one page: which are open, which wait to be opened, and which run each shows. */
export class Folds {
  constructor() {
    /** @type {WeakMap<HTMLElement, string>} the run that a fold shows */
    this.shown = new WeakMap();
    this.fromLink = true; // the link's own folds are still to be opened
    this.example = ''; // the fold that an example or a stop of the tour has opened
    /**
     * @type {Set<string>} The open folds and chosen parts of all tabs, in the order of opening: a
     *   link names those of its tab, a reload brings all.
     */
    this.open = new Set(isReload() ? recall('folds', 'sessionStorage') : []);
    this.toOpen = new Set(this.open); // those that wait for their tab to come into sight
    /**
     * @type {WeakSet<HTMLElement>} folds that Gradio leaves as they are: in the frame after it has
     *   built a tab, it closes those that were opened meanwhile
     */
    this.built = new WeakSet();
    /** @type {Set<HTMLElement>} folds that were pressed and may not have opened yet */
    this.pressed = new Set();
    this.hasChanged = false; // the page, while a fold was pressed
    this.changes = new MutationObserver(() => {
      this.changes.disconnect();
      this.openKept(chosen('tab') ?? '');
    });
    onFold(fold => this.hear(fold));
    // What its reader closes is not opened again, even if nothing has seen it open yet: a busy
    // browser handles a click before its frames.
    document.addEventListener(
      'click',
      event => {
        const header = event.isTrusted ? closest(event, '.fold button.label-wrap.open') : null;
        if (header) this.toOpen.delete(header.closest('.fold')?.id ?? '');
      },
      true,
    );
  }

  /** @param {string} tab */
  idsIn(tab) {
    return [...this.open].filter(id => id.startsWith(`fold-${tab}-`));
  }

  /** Keep what is open for a reload, and for the link that of its tab. */
  keep() {
    remember('folds', [...this.open], 'sessionStorage');
    const tab = chosen('tab') ?? '',
      names = this.idsIn(tab)
        .map(id => id.slice(`fold-${tab}-`.length))
        .join(',');
    if (names !== chosen('fold')) choose({fold: names || null});
  }

  /** React to an answer, or to another tab. @param {import('./state.js').State} state */
  follow(state) {
    // the server knows nothing of the link yet: its folds would be of the opening example
    if (!state.accepted && !state.refused) return;
    for (const fold of foldsInSight()) {
      if (fold.isOpen() && this.shown.get(fold.node) !== state.runKey) {
        this.shown.set(fold.node, state.runKey);
        fold.refresh();
      }
    }
    // beside those that its reader has opened before the first answer
    if (this.fromLink) this.want(idsOf(state.tab, state.get('fold')));
    this.fromLink = false;
    this.keep();
    this.openKept(state.tab);
  }

  /** React to a fold that a click has opened or closed. @param {Fold} fold */
  hear(fold) {
    withState(state => {
      const {id} = fold.node;
      if (fold.isOpen()) this.toOpen.delete(id);
      else if (this.toOpen.has(id)) return; // a press that nobody heard
      if (fold.isPart)
        for (const sibling of fold.node.parentElement?.children ?? [])
          if (sibling !== fold.node) this.open.delete(sibling.id);
      if (fold.isOpen()) this.shown.set(fold.node, state.runKey); // opening computes by itself
      if (fold.isOpen() && !fold.isFirst) this.open.add(id);
      else this.open.delete(id);
      this.keep();
    });
  }

  /** Open these with the next answer. @param {string[]} ids */
  want(ids) {
    for (const id of ids) for (const set of [this.open, this.toOpen]) set.add(id);
  }

  /**
   * Open these folds of a tab, and the part of that name, with its next answer; close all others.
   * @param {string} tab
   * @param {string} [names] with commas between
   */
  show(tab, names) {
    const ids = idsOf(tab, names);
    for (const id of this.idsIn(tab)) for (const set of [this.open, this.toOpen]) set.delete(id);
    this.want(ids);
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
  forget(tab) {
    for (const {node} of foldsOf(tab)) this.shown.delete(node);
  }

  /**
   * Open a fold with the next answer, and close the one that was opened so before.
   * @param {string} tab
   * @param {string} [name] none: only close
   */
  openNext(tab, name) {
    const before = foldsInSight().find(fold => fold.node.id === this.example),
      id = name ? `fold-${tab}-${name}` : '';
    if (before && this.example !== id && before.isOpen()) before.press();
    this.example = id;
    if (!name) return;
    this.want([id]);
    landOn(tab, name);
    withState(state => {
      if (state.isThere(tab)) this.openKept(tab);
    }); // no answer comes where the tab shows this text already
  }

  /**
   * Open what waits in this tab. The tab may come into sight only after its answer, and a header
   * may be there before it listens: then again with what changes on the page.
   * @param {string} tab
   */
  openKept(tab) {
    const awaited = [...this.toOpen].filter(id => id.startsWith(`fold-${tab}-`));
    if (!awaited.length || chosen('tab') !== tab) return;
    const inSight = new Map(foldsInSight().map(fold => [fold.node.id, fold]));
    const there = awaited.flatMap(id => inSight.get(id) ?? []),
      fresh = there.filter(fold => !fold.isPart && !this.built.has(fold.node));
    if (fresh.length) {
      // a hidden window gets no frames: Gradio waits for them too
      afterFrames(() => {
        for (const {node} of fresh) this.built.add(node);
        this.openKept(tab);
      });
      return;
    }
    for (const fold of there) if (fold.isOpen()) this.toOpen.delete(fold.node.id);
    if (awaited.every(id => !this.toOpen.has(id))) return;
    this.changes.observe(document.body, {childList: true, subtree: true, attributes: true});
    for (const fold of there.filter(({node}) => this.toOpen.has(node.id))) {
      if (this.pressed.has(fold.node)) this.hasChanged = true;
      else this.press(fold);
    }
  }

  /**
   * Press a fold: once while it may still open, and again if the page changes.
   * @param {Fold} fold
   */
  press(fold) {
    this.pressed.add(fold.node);
    this.hasChanged = false;
    fold.press();
    afterFrames(() => {
      this.pressed.delete(fold.node);
      if (this.hasChanged) this.openKept(chosen('tab') ?? '');
    });
  }
}

/**
 * Open a fold with the next answer, and close the one that was opened so before.
 * @param {string} tab
 * @param {string} [name] none: only close
 */
export const openNext = (tab, name) => withState(({folds}) => folds?.openNext(tab, name));

// A link to a fold that the browser itself opens (with a key, the middle button or its menu) has
// the page's text and models with it.
for (const kind of ['pointerdown', 'focusin']) {
  document.addEventListener(kind, event => {
    const link = /** @type {HTMLAnchorElement | null} */ (closest(event, 'a[data-fold]'));
    if (!link) return;
    const [tab, fold] = folded(link),
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
  const [tab, fold] = folded(link);
  showTab(tab);
  choose({fold}); // before the first answer the link's own folds are still to be opened
  openNext(tab, fold);
});
