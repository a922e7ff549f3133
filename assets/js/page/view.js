// The page's one question and its answers: the link to this view, stale tabs, open folds.
import {closest, make} from '../kit/dom.js';
import {hideStale, opened, put, typeText} from '../gradio.js';
import {showFamily} from './family.js';
import {followFolds} from './folds.js';
import {begin, compare, listen} from './here.js';

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
    opened.then(() => state.open(Object.fromEntries(new URLSearchParams(location.search))));
  }
  if (!data.answer) return;
  document.documentElement.classList.remove('linked');
  if (data.serial !== last) state.answered(data.answer);   // the same answer again only draws the link anew
  last = data.serial;
  drawLink(root);
}

function drawLink(root) {
  const field = make('input', {type: 'text', readonly: true, 'aria-label': texts.label, value: location.href});
  const button = make('button', {type: 'button', class: 'chip', text: texts.copy});
  const said = make('span', {role: 'status', class: 'hint', text: state.note});
  button.addEventListener('click', async () => {
    field.value = location.href;
    field.select();
    try { await navigator.clipboard.writeText(location.href); }
    catch { document.execCommand('copy'); }   // clipboard access can be blocked inside a frame
    said.textContent = texts.copied;
    setTimeout(() => { said.textContent = state.note; }, 2500);
  });
  root.replaceChildren(button, field, said);
}

/** @type {import('../gradio.js').Picture['table']} */
export const table = data => ({columns: ['parameter', 'value'], rows: Object.entries(data.answer?.params ?? {})});
