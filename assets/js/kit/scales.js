// Where a number stands among round ones: the end of a scale of shares, a list's stops, a dial's.

/** The smallest round share that holds p. @param {number} p */
export const niceTop = p =>
  [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find(step => p <= step) || 1;

/** Where a logarithmic scale of shares begins. */
export const LOG_FROM = 1e-6;

/**
 * How long a bar of a share is, of a track that ends at 1.
 * @param {string} scale `log` or by its share
 * @returns {(p: number) => number}
 */
export const placeOf = scale =>
  scale === 'log' ? p => (p > LOG_FROM ? 1 - Math.log(p) / Math.log(LOG_FROM) : 0) : p => p;

/** The place of the stop nearest to a value. @param {number[]} stops @param {number} value */
export const nearest = (stops, value) =>
  stops.reduce(
    (best, stop, i) => (Math.abs(stop - value) < Math.abs(stops[best] - value) ? i : best),
    0,
  );

/**
 * A slider that moves by equal ratios and stops exactly at round numbers.
 * @param {number} low
 * @param {number} high
 */
export function dial(low, high, steps = 600) {
  const round = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].filter(
    v => v >= low && v <= high,
  );
  /** @param {number} v */
  const place = v => Math.round((steps * Math.log(v / low)) / Math.log(high / low));
  return {
    steps,
    round,
    place,
    /** @param {number | string} at */
    value: at =>
      round.find(stop => place(stop) === Number(at)) ||
      Number((low * (high / low) ** (Number(at) / steps)).toPrecision(3)),
  };
}
