// Lists of a text's tokens: the largest few, or all.
import {make, say} from '../kit/dom.js';

/**
 * Whether lists show all tokens; `turn` changes that, and the focus stays at the button's place.
 * @typedef {{all: boolean, turn: (button: HTMLElement) => void}} Lists
 */

export const FEW = 12;

/**
 * The places of the largest values, in the order of the text.
 * @param {number[]} values
 * @param {number} n
 */
export const largest = (values, n) =>
  [...values.keys()]
    .sort((a, b) => values[b] - values[a])
    .slice(0, n)
    .sort((a, b) => a - b);

/**
 * The tokens that a list shows: those that the head attends to most, or all.
 * @param {import('../data').LayerModel} model
 * @param {Lists} lists
 */
export const listed = (model, {all}) => largest(model.weights, all ? Infinity : FEW);

/**
 * Shows all tokens in every list, or the largest again; nothing where they are all shown anyway.
 * @param {import('../data').LayerModel} model
 * @param {Record<string, any>} texts
 * @param {Lists} lists
 */
export function more({tokens: {length: n}}, texts, {all, turn}) {
  if (n <= FEW) return null;
  const button = make(
    'button',
    {type: 'button', class: 'chip ly-more'},
    say(all ? texts.show_few : texts.show_all, {n: all ? FEW : n}),
  );
  button.addEventListener('click', () => turn(button));
  return button;
}
