// A reload restores every open fold, a link opens the fold that it names.
import assert from 'node:assert/strict';
import {mock, test} from 'node:test';

import {place} from '../dom.js';
import {begun} from './stage.js';

mock.timers.enable({apis: ['setTimeout']});
const pass = ms => { for (let i = 0; i < ms; i += 10) mock.timers.tick(10); };   // ticks in steps, so that timers started by timers fire too
document.defaultView.Element.prototype.getClientRects = () => /** @type {any} */ ([{}]);
performance.getEntriesByType = () => /** @type {any} */ ([{type: 'reload'}]);
sessionStorage.setItem('explorer-folds', '["fold-depth-a", "fold-depth-b", "fold-claims-c"]');
const {Folds} = await import('../../../assets/js/page/folds.js');

test('after a reload the folds of the tab in sight, which the link names, are open again', () => {
  const {state} = begun({tab: 'depth', fold: 'a,b'}), root = place(), pressed = [];
  for (const name of ['depth-b', 'depth-a', 'depth-z']) {
    const node = document.createElement('div');
    node.innerHTML = `<div class="fold" id="fold-${name}"><button class="label-wrap"></button></div>`;
    node.querySelector('button').addEventListener('click', event => { pressed.push(name); event.target.classList.add('open'); });
    root.append(node);
  }
  new Folds().follow(state);
  pass(500);
  assert.deepEqual(pressed, ['depth-a', 'depth-b']);
  assert.deepEqual(JSON.parse(sessionStorage.getItem('explorer-folds')).toSorted(), ['fold-claims-c', 'fold-depth-a', 'fold-depth-b']);
});
