// The controls of folds: their values in one field of the link, whole texts in fields of their own,
// and back into the controls.
import {first} from '../kit/dom.js';
import {choose, chosen} from './here.js';

/**
 * One of Gradio's controls. `usual`: the value that the link leaves out. A number has ends, a
 * choice has its values, a text has a number of letters, a whole text its own field of the link.
 * @typedef {{name: string, usual: string | number | boolean | null, low?: number | null, high?:
 *   number | null, among?: (string | number)[], most?: number, field?: string}} Control
 * @typedef {{controls: Control[], values: unknown[]}} Form
 */
const inLink = () =>
  new Map(
    (chosen('form') ?? '')
      .split(',')
      .filter(Boolean)
      .map(pair => /** @type {[string, string]} */ (pair.split(':'))),
  );
/**
 * Letters that a link's field holds as they are; each other byte is a dot and two digits.
 * @param {string} text
 */
const written = text =>
  [...new TextEncoder().encode(text)]
    .map(byte =>
      /[\w-]/.test(String.fromCharCode(byte)) && byte !== 95
        ? String.fromCharCode(byte)
        : `.${byte.toString(16).padStart(2, '0')}`,
    )
    .join('');

/** The text of such letters; what nothing was written as is no text. @param {string} field */
function unwritten(field) {
  try {
    return decodeURIComponent(field.replace(/\.([0-9a-f]{2})/g, '%$1'));
  } catch {
    return '';
  }
}

/** @param {unknown} value */
const printed = (value, isText = false) =>
  value === true
    ? 'yes'
    : value === false
      ? 'no'
      : isText
        ? written(String(value ?? ''))
        : String(value ?? '');

/**
 * What each text box held when the link was last written or read; another value is being typed.
 * @type {Map<string, unknown>}
 */
const known = new Map();

/** What a text box held before a link's value took its place. @type {Map<string, unknown>} */
const gone = new Map();

const LONGEST = 300; // of a text as it is written in a link
/** @param {Control} control */
const isText = ({most, among}) =>
  most !== undefined ||
  Boolean(among?.some(value => typeof value === 'string' && !/^[A-Za-z0-9.+-]+$/.test(value)));

/** Keep what the reader set in the link; what is usual is left out. @param {Form} form */
export function keepForm({controls, values}) {
  const all = inLink(),
    texts = /** @type {Record<string, string>} */ ({});
  controls.forEach((control, i) => {
    const {name, usual, field} = control;
    if (field) {
      known.set(name, values[i]);
      texts[field] = String(values[i] ?? '');
      return;
    }
    const value = printed(values[i], isText(control));
    if (value.length > LONGEST) known.delete(name);
    else known.set(name, values[i]);
    if (value === printed(usual, isText(control)) || value === '' || value.length > LONGEST)
      all.delete(name);
    else all.set(name, value);
  });
  choose({
    form: [...all]
      .map(pair => pair.join(':'))
      .toSorted()
      .join(','),
    ...texts,
  });
}

/** The values below a prefix that the link holds, by their names. @param {string} prefix */
export const valuesInLink = prefix =>
  new Map(
    [...inLink()]
      .filter(([name]) => name.startsWith(`${prefix}.`))
      .map(([name, value]) => [name.slice(prefix.length + 1), value]),
  );

/**
 * A control's value by the link; what it cannot show becomes the usual one.
 * @param {Control} control
 */
function valueOf(control) {
  const {name, usual, low, high, among, most} = control,
    field = inLink().get(name);
  if (control.field) return first(chosen(control.field) ?? '', most ?? 0);
  if (field === undefined) return usual;
  const value = isText(control) ? unwritten(field) : field;
  if (most !== undefined) return first(value, most);
  if (typeof usual === 'boolean') return value === 'yes' || (value !== 'no' && usual);
  if (among) return among.find(choice => String(choice) === value) ?? usual;
  const number = Number(value);
  return Number.isFinite(number) && number >= (low ?? -Infinity) && number <= (high ?? Infinity)
    ? number
    : usual;
}

/**
 * The values of a fold's controls by the link; words that are being typed, which no link holds yet,
 * stay.
 * @param {Control[]} controls @param {unknown[]} [values] what the controls hold
 */
export const formNow = (controls, values) =>
  controls.map((control, i) => {
    const held = values?.[i],
      {name, usual, most} = control;
    if (most !== undefined && typeof held === 'string' && held !== (known.get(name) ?? usual))
      return held;
    const value = valueOf(control);
    if (held !== undefined && held !== value) gone.set(name, held);
    known.set(name, value);
    return value;
  });

/**
 * Values that are sent, a text as the link has it unless it is being typed: a fold that opens is
 * asked before its box is set.
 * @param {(Control | null)[]} controls
 * @param {unknown[]} values
 */
export const filled = (controls, values) =>
  values.map((value, i) => {
    const control = controls[i];
    if (control?.most === undefined) return value;
    const held = value ?? '',
      {name} = control;
    return held === '' || held === known.get(name) || held === gone.get(name)
      ? valueOf(control)
      : value;
  });
