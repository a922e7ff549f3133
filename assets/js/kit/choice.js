// Controls: a row of buttons of which one is pressed, and a range that prints its value.
import {el, make} from './dom.js';
import {exact} from './numbers.js';
import {nearest} from './scales.js';

/**
 * A row of buttons of which one is pressed.
 * @param {string} label
 * @param {Record<string, string>} options the text of each button
 * @param {string | null} chosen
 * @param {(key: string) => void} onChoose
 */
export const choice = (label, options, chosen, onChoose) => {
  const buttons = Object.entries(options).map(([key, text]) => {
    const button = make('button', {
      type: 'button',
      text,
      'aria-pressed': String(key === chosen),
      'data-key': key,
    });
    button.addEventListener('click', () => {
      buttons.forEach(b => b.setAttribute('aria-pressed', String(b === button)));
      onChoose(key);
    });
    return button;
  });
  return make(
    'div',
    {class: 'aw-choice', role: 'group', 'aria-label': label},
    make('span', {text: label}),
    make('div', {}, ...buttons),
  );
};

/**
 * The same as a menu, where several controls share one row.
 * @param {string} label
 * @param {Record<string, string>} options the text of each option
 * @param {string} chosen
 * @param {(key: string) => void} onChoose
 */
export const picker = (label, options, chosen, onChoose) => {
  const select = make(
    'select',
    {'aria-label': label},
    ...Object.entries(options).map(([key, text]) =>
      make('option', {value: key, 'data-key': key}, text),
    ),
  );
  select.value = chosen;
  select.addEventListener('change', () => onChoose(select.value));
  return make('label', {class: 'aw-choice'}, make('span', {text: label}), select);
};

/**
 * A row of small buttons, in a toolbar.
 * @param {string} label
 * @param {Record<string, string>} names the text of each button
 * @param {string | number | boolean} chosen
 * @param {(value: string) => void} choose
 */
export function switcher(label, names, chosen, choose) {
  const group = el('div', 'pm-switch', null, {role: 'group', 'aria-label': label});
  for (const [value, name] of Object.entries(names)) {
    const button = el('button', '', name, {
      type: 'button',
      'aria-pressed': String(value === String(chosen)),
    });
    button.addEventListener('click', () => {
      group
        .querySelectorAll('button')
        .forEach(b => b.setAttribute('aria-pressed', String(b === button)));
      choose(value);
    });
    group.append(button);
  }
  return group;
}

/**
 * A range over the stops of a list, whose value is printed next to it.
 * @param {string} label
 * @param {number[]} stops
 * @param {number} value
 * @param {(value: number) => void} change
 */
export function slider(label, stops, value, change) {
  const holder = el('label', 'pt-slider'),
    name = el('span', '', label);
  const input = el('input', '', null, {
    type: 'range',
    min: 0,
    max: stops.length - 1,
    step: 1,
    'aria-label': label,
  });
  const output = el('output', '');
  /** @param {number} v */
  const print = v => {
    output.textContent = exact(v);
    input.setAttribute('aria-valuetext', exact(v));
  };
  input.value = String(nearest(stops, value));
  print(value);
  input.addEventListener('input', () => {
    const stop = stops[Number(input.value)];
    print(stop);
    change(stop);
  });
  holder.append(name, input, output);
  return {
    node: holder,
    /** @param {number} v */
    set(v) {
      input.value = String(nearest(stops, v));
      print(v);
    },
  };
}
