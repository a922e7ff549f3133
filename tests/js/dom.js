// A document without a browser: no layout, every picture is WIDTH wide, canvas contexts record their calls.
import {Window} from 'happy-dom';

export const WIDTH = 640;
const page = new Window({url: 'http://page.test/', width: 1280, height: 900});

const watching = [];   // resize callbacks with their elements
let atOnce = true;
/** For pictures that draw themselves when they are built: only `widen` reports a width. */
export const widthsLater = () => { atOnce = false; };

/** Reports the first width at once, as a browser does after the first frame. */
class ResizeObserver {
  constructor(heard) { this.heard = heard; }
  observe(node) {
    watching.push([node, this]);
    if (atOnce) this.heard([{target: node, contentRect: {width: WIDTH, height: 100}}], this);
  }
  disconnect() { watching.splice(0, watching.length, ...watching.filter(([, one]) => one !== this)); }
  unobserve() {}
}
class IntersectionObserver extends ResizeObserver {
  observe(node) { this.heard([{target: node, isIntersecting: true}], this); }
}

Object.defineProperty(page.HTMLElement.prototype, 'clientWidth', {configurable: true, get: () => WIDTH});

/** A canvas's context: `notes` lists the calls and assignments, in order. */
function pen() {
  const notes = [];
  return new Proxy({notes}, {
    get: (own, name) => name in own ? own[name]
      : name === 'measureText' ? text => ({width: 6 * String(text).length})
      : name === 'createImageData' ? (...size) => new page.ImageData(...size)
      : (...given) => { notes.push([name, ...given]); return {addColorStop() {}}; },
    set: (own, name, value) => { own[name] = value; notes.push([name, value]); return true; },
  });
}
const pens = new WeakMap();
page.HTMLCanvasElement.prototype.getContext = function getContext() {
  if (!pens.has(this)) pens.set(this, pen());
  return pens.get(this);
};

const names = ['document', 'location', 'history', 'localStorage', 'sessionStorage', 'Node', 'Element', 'HTMLElement', 'HTMLInputElement',
  'HTMLSelectElement', 'HTMLCanvasElement', 'SVGElement', 'Event', 'MouseEvent', 'PointerEvent', 'KeyboardEvent', 'CustomEvent', 'MutationObserver',
  'CSSStyleSheet', 'getComputedStyle', 'addEventListener', 'removeEventListener', 'dispatchEvent', 'matchMedia', 'XMLSerializer', 'DOMParser', 'Image',
  'innerWidth', 'innerHeight', 'scrollTo', 'CSS', 'ImageData', 'DOMRect'];
for (const name of names) {
  const value = page[name];
  const bound = typeof value === 'function' && /^[a-z]/.test(name) ? value.bind(page) : value;
  Object.defineProperty(globalThis, name, {value: bound, configurable: true, writable: true});
}
Object.assign(globalThis, {
  window: globalThis, navigator: globalThis.navigator ?? {}, ResizeObserver, IntersectionObserver, devicePixelRatio: 1, scrollY: 0,
  requestAnimationFrame: drawn => { drawn(0); return 0; }, cancelAnimationFrame() {},
  explorer: {waiting: [], told: [], charts: {templates: {light: {look: 'light'}, dark: {look: 'dark'}}, Plotly: {
    react(node, data, layout, config) { Object.assign(node, {drawn: {data, layout, config}, draws: (node.draws ?? 0) + 1}); },
    purge(node) { delete node.drawn; },
    Plots: {resize(node) { node.resized = (node.resized ?? 0) + 1; }}}}},
});

/** Plotly's last figure for each element of a picture. */
export const charts = root => [...root.querySelectorAll('.fg')].map(node => node.drawn);

/** An empty element on the page. */
export function place() {
  const root = document.createElement('div');
  document.body.replaceChildren(root);
  return root;
}

/** Set an element's colours, as a style sheet would. */
export function coloured(root, colours) {
  for (const [name, colour] of Object.entries(colours)) root.style.setProperty(`--${name}`, colour);
  return root;
}

/** Set an element's width and notify its observers. */
export function widen(node, width) {
  Object.defineProperty(node, 'clientWidth', {configurable: true, value: width});
  for (const [watched, one] of [...watching]) if (watched === node) one.heard([{target: node, contentRect: {width, height: 100}}], one);
}

/** The texts of all elements that match. */
export const texts = (root, selector) => [...root.querySelectorAll(selector)].map(node => node.textContent);

/** Click an element. */
export const click = node => node.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));

/** Set the value of an input or a menu and fire both of its events. */
export function enter(node, value) {
  node.value = value;
  for (const name of ['input', 'change']) node.dispatchEvent(new Event(name, {bubbles: true}));
}

/** Press a key; return whether the default action stays with the browser. */
export const press = (node, key) => node.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));

/** Fire a pointer event at a position of the page; all pictures start at its corner. */
export function point(node, kind, x = 0, y = 0, pointerType = 'mouse') {
  const event = new PointerEvent(kind, {clientX: x, clientY: y, pointerType, bubbles: true});
  for (const [name, value] of [['offsetX', x], ['offsetY', y]]) Object.defineProperty(event, name, {value});
  node.dispatchEvent(event);
}

/**
 * The calls on a canvas since it was last cleared, each with the state of the context, and the points of a line as `path`.
 * @returns {Record<string, any>[]} `call` and `given`
 */
export function painted(canvas, ...calls) {
  const {notes} = canvas.getContext('2d'), found = [];
  let pen = {}, path = [];
  for (const [call, ...given] of notes.slice(notes.findLastIndex(note => note[0] === 'setTransform') + 1)) {
    if (call === 'beginPath') path = [];
    if (/^(moveTo|lineTo|bezierCurveTo|quadraticCurveTo|arc)$/.test(call)) path = [...path, [call, ...given]];
    if (SET.has(call)) pen = {...pen, [call]: given[0]};
    else found.push({...pen, path, call, given});
  }
  return calls.length ? found.filter(one => calls.includes(one.call)) : found;
}
const SET = new Set(['fillStyle', 'strokeStyle', 'lineWidth', 'lineCap', 'globalAlpha', 'font', 'textAlign', 'textBaseline', 'imageSmoothingEnabled']);

/** The shares in CSS variables, to three digits. */
export const shares = (root, selector, name = '--share') =>
  [...root.querySelectorAll(selector)].map(node => Number(Number(node.style.getPropertyValue(name)).toFixed(3)));

/** Float32 numbers in their transfer encoding. */
export const packed = values => Buffer.from(new Float32Array(values).buffer).toString('base64');

/** Wait for pending promises and zero-length timers. */
export const settled = (ms = 0) => new Promise(done => { setTimeout(done, ms); });

/** Wait until a condition holds. @param {() => boolean} holds */
export async function until(holds) {
  for (const end = Date.now() + 60_000; !holds();) {
    if (Date.now() > end) throw new Error(`it never came true: ${holds}`);
    await new Promise(done => setTimeout(done, 2));
  }
}
