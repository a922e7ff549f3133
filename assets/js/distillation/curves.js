// Divergences, the soft loss and its gradient over temperature, from the lab's own logits.
import {make, say} from '../kit/dom.js';
import {figure, frame, readable, sayFailed} from '../kit/figure.js';
import {softMeasures} from '../kit/maths.js';
import {steps} from './rows.js';
import {temperature} from './temperature.js';

/** @typedef {import('./rows.js').Lab} Lab */
/** @typedef {Record<string, number>} Measures by the names of the lines */

const AT_ONCE = 6;
// decades: where teacher and student are sure of one word, both measures fall without end
const LOWEST = -6;
let divided = false; // kept while the page lives

/**
 * The charts of one hidden word, computed when they first come into view or by `whole`, in places
 * as high as they are; `mark` moves with the dial.
 * @param {Lab} data
 */
export function curves(data) {
  const texts = data.texts.curves,
    pair = make('div', {class: 'fg-pair'}, ...data.curves.map(spec => frame(spec).node));
  const box = make('input', {type: 'checkbox', id: 'dc-mean'}),
    status = make('p', {class: 'note', role: 'status'});
  box.checked = divided;
  const node = make(
    'section',
    {class: 'dc'},
    make('h3', {}, texts.title),
    make(
      'p',
      {},
      say(texts.overlap, Object.fromEntries([1, 5, 10].map(k => [k, shared(data, k)]))),
    ),
    pair,
    make(
      'details',
      {class: 'note'},
      make('summary', {}, texts.why),
      make('p', {}, texts.because),
      make('p', {class: 'ds-switch'}, box, make('label', {for: 'dc-mean'}, texts.mean_switch)),
      status,
    ),
  );
  /** @type {Promise<void> | null} */
  let drawn = null;
  /** @type {ReturnType<typeof draw> | null} */
  let charts = null;
  const compute = async () => {
    watch.disconnect();
    const series = await measured(data);
    if (!node.isConnected) return;
    charts = draw(data, series, status);
    pair.replaceChildren(...charts.nodes);
    node.append(charts.rows);
    charts.mark();
  };
  const whole = async () => {
    await (drawn ??= compute().catch(failure => {
      drawn = null;
      sayFailed(pair);
      throw failure;
    }));
    await charts?.whole();
  };
  const watch = new IntersectionObserver(
    seen => {
      if (seen.some(entry => entry.isIntersecting)) whole().catch(failure => reportError(failure));
    },
    {rootMargin: '200px'},
  );
  watch.observe(node);
  box.addEventListener('change', () => {
    divided = box.checked;
    charts?.mark();
  });
  return {node, whole, mark: () => charts?.mark()};
}

/** @param {Lab} data @param {number} t @returns {Measures} */
function measures({teacher, student}, t) {
  const soft = softMeasures(teacher.logits, student.logits, t),
    loss = t * t * soft.ab;
  return {
    ...soft,
    soft_loss: loss,
    soft_gradient: t * t * soft.gradient,
    mean: loss / teacher.logits.length,
  };
}

/** A few temperatures per frame: the dial stays free meanwhile. @param {Lab} data */
async function measured(data) {
  const series = [];
  for (const t of steps(data)) {
    if (series.length % AT_ONCE === 0)
      await new Promise(done => {
        setTimeout(done);
      });
    series.push(measures(data, t));
  }
  return series;
}

/** @param {Lab} data @param {Measures[]} series @param {HTMLElement} status */
function draw(data, series, status) {
  const texts = data.texts.curves,
    n = data.teacher.logits.length;
  const lines = data.curves.map(spec =>
    spec.data.slice(0, -1).map(trace => ({...trace, y: series.map(values => values[trace.meta])})),
  );
  /** @type {Record<string, any>[]} */
  const looks = data.curves.map(({layout}, i) => ({
    ...layout,
    yaxis: {...layout.yaxis, range: decades(lines[i].flatMap(trace => trace.y))},
  }));
  const plots = data.curves.map(spec => figure(spec, spec.layout.title.text));

  function mark() {
    const t = temperature(),
      here = measures(data, t);
    status.textContent = divided ? say(texts.mean_note, {n: n.toLocaleString('en')}) : '';
    plots.forEach((plot, i) => {
      const {data: traces} = data.curves[i],
        layout = looks[i],
        shown = lines[i].map(trace =>
          trace.meta === 'mean' ? {...trace, visible: divided} : trace,
        );
      const points = shown.filter(trace => trace.visible).map(trace => here[trace.meta]);
      plot.set({
        data: [...shown, {...traces.at(-1), x: points.map(() => t), y: points}],
        layout: {...layout, shapes: [{...layout.shapes[0], x0: t, x1: t}]},
      });
    });
  }

  const names = lines.flat().map(trace => trace.meta),
    rows = steps(data).map((t, i) => [t, ...names.map(name => series[i][name])]);
  return {
    nodes: plots.map(plot => plot.node),
    rows: readable({columns: ['T', ...names.map(name => texts.names[name])], rows}),
    mark,
    whole: () => Promise.all(plots.map(plot => plot.whole())),
  };
}

/** The ends of a logarithmic axis. @param {number[]} values */
export function decades(values) {
  const logs = values.filter(value => value > 0).map(Math.log10),
    margin = 0.1;
  return [Math.max(LOWEST, Math.min(0, ...logs)) - margin, Math.max(LOWEST + 1, ...logs) + margin];
}

/** @param {Lab} data @param {number} k */
const shared = ({teacher, student}, k) =>
  teacher.top.slice(0, k).filter(id => student.top.slice(0, k).includes(id)).length;
