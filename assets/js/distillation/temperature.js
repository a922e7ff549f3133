// The temperature that the lab's dial sets and its curves mark: while the dial is moved, and then
// the link's.
import {dial} from '../kit/scales.js';
import {choose, chosen as linked} from '../page/here.js';

/** @type {number | null} */
let chosen = null;

/**
 * The dial over the range that Python allows; the temperature is the reader's or the link's, else
 * what the page was drawn with.
 * @param {{temperatures: [number, number], temperature: number}} data
 */
export function setUp({temperatures: [low, high], temperature: shown}) {
  const inLink = Number(linked('temperature'));
  setTemperature(inLink >= low && inLink <= high ? inLink : (chosen ?? shown));
  return dial(low, high);
}

/** What is set now: the dial is set up before anything is drawn. */
export const temperature = () => /** @type {number} */ (chosen);
/** Put it into the link. @param {number} t */
export const keep = t => choose({temperature: t});
/** @param {number} t */
export const setTemperature = t => {
  chosen = t;
};
