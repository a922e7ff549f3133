// The same numbers as lines between two columns of words.
import {make, pointIn, resize} from '../kit/dom.js';
import {heaviest} from '../kit/maths.js';
import {BOLD, clip, FONT} from './labels.js';

/** @typedef {import('./matrix.js').Picture & {colour: string, mass: number}} LinesPicture */

export class Lines {
  constructor() {
    this.canvas = make('canvas', {tabindex: '0', role: 'img'});
    this.node = make('div', {class: 'aw-matrix'}, this.canvas);
    /** @type {LinesPicture | null} */
    this.picture = null;
    this.width = this.step = 0;
    /** @type {string | null} */
    this.row = null; // the word under the pointer: its side and its number
    const last = () => (this.picture?.n ?? 0) - 1;
    const point = (/** @type {string | null} */ row) => {
      if (row !== this.row) {
        this.row = row;
        this.paint();
      }
    };
    this.canvas.addEventListener('pointermove', event => {
      const {x, y, width} = pointIn(event, this.canvas),
        row = Math.floor(y / this.step),
        side = x < width / 2 ? 'query' : 'key';
      point(row >= 0 && row <= last() ? `${side}/${row}` : null);
    });
    this.canvas.addEventListener('pointerleave', () => point(null));
    this.canvas.addEventListener('keydown', event => {
      const way = {ArrowUp: -1, ArrowDown: 1}[event.key];
      if (!way) return;
      event.preventDefault();
      const now = this.row ? Number(this.row.split('/')[1]) : -1;
      point(`query/${Math.max(0, Math.min(last(), now + way))}`);
    });
  }

  /** @param {LinesPicture} picture @param {number} width */
  draw(picture, width) {
    this.picture = picture;
    this.width = Math.min(width, 460);
    this.step = picture.n > 40 ? 16 : 22;
    this.canvas.setAttribute('aria-label', picture.label);
    this.paint();
  }

  mark() {}

  paint() {
    if (!this.picture) return;
    const {n, labels, values, mass, palette, colour} = this.picture,
      {width, step} = this;
    const pen = resize(this.canvas, width, n * step + 4);
    const [side, row] = this.row ? this.row.split('/') : [null, -1],
      focus = Number(row);
    const gutter = Math.min(120, width * 0.32),
      middle = (/** @type {number} */ i) => i * step + step / 2;
    pen.lineCap = 'round';
    const touched = new Set();
    for (const [q, k, value] of heaviest(values, n, mass)) {
      const on = !side || (side === 'query' ? q : k) === focus;
      if (on && side) touched.add(side === 'query' ? k : q);
      pen.globalAlpha = on ? 0.12 + 0.88 * Math.sqrt(value) : 0.04;
      pen.strokeStyle = colour;
      pen.lineWidth = 0.75 + 4 * value;
      pen.beginPath();
      pen.moveTo(gutter, middle(q));
      pen.bezierCurveTo(width / 2, middle(q), width / 2, middle(k), width - gutter, middle(k));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.textBaseline = 'middle';
    labels.forEach((label, i) => {
      for (const end of ['query', 'key']) {
        const hit = side === end ? i === focus : side ? touched.has(i) : false;
        pen.font = hit ? BOLD : FONT;
        pen.fillStyle = !side || hit ? palette.ink : palette.soft;
        pen.textAlign = end === 'query' ? 'right' : 'left';
        const value =
          side && side !== end && hit
            ? values[side === 'query' ? focus * n + i : i * n + focus]
            : null;
        const text = clip(pen, label, gutter - (value === null ? 8 : 44));
        pen.fillText(
          value === null
            ? text
            : end === 'query'
              ? `${value.toFixed(2)} ${text}`
              : `${text} ${value.toFixed(2)}`,
          end === 'query' ? gutter - 6 : width - gutter + 6,
          middle(i),
        );
      }
    });
  }
}
