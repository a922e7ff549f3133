// The address bar, the only place where a view is kept, and the button that copies it.
import {make} from '../kit/dom.js';
import {openTab, refreshFolds} from '../gradio.js';

// `null` takes a parameter out.
export function link(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries({v: '1', ...changes})) {
    if (value === null || value === undefined || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, String(value));
  }
  url.searchParams.delete('__sign');   // a private Space's token is never shared
  history.replaceState(history.state, '', url);
  if (window.parent !== window) {
    window.parent.postMessage({queryString: url.searchParams.toString()}, 'https://huggingface.co');
  }
}

export const param = name => new URL(location.href).searchParams.get(name);

// Compare and a tab's drawing run side by side: a tab that fell behind is asked for once more.
let compared = null;   // the run that was compared last
function catchUp(data, trigger) {
  if (data.event !== 'tab') compared = data.run;
  const tab = openTab();
  if (data.event === 'compare' && tab && tab !== data.tab) trigger('select', {tab});
  if (data.event === 'tab' && data.run !== compared) trigger('select', {tab: data.tab});
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, {trigger}) {
  document.documentElement.classList.remove('linked');
  catchUp(data, trigger);
  link(data.params);
  const href = location.href;
  const field = make('input', {type: 'text', readonly: true, 'aria-label': data.label, value: href});
  const button = make('button', {type: 'button', class: 'chip', text: data.copy});
  const said = make('span', {role: 'status', class: 'hint'});
  button.addEventListener('click', async () => {
    field.value = location.href;
    field.select();
    try { await navigator.clipboard.writeText(location.href); }
    catch { document.execCommand('copy'); }   // clipboard access can be blocked inside a frame
    said.textContent = data.copied;
    setTimeout(() => { said.textContent = data.note; }, 2500);
  });
  said.textContent = data.note;
  root.replaceChildren(button, field, said);
  refreshFolds();
}

/** @type {import('../gradio.js').Picture['table']} */
export const table = data => ({columns: ['parameter', 'value'], rows: Object.entries(data.params)});
