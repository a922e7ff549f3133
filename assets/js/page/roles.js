// The two columns that Distillation and Depth compare: one that is chosen for both sides changes
// places.
import {closest} from '../kit/dom.js';
import {compare} from './here.js';

document.addEventListener('change', event => {
  const select = /** @type {HTMLSelectElement | null} */ (closest(event, '[data-pair]'));
  if (!select) return;
  const sides = Object.fromEntries(
    [...(select.closest('.roles')?.querySelectorAll('select') ?? [])].map(side => [
      side.dataset.pair,
      side,
    ]),
  );
  const was = [...select.options].find(option => option.hasAttribute('selected'))?.value,
    other = sides[select.dataset.pair === 'teacher' ? 'student' : 'teacher'];
  if (other.value === select.value) other.value = was ?? '';
  compare({teacher: sides.teacher.value, student: sides.student.value});
});
