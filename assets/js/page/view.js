// The page's one question and its answers: the link to this view, stale tabs, open folds.
import {closest} from '../kit/dom.js';
import {hideStale, opened, put, typeText} from '../gradio.js';
import {showFamily} from './family.js';
import {followFolds} from './folds.js';
import {begin, compare, listen} from './here.js';
import {cutDown, drawLink, embedded, postHeight} from './link.js';

/** @type {import('./state.js').State | null} */
let state = null;
let last = null;
let texts = null;

listen(now => hideStale(Object.keys(now.config.reads).filter(tab => now.isStale(tab))));
listen(followFolds);
listen(now => showFamily(now.get('family')));

// Back and Forward walk through what was compared; the text box and the family follow.
window.addEventListener('popstate', event => {
  if (!state?.accepted) return;
  state.walk(event.state?.compared ?? Object.fromEntries(new URLSearchParams(location.search)));
  typeText(state.get('text'));
  put({family: state.get('family')});
});

const saveTab = async tab => (await import('../take/page.js')).takeTab(tab, texts);

// The way back from a family that cannot be had.
document.addEventListener('click', event => {
  const family = closest(event, '#message [data-family]')?.dataset.family;
  if (!family) return;
  put({family});
  compare({family});
});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, {ask}) {
  if (!state) {
    texts = data.texts;
    state = begin(data, () => ask(() => state.question()));
    const linked = Object.fromEntries(new URLSearchParams(location.search));
    if (embedded()) cutDown({tab: data.defaults.tab, ...linked});
    opened.then(() => state.open(linked));
  }
  if (!data.answer) return;
  document.documentElement.classList.remove('linked');
  if (data.serial !== last) state.answered(data.answer);   // the same answer again only draws the link anew
  last = data.serial;
  drawLink(root, state, texts, saveTab);
  postHeight();
}

/** @type {import('../gradio.js').Picture['table']} */
export const table = data => ({columns: ['parameter', 'value'], rows: Object.entries(data.answer?.params ?? {})});
