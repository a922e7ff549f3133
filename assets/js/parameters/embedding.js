// Factorised embedding: V x H against V x E + E x H, and what the real tables' singular values say.
import {chart} from '../kit/chart.js';
import {slider} from '../kit/choice.js';
import {el, say} from '../kit/dom.js';
import {digits, exact, fine} from '../kit/numbers.js';

const V = [1000, 2000, 5000, 10000, 15000, 20000, 30000, 30522, 40000, 60000, 100000, 150000, 250000];
const POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
const ES = Array.from({length: 97}, (_, i) => 2 ** (12 * i / 96));
const choice = {of: '', v: 0, h: 0, e: 0};   // kept while the page is open, for the models it began with
const factorised = (v, h, e) => v * e + e * h;
const stored = pin => (pin.e === pin.h ? pin.v * pin.h : factorised(pin.v, pin.h, pin.e));

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const {pins, start, texts} = data;
  if (choice.of !== start.name) Object.assign(choice, {of: start.name, v: start.v, h: start.h, e: start.e});
  const sentence = el('p', 'finding pt-finding'), picture = el('div', 'pt-picture'), controls = el('div', 'pm-controls');
  const sliders = {
    v: slider(texts.v, [...new Set([...V, ...pins.map(p => p.v)])].sort((a, b) => a - b), choice.v, v => change('v', v)),
    h: slider(texts.h, POWERS.filter(p => p >= 64), choice.h, v => change('h', v)),
    e: slider(texts.e, POWERS, choice.e, v => change('e', v)),
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
  root.replaceChildren(sentence, controls, chips, picture, el('p', 'note', texts.note));
  const curve = chart(curves(pins, texts));
  picture.append(curve.node);
  function change(name, value) { choice[name] = value; refresh(); }
  function refresh() {
    const plain = choice.v * choice.h, split = factorised(choice.v, choice.h, choice.e);
    const even = choice.v * choice.h / (choice.v + choice.h);
    sentence.textContent = say(split < plain ? texts.saves : texts.costs, {
      plain: fine(plain), split: fine(split), share: digits(100 * Math.abs(1 - split / plain), 1), even: exact(Math.floor(even))});
    curve.set(curves(pins, texts));
  }
  refresh();
}

function curves(pins, texts) {
  const {v, h, e} = choice;
  const here = pins.find(p => p.v === v && p.h === h && p.e === e);
  return {
    xs: ES, height: 300, label: texts.chart, floor: 3e4,
    x: {log: true, range: [1, 4096], ticks: [1, 4, 16, 64, 128, 256, 768, 2048, 4096], print: exact, title: texts.e},
    y: {log: true, range: [3e4, 1e9], ticks: [1e5, 1e6, 1e7, 1e8, 1e9], print: fine},
    lines: [
      {label: texts.here, values: ES.map(x => factorised(v, h, x)), colour: 'var(--albert-fill)'},
      {label: texts.e, values: ES.map(() => v * h), colour: 'var(--bert-fill)', dash: '6 4'},
    ],
    dots: [
      ...pins.filter(p => p !== here).map(p => ({x: p.e, y: stored(p), model: p.key, r: 4})),
      {x: e, y: factorised(v, h, e), colour: 'var(--ink)', r: 7, label: here && e !== h ? here.name : texts.here},
    ],
  };
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const rows = data.pins.map(pin => [pin.name, pin.v, pin.h, pin.e, pin.v * pin.h, stored(pin)]);
  return {columns: ['model', 'vocabulary', 'hidden', 'embedding', 'one_table', 'stored'], rows};
}
