// Live checks: the line that says how far they are.
import {make, say} from '../kit/dom.js';
import {publish, results} from './filter.js';

/** @typedef {import('../data').ResultsData} ResultsData */

/** @param {ResultsData} news */
function line(news) {
  const known = Object.values(results),
    t = news.texts,
    total = news.total;
  const n = (/** @type {string} */ status) =>
    known.filter(result => result.status === status).length;
  if (news.running.length) {
    return say(t.running, {names: news.names.join(', '), done: news.done ?? known.length, total});
  }
  if (news.stopped && known.length < total) return say(t.stopped, {n: known.length, total});
  if (!known.length) return say(t.none, {total});
  return say(t.done, {
    n: known.length,
    total,
    holds: n('holds'),
    fails: n('fails'),
    undecided: n('undecided'),
    waits: n('waits') + n('failed'),
  });
}

/**
 * @param {HTMLElement} root
 * @param {ResultsData} news
 */
function write(root, news) {
  const bar = /** @type {HTMLProgressElement} */ (root.children[0]),
    text = root.children[1];
  text.textContent = line(news);
  text.classList.toggle(
    'live-only',
    text.textContent === say(news.texts.none, {total: news.total}),
  ); // of buttons that a saved tab has not
  bar.hidden = !news.running.length || news.done === null;
  if (!bar.hidden) bar.value = Number(news.done) / news.total;
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {ResultsData} */ data) {
  if (!root.querySelector('.cc-bar')) {
    root.replaceChildren(
      make('progress', {class: 'cc-bar', max: '1', hidden: true, 'aria-hidden': 'true'}),
      make('p', {class: 'cc-line', role: 'status', 'aria-live': 'polite'}),
    );
  }
  publish(data);
  write(root, data);
}

/** @type {import('../gradio.js').Picture['table']} */
export function table() {
  const rows = Object.values(results).map(({id, status, text, on}) => [id, status, text, on]);
  return {columns: ['check', 'status', 'found', 'on'], rows};
}
