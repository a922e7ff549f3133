// What is drawn at a place of the page, as one SVG of boxes, lines and text: no style sheet, no
// script.
import {svg} from '../kit/dom.js';
import {LEFT_OUT} from './left_out.js';
import {bordered, inks, striped} from './paint.js';
import {block, heightOf, saidIn} from './sentences.js';

const SHAPE = [
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'opacity',
  'fill-opacity',
  'stroke-opacity',
  'font-family',
  'font-size',
  'font-weight',
  'font-style',
  'text-anchor',
  'dominant-baseline',
  'paint-order',
  'visibility',
  'display',
  'transform',
];
const MARGIN = 16,
  GAP = 12; // CSS pixels
const measure = /** @type {CanvasRenderingContext2D} */ (
  document.createElement('canvas').getContext('2d')
);
let serial = 0;

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box */

/** One picture while it is drawn: what there is of it so far, and how far that reaches. */
class Sketch {
  constructor() {
    /** @type {Box} */ this.reach = {
      left: Infinity,
      top: Infinity,
      right: -Infinity,
      bottom: -Infinity,
    };
    /** @type {Box | null} */ this.limit = null; // what is cut off by a frame with overflow
    this.turned = false; // inside something rotated: its frame counts, not its parts
  }

  /** @param {Box} box */
  covers(box) {
    if (this.turned) return;
    const cut = this.limit ?? box,
      reach = this.reach;
    const left = Math.max(box.left, cut.left),
      right = Math.min(box.right, cut.right);
    const top = Math.max(box.top, cut.top),
      bottom = Math.min(box.bottom, cut.bottom);
    if (left >= right || top >= bottom) return;
    Object.assign(reach, {
      left: Math.min(reach.left, left),
      top: Math.min(reach.top, top),
      right: Math.max(reach.right, right),
      bottom: Math.max(reach.bottom, bottom),
    });
  }

  /** @param {Node} node @returns {(SVGElement | null)[]} */
  draw(node) {
    if (node instanceof Text) return this.text(node);
    if (!(node instanceof HTMLElement || node instanceof SVGElement) || node.matches(LEFT_OUT))
      return [];
    const style = getComputedStyle(node),
      box = node.getBoundingClientRect();
    if (style.display === 'none' || style.visibility === 'hidden') return [];
    // for readers of the screen alone
    if (box.width <= 1 && box.height <= 1 && style.overflow === 'hidden') return [];
    const turn = new DOMMatrix(style.transform === 'none' ? '' : style.transform);
    if ((turn.b || turn.c) && node instanceof HTMLElement && !this.turned)
      return [this.turn(node, style, turn, box)];
    const parts = this.element(node, style, box);
    return style.opacity === '1' ? parts : [svg('g', {opacity: style.opacity}, ...parts)];
  }

  /**
   * @param {HTMLElement | SVGElement} node
   * @param {CSSStyleDeclaration} style
   * @param {DOMRect} box
   */
  element(node, style, box) {
    if (node instanceof SVGSVGElement) {
      this.covers(box);
      return [drawn(node, box)];
    }
    if (node instanceof HTMLCanvasElement) {
      if (!node.width || !node.height || !box.width) return [];
      this.covers(box);
      return [
        svg('image', {
          x: box.x,
          y: box.y,
          width: box.width,
          height: box.height,
          href: imageOf(node),
          preserveAspectRatio: 'none',
        }),
      ];
    }
    // over lines: each has a box of its own
    const isBroken = style.display === 'inline' && node.getClientRects().length > 1;
    const frame = (isBroken ? [...node.getClientRects()] : [box]).flatMap(rect => [
      ...striped(style, rect),
      ...bordered(style, rect),
    ]);
    if (frame.length) this.covers(box);
    return [
      ...frame,
      ...this.before(node, style, box),
      ...this.inside(node, style, box),
      ...marked(node, '::after', style, box),
    ];
  }

