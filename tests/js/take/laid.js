// A page with a layout: elements have the boxes and styles that a test sets, letters are 6 wide and 10 high.
import '../dom.js';

const {Text, SVGSVGElement, HTMLDetailsElement, HTMLAnchorElement} = /** @type {any} */ (document.defaultView);
const side = name => ['Top', 'Right', 'Bottom', 'Left'].map(one => `border${one}${name}`);
const all = (names, value) => Object.fromEntries(names.map(name => [name, value]));
export const PLAIN = {display: 'block', visibility: 'visible', overflow: 'visible', transform: 'none', transformOrigin: '0px 0px', opacity: '1',
  backgroundColor: 'transparent', backgroundImage: 'none', borderTopLeftRadius: '0px', outlineStyle: 'none', outlineWidth: '0px', outlineOffset: '0px',
  outlineColor: '#000000', color: '#000000', fontStyle: 'normal', fontWeight: '400', fontSize: '10px', fontFamily: 'serif', textTransform: 'none',
  textDecorationLine: 'none', position: 'static', lineHeight: '20px', paddingLeft: '0px', paddingTop: '0px', boxShadow: 'none', ...all(side('Width'), '0px'), ...all(side('Style'), 'none'), ...all(side('Color'), '#000000')};

const styles = new WeakMap(), boxes = new WeakMap();
export const box = (x, y, width, height) => ({x, y, width, height, left: x, top: y, right: x + width, bottom: y + height});
const camel = name => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

/** Set an element's box, `[x, y, width, height]`, and its style; `flat` is its box without rotation. */
export function lay(node, at, style = {}, flat = at) {
  boxes.set(node, () => box(...(node.style?.transform === 'none' ? flat : at)));
  styles.set(node, style);
  return node;
}

/** An element with a layout. */
export function laid(tag, at, style = {}, ...children) {
  const node = lay(document.createElement(tag), at, style);
  node.append(...children);
  return node;
}

/** The letters of a text fill its element's box, line by line. */
class Range {
  setStart(node, at) { Object.assign(this, {node, start: at, end: at}); }
  setEnd(_, at) { this.end = at; }
  getClientRects() {
    const {x, y, width} = boxes.get(this.node.parentElement)(), each = Math.floor(width / 6), lines = [];
    for (let i = this.start; i < this.end; i++) {
      const line = Math.floor(i / each), left = x + 6 * (i % each);
      if (lines.at(-1)?.y === y + 10 * line) lines[lines.length - 1] = box(lines.at(-1).x, y + 10 * line, left + 6 - lines.at(-1).x, 10);
      else lines.push(box(left, y + 10 * line, 6, 10));
    }
    return lines;
  }
}

/** A one-pixel drawing context that parses colours as a browser does: invalid ones change nothing. */
class Pen {
  notes = [];
  ink = [0, 0, 0, 255];
  painted = [0, 0, 0, 0];
  set fillStyle(css) {
    const long = css.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
    if (long.startsWith('#')) this.ink = [1, 3, 5].map(i => parseInt(long.slice(i, i + 2), 16)).concat(255);
    else if (long.startsWith('rgb')) this.ink = (([r, g, b, a = 1]) => [r, g, b, Math.round(255 * a)])(long.match(/[\d.]+/g).map(Number));
  }
  clearRect(x, y, width, height) { if (!x && !y && width && height) this.painted = [0, 0, 0, 0]; }
  fillRect(x, y, width, height) { if (!x && !y && width && height && this.ink[3]) this.painted = this.ink; }
  setTransform() {}
  drawImage(...given) { this.notes.push(given); }
  getImageData(x, y) { return {data: x || y ? [0, 0, 0, 0] : this.painted}; }
  measureText(text) { return {width: 6 * text.length, fontBoundingBoxAscent: 8, fontBoundingBoxDescent: 2}; }
}
document.defaultView.HTMLCanvasElement.prototype.getContext = function getContext() { return this.pen ??= new Pen(); };
document.defaultView.HTMLCanvasElement.prototype.toDataURL = () => 'data:canvas';
document.defaultView.Element.prototype.getBoundingClientRect = function getBoundingClientRect() { return boxes.get(this)?.() ?? box(0, 0, 0, 0); };
document.defaultView.Element.prototype.getClientRects = function getClientRects() { return (styles.get(this)?.lines ?? []).map(one => box(...one)); };
document.createRange = () => /** @type {any} */ (new Range());

Object.assign(globalThis, {Text, SVGSVGElement, HTMLDetailsElement, HTMLAnchorElement,
  DOMMatrix: class {
    constructor(text) { [this.a, this.b, this.c, this.d, this.e, this.f] = text ? text.match(/-?[\d.]+/g).map(Number) : [1, 0, 0, 1, 0, 0]; }
  },
  getComputedStyle: (node, sign) => {
    const own = {...PLAIN, ...styles.get(node)};
    if (sign === '::after') return {...PLAIN, content: 'none', ...own.after};
    if (sign) return typeof own.before === 'object' ? {...PLAIN, ...own.before} : {...PLAIN, content: own.before ?? 'none'};
    return {...own, getPropertyValue: name => own[name] ?? own[camel(name)] ?? ''};
  }});
