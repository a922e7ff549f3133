// One shared head over its applications: its tiles side by side, and how much they change.
import {chart} from '../kit/chart.js';
import {choice} from '../kit/choice.js';
import {make, resize, say} from '../kit/dom.js';
import {headImage, paletteOf} from './colours.js';
import {headAt, onPage} from './heads.js';

const SIDE = 92;
const films = new Map();   // root -> its film
let chosen = 0;            // the head, kept while the page lives

class Film {
  constructor(root, data, context) {
    this.root = root;
    this.data = data;
    this.context = context;
    this.head = chosen;
    this.observer = new ResizeObserver(() => { if (root.clientWidth !== this.width) this.draw(); });
    this.observer.observe(root);
    const {texts, model} = data, heads = data.from_first[0].length;
    const names = Object.fromEntries(Array.from({length: heads}, (_, h) => [h, String(h + 1)]));
    this.head = Math.min(this.head, heads - 1);
    this.strip = make('div', {class: 'aw-film', role: 'img'});
    this.chart = chart(this.curves());
    this.root.dataset.model = model;
    this.root.replaceChildren(choice(texts.heads, names, String(this.head), key => { this.head = chosen = Number(key); this.draw(); }),
      this.strip, make('p', {class: 'note', text: texts.chart}), this.chart.node);
    this.draw();
  }

  draw() {
    this.width = this.root.clientWidth;
    const wall = onPage.wall?.wall, {data} = this;
    const model = wall && wall.models.find(m => m.key === data.model);
    if (!this.width || !model) return;
    const palette = paletteOf(this.root, [model.key], this.context.dark), {size} = wall;
    this.strip.setAttribute('aria-label', say(data.texts.label, {head: this.head + 1}));
    this.strip.replaceChildren(...data.from_first.map((_, layer) => {
      const tile = headImage(wall, headAt(wall, model.m, layer * model.heads + this.head), palette);
      const shown = document.createElement('canvas'), brush = resize(shown, SIDE, SIDE), ratio = shown.width / SIDE;
      brush.imageSmoothingEnabled = size > SIDE * ratio;
      brush.drawImage(tile, 0, 0, SIDE, SIDE);
      const step = layer ? say(data.texts.step, {js: (data.step[layer - 1][this.head]).toFixed(2)}) : '';
      return make('figure', {}, shown, make('figcaption', {}, make('b', {text: String(layer + 1)}), make('span', {text: step})));
    }));
    this.chart.set(this.curves());
  }

  curves() {
    const {from_first: rows, texts, model} = this.data;
    const lines = rows[0].map((_, head) => ({label: String(head + 1), values: rows.map(row => row[head]), model,
      weight: head === this.head ? 'strong' : 'faint'}));
    return {xs: rows.map((_, layer) => layer + 1), height: 210, label: texts.chart, x: {ticks: rows.map((_, layer) => layer + 1)},
      y: {range: [0, Math.max(.01, ...rows.flat())]}, lines: lines.toSorted((a, b) => a.weight.localeCompare(b.weight))};
  }
}

onPage.react.push(() => films.forEach(film => film.draw()));

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, context) {
  clear(root);
  films.set(root, new Film(root, data, context));
}

/** @type {import('../gradio.js').Picture['clear']} */
export function clear(root) {
  films.get(root)?.observer.disconnect();
  films.delete(root);
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => films.get(root)?.draw();

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const rows = data.from_first.flatMap((heads, layer) => heads.map((js, head) =>
    [layer + 1, head + 1, js, layer ? data.step[layer - 1][head] : null]));
  return {columns: ['layer', 'head', 'js_from_first_nats', 'js_from_layer_before_nats'], rows};
}
