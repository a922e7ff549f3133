// Where the wall's tiles lie and how they are painted, from one image per model.
import {make, penOf, pointIn, resize} from '../kit/dom.js';
import {ranks} from '../kit/maths.js';
import {paletteOf} from './colours.js';
import {distancesFrom, headAt, partnersOf, sameHead, sharesOf} from './heads.js';

const GUTTER = 30,
  TOP = 46,
  GAP = 5,
  SPACE = 34,
  FLIGHT = 420;
/** The orders by what heads attend to from the chosen word, and from the others to it. */
export const WAYS = ['from', 'to'];
/**
 * @typedef {import('./heads.js').Head} Head
 * @typedef {import('./heads.js').Model} Model
 * @typedef {{x: number, y: number}} Place the left upper corner of a tile
 * @typedef {{left: number, top: number, rows: number[], height: number, width: number}} Block where
 *   one model's tiles lie, and the row of each layer
 */

const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export class Tiles {
  /**
   * @param {HTMLElement} root
   * @param {import('./heads.js').Heads} wall
   * @param {import('../gradio.js').Context} context
   * @param {Head} lock
   */
  constructor(root, wall, context, lock) {
    this.root = root;
    this.wall = wall;
    this.context = context;
    this.base = make('canvas', {'aria-hidden': 'true'});
    this.over = make('canvas', {'aria-hidden': 'true', class: 'aw-over'});
    this.palette = this.colours();
    this.others = 'closest'; // which heads are compared with the chosen one
    this.lock = lock; // the chosen head
    this.order = 'place'; // how the tiles are sorted
    /** @type {Set<number>} */
    this.hidden = new Set(); // kinds that are faint
    /** @type {number | null} */
    this.word = null; // the word that is lit
    /** @type {number | null} */
    this.kept = null; // the word that stays lit, by which heads are sorted
    /** @type {Head | null} */
    this.point = null; // the head under the pointer
    this.flight = 0;
    this.across = false; // whether the models are next to each other
    this.width = this.baseWidth = this.height = this.tile = 0; // in pixels
    /** @type {Block[]} */
    this.blocks = [];
    /** @type {Place[][]} */
    this.places = []; // by model and head
    this.shown = this.places; // the same on the way there
    /** @type {string | null} */
    this.baked = null; // what the images were made for
    this.side = 0; // of a tile in the images
    /** @type {HTMLCanvasElement[]} */
    this.atlases = []; // the image of each model
    /** @type {Float64Array[]} */
    this.alike = []; // how far each head is from the chosen one
    /** @type {Float64Array[]} */
    this.shares = []; // how much each head attends to or from the word that stays lit
  }

  /** The colours of the models in the light or the dark page. */
  colours() {
    const keys = this.wall.models.map(model => model.key);
    return paletteOf(this.root, keys, this.context.dark);
  }

  /**
   * One image per model at the tiles' own size, so that drawing copies pixels and scales nothing
   * down; a pixel that stands for several cells shows the largest.
   * @param {number} ratio
   */
  bake(ratio) {
    const {models, size} = this.wall,
      side = Math.min(size, Math.round(this.tile * ratio)),
      key = `${side}`;
    if (this.baked === key) return;
    /** @type {number[]} */
    const from = [];
    /** @type {number[]} */
    const to = [];
    for (let r = 0; r < side; r++) {
      from.push(Math.floor((r * size) / side));
      to.push(Math.ceil(((r + 1) * size) / side));
    }
    this.baked = key;
    this.side = side;
    this.atlases = models.map(model => {
      const atlas = make('canvas'),
        width = (atlas.width = model.heads * side);
      atlas.height = model.layers * side;
      const pen = penOf(atlas),
        image = pen.createImageData(width, atlas.height);
      const out = new Uint32Array(image.data.buffer),
        ramp = this.palette.ramps[model.key],
        {bytes} = model;
      for (let i = 0; i < model.count; i++) {
        const start = i * size * size,
          corner = Math.floor(i / model.heads) * side * width + (i % model.heads) * side;
        for (let r = 0; r < side; r++)
          for (let c = 0; c < side; c++) {
            let most = 0;
            for (let y = from[r]; y < to[r]; y++)
              for (let x = from[c]; x < to[c]; x++) {
                const byte = bytes[start + y * size + x];
                if (byte > most) most = byte;
              }
            out[corner + r * width + c] = ramp[most];
          }
      }
      pen.putImageData(image, 0, 0);
      return atlas;
    });
  }

  // Where every tile lies: by layer and head, or sorted within each model.
  layout(fly = false) {
    const {models} = this.wall,
      width = (this.width = this.root.clientWidth);
    if (!width) return;
    const across = (this.across = width >= 700),
      columns = across ? models.length : 1;
    const block = (width - SPACE * (columns - 1)) / columns;
    const heads = Math.max(...models.map(m => m.heads));
    this.tile = Math.max(14, Math.min(56, Math.floor((block - GUTTER) / heads) - GAP));
    const step = this.tile + GAP;
    let y = 0,
      bottom = 0;
    const before = this.places;
    this.blocks = models.map((model, m) => {
      const top = across ? 0 : y,
        left = across ? m * (block + SPACE) : 0;
      const rows = this.order !== 'place' || !across ? [...Array(model.layers).keys()] : model.rows;
      const height = TOP + (Math.max(...rows) + 1) * step;
      y = top + height + 18;
      bottom = Math.max(bottom, top + height);
      return {left, top, rows, height, width: GUTTER + model.heads * step};
    });
    this.places = models.map((model, m) => {
      const {left, top, rows} = this.blocks[m],
        ranks = this.ranks(model);
      return Array.from({length: model.count}, (_, i) => {
        const at = ranks[i],
          row = Math.floor(at / model.heads);
        return {x: left + GUTTER + (at % model.heads) * step, y: top + TOP + rows[row] * step};
      });
    });
    this.height = bottom + 4;
    this.baseWidth = Math.max(width, ...this.blocks.map(b => b.left + b.width));
    if (fly && before.length && !still()) this.fly(before);
    else {
      this.shown = this.places;
      this.drawBase();
    }
    this.drawOver();
  }

  /** @param {Model} model */
  ranks(model) {
    const all = [...Array(model.count).keys()];
    if (this.order === 'place') return all;
    /** @type {Record<string, (i: number) => number>} */
    const keys = {
      entropy: i => model.entropy[i],
      distance: i => -model.distance[i],
      kind: i => model.kind[i] * 10 + model.entropy[i] / 10,
      alike: i => this.alike[model.m][i],
      from: i => -this.shares[model.m][i],
      to: i => -this.shares[model.m][i],
    };
    if (this.order === 'alike') this.alike = distancesFrom(this.wall, this.lock);
    if (this.kept !== null && WAYS.includes(this.order))
      this.shares = sharesOf(this.wall, this.kept, this.order);
    return ranks(all.map(keys[this.order]));
  }

  /** @param {Place[][]} before */
  fly(before) {
    const begun = performance.now(),
      flight = ++this.flight;
    const frame = (/** @type {number} */ now) => {
      if (flight !== this.flight || !this.root.isConnected) return;
      const t = Math.min(1, Math.max(0, now - begun) / FLIGHT),
        ease = 1 - (1 - t) ** 3;
      this.shown = this.places.map((places, m) =>
        places.map((to, i) => {
          const from = before[m][i];
          return {x: from.x + (to.x - from.x) * ease, y: from.y + (to.y - from.y) * ease};
        }),
      );
      this.drawBase();
      if (t < 1) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  drawBase() {
    const {models, pool, size} = this.wall;
    const pen = resize(this.base, this.baseWidth, this.height),
      tile = this.tile;
    const ratio = this.base.width / this.baseWidth;
    pen.clearRect(0, 0, this.baseWidth, this.height);
    models.forEach((model, m) => this.drawLabels(pen, model, this.blocks[m]));
    this.bake(ratio);
    const {side} = this;
    pen.imageSmoothingEnabled = false;
    pen.strokeStyle = this.palette.line;
    pen.lineWidth = 1;
    const line = this.word === null ? -1 : Math.floor((Math.floor(this.word / pool) * side) / size),
      part = tile / side;
    models.forEach((model, m) => {
      const atlas = this.atlases[m];
      for (let i = 0; i < model.count; i++) {
        const {x, y} = this.shown[m][i],
          sx = (i % model.heads) * side,
          sy = Math.floor(i / model.heads) * side;
        const faint = this.hidden.has(model.kind[i]) ? 0.12 : 1;
        pen.globalAlpha = line < 0 ? faint : faint * 0.25;
        pen.drawImage(atlas, sx, sy, side, side, x, y, tile, tile);
        pen.strokeRect(x - 0.5, y - 0.5, tile + 1, tile + 1);
        if (line < 0) continue;
        pen.globalAlpha = faint;
        pen.drawImage(atlas, sx, sy + line, side, 1, x, y + line * part, tile, Math.max(1, part));
        pen.drawImage(atlas, sx + line, sy, 1, side, x + line * part, y, Math.max(1, part), tile);
      }
    });
    pen.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} pen @param {Model} model @param {Block} block */
  drawLabels(pen, model, {left, top, rows}) {
    const {texts} = this.wall,
      step = this.tile + GAP;
    pen.textBaseline = 'alphabetic';
    pen.textAlign = 'left';
    pen.fillStyle = this.palette.text[model.key];
    pen.font = '600 16px system-ui, sans-serif';
    pen.fillText(model.label, left + GUTTER, top + 15);
    const after = pen.measureText(model.label).width;
    pen.fillStyle = this.palette.soft;
    pen.font = '13px system-ui, sans-serif';
    const detail = texts.shapes[model.key];
    const room =
      Math.max(
        this.blocks[model.m].width,
        this.width / (this.across ? this.wall.models.length : 1) - SPACE,
      ) -
      GUTTER -
      after -
      8;
    if (pen.measureText(detail).width <= room)
      pen.fillText(detail, left + GUTTER + after + 8, top + 15);
    if (this.order !== 'place') return;
    pen.font = '12px system-ui, sans-serif';
    pen.textAlign = 'center';
    const skip = step < 17 ? 2 : 1;
    for (let h = 0; h < model.heads; h += skip)
      pen.fillText(String(h + 1), left + GUTTER + h * step + this.tile / 2, top + TOP - 8);
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    rows.forEach((row, layer) =>
      pen.fillText(String(layer + 1), left + GUTTER - 8, top + TOP + row * step + this.tile / 2),
    );
  }

  drawOver() {
    const pen = resize(this.over, this.baseWidth, this.height),
      {palette} = this;
    /** @param {Head} head @param {string} colour @param {number} width @param {number} out */
    const ring = (head, colour, width, out) => {
      const {x, y} = this.places[head.m][head.i];
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.strokeRect(x - out, y - out, this.tile + 2 * out, this.tile + 2 * out);
    };
    /** @param {Head} anchor @param {number} width @param {number} alpha */
    const family = (anchor, width, alpha) => {
      const partners = partnersOf(this.wall, anchor, this.others);
      const middle = (/** @type {Head} */ head) => {
        const p = this.places[head.m][head.i];
        return [p.x + this.tile / 2, p.y + this.tile / 2];
      };
      const [x, y] = middle(anchor);
      for (const partner of partners) {
        if (sameHead(partner, anchor)) continue;
        const [px, py] = middle(partner),
          half = (this.tile / 2) * Math.sign(px - x);
        pen.globalAlpha = alpha;
        pen.strokeStyle = palette.ink;
        pen.lineWidth = 1.25;
        pen.beginPath();
        pen.moveTo(x + half, y);
        pen.bezierCurveTo((x + px) / 2, y, (x + px) / 2, py, px - half, py);
        if (this.across) pen.stroke();
        pen.globalAlpha = 1;
        ring(partner, palette.ink, width, 1);
      }
      ring(anchor, palette.ink, width + 1, 1.5);
    };
    family(this.lock, 1.5, this.point && !sameHead(this.point, this.lock) ? 0.25 : 0.6);
    if (this.point && !sameHead(this.point, this.lock)) family(this.point, 1.5, 0.6);
    this.freeNumbers(pen);
  }

  /** No line runs through the number of a row. @param {CanvasRenderingContext2D} pen */
  freeNumbers(pen) {
    if (this.order !== 'place' || !this.across) return;
    const step = this.tile + GAP;
    for (const {left, top, rows} of this.blocks)
      for (const row of rows)
        pen.clearRect(left + GUTTER - 24, top + TOP + row * step + this.tile / 2 - 8, 18, 16);
  }

  /** @param {MouseEvent} event */
  at(event) {
    const {x, y} = pointIn(event, this.base);
    for (const [m, places] of this.places.entries()) {
      const i = places.findIndex(
        p => x >= p.x - 1 && x < p.x + this.tile + 2 && y >= p.y - 1 && y < p.y + this.tile + 2,
      );
      if (i >= 0) return headAt(this.wall, m, i);
    }
    return null;
  }

  /**
   * The nearest tile in a direction; sideways it goes on in the next model.
   * @param {Head} head
   * @param {number[]} way
   */
  walk(head, [dx, dy]) {
    const from = this.places[head.m][head.i];
    /** @type {Head | null} */
    let best = null;
    let least = Infinity;
    this.places.forEach((places, m) =>
      places.forEach((place, i) => {
        const x = place.x - from.x,
          y = place.y - from.y,
          ahead = x * dx + y * dy,
          aside = Math.abs(x * dy + y * dx);
        if (ahead < 1 || (dx && aside > this.tile * 4) || (dy && aside > this.tile / 2)) return;
        const cost = ahead + aside * 3;
        if (cost < least) {
          least = cost;
          best = headAt(this.wall, m, i);
        }
      }),
    );
    return best;
  }
}
