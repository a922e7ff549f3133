// What the real embedding tables' singular values say: where a table is of full rank and where not.
import {chart} from '../kit/chart.js';
import {el, say} from '../kit/dom.js';
import {exact} from '../kit/numbers.js';

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const {lines, texts} = data;
  const picture = el('div', 'pt-picture');
  const said = lines.map(l => say(l.rank < l.width ? texts.short : texts.full,
    {label: l.label, rank: exact(l.rank), width: exact(l.width), empty: exact(l.width - l.rank)}));
  const legend = el('ul', 'pt-key');
  for (const line of lines) {
    const item = el('li', 'model-name', say(texts.rank, {label: line.label, rank: exact(line.rank)}));
    item.dataset.model = line.key;
    legend.append(item);
  }
  root.replaceChildren(el('p', 'finding pt-finding', said.join(' ')), legend, picture, el('p', 'note', texts.note));
  const width = Math.max(...lines.map(line => line.width)), xs = Array.from({length: width}, (_, i) => i + 1);
  picture.append(chart({
    xs, height: 300, label: said.join(' '), rules: lines.filter(line => line.rank < line.width).map(line => line.rank),
    x: {range: [1, width], ticks: [1, 64, 128, 192, 256, 320, 384, 512, 640, 768].filter(t => t <= width), print: exact, title: texts.index},
    y: {log: true, range: [1e-18, 1], ticks: [1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18], print: powerOfTen},
    lines: lines.map((line, i) => ({label: line.label, model: line.key, dash: i === 1 ? '7 4' : '',
      values: xs.map(x => x <= line.values.length ? line.values[x - 1] : null)})),
  }).node);
}

const powerOfTen = v => v === 1 ? '1' : `10${[...String(Math.round(Math.log10(v)))].map(c => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]).join('')}`;

/** No text is read here, but weights are. @type {import('../gradio.js').Picture['said']} */
export const said = () => ({family: true, models: true});

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const rows = data.lines.flatMap(line => line.values.map((value, i) => [line.label, i + 1, value]));
  return {columns: ['model', 'index', 'singular_value_over_largest'], rows};
}
