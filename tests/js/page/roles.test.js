// The choice of the two columns that Distillation and Depth compare.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {place} from '../dom.js';

const {begin} = await import('../../../assets/js/page/here.js');
await import('../../../assets/js/page/roles.js');

const state = begin({defaults: {text: '', family: 'mini', tab: 'depth', teacher: '', student: ''}, reads: {depth: ['teacher', 'student']}, presets: {mini: {}}, columns: {}, limit: 9, longest: 99, packed: 'z', texts_of: []}, () => {});
const select = (part, at) => `<select data-pair="${part}">${['a', 'b', 'c'].map((key, i) => `<option value="${key}"${i === at ? ' selected' : ''}>${key}</option>`).join('')}</select>`;

/** What is asked for once one side is chosen where a is compared with b. */
function chosen(part, key) {
  const root = place();
  root.innerHTML = `<p class="roles">${select('teacher', 0)}${select('student', 1)}</p><select id="other"><option>x</option></select>`;
  const one = root.querySelector(`[data-pair=${part}]`);
  one.value = key;
  one.dispatchEvent(new Event('change', {bubbles: true}));
  root.querySelector('#other').dispatchEvent(new Event('change', {bubbles: true}));
  return [state.get('teacher'), state.get('student')];
}

test('another column is asked for on its side', () => {
  assert.deepEqual(chosen('teacher', 'c'), ['c', 'b']);
  assert.deepEqual(chosen('student', 'c'), ['a', 'c']);
});

test('a column that stood on the other side changes places', () => {
  assert.deepEqual(chosen('teacher', 'b'), ['b', 'a']);
  assert.deepEqual(chosen('student', 'a'), ['b', 'a']);
});
