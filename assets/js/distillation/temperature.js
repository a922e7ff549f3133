// The temperature that the lab's dial sets and its curves mark: while the dial is moved, and then
// the link's.
import {dial} from '../kit/scales.js';
import {choose, chosen as linked} from '../page/here.js';

let chosen = null;

/**
 * The dial over the range that Python allows; the temperature is the reader's or the link's, else
 * what the page was drawn with.
 */
export function setUp({temperatures: [low, high], temperature: shown}) {
  const asked = Number(linked('temperature'));
  setTemperature(asked >= low && asked <= high ? asked : (chosen ?? shown));
  return dial(low, high);
}

/** What is set now, or null while nothing has asked for one. */
export const temperature = () => chosen;
export const keep = t => choose({temperature: t});
export const setTemperature = t => {
  chosen = t;
};
