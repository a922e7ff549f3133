// What the claims pictures share: the filter and the results of live checks.
export const GLYPHS = {right: '✓', imprecise: '≈', wrong: '✕', unsupported: '?'};
import {look} from '../page/look.js';

export const filter = {search: '', model: '', topic: '', verdict: 'wrong', report: '', live: false};   // opens on what is wrong
let opening = true;               // nobody has asked for anything yet
const kept = Object.fromEntries(['model', 'topic', 'verdict', 'report', 'live'].map(name => [name, look(`claim${name}`, '')]));
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
  for (const [name, one] of Object.entries(kept)) one.value = name === 'live' ? filter.live && 'yes' || '' : filter[name];
  kept.verdict.value = filter.verdict === implied(filter) ? '' : filter.verdict || 'any';
  notify();
}

/** The verdict that is shown where nobody has chosen one. @param {Omit<typeof filter, 'verdict'>} others */
const implied = ({search, model, topic, report, live}) => search || model || topic || report || live ? '' : 'wrong';

/** Filter as the link says: also what Back restores. @param {string} search */
export function followLink(search) {
  const {model, topic, report, live, verdict} = Object.fromEntries(Object.entries(kept).map(([name, {value}]) => [name, value]));
  const others = {search, model, topic, report, live: live === 'yes'};
  const asked = {...others, verdict: verdict === 'any' ? '' : verdict || implied(others)};
  if (Object.entries(asked).every(([name, value]) => filter[name] === value)) return;
  opening = false;
  Object.assign(filter, asked);
  notify();
}

/** What is searched, however a number is written: "40 %" is "40%", "12 M" is "12M", "−2" is "-2". @param {string} text */
export const searched = text => text.toLowerCase().replaceAll('−', '-')
  .replace(/(\d)\s*(?:%|per\s?cent\b)/g, '$1%').replace(/(\d)\s*m\b/g, '$1m');

const SILENT = new Set('a an and are as at be been but by can did do does for from had has have how if in into is it its many more much of on or that the their them then there these this to true was were what when which why will with'.split(' '));
const ENOUGH = .6;   // of the weight of a question's words

/** The words that a search is about, "parameter" for "parameters"; all of them where there is none else. @param {string} text */
function wordsOf(text) {
  const all = searched(text).split(/\s+/).map(word => word.replace(/^[("“”'?!,;:]+|[)"“”'?!,;:.]+$/g, '')).filter(Boolean);
  const telling = all.filter(word => !SILENT.has(word));
  return (telling.length ? telling : all).map(word => word.length > 4 ? word.replace(/s$/, '') : word);
}

/**
 * The claims that hold every word of a search; where none does, those that hold most of it, rare words counting for more, the nearest first.
 * @template {{haystack: string}} T @param {T[]} claims @param {string} text @returns {T[]}
 */
export function matching(claims, text) {
  const words = wordsOf(text), whole = claims.filter(claim => words.every(word => claim.haystack.includes(word)));
  if (whole.length || words.length < 3) return whole;
  const holds = new Map(words.map(word => [word, claims.filter(claim => claim.haystack.includes(word)).length]));
  const known = words.filter(word => holds.get(word)), weight = new Map(known.map(word => [word, Math.log((1 + claims.length) / holds.get(word))]));
  const sum = list => list.reduce((total, word) => total + weight.get(word), 0);
  const all = sum(known) * words.length / (known.length || 1);   // a word that stands nowhere weighs like the others
  const share = claim => sum(known.filter(word => claim.haystack.includes(word))) / (all || 1);
  return claims.map(claim => ({claim, near: share(claim)})).filter(one => one.near >= ENOUGH).toSorted((a, b) => b.near - a.near).map(one => one.claim);
}
export function publish(news) {
  running.clear();
  (news.running || []).forEach(id => running.add(id));
  (news.results || []).forEach(result => { results[result.id] = result; });
  notify();
}
