// The family's drawing: the one in use, folded away for good by a click, with doors to the tabs.
import {closest, find} from '../kit/dom.js';
import {recall, remember} from '../kit/memory.js';

/** Gradio has put the drawing on the page. @param {HTMLElement} place */
export function takeOver(place) {
  const details = /** @type {HTMLDetailsElement | null} */ (find(place, 'details'));
  if (!details) return;
  details.open = recall('family') !== 'folded';
  document.documentElement.classList.remove('family-folded');
  details.addEventListener('toggle', () => remember('family', details.open ? 'open' : 'folded'));
}

/** @param {string} family */
export function showFamily(family) {
  for (const drawing of document.querySelectorAll('#family [data-family]')) {
    drawing.toggleAttribute('hidden', drawing.getAttribute('data-family') !== family);
  }
}

/** A click on a door opens its tab. @param {(tab: string) => void} open */
export function onDoor(open) {
  document.addEventListener('click', event => {
    const tab = closest(event, '.door')?.dataset.tab;
    if (tab) open(tab);
  });
}
