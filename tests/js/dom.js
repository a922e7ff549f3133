// A document without a browser: nothing is laid out, every picture is WIDTH wide, pens keep notes.
import {Window} from 'happy-dom';

export const WIDTH = 640;
const page = new Window({url: 'http://page.test/', width: 1280, height: 900});

/** Tells the first width at once, as a browser does after the first frame. */
class ResizeObserver {
  constructor(heard) { this.heard = heard; }
  observe(node) { this.heard([{target: node, contentRect: {width: WIDTH, height: 100}}], this); }
  disconnect() {}
  unobserve() {}
}
class IntersectionObserver extends ResizeObserver {
  observe(node) { this.heard([{target: node, isIntersecting: true}], this); }
}

Object.defineProperty(page.HTMLElement.prototype, 'clientWidth', {configurable: true, get: () => WIDTH});

/** A canvas's pen: `notes` lists what was called and set, in order. */
function pen() {
  const notes = [];
  return new Proxy({notes}, {
    get: (own, name) => name in own ? own[name]
      : name === 'measureText' ? text => ({width: 6 * String(text).length})
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
  'innerWidth', 'innerHeight', 'scrollTo', 'CSS'];
for (const name of names) {
  const value = page[name];
  const bound = typeof value === 'function' && /^[a-z]/.test(name) ? value.bind(page) : value;
  Object.defineProperty(globalThis, name, {value: bound, configurable: true, writable: true});
}
Object.assign(globalThis, {
  window: globalThis, ResizeObserver, IntersectionObserver, devicePixelRatio: 1,
  requestAnimationFrame: drawn => { drawn(0); return 0; }, cancelAnimationFrame() {},
  explorer: {waiting: [], told: []},
});

/** An empty place on the page. */
export function place() {
  const root = document.createElement('div');
  document.body.replaceChildren(root);
  return root;
}

/** The texts of all elements that fit. */
export const texts = (root, selector) => [...root.querySelectorAll(selector)].map(node => node.textContent);

/** A click, as a reader makes it. */
export const click = node => node.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));

/** A chosen value of an input or a menu, heard by both of its events. */
export function enter(node, value) {
  node.value = value;
  for (const name of ['input', 'change']) node.dispatchEvent(new Event(name, {bubbles: true}));
}

/** Shares that the style sheet reads, to three digits. */
export const shares = (root, selector, name = '--share') =>
  [...root.querySelectorAll(selector)].map(node => Number(Number(node.style.getPropertyValue(name)).toFixed(3)));

/** Float32 numbers as they travel. */
export const packed = values => Buffer.from(new Float32Array(values).buffer).toString('base64');

/** What promises and timers of no length still have to do. */
export const settled = (ms = 0) => new Promise(done => { setTimeout(done, ms); });
