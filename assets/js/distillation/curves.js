// Divergences, entropies, the soft loss and its gradient over temperature; the lab's dial moves the mark.
import {chart} from '../kit/chart.js';
import {make} from '../kit/dom.js';
import {shown} from '../kit/numbers.js';
import {onTemperature, temperature} from './temperature.js';

const TICKS = [0.05, 0.2, 0.5, 1, 2, 5, 20];
let divided = false;
const alive = new Map();   // root -> its charts, so that the dial finds those on the page

onTemperature(t => {
  for (const [root, charts] of alive) {
    if (!root.isConnected) alive.delete(root);
    else charts.forEach(one => one.mark(t));
  }
});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const texts = data.texts, xs = data.temperatures;
  const base = {xs, x: {log: true, ticks: TICKS, print: shown}, readout: 'T =', mark: temperature()}, log = {log: true};
  const line = (key, model, dash) => ({label: texts.names[key], values: data.series[key], model, dash});
  const mean = () => ({label: texts.names.mean, values: data.series.t_squared_kl.map(v => v / data.d_vocab), model: 'distilbert'});
  const losses = () => [line('kl_teacher_student', 'bert', true), line('t_squared_kl', 'bert'), ...(divided ? [mean()] : [])];
  const charts = [
    chart({...base, title: texts.divergences, y: log, lines: [line('kl_teacher_student', 'bert'),
      line('kl_student_teacher', 'distilbert'), line('js', 'albert')]}),
    chart({...base, title: texts.entropies, y: {range: [0, data.ln_vocab]}, lines: [line('entropy_teacher', 'bert'),
      line('entropy_student', 'distilbert')]}),
    chart({...base, title: texts.loss, y: log, lines: losses()}),
    chart({...base, title: texts.gradients, y: log, lines: [line('gradient', 'bert', true), line('t_squared_gradient', 'bert')]}),
  ];
  const box = make('input', {type: 'checkbox', id: 'dc-mean'});
  box.checked = divided;
  const said = make('p', {class: 'note', role: 'status'}, divided ? texts.mean_note : '');
  box.addEventListener('change', () => {
    divided = box.checked;
    said.textContent = divided ? texts.mean_note : '';
    charts[2].set({lines: losses()});
  });
  alive.set(root, charts);
  root.replaceChildren(make('p', {class: 'ds-sentence'}, data.overlap),
    make('div', {class: 'ch-pair'}, ...charts.map(one => one.node)),
    make('p', {class: 'ds-switch'}, box, make('label', {for: 'dc-mean'}, texts.mean_switch)), said,
    ...texts.why.map(sentence => make('p', {class: 'note'}, sentence)));
}

export function clear(root) {
  alive.delete(root);
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const names = Object.keys(data.series);
  return {columns: ['temperature', ...names], rows: data.temperatures.map((t, i) => [t, ...names.map(name => data.series[name][i])])};
}
