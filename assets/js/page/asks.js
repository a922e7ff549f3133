// What the part in sight reads: the page's text, or what stands in boxes of its own.
import {find, named} from '../kit/dom.js';
import {chosen, runParams} from './here.js';

/** The text or the question that is answered in sight; what is typed and not asked yet is not. */
export function textInSight() {
  const tab = named(`tab-${chosen('tab')}`),
    name = tab && find(tab, '.part-tab[aria-selected=true]')?.id.split('-').at(-1);
  const own = name ? named(`asks-${name}`) : null;
  const box = /** @type {HTMLTextAreaElement | null} */ (
    own && !own.matches('.hide') ? find(own, 'textarea') : null
  );
  return box ? (name && chosen(name)) || box.value : (runParams().text ?? '');
}
