// What the claims pictures share: the filter and the results of live checks.
export const GLYPHS = {right: '✓', imprecise: '≈', wrong: '✕', unsupported: '?'};
export const filter = {search: '', model: '', topic: '', verdict: '', report: '', live: false};
export const results = {};        // check id -> the last result that arrived
export const running = new Set(); // check ids at work now
const listeners = new Map();

export const listen = (name, react) => listeners.set(name, react);
const notify = () => listeners.forEach(react => react());

export function setFilter(changes) { Object.assign(filter, changes); notify(); }
export function publish(news) {
  running.clear();
  (news.running || []).forEach(id => running.add(id));
  (news.results || []).forEach(result => { results[result.id] = result; });
  notify();
}
