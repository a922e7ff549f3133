// Divergences, entropies, the soft loss and its gradient over temperature, from the lab's own logits.
import {chart} from '../kit/chart.js';
import {make, say} from '../kit/dom.js';
import {softMeasures} from '../kit/maths.js';
import {shown} from '../kit/numbers.js';
import {geometric} from '../kit/scales.js';
import {temperature} from './temperature.js';

const TICKS = [0.05, 0.2, 0.5, 1, 2, 5, 20], AT_ONCE = 6;
// A measure between two models wears the colour of neither.
const FORWARD = {part: 'ce'}, BACKWARD = {part: 'reverse'}, INK = {colour: 'var(--ink)'};
let divided = false;   // kept while the page lives

const frame = () => new Promise(done => { requestAnimationFrame(done); });

/** The charts of one hidden word, computed when they first come into view or by `whole`; `mark` moves with the dial. */
export function curves(data) {
  const node = make('section', {class: 'dc'}, make('h3', {}, data.texts.curves.title));
  /** @type {Promise<void> | null} */
  let drawn = null;
  let charts = [];
  const compute = async () => {
    watch.disconnect();
    const found = await measured(data);
    if (!node.isConnected) return;
    charts = draw(node, data, found);
    await frame();   // a chart has its curves once its width is known: after the layout of this frame
    await frame();
  };
  const whole = () => drawn ??= compute();
  const watch = new IntersectionObserver(seen => { if (seen.some(one => one.isIntersecting)) whole(); }, {rootMargin: '200px'});
  watch.observe(node);
  return {node, whole, mark: t => charts.forEach(one => one.mark(t))};
}

// A few temperatures per frame: the dial stays free meanwhile.
async function measured(data) {
  const [low, high] = data.temperatures, ts = geometric(low, high, 81, [1, 2]), found = [];
  for (const t of ts) {
    if (found.length % AT_ONCE === 0) await new Promise(done => { setTimeout(done); });
    const one = softMeasures(data.teacher.logits, data.student.logits, t);
    found.push({...one, soft_loss: t * t * one.ab, soft_gradient: t * t * one.gradient});
  }
  return {ts, of: key => found.map(one => one[key])};
}

function draw(node, data, {ts, of}) {
  const texts = data.texts.curves, n = data.teacher.logits.length;
  const base = {xs: ts, x: {log: true, ticks: TICKS, print: shown}, readout: 'T =', mark: temperature()}, log = {log: true};
  const line = (key, who, dash) => ({label: texts.names[key], values: of(key), dash, ...who});
  const mean = () => ({label: texts.names.mean, values: of('soft_loss').map(v => v / n), ...INK});
  const losses = () => [line('ab', FORWARD, true), line('soft_loss', FORWARD), ...(divided ? [mean()] : [])];
  const charts = [
    chart({...base, title: texts.divergences, y: log, lines: [line('ab', FORWARD), line('ba', BACKWARD), line('js', INK)]}),
    chart({...base, title: texts.entropies, y: {range: [0, Math.log(n)]}, lines: [line('ha', {model: 'bert'}), line('hb', {model: 'distilbert'})]}),
    chart({...base, title: texts.loss, y: log, lines: losses()}),
    chart({...base, title: texts.gradients, y: log, lines: [line('gradient', FORWARD, true), line('soft_gradient', FORWARD)]}),
  ];
  const box = make('input', {type: 'checkbox', id: 'dc-mean'}), said = make('p', {class: 'note', role: 'status'});
  const note = () => { said.textContent = divided ? say(texts.mean_note, {n: n.toLocaleString('en')}) : ''; };
  box.checked = divided;
  box.addEventListener('change', () => {
    divided = box.checked;
    note();
    charts[2].set({lines: losses()});
  });
  note();
  node.append(make('p', {}, say(texts.overlap, Object.fromEntries([1, 5, 10].map(k => [k, shared(data, k)])))),
    make('div', {class: 'ch-pair'}, ...charts.map(one => one.node)),
    make('p', {class: 'ds-switch'}, box, make('label', {for: 'dc-mean'}, texts.mean_switch)), said,
    make('p', {class: 'note'}, texts.why));
  return charts;
}

const shared = ({teacher, student}, k) => teacher.top.slice(0, k).filter(id => student.top.slice(0, k).includes(id)).length;
