// One shared head over its applications: its tiles side by side, and how much they change.
import {headImage, paletteOf} from '../attention/colours.js';
import {chart} from '../kit/chart.js';
import {choice} from '../kit/choice.js';
import {make, resize, say} from '../kit/dom.js';
import {bytes} from '../kit/numbers.js';

const SIDE = 92;
const drawn = new WeakMap();   // root -> how it is drawn anew
let chosen = 0;                // the head, kept while the page lives

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, context) {
  const {texts, model, size, heads, from_first: rows} = data;
  const wall = {size, models: [{key: model, bytes: bytes(data.tiles)}]};
  const names = Object.fromEntries(Array.from({length: heads}, (_, h) => [h, String(h + 1)]));
  const strip = make('div', {class: 'df', role: 'img'});
  chosen = Math.min(chosen, heads - 1);

  function tile(layer, palette) {
    const image = headImage(wall, {m: 0, i: layer * heads + chosen}, palette), shown = make('canvas');
    const brush = resize(shown, SIDE, SIDE);
    brush.imageSmoothingEnabled = size > shown.width;
    brush.drawImage(image, 0, 0, SIDE, SIDE);
    const step = layer ? say(texts.step, {js: data.step[layer - 1][chosen].toFixed(2)}) : '';
    return make('figure', {}, shown, make('figcaption', {}, make('b', {text: String(layer + 1)}), make('span', {text: step})));
  }

  function curves() {
    const lines = rows[0].map((_, head) => ({label: String(head + 1), values: rows.map(row => row[head]), model,
      weight: head === chosen ? 'strong' : 'faint'}));
    return {xs: rows.map((_, layer) => layer + 1), height: 210, label: texts.chart, x: {ticks: rows.map((_, layer) => layer + 1)},
      y: {range: [0, Math.max(.01, ...rows.flat())]}, lines: lines.toSorted((a, b) => a.weight.localeCompare(b.weight))};
  }

  function draw() {
    const palette = paletteOf(root, [model], context.dark);
    strip.setAttribute('aria-label', say(texts.label, {head: chosen + 1}));
    strip.replaceChildren(...rows.map((_, layer) => tile(layer, palette)));
    plot.set(curves());
  }

  const plot = chart(/** @type {any} */ (curves()));
  root.dataset.model = model;
  root.replaceChildren(choice(texts.heads, names, String(chosen), key => { chosen = Number(key); draw(); }),
    strip, make('p', {class: 'note', text: texts.chart}), plot.node);
  drawn.set(root, draw);
  draw();
}

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => drawn.get(root)?.();

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = ({groups, read}) => ({GROUPS: groups, READ: read});

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const rows = data.from_first.flatMap((heads, layer) => heads.map((js, head) =>
    [layer + 1, head + 1, js, layer ? data.step[layer - 1][head] : null]));
  return {columns: ['layer', 'head', 'js_from_first_nats', 'js_from_layer_before_nats'], rows};
}
