// The temperature that the lab's dial sets and the curves mark; kept while the page lives.
import {choose, chosen as linked} from '../page/here.js';

export const LOW = 0.05, HIGH = 20, DEFAULT = 2;
let chosen = null;
const listeners = [];

function fromLink() {
  const t = Number(linked('temperature'));
  return t >= LOW && t <= HIGH ? t : null;
}

export const temperature = (otherwise = DEFAULT) => chosen ?? fromLink() ?? otherwise;
export const keep = t => choose({temperature: t});
export const onTemperature = react => listeners.push(react);
export function setTemperature(t) {
  chosen = t;
  listeners.forEach(react => react(t));
}
