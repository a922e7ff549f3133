// Factorised embedding: V x H against V x E + E x H, for any three widths.
import {slider} from '../kit/choice.js';
import {el, note, say} from '../kit/dom.js';
import {figure} from '../kit/figure.js';
import {digits, exact, fine} from '../kit/numbers.js';

export {whole} from '../kit/figure.js';

const V = [1000, 2000, 5000, 10000, 15000, 20000, 30000, 30522, 40000, 60000, 100000, 150000, 250000];
const POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
const choice = {of: '', v: 0, h: 0, e: 0};   // kept while the page is open, for the models it began with
const factorised = (v, h, e) => v * e + e * h;

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const {pins, start, texts} = data;
  if (choice.of !== start.name) Object.assign(choice, {of: start.name, v: start.v, h: start.h, e: start.e});
  const sentence = el('p', 'finding pt-finding'), controls = el('div', 'pm-controls');
  const change = name => value => { choice[name] = value; refresh(); };
  const sliders = {
    v: slider(texts.v, [...new Set([...V, ...pins.map(p => p.v)])].sort((a, b) => a - b), choice.v, change('v')),
    h: slider(texts.h, POWERS.filter(p => p >= 64), choice.h, change('h')),
    e: slider(texts.e, POWERS, choice.e, change('e')),
  };
  controls.append(...Object.values(sliders).map(s => s.node));
  const chips = el('div', 'chips', null, {role: 'group', 'aria-label': texts.pins});
  for (const pin of pins) {
    const chip = el('button', 'chip model-name', pin.name, {type: 'button'});
    chip.dataset.model = pin.key;
    chip.addEventListener('click', () => {
      Object.assign(choice, {v: pin.v, h: pin.h, e: pin.e});
      Object.entries(sliders).forEach(([name, s]) => s.set(choice[name]));
      refresh();
    });
    chips.append(chip);
  }
  const [spec] = data.figures, chart = figure(spec, texts.chart);
  root.replaceChildren(sentence, controls, chips, chart.node, note(texts.note));
  function refresh() {
    const {v, h, e} = choice, plain = v * h, split = factorised(v, h, e), even = plain / (v + h);
    sentence.textContent = say(split < plain ? texts.saves : texts.costs, {
      plain: fine(plain), split: fine(split), share: digits(100 * Math.abs(1 - split / plain), 1), even: exact(Math.floor(even))});
    chart.set({data: chosen(spec.data, pins, texts)});
  }
  refresh();
}

/** The view's traces at the reader's widths: two tables, one table, the real models, the choice. */
function chosen([two, one, models, mine], pins, texts) {
  const {v, h, e} = choice, here = pins.find(p => p.v === v && p.h === h && p.e === e);
  return [{...two, y: two.x.map(x => factorised(v, h, x))}, {...one, y: one.x.map(() => v * h)},
    models, {...mine, x: [e], y: [factorised(v, h, e)], text: [here ? '' : texts.here], textposition: factorised(v, h, e) < v * h ? 'bottom right' : 'top left'}];
}

/** What the reader has set, or the page at first. @param {any} data */
const setIn = ({start}) => (choice.of === start.name ? choice : start);
const CHOSEN = 'chosen';

/** @type {import('../gradio.js').Picture['said']} */
export function said({numbers, ...data}) {
  const {v, h, e} = setIn(/** @type {any} */ (data)), saved = 1 - factorised(v, h, e) / (v * h);
  return {...numbers.said, state: {vocabulary: v, hidden: h, embedding: e}, percent_saved: 100 * saved, even_at: Math.floor(v * h / (v + h))};
}

/** @type {import('../gradio.js').Picture['constants']} */
export function constants({numbers, ...data}) {
  const {v, h, e} = setIn(/** @type {any} */ (data));
  return {TABLES: [...numbers.constants.TABLES, [CHOSEN, v, h, e]]};
}

/** @type {import('../gradio.js').Picture['table']} */
export function table({numbers: {columns, rows}, ...data}) {
  const {v, h, e} = setIn(/** @type {any} */ (data));
  return {columns, rows: [...rows, [CHOSEN, v, h, e, v * h, e === h ? v * h : factorised(v, h, e)]]};
}
