// Score against size and score against time: every model, the reader's limits, and the front.
import {chart} from '../kit/chart.js';
import {make} from '../kit/dom.js';
import {brief} from '../kit/numbers.js';

const ends = (figure, unit = 1) => figure[1] === null || figure[1] === figure[2] ? null
  : /** @type {[number, number]} */ ([unit * figure[1], unit * figure[2]]);

/** Where each model stands, its score in per cent, with the intervals that are known. */
export const dotsOf = (models, name) => models.map(model => ({x: model[name][0], y: 100 * model.score[0], across: ends(model[name]),
  up: ends(model.score, 100), model: model.key, label: model.label, hollow: !model.fits}));

/** The corners of a line that climbs from each of the front's points to the next, straight on and then up. */
export const stairs = points => points.flatMap(([x, y], i) => i ? [[x, points[i - 1][1]], [x, y]] : [[x, y]]);

/** From where to where the scores' axis runs: what is there and some room, within 0 and 100. */
export function scores(values) {
  const low = Math.min(...values), high = Math.max(...values), room = Math.max(2, 0.25 * (high - low));
  return [Math.max(0, low - room), Math.min(100, high + room)];
}

function plot(data, name) {
  const known = data.models.filter(model => model[name] && model.score);
  if (!known.length) return make('p', {class: 'note tc-none', text: `${data.titles[name]}: ${data.titles.unmeasured.toLowerCase()}`});
  const limit = data.limits[name], least = data.limits.score === null ? null : 100 * data.limits.score;
  const dots = dotsOf(known, name);
  const front = stairs(data.fronts[name].map(key => dots.find(dot => dot.model === key)).map(dot => [dot.x, dot.y]));
  const widest = Math.max(...dots.flatMap(dot => [dot.x, ...(dot.across || [])]), limit || 0);
  return chart({title: `${data.titles.score}, ${data.titles[`against_${name}`]}`, height: 300, xs: front.map(([x]) => x), dots,
    x: {range: [0, 1.15 * widest], title: data.titles[name]},
    y: {range: scores([...dots.flatMap(dot => [dot.y, ...(dot.up || [])]), ...(least === null ? [] : [least])]), print: brief},
    rules: limit === null ? [] : [limit], levels: least === null ? [] : [least],
    lines: [{label: data.titles.front, values: front.map(([, y]) => y), dash: true}]}).node;
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  root.replaceChildren(make('div', {class: 'ch-pair'}, plot(data, 'megabytes'), plot(data, 'milliseconds')));
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const figure = value => value || [null, null, null];
  return {columns: ['model', ...['megabytes', 'milliseconds', 'score'].flatMap(name => [name, `low_${name}`, `high_${name}`]), 'keeps_to_the_limits'],
    rows: data.models.map(model => [model.label, ...figure(model.megabytes), ...figure(model.milliseconds), ...figure(model.score), model.fits])};
}
