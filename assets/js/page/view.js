// The page's one question and its answers: the link to this view, stale tabs, open folds.
import {closest} from '../kit/dom.js';
import {redraw} from '../gradio.js';
import {hideStale, opened, sayWaiting, textBox, typeText} from './parts.js';
import {put} from './tabs.js';
import {showFamily, sizesOf} from './family.js';
import {Folds} from './folds.js';
import {addressed, begin, compare, listen} from './here.js';
import {landOn} from './landing.js';
import './print.js';
import './roles.js';
import {cutDown, drawLink, embedded, postHeight} from './link.js';

/** @type {import('./state.js').State | null} */
let state = null;
/** @type {number | null} */
let last = null; // the answer that is shown
/** @type {any} */
let texts = {};
let readable = true; // whether this page knows the models that its link names

/**
 * Hide what is for another text, under a sentence that says whether an answer is on its way.
 * @param {import('./state.js').State} now
 */
const hide = now =>
  hideStale(
    Object.keys(now.config.reads).filter(tab => now.isStale(tab)),
    now.heard === now.number ? texts.unanswered : texts.computing,
  );
listen(hide);
listen(now => now.folds?.follow(now));
listen(now => showFamily(now.get('family'), now.config));

// Back and Forward walk through what was compared and the tabs: each view as it was left, its
// folds, sliders and boxes too.
window.addEventListener('popstate', event => {
  if (!state) return;
  const view = event.state?.view ?? addressed(),
    changed = state.differing(view);
  const tab = state.knows(view.tab) ? view.tab : state.config.defaults.tab;
  const {folds} = state;
  for (const other of state.drawnFrom(changed)) folds?.forget(other);
  if (changed.includes('form'))
    Object.keys(state.config.reads).forEach(other => folds?.forget(other));
  folds?.show(tab, view.fold);
  state.walk(view);
  typeText(state.get('text'));
  put({family: state.get('family'), tab: state.tab});
  redraw(changed);
});

/** @param {string} tab */
const saveTab = async tab => (await import('../take/page.js')).takeTab(tab, texts);

// The way back from a family that cannot be had.
document.addEventListener('click', event => {
  const family = closest(event, '#message [data-family]')?.dataset.family;
  if (!family) return;
  put({family});
  compare({family});
});

/** @type {string | undefined} */
let filled; // what was put into the box last

/**
 * The reader's own text where Gradio, which came later, has put the page's over it; else the
 * link's, unless something stands there by now.
 * @param {import('./state.js').State} now
 */
function fillBox(now) {
  const {typed} = window.explorer;
  if (textBox().value !== now.config.defaults.text) return;
  filled = typed !== undefined && typed !== filled ? typed : now.get('text');
  typeText(filled);
}

/**
 * The page's state, with which it opens on its link.
 * @param {HTMLElement} root
 * @param {import('./state.js').Config} data
 * @param {import('../gradio.js').Context['ask']} ask
 */
function opening(root, data, ask) {
  texts = data.texts;
  listen(now => drawLink(root, now, texts, saveTab));
  const made = begin(
    data,
    () => {
      root.classList.add('waiting'); // the link is of the view that stands, until the answer comes
      // a Compare that came before the modules is sent before there is one
      if (state?.heard) hide(state);
      ask(() => made.question());
    },
    new Folds(),
  );
  state = made;
  if (embedded()) cutDown({tab: data.defaults.tab, ...addressed()});
  opened.then(() => {
    const linked = addressed(); // only now: Back may have been pressed meanwhile
    made.open(linked);
    if (made.knows(made.tab) && !made.accepted) sayWaiting(made.tab, texts.computing);
    fillBox(made);
    readable = !linked.family || sizesOf(linked.family, data) !== null;
    put({
      family: readable ? linked.family : undefined,
      tab: made.knows(made.tab) ? made.tab : undefined,
    });
    if (!embedded() && (linked.tab || linked.fold))
      landOn(made.tab, made.get('fold').split(',').at(-1) ?? '');
  });
  return made;
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, {ask}) {
  const now = state ?? opening(root, data, ask);
  if (!data.answer) return;
  document.documentElement.classList.remove('linked');
  if (data.serial !== last)
    now.answered(data.answer); // the same answer again only draws the link anew
  else drawLink(root, now, texts, saveTab);
  if (last === null) fillBox(now); // the text of a link that held it packed
  // what the server made of the link's models
  if (last === null && !readable) put({family: now.get('family')});
  last = data.serial;
  postHeight();
}

/** @type {import('../gradio.js').Picture['table']} */
export const table = ({answer}) => ({
  columns: ['parameter', 'value'],
  rows: answer ? [['text', answer.text], ...Object.entries(answer.params)] : [],
});
