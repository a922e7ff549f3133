// The arithmetic of the pictures: plain functions of numbers, the same as Python's.

/** @param {number} x */
const xlogx = x => (x > 0 ? x * Math.log(x) : 0);

/**
 * softmax(logits / t); logSum is the log of what it was divided by, so that logits / t - logSum is
 * log p even where p has underflowed.
 * @param {ArrayLike<number>} logits
 * @param {number} [t]
 * @returns {{p: Float64Array, logSum: number}}
 */
export function softmax(logits, t = 1) {
  const p = new Float64Array(logits.length);
  let most = -Infinity,
    sum = 0;
  for (let i = 0; i < p.length; i++) most = Math.max(most, logits[i]);
  for (let i = 0; i < p.length; i++) sum += p[i] = Math.exp((logits[i] - most) / t);
  for (let i = 0; i < p.length; i++) p[i] /= sum;
  return {p, logSum: Math.log(sum) + most / t};
}

/**
 * Both Kullback-Leibler divergences, Jensen-Shannon and both entropies of two softened lists, in
 * nats.
 * @param {ArrayLike<number>} za @param {ArrayLike<number>} zb @param {number} t
 */
export function divergences(za, zb, t, a = softmax(za, t), b = softmax(zb, t)) {
  let ab = 0,
    ba = 0,
    js = 0,
    ha = 0,
    hb = 0;
  for (let i = 0; i < za.length; i++) {
    const p = a.p[i],
      q = b.p[i],
      logP = za[i] / t - a.logSum,
      logQ = zb[i] / t - b.logSum,
      m = (p + q) / 2;
    if (p > 0) {
      ab += p * (logP - logQ);
      ha -= p * logP;
      js += p * Math.log(p / m);
    }
    if (q > 0) {
      ba += q * (logQ - logP);
      hb -= q * logQ;
      js += q * Math.log(q / m);
    }
  }
  return {ab, ba, js: Math.max(0, js / 2), ha, hb};
}

/**
 * The divergences of two softened lists, and the length of the gradient of KL(a || b) by the logits
 * of b, |b - a| / t: it falls like 1/t^2 once t is large.
 * @param {ArrayLike<number>} za @param {ArrayLike<number>} zb @param {number} t
 */
export function softMeasures(za, zb, t) {
  const a = softmax(za, t),
    b = softmax(zb, t);
  let sum = 0;
  for (let i = 0; i < a.p.length; i++) sum += (b.p[i] - a.p[i]) ** 2;
  return {...divergences(za, zb, t, a, b), gradient: Math.sqrt(sum) / t};
}

/**
 * Jensen-Shannon divergence of two squares in nats, averaged over some of their rows.
 * @param {ArrayLike<number>} p
 * @param {ArrayLike<number>} q
 * @param {number} n
 * @param {number[]} rows
 */
export function rowsApart(p, q, n, rows) {
  let sum = 0;
  for (let r = 0; r < rows.length; r++) {
    for (let c = rows[r] * n, end = c + n; c < end; c++) sum += termOfJs(p[c], q[c]);
  }
  return Math.max(0, sum / (rows.length || 1));
}

/** What one pair of probabilities adds to Jensen-Shannon. @param {number} p @param {number} q */
export const termOfJs = (p, q) => (xlogx(p) + xlogx(q)) / 2 - xlogx((p + q) / 2);

/**
 * From pieces to words: sum over the looked-at pieces, mean over the looking ones.
 * @param {ArrayLike<number>} pieces
 * @param {number} s
 * @param {number[][]} groups pieces of each word
 */
export function betweenGroups(pieces, s, groups) {
  const n = groups.length,
    words = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (const q of groups[i]) for (const k of groups[j]) sum += pieces[q * s + k];
      words[i * n + j] = groups[i].length ? sum / groups[i].length : 0;
    }
  return words;
}

/**
 * For each row of a square the fewest cells whose sum reaches the mass, largest first.
 * @param {ArrayLike<number>} values
 * @param {number} n
 * @param {number} mass
 * @returns {[number, number, number][]}
 */
export function heaviest(values, n, mass) {
  /** @type {[number, number, number][]} */
  const cells = [];
  for (let q = 0; q < n; q++) {
    const keys = [...Array(n).keys()].sort((a, b) => values[q * n + b] - values[q * n + a]);
    const whole = keys.reduce((sum, k) => sum + values[q * n + k], 0);
    let sum = 0;
    for (const k of keys) {
      if (sum >= mass * whole - 1e-9 || values[q * n + k] <= 0) break;
      sum += values[q * n + k];
      cells.push([q, k, values[q * n + k]]);
    }
  }
  return cells;
}

/**
 * The place of each item when they are sorted by a number, smallest first, ties as they came.
 * @param {number[]} keys
 */
export function ranks(keys) {
  const out = new Array(keys.length);
  keys
    .map((_, i) => i)
    .sort((a, b) => keys[a] - keys[b] || a - b)
    .forEach((i, at) => {
      out[i] = at;
    });
  return out;
}

/**
 * Rows sorted by a number or a text; a row without a value comes last, either way.
 * @template R
 * @param {R[]} rows @param {(row: R) => any} value @param {boolean} down
 */
export function sorted(rows, value, down) {
  return [...rows].sort((a, b) => {
    const x = value(a),
      y = value(b);
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const order = typeof x === 'string' ? x.localeCompare(y) : x - y;
    return down ? -order : order;
  });
}