  /** @param {Element} node @param {CSSStyleDeclaration} style @param {DOMRect} box */
  inside(node, style, box) {
    const children = () => [...node.childNodes].flatMap(child => this.draw(child));
    if (style.overflow === 'visible' || style.display === 'inline') return children();
    const outer = this.limit,
      id = `cut-${(serial += 1)}`;
    this.limit = outer
      ? {
          left: Math.max(outer.left, box.left),
          top: Math.max(outer.top, box.top),
          right: Math.min(outer.right, box.right),
          bottom: Math.min(outer.bottom, box.bottom),
        }
      : box;
    const parts = children();
    this.limit = outer;
    if (!parts.length) return [];
    return [
      svg(
        'clipPath',
        {id},
        svg('rect', {x: box.x, y: box.y, width: box.width, height: box.height}),
      ),
      svg('g', {'clip-path': `url(#${id})`}, ...parts),
    ];
  }

  /**
   * A sign that the style sheet writes before a word, or the model that it writes below the name of
   * a column.
   * @param {Element} node
   * @param {CSSStyleDeclaration} style
   * @param {DOMRect} box
   */
  before(node, style, box) {
    const mark = getComputedStyle(node, '::before'),
      sign = mark.content.match(/^"([^"]+)"/)?.[1]; // without what a screen reader is told instead
    if (sign && node.matches('.model-name')) {
      const height = parseFloat(mark.fontSize) * 1.35;
      return [written(sign, mark, {left: box.left, top: box.bottom - height, width: 0, height})];
    }
    return sign
      ? [
          written(sign, style, {
            left: box.left,
            top: box.top,
            width: 0,
            height: parseFloat(style.fontSize) * 1.2,
          }),
        ]
      : marked(node, '::before', style, box);
  }

  /**
   * Something rotated: drawn as if it were not, then rotated.
   * @param {HTMLElement} node
   * @param {CSSStyleDeclaration} style
   * @param {DOMMatrix} turn
   * @param {DOMRect} box
   */
  turn(node, style, turn, box) {
    this.covers(box);
    const kept = node.style.transform,
      [x, y] = style.transformOrigin.split(' ').map(parseFloat);
    node.style.transform = 'none';
    this.turned = true;
    const flat = node.getBoundingClientRect(),
      parts = this.element(node, style, flat),
      at = [flat.left + x, flat.top + y];
    this.turned = false;
    node.style.transform = kept;
    const {a, b, c, d, e, f} = turn;
    return svg(
      'g',
      {transform: `translate(${at}) matrix(${[a, b, c, d, e, f]}) translate(${at.map(v => -v)})`},
      ...parts,
    );
  }

  /** @param {Text} node */
  text(node) {
    if (!node.data.trim() || !node.parentElement) return [];
    const style = getComputedStyle(node.parentElement);
    return linesOf(node).map(line => {
      this.covers({...line, right: line.left + line.width, bottom: line.top + line.height});
      return written(line.text, style, line);
    });
  }
}

/**
 * An empty box that the style sheet draws: placed in its element, or at the beginning of the first
 * line.
 * @param {Element} node
 * @param {'::before' | '::after'} where
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} box
 */
function marked(node, where, style, box) {
  const mark = getComputedStyle(node, where),
    px = (/** @type {'left' | 'top' | 'width' | 'height'} */ side) => parseFloat(mark[side]) || 0;
  if (
    mark.content !== '""' ||
    mark.display === 'none' ||
    !['none', undefined].includes(mark.maskImage)
  )
    return [];
  const [width, height] = [px('width'), px('height')],
    inner = {
      x: box.x + parseFloat(style.borderLeftWidth),
      y: box.y + parseFloat(style.borderTopWidth),
    };
  if (mark.position === 'absolute' && style.position !== 'static')
    return boxed(mark, new DOMRect(inner.x + px('left'), inner.y + px('top'), width, height));
  if (mark.position !== 'static' || where === '::after') return [];
  const [x, y] = [inner.x + parseFloat(style.paddingLeft), inner.y + parseFloat(style.paddingTop)];
  return boxed(
    mark,
    new DOMRect(
      x,
      y + Math.max(0, (parseFloat(style.lineHeight) || box.height) - height) / 2,
      width,
      height,
    ),
  );
}

/** @param {CSSStyleDeclaration} style @param {DOMRect} box */
const boxed = (style, box) => [...striped(style, box), ...bordered(style, box)];

