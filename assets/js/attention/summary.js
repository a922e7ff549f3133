// What all of a model's attention adds up to: one matrix per model, the added tokens left out at
// first.
import {choice} from '../kit/choice.js';
import {make, say} from '../kit/dom.js';
import {floats, percent} from '../kit/numbers.js';
import {paletteOf} from './colours.js';
import {look} from '../page/look.js';
import {wordLabel} from './heads.js';
import {Matrix} from './matrix.js';
import {Zoom} from './zoom.js';

/**
 * @typedef {import('../data').SummaryData} SummaryData
 * @typedef {import('./matrix.js').Cell} Cell
 * @typedef {object} Part one model's panel
 * @property {import('../data').SummaryModel} model
 * @property {Float64Array} values between all words
 * @property {Float64Array} shown those that are drawn
 * @property {Matrix} picture
 * @property {HTMLElement} reading of the marked cell
 * @property {HTMLElement} scale
 * @property {HTMLElement} figure
 */

/** By its place. @type {WeakMap<HTMLElement, Summary>} */
const shown = new WeakMap();
const added = look('summary', 'hidden');
/** @param {Record<string, any>} texts @param {string[]} words */
const zoomOf = (texts, words) => new Zoom(texts.zoom, 'zoomsum', words.length);

class Summary {
  /**
   * @param {HTMLElement} root
   * @param {SummaryData} data
   * @param {import('../gradio.js').Context} context
   */
  constructor(root, data, context) {
    this.root = root;
    this.data = data;
    this.context = context;
    this.width = 0;
    /** @type {string[]} */
    this.words = []; // those that are drawn, as they are written
    this.observer = new ResizeObserver(() => {
      if (root.clientWidth !== this.width) this.draw();
    });
    this.observer.observe(root);
    this.live = make('p', {class: 'sr-only', role: 'status'});
    this.zoom = zoomOf(data.texts, data.words);
    this.parts = data.models.map(model => {
      const values = Float64Array.from(floats(model.values)),
        picture = new Matrix(cell => this.mark(cell, part), this.zoom),
        reading = make('p', {class: 'aw-reading'}),
        scale = make('span', {class: 'aw-detail'});
      const figure = make(
        'figure',
        {'data-model': model.key},
        make(
          'figcaption',
          {},
          make('b', {
            class: 'model-name',
            text: say(data.texts.title, {label: model.label, kind: data.texts.kind}),
          }),
          make('span', {class: 'aw-detail', text: model.detail}),
          scale,
        ),
        picture.node,
        make('div', {class: 'aw-under'}, reading),
      );
      /** @type {Part} */
      const part = {model, values, shown: values, picture, reading, scale, figure};
      return part;
    });
    this.panels = make('div', {class: 'aw-panels'}, ...this.parts.map(part => part.figure));
    const bar = make(
      'div',
      {class: 'aw-bar'},
      choice(data.texts.added, data.texts.addeds, added.value, key => {
        added.value = key;
        this.draw();
      }),
    );
    this.root.replaceChildren(
      bar,
      this.panels,
      make('p', {class: 'note how', text: data.texts.hint}),
      this.live,
    );
    this.draw();
  }

  draw() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const {models, words, texts} = this.data,
      palette = paletteOf(
        this.root,
        models.map(m => m.key),
        this.context.dark,
      );
    const across = this.width >= 860 ? this.parts.length : 1,
      width = Math.floor((this.width - 28 * (across - 1)) / across);
    this.panels.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    const all = words.map((_, i) => i),
      left = all.filter(i => !this.data.special[i]),
      keep = added.value === 'hidden' && left.length ? left : all;
    this.words = keep.map(i => wordLabel(words[i]));
    for (const part of this.parts) {
      const {label, key} = part.model;
      part.shown = Float64Array.from(
        keep.flatMap(q => keep.map(k => part.values[q * words.length + k])),
      );
      const top = part.shown.reduce((most, value) => Math.max(most, value), 0),
        gain = top >= 0.2 || top <= 0 ? 1 : 1 / top; // tiny numbers fill the scale
      part.scale.textContent = say(texts.scale, {top: percent(1 / gain)});
      part.picture.draw(
        {
          labels: this.words,
          values: part.shown,
          n: keep.length,
          ramp: palette.ramps[key],
          palette,
          gain,
          label: say(texts.title, {label, kind: texts.kind}),
        },
        width,
      );
      part.picture.mark(null);
    }
  }

  /** @param {Cell | null} cell @param {Part} source */
  mark(cell, source) {
    const {words} = this,
      n = words.length;
    for (const part of this.parts) {
      part.picture.mark(cell);
      part.reading.textContent = cell
        ? say(this.data.texts.cell, {
            query: words[cell[0]],
            key: words[cell[1]],
            value: part.shown[cell[0] * n + cell[1]].toFixed(4),
          })
        : '';
      if (part === source) this.live.textContent = part.reading.textContent;
    }
  }
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {SummaryData} */ data, context) {
  clear(root);
  shown.set(root, new Summary(root, data, context));
}

/** @type {NonNullable<import('../gradio.js').Picture['clear']>} */
export function clear(root) {
  shown.get(root)?.observer.disconnect();
  shown.get(root)?.zoom.end();
  shown.delete(root);
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => shown.get(root)?.draw();

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {SummaryData} */ {words, models, texts}) => ({
  WORDS: words,
  WAY: texts.way,
  GROUPS: Object.fromEntries(models.map(model => [model.label, model.groups])),
});

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {SummaryData} */ {texts, words}) => ({
  state: {summary: texts.way, ...zoomOf(texts, words).header()},
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {SummaryData} */ data) {
  const n = data.words.length;
  const rows = data.models.flatMap(model =>
    [...floats(model.values)].map((value, i) => [
      model.label,
      data.words[Math.floor(i / n)],
      data.words[i % n],
      value,
    ]),
  );
  return {columns: ['model', 'query', 'key', 'value'], rows};
}
