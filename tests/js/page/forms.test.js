// The controls of folds in the link: what the reader set is kept, and a link sets what a control can show.
import test from 'node:test';
import assert from 'node:assert/strict';
import '../page.js';
const {begun} = await import('./stage.js');
import {choose, chosen} from '../../../assets/js/page/here.js';
import {formNow, keepForm} from '../../../assets/js/page/forms.js';

const controls = [
  {name: 'memory.sizes', usual: 'base', among: ['base', 'mini', 'larger']},
  {name: 'memory.length', usual: 128, low: 8, high: 512},
  {name: 'memory.keeps', usual: false},
  {name: 'choose.size', usual: null, low: 0, high: null},
  {name: 'masking.rounds', usual: 1, among: [1, 40]},
];
const usual = controls.map(control => control.usual);

test('what is set is kept beside the other forms, and the usual is left out', () => {
  begun();
  keepForm({controls, values: ['mini', 64, true, 250.5, 40]});
  assert.equal(chosen('form'), 'choose.size:250.5,masking.rounds:40,memory.keeps:yes,memory.length:64,memory.sizes:mini');
  assert.deepEqual(formNow(controls), ['mini', 64, true, 250.5, 40]);
  keepForm({controls: controls.slice(0, 3), values: ['base', 128, false]});
  assert.equal(chosen('form'), 'choose.size:250.5,masking.rounds:40');
  keepForm({controls: controls.slice(3), values: [null, 1]});
  assert.deepEqual([chosen('form'), formNow(controls)], ['', usual]);
});

test('what a control cannot show becomes its usual value, and a fold computes from the rest', () => {
  begun();
  choose({form: 'memory.sizes:huge,memory.length:9000,memory.keeps:maybe,choose.size:-3,masking.rounds:40'});
  assert.deepEqual(formNow(controls), [...usual.slice(0, 4), 40]);
});
