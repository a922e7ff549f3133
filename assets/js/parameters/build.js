// The model builder's form: every change is sent, the page answers with counts or with a reason.
import {el} from '../kit/dom.js';
import {look} from '../page/look.js';

/** @typedef {import('../data').BuildData} BuildData */

/** @type {Record<string, any>} */
const values = {};
let usual = ''; // the shape that the form begins with, as a link would hold it
// the fields' numbers, the sharing, the pooler; nothing: the first model
const kept = look('shape', '');

/** The shape as a link holds it; nothing where a field has no whole number. @param {any} texts */
function written({fields}) {
  const numbers = Object.keys(fields).map(name => values[name]);
  return numbers.every(Number.isSafeInteger)
    ? [...numbers, values.sharing, values.has_pooler ? 'yes' : 'no'].join('.')
    : '';
}

/**
 * Take the link's shape, where there is one of these fields; whether it is another than before.
 * @param {any} texts
 */
function follow({fields, modes}) {
  const shape = kept.value || usual,
    parts = shape.split('.'),
    names = Object.keys(fields),
    [sharing, pooler] = parts.slice(names.length);
  if (
    parts.length !== names.length + 2 ||
    !Object.hasOwn(modes, sharing) ||
    written({fields}) === shape
  )
    return false;
  names.forEach((name, i) => {
    values[name] = Number(parts[i]);
  });
  Object.assign(values, {sharing, has_pooler: pooler === 'yes'});
  return true;
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {BuildData} */ data, {ask}) {
  const {presets, texts} = data;
  if (!values.n_layers) Object.assign(values, presets[0], texts.start);
  usual ||= written(texts);
  const isLinked = follow(texts);
  const form = el('form', 'pt-form');
  form.addEventListener('submit', event => event.preventDefault());
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const send = () => {
    kept.value = written(texts) === usual ? '' : written(texts);
    clearTimeout(timer);
    timer = setTimeout(() => ask({shape: {...values}}), 250);
  };
  const fields = /** @type {[string, string][]} */ (Object.entries(texts.fields)).map(
    ([name, label]) => {
      const holder = el('label', '', null),
        input = el('input', '', null, {
          type: 'number',
          min: 0,
          step: 1,
          name,
          inputmode: 'numeric',
        });
      input.value = values[name];
      input.addEventListener('input', () => {
        values[name] = input.value === '' ? null : Number(input.value);
        send();
      });
      holder.append(el('span', '', label), input);
      form.append(holder);
      return input;
    },
  );
  const sharing = select(texts.sharing, texts.modes, values.sharing, value => {
    values.sharing = value;
    send();
  });
  const pooler = select(texts.pooler, texts.yes_no, values.has_pooler ? 'yes' : 'no', value => {
    values.has_pooler = value === 'yes';
    send();
  });
  form.append(sharing.holder, pooler.holder);
  const chips = el('div', 'chips', null, {role: 'group', 'aria-label': texts.presets});
  chips.append(el('span', 'lead', texts.presets));
  for (const preset of presets) {
    const chip = el('button', 'chip', preset.name, {type: 'button'});
    chip.addEventListener('click', () => {
      Object.assign(values, preset);
      fields.forEach(input => {
        input.value = values[input.name];
      });
      sharing.box.value = values.sharing;
      pooler.box.value = values.has_pooler ? 'yes' : 'no';
      send();
    });
    chips.append(chip);
  }
  root.replaceChildren(chips, form);
  if (isLinked) send();
}

/**
 * @param {string} label
 * @param {Record<string, string>} options
 * @param {string} chosen
 * @param {(value: string) => void} change
 */
function select(label, options, chosen, change) {
  const holder = el('label'),
    box = el('select');
  for (const [value, name] of Object.entries(options)) box.append(el('option', '', name, {value}));
  box.value = chosen;
  box.addEventListener('change', () => change(box.value));
  holder.append(el('span', '', label), box);
  return {holder, box};
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {BuildData} */ {presets}) {
  return {columns: Object.keys(presets[0]), rows: presets.map(preset => Object.values(preset))};
}
