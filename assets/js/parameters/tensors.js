// Every tensor as a rectangle inside its part: stored once, or counted for every use in a pass.
import {switcher} from '../kit/choice.js';
import {make, note} from '../kit/dom.js';
import {figure, readable} from '../kit/figure.js';
import {look} from '../page/look.js';

export {constants, table, whole} from '../kit/figure.js';

/** @typedef {import('../data').ChartData & {texts: any}} TensorsData */

const counted = look('tensors', 'stored'),
  form = look('parts', 'map'),
  isTable = () => form.value === 'table';

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {TensorsData} */ {numbers}) => ({
  ...numbers.said,
  state: {parts: 'map', counted: counted.value},
});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {TensorsData} */ {figures, numbers, texts}) {
  const n = figures.length / 2,
    of = (/** @type {string} */ way) => figures.slice(way === 'stored' ? 0 : n).slice(0, n);
  const controls = make('div', {class: 'pm-controls'}),
    body = make('div');
  const forms = switcher(texts.form, texts.forms, isTable() ? 'table' : 'map', value => {
    form.value = value;
    draw();
  });
  function draw() {
    // the table below, which Python writes, has a menu of its own
    root.toggleAttribute('data-empty', isTable());
    const charts = isTable()
      ? []
      : of(counted.value).map(spec => figure(spec, spec.layout.title.text));
    const ways = switcher(texts.counted, texts.ways, counted.value, way => {
      counted.value = way;
      charts.forEach((chart, i) => chart.set(of(way)[i]));
    });
    // A page that was taken away has the form that was in sight, and not the other.
    controls.replaceChildren(
      ...(window.explorer.taken ? [] : [forms]),
      ...(isTable() ? [] : [make('span', {class: 'pm-lead', text: texts.counted}), ways]),
    );
    body.replaceChildren(
      ...(isTable()
        ? []
        : [
            make('div', {class: 'dt'}, ...charts.map(({node}) => node)),
            note(texts.note, undefined, texts.how),
            readable(numbers),
          ]),
    );
  }
  root.replaceChildren(controls, body);
  draw();
}
