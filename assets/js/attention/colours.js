// The colours of attention: a ramp per model from the style sheet, and one head as an image.

import {make, penOf} from '../kit/dom.js';

/** @typedef {number[]} Colour red, green and blue */
/** @typedef {ReturnType<typeof paletteOf>} Palette */

/** @param {string} text @returns {Colour} */
const hex = text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
/** @param {Colour} a @param {Colour} b @param {number} t @returns {Colour} */
const mix = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t);
/** @param {Colour} c */
const rgba = c =>
  ((255 << 24) | (Math.round(c[2]) << 16) | (Math.round(c[1]) << 8) | Math.round(c[0])) >>> 0;
/** @param {Colour} c */
export const css = c => `rgb(${c.map(Math.round).join(',')})`;

/** @param {[number, Colour][]} stops @param {number} length */
function ramp(stops, length) {
  return Uint32Array.from({length}, (_, i) => {
    const t = i / (length - 1),
      next = Math.max(
        1,
        stops.findIndex(s => s[0] >= t),
      );
    const [t0, c0] = stops[next - 1],
      [t1, c1] = stops[next];
    return rgba(mix(c0, c1, (t - t0) / (t1 - t0)));
  });
}

/**
 * Colours come from the style sheet, so that light and dark need no second table.
 * @param {Element} root
 * @param {string[]} keys of models
 * @param {boolean} dark
 */
export const paletteOf = (root, keys, dark) => {
  const style = getComputedStyle(root);
  const read = (/** @type {string} */ name) => hex(style.getPropertyValue(`--${name}`).trim());
  const panel = read('panel'),
    ink = read('ink');
  /** @type {Record<string, Uint32Array>} */
  const ramps = {};
  /** @type {Record<string, string>} */
  const text = {};
  for (const key of keys) {
    const fill = read(`column-${key}-fill`),
      strong = read(`column-${key}`);
    text[key] = css(strong);
    ramps[key] = dark
      ? ramp(
          [
            [0, mix(panel, fill, 0.1)],
            [0.45, mix(panel, fill, 0.62)],
            [0.75, strong],
            [1, mix(strong, [255, 255, 255], 0.72)],
          ],
          256,
        )
      : ramp(
          [
            [0, mix(panel, fill, 0.05)],
            [0.45, mix(panel, fill, 0.55)],
            [0.75, mix(fill, strong, 0.6)],
            [1, mix(strong, [0, 0, 0], 0.55)],
          ],
          256,
        );
  }
  const end = (/** @type {string} */ name) =>
    dark ? mix(read(name), [255, 255, 255], 0.25) : mix(read(name), [0, 0, 0], 0.15);
  /**
   * From one colour of the style sheet to another.
   * @param {string} a @param {string} b
   */
  const diverging = (a, b) =>
    ramp(
      [
        [0, end(b)],
        [0.25, mix(panel, read(`${b}-fill`), 0.6)],
        [0.5, mix(panel, ink, 0.04)],
        [0.75, mix(panel, read(`${a}-fill`), 0.6)],
        [1, end(a)],
      ],
      511,
    );
  return {
    ramps,
    text,
    diverging,
    ink: css(ink),
    soft: css(read('ink-soft')),
    line: css(read('line')),
    panel: css(panel),
    paper: css(read('paper')),
    accent: css(read('accent')),
  };
};

/**
 * One head as an image of one pixel a cell.
 * @param {{size: number, models: {key: string, bytes: Uint8Array}[]}} wall
 * @param {{m: number, i: number}} head
 * @param {Pick<Palette, 'ramps'>} palette
 */
export const headImage = (wall, head, palette) => {
  const {size} = wall,
    model = wall.models[head.m],
    ramp = palette.ramps[model.key],
    tile = make('canvas');
  tile.width = tile.height = size;
  const image = new ImageData(size, size),
    out = new Uint32Array(image.data.buffer),
    start = head.i * size * size;
  for (let c = 0; c < size * size; c++) out[c] = ramp[model.bytes[start + c]];
  penOf(tile).putImageData(image, 0, 0);
  return tile;
};
