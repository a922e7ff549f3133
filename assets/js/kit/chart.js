// The one way to draw a curve: lines over a shared x axis, with bands, dots, and a place read out.
import {make, svg} from './dom.js';
import {brief} from './numbers.js';
import {extent, nearest, scale, stretches, ticks} from './scales.js';

/**
 * A line's colour is its model's or its part's, from the style sheet, or a colour of its own. Where
 * a value is null the line is broken; a band is drawn between neighbours that both have two ends.
 * @typedef {object} Line
 * @property {string} label
 * @property {(number | null)[]} values one for each x
 * @property {string} [model]
 * @property {string} [part]
 * @property {string} [colour]
 * @property {string | boolean} [dash]
 * @property {'faint' | 'strong'} [weight]
 * @property {([number, number] | null)[]} [band]
 *
 * @typedef {object} Axis
 * @property {boolean} [log]
 * @property {number[]} [range] its two ends
 * @property {number[]} [ticks]
 * @property {(value: number) => string} [print]
 * @property {string} [title]
 *
 * @typedef {object} Dot
 * @property {number} x
 * @property {number} y
 * @property {string} [colour]
 * @property {string} [model]
 * @property {number} [r]
 * @property {string} [label]
 * @property {[number, number] | null} [across] an interval of x
 * @property {[number, number] | null} [up] an interval of y
 * @property {boolean} [hollow]
 *
 * @typedef {object} Options
 * @property {string} [title] stands above the chart
 * @property {string} [label] what it shows, for those who cannot see it; else the title
 * @property {number} [height]
 * @property {number[]} xs
 * @property {Axis} [x]
 * @property {Axis} [y]
 * @property {Line[]} lines
 * @property {Dot[]} [dots]
 * @property {number[]} [rules] upright lines
 * @property {number[]} [levels] level lines
 * @property {{y: number, label: string}[]} [ends] names at the right end of lines
 * @property {number | null} [mark] the place that is read out; else the last
 * @property {boolean} [dotted] every value gets a dot
 * @property {string} [readout] the name of x in the legend; without one there is no legend
 * @property {number} [floor] the least that a logarithmic y axis shows
 */

const RIGHT = 24, TOP = 14, LINE = 7;   // room at the right and above, the width of a letter
const owner = line => ({'data-model': line.model, 'data-part': line.part, style: line.colour && `--own: ${line.colour}`});

/** @param {Options} options */
export function chart(options) {
  let state = options, at = options.mark ?? null, width = 0, axes = null;
  const title = make('figcaption', {text: options.title}), legend = make('div', {class: 'ch-legend'});
  const holder = make('div', {class: 'ch-plot'}), marker = svg('line', {class: 'ch-mark'});
  const node = make('figure', {class: 'ch'}, options.title ? title : null, options.readout ? legend : null, holder);

  let pointed = null;   // the place under the pointer is read out instead
  function place() {
    const here = pointed ?? at, seen = axes && here !== null && here >= axes.x0 && here <= axes.x1;
    marker.style.display = seen ? '' : 'none';
    if (seen) for (const end of ['x1', 'x2']) marker.setAttribute(end, String(axes.px(here)));
    legend.replaceChildren(...readout(state, here));
  }

  function point(event) {
    pointed = event && axes ? state.xs[nearest(state.xs.map(axes.px), event.offsetX)] : null;
    place();
  }

  function render() {
    width = holder.clientWidth || width || 320;
    axes = axesOf(state, width);
    for (const [name, value] of Object.entries({y1: TOP, y2: axes.bottom})) marker.setAttribute(name, String(value));
    place();
    holder.replaceChildren(svg('svg', {width, height: axes.height, role: 'img', 'aria-label': state.label || state.title},
      ...grid(state, axes), ...state.lines.flatMap(line => [...bands(line, state.xs, axes), curve(line, state.xs, axes),
        ...(state.dotted ? points(line, state.xs, axes) : [])]),
      marker, ...dots(state, axes)));
  }

  new ResizeObserver(() => { if (holder.clientWidth && holder.clientWidth !== width) render(); }).observe(holder);
  place();
  if (options.readout) {
    holder.addEventListener('pointermove', point);
    holder.addEventListener('pointerleave', () => point(null));
  }
  return {
    node,
    /** @param {Partial<Options>} changes */
    set(changes) {
      state = {...state, ...changes};
      title.textContent = state.title;
      render();
    },
    mark(x) { at = x; place(); },
  };
}

/** @param {Options} state @param {number | null} at */
function readout({xs, lines, x = {}, readout: name}, at) {
  const i = at === null ? xs.length - 1 : nearest(xs, at, x.log);
  const items = lines.map(line => make('span', {class: 'ch-item', ...owner(line)},
    make('i', {class: line.dash ? 'ch-key dash' : 'ch-key'}), line.label, ' ', make('b', {}, brief(line.values[i]))));
  return xs.length ? [...items, make('span', {class: 'ch-at'}, `${name} ${(x.print || brief)(xs[i])}`)] : items;
}

