// One matrix with its words, values and exact numbers; and the same numbers as lines.
(() => {
  const E = window.explorer, A = E.attention = E.attention || {};
  const FONT = '13px system-ui, sans-serif', BOLD = '600 13px system-ui, sans-serif';
  const clip = (pen, text, width) => {
    if (pen.measureText(text).width <= width) return text;
    while (text.length > 1 && pen.measureText(`${text}…`).width > width) text = text.slice(0, -1);
    return `${text}…`;
  };
  const channel = c => [c & 255, c >> 8 & 255, c >> 16 & 255];
  const light = c => { const [r, g, b] = channel(c); return .299 * r + .587 * g + .114 * b > 140; };

  // `draw` takes the numbers in, `mark` paints them. picture: {labels, values (n*n), n, ramp, signed, palette, exact, label}; onCell(query, key) on pointing.
  A.Matrix = class {
    constructor(onCell) {
      this.canvas = A.make('canvas', {tabindex: '0', role: 'img'});
      this.node = A.make('div', {class: 'aw-matrix'}, this.canvas);
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
      const box = this.canvas.getBoundingClientRect();
      const k = Math.floor((event.clientX - box.left - this.left) / this.step);
      const q = Math.floor((event.clientY - box.top - this.top) / this.step);
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
      const pen = A.resize(this.canvas, left + n * step + 2, top + n * step + 2), gap = step > 10 ? 1 : 0;
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
        if (text === '0' || text === '-0' || (text.length > 2 && step < 26)) continue;
        pen.fillStyle = light(out[q * n + k]) ? '#10131a' : '#ffffff';
        pen.fillText(text, left + k * step + step / 2, top + q * step + step / 2 + 1);
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
      const {n, labels, palette} = this.picture, {left, top, step} = this;
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
  };

  // For each row the fewest cells whose sum reaches the mass, largest first.
  A.edges = (values, n, mass) => {
    const edges = [];
    for (let q = 0; q < n; q++) {
      const keys = [...Array(n).keys()].sort((a, b) => values[q * n + b] - values[q * n + a]);
      const whole = keys.reduce((sum, k) => sum + values[q * n + k], 0);
      let sum = 0;
      for (const k of keys) {
        if (sum >= mass * whole - 1e-9 || values[q * n + k] <= 0) break;
        sum += values[q * n + k];
        edges.push([q, k, values[q * n + k]]);
      }
    }
    return edges;
  };

  A.Lines = class {
    constructor(onCell) {
      this.canvas = A.make('canvas', {tabindex: '0', role: 'img'});
      this.node = A.make('div', {class: 'aw-matrix'}, this.canvas);
      this.onCell = onCell;
      this.row = null;
      const point = row => { if (row !== this.row) { this.row = row; this.paint(); } };
      this.canvas.addEventListener('pointermove', event => {
        const box = this.canvas.getBoundingClientRect(), row = Math.floor((event.clientY - box.top) / this.step);
        const side = event.clientX - box.left < box.width / 2 ? 'query' : 'key';
        point(row >= 0 && row < this.picture.n ? `${side}/${row}` : null);
      });
      this.canvas.addEventListener('pointerleave', () => point(null));
      this.canvas.addEventListener('keydown', event => {
        const way = {ArrowUp: -1, ArrowDown: 1}[event.key];
        if (!way) return;
        event.preventDefault();
        const now = this.row ? Number(this.row.split('/')[1]) : -1;
        point(`query/${Math.max(0, Math.min(this.picture.n - 1, now + way))}`);
      });
    }

    draw(picture, width) {
      this.picture = picture;
      this.width = Math.min(width, 460);
      this.step = picture.n > 40 ? 16 : 22;
      this.canvas.setAttribute('aria-label', picture.label);
      this.paint();
    }

    mark() {}

    paint() {
      const {n, labels, values, mass, palette, colour} = this.picture, {width, step} = this;
      const pen = A.resize(this.canvas, width, n * step + 4);
      const [side, row] = this.row ? this.row.split('/') : [null, -1], focus = Number(row);
      const gutter = Math.min(120, width * .32), middle = i => i * step + step / 2;
      pen.lineCap = 'round';
      const touched = new Set();
      for (const [q, k, value] of A.edges(values, n, mass)) {
        const on = !side || (side === 'query' ? q : k) === focus;
        if (on && side) touched.add(side === 'query' ? k : q);
        pen.globalAlpha = on ? .12 + .88 * Math.sqrt(value) : .04;
        pen.strokeStyle = colour;
        pen.lineWidth = .75 + 4 * value;
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
          const value = side && side !== end && hit ? values[side === 'query' ? focus * n + i : i * n + focus] : null;
          const text = clip(pen, label, gutter - (value === null ? 8 : 44));
          pen.fillText(value === null ? text : end === 'query' ? `${value.toFixed(2)} ${text}` : `${text} ${value.toFixed(2)}`,
            end === 'query' ? gutter - 6 : width - gutter + 6, middle(i));
        }
      });
    }
  };
})();
