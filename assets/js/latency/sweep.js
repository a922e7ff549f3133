// Time over lengths or batches, and time relative to the first model: where a line crosses 1, they swap.
import {chart} from '../kit/chart.js';
import {make} from '../kit/dom.js';
import {exact} from '../kit/numbers.js';

const DASHES = ['', '8 5', '2 4', '8 4 2 4'];   // for models that share a colour

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const keys = data.models.map(model => model.key), several = new Set(keys).size < keys.length;
  const line = (model, name) => ({label: model.label, model: model.key, values: model[name], band: model[`${name}_band`],
    dash: several ? DASHES[data.models.indexOf(model) % DASHES.length] : ''});
  const x = {log: true, ticks: data.places, print: exact, title: data.title}, base = {xs: data.places, x, readout: data.title, dotted: true};
  const times = chart({...base, title: data.ms, height: 300, y: {log: true}, lines: data.models.map(model => line(model, 'ms'))});
  const compared = data.models.filter(model => model.ratio.some(value => value !== null));
  const ratios = chart({...base, title: data.ratio, height: 300, levels: [1], lines: compared.map(model => line(model, 'ratio'))});
  root.replaceChildren(make('div', {class: 'ch-pair'}, times.node, compared.length ? ratios.node : null));
}

/** What was timed is not what the page shows. @type {import('../gradio.js').Picture['said']} */
export const said = data => data.said;

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const ends = band => band || [null, null];
  const rows = data.models.flatMap(model => data.places.map((place, i) => [model.label, place, model.ms[i], ...ends(model.ms_band[i]),
    model.ratio[i] ?? null, ...ends(model.ratio_band[i])]));
  return {columns: ['model', data.title, 'median_ms', 'low_ms', 'high_ms', 'ratio', 'low_ratio', 'high_ratio'], rows};
}
