import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place} from '../dom.js';

const {onDoor, showFamily, takeOver} = await import('../../../assets/js/page/family.js');

function drawing() {
  const root = place();
  root.innerHTML = '<details><summary></summary></details>';
  document.documentElement.classList.add('family-folded');
  takeOver(root);
  return root.querySelector('details');
}

test('the drawing is open until it is folded, then it stays as it was left', () => {
  const details = drawing(), left = isOpen => { details.open = isOpen; details.dispatchEvent(new Event('toggle')); };
  assert.equal(details.open, true);
  assert.equal(document.documentElement.classList.contains('family-folded'), false);
  left(false);
  assert.equal(localStorage.getItem('explorer-family'), '"folded"');
  assert.equal(drawing().open, false);
  left(true);
  assert.equal(localStorage.getItem('explorer-family'), '"open"');
  assert.equal(drawing().open, true);
  takeOver(place());
});

test('only the family in use is seen', () => {
  place().innerHTML = '<div id="family"><i data-family="mini"></i><i data-family="base" hidden></i></div>';
  showFamily('base');
  assert.deepEqual([...document.querySelectorAll('#family i')].map(node => node.hasAttribute('hidden')), [true, false]);
});

test('a door opens its tab', () => {
  const opened = [], root = place();
  root.innerHTML = '<b class="door" data-tab="depth"><i></i></b><b class="door"></b><u></u>';
  onDoor(tab => opened.push(tab));
  for (const node of root.querySelectorAll('i, .door, u')) click(node);
  assert.deepEqual(opened, ['depth', 'depth']);
});
