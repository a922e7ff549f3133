// The exact test of two models on the same rows.

/**
 * McNemar's exact p, two-sided: of the rows that only one has right, so uneven a split or a more
 * uneven one, by chance.
 * @param {number} a rows that only the first has right
 * @param {number} b only the other
 */
export function exactP(a, b) {
  const n = a + b;
  let term = 0.5 ** n,
    tail = 0;
  for (let k = 0; k <= Math.min(a, b); k++) {
    tail += term;
    term *= (n - k) / (k + 1);
  }
  return Math.min(1, 2 * tail);
}
