// The chart library is requested once, as soon as a fold with a chart is open.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place} from '../dom.js';

const {near} = await import('../../../assets/js/kit/figure.js');

const fetched = [];
globalThis.fetch = address => { fetched.push(String(address).split('/').pop()); return new Promise(() => {}); };
/** A chart's element inside a container, visible or not. */
function at(inside, rects) {
  const root = place();
  root.innerHTML = `<section class="${inside}"><p></p></section>`;
  const node = root.querySelector('p');
  node.getClientRects = () => /** @type {any} */ ({length: rects});
  near(node);
  return fetched.length;
}

test('where a fold with a chart is opened the library is asked for; elsewhere, or out of sight, it is not', () => {
  assert.deepEqual([at('tab', 1), at('fold', 0), at('fold', 1), at('fold', 1)], [0, 0, 1, 1]);
  assert.deepEqual(fetched, ['templates.json']);
  assert.equal(document.head.querySelectorAll('script[src$="plotly.min.js"]').length, 1);
});
