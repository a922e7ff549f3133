import assert from 'node:assert/strict';
import {test} from 'node:test';

import {brief, bytes, exact, fixed, floats, number, percent, shown, sideBySide, weights, wholePercent} from '../../../assets/js/kit/numbers.js';

const pack = typed => Buffer.from(typed.buffer).toString('base64');

test('packed numbers come back as they went', () => {
  assert.deepEqual([...bytes(pack(Uint8Array.of(0, 1, 127, 255)))], [0, 1, 127, 255]);
  const values = Float32Array.of(0, -1.5, 3.25e-20, 1e30);
  assert.deepEqual(floats(pack(values)), values);
});

test('a probability has three decimals while it has three digits to show', () => {
  assert.deepEqual([1, .5, .001, .00099, 3e-20, 0].map(number), ['1.000', '0.500', '0.001', '9.9×10⁻⁴', '3.0×10⁻²⁰', '0.000']);
});

test('probabilities beside each other print alike only where six decimals cannot tell them apart', () => {
  assert.deepEqual(sideBySide([.4996, .5004, .25]), ['0.4996', '0.5004', '0.2500']);
  assert.deepEqual(sideBySide([.5, .5, 1.21e-5, 1.24e-5]), ['0.5000', '0.5000', '1.21×10⁻⁵', '1.24×10⁻⁵']);
  assert.deepEqual(sideBySide([.5, .50000001, .3]), ['0.500', '0.500', '0.300']);
  assert.deepEqual(sideBySide([]), []);
});

test('a share is 100% only when it is all', () => {
  assert.deepEqual([1, .9999, .9994, .5, .0005, .0004, 0].map(percent), ['100.0%', '> 99.9%', '99.9%', '50.0%', '0.1%', '< 0.1%', '0.0%']);
});

test('three digits of anything, without a tail of zeros', () => {
  assert.deepEqual([0, .5, 1.234567, 12, 100, 120, -20, 999.4, 12345, .00012, null, undefined].map(brief),
    ['0', '0.5', '1.23', '12', '100', '120', '−20', '999', '12,345', '1.2×10⁻⁴', '–', '–']);
});

test('a change has a true minus, and none where it rounds to nothing', () => {
  assert.deepEqual([-.0351, -.00001, .5].map(v => fixed(v, 4)), ['−0.0351', '0.0000', '0.5000']);
});

test('counts in the unit that fits', () => {
  assert.deepEqual([1536, 3938304, 109482240, 2.4e9].map(weights), ['1,536', '3.94\u00a0M', '109.5\u00a0M', '2.4\u00a0G']);
  assert.equal(weights(66362880), '66.4\u00a0M');
  assert.equal(exact(335141888), '335,141,888');
  assert.deepEqual([.05, 1, 2.5, 20].map(shown), ['0.05', '1', '2.5', '20']);
});

test('a whole per cent is rounded, and a temperature has three decimals below 1 and two above', () => {
  assert.equal(wholePercent(.256), '26%');
  assert.deepEqual([.12345, 2.3456, .0504].map(shown), ['0.123', '2.35', '0.05']);
});

test('where one way of printing ends and the next begins', () => {
  assert.deepEqual([999, 1000, .001, .0009, -1000, -.001, 2e6, -3e12].map(brief), ['999', '1,000', '0.001', '9.0×10⁻⁴', '−1,000', '−0.001', '2.0×10⁶', '−3.0×10¹²']);
  assert.deepEqual([999.4, 999.6, -999.7, 999600, .0009996].map(brief), ['999', '1,000', '−1,000', '999,600', '0.001']);
  assert.deepEqual([.9996, 1, 1.2345, 1.999].map(shown), ['1', '1', '1.23', '2']);
  assert.deepEqual([1e-99, 2e-99, .0014].map(number), ['0.000', '2.0×10⁻⁹⁹', '0.001']);
  assert.deepEqual([.9995, .99949, 1].map(percent), ['> 99.9%', '99.9%', '100.0%']);
  assert.deepEqual([99999, 999999, 1e6, 9.99e6, 1e7, 9.99e8, 1e9, -2e6, -50].map(weights),
    ['99,999', '999,999', '1.00\u00a0M', '9.99\u00a0M', '10.0\u00a0M', '999.0\u00a0M', '1.0\u00a0G', '−2.00\u00a0M', '−50']);
  assert.deepEqual([weights(1e6), exact(1.5), brief(1.2345), brief(12.04)], ['1.00\u00a0M', '2', '1.23', '12']);
});
