// Lines over one x axis with marks and labels.
import {svg} from './dom.js';

export const colour = key => `var(--${key}-fill, var(--ink))`;

// Lines over one x axis. lines: [{points: [[x, y]], colour, dash?, label?}], marks: [{x, y, colour, label}]
export function chart(node, {height = 260, x, y, lines, marks = [], ends = [], rules = [], label, width}) {
  const left = 66, right = 24, top = 14, bottom = 40;
  const scale = (axis, from, to) => {
    const f = axis.log ? Math.log10 : v => v;
    const low = f(axis.min), high = f(axis.max);
    return v => from + (to - from) * (f(Math.max(v, axis.log ? axis.min : v)) - low) / (high - low || 1);
  };
  const px = scale(x, left, width - right), py = scale(y, height - bottom, top);
  const picture = svg('svg', {width, height, role: 'img', 'aria-label': label, class: 'pt-chart'});
  y.ticks.forEach(v => picture.append(
    svg('line', {x1: left, x2: width - right, y1: py(v), y2: py(v), class: 'grid'}),
    svg('text', {x: left - 8, y: py(v) + 4, 'text-anchor': 'end'}, y.print(v))));
  let end = -100;
  x.ticks.forEach(v => {
    if (px(v) - end < 34) return;
    end = px(v);
    picture.append(svg('text', {x: end, y: height - bottom + 18, 'text-anchor': 'middle'}, x.print(v)));
  });
  picture.append(svg('text', {x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle', class: 'title'}, x.title));
  rules.forEach(r => picture.append(svg('line', {x1: px(r.x), x2: px(r.x), y1: top, y2: height - bottom, class: 'rule'})));
  lines.forEach(line => picture.append(svg('polyline', {
    points: line.points.map(([a, b]) => `${px(a).toFixed(1)},${py(b).toFixed(1)}`).join(' '),
    style: `stroke:${line.colour}`, 'stroke-dasharray': line.dash || 'none', class: 'line'})));
  ends.forEach(e => picture.append(
    svg('text', {x: width - right - 4, y: py(e.y) - 8, 'text-anchor': 'end', class: 'name'}, e.label)));
  marks.forEach(m => {
    picture.append(svg('circle', {cx: px(m.x), cy: py(m.y), r: m.r || 5, style: `fill:${m.colour}`, class: 'mark'}));
    if (!m.label) return;
    const flip = px(m.x) > left + 130;   // lines rise to the right: the free corner is the upper left
    picture.append(svg('text', {x: px(m.x) + (flip ? -10 : 10), y: py(m.y) - 9, 'text-anchor': flip ? 'end' : 'start', class: 'name'}, m.label));
  });
  node.replaceChildren(picture);
}
