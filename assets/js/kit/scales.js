// Where a number stands on an axis, and which numbers an axis names.

/** The smallest round share that holds p. @param {number} p */
export const niceTop = p => [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find(step => p <= step) || 1;

/** The place of the stop nearest to a value, by ratio where the axis is logarithmic. @param {number[]} stops */
export function nearest(stops, value, log = false) {
  const gap = stop => Math.abs(log ? Math.log(stop / value) : stop - value);
  return stops.reduce((best, stop, i) => gap(stop) < gap(stops[best]) ? i : best, 0);
}

/** A map from [low, high] to [from, to]; values below a logarithmic axis stand on its end. */
export function scale(low, high, from, to, log = false) {
  const f = log ? Math.log : v => v, start = f(low), span = f(high) - start || 1;
  return value => from + (to - from) * (f(log ? Math.max(value, low) : value) - start) / span;
}

/** About `count` round numbers from low to high: steps of 1, 2 or 5, on a logarithmic axis powers of ten. */
export function ticks(low, high, log, count) {
  return log ? powers(low, high, count) : steps(low, high, count);
}

function powers(low, high, count) {
  const parts = high / low < 100 ? [1, 2, 5] : [1], out = [];   // few decades: also what lies between
  for (let e = Math.floor(Math.log10(low) - 1e-9); 10 ** e <= high; e++) out.push(...parts.map(m => Number(`${m}e${e}`)));
  const inside = out.filter(v => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
  const every = Math.max(1, Math.ceil(inside.length / Math.max(count, parts.length * 2)));
  return inside.filter((_, i) => i % every === 0);
}

function steps(low, high, count) {
  const raw = (high - low) / count || 1, unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find(m => m * unit >= raw), out = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) out.push(Number(v.toPrecision(10)));
  return out;
}

/** From where to where an axis runs that shows these values; `floor` is the least a logarithmic one shows. */
export function extent(values, log, floor) {
  const all = values.filter(v => v !== null && Number.isFinite(v) && (!log || v > floor));
  if (!all.length) return log ? [floor, 1] : [0, 1];
  const low = Math.min(...all), high = Math.max(...all);
  if (log) return [Math.max(low, floor), Math.max(high, low * 2, floor * 2)];
  return [Math.min(0, low), high > Math.min(0, low) ? high : low + 1];
}

/** A slider that moves by equal ratios and stops exactly at round numbers. @param {number} low @param {number} high */
export function dial(low, high, steps = 600) {
  const round = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].filter(v => v >= low && v <= high);
  const place = v => Math.round(steps * Math.log(v / low) / Math.log(high / low));
  return {steps, round, place, value: at => round.find(stop => place(stop) === Number(at))
    || Number((low * (high / low) ** (at / steps)).toPrecision(3))};
}

/** `count` numbers from low to high by equal ratios, and those of `also`. @param {number[]} also */
export const geometric = (low, high, count, also = []) => [...new Set([...Array(count).keys()]
  .map(i => i === count - 1 ? high : low * (high / low) ** (i / (count - 1))).concat(also))].sort((a, b) => a - b);

/** The places of neighbours that all have two ends, where there are at least two. @param {(number[] | null)[]} band */
export function stretches(band) {
  /** @type {number[][]} */
  const found = [[]];
  band.forEach((ends, i) => {
    if (ends && ends.every(Number.isFinite)) found.at(-1).push(i);
    else found.push([]);
  });
  return found.filter(stretch => stretch.length > 1);
}
