// Sentences above and below a saved picture: in lines of its width, as text of its SVG.
import {svg} from '../kit/dom.js';

/**
 * @typedef {{text: string, size: number, weight: number, soft: boolean}} Said one line of text
 *   around a picture
 */

const LEADING = 4,
  FONT = 'system-ui, sans-serif'; // CSS pixels
const measure = /** @type {CanvasRenderingContext2D} */ (
  document.createElement('canvas').getContext('2d')
);

/** A long line in several. @param {string} text @param {number} width @returns {string[]} */
function wrapped(text, width) {
  const lines = [''];
  for (const word of text.match(/\S{1,40}\s*/gu) ?? []) {
    if (lines.at(-1) && measure.measureText(lines.at(-1) + word).width > width) lines.push('');
    lines[lines.length - 1] += word;
  }
  return lines.map(line => line.trimEnd());
}

/**
 * Sentences as lines of a width.
 * @param {string[]} sentences
 * @param {number} width
 * @param {number} size CSS pixels
 * @param {{weight?: number, soft?: boolean}} [look]
 * @returns {Said[]}
 */
export function saidIn(sentences, width, size, {weight = 400, soft = false} = {}) {
  measure.font = `${weight} ${size}px ${FONT}`;
  return sentences
    .flatMap(sentence => wrapped(sentence, width))
    .filter(Boolean)
    .map(text => ({text, size, weight, soft}));
}

/**
 * Lines of text below each other.
 * @param {Said[]} lines
 * @param {{left: number, top: number}} corner CSS pixels
 * @param {{ink: string, soft: string}} colours
 */
export function block(lines, {left, top}, colours) {
  let at = top;
  return lines.map(({text, size, weight, soft}) =>
    svg(
      'text',
      {
        x: left,
        y: (at += size + LEADING) - LEADING,
        fill: soft ? colours.soft : colours.ink,
        'font-family': FONT,
        'font-size': `${size}px`,
        'font-weight': weight === 400 ? null : weight,
      },
      text,
    ),
  );
}
/** CSS pixels that lines need. @param {Said[]} lines */
export const heightOf = lines => lines.reduce((sum, {size}) => sum + size + LEADING, 0);
