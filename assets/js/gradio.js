// Pictures on the page: how each gets its data from Gradio, and what Gradio's components tell.
import {closest, find, make, the} from './kit/dom.js';
import {remember} from './kit/memory.js';
import {partOf} from './kit/menus.js';
import {choose, compare, withSize, withState} from './page/here.js';
import {filled, formNow, keepForm} from './page/forms.js';
import {isDark, markOpened, opened} from './page/parts.js';
import {placedNow, put} from './page/tabs.js';
import './page/standing.js';

// What Gradio's own components tell: the page is up, a Compare, what Tasks was asked, a question
// that has no answer.
/** @type {Record<string, (message: any) => void>} */
const hear = {
  opened: markOpened,
  /** A family that is no preset has no value among Gradio's presets: then it stays as it is. */
  compare: ({family, ...changes}) =>
    withState(state => {
      if (family && family !== state.get('family')) put({family});
      compare(family ? {...changes, family} : changes);
    }),
  column: ({key, size, ...changes}) =>
    withState(({config}) => {
      if (size !== config.closed && !config.columns[key].includes(size))
        config.columns[key].push(size); // typed by the reader
      const family = withSize(key, size);
      put({family});
      compare({...changes, family});
    }),
  choose,
  form: keepForm,
  lost: () => withState(state => state.lost()),
};

// Gradio writes “- 0.0%” behind a sentence of which nobody knows how much is done: the sentence
// stays.
const shares = new MutationObserver(() => {
  for (const place of document.querySelectorAll('#input-bar .progress-level-inner')) {
    for (const node of place.childNodes)
      if (/^\s*(-|0\.0%)\s*$/.test(node.nodeValue ?? '')) node.nodeValue = '';
  }
});
opened.then(() => find(document, '#settings')?.setAttribute('popover', 'auto'));
opened.then(() =>
  shares.observe(the(document, '#input-bar'), {
    childList: true,
    subtree: true,
    characterData: true,
  }),
);

/**
 * Rows under named columns, numbers as they are: what a picture says, for a file or a reader.
 * @typedef {{columns: string[], rows: (string | number | boolean | null)[][]}} Table
 * What a picture is given beside its data: whether the page is dark now, and two ways to ask
 * Python.
 * `ask` is answered by new values on the page, `asks` by a string for the picture alone; `shows`
 * says what it draws in place of its data.
 * @typedef {{readonly dark: boolean, ask: (question: unknown) => void, asks: (question: unknown)
 *   => Promise<string>, shows?: (value: string) => void}} Context
 * A picture is a module of its own, `<kind>.js`. `show` draws new data, whatever was drawn before;
 * `clear` forgets all of it (without one the place is emptied); `theme` answers light and dark
 * where the style sheet does not. Everybody may take away what it shows: see take/take.js.
 * @typedef {object} Picture
 * @property {(root: HTMLElement, data: any, context: Context) => void | Promise<void>} show
 * @property {(data: any, root?: HTMLElement) => Table} table
 * @property {(root: HTMLElement) => void} [clear]
 * @property {(root: HTMLElement) => void} [theme]
 * @property {(root: HTMLElement) => Promise<void>} [whole] draws what waits until it is in sight
 * @property {(root: HTMLElement) => void} [near] its place is there, its data may be on the way
 * @property {string[]} [choices] what it draws besides its data and Back may change: it is drawn
 *   anew
 * @property {(data: any) => Record<string, any>} [constants] what its lines of Python need besides
 *   the text and the models
 * @property {(data: any) => Record<string, any>} [header] what its files say instead of what the
 *   page knows; null for nothing, true for what is known;
 * `state` is what the reader has chosen in it, which stands in their names too
 */

/**
 * @typedef {{kind: string, props: {value?: string}, picture: Picture | null, own: string, update?:
 *   () => Promise<void>}} Canvas `own`: what it draws now where that is not what it was sent
 */

/** @param {Canvas} canvas */
const valueOf = ({own, props}) => own || (props.value ?? '');

/** @type {Map<HTMLElement, Canvas>} */
const mounted = new Map();

/** The canvas that is mounted at a place. @param {HTMLElement} root */
const canvasAt = root => /** @type {Canvas} */ (mounted.get(root));
/** @type {Map<string, unknown>} */
const questions = new Map(); // kind -> what its picture asked last, or a function that says it

