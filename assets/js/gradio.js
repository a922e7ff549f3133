// The seam to Gradio: how a picture gets its data, and everything that knows the page's insides.
import {closest, find, make} from './kit/dom.js';
import {remember} from './kit/memory.js';
import {onDoor, takeOver} from './page/family.js';
import {compare, withState} from './page/here.js';

export const isDark = () => document.body.classList.contains('dark');
/** @type {() => HTMLTextAreaElement} */
export const textBox = () => document.querySelector('#text textarea');
export const pressCompare = () => find(document, 'button#compare, #compare button').click();
export const fileUrl = path => `${(window.gradio_config?.root || '').replace(/\/$/, '')}/gradio_api/file=${path}`;

export function typeText(text) {
  const area = textBox();
  area.value = text;
  area.dispatchEvent(new Event('input', {bubbles: true}));
}

/** What Gradio's own controls are to show, where the page and not the reader changes them: the family, the tab. */
/** @type {{family?: string, tab?: string}} */
let placed = {};
/** @param {{family?: string, tab?: string}} values */
export function put(values) {
  placed = values;
  const button = find(document, '#put');
  (button?.matches('button') ? button : button && find(button, 'button'))?.click();
}

/** Opens a tab, also one for which the row of tabs has no room, and brings the row in sight. @param {string} tab */
export function showTab(tab) {
  put({tab});
  const row = find(document, '#tabs [role=tablist]');
  if (row && row.getBoundingClientRect().bottom > 0.8 * innerHeight) row.scrollIntoView({block: 'start'});
}

// The folds of the tab in sight: their name in links, whether they are open, and two presses.
export function foldsInSight() {
  const nodes = [...document.querySelectorAll('.fold')].filter(node => node.getClientRects().length);
  return nodes.map(node => {
    const header = find(node, 'button.label-wrap'), refresh = find(node, '.fold-refresh');
    return {
      node, name: node.id.split('-').pop(), isOpen: () => Boolean(header?.classList.contains('open')),
      press: () => header?.click(), refresh: () => (refresh?.matches('button') ? refresh : refresh && find(refresh, 'button'))?.click(),
    };
  });
}

/** React to every fold that a click opens or closes, after it did. */
export function onFold(react) {
  document.addEventListener('click', event => {
    const node = closest(event, '.fold button.label-wrap')?.closest('.fold');
    if (node) setTimeout(() => react(foldsInSight().find(fold => fold.node === node)), 0);
  });
}

// What a tab shows for another text stays hidden until it is drawn anew.
const hiding = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, hiding];
export function hideStale(tabs) {
  hiding.replaceSync(tabs.map(tab => `#tab-${tab} > * { visibility: hidden; }`).join(' '));
}

// Arrows, Home and End move between the tabs that have room; Gradio's tabs hear of clicks alone.
document.addEventListener('keydown', event => {
  const tab = closest(event, '#tabs [role=tab]');
  if (!tab || event.ctrlKey || event.altKey || event.metaKey) return;
  const tabs = [...tab.parentElement.querySelectorAll('[role=tab]')], at = tabs.indexOf(tab);
  const next = {ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1}[event.key];
  if (next === undefined) return;
  event.preventDefault();
  const chosen = /** @type {HTMLElement} */ (tabs[next % tabs.length]);
  chosen.focus();
  chosen.click();
});

// What Gradio's own components tell: the page is up, the link's tab is chosen, a tab, a Compare.
let restored = false, up;
export const opened = new Promise(done => { up = done; });
const hear = {
  opened: up,
  restored: () => { restored = true; },
  tab: tab => { if (restored) withState(state => state.show(tab)); },   // Gradio selects one while it loads
  compare,
  family: takeOver,
};
onDoor(showTab);

// Gradio writes “- 0.0%” behind a sentence of which nobody knows how much is done: the sentence stays.
const shares = new MutationObserver(() => {
  for (const place of document.querySelectorAll('#input-bar .progress-level-inner')) {
    for (const node of place.childNodes) if (/^\s*(-|0\.0%)\s*$/.test(node.nodeValue ?? '')) node.nodeValue = '';
  }
});
opened.then(() => shares.observe(find(document, '#input-bar'), {childList: true, subtree: true, characterData: true}));

/**
 * Rows under named columns, numbers as they are: what a picture says, for a file or a reader.
 * @typedef {{columns: string[], rows: (string | number | boolean | null)[][]}} Table
 *
 * What a picture is given beside its data: whether the page is dark now, and two ways to ask Python.
 * `ask` is answered by new values on the page, `asks` by a string for the picture alone.
 * @typedef {{readonly dark: boolean, ask: (question: unknown) => void, asks?: (question: unknown) => Promise<string>}} Context
 *
 * A picture is a module of its own, `<kind>.js`. `show` draws new data, whatever was drawn before;
 * `clear` forgets all of it (without one the place is emptied); `theme` answers light and dark
 * where the style sheet does not. Everybody may take away what it shows: see take/take.js.
 * @typedef {object} Picture
 * @property {(root: HTMLElement, data: any, context: Context) => void | Promise<void>} show
 * @property {(data: any) => Table} table
 * @property {(root: HTMLElement) => void} [clear]
 * @property {(root: HTMLElement) => void} [theme]
 * @property {(root: HTMLElement) => Promise<void>} [whole] draws what waits until it is in sight
 * @property {(data: any) => Record<string, any>} [constants] what its lines of Python need besides the text and the models
 * @property {(data: any) => Record<string, any>} [said] what its files say instead of what the page knows; null for nothing, true for what is known
 */

