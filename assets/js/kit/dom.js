// Elements, sentences with holes, and the two ways in which a picture follows its width.

/**
 * An attribute that is null or false is left out, true is set empty, `text` is the element's text;
 * children are nodes or strings, and a string is never markup.
 * @template {Element} N
 * @param {N} node
 * @param {Record<string, any>} attributes
 * @param {any[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') node.textContent = value;
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(
    ...children.filter(child => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {any[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
/** @type {(tag: string, attributes?: Record<string, any>, ...children: any[]) => SVGElement} */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [className]
 * @param {any} [text]
 * @param {Record<string, any>} [attributes]
 * @returns {HTMLElementTagNameMap[K]}
 */
export const el = (tag, className, text, attributes = {}) =>
  make(tag, {...attributes, class: className || null, text});
/** The head of a table: a row of names. @param {string[]} names */
export const tableHead = names =>
  make('thead', {}, make('tr', {}, ...names.map(name => make('th', {scope: 'col'}, name))));
/**
 * A word set apart from the sentence around it; a sign alone, or nothing, gets quotation marks.
 * @param {string} text
 */
export const word = text =>
  make('em', {class: 'w', translate: 'no'}, /[\p{L}\p{N}]/u.test(text) ? text : `“${text}”`);

/**
 * Fills the {holes} of a sentence with texts and numbers.
 * @param {string} text
 * @param {Record<string, any>} values
 */
export const say = (text, values) =>
  text.replace(/\{(\w+)\}/g, (hole, name) => (name in values ? values[name] : hole));
/**
 * The parts of a sentence, with nodes or texts in its {holes}.
 * @param {string} text
 * @param {Record<string, any>} values
 */
export const sayNodes = (text, values) =>
  text.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? values[part] : part));

/**
 * The first characters of a text; a surrogate pair, such as an emoji's, is not split.
 * @param {string} text
 * @param {number} n
 */
export const first = (text, n) => [...text].slice(0, n).join('');
/**
 * A text of at most so many characters; a longer one ends in an ellipsis.
 * @param {string} text
 * @param {number} most
 */
export const cut = (text, most) => ([...text].length > most ? `${first(text, most)}…` : text);

/**
 * A quiet line; a line break ends what is in sight, and the rest opens in place.
 * @param {string} text
 * @param {(text: string) => (string | Node)[]} [explain]
 * @param {string} [how] what a reader can do there: no part of a saved picture
 */
export function note(text, explain = part => [part], how = '') {
  const [first, rest] = text.split('\n'),
    hint = how ? make('span', {class: 'how', text: ` ${how}`}) : '';
  if (!rest) return make('p', {class: 'note'}, ...explain(first), hint);
  return make(
    'details',
    {class: 'note'},
    make('summary', {}, first, hint),
    make('p', {}, ...explain(rest)),
  ); // no button inside a summary
}

/**
 * A table that a phone shows row by row, each value under its column's name.
 * @param {HTMLElement} scroller
 */
export function stacks(scroller) {
  const names = [...scroller.querySelectorAll('thead th')].map(cell => cell.textContent);
  scroller
    .querySelectorAll('tbody tr')
    .forEach(row =>
      [...row.children].forEach((cell, i) => cell.setAttribute('data-label', names[i])),
    );
  scroller.classList.add('stacks');
  return scroller;
}

/**
 * The same below its caption, which stays where the table is scrolled.
 * @param {string | Node} caption
 * @param {HTMLElement} scroller
 */
export const captioned = (caption, scroller) =>
  make('figure', {class: 'tabled'}, make('figcaption', {}, caption), stacks(scroller));

/**
 * Draws now and whenever the width changes; a picture in a closed fold has none yet.
 * @param {HTMLElement} node
 * @param {(width: number) => void} draw
 * @returns {() => void} draws again
 */
export function sized(node, draw) {
  let last = 0;
  new ResizeObserver(() => {
    const width = Math.floor(node.clientWidth);
    if (width && width !== last) {
      last = width;
      draw(width);
    }
  }).observe(node);
  return () => {
    if (node.clientWidth) draw(Math.floor(node.clientWidth));
  };
}

/**
 * What draws on a canvas.
 * @param {HTMLCanvasElement} canvas
 */
export const penOf = canvas => /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));

let least = 1; // pixels of a canvas for each CSS pixel, whatever the screen has

/**
 * For what is taken away, canvases are drawn twice as fine as the page at least.
 * @param {boolean} yes
 */
export const fine = yes => {
  least = yes ? 2 : 1;
};

/**
 * A canvas that is sharp on this screen; coordinates are CSS pixels.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function resize(canvas, width, height) {
  const ratio = Math.max(least, Math.min(3, window.devicePixelRatio || 1));
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = penOf(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

/**
 * Where an event is within an element, in the element's own pixels, however much larger a projector
 * shows it.
 * @param {MouseEvent} event
 * @param {HTMLElement} node
 */
export function pointIn(event, node) {
  const box = node.getBoundingClientRect(),
    zoom = box.width / (node.offsetWidth || box.width) || 1;
  return {
    x: (event.clientX - box.left) / zoom,
    y: (event.clientY - box.top) / zoom,
    width: box.width / zoom,
  };
}

/**
 * The element at or around an event's target that fits.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export const closest = (event, selector) =>
  event.target instanceof Element ? event.target.closest(selector) : null;

/**
 * The first element below a place that fits.
 * @type {(place: ParentNode, selector: string) => HTMLElement | null}
 */
export const find = (place, selector) => place.querySelector(selector);

/**
 * The element that the page always has below a place.
 * @param {ParentNode} place
 * @param {string} selector
 */
export const the = (place, selector) => /** @type {HTMLElement} */ (place.querySelector(selector));

/**
 * The element with an id, whatever a link or the data put into it: no selector is made of that.
 * @param {string} id
 */
export const named = id => document.getElementById(id);

/**
 * The first element below a place whose attribute has a value, which may hold anything.
 * @param {ParentNode} place
 * @param {string} name
 * @param {string} value
 */
export const marked = (place, name, value) =>
  /** @type {HTMLElement | undefined} */ (
    [...place.querySelectorAll(`[${name}]`)].find(node => node.getAttribute(name) === value)
  );

/**
 * A number that the style sheet reads.
 * @type {(node: HTMLElement, name: string, value: number) => void}
 */
export const vary = (node, name, value) => node.style.setProperty(name, String(value));

/** Whether the reader points with a finger. */
export const touched = () => Boolean(window.matchMedia?.('(pointer: coarse)').matches);

/**
 * By place: the timer after which its usual text comes back.
 * @type {WeakMap<Node, ReturnType<typeof setTimeout>>}
 */
const endings = new WeakMap();

/**
 * Show a text in a place for a while; a newer one replaces it and its timer.
 * @param {Node} place
 * @param {string} text
 * @param {number} ms
 * @param {string} after the usual text, which comes back
 */
export function sayFor(place, text, ms, after) {
  clearTimeout(endings.get(place));
  place.textContent = text;
  endings.set(
    place,
    setTimeout(() => {
      place.textContent = after;
    }, ms),
  );
}
