// What the claims pictures share: the filter, the results of live checks, and small builders.
window.explorer.claims = (() => {
  const GLYPHS = {right: '✓', imprecise: '≈', wrong: '✕', unsupported: '?'};
  const filter = {search: '', model: '', topic: '', verdict: '', report: '', live: false};
  const results = {};        // check id -> the last result that arrived
  const running = new Set(); // check ids at work now
  const listeners = new Map();

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
  }
  const say = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const listen = (name, react) => listeners.set(name, react);
  const notify = () => listeners.forEach(react => react());

  function setFilter(changes) { Object.assign(filter, changes); notify(); }
  function publish(news) {
    running.clear();
    (news.running || []).forEach(id => running.add(id));
    (news.results || []).forEach(result => { results[result.id] = result; });
    notify();
  }
  return {GLYPHS, filter, results, running, make, say, listen, setFilter, publish};
})();