/**
 * A canvas as an image: what WebGL has drawn is gone after its frame, so that the chart draws it
 * once more.
 * @param {HTMLCanvasElement} canvas
 */
function imageOf(canvas) {
  const scene = /** @type {any} */ (
    canvas.closest('.gl-container') && canvas.closest('.js-plotly-plot')
  )?._fullLayout?.scene?._scene;
  return scene ? scene.toImage('png') : canvas.toDataURL();
}

/** @typedef {{text: string, left: number, top: number, width: number, height: number}} Line */

/** The lines into which the page breaks a text, each where it stands. @param {Text} node */
function linesOf(node) {
  const range = document.createRange(),
    lines = /** @type {Line[]} */ ([]);
  for (const match of node.data.matchAll(/\S+/g)) {
    for (const [text, box] of stretches(node, range, match.index, match.index + match[0].length)) {
      const last = lines.at(-1);
      if (last && Math.abs(last.top - box.top) < 2 && box.left >= last.left + last.width - 1) {
        last.text += (box.left - last.left - last.width > 1 ? ' ' : '') + text;
        last.width = box.right - last.left;
      } else lines.push({text, left: box.left, top: box.top, width: box.width, height: box.height});
    }
  }
  return lines.filter(line => line.width > 0);
}

/**
 * A word, or its letters where the page breaks it.
 * @param {Text} node
 * @param {Range} range
 * @param {number} start
 * @param {number} end
 * @returns {[string, DOMRect][]}
 */
function stretches(node, range, start, end) {
  range.setStart(node, start);
  range.setEnd(node, end);
  const boxes = range.getClientRects();
  if (boxes.length === 1) return [[node.data.slice(start, end), boxes[0]]];
  let at = start;
  return [...node.data.slice(start, end)].flatMap(letter => {
    range.setStart(node, at);
    range.setEnd(node, (at += letter.length));
    const [box] = range.getClientRects();
    return box ? [/** @type {[string, DOMRect]} */ ([letter, box])] : [];
  });
}

/**
 * @param {string} text
 * @param {CSSStyleDeclaration} style
 * @param {{left: number, top: number, width: number, height: number}} at
 */
function written(text, style, at) {
  measure.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const {fontBoundingBoxAscent: up, fontBoundingBoxDescent: down} = measure.measureText('x'),
    [fill, alpha] = inks(style.color);
  const shown =
    {uppercase: text.toUpperCase(), lowercase: text.toLowerCase()}[style.textTransform] ?? text;
  return svg(
    'text',
    {
      x: at.left.toFixed(2),
      y: (at.top + (at.height * up) / (up + down)).toFixed(2),
      fill,
      'fill-opacity': alpha < 1 ? alpha : null,
      'font-family': style.fontFamily,
      'font-size': style.fontSize,
      'font-weight': style.fontWeight,
      'font-style': style.fontStyle === 'normal' ? null : style.fontStyle,
      'text-decoration': style.textDecorationLine === 'line-through' ? 'line-through' : null,
      textLength: at.width ? at.width.toFixed(2) : null,
      lengthAdjust: at.width ? 'spacingAndGlyphs' : null,
    },
    shown,
  );
}

/**
 * An SVG of the page with the style sheet's rules written into it.
 * @param {SVGSVGElement} node
 * @param {DOMRect} box
 */
function drawn(node, box) {
  const copy = /** @type {SVGSVGElement} */ (styled(node));
  Object.entries({
    x: box.x,
    y: box.y,
    width: box.width,
    height: box.height,
    overflow: 'visible',
  }).forEach(([name, value]) => copy.setAttribute(name, String(value)));
  return copy;
}

/** A place that is named by the page's address, as one of the file. @param {string} value */
const placed = value => value.replace(/^url\(["']?[^#]*#([^"')]*)["']?\)/, 'url(#$1)');

