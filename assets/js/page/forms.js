// The controls of folds: their values in one field of the link, and back into the controls.
import {choose, chosen} from './here.js';

/**
 * One of Gradio's controls. `usual`: the value that the link leaves out. A number has ends, a choice has its values.
 * @typedef {{name: string, usual: string | number | boolean | null, low?: number | null, high?: number | null, among?: (string | number)[]}} Control
 * @typedef {{controls: Control[], values: unknown[]}} Form
 */
const inLink = () => new Map((chosen('form') ?? '').split(',').filter(Boolean).map(one => /** @type {[string, string]} */ (one.split(':'))));
const printed = value => value === true ? 'yes' : value === false ? 'no' : String(value ?? '');

/** Keep what the reader set in the link; what is usual is left out. @param {Form} form */
export function keepForm({controls, values}) {
  const all = inLink();
  controls.forEach(({name, usual}, i) => {
    const value = printed(values[i]);
    if (value === printed(usual) || value === '') all.delete(name); else all.set(name, value);
  });
  choose({form: [...all].map(pair => pair.join(':')).toSorted().join(',')});
}

/** The values below a prefix that the link holds, by their names. @param {string} prefix */
export const valuesInLink = prefix => new Map([...inLink()].filter(([name]) => name.startsWith(`${prefix}.`)).map(([name, value]) => [name.slice(prefix.length + 1), value]));

/** A control's value by the link; what it cannot show becomes the usual one. @param {Control} control */
function valueOf({name, usual, low, high, among}) {
  const value = inLink().get(name);
  if (value === undefined) return usual;
  if (typeof usual === 'boolean') return value === 'yes' || value !== 'no' && usual;
  if (among) return among.find(one => String(one) === value) ?? usual;
  const number = Number(value);
  return Number.isFinite(number) && number >= (low ?? -Infinity) && number <= (high ?? Infinity) ? number : usual;
}

/** The values of a fold's controls by the link. @param {Control[]} controls */
export const formNow = controls => controls.map(valueOf);
