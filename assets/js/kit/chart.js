// One line chart over a shared x axis, with a legend that reads out one place.
import {make, svg as draw} from './dom.js';
import {brief, shown} from './numbers.js';

function steps(low, high, log, count) {
  if (log) {
    const out = [];
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) out.push(10 ** e);
    const every = Math.max(1, Math.ceil(out.length / count));
    return out.filter((_, i) => i % every === 0);
  }
  const raw = (high - low) / count || 1, unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find(m => m * unit >= raw), out = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) out.push(Number(v.toPrecision(10)));
  return out;
}

function extent(series, log, floor) {
  const all = series.flatMap(line => Array.from(line.values)).filter(v => v !== null && Number.isFinite(v) && (!log || v > floor));
  if (!all.length) return log ? [floor, 1] : [0, 1];
  const low = Math.min(...all), high = Math.max(...all);
  if (log) return [Math.max(low, floor), Math.max(high, low * 10, floor * 10)];
  return [Math.min(0, low), high > Math.min(0, low) ? high : low + 1];
}

// chart({title, xs, xTicks, xLog, yLog, series: [{label, values, model, dash}], mark, note}) -> {node, set, mark}
export function chart(options) {
  const figure = make('figure', {class: 'dc'});
  const title = make('figcaption', {}, options.title);
  const legend = make('div', {class: 'dc-legend'});
  const holder = make('div', {class: 'dc-plot'});
  figure.append(title, legend, holder);
  let state = options, at = options.mark ?? null, width = 0;
  const nearest = x => state.xs.reduce((best, v, i) => {
    const gap = state.xLog ? Math.abs(Math.log(v / x)) : Math.abs(v - x);
    return gap < best.gap ? {gap, i} : best;
  }, {gap: Infinity, i: 0}).i;

  function readout() {
    const i = at === null || !state.xs.length ? state.xs.length - 1 : nearest(at);
    legend.replaceChildren(...state.series.map(line => make('span', {class: 'dc-item', 'data-model': line.model, 'data-part': line.part},
      make('i', {class: line.dash ? 'dc-key dash' : 'dc-key'}), line.label, ' ',
      make('b', {}, brief(line.values[i])))));
    if (state.xs.length && state.xName) legend.append(make('span', {class: 'dc-at'}, `${state.xName} ${shown(state.xs[i])}`));
  }

  function render() {
    width = holder.clientWidth || width || 320;
    const height = state.height || 190, pad = {l: 46, r: 10, t: 8, b: 26};
    const floor = state.floor || 1e-6;
    const xs = state.xs, [y0, y1] = state.range || extent(state.series, state.yLog, floor);
    const x0 = state.xRange ? state.xRange[0] : xs[0] ?? 0, x1 = state.xRange ? state.xRange[1] : xs[xs.length - 1] ?? 1;
    const fx = state.xLog ? Math.log : v => v, fy = state.yLog ? v => Math.log(Math.max(v, floor)) : v => v;
    const px = x => pad.l + (width - pad.l - pad.r) * (fx(x) - fx(x0)) / (fx(x1) - fx(x0) || 1);
    const py = y => height - pad.b - (height - pad.t - pad.b) * (fy(y) - fy(y0)) / (fy(y1) - fy(y0) || 1);
    const svg = draw('svg', {width, height, role: 'img', 'aria-label': state.label || state.title});
    for (const y of steps(y0, y1, state.yLog, 4)) {
      svg.append(draw('line', {class: 'dc-grid', x1: pad.l, x2: width - pad.r, y1: py(y), y2: py(y)}),
        draw('text', {x: pad.l - 6, y: py(y) + 4, 'text-anchor': 'end'}, brief(y)));
    }
    for (const x of state.xTicks || steps(x0, x1, state.xLog, Math.max(2, Math.floor(width / 90)))) {
      svg.append(draw('text', {x: px(x), y: height - 8, 'text-anchor': 'middle'}, shown(x)));
    }
    for (const line of state.series) {
      let path = '', pen = 'M';
      line.values.forEach((v, i) => {
        if (v === null || !Number.isFinite(v)) { pen = 'M'; return; }
        path += `${pen}${px(xs[i]).toFixed(1)} ${py(Math.min(Math.max(v, y0), y1)).toFixed(1)}`;
        pen = 'L';
      });
      svg.append(draw('path', {d: path || 'M0 0', class: line.dash ? 'dc-line dash' : 'dc-line', 'data-model': line.model, 'data-part': line.part}));
    }
    const marker = draw('line', {class: 'dc-mark', y1: pad.t, y2: height - pad.b});
    svg.append(marker);
    holder.replaceChildren(svg);
    state.place = () => {
      const shownAt = at !== null && at >= x0 && at <= x1;
      marker.style.display = shownAt ? '' : 'none';
      if (shownAt) { marker.setAttribute('x1', px(at)); marker.setAttribute('x2', px(at)); }
    };
    state.place();
  }
  new ResizeObserver(() => { if (holder.clientWidth && holder.clientWidth !== width) render(); }).observe(holder);
  readout();
  return {
    node: figure,
    set(changes) { state = {...state, ...changes}; title.textContent = state.title; readout(); render(); },
    mark(x) { at = x; readout(); if (state.place) state.place(); },
  };
}
