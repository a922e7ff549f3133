// Open folds show the text that was compared last, and the link names the one opened last.
import {foldsInSight, onFold} from '../gradio.js';
import {recall, remember} from '../kit/memory.js';
import {choose, chosen, withState} from './here.js';
import {landOn} from './landing.js';

const shown = new WeakMap();   // fold -> the run it shows
let fromLink = true;
let example = '';   // the fold that an example or a stop of the tour has opened
/** @type {Set<string>} The open folds of all tabs: a link has room for one, a reload brings them all. */
const open = new Set(isReload() ? recall('folds', 'sessionStorage') : []);
const toOpen = new Set(open);   // those that wait for their tab to come into sight

function isReload() {
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
  return visit?.type === 'reload';
}

function keep(id, isOpen) {
  if (isOpen) open.add(id); else open.delete(id);
  remember('folds', [...open], 'sessionStorage');
}

export function followFolds(state) {
  for (const fold of foldsInSight()) {
    if (fold.isOpen() && shown.get(fold.node) !== state.runKey) {
      shown.set(fold.node, state.runKey);
      fold.refresh();
    }
  }
  if (fromLink && state.get('fold')) toOpen.add(`fold-${state.tab}-${state.get('fold')}`);   // last, so that the link goes on naming it
  openKept(state.tab);
  if (!fromLink && !state.get('fold')) choose({fold: foldsInSight().find(fold => fold.isOpen() && !fold.isFirst)?.name ?? null});
  fromLink = false;
}

/** Open a fold with the next answer, and close the one that was opened so before. @param {string} tab @param {string} [name] none: only close */
export function openNext(tab, name) {
  const before = foldsInSight().find(fold => fold.node.id === example), id = name ? `fold-${tab}-${name}` : '';
  if (before && example !== id && before.isOpen()) before.press();
  example = id;
  if (!name) return;
  toOpen.add(id);
  landOn(tab, name);
}

// The tab may come into sight only after its answer, and a header may be there before it listens: then a little later.
function openKept(tab, tries = 50) {
  const awaited = [...toOpen].filter(id => id.startsWith(`fold-${tab}-`));
  if (!awaited.length || chosen('tab') !== tab) return;
  const found = new Map(foldsInSight().map(fold => [fold.node.id, fold]));
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
}

onFold(fold => withState(state => {
  if (!fold) return;
  if (fold.isOpen()) toOpen.delete(fold.node.id);
  else if (toOpen.has(fold.node.id)) return;   // a press that nobody heard
  if (!fold.isPart) keep(fold.node.id, fold.isOpen());
  if (fold.isOpen()) {   // opening computes by itself
    shown.set(fold.node, state.runKey);
    choose({fold: fold.isFirst ? null : fold.name});
  } else if (chosen('fold') === fold.name) choose({fold: null});
}));