/**
 * Connects one canvas: one that is broken costs only its own place.
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {{value?: string}} props
 * @param {(name: string, act: () => void) => void} watch
 * @param {(name: string, detail: object) => void} trigger
 * @param {Context['asks']} asks
 */
async function mount(kind, element, props, watch, trigger, asks) {
  const root = find(element, '.canvas');
  if (!root) return;
  /** @type {Canvas} */
  const canvas = {kind, props, picture: null, own: ''};
  const ask = (/** @type {unknown} */ question) => {
    questions.set(kind, question);
    trigger('select', {});
  };
  const context = {
    get dark() {
      return isDark();
    },
    ask,
    asks,
    shows: (/** @type {string} */ value) => {
      canvas.own = value;
    },
  };
  const update = () =>
    attempt(root, () => {
      canvas.own = '';
      if (!canvas.picture) return;
      if (props.value && canvas.picture.whole) whenIdle(drawWaiting); // paper waits for nothing
      if (props.value) return canvas.picture.show(root, JSON.parse(props.value), context);
      if (canvas.picture.clear) canvas.picture.clear(root);
      else root.replaceChildren();
    });
  canvas.update = update;
  watch('value', update);
  mounted.set(root, canvas);
  await attempt(root, async () => {
    canvas.picture = await import(`./${root.dataset.module || kind}.js`);
  });
  canvas.picture?.near?.(root);
  update();
}

/** @param {HTMLElement} root @param {() => void | Promise<void>} act */
async function attempt(root, act) {
  try {
    await act();
  } catch (error) {
    root.replaceChildren(
      make('p', {class: 'message failure', role: 'alert', text: root.dataset.failed}),
    );
    reportError(error);
  }
}

/**
 * The rows of a canvas on the page, or null while it shows nothing.
 * @param {HTMLElement} root
 * @returns {Table | null}
 */
export function tableOf(root) {
  const canvas = mounted.get(root);
  return canvas?.picture && canvas.props.value
    ? canvas.picture.table(JSON.parse(valueOf(canvas)), root)
    : null;
}

// The menu below a picture: its files are made when they are asked for, and so is what makes them.
document.addEventListener('click', event => {
  const button = closest(event, '.take [data-take]'),
    menu = /** @type {HTMLDetailsElement | null} */ (button?.closest('.take'));
  for (const open of /** @type {NodeListOf<HTMLDetailsElement>} */ (
    document.querySelectorAll('.take[open]')
  )) {
    if (!open.contains(/** @type {Node} */ (event.target))) open.open = false;
  }
  if (button?.dataset.take && menu) takeAway(button.dataset.take, menu);
});
// It opens upwards where the window's lower end leaves it no room and its upper end does.
document.addEventListener(
  'toggle',
  event => {
    const menu =
        event.target instanceof HTMLElement && event.target.matches('.take[open]')
          ? event.target
          : null,
      list = menu && find(menu, '.take-list');
    if (!list) return;
    menu.classList.remove('up');
    const {bottom, height} = list.getBoundingClientRect(),
      {top} = menu.getBoundingClientRect();
    menu.classList.toggle('up', bottom > innerHeight && top > height);
  },
  true,
);
document.addEventListener('keydown', event => {
  const menu = /** @type {HTMLDetailsElement | null} */ (
    event.key === 'Escape' ? closest(event, '.take[open]') : null
  );
  if (!menu) return;
  menu.open = false;
  the(menu, 'summary').focus();
});

/** @param {string} ending @param {HTMLDetailsElement} menu */
async function takeAway(ending, menu) {
  const status = the(menu, '[role=status]');
  status.textContent = '';
  try {
    const {lookOf, take} = await import('./take/take.js');
    await take(ending, shownAbove(menu), lookOf(menu));
    // what is closed cannot hold the focus
    if (menu.contains(document.activeElement)) the(menu, 'summary').focus();
    menu.open = false;
  } catch (error) {
    status.textContent = status.dataset.failed ?? '';
    reportError(error);
  }
}

/** @type {Omit<Picture, 'show'>} */
const drawn = {
  table: ({columns, rows}) => ({columns, rows}),
  constants: ({constants}) => constants,
  header: ({said: header}) => header,
};

