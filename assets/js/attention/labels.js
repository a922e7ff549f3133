// Words beside a picture: the two fonts, and a word cut to the room there is.
import {make, penOf} from '../kit/dom.js';

export const FONT = '13px system-ui, sans-serif',
  BOLD = '600 13px system-ui, sans-serif';

/** @type {CanvasRenderingContext2D | undefined} */
let ruler;

/**
 * The widest of these words in bold, whether a canvas is in the page by now or not.
 * @param {string[]} words
 */
export function widest(words) {
  const pen = (ruler ??= penOf(make('canvas')));
  pen.font = BOLD;
  return Math.max(...words.map(word => pen.measureText(word).width));
}

/** @param {CanvasRenderingContext2D} pen @param {string} text @param {number} width */
export const clip = (pen, text, width) => {
  if (pen.measureText(text).width <= width) return text;
  const characters = [...text]; // a surrogate pair is not split
  while (characters.length > 1 && pen.measureText(`${characters.join('')}…`).width > width)
    characters.pop();
  return `${characters.join('')}…`;
};
