// The seam to Gradio: how a picture gets its data, and everything that knows the page's insides.
import {closest, find, make} from './kit/dom.js';

export const isDark = () => document.body.classList.contains('dark');
/** @type {() => HTMLTextAreaElement} */
export const textBox = () => document.querySelector('#text textarea');
export const pressCompare = () => find(document, 'button#compare, #compare button').click();
export const fileUrl = path => `${(window.gradio_config?.root || '').replace(/\/$/, '')}/gradio_api/file=${path}`;
export const openTab = () =>
  [...document.querySelectorAll('#tabs [role=tabpanel]')].find(panel => panel.getClientRects().length)?.id.slice('tab-'.length);

export function typeText(text) {
  const area = textBox();
  area.value = text;
  area.dispatchEvent(new Event('input', {bubbles: true}));
}

// Open folds show the text that was compared last: their hidden buttons ask for it.
export function refreshFolds() {
  for (const button of document.querySelectorAll('.fold .fold-refresh')) {
    const target = button.matches('button') ? button : find(button, 'button');
    const header = button.closest('.fold')?.querySelector('button.label-wrap');
    if (target instanceof HTMLElement && header?.classList.contains('open')) target.click();
  }
}

/**
 * Rows under named columns, numbers as they are: what a picture says, for a file or a reader.
 * @typedef {{columns: string[], rows: (string | number | boolean | null)[][]}} Table
 *
 * What a picture is given beside its data: whether the page is dark now, and a way to ask Python.
 * @typedef {{readonly dark: boolean, trigger: (event: string, data: unknown) => void}} Context
 *
 * A picture is a module of its own, `<kind>.js`. `show` draws new data, whatever was drawn before;
 * `clear` forgets all of it (without one the place is emptied); `theme` answers light and dark
 * where the style sheet does not.
 * @typedef {object} Picture
 * @property {(root: HTMLElement, data: any, context: Context) => void | Promise<void>} show
 * @property {(data: any) => Table} table
 * @property {(root: HTMLElement) => void} [clear]
 * @property {(root: HTMLElement) => void} [theme]
 */

/** @type {Map<HTMLElement, {kind: string, props: {value?: string}, picture: Picture | null}>} */
const mounted = new Map();

/** Connects one canvas: one that is broken costs only its own place. */
async function mount(kind, element, props, watch, trigger) {
  const root = element.querySelector('.canvas');
  if (!root) return;
  /** @type {{kind: string, props: {value?: string}, picture: Picture | null}} */
  const canvas = {kind, props, picture: null};
  const context = {get dark() { return isDark(); }, trigger};
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

new MutationObserver(() => {
  for (const [root, {picture}] of mounted) {
    if (!root.isConnected) mounted.delete(root);
    else if (picture?.theme) attempt(root, () => picture.theme(root));
  }
}).observe(document.body, {attributes: true, attributeFilter: ['class']});

document.addEventListener('click', event => {
  if (closest(event, '#theme-switch')) document.body.classList.toggle('dark');
});

const {waiting} = window.explorer;
window.explorer.mount = mount;
waiting.forEach(asked => mount(...asked));
