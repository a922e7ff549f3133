// What the claims pictures share: the filter and the results of live checks.
export const GLYPHS = {right: '✓', imprecise: '≈', wrong: '✕', unsupported: '?'};
export const filter = {search: '', model: '', topic: '', verdict: 'wrong', report: '', live: false};   // opens on what is wrong
let opening = true;               // nobody has asked for anything yet
export const results = {};        // check id -> the last result that arrived
const presses = {};               // check id -> how often its button was pressed
export const running = new Set(); // check ids at work now
const listeners = new Map();

export const listen = (name, react) => listeners.set(name, react);
const notify = () => listeners.forEach(react => react());

/** One press more: a timed check takes more rounds each time. @param {string} check */
export const pressed = check => ({check, press: presses[check] = (presses[check] || 0) + 1});

/** What an open verdict is called: more rounds may decide what is timed. */
export const open = result => result.timed ? 'press' : 'undecided';

/** A first search or menu is over all claims, not over those that the tab opens on. @param {Partial<typeof filter>} changes */
export function setFilter(changes) {
  Object.assign(filter, opening ? {verdict: ''} : {}, changes);
  opening = false;
  notify();
}

/** What is searched, however a number is written: "40 %" is "40%", "12 M" is "12M", "−2" is "-2". @param {string} text */
export const searched = text => text.toLowerCase().replaceAll('−', '-')
  .replace(/(\d)\s*(?:%|per\s?cent\b)/g, '$1%').replace(/(\d)\s*m\b/g, '$1m');
export function publish(news) {
  running.clear();
  (news.running || []).forEach(id => running.add(id));
  (news.results || []).forEach(result => { results[result.id] = result; });
  notify();
}
