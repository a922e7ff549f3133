// A student trained before the reader's eyes; finished runs stay in the page and can be laid over.
import {make, vary} from '../kit/dom.js';
import {figure, readable} from '../kit/figure.js';
import {number, shown as temperature} from '../kit/numbers.js';

export {whole} from '../kit/figure.js';

/** @typedef {import('../data').LiveData} LiveData */
/** @typedef {import('../data').WaitingData} WaitingData */
/** @typedef {import('../data').Chart} Chart */
/** @typedef {Record<string, any>} Texts */

/**
 * A run with the number that names it, and the step that it has reached.
 * @typedef {LiveData & {name: number, reached: number}} Run
 */

/** @type {Run[]} */
const finished = []; // kept while the page lives
const KEPT = 6;
/** The run that is laid over the newest. @type {Run | null} */
let over = null;
/** What is on the page. @type {ReturnType<typeof build> | null} */
let shown = null;
let nextName = 1;

/** @param {Run} run @param {Texts} texts */
const title = ({name, reached, settings}, texts) =>
  texts.run
    .replace('{name}', name)
    .replace('{layers}', settings.layers)
    .replace('{start}', texts.starts[settings.start])
    .replace('{t}', temperature(settings.temperature))
    .replace('{steps}', reached)
    .replace('{weights}', [settings.ce, settings.mlm, settings.cos].map(temperature).join(', '));

/**
 * A run's chart, and over it an earlier run's, dotted.
 * @param {Run} run
 * @param {Run | null} other
 * @param {number} i which chart
 * @returns {Chart}
 */
const laid = ({figures, texts}, other, i) => ({
  ...figures[i],
  data: [
    ...figures[i].data,
    ...(other?.figures[i].data ?? []).map(trace => ({
      ...trace,
      name: `${texts.earlier} ${other?.name}: ${trace.name}`,
      line: {...trace.line, dash: 'dot'},
    })),
  ],
});

/** @param {ReturnType<typeof build>} view @param {Run} data */
function bars(view, data) {
  const {teacher, student} = data.keys;
  view.rows.replaceChildren(
    ...data.words.map((word, i) => {
      /** @param {string} model @param {number} p */
      const cell = (model, p) => {
        const bar = make('i', {class: 'ds-bar', 'data-model': model});
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

/**
 * A run with its name, and kept once it is over. One that comes once more, or comes out the same
 * once more, is the same run.
 * @param {LiveData} data
 * @returns {Run}
 */
function named(data) {
  const reached = data.steps.at(-1) ?? 0;
  if (!data.done) return {...data, reached, name: nextName};
  const same = finished.findIndex(
    run =>
      JSON.stringify([run.settings, run.parts]) === JSON.stringify([data.settings, data.parts]),
  );
  const name = same < 0 ? nextName++ : finished.splice(same, 1)[0].name,
    run = {...data, reached, name};
  finished.unshift(run);
  finished.length = Math.min(finished.length, KEPT);
  return run;
}

/** @param {ReturnType<typeof build>} view @param {Run} newest */
function chips(view, newest) {
  view.chips.replaceChildren(
    ...finished
      .filter(run => run !== newest)
      .map(run => {
        const chip = make(
          'button',
          {type: 'button', class: 'chip', 'aria-pressed': String(run === over)},
          title(run, newest.texts),
        );
        chip.addEventListener('click', () => {
          over = run === over ? null : run;
          paint(view, newest);
        });
        return chip;
      }),
  );
  view.earlier.hidden = !view.chips.children.length;
}

/** @param {ReturnType<typeof build>} view @param {Run} data */
function paint(view, data) {
  const texts = data.texts,
    other = over === data ? null : over;
  view.sentence.textContent = data.sentence;
  view.bar.max = data.settings.steps;
  view.bar.value = data.reached;
  view.bar.hidden = data.done;
  view.plots.forEach((plot, i) => plot.set(laid(data, other, i)));
  view.numbers.replaceChildren(readable(table(data)));
  view.share.textContent = texts.soft.replace('{t}', temperature(data.settings.temperature));
  bars(view, data);
  chips(view, data);
}

/** @param {HTMLElement} root @param {LiveData} data */
function build(root, {texts, figures, keys}) {
  const view = {
    sentence: make('p', {class: 'ds-sentence', role: 'status'}),
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
    view.sentence,
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
export function show(root, /** @type {LiveData | WaitingData} */ data) {
  if ('waiting' in data) {
    clear(root);
    root.append(make('p', {class: 'ds-sentence', role: 'status'}, data.waiting));
    return;
  }
  const run = named(data);
  if (over && !finished.includes(over)) over = null;
  shown ??= build(root, data);
  paint(shown, run);
}

/** @type {NonNullable<import('../gradio.js').Picture['clear']>} */
export function clear(root) {
  shown = null;
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['header']} */
// its teacher is the bundled one, whatever the page shows
export const header = () => ({family: 'mini', models: null, device: 'cpu', dtype: 'float32'});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {LiveData | WaitingData} */ data) {
  const columns = ['step', 'measure', 'value'];
  if ('waiting' in data) return {columns, rows: []};
  /** @param {number[]} steps @param {Record<string, number[]>} measures */
  const rowsOf = (steps, measures) =>
    steps.flatMap((step, i) =>
      Object.entries(measures).map(([name, values]) => [step, name, values[i]]),
    );
  return {
    columns,
    rows: [...rowsOf(data.steps, data.parts), ...rowsOf(data.exams, data.agreement)],
  };
}
