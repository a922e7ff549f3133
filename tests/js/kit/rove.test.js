import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place, press} from '../dom.js';

const {rove} = await import('../../../assets/js/kit/rove.js');

test('a row is one stop of the tab key, and the arrows move in it', () => {
  const row = place();
  row.innerHTML = '<button></button><i></i><button></button><button></button>';
  rove(row);
  const buttons = [...row.querySelectorAll('button')], stops = () => buttons.map(one => one.tabIndex);
  assert.deepEqual(stops(), [0, -1, -1]);
  buttons[0].focus();
  for (const [key, at] of [['ArrowRight', 1], ['End', 2], ['ArrowRight', 0], ['ArrowLeft', 2], ['Home', 0]]) {
    press(document.activeElement, key);
    assert.equal(document.activeElement, buttons[at], key);
    assert.equal(stops()[at], 0);
    assert.equal(stops().filter(stop => stop === 0).length, 1);
  }
  press(buttons[0], 'x');
  assert.equal(document.activeElement, buttons[0]);
  rove(place());
});
