// Live checks: the line that says how far they are.
import {make, say} from '../kit/dom.js';
import {publish, results} from './filter.js';

function line(news) {
  const found = Object.values(results), t = news.texts, total = news.total;
  const n = status => found.filter(result => result.status === status).length;
  if (news.running.length) {
    return say(t.running, {id: news.running.join(', '), done: news.done ?? found.length, total});
  }
  if (news.stopped && found.length < total) return say(t.stopped, {n: found.length, total});
  if (!found.length) return say(t.none, {total});
  return say(t.done, {n: found.length, total, holds: n('holds'), fails: n('fails'),
    waits: n('waits') + n('failed')});
}

let place = null;   // where the line stands

function show(news) {
  const [bar, text] = place.children;
  text.textContent = line(news);
  bar.hidden = !news.running.length || news.done === null;
  if (!bar.hidden) bar.value = news.done / news.total;
}

document.addEventListener('explorer-checks-stop', () => {
  if (!place || !place.__news) return;
  const news = {...place.__news, running: [], results: []};
  publish(news);
  show({...news, stopped: true});
});

export function draw(root, data) {
  place = root;
  if (!root.firstElementChild) {
    root.append(make('progress', {class: 'cc-bar', max: '1', hidden: true, 'aria-hidden': 'true'}),
      make('p', {class: 'cc-line', role: 'status', 'aria-live': 'polite'}));
  }
  if (root.__news !== data) publish(data);
  root.__news = data;
  show(data);
}
