// One matrix with its words, values and exact numbers; one of many words fits its frame and can be
// enlarged.
import {make, penOf, pointIn, resize} from '../kit/dom.js';
import {BOLD, clip, FONT, widest} from './labels.js';
import {buttons, gestures, Zoom} from './zoom.js';

const LARGEST = 36,
  SMALLEST = 3,
  PRINTED = 18; // pixels of a cell, and of one with its number in it
const ROOM = 30,
  CORNER = 64; // of the squares at least, and of the buttons in the corner
const PLAIN = {in: '', out: '', all: ''};
/** @param {number} c */
const channel = c => [c & 255, (c >> 8) & 255, (c >> 16) & 255];
/** @param {number} c */
const light = c => {
  const [r, g, b] = channel(c);
  return 0.299 * r + 0.587 * g + 0.114 * b > 140;
};

/**
 * @typedef {[number, number]} Cell query and key
 * @typedef {{labels: string[], values: ArrayLike<number>, n: number, ramp: Uint32Array, palette:
 *   import('./colours.js').Palette, label: string, signed?: boolean, gain?: number}} Picture a
 *   square of `n` words; `signed`: its numbers are differences
 */

/**
 * The colour of every cell, and an image of one pixel a cell: a square is drawn with one call.
 * @param {Picture} picture
 */
function cellsOf({n, values, ramp, signed, gain = 1}) {
  const image = new ImageData(Math.max(1, n), Math.max(1, n)),
    out = new Uint32Array(image.data.buffer);
  for (let c = 0; c < n * n; c++) {
    const root = Math.sqrt(Math.min(1, Math.abs(values[c]) * gain));
    out[c] =
      ramp[signed ? 255 + Math.round(255 * Math.sign(values[c]) * root) : Math.round(255 * root)];
  }
  const tile = make('canvas');
  tile.width = tile.height = image.width;
  penOf(tile).putImageData(image, 0, 0);
  return {out, tile};
}

/** `draw` takes the numbers in, `mark` paints them. */
export class Matrix {
  /**
   * @param {(cell: Cell | null) => void} onCell what is done when a cell is pointed at
   * @param {Zoom} [zoom] shared with the matrices beside it
   */
  constructor(onCell, zoom = new Zoom(PLAIN)) {
    this.canvas = make('canvas', {tabindex: '0', role: 'img'});
    this.zoom = zoom;
    this.most = 1; // how far it can be enlarged
    // in pixels: the canvas, its frame's edges and side, a cell of the whole square and now, and
    // where the first one begins
    this.width = this.left = this.top = this.side = this.fit = this.step = 0;
    this.fromLeft = this.fromTop = 0;
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {ReturnType<typeof cellsOf> | null} */
    this.cells = null;
    this.buttons = buttons(zoom);
    this.node = make('div', {class: 'aw-matrix'}, this.buttons.node, this.canvas);
    zoom.pictures.add(this);
    this.onCell = onCell;
    /** @type {Cell | null} */
    this.cell = null; // the marked one
    gestures(this.canvas, zoom, {
      frame: () => this,
      may: () => this.most > 1,
      point: event => this.point(this.at(event)),
    });
    this.canvas.addEventListener('pointerleave', event => {
      if (event.pointerType === 'mouse' && document.activeElement !== this.canvas) this.point(null);
    });
    this.canvas.addEventListener('keydown', event => {
      const way = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[
        event.key
      ];
      if (!way || !this.picture) return;
      event.preventDefault();
      const [q, k] = this.cell || [0, -1],
        last = this.picture.n - 1;
      /** @type {Cell} */
      const next = [
        Math.max(0, Math.min(last, q + way[0])),
        Math.max(0, Math.min(last, k + way[1])),
      ];
      this.zoom.reveal(next[1] / (last + 1), next[0] / (last + 1), 1 / (last + 1));
      this.point(next);
    });
  }

  /** @param {Cell | null} cell */
  point(cell) {
    if (String(cell) === String(this.cell)) return;
    this.onCell(cell);
  }

  /** @param {MouseEvent} event @returns {Cell | null} */
  at(event) {
    const {x, y} = pointIn(event, this.canvas),
      across = x - this.left,
      down = y - this.top,
      {side, step} = this;
    const inside = (/** @type {number} */ at) => at >= 0 && at < side;
    return inside(across) && inside(down)
      ? [Math.floor((down - this.fromTop) / step), Math.floor((across - this.fromLeft) / step)]
      : null;
  }

  /** @param {Picture} picture @param {number} width */
  draw(picture, width) {
    this.picture = picture;
    this.width = width;
    const {n, labels} = picture,
      longest = Math.min(92, Math.max(widest(labels), 20));
    this.left = this.top = Math.ceil(longest) + 10;
    if (n * PRINTED > width - this.left - 2) this.left = this.top = Math.max(CORNER, this.left);
    const room = Math.max(ROOM, width - this.left - 2),
      whole = Math.floor(room / n);
    // cells of unequal pixels rather than a square that is cut
    this.fit = whole >= SMALLEST ? Math.min(LARGEST, whole) : room / n;
    this.side = n * this.fit;
    this.most = this.fit < PRINTED ? LARGEST / this.fit : 1;
    this.buttons.node.hidden = this.most <= 1;
    this.canvas.classList.toggle('zooms', this.most > 1);
    this.canvas.setAttribute('aria-label', picture.label);
    this.cells = cellsOf(picture);
  }

