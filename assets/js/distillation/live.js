// A student trained before the reader's eyes; finished runs stay in the page and can be laid over.
import {chart} from '../kit/chart.js';
import {make} from '../kit/dom.js';
import {number, shown} from '../kit/numbers.js';

const finished = [];   // kept while the page lives
const KEPT = 6;
let over = null, last = null, name = 1;

const key = data => JSON.stringify(data.settings);
const title = (data, texts) => texts.run.replace('{name}', data.name)
  .replace('{layers}', data.settings.layers).replace('{start}', texts.starts[data.settings.start])
  .replace('{t}', shown(data.settings.temperature)).replace('{steps}', data.reached)
  .replace('{weights}', [data.settings.ce, data.settings.mlm, data.settings.cos].map(shown).join(', '));

// A run's values at another run's steps: nothing is invented between or beyond its own points.
const at = (steps, own, values) => steps.map(step => {
  const i = own.indexOf(step);
  return i < 0 ? null : values[i];
});
const union = (a, b) => [...new Set([...a, ...b])].sort((x, y) => x - y);

function series(data, other, stepsOf, lines) {
  const xs = other ? union(data[stepsOf], other[stepsOf]) : data[stepsOf];
  const build = (run, dash) => lines.map(([label, pick, part]) => ({
    label: dash ? `${data.texts.earlier} ${run.name}` : label, part, dash, values: at(xs, run[stepsOf], pick(run))}));
  return {xs, series: [...build(data, false), ...(other ? build(other, true) : [])]};
}

function bars(view, data) {
  view.rows.replaceChildren(...data.words.map((word, i) => {
    const cell = (who, p) => {
      const bar = make('i', {class: 'ds-bar', 'data-model': who});
      bar.style.setProperty('--share', Math.min(1, p / Math.max(1e-9, ...data.teacher, ...data.student)));
      return bar;
    };
    return make('li', {class: 'ds-row'}, make('span', {class: 'ds-name'}, make('span', {class: 'ds-text'}, word)),
      make('span', {class: 'ds-track', 'aria-hidden': 'true'}, cell('bert', data.teacher[i]), cell('distilbert', data.student[i])),
      make('span', {class: 'ds-ps'}, make('span', {class: 'ds-p', 'data-model': 'bert'}, number(data.teacher[i])),
        make('span', {class: 'ds-p', 'data-model': 'distilbert'}, number(data.student[i]))));
  }));
}

function remember(data) {
  data.name = name++;
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
  view.loss.set(series(data, other, 'steps', [[texts.total, run => run.parts.loss, 'ce']]));
  view.parts.set(series(data, other, 'steps', ['ce', 'mlm', 'cos'].map(part => [texts.parts[part], run => run.parts[part], part])));
  view.agree.set(series(data, other, 'exams', [[texts.same, run => run.agreement.same_first, 'ce'],
    [texts.five, run => run.agreement.shared_five, 'mlm'], [texts.found, run => run.agreement.found, 'cos']]));
  view.share.textContent = texts.soft.replace('{t}', shown(data.settings.temperature));
  bars(view, data);
  chips(view);
}

function build(root, texts) {
  const empty = {xs: [], series: [], xName: texts.step};
  const view = {said: make('p', {class: 'ds-sentence', role: 'status'}), bar: make('progress', {'aria-label': texts.progress}),
    loss: chart({...empty, title: texts.loss_title}), parts: chart({...empty, title: texts.parts_title}),
    agree: chart({...empty, title: texts.agree_title, range: [0, 1]}), share: make('h3', {class: 'dv-title'}),
    rows: make('ol', {class: 'ds-list'}), chips: make('div', {class: 'chips dv-chips', role: 'group', 'aria-label': texts.lay_over}),
    earlier: make('p', {class: 'note'}, texts.lay_over)};
  const soft = make('section', {class: 'dv-soft'}, view.share,
    make('p', {class: 'ds-legend'}, ...[['bert', texts.teacher], ['distilbert', texts.student]].map(([model, label]) =>
      make('span', {class: 'model-name', 'data-model': model}, make('i', {class: 'ds-key'}), label))), view.rows);
  root.replaceChildren(view.said, view.bar, make('div', {class: 'dc-grid-of'}, view.agree.node, soft, view.loss.node, view.parts.node),
    view.earlier, view.chips);
  root.__view = view;
  return view;
}

document.addEventListener('explorer-live-stop', () => {
  const root = document.querySelector('[data-kind="distillation/live"]');
  if (!root || !root.__view || !last || last.done || !last.steps.length) return;
  last.done = true;
  last.sentence = last.texts.stopped.replace('{step}', last.reached);
  remember(last);
  paint(root.__view, last);
});

export function draw(root, data) {
  if (data.waiting) {
    root.__view = null;
    root.replaceChildren(make('p', {class: 'ds-sentence', role: 'status'}, data.waiting));
    return;
  }
  data.reached = data.steps[data.steps.length - 1] || 0;
  const again = last && last.done && data.done && key(last) === key(data) && last.reached === data.reached;
  if (again) data = last;   // the theme changed: the same run is drawn again
  else if (data.done) remember(data);
  data.name = data.name || name;
  last = data;
  if (over && !finished.includes(over)) over = null;
  paint(root.__view && root.__view.said.isConnected ? root.__view : build(root, data.texts), data);
}