/** @param {Element} node @returns {SVGElement} */
function styled(node) {
  const copy = /** @type {SVGElement} */ (node.cloneNode(false)),
    style = getComputedStyle(node);
  for (const name of copy.getAttributeNames())
    if (/^(on|class$|style$|role$|tabindex$|data-|aria-)/.test(name)) copy.removeAttribute(name);
  // Plotly names a place in the page's address; a file has places of its own.
  for (const {name, value} of [...copy.attributes])
    if (value.includes('#') && value.startsWith('url(')) copy.setAttribute(name, placed(value));
  for (const name of SHAPE) {
    const value = style.getPropertyValue(name);
    if (
      value &&
      !(
        name === 'transform' &&
        (value === 'none' || node instanceof SVGSVGElement || copy.hasAttribute(name))
      )
    )
      copy.setAttribute(name, value);
  }
  for (const name of ['fill', 'stroke']) {
    const value = style.getPropertyValue(name),
      [colour, alpha] = inks(value);
    copy.setAttribute(name, value.startsWith('url') ? placed(value) : colour);
    if (alpha < 1 && alpha > 0)
      copy.setAttribute(
        `${name}-opacity`,
        String(alpha * Number(style.getPropertyValue(`${name}-opacity`) || 1)),
      );
  }
  copy.append(
    ...[...node.childNodes]
      .filter(
        child =>
          child instanceof Text || (child instanceof SVGElement && child.tagName !== 'script'),
      )
      .map(child => (child instanceof Element ? styled(child) : child.cloneNode())),
  );
  return copy;
}

/** What is left out keeps no room. @template T @param {() => T} draw */
function withoutHints(draw) {
  const {classList} = document.body;
  classList.add('saving');
  const parts = draw();
  classList.remove('saving');
  return parts;
}

/**
 * The picture at a place, between lines that say what it shows and where it is from.
 * @param {HTMLElement} root
 * @param {{title: string, caption: string[], about: object, beside?: import('./beside.js').Beside}}
 *   words
 * @returns {{text: string, width: number, height: number}}
 */
export function drawing(root, {title, caption, about, beside = {title: '', above: [], below: []}}) {
  const sketch = new Sketch(),
    parts = withoutHints(() => sketch.draw(root)),
    {left, top, right, bottom} = sketch.reach;
  const page = getComputedStyle(document.body),
    [paper, ink, soft] = ['--paper', '--ink', '--ink-soft'].map(
      name => inks(page.getPropertyValue(name))[0],
    );
  const inner = Math.max(320, Math.ceil(right - left)),
    width = inner + 2 * MARGIN;
  const head = [
      ...saidIn([beside.title], inner, 15, {weight: 600}),
      ...saidIn(beside.above, inner, 13),
    ],
    headHeight = head.length ? heightOf(head) + GAP : 0;
  const notes = saidIn(beside.below, inner, 12),
    foot = saidIn(caption, inner, 11, {soft: true}),
    drawnHeight = headHeight + Math.ceil(bottom - top) + MARGIN;
  const noteHeight = notes.length ? heightOf(notes) + GAP : 0,
    height = drawnHeight + noteHeight + heightOf(foot) + 2 * MARGIN;
  const picture = svg(
    'svg',
    {xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}`},
    svg('title', {}, title),
    svg('metadata', {}, JSON.stringify(about)),
    svg('rect', {width, height, fill: paper}),
    svg('g', {transform: `translate(${MARGIN - left} ${MARGIN + headHeight - top})`}, ...parts),
    ...block(head, {left: MARGIN, top: MARGIN}, {ink, soft}),
    ...block(notes, {left: MARGIN, top: drawnHeight + MARGIN}, {ink, soft}),
    ...block(foot, {left: MARGIN, top: drawnHeight + noteHeight + MARGIN}, {ink, soft}),
  );
  return {text: new XMLSerializer().serializeToString(picture), width, height};
}

/**
 * The same as pixels, twice as many in each direction.
 * @param {{text: string, width: number, height: number}} picture
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function pixels({text, width, height}) {
  const image = new Image(),
    canvas = document.createElement('canvas');
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  Object.assign(canvas, {width: 2 * width, height: 2 * height});
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = /** @type {Blob | null} */ (
    await new Promise(done => {
      canvas.toBlob(done, 'image/png');
    })
  );
  if (!blob) throw new Error('no pixels');
  return new Uint8Array(await blob.arrayBuffer());
}
