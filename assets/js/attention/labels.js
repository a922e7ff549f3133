// Words beside a picture: the two fonts, and a word cut to the room there is.
export const FONT = '13px system-ui, sans-serif', BOLD = '600 13px system-ui, sans-serif';

/** @type {CanvasRenderingContext2D} */
let ruler;

/** The widest of these words in bold, whether a canvas is in the page by now or not. @param {string[]} words */
export function widest(words) {
  ruler ??= document.createElement('canvas').getContext('2d');
  ruler.font = BOLD;
  return Math.max(...words.map(word => ruler.measureText(word).width));
}

export const clip = (pen, text, width) => {
  if (pen.measureText(text).width <= width) return text;
  const signs = [...text];   // none of two units is cut in two
  while (signs.length > 1 && pen.measureText(`${signs.join('')}…`).width > width) signs.pop();
  return `${signs.join('')}…`;
};
