// The model builder's form: every change is sent, the page answers with counts or with a reason.
import {el} from '../kit/dom.js';

const values = {};

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, {ask}) {
  const {presets, texts} = data;
  if (!values.n_layers) Object.assign(values, presets[0], texts.start);
  const form = el('form', 'pt-form');
  form.addEventListener('submit', event => event.preventDefault());
  let timer = 0;
  const send = () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask({shape: {...values}}), 250);
  };
  const fields = Object.entries(texts.fields).map(([name, label]) => {
    const holder = el('label', '', null), input = el('input', '', null, {type: 'number', min: 0, step: 1, name, inputmode: 'numeric'});
    input.value = values[name];
    input.addEventListener('input', () => { values[name] = input.value === '' ? null : Number(input.value); send(); });
    holder.append(el('span', '', label), input);
    form.append(holder);
    return input;
  });
  const sharing = select(texts.sharing, texts.modes, values.sharing, value => { values.sharing = value; send(); });
  const pooler = select(texts.pooler, texts.yes_no, values.has_pooler ? 'yes' : 'no', value => { values.has_pooler = value === 'yes'; send(); });
  form.append(sharing, pooler);
  const chips = el('div', 'chips', null, {role: 'group', 'aria-label': texts.presets});
  chips.append(el('span', 'lead', texts.presets));
  for (const preset of presets) {
    const chip = el('button', 'chip', preset.name, {type: 'button'});
    chip.addEventListener('click', () => {
      Object.assign(values, preset);
      fields.forEach(input => { input.value = values[input.name]; });
      sharing.querySelector('select').value = values.sharing;
      pooler.querySelector('select').value = values.has_pooler ? 'yes' : 'no';
      send();
    });
    chips.append(chip);
  }
  root.replaceChildren(chips, form);
}

function select(label, options, chosen, change) {
  const holder = el('label'), box = el('select');
  for (const [value, name] of Object.entries(options)) box.append(el('option', '', name, {value}));
  box.value = chosen;
  box.addEventListener('change', () => change(box.value));
  holder.append(el('span', '', label), box);
  return holder;
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const names = Object.keys(data.presets[0]);
  return {columns: names, rows: data.presets.map(preset => names.map(name => preset[name]))};
}