/** @type {Map<HTMLElement, {kind: string, props: {value?: string}, picture: Picture | null}>} */
const mounted = new Map();
const questions = new Map();   // kind -> what its picture asked last, or a function that says it

/** Connects one canvas: one that is broken costs only its own place. */
async function mount(kind, element, props, watch, trigger, asks) {
  const root = element.querySelector('.canvas');
  if (!root) return;
  /** @type {{kind: string, props: {value?: string}, picture: Picture | null}} */
  const canvas = {kind, props, picture: null};
  const ask = question => { questions.set(kind, question); trigger('select', {}); };
  const context = {get dark() { return isDark(); }, ask, asks};
  const update = () => attempt(root, () => {
    if (!canvas.picture) return;
    if (props.value) return canvas.picture.show(root, JSON.parse(props.value), context);
    if (canvas.picture.clear) canvas.picture.clear(root); else root.replaceChildren();
  });
  watch('value', update);
  mounted.set(root, canvas);
  await attempt(root, async () => { canvas.picture = await import(`./${kind}.js`); });
  update();
}

async function attempt(root, act) {
  try {
    await act();
  } catch (error) {
    root.replaceChildren(make('p', {class: 'message failure', role: 'alert', text: root.dataset.failed}));
    reportError(error);
  }
}

/** The rows of a canvas on the page, or null while it shows nothing. @returns {Table | null} */
export function tableOf(root) {
  const {picture, props} = mounted.get(root) || {};
  return picture && props.value ? picture.table(JSON.parse(props.value)) : null;
}

// The menu below a picture: its files are made when they are asked for, and so is what makes them.
document.addEventListener('click', event => {
  const button = closest(event, '.take [data-take]'), menu = /** @type {HTMLDetailsElement | null} */ (button?.closest('.take'));
  for (const open of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll('.take[open]'))) {
    if (!open.contains(/** @type {Node} */ (event.target))) open.open = false;
  }
  if (menu) takeAway(button.dataset.take, menu);
});
document.addEventListener('keydown', event => {
  const menu = /** @type {HTMLDetailsElement | null} */ (event.key === 'Escape' ? closest(event, '.take[open]') : null);
  if (!menu) return;
  menu.open = false;
  find(menu, 'summary').focus();
});

/** @param {string} ending @param {HTMLDetailsElement} menu */
async function takeAway(ending, menu) {
  const said = find(menu, '[role=status]');
  said.textContent = '';
  try {
    const {take} = await import('./take/take.js');
    await take(ending, shownAbove(menu));
    menu.open = false;
  } catch (error) {
    said.textContent = said.dataset.failed;
    reportError(error);
  }
}

/** @type {Omit<Picture, 'show'>} */
const drawn = {table: ({columns, rows}) => ({columns, rows}), constants: ({constants}) => constants, said: ({said}) => said};

/** The picture above a menu: a canvas, or what Python drew with its numbers beside it. @param {HTMLElement} menu */
function shownAbove(menu) {
  const place = /** @type {HTMLElement | null} */ (menu.closest('.drawn'));
  if (place) return {kind: place.dataset.kind, root: place, picture: drawn, data: JSON.parse(place.dataset.numbers)};
  const root = find(menu.parentElement, '.canvas'), {kind, picture, props} = mounted.get(root);
  return {kind, root, picture, data: JSON.parse(props.value)};
}

/** What a canvas shows now, as it was sent. @param {HTMLElement} root @returns {{kind: string, value: string}} */
export function valueAt(root) {
  const {kind, props} = mounted.get(root);
  return {kind, value: props.value};
}

new MutationObserver(() => {
  for (const [root, {picture}] of mounted) {
    if (!root.isConnected) mounted.delete(root);
    else if (picture?.theme) attempt(root, () => picture.theme(root));
  }
}).observe(document.body, {attributes: true, attributeFilter: ['class']});

document.addEventListener('click', event => {
  if (closest(event, '.skip')) {   // the page has a base address, so that the link itself would leave it
    event.preventDefault();
    find(document, '#tabs [role=tab][aria-selected=true]').focus();
  }
  if (closest(event, '#theme-switch')) remember('theme', document.body.classList.toggle('dark') ? 'dark' : 'light');
});

const {waiting, told} = window.explorer;
window.explorer.mount = mount;
window.explorer.question = kind => {
  const question = questions.get(kind);
  return JSON.stringify(typeof question === 'function' ? question() : question);
};
window.explorer.placed = () => placed;
window.explorer.tell = (name, said) => hear[name](said);
told.forEach(([name, said]) => hear[name](said));
waiting.forEach(asked => mount(...asked));
