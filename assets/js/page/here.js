// The one State of this page, for every picture: read a choice, make one, or hear of a new answer.
import {asOneField, familyOf, sizesOf, withColumn} from './family.js';
import {follow, written} from './masks.js';
import {lengthOf, NONE, shortened} from './pack.js';
import {State} from './state.js';

/** @type {State | null} */
let state = null;
/** @type {Set<(state: State) => void>} */
const listeners = new Set();
/** @type {((state: State) => void)[]} */
const early = []; // what was told before the view was there

/**
 * Make the page's state.
 * @param {import('./state.js').Config} config
 * @param {() => void} send
 * @param {import('./folds.js').Folds} [folds]
 */
export function begin(config, send, folds) {
  const made = new State(config, {
    send,
    write: writeLink,
    changed: () => listeners.forEach(hear => hear(made)),
  });
  state = made;
  made.folds = folds ?? null;
  early.splice(0).forEach(then => then(made));
  return made;
}

/** The state, for what the page does only once it is there. */
const now = () => /** @type {State} */ (state);

/**
 * Do something with the state, now or as soon as it is there.
 * @param {(state: State) => void} then
 */
export const withState = then => {
  state ? then(state) : early.push(then);
};

/** Hear of every answer and every tab switch. @param {(state: State) => void} hear */
export const listen = hear => {
  listeners.add(hear);
};

/** A choice, or its default before anything is known. @param {string} name */
export const chosen = name => state?.get(name) ?? null;

/** Whether the reader or a link chose this. @param {string} name */
export const isChosen = name => Boolean(state && name in state.wanted);

/** Keep what the browser alone decides. @param {Record<string, string | number | null>} changes */
export const choose = changes => withState(s => s.set(changes));

/** Run something else. @param {Record<string, string>} changes */
export const compare = changes =>
  withState(s =>
    s.compare(
      'text' in changes && !('hidden' in changes)
        ? {...changes, hidden: written(follow(changes.text))}
        : changes,
    ),
  );

/**
 * Open another view, as its link does: what it does not name is the default.
 * @param {Record<string, string>} params
 */
export const visit = params =>
  withState(s => s.visit({...params, hidden: written(follow(params.text))}));

/**
 * What Gradio's controls show of a family: its preset, if it is one, and the size in each column.
 * @param {string} family
 */
export function controlsOf(family) {
  const choices = config();
  return {
    preset: Object.hasOwn(choices.presets, family) ? family : null,
    sizes: sizesOf(family, choices) ?? {},
  };
}

/**
 * The family with another size in one column, or without it.
 * @param {string} key
 * @param {string} size
 */
export const withSize = (key, size) =>
  familyOf(withColumn(sizesOf(now().get('family'), config()) ?? {}, key, size, config()), config());

/** The link's fields, for a question to the server. */
export const runParams = () => ({...state?.accepted});

/** What the page was told once; undefined before. */
export const configNow = () => state?.config;

/** What the page was told once, for what it does only then. */
export const config = () => now().config;

/** @type {import('./pack.js').Link & {of: string}} the newest link whose texts had to be packed */
let short = {of: '', fits: true, params: {}, length: 0};

/**
 * The link of the view: its texts packed where they must be, which takes a moment.
 * @returns {import('./pack.js').Link}
 */
export function linkOf() {
  const params = now().link(),
    length = lengthOf(params),
    of = JSON.stringify(params);
  if (length <= config().longest) return {fits: true, params, length};
  if (short.of !== of) {
    short = {of, fits: true, params: {v: '1', [config().packed]: NONE}, length: 0};
    shortened(params, config()).then(link => {
      if (short.of !== of) return;
      short = {of, ...link};
      now().publish();
    });
  }
  return short;
}

/**
 * The link to what the page shows now, or to another of its tabs: its own fields alone, whatever
 * else the address holds.
 * @param {string} [tab]
 */
export function linkNow(tab) {
  const url = new URL(window.explorer.taken?.link ?? (state?.config.home || location.href));
  url.hash = '';
  const there = tab && state?.accepted ? state.link(tab) : null;
  if (state?.accepted)
    url.search = new URLSearchParams(
      there && lengthOf(there) <= state.config.longest ? there : linkOf().params,
    ).toString();
  return url;
}

/** Whether a picture shows what the models made of the text. @param {string} kind */
export const readsText = kind => Boolean(state?.config.reads[kind.split('/')[0]]?.includes('text'));

const BURST = 20,
  // addresses at once, and milliseconds for each one more: browsers bear 100 in 30 s, a dial makes
  // more
  PAUSE = 500;
let left = BURST,
  wrote = 0;
/** @type {(() => void) | null} */
let due = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

/** Write the address that waits, if one does. */
function flush() {
  clearTimeout(waiting);
  waiting = undefined;
  due?.();
  due = null;
}
window.addEventListener('pagehide', flush);
window.addEventListener('popstate', () => {
  due = null;
}); // it was of the place that was left

/** @param {() => void} write @param {boolean} isNew */
function inTurn(write, isNew) {
  if (isNew) flush();
  left = Math.min(BURST, left + (performance.now() - wrote) / PAUSE);
  wrote = performance.now();
  if (left < 1 && !isNew) {
    due = write;
    waiting ??= setTimeout(flush, PAUSE);
    return;
  }
  left -= 1;
  due = null;
  write();
}

/**
 * @param {Record<string, string>} _link
 * @param {boolean} isNew a new place in the browser's history
 */
function writeLink(_link, isNew) {
  // another's address is not ours to write
  if (window.explorer.taken || new URL(import.meta.url).origin !== location.origin) return;
  const {params} = linkOf(),
    {view} = now();
  inTurn(() => {
    const url = withFields(params),
      place = {...history.state, view}; // for Back, and for a reload
    if (isNew) history.pushState(place, '', url);
    else history.replaceState(place, '', url);
    if (window.parent !== window)
      window.parent.postMessage(
        {queryString: url.searchParams.toString()},
        'https://huggingface.co',
      );
  }, isNew);
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector('#link input'));
  if (field) field.value = linkNow().href;
}

/**
 * The address with these fields in place of those it has of ours.
 * @param {Record<string, string>} params
 */
function withFields(params) {
  const url = new URL(location.href),
    {defaults, packed, columns} = config();
  for (const name of ['v', packed, ...Object.keys({...defaults, ...columns})])
    url.searchParams.delete(name);
  url.searchParams.delete('__sign'); // a private Space's token is never shared
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return url;
}

/**
 * What the address asks for; with all that it leaves out, where this very browser wrote it.
 * @returns {Record<string, string>}
 */
export function addressed() {
  const params = asOneField(Object.fromEntries(new URLSearchParams(location.search)), config()),
    {view} = history.state ?? {};
  if (!view) return params;
  const {[config().packed]: _, ...rest} = params;
  return {...rest, ...view};
}
