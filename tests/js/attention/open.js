// The small wall on a page of 640 pixels: one model below the other, the chosen head's panels below both.
import {click, enter, point, widthsLater} from '../dom.js';
import {painter, wallData} from './small.js';

const {begin} = await import('../../../assets/js/page/here.js');
const {onPage} = await import('../../../assets/js/attention/heads.js');
const {show} = await import('../../../assets/js/attention/wall.js');

widthsLater();
const defaults = {text: '', family: 'base', tab: 'attention', model: 'bert', layer: '0', head: '0', view: 'matrix', order: 'place', lit: '-1', look: ''};
export const state = begin({defaults, reads: {attention: ['text']}, limit: 99, longest: 999, packed: 'z', texts_of: ['text']}, () => {});
export const never = () => new Promise(() => {});

/** The drawn wall; `asked` collects the requests to the server. */
export async function wall(changes = {}, asks = never) {
  const root = painter(), asked = [];
  await show(root, wallData(changes), {dark: false, ask() {}, asks: question => { asked.push(question); return asks(question); }});
  const made = onPage.wall, at = (m, i) => { const {x, y} = made.places[m][i]; return [x + 5, y + 5]; };
  return {root, made, asked, stage: root.querySelector('.aw-stage'), card: root.querySelector('.aw-card'), live: root.querySelector('[role=status]'),
    hover: (m, i, type) => point(made.stage, 'pointermove', ...at(m, i), type), pick: (m, i) => point(made.stage, 'click', ...at(m, i))};
}
export const lock = made => [made.lock.m, made.lock.i];
export const button = (root, key) => root.querySelector(`[data-key=${key}]`);
/** Choose by a button or in a menu. */
export function setTo(root, key) {
  const one = button(root, key), menu = one.closest('select');
  if (menu) enter(menu, key); else click(one);
}
