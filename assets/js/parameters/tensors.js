// Every tensor as a rectangle inside its part: stored once, or counted for every use in a pass.
import {switcher} from '../kit/choice.js';
import {make} from '../kit/dom.js';
import {figure, readable} from '../kit/figure.js';

export {constants, table, whole} from '../kit/figure.js';

let counted = 'stored';   // kept while the page is open

/** @type {import('../gradio.js').Picture['said']} */
export const said = ({numbers}) => ({...numbers.said, state: {counted}});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, {figures, numbers, texts}) {
  const n = figures.length / 2, of = way => figures.slice(way === 'stored' ? 0 : n).slice(0, n);
  const charts = of(counted).map(spec => figure(spec, spec.layout.title.text));
  root.replaceChildren(
    switcher(texts.counted, texts.ways, counted, way => {
      counted = way;
      charts.forEach((chart, i) => chart.set(of(way)[i]));
    }),
    make('div', {class: 'dt'}, ...charts.map(one => one.node)), make('p', {class: 'note'}, texts.note), readable(numbers));
}
