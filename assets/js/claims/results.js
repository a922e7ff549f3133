// Live checks: the line that says how far they are.
import {make, say} from '../kit/dom.js';
import {publish, results} from './filter.js';

function line(news) {
  const found = Object.values(results),
    t = news.texts,
    total = news.total;
  const n = status => found.filter(result => result.status === status).length;
  if (news.running.length) {
    return say(t.running, {names: news.names.join(', '), done: news.done ?? found.length, total});
  }
  if (news.stopped && found.length < total) return say(t.stopped, {n: found.length, total});
  if (!found.length) return say(t.none, {total});
  return say(t.done, {
    n: found.length,
    total,
    holds: n('holds'),
    fails: n('fails'),
    undecided: n('undecided'),
    waits: n('waits') + n('failed'),
  });
}

let shown = null; // where the line stands

function write(news) {
  const [bar, text] = shown.children;
  text.textContent = line(news);
  text.classList.toggle(
    'live-only',
    text.textContent === say(news.texts.none, {total: news.total}),
  ); // of buttons that a saved tab has not
  bar.hidden = !news.running.length || news.done === null;
  if (!bar.hidden) bar.value = news.done / news.total;
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  if (shown !== root || !root.firstElementChild) {
    root.replaceChildren(
      make('progress', {class: 'cc-bar', max: '1', hidden: true, 'aria-hidden': 'true'}),
      make('p', {class: 'cc-line', role: 'status', 'aria-live': 'polite'}),
    );
  }
  shown = root;
  publish(data);
  write(data);
}

/** @type {import('../gradio.js').Picture['clear']} */
export function clear(root) {
  shown = null;
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['table']} */
export function table() {
  const rows = Object.values(results).map(found => [found.id, found.status, found.text, found.on]);
  return {columns: ['check', 'status', 'found', 'on'], rows};
}
