// A student trained before the reader's eyes; finished runs stay in the page and can be laid over.
import {chart} from '../kit/chart.js';
import {make, vary} from '../kit/dom.js';
import {number, shown as temperature} from '../kit/numbers.js';

const finished = [];   // kept while the page lives
const KEPT = 6;
let over = null, last = null, name = 1, shown = null;   // laid over, the newest run, the next name, the view

const title = (data, texts) => texts.run.replace('{name}', data.name)
  .replace('{layers}', data.settings.layers).replace('{start}', texts.starts[data.settings.start])
  .replace('{t}', temperature(data.settings.temperature)).replace('{steps}', data.reached)
  .replace('{weights}', [data.settings.ce, data.settings.mlm, data.settings.cos].map(temperature).join(', '));

// A run's values at another run's steps: nothing is invented between or beyond its own points.
const at = (steps, own, values) => steps.map(step => {
  const i = own.indexOf(step);
  return i < 0 ? null : values[i];
});
const union = (a, b) => [...new Set([...a, ...b])].sort((x, y) => x - y);

function linesOf(data, other, stepsOf, lines) {
  const xs = other ? union(data[stepsOf], other[stepsOf]) : data[stepsOf];
  const build = (run, dash) => lines.map(([label, pick, part]) => ({
    label: dash ? `${data.texts.earlier} ${run.name}` : label, part, dash, values: at(xs, run[stepsOf], pick(run))}));
  return {xs, lines: [...build(data, false), ...(other ? build(other, true) : [])]};
}

function bars(view, data) {
  view.rows.replaceChildren(...data.words.map((word, i) => {
    const cell = (who, p) => {
      const bar = make('i', {class: 'ds-bar', 'data-model': who});
      vary(bar, '--share', Math.min(1, p / Math.max(1e-9, ...data.teacher, ...data.student)));
      return bar;
    };
    return make('li', {class: 'ds-row'}, make('span', {class: 'ds-name'}, make('span', {class: 'ds-text'}, word)),
      make('span', {class: 'ds-track', 'aria-hidden': 'true'}, cell('bert', data.teacher[i]), cell('distilbert', data.student[i])),
      make('span', {class: 'ds-ps'}, make('span', {class: 'ds-p', 'data-model': 'bert'}, number(data.teacher[i])),
        make('span', {class: 'ds-p', 'data-model': 'distilbert'}, number(data.student[i]))));
  }));
}

// A run that comes once more, or comes out the same once more, is the same run.
function remember(data) {
  const same = finished.findIndex(run => JSON.stringify([run.settings, run.parts]) === JSON.stringify([data.settings, data.parts]));
  data.name = same < 0 ? name++ : finished.splice(same, 1)[0].name;
  finished.unshift(data);
  finished.length = Math.min(finished.length, KEPT);
}

function chips(view) {
  const {texts} = last;
  view.chips.replaceChildren(...finished.filter(run => run !== last).map(run => {
    const chip = make('button', {type: 'button', class: 'chip', 'aria-pressed': String(run === over)}, title(run, texts));
    chip.addEventListener('click', () => { over = run === over ? null : run; paint(view, last); });
    return chip;
  }));
  view.earlier.hidden = !view.chips.children.length;
}

function paint(view, data) {
  const texts = data.texts, other = over === data ? null : over;
  view.said.textContent = data.sentence;
  view.bar.max = data.settings.steps;
  view.bar.value = data.reached;
  view.bar.hidden = data.done;
  view.loss.set(linesOf(data, other, 'steps', [[texts.total, run => run.parts.loss, 'ce']]));
  view.parts.set(linesOf(data, other, 'steps', ['ce', 'mlm', 'cos'].map(part => [texts.parts[part], run => run.parts[part], part])));
  view.agree.set(linesOf(data, other, 'exams', [[texts.same, run => run.agreement.same_first, 'ce'],
    [texts.five, run => run.agreement.shared_five, 'mlm'], [texts.found, run => run.agreement.found, 'cos']]));
  view.share.textContent = texts.soft.replace('{t}', temperature(data.settings.temperature));
  bars(view, data);
  chips(view);
}

function build(root, texts) {
  const empty = {xs: [], lines: [], readout: texts.step};
  const view = {said: make('p', {class: 'ds-sentence', role: 'status'}), bar: make('progress', {'aria-label': texts.progress}),
    loss: chart({...empty, title: texts.loss_title}), parts: chart({...empty, title: texts.parts_title}),
    agree: chart({...empty, title: texts.agree_title, y: {range: [0, 1]}}), share: make('h3', {class: 'dv-title'}),
    rows: make('ol', {class: 'ds-list'}), chips: make('div', {class: 'chips dv-chips', role: 'group', 'aria-label': texts.lay_over}),
    earlier: make('p', {class: 'note'}, texts.lay_over)};
  const soft = make('section', {class: 'dv-soft'}, view.share,
    make('p', {class: 'ds-legend'}, ...[['bert', texts.teacher], ['distilbert', texts.student]].map(([model, label]) =>
      make('span', {class: 'model-name', 'data-model': model}, make('i', {class: 'ds-key'}), label))), view.rows);
  root.replaceChildren(view.said, view.bar, make('div', {class: 'ch-pair'}, view.agree.node, soft, view.loss.node, view.parts.node),
    view.earlier, view.chips);
  return view;
}

document.addEventListener('explorer-live-stop', () => {
  if (!shown || !last || last.done || !last.steps.length) return;
  last.done = true;
  last.sentence = last.texts.stopped.replace('{step}', last.reached);
  remember(last);
  paint(shown, last);
});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  if (data.waiting) {
    clear(root);
    root.append(make('p', {class: 'ds-sentence', role: 'status'}, data.waiting));
    return;
  }
  data.reached = data.steps.at(-1) || 0;
  if (data.done) remember(data);
  data.name = data.name || name;
  last = data;
  if (over && !finished.includes(over)) over = null;
  shown = shown || build(root, data.texts);
  paint(shown, data);
}

/** @type {import('../gradio.js').Picture['clear']} */
export function clear(root) {
  shown = null;
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const parts = Object.keys(data.parts || {}), exams = Object.keys(data.agreement || {});
  const trained = (data.steps || []).flatMap((step, i) => parts.map(part => [step, part, data.parts[part][i]]));
  const asked = (data.exams || []).flatMap((step, i) => exams.map(exam => [step, exam, data.agreement[exam][i]]));
  return {columns: ['step', 'measure', 'value'], rows: [...trained, ...asked]};
}
