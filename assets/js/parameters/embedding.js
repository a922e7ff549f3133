// Factorised embedding: V x H against V x E + E x H, for any three widths.
import {slider} from '../kit/choice.js';
import {el, note, say} from '../kit/dom.js';
import {figure} from '../kit/figure.js';
import {exact, percent, weights} from '../kit/numbers.js';
import {look} from '../page/look.js';

export {whole} from '../kit/figure.js';

/**
 * @typedef {{v: number, h: number, e: number}} Widths
 * @typedef {import('../data').ChartData & {pins: (Widths & {key: string, name: string})[], start:
 *   Widths, texts: Record<string, string>}} EmbeddingData
 */

const NAMES = /** @type {const} */ (['v', 'h', 'e']);
const V = [
  1000, 2000, 5000, 10000, 15000, 20000, 30000, 30522, 40000, 60000, 100000, 150000, 250000,
];
const POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
const kept = look('widths', ''); // V.H.E; nothing: those of the page's first model
/** @param {number} v @param {number} h @param {number} e */
const factorised = (v, h, e) => v * e + e * h;

/** @param {Widths[]} pins the real models: each stands at stops of its own */
function allowed(pins) {
  const stops = (/** @type {number[]} */ own, /** @type {'v' | 'h' | 'e'} */ name) =>
    [...new Set([...own, ...pins.map(pin => pin[name])])].sort((a, b) => a - b);
  return {
    v: stops(V, 'v'),
    h: stops(
      POWERS.filter(p => p >= 64),
      'h',
    ),
    e: stops(POWERS, 'e'),
  };
}

/**
 * The widths that the reader or a link has set, or the page's own.
 * @param {Pick<EmbeddingData, 'start' | 'pins'>} data
 * @returns {Widths}
 */
function widths({start, pins}) {
  const [v, h, e] = kept.value.split('.').map(Number),
    can = allowed(pins);
  return can.v.includes(v) && can.h.includes(h) && can.e.includes(e)
    ? {v, h, e}
    : {v: start.v, h: start.h, e: start.e};
}

/** @param {EmbeddingData} data @param {Partial<Widths>} changes */
function set(data, changes) {
  const {v, h, e} = {...widths(data), ...changes},
    {start} = data;
  kept.value = v === start.v && h === start.h && e === start.e ? '' : `${v}.${h}.${e}`;
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {EmbeddingData} */ data) {
  const {pins, texts} = data,
    can = allowed(pins),
    first = widths(data);
  const sentence = el('p', 'finding pt-finding'),
    controls = el('div', 'pm-controls');
  const sliders = NAMES.map(name => {
    const part = slider(texts[name], can[name], first[name], value => {
      set(data, {[name]: value});
      refresh();
    });
    return {name, ...part};
  });
  controls.append(...sliders.map(({node}) => node));
  const chips = el('div', 'chips', null, {role: 'group', 'aria-label': texts.pins});
  for (const pin of pins) {
    const chip = el('button', 'chip model-name', pin.name, {type: 'button'});
    chip.dataset.model = pin.key;
    chip.addEventListener('click', () => {
      set(data, {v: pin.v, h: pin.h, e: pin.e});
      for (const part of sliders) part.set(widths(data)[part.name]);
      refresh();
    });
    chips.append(chip);
  }
  const [spec] = data.figures,
    chart = figure(spec, texts.chart);
  root.replaceChildren(sentence, controls, chips, chart.node, note(texts.note));
  function refresh() {
    const {v, h, e} = widths(data),
      plain = v * h,
      split = factorised(v, h, e),
      even = plain / (v + h);
    sentence.textContent = say(split < plain ? texts.saves : texts.costs, {
      plain: weights(plain),
      split: weights(split),
      share: percent(Math.abs(1 - split / plain)),
      even: exact(Math.floor(even)),
    });
    chart.set({data: chosen(spec.data, data)});
  }
  refresh();
}

/**
 * The view's traces at the reader's widths: two tables, one table, the real models, the choice.
 * @param {any[]} traces
 * @param {EmbeddingData} data
 */
function chosen([twoTables, oneTable, models, mine], data) {
  const {pins, texts} = data,
    {v, h, e} = widths(data),
    here = pins.find(p => p.v === v && p.h === h && p.e === e);
  return [
    {...twoTables, y: twoTables.x.map((/** @type {number} */ x) => factorised(v, h, x))},
    {...oneTable, y: oneTable.x.map(() => v * h)},
    models,
    {
      ...mine,
      x: [e],
      y: [factorised(v, h, e)],
      text: [here ? '' : texts.here],
      textposition: factorised(v, h, e) < v * h ? 'bottom right' : 'top left',
    },
  ];
}

const CHOSEN = 'chosen';

/** @param {EmbeddingData} data */
export function header({numbers, ...data}) {
  const {v, h, e} = widths(data),
    saved = 1 - factorised(v, h, e) / (v * h);
  return {
    ...numbers.said,
    state: {vocabulary: v, hidden: h, embedding: e},
    percent_saved: 100 * saved,
    even_at: Math.floor((v * h) / (v + h)),
  };
}

/** @param {EmbeddingData} data */
export function constants({numbers, ...data}) {
  const {v, h, e} = widths(data);
  return {TABLES: [...numbers.constants.TABLES, [CHOSEN, v, h, e]]};
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {EmbeddingData} */ {numbers: {columns, rows}, ...data}) {
  const {v, h, e} = widths(data);
  // with its matrix, as the sentence has it
  return {columns, rows: [...rows, [CHOSEN, v, h, e, v * h, factorised(v, h, e)]]};
}
