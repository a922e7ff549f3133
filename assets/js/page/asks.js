// What the part in sight reads: the page's text, or what stands in boxes of its own.
import {find} from '../kit/dom.js';
import {chosen, runParams} from './here.js';

/** The text or the question that is answered in sight; what is typed and not asked yet is not. */
export function textInSight() {
  const part = find(document, `#tab-${chosen('tab')} .part-tab[aria-selected=true]`), name = part?.id.split('-').at(-1);
  const box = /** @type {HTMLTextAreaElement | null} */ (name ? find(document, `#asks-${name}:not(.hide) textarea`) : null);
  return box ? chosen(name) || box.value : runParams().text ?? '';
}
