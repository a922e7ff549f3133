// What the claims pictures share: the filter and the results of live checks.
/** @type {Record<string, string>} */
export const GLYPHS = {right: '✓', imprecise: '≈', wrong: '✕', unsupported: '?'};
import {look} from '../page/look.js';

// opens on what is wrong
export const filter = {search: '', model: '', topic: '', verdict: 'wrong', report: '', live: false};
const kept = Object.fromEntries(
  ['model', 'topic', 'verdict', 'report', 'live'].map(name => [name, look(`claim${name}`, '')]),
);
/** The last result of each check. @type {Record<string, import('../data').CheckResult>} */
export const results = {};
/** How often the button of each check was pressed. @type {Record<string, number>} */
const presses = {};
/** The checks at work now. @type {Set<string>} */
export const running = new Set();
/** @type {Map<string, () => void>} */
const listeners = new Map();

/** @param {string} name @param {() => void} react */
export const listen = (name, react) => listeners.set(name, react);
const notify = () => listeners.forEach(react => react());

/** One press more: a timed check takes more rounds each time. @param {string} check */
export const pressed = check => ({check, press: (presses[check] = (presses[check] || 0) + 1)});

/**
 * What an open verdict is called: more rounds may decide what is timed.
 * @param {import('../data').CheckResult} result
 */
export const open = result => (result.timed ? 'press' : 'undecided');

/**
 * The verdict that is shown: as chosen, else what is wrong, until something else is searched or
 * chosen.
 */
const verdictNow = () =>
  kept.verdict.value === 'any'
    ? ''
    : kept.verdict.value ||
      (filter.search || filter.model || filter.topic || filter.report || filter.live
        ? ''
        : 'wrong');

/** Whether the list is as it opens: only what is wrong, and nothing else chosen. */
export const opensWrong = () => filter.verdict === 'wrong' && !kept.verdict.value;

/** @param {Partial<typeof filter>} changes */
export function setFilter(changes) {
  Object.assign(filter, changes);
  for (const name of /** @type {const} */ (['model', 'topic', 'report']))
    kept[name].value = filter[name];
  kept.live.value = filter.live ? 'yes' : '';
  if (changes.verdict !== undefined) kept.verdict.value = changes.verdict || 'any';
  filter.verdict = verdictNow();
  notify();
}

/** Filter as the link says: also what Back restores. @param {string} search */
export function followLink(search) {
  const before = JSON.stringify(filter);
  Object.assign(filter, {
    search,
    model: kept.model.value,
    topic: kept.topic.value,
    report: kept.report.value,
    live: kept.live.value === 'yes',
  });
  filter.verdict = verdictNow();
  if (JSON.stringify(filter) !== before) notify();
}

/**
 * What is searched, however a number is written: "40 %" is "40%", "12 M" is "12M", "−2" is "-2".
 * @param {string} text
 */
export const searched = text =>
  text
    .toLowerCase()
    .replaceAll('−', '-')
    .replace(/(\d)\s*(?:%|per\s?cent\b)/g, '$1%')
    .replace(/(\d)\s*m\b/g, '$1m');

const SILENT = new Set(
  (
    'a an and are as at be been but by can did do does for from had has have how if in into is ' +
    'it its many more much of on or that the their them then there these this to true was were ' +
    'what when which why will with'
  ).split(' '),
);
const ENOUGH = 0.6; // of the weight of a question's words

/**
 * The words that a search is about, "parameter" for "parameters"; all of them where there is none
 * else.
 * @param {string} text
 */
function wordsOf(text) {
  const all = searched(text)
    .split(/\s+/)
    .map(word => word.replace(/^[("“”'?!,;:]+|[)"“”'?!,;:.]+$/g, ''))
    .filter(Boolean);
  const telling = all.filter(word => !SILENT.has(word));
  return (telling.length ? telling : all).map(word =>
    word.length > 4 ? word.replace(/s$/, '') : word,
  );
}

/**
 * The claims that hold every word of a search; where none does, those that hold most of it, rare
 * words counting for more, the nearest first.
 * @template {{haystack: string}} T @param {T[]} claims @param {string} text @returns {T[]}
 */
export function matching(claims, text) {
  const words = wordsOf(text),
    whole = claims.filter(claim => words.every(word => claim.haystack.includes(word)));
  if (whole.length || words.length < 3) return whole;
  const holds = new Map(
    words.map(word => [word, claims.filter(claim => claim.haystack.includes(word)).length]),
  );
  const known = words.filter(word => holds.get(word)),
    weight = new Map(
      known.map(word => [word, Math.log((1 + claims.length) / Number(holds.get(word)))]),
    );
  const sum = (/** @type {string[]} */ list) =>
    list.reduce((total, word) => total + (weight.get(word) ?? 0), 0);
  // a word that stands nowhere weighs like the others
  const all = (sum(known) * words.length) / (known.length || 1);
  const share = (/** @type {T} */ claim) =>
    sum(known.filter(word => claim.haystack.includes(word))) / (all || 1);
  return claims
    .map(claim => ({claim, near: share(claim)}))
    .filter(({near}) => near >= ENOUGH)
    .toSorted((a, b) => b.near - a.near)
    .map(({claim}) => claim);
}

/** Take the news of live checks. @param {import('../data').ResultsData} news */
export function publish(news) {
  running.clear();
  (news.running || []).forEach(id => running.add(id));
  (news.results || []).forEach(result => {
    results[result.id] = result;
  });
  notify();
}