  /** @param {Cell | null} cell */
  mark(cell) {
    this.cell = cell;
    this.paint();
  }

  /**
   * How large a cell is now, and where the first one begins, beyond the frame's left and upper
   * edge.
   */
  enlarge() {
    const zoom = Math.min(this.zoom.zoom, this.most),
      most = this.side * (1 - zoom);
    this.step = this.fit * zoom;
    this.fromLeft = Math.max(most, -this.zoom.x * this.side * zoom);
    this.fromTop = Math.max(most, -this.zoom.y * this.side * zoom);
    this.canvas.classList.toggle('near', zoom > 1);
    this.buttons.follow();
  }

  /**
   * The first and the last of `n` cells in sight.
   * @param {number} from
   * @param {number} n
   * @returns {[number, number]}
   */
  inSight(from, n) {
    return [
      Math.floor(-from / this.step + 1e-9),
      Math.min(n, Math.ceil((this.side - from) / this.step - 1e-9)) - 1,
    ];
  }

  /**
   * Until the pen is restored, nothing is drawn outside of the squares.
   * @param {CanvasRenderingContext2D} pen
   */
  clip(pen) {
    pen.save();
    pen.beginPath();
    pen.rect(this.left - 1, this.top - 1, this.side + 2, this.side + 2);
    pen.clip();
  }

  paint() {
    if (!this.picture || !this.cells) return;
    this.enlarge();
    const {n, values, palette} = this.picture,
      {step, side} = this,
      {out, tile} = this.cells;
    const pen = resize(this.canvas, this.left + side + 2, this.top + side + 2),
      gap = step > 10 ? 1 : 0;
    const left = this.left + this.fromLeft,
      top = this.top + this.fromTop,
      [q0, q1] = this.inSight(this.fromTop, n),
      [k0, k1] = this.inSight(this.fromLeft, n);
    this.clip(pen);
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.font = '12px system-ui, sans-serif';
    pen.imageSmoothingEnabled = step < 1; // else whole rows would be left out
    pen.drawImage(tile, left, top, n * step, n * step);
    pen.fillStyle = palette.paper;
    for (let i = 1; gap && i <= n; i++) {
      pen.fillRect(left + i * step - 1, top, 1, n * step);
      pen.fillRect(left, top + i * step - 1, n * step, 1);
    }
    for (let q = q0; step >= PRINTED && q <= q1; q++)
      for (let k = k0; k <= k1; k++) {
        const text = String(Math.round(values[q * n + k] * 100));
        if (text === '0' || text === '-0') continue;
        pen.fillStyle = light(out[q * n + k]) ? '#10131a' : '#ffffff';
        // 100 is set narrower in a small cell
        pen.fillText(text, left + k * step + step / 2, top + q * step + step / 2 + 1, step - 3);
      }
    pen.restore();
    this.paintLabels(pen, this.picture);
    if (this.cell) {
      const [q, k] = this.cell;
      this.clip(pen);
      pen.strokeStyle = palette.ink;
      pen.lineWidth = 2;
      pen.strokeRect(left + k * step, top + q * step, step - gap, step - gap);
      pen.globalAlpha = 0.35;
      pen.lineWidth = 1;
      pen.strokeRect(left, top + q * step, n * step - gap, step - gap);
      pen.strokeRect(left + k * step, top, step - gap, n * step - gap);
      pen.restore();
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Picture} picture */
  paintLabels(pen, {labels, palette}) {
    const {left, top, step} = this;
    const [q, k] = this.cell || [-1, -1],
      skip = Math.max(1, Math.ceil(14 / step));
    /** @param {number} from @param {number} i */
    const middle = (from, i) => from + i * step + step / 2;
    /** @param {number} from @param {number} i */
    const seen = (from, i) => middle(from, i) >= 0 && middle(from, i) <= this.side;
    /** @param {number} from @param {number} i @param {number} focus */
    const shown = (from, i, focus) =>
      seen(from, i) &&
      (i === focus ||
        (i % skip === 0 && (!seen(from, focus) || focus < 0 || Math.abs(i - focus) * step >= 14)));
    const style = (/** @type {boolean} */ focused) => {
      pen.font = focused ? BOLD : FONT;
      pen.fillStyle = focused ? palette.ink : palette.soft;
    };
    labels.forEach((label, i) => {
      if (shown(this.fromTop, i, q)) {
        style(i === q);
        pen.textAlign = 'right';
        pen.fillText(clip(pen, label, left - 8), left - 6, top + middle(this.fromTop, i));
      }
      if (shown(this.fromLeft, i, k)) {
        style(i === k);
        pen.save();
        pen.translate(left + middle(this.fromLeft, i), top - 6);
        pen.rotate(-Math.PI / 2);
        pen.textAlign = 'left';
        pen.fillText(clip(pen, label, top - 8), 0, 1);
        pen.restore();
      }
    });
  }
}
