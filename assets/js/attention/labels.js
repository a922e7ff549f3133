// Words beside a picture: the two fonts, and a word cut to the room there is.
export const FONT = '13px system-ui, sans-serif',
  BOLD = '600 13px system-ui, sans-serif';

/** @type {CanvasRenderingContext2D} */
let ruler;

/**
 * The widest of these words in bold, whether a canvas is in the page by now or not.
 * @param {string[]} words
 */
export function widest(words) {
  ruler ??= document.createElement('canvas').getContext('2d');
  ruler.font = BOLD;
  return Math.max(...words.map(word => ruler.measureText(word).width));
}

export const clip = (pen, text, width) => {
  if (pen.measureText(text).width <= width) return text;
  const characters = [...text]; // a surrogate pair is not split
  while (characters.length > 1 && pen.measureText(`${characters.join('')}…`).width > width)
    characters.pop();
  return `${characters.join('')}…`;
};
