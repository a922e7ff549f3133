// How far matrices are enlarged, and which part of them is in sight: the same for all that stand
// beside each other.
import {make, pointIn} from '../kit/dom.js';
import {look} from '../page/look.js';

const WHOLE = {zoom: 1, x: 0, y: 0},
  STEP = 1.5,
  WHEEL = 0.0022,
  SETTLED_MS = 150; // the link follows once a gesture has settled
/** @param {number} value @param {number} low @param {number} high */
const held = (value, low, high) => Math.max(low, Math.min(high, value));

export class Zoom {
  /**
   * @param {{in: string, out: string, all: string}} texts
   * @param {string} [name] in the link; a view of another number of words means nothing
   * @param {number} [n] words
   */
  constructor(texts, name = '', n = 0) {
    this.zoom = 1;
    this.x = this.y = 0; // the left and the upper edge of what is in sight, in shares of the whole
    this.texts = texts;
    this.n = n;
    /** @type {Set<{paint: () => void, most: number}>} */ this.pictures = new Set();
    this.kept = name ? look(name, '') : null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    const [of, percent, x, y] = (this.kept?.value ?? '').split('.').map(Number);
    if (of === n && percent > 100 && x >= 0 && y >= 0)
      Object.assign(this, {zoom: percent / 100, x: x / 1000, y: y / 1000});
  }

  /** The most that any of them can be enlarged. */
  get most() {
    return Math.max(1, ...[...this.pictures].map(picture => picture.most));
  }

  /** Enlarge about a point, in shares of what is in sight. @param {number} factor */
  by(factor, across = 0.5, down = 0.5) {
    const zoom = held(this.zoom * factor, 1, this.most);
    this.take({
      zoom,
      x: this.x + across / this.zoom - across / zoom,
      y: this.y + down / this.zoom - down / zoom,
    });
  }

  /** Move what is in sight, in shares of that. @param {number} across @param {number} down */
  pan(across, down) {
    this.take({x: this.x + across / this.zoom, y: this.y + down / this.zoom});
  }

  all() {
    this.take(WHOLE);
  }

  /**
   * Bring a part into sight, in shares of the whole.
   * @param {number} x
   * @param {number} y
   * @param {number} side
   */
  reveal(x, y, side) {
    const room = 1 / this.zoom - side,
      near = (/** @type {number} */ at, /** @type {number} */ from) =>
        held(at, x_of(from, room), from);
    this.take({x: near(this.x, x), y: near(this.y, y)});
  }

  /** @param {{zoom?: number, x?: number, y?: number}} changes */
  take(changes) {
    const before = [this.zoom, this.x, this.y].join();
    Object.assign(this, changes);
    const most = 1 - 1 / this.zoom;
    Object.assign(this, {x: held(this.x, 0, most), y: held(this.y, 0, most)});
    if ([this.zoom, this.x, this.y].join() === before) return;
    for (const picture of this.pictures) picture.paint();
    clearTimeout(this.timer);
    const {kept} = this;
    if (kept)
      this.timer = setTimeout(() => {
        kept.value =
          this.zoom > 1
            ? [this.n, ...[100 * this.zoom, 1000 * this.x, 1000 * this.y].map(Math.round)].join('.')
            : '';
      }, SETTLED_MS);
  }

  /** What a saved file says of it. */
  header() {
    return this.zoom > 1 ? {zoom: Number(this.zoom.toFixed(2))} : {};
  }

  end() {
    clearTimeout(this.timer);
  }
}
/** @param {number} from @param {number} room */
const x_of = (from, room) => from - Math.max(0, room);

/** Three buttons: smaller, larger, and how large it is, which shows all. @param {Zoom} zoom */
export function buttons(zoom) {
  /** @param {string} name @param {string} text @param {() => void} press */
  const button = (name, text, press) => {
    const node = make('button', {type: 'button', 'aria-label': name, title: name, text});
    node.addEventListener('click', press);
    return node;
  };
  const out = button(zoom.texts.out, '−', () => zoom.by(1 / STEP)),
    into = button(zoom.texts.in, '+', () => zoom.by(STEP)),
    all = button(zoom.texts.all, '', () => zoom.all());
  const node = make('div', {class: 'aw-zoom', role: 'group'}, out, into, all);
  const follow = () => {
    out.disabled = all.disabled = zoom.zoom <= 1;
    into.disabled = zoom.zoom >= zoom.most;
    all.textContent = `${zoom.zoom < 9.95 ? Number(zoom.zoom.toFixed(1)) : Math.round(zoom.zoom)}×`;
    // who speaks to the page says what is in sight
    all.setAttribute('aria-label', `${all.textContent}: ${zoom.texts.all}`);
  };
  return {node, follow};
}

/** @typedef {{x: number, y: number}} Point */

/**
 * The gestures on a canvas: Ctrl and the wheel or two fingers enlarge, dragging moves, a double
 * click shows all; so do + − 0.
 * @param {HTMLCanvasElement} canvas
 * @param {Zoom} zoom
 * @param {{frame: () => {left: number, top: number, side: number}, may: () => boolean, point:
 *   (event: PointerEvent) => void}} place
 */
export function gestures(canvas, zoom, {frame, may, point}) {
  /** @type {Map<number, Point>} */
  const down = new Map();
  /** @param {Point} at @returns {[number, number]} */
  const shares = ({x, y}) => {
    const {left, top, side} = frame();
    return [held((x - left) / side, 0, 1), held((y - top) / side, 0, 1)];
  };
  const middle = (/** @type {Point[]} */ [a, b = a]) => ({x: (a.x + b.x) / 2, y: (a.y + b.y) / 2}),
    apart = (/** @type {Point[]} */ [a, b]) => Math.hypot(a.x - b.x, a.y - b.y);
  canvas.addEventListener(
    'wheel',
    event => {
      if (!event.ctrlKey || !may()) return;
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      zoom.by(
        Math.exp(-event.deltaY * lines * WHEEL * (Math.abs(event.deltaY) < 30 ? 4 : 1)),
        ...shares(pointIn(event, canvas)),
      );
    },
    {passive: false},
  );
  canvas.addEventListener('pointerdown', event => {
    if (event.pointerType === 'touch' && !down.size) point(event);
    if (!may() || event.button > 0) return;
    down.set(event.pointerId, pointIn(event, canvas));
    if (zoom.zoom > 1 || down.size > 1) canvas.setPointerCapture?.(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    // let go outside of the canvas
    if (event.pointerType !== 'touch' && !event.buttons) down.delete(event.pointerId);
    const before = [...down.values()];
    if (!down.has(event.pointerId) || (zoom.zoom <= 1 && down.size < 2)) {
      point(event);
      return;
    }
    down.set(event.pointerId, pointIn(event, canvas));
    const after = [...down.values()],
      {side} = frame();
    if (down.size > 1)
      zoom.by(
        apart(after.slice(0, 2)) / (apart(before.slice(0, 2)) || 1),
        ...shares(middle(after)),
      );
    zoom.pan(
      (middle(before).x - middle(after).x) / side,
      (middle(before).y - middle(after).y) / side,
    );
  });
  for (const end of ['pointerup', 'pointercancel'])
    canvas.addEventListener(end, event =>
      down.delete(/** @type {PointerEvent} */ (event).pointerId),
    );
  canvas.addEventListener('dblclick', () => {
    if (may()) zoom.all();
  });
  canvas.addEventListener('keydown', event => {
    const act = {
      '+': () => zoom.by(STEP),
      '=': () => zoom.by(STEP),
      '-': () => zoom.by(1 / STEP),
      0: () => zoom.all(),
    }[event.key];
    if (!act || !may() || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
}
