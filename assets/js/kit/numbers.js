// Numbers as they travel, packed, and as they are printed.

/** @param {string} base64 */
export function bytes(base64) {
  const text = atob(base64),
    out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}
/** @param {string} base64 */
export const floats = base64 => new Float32Array(bytes(base64).buffer);

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';
/** @param {string} text */
const minus = text => text.replace('-', '−');
/** A power of ten: 7.0×10⁻⁴. @param {number} v @param {number} [decimals] */
export const power = (v, decimals = 1) => {
  const [digits, up] = v.toExponential(decimals).split('e');
  const raised = [...String(Math.abs(Number(up)))].map(d => RAISED[Number(d)]).join('');
  return `${minus(digits)}×10${Number(up) < 0 ? '⁻' : ''}${raised}`;
};
/**
 * With so many decimals and a true minus; what rounds to 0 has none.
 * @param {number} v
 * @param {number} decimals
 */
export const fixed = (v, decimals) => minus((Number(v.toFixed(decimals)) || 0).toFixed(decimals));

// A probability; a share with and without its decimal; a temperature; anything in three digits.
/** @param {number} p @param {number} decimals */
const inDecimals = (p, decimals) =>
  p >= 0.001 ? p.toFixed(decimals) : p > 1e-99 ? power(p, decimals - 2) : (0).toFixed(decimals);
/** @param {number} p */
export const number = p => inDecimals(p, 3); // of one argument: it is handed to map
/**
 * Probabilities beside each other, in the fewest decimals from 3 (or `least`) to 6 that keep
 * unequal ones unequal.
 * @param {number[]} values
 */
export const sideBySide = (values, least = 3) =>
  [3, 4, 5, 6]
    .filter(decimals => decimals >= least)
    .map(decimals => values.map(p => inDecimals(p, decimals)))
    .reduce((best, row) => (new Set(row).size > new Set(best).size ? row : best));
/** @param {number} p */
export const percent = p =>
  p > 0 && p < 0.0005 ? '< 0.1%' : p >= 0.9995 && p < 1 ? '> 99.9%' : `${(100 * p).toFixed(1)}%`;
/** Nats: three decimals, or a power of ten where these would be 0. @param {number} x */
export const nats = x =>
  Math.abs(x) < 5e-7 ? '0.000' : Math.abs(x) < 0.001 ? power(x) : digits(x, 3);
/** A cosine or a CKA. @param {number} x */
export const cosine = x => fixed(x, 3);
/** A quotient of two amounts: two decimals below 2, one from there on. @param {number} x */
export const quotient = x => (x > 0 && x < 0.01 ? power(x) : digits(x, x < 1.995 ? 2 : 1));
/** @param {number} p */
export const wholePercent = p => `${Math.round(p * 100)}%`;
/** @param {number} t */
export const shown = t => String(Number(t < 1 ? t.toFixed(3) : t.toFixed(2)));
/** @param {number | null} [v] */
export const brief = v => {
  if (v === null || v === undefined) return '–';
  const size = Math.abs(Number(v.toPrecision(3))); // as it is printed: 999.6 is 1,000
  if (size >= 1000) return Math.abs(v) < 1e6 ? exact(v) : power(v);
  return v === 0
    ? '0'
    : size < 0.001
      ? power(v)
      : minus(
          v
            .toPrecision(3)
            .replace(/(\.\d*?)0+$/, '$1')
            .replace(/\.$/, ''),
        );
};

/** Space between a number and its unit, at which no line breaks. */
export const unbreakable = '\u00a0';

// Counts: with separators, and in the unit that fits. analysis/digits.py has the same rules by the
// same names.
/** @param {number} n @param {number} d decimals */
export const digits = (n, d) =>
  minus(n.toLocaleString('en', {minimumFractionDigits: d, maximumFractionDigits: d}));
/** @param {number} n */
export const exact = n => minus(Math.round(n).toLocaleString('en'));
/**
 * A number of weights: exact below a million, two decimals below ten, then one.
 * @param {number} n
 */
export const weights = n => {
  const size = Math.abs(n);
  return size < 999999.5
    ? exact(n)
    : size >= 999.95e6
      ? `${digits(n / 1e9, 1)}${unbreakable}G`
      : `${digits(n / 1e6, size < 9.995e6 ? 2 : 1)}${unbreakable}M`;
};
/** An amount of memory: one decimal in MB, two in GB. @param {number} n in bytes */
export const memory = n =>
  n >= 999.95e6
    ? `${digits(n / 1e9, 2)}${unbreakable}GB`
    : `${digits(n / 1e6, n >= 0.95e6 ? 1 : 2)}${unbreakable}MB`;
/** Operations: two decimals below 10, one from there on. @param {number} x in GFLOP */
export const gflop = x => `${digits(x, x < 9.995 ? 2 : 1)}${unbreakable}GFLOP`;