/** @param {Options} state @param {number} width */
export function axesOf({xs, lines, x = {}, y = {}, levels = [], floor = 1e-6, height = 190}, width) {
  const [x0, x1] = x.range || [xs[0] ?? 0, xs.at(-1) ?? 1];
  const ends = lines.flatMap(line => (line.band || []).filter(Boolean).flat());
  const [y0, y1] = y.range || extent([...lines.flatMap(line => Array.from(line.values)), ...ends, ...levels], y.log, floor);
  const yTicks = y.ticks || ticks(y0, y1, y.log, 4), print = y.print || brief;
  const left = 14 + LINE * Math.max(3, ...yTicks.map(v => print(v).length));
  const bottom = height - (x.title ? 42 : 26);
  const xTicks = x.ticks || ticks(x0, x1, x.log, Math.max(2, Math.floor(width / 90)));
  const py = scale(y0, y1, bottom, TOP, y.log);
  return {x0, x1, height, width, left, bottom, xTicks, yTicks, printX: x.print || brief, printY: print,
    px: scale(x0, x1, left, width - RIGHT, x.log), py: v => py(Math.min(Math.max(v, y0), y1))};
}

/** @param {Options} state @param {ReturnType<typeof axesOf>} axes */
function grid({x = {}, rules = [], levels = [], ends = []}, {width, height, left, bottom, xTicks, yTicks, printX, printY, px, py}) {
  const right = width - RIGHT, parts = [];
  for (const v of yTicks) {
    parts.push(svg('line', {class: 'ch-grid', x1: left, x2: right, y1: py(v), y2: py(v)}),
      svg('text', {x: left - 8, y: py(v) + 4, 'text-anchor': 'end'}, printY(v)));
  }
  let end = -Infinity;
  for (const v of xTicks) {
    const text = printX(v), half = LINE * text.length / 2;
    if (px(v) - half < end + 6) continue;   // no room for its name
    end = px(v) + half;
    parts.push(svg('text', {x: px(v), y: bottom + 18, 'text-anchor': 'middle'}, text));
  }
  if (x.title) parts.push(svg('text', {class: 'ch-title', x: (left + right) / 2, y: height - 4, 'text-anchor': 'middle'}, x.title));
  for (const v of rules) parts.push(svg('line', {class: 'ch-rule', x1: px(v), x2: px(v), y1: TOP, y2: bottom}));
  for (const v of levels) parts.push(svg('line', {class: 'ch-level', x1: left, x2: right, y1: py(v), y2: py(v)}));
  for (const e of ends) parts.push(svg('text', {class: 'ch-name', x: right - 4, y: py(e.y) - 8, 'text-anchor': 'end'}, e.label));
  return parts;
}

/** @param {Line} line @param {number[]} xs @param {ReturnType<typeof axesOf>} axes */
function curve(line, xs, {px, py}) {
  let path = '', pen = 'M';
  line.values.forEach((v, i) => {
    if (v === null || !Number.isFinite(v)) { pen = 'M'; return; }
    path += `${pen}${px(xs[i]).toFixed(1)} ${py(v).toFixed(1)}`;
    pen = 'L';
  });
  const dash = line.dash === true ? '2 4' : line.dash;
  return svg('path', {d: path || 'M0 0', class: `ch-line ${line.weight || ''}`, 'stroke-dasharray': dash, ...owner(line)});
}

/** @param {Line} line @param {number[]} xs @param {ReturnType<typeof axesOf>} axes */
function bands(line, xs, {px, py}) {
  return stretches(line.band || []).map(stretch => {
    const edge = (side, i) => `${px(xs[i]).toFixed(1)} ${py(line.band[i][side]).toFixed(1)}`;
    const around = [...stretch.map(i => edge(1, i)), ...stretch.toReversed().map(i => edge(0, i))];
    return svg('path', {class: 'ch-band', d: `M${around.join('L')}Z`, ...owner(line)});
  });
}

/** @param {Line} line @param {number[]} xs @param {ReturnType<typeof axesOf>} axes */
const points = (line, xs, {px, py}) => line.values.map((v, i) =>
  Number.isFinite(v) && svg('circle', {class: 'ch-dot', cx: px(xs[i]), cy: py(v), r: 3.5, ...owner(line)}));

/** @param {Options} state @param {ReturnType<typeof axesOf>} axes */
function dots({dots: all = []}, {px, py, left}) {
  return all.flatMap(dot => {
    const flip = px(dot.x) > left + 130;   // lines rise to the right: the free corner is the upper left
    const whisker = (x1, x2, y1, y2) => svg('line', {class: 'ch-whisker', x1: px(x1), x2: px(x2), y1: py(y1), y2: py(y2), ...owner(dot)});
    return [dot.across && whisker(...dot.across, dot.y, dot.y), dot.up && whisker(dot.x, dot.x, ...dot.up),
      svg('circle', {class: dot.hollow ? 'ch-dot hollow' : 'ch-dot', cx: px(dot.x), cy: py(dot.y), r: dot.r || 5, ...owner(dot)}),
      dot.label && svg('text', {class: 'ch-name', x: px(dot.x) + (flip ? -10 : 10), y: py(dot.y) - 9,
        'text-anchor': flip ? 'end' : 'start'}, dot.label)];
  });
}
