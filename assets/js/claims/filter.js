// What the claims pictures share: the filter and the results of live checks.
window.explorer.claims = (() => {
  const GLYPHS = {right: '✓', imprecise: '≈', wrong: '✕', unsupported: '?'};
  const filter = {search: '', model: '', topic: '', verdict: '', report: '', live: false};
  const results = {};        // check id -> the last result that arrived
  const running = new Set(); // check ids at work now
  const listeners = new Map();

  const listen = (name, react) => listeners.set(name, react);
  const notify = () => listeners.forEach(react => react());

  function setFilter(changes) { Object.assign(filter, changes); notify(); }
  function publish(news) {
    running.clear();
    (news.running || []).forEach(id => running.add(id));
    (news.results || []).forEach(result => { results[result.id] = result; });
    notify();
  }
  return {GLYPHS, filter, results, running, listen, setFilter, publish};
})();
