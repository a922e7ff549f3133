// One model's strip: a row for each layer, a column for each word in the running, place and KL
// beside.
import {make, say, svg, vary} from '../kit/dom.js';
import {nats, number} from '../kit/numbers.js';

/**
 * @typedef {import('../data').LensModel} Model
 * @typedef {import('../data').LensMask & {isFollowed?: boolean}} Mask
 * @typedef {{row: number, height: number}} Size
 */

const CURVE = 34;
const rowOf = (/** @type {number} */ deepest) => (deepest > 8 ? 26 : 36);

/**
 * How high all strips and their rows are: the deepest model's rows touch.
 * @param {Model[]} models
 * @returns {Size}
 */
export function sizeOf(models) {
  const deepest = Math.max(...models.map(model => model.layers)),
    row = rowOf(deepest);
  return {row, height: row * (deepest + 1)};
}

/** @param {any} texts @param {number} layer */
export const layerName = (texts, layer) =>
  layer ? say(texts.layer, {n: layer}) : texts.embeddings;
/** A divergence as the strips print it. @param {number} kl */
export const klOf = kl => nats(kl);
const short = (/** @type {number} */ p) => (p >= 0.0005 ? p.toFixed(3) : '');

/**
 * The largest probability in any strip of one mask: the fullest colour.
 * @param {Model[]} models
 * @param {number} place
 */
export const most = (models, place) =>
  Math.max(...models.flatMap(model => model.masks[place].p.flat()));

/**
 * @param {Model} model
 * @param {Mask} mask
 * @param {number} layer
 * @param {any} texts
 * @param {number} full the largest probability
 */
function row(model, mask, layer, texts, full) {
  const name = layerName(texts, layer),
    about = {model: model.label, layer: name};
  const cells = mask.words.map((word, i) => {
    const p = mask.p[layer][i];
    const cell = make(
      'span',
      {class: 'dp-cell', title: say(texts.cell, {...about, word, p: number(p)})},
      short(p),
    );
    // a tenth of the largest can still be told from nothing
    vary(cell, '--share', Math.sqrt(p / (full || 1)));
    return cell;
  });
  const place = mask.rank[layer].toLocaleString('en'),
    kl = mask.kl[layer];
  const decides = layer === mask.decided ? ' decides' : '',
    isDecided = layer >= mask.decided ? ' decided' : '';
  return make(
    'div',
    {class: `dp-row${decides}${isDecided}`},
    make('span', {class: 'dp-layer'}, layer ? String(layer) : texts.embeddings),
    ...cells,
    make(
      'span',
      {
        class: 'dp-place',
        title: say(texts.place_cell, {...about, word: mask.words[0], rank: place}),
      },
      place,
    ),
    make('span', {class: 'dp-kl', title: say(texts.kl_cell, {...about, kl: nats(kl)})}, klOf(kl)),
  );
}

/**
 * @param {Mask} mask
 * @param {number} top
 * @param {Size} size
 * @param {(layer: number) => number} at
 */
function curve(mask, top, {row, height}, at) {
  const points = mask.kl.map(
    (kl, layer) => `${(2 + ((CURVE - 4) * kl) / (top || 1)).toFixed(1)},${at(layer) + row / 2}`,
  );
  return svg(
    'svg',
    {class: 'dp-curve', width: CURVE, height, 'aria-hidden': 'true'},
    // 0, and the largest of all models
    ...[2, CURVE - 2].map(x => svg('line', {x1: x, x2: x, y1: 0, y2: height, class: 'dp-end'})),
    svg('polyline', {points: points.join(' ')}),
    ...points.map(point => {
      const [cx, cy] = point.split(',');
      return svg('circle', {cx, cy, r: 2.5});
    }),
  );
}

/**
 * @param {Model} model
 * @param {number} place which mask
 * @param {Size} size
 * @param {{kl: number, p: number}} top the largest of all models
 * @param {any} texts
 */
export function strip(model, place, size, top, texts) {
  const mask = /** @type {Mask} */ (model.masks[place]),
    at = (/** @type {number} */ layer) =>
      Math.round(((size.height - size.row) * layer) / model.layers);
  const rows = mask.p.map((_, layer) => row(model, mask, layer, texts, top.p));
  rows.forEach((line, layer) => vary(line, '--top', at(layer)));
  const head = make(
    'div',
    {class: 'dp-head'},
    make('span'),
    ...mask.words.map((word, i) =>
      make('span', {class: i ? 'dp-word' : 'dp-word first', title: word}, make('b', {}, word)),
    ),
    make('span', {class: 'dp-name'}, mask.isFollowed ? texts.place_of : texts.place),
    make('span', {class: 'dp-name'}, texts.kl),
  );
  const body = make('div', {class: 'dp-body'}, ...rows, curve(mask, top.kl, size, at));
  vary(body, '--height', size.height);
  vary(body, '--row', size.row);
  const node = make(
    'section',
    {
      class: 'dp-strip',
      'data-model': model.key,
      'aria-label': say(texts.strip, {model: model.label}),
    },
    make('h3', {class: 'model-name', 'data-model': model.key}, model.label),
    head,
    body,
  );
  vary(node, '--words', mask.words.length);
  return node;
}
