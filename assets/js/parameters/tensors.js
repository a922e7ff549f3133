// Every tensor as a rectangle inside its part: stored once, or counted for every use in a pass.
import {switcher} from '../kit/choice.js';
import {make, note} from '../kit/dom.js';
import {figure, readable} from '../kit/figure.js';
import {look} from '../page/look.js';

export {constants, table, whole} from '../kit/figure.js';

const counted = look('tensors', 'stored');

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['said']} */
export const said = ({numbers}) => ({...numbers.said, state: {counted: counted.value}});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, {figures, numbers, texts}) {
  const n = figures.length / 2, of = way => figures.slice(way === 'stored' ? 0 : n).slice(0, n);
  const charts = of(counted.value).map(spec => figure(spec, spec.layout.title.text));
  root.replaceChildren(
    switcher(texts.counted, texts.ways, counted.value, way => {
      counted.value = way;
      charts.forEach((chart, i) => chart.set(of(way)[i]));
    }),
    make('div', {class: 'dt'}, ...charts.map(one => one.node)), note(texts.note), readable(numbers));
}
