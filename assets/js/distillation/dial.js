// The lab's dial: a range, a box, and buttons of temperatures, which all set the same one.
import {make, vary} from '../kit/dom.js';
import {shown} from '../kit/numbers.js';
import {keep, temperature} from './temperature.js';

/**
 * The dial, and what sets it from outside.
 * @param {import('./rows.js').Lab} data
 * @param {ReturnType<typeof import('./temperature.js').setUp>} dial
 * @param {(t: number) => void} change
 */
export function control(data, dial, change) {
  const range = make('input', {
    type: 'range',
    min: 0,
    max: dial.steps,
    step: 1,
    id: 'ds-t',
    'aria-label': data.texts.temperature,
  });
  const [low, high] = data.temperatures,
    typed = make('input', {
      type: 'number',
      class: 'ds-t',
      step: 'any',
      min: low,
      max: high,
      'aria-label': data.texts.typed,
    });
  const presets = make(
    'div',
    {class: 'ds-presets'},
    ...data.texts.presets.map((/** @type {[number, string]} */ [t, label]) => {
      const button = make('button', {type: 'button', class: 'chip', 'data-t': t}, label);
      button.addEventListener('click', () => {
        change(t);
        keep(t);
      });
      return button;
    }),
  );
  // The pointer's shortcuts: by keys the dial itself stops at each, so that they need no place of
  // their own.
  const ticks = make(
    'div',
    {class: 'ds-ticks', 'aria-hidden': 'true'},
    ...dial.round.map(t => {
      const tick = make('button', {type: 'button', tabindex: -1}, String(t));
      vary(tick, '--at', dial.place(t) / dial.steps);
      tick.addEventListener('click', () => {
        change(t);
        keep(t);
      });
      return tick;
    }),
  );
  typed.addEventListener('change', () => {
    const t = typed.valueAsNumber;
    if (t >= low && t <= high) {
      change(t);
      keep(t);
    } else set(temperature());
  });
  range.addEventListener('input', () => change(dial.value(range.value)));
  range.addEventListener('change', () => keep(temperature()));
  /** @param {number} t */
  const set = t => {
    range.value = String(dial.place(t));
    typed.value = shown(t);
    range.setAttribute('aria-valuetext', `T = ${shown(t)}`);
    for (const button of presets.children)
      button.setAttribute('aria-pressed', String(Number(button.getAttribute('data-t')) === t));
  };
  const node = make(
    'div',
    {class: 'ds-control'},
    make(
      'div',
      {class: 'ds-dial'},
      make('label', {for: 'ds-t'}, data.texts.temperature),
      make('span', {class: 'ds-now'}, 'T = ', typed),
      presets,
    ),
    make('div', {class: 'ds-range'}, range, ticks),
  );
  return {node, set};
}
