// The temperature that the lab's dial sets and the curves mark; kept while the page lives.
import {dial} from '../kit/scales.js';
import {choose, chosen as linked} from '../page/here.js';

let chosen = null;
const listeners = [];

/** The dial over the range that Python allows; the temperature is the reader's, the link's, or the page's. */
export function setUp({temperatures: [low, high], temperature: shown}) {
  const asked = Number(linked('temperature'));
  setTemperature(chosen ?? (asked >= low && asked <= high ? asked : shown));
  return dial(low, high);
}

/** What is set now, or null while nothing has asked for one. */
export const temperature = () => chosen;
export const keep = t => choose({temperature: t});
export const onTemperature = react => listeners.push(react);
export function setTemperature(t) {
  chosen = t;
  listeners.forEach(react => react(t));
}
