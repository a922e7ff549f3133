// One shared head over its applications: its tiles side by side, and how much they change.
import {headImage, paletteOf} from '../attention/colours.js';
import {choice} from '../kit/choice.js';
import {make, resize, say} from '../kit/dom.js';
import {figure} from '../kit/figure.js';
import {bytes, nats} from '../kit/numbers.js';
import {look} from '../page/look.js';

export {constants, table, whole} from '../kit/figure.js';

const SIDE = 92;
/** How each is drawn anew. @type {WeakMap<HTMLElement, () => void>} */
const drawn = new WeakMap();
const kept = look('shared', 0); // the head, from 0

/** The chosen head, or the last of fewer. @param {number} heads */
const headOf = heads => Math.min(Number(kept.value) || 0, heads - 1);

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, context) {
  const {
      texts,
      model,
      size,
      heads,
      figures: [spec],
    } = data,
    layers = data.step.length + 1;
  const wall = {size, models: [{key: model, bytes: bytes(data.tiles)}]};
  const names = Object.fromEntries(Array.from({length: heads}, (_, h) => [h, String(h + 1)]));
  const strip = make('div', {class: 'df', role: 'img'});
  let chosen = headOf(heads);

  /** @param {number} layer @param {import('../attention/colours.js').Palette} palette */
  function tile(layer, palette) {
    const image = headImage(wall, {m: 0, i: layer * heads + chosen}, palette),
      shown = make('canvas');
    const brush = resize(shown, SIDE, SIDE);
    brush.imageSmoothingEnabled = size > shown.width;
    brush.drawImage(image, 0, 0, SIDE, SIDE);
    const step = layer ? say(texts.step, {js: nats(data.step[layer - 1][chosen])}) : '';
    return make(
      'figure',
      {},
      shown,
      make('figcaption', {}, make('b', {text: String(layer + 1)}), make('span', {text: step})),
    );
  }

  /** The chosen head's line, strong and in front of the others. */
  function lines() {
    const of = (/** @type {number} */ head) => ({
      ...spec.data[head],
      opacity: head === chosen ? 1 : 0.3,
      line: {...spec.data[head].line, width: head === chosen ? 3 : 1.25},
    });
    return [...spec.data.keys()]
      .sort((a, b) => Number(a === chosen) - Number(b === chosen))
      .map(of);
  }

  function draw() {
    const palette = paletteOf(root, [model], context.dark);
    strip.setAttribute('aria-label', say(texts.label, {head: chosen + 1}));
    strip.replaceChildren(...Array.from({length: layers}, (_, layer) => tile(layer, palette)));
    plot.set({data: lines()});
  }

  const plot = figure(spec, texts.chart);
  root.dataset.model = model;
  root.replaceChildren(
    choice(texts.heads, names, String(chosen), key => {
      chosen = Number(key);
      kept.value = key;
      draw();
    }),
    strip,
    make('p', {class: 'note', text: texts.steps}),
    make('p', {class: 'note', text: texts.chart}),
    plot.node,
  );
  drawn.set(root, draw);
  draw();
}

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => drawn.get(root)?.();

/**
 * @type {import('../gradio.js').Picture['header']} the tiles' head; the rows are those of all heads
 */
export const header = ({heads}) => ({state: {head_drawn: headOf(heads) + 1}});