/**
 * The picture above a menu: a part of one, a canvas, or what Python drew with its numbers beside
 * it.
 * @param {HTMLElement} menu
 * @returns {import('./take/take.js').Shown}
 */
export function shownAbove(menu) {
  const part = partOf(menu),
    place = /** @type {HTMLElement | null} */ (menu.closest('.drawn'));
  if (part) return part;
  if (place)
    return {
      kind: place.dataset.kind ?? '',
      root: place,
      picture: drawn,
      data: JSON.parse(place.dataset.numbers ?? ''),
    };
  const root = the(/** @type {Element} */ (menu.parentElement), '.canvas'),
    canvas = canvasAt(root),
    picture = /** @type {Picture} */ (canvas.picture);
  return {kind: canvas.kind, root, picture, data: JSON.parse(valueOf(canvas))};
}

const IDLE_MS = 500;
/**
 * Chromium can owe a page without frames its idle callback until the next frame; past the timeout
 * it calls all the same.
 */
/** @param {() => void} act */
const whenIdle = act =>
  'requestIdleCallback' in window
    ? requestIdleCallback(act, {timeout: IDLE_MS})
    : setTimeout(act, IDLE_MS);

/**
 * Draws what waits until it is in sight, as far as it is on this tab. A chart that fails says so in
 * its own place.
 */
export function drawWaiting() {
  for (const [root, {picture, props}] of mounted)
    if (picture?.whole && props.value && root.firstChild && root.getClientRects().length)
      picture.whole(root).catch(reportError);
}

/** Draw the pictures anew that show one of these choices. @param {string[]} names */
export function redraw(names) {
  for (const {picture, props, update} of mounted.values())
    if (props.value && picture?.choices?.some(name => names.includes(name))) update?.();
}

/**
 * What a canvas shows now, as it was sent.
 * @param {HTMLElement} root
 * @returns {{kind: string, value: string}}
 */
export function valueAt(root) {
  const canvas = canvasAt(root);
  return {kind: canvas.kind, value: valueOf(canvas)};
}

new MutationObserver(() => {
  for (const [root, {picture}] of mounted) {
    if (!root.isConnected) mounted.delete(root);
    else if (picture?.theme) attempt(root, () => picture.theme?.(root));
  }
}).observe(document.body, {attributes: true, attributeFilter: ['class']});

document.addEventListener('click', event => {
  if (closest(event, '.skip')) {
    // the page has a base address, so that the link itself would leave it
    event.preventDefault();
    the(document, '#tabs [role=tab][aria-selected=true]').focus();
  }
  if (closest(event, '#theme-switch'))
    remember('theme', document.body.classList.toggle('dark') ? 'dark' : 'light');
});

// The tour and the projector mode come when they are asked for.
/** @param {Event} event */
const ask = event => {
  if (closest(event, '#tour-start, [data-project]')) begin(event);
};
/** @param {Event | null} event */
const begin = event => {
  document.removeEventListener('click', ask);
  import('./page/tour.js').then(tour => tour.begin(event)).catch(reportError);
};
document.addEventListener('click', ask);
if (/[?&](tour|projector)=/.test(location.search)) begin(null);

// So do the lessons.
/** @param {Event} event */
const askLesson = event => {
  if (closest(event, '[data-lessons]')) beginLesson(event);
};
/** @param {Event | null} event */
const beginLesson = event => {
  document.removeEventListener('click', askLesson);
  import('./lesson/lesson.js').then(lesson => lesson.begin(event)).catch(reportError);
};
document.addEventListener('click', askLesson);
if (/[?&]lesson=/.test(location.search)) beginLesson(null);

const {waiting, told} = window.explorer;
window.explorer.mount = mount;
window.explorer.question = (/** @type {string} */ kind) => {
  const question = questions.get(kind);
  return JSON.stringify(typeof question === 'function' ? question() : question);
};
window.explorer.placed = placedNow;
Object.assign(window.explorer, {form: formNow, filled});
window.explorer.tell = (/** @type {string} */ name, /** @type {any} */ message) =>
  hear[name](message);
told.forEach(([name, message]) => hear[name](message));
waiting.forEach(args => mount(.../** @type {Parameters<typeof mount>} */ (args)));
