// How one word moves: a chart for each model, its cosine to where it began and to where it ends.
import {chart} from '../kit/chart.js';
import {choice} from '../kit/choice.js';
import {make} from '../kit/dom.js';
import {choose, chosen} from '../page/here.js';

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const {models, texts, words} = data, wanted = Number(chosen('at') ?? -1);
  let at = wanted >= 0 && wanted < words.length ? wanted : data.first;
  const low = Math.min(0, ...models.flatMap(model => [...model.start, ...model.end].flat()));
  const lines = model => [
    {label: texts.start, values: model.start.map(row => row[at]), model: model.key, dash: true},
    {label: texts.end, values: model.end.map(row => row[at]), model: model.key}];
  const charts = models.map(model => {
    const xs = model.start.map((_, layer) => layer);
    return chart({title: model.label, label: `${model.label}: ${texts.start}, ${texts.end}`, xs, height: 190, readout: texts.layer, dotted: true,
      x: {ticks: xs, print: v => v ? String(v) : texts.embeddings}, y: {range: [low, 1]}, lines: lines(model)});
  });
  const names = Object.fromEntries(words.map((word, i) => [i, word]));
  root.replaceChildren(make('p', {class: 'finding'}, texts.finding),
    choice(texts.word, names, String(at), key => {
      at = Number(key);
      choose({at: at === data.first ? -1 : at});
      charts.forEach((one, i) => one.set({lines: lines(models[i])}));
    }),
    make('div', {class: 'dt'}, ...charts.map(one => one.node)), make('p', {class: 'note'}, texts.note));
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = ({models, words}) => ({WORDS: words, GROUPS: Object.fromEntries(models.map(model => [model.label, model.groups]))});

/** @type {import('../gradio.js').Picture['table']} */
export const table = ({models, words}) => ({columns: ['model', 'layer', 'word', 'cosine_to_start', 'cosine_to_end'],
  rows: models.flatMap(model => model.start.flatMap((row, layer) => words.map((word, i) => [model.label, layer, word, row[i], model.end[layer][i]])))});
