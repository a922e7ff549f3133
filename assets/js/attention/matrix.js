// One matrix with its words, values and exact numbers.
import {make, pointIn, resize} from '../kit/dom.js';
import {BOLD, clip, FONT} from './labels.js';

const channel = c => [c & 255, c >> 8 & 255, c >> 16 & 255];
const light = c => { const [r, g, b] = channel(c); return .299 * r + .587 * g + .114 * b > 140; };

// `draw` takes the numbers in, `mark` paints them. picture: {labels, values (n*n), n, ramp, signed, palette, exact, label}; onCell(query, key) on pointing.
export class Matrix {
  constructor(onCell) {
    this.canvas = make('canvas', {tabindex: '0', role: 'img'});
    this.node = make('div', {class: 'aw-matrix'}, this.canvas);
    this.onCell = onCell;
    this.cell = null;
    this.canvas.addEventListener('pointermove', event => this.point(this.at(event)));
    this.canvas.addEventListener('pointerleave', event => { if (event.pointerType === 'mouse' && document.activeElement !== this.canvas) this.point(null); });
    this.canvas.addEventListener('keydown', event => {
      const way = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (!way) return;
      event.preventDefault();
      const [q, k] = this.cell || [0, -1], last = this.picture.n - 1;
      this.point([Math.max(0, Math.min(last, q + way[0])), Math.max(0, Math.min(last, k + way[1]))]);
    });
  }

  point(cell) {
    if (String(cell) === String(this.cell)) return;
    this.onCell(cell);
  }

  at(event) {
    const {x, y} = pointIn(event, this.canvas), k = Math.floor((x - this.left) / this.step), q = Math.floor((y - this.top) / this.step);
    const inside = i => i >= 0 && i < this.picture.n;
    return inside(q) && inside(k) ? [q, k] : null;
  }

  draw(picture, width) {
    this.picture = picture;
    this.width = width;
    const {n, labels} = picture, pen = this.canvas.getContext('2d');
    pen.font = BOLD;
    const longest = Math.min(92, Math.max(...labels.map(label => pen.measureText(label).width), 20));
    this.left = this.top = Math.ceil(longest) + 10;
    this.step = Math.max(3, Math.min(36, Math.floor((width - this.left - 2) / n)));
    this.canvas.setAttribute('aria-label', picture.label);
    this.cells = this.colours();
  }

  // The colour of every cell, and an image of one pixel a cell: a square is drawn with one call.
  colours() {
    const {n, values, ramp, signed, gain = 1} = this.picture, image = new ImageData(Math.max(1, n), Math.max(1, n));
    const out = new Uint32Array(image.data.buffer);
    for (let c = 0; c < n * n; c++) {
      const root = Math.sqrt(Math.min(1, Math.abs(values[c]) * gain));
      out[c] = ramp[signed ? 255 + Math.round(255 * Math.sign(values[c]) * root) : Math.round(255 * root)];
    }
    const tile = document.createElement('canvas');
    tile.width = tile.height = image.width;
    tile.getContext('2d').putImageData(image, 0, 0);
    return {out, tile};
  }

  mark(cell) {
    this.cell = cell;
    this.paint();
  }

  paint() {
    const {n, values, palette} = this.picture, {left, top, step} = this, {out, tile} = this.cells;
    const pen = resize(this.canvas, left + n * step + 2, top + n * step + 2), gap = step > 10 ? 1 : 0;
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.font = '12px system-ui, sans-serif';
    pen.imageSmoothingEnabled = false;
    pen.drawImage(tile, left, top, n * step, n * step);
    pen.fillStyle = palette.paper;
    for (let i = 1; gap && i <= n; i++) {
      pen.fillRect(left + i * step - 1, top, 1, n * step);
      pen.fillRect(left, top + i * step - 1, n * step, 1);
    }
    for (let q = 0; step >= 18 && q < n; q++) for (let k = 0; k < n; k++) {
      const text = String(Math.round(values[q * n + k] * 100));
      if (text === '0' || text === '-0') continue;
      pen.fillStyle = light(out[q * n + k]) ? '#10131a' : '#ffffff';
      pen.fillText(text, left + k * step + step / 2, top + q * step + step / 2 + 1, step - 3);   // 100 is set narrower in a small cell
    }
    this.paintLabels(pen);
    if (this.cell) {
      const [q, k] = this.cell;
      pen.strokeStyle = palette.ink;
      pen.lineWidth = 2;
      pen.strokeRect(left + k * step, top + q * step, step - gap, step - gap);
      pen.globalAlpha = .35;
      pen.lineWidth = 1;
      pen.strokeRect(left, top + q * step, n * step - gap, step - gap);
      pen.strokeRect(left + k * step, top, step - gap, n * step - gap);
      pen.globalAlpha = 1;
    }
  }

  paintLabels(pen) {
    const {labels, palette} = this.picture, {left, top, step} = this;
    const [q, k] = this.cell || [-1, -1], skip = Math.max(1, Math.ceil(14 / step));
    const shown = (i, focus) => i === focus || (i % skip === 0 && (focus < 0 || Math.abs(i - focus) * step >= 14));
    const style = focused => {
      pen.font = focused ? BOLD : FONT;
      pen.fillStyle = focused ? palette.ink : palette.soft;
    };
    labels.forEach((label, i) => {
      if (shown(i, q)) {
        style(i === q);
        pen.textAlign = 'right';
        pen.fillText(clip(pen, label, left - 8), left - 6, top + i * step + step / 2);
      }
      if (shown(i, k)) {
        style(i === k);
        pen.save();
        pen.translate(left + i * step + step / 2, top - 6);
        pen.rotate(-Math.PI / 2);
        pen.textAlign = 'left';
        pen.fillText(clip(pen, label, top - 8), 0, 1);
        pen.restore();
      }
    });
  }
}
