// Text into the clipboard, also where the page may not write there.
import {make} from './dom.js';

/**
 * Copy a text from a field in which it is selected.
 * @param {string} text
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
function copiedFrom(text, field) {
  field.value = text;
  field.focus({preventScroll: true});
  field.select();
  return document.execCommand('copy');
}

/**
 * Copy a text, and say whether that is done.
 * @param {string} text
 * @param {HTMLElement} place if the clipboard refuses: the field in which the text is selected, or
 *   the button that was pressed, beside which a box stands for that moment
 */
export async function copied(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // there is no clipboard over plain HTTP, and inside a frame it can be blocked
    if (place instanceof HTMLInputElement) return copiedFrom(text, place);
    const box = make('textarea', {class: 'sr-only', tabindex: -1});
    place.after(box);
    const isDone = copiedFrom(text, box);
    box.remove();
    place.focus({preventScroll: true});
    return isDone;
  }
}
