// A student trained before the reader's eyes; finished runs stay in the page and can be laid over.
import {make, vary} from '../kit/dom.js';
import {figure, readable} from '../kit/figure.js';
import {number, shown as temperature} from '../kit/numbers.js';

export {whole} from '../kit/figure.js';

const finished = []; // kept while the page lives
const KEPT = 6;
let over = null,
  last = null,
  name = 1,
  shown = null; // laid over, the newest run, the next name, the view

const title = (data, texts) =>
  texts.run
    .replace('{name}', data.name)
    .replace('{layers}', data.settings.layers)
    .replace('{start}', texts.starts[data.settings.start])
    .replace('{t}', temperature(data.settings.temperature))
    .replace('{steps}', data.reached)
    .replace(
      '{weights}',
      [data.settings.ce, data.settings.mlm, data.settings.cos].map(temperature).join(', '),
    );

/** A run's chart, and over it an earlier run's, dotted. */
const laid = (own, other, {earlier}) => ({
  ...own,
  data: [
    ...own.data,
    ...(other?.figure.data ?? []).map(trace => ({
      ...trace,
      name: `${earlier} ${other.name}: ${trace.name}`,
      line: {...trace.line, dash: 'dot'},
    })),
  ],
});

function bars(view, data) {
  const {teacher, student} = data.keys;
  view.rows.replaceChildren(
    ...data.words.map((word, i) => {
      const cell = (who, p) => {
        const bar = make('i', {class: 'ds-bar', 'data-model': who});
        vary(bar, '--share', Math.min(1, p / Math.max(1e-9, ...data.teacher, ...data.student)));
        return bar;
      };
      return make(
        'li',
        {class: 'ds-row'},
        make('span', {class: 'ds-name'}, make('span', {class: 'ds-text'}, word)),
        make(
          'span',
          {class: 'ds-track', 'aria-hidden': 'true'},
          cell(teacher, data.teacher[i]),
          cell(student, data.student[i]),
        ),
        make(
          'span',
          {class: 'ds-ps'},
          make('span', {class: 'ds-p', 'data-model': teacher}, number(data.teacher[i])),
          make('span', {class: 'ds-p', 'data-model': student}, number(data.student[i])),
        ),
      );
    }),
  );
}

// A run that comes once more, or comes out the same once more, is the same run.
function remember(data) {
  const same = finished.findIndex(
    run =>
      JSON.stringify([run.settings, run.parts]) === JSON.stringify([data.settings, data.parts]),
  );
  data.name = same < 0 ? name++ : finished.splice(same, 1)[0].name;
  finished.unshift(data);
  finished.length = Math.min(finished.length, KEPT);
}

function chips(view) {
  const {texts} = last;
  view.chips.replaceChildren(
    ...finished
      .filter(run => run !== last)
      .map(run => {
        const chip = make(
          'button',
          {type: 'button', class: 'chip', 'aria-pressed': String(run === over)},
          title(run, texts),
        );
        chip.addEventListener('click', () => {
          over = run === over ? null : run;
          paint(view, last);
        });
        return chip;
      }),
  );
  view.earlier.hidden = !view.chips.children.length;
}

function paint(view, data) {
  const texts = data.texts,
    other = over === data ? null : over;
  view.said.textContent = data.sentence;
  view.bar.max = data.settings.steps;
  view.bar.value = data.reached;
  view.bar.hidden = data.done;
  view.plots.forEach((plot, i) =>
    plot.set(laid(data.figures[i], other && {name: other.name, figure: other.figures[i]}, texts)),
  );
  view.numbers.replaceChildren(readable(table(data)));
  view.share.textContent = texts.soft.replace('{t}', temperature(data.settings.temperature));
  bars(view, data);
  chips(view);
}

function build(root, {texts, figures, keys}) {
  const view = {
    said: make('p', {class: 'ds-sentence', role: 'status'}),
    bar: make('progress', {'aria-label': texts.progress}),
    plots: figures.map(spec => figure(spec, spec.layout.title.text)),
    share: make('h3', {class: 'dv-title'}),
    rows: make('ol', {class: 'ds-list'}),
    chips: make('div', {class: 'chips dv-chips', role: 'group', 'aria-label': texts.lay_over}),
    earlier: make('p', {class: 'note'}, texts.lay_over),
    numbers: make('div'),
  };
  const soft = make(
    'section',
    {class: 'dv-soft'},
    view.share,
    make(
      'p',
      {class: 'ds-legend'},
      ...[
        [keys.teacher, texts.teacher],
        [keys.student, texts.student],
      ].map(([model, label]) =>
        make(
          'span',
          {class: 'model-name', 'data-model': model},
          make('i', {class: 'ds-key'}),
          label,
        ),
      ),
    ),
    view.rows,
  );
  root.replaceChildren(
    view.bar,
    view.said,
    make(
      'div',
      {class: 'fg-pair'},
      view.plots[0].node,
      soft,
      ...view.plots.slice(1).map(plot => plot.node),
    ),
    view.earlier,
    view.chips,
    view.numbers,
  );
  return view;
}

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
  shown = shown || build(root, data);
  paint(shown, data);
}

/** @type {import('../gradio.js').Picture['clear']} */
export function clear(root) {
  shown = null;
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['said']} */
// its teacher is the bundled one, whatever the page shows
export const said = () => ({family: 'mini', models: null, device: 'cpu', dtype: 'float32'});

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const parts = Object.keys(data.parts || {}),
    exams = Object.keys(data.agreement || {});
  const trained = (data.steps || []).flatMap((step, i) =>
    parts.map(part => [step, part, data.parts[part][i]]),
  );
  const asked = (data.exams || []).flatMap((step, i) =>
    exams.map(exam => [step, exam, data.agreement[exam][i]]),
  );
  return {columns: ['step', 'measure', 'value'], rows: [...trained, ...asked]};
}
