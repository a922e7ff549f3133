// The seven sizes: a table to sort, with bytes in MB or MiB and the work at any length.
import {slider, switcher} from '../kit/choice.js';
import {el, make, say, stacks, vary} from '../kit/dom.js';
import {sorted} from '../kit/maths.js';
import {digits, exact, million} from '../kit/numbers.js';
import {explained} from '../kit/term.js';
import {look} from '../page/look.js';

/** @type {[string, number][]} */
const FORMATS = [['fp32', 4], ['fp16', 2], ['int8', 1]];
const LENGTHS = [1, 8, 16, 32, 64, 128, 256, 384, 512];
const choice = {by: 'total', down: true};
const chosenLength = look('length', 128), chosenUnit = look('bytes', 'MB');
const lengthNow = () => LENGTHS.find(length => String(length) === chosenLength.value) ?? 128;
const unitName = () => chosenUnit.value === 'MiB' ? 'MiB' : 'MB';

const work = (row, length) => row.flops[0] + row.flops[1] * length + row.flops[2] * length ** 2;
const offPrinted = row => row.total / 1e6 / row.printed[0][0] - 1;
const unit = () => (unitName() === 'MB' ? 1e6 : 2 ** 20);

/**
 * @typedef {{id: string, head: string, value: (row: any) => any, print: (row: any) => any, bar?: boolean, title?: (row?: any) => string}} Column
 * @returns {Column[]}
 */
function columns(texts) {
  return [
    {id: 'name', head: texts.heads.name, value: r => r.name, print: r => r.name},
    {id: 'total', head: texts.heads.total, value: r => r.total, print: r => exact(r.total), bar: true},
    {id: 'printed', head: texts.heads.printed, value: r => r.printed[0][0],
      print: r => r.printed.map(p => p[0] + 'M').join(' / '), title: r => r.printed.map(p => `${p[0]}M: ${p[1]}`).join('; ')},
    {id: 'off', head: texts.heads.off, value: offPrinted, print: r => (offPrinted(r) > 0 ? '+' : '−') + digits(100 * Math.abs(offPrinted(r)), 1) + '%'},
    {id: 'applied', head: texts.heads.applied, value: r => r.applied, print: r => million(r.applied)},
    {id: 'work', head: say(texts.heads.work, {length: lengthNow()}), value: r => work(r, lengthNow()),
      print: r => digits(work(r, lengthNow()) / 1e9, 2), bar: true},
    {id: 'layers', head: 'L', value: r => r.layers, print: r => r.layers, title: () => texts.heads.layers},
    {id: 'width', head: 'H', value: r => r.width, print: r => exact(r.width), title: () => texts.heads.width},
    {id: 'embedding', head: 'E', value: r => r.embedding, print: r => exact(r.embedding), title: () => texts.heads.embedding},
    {id: 'heads', head: 'A', value: r => r.heads, print: r => r.heads, title: () => texts.heads.heads},
    ...FORMATS.map(([name, size]) => ({id: name, head: `${name} ${unitName()}`, value: r => r.total * size,
      print: r => digits(r.total * size / unit(), 1)})),
  ];
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const {rows, texts} = data;
  const sentence = el('p', 'finding pt-finding'), place = el('div', 'table sorts pt-sizes', null,
    {tabindex: 0, role: 'region', 'aria-label': texts.label});
  const controls = el('div', 'pm-controls');
  const length = slider(texts.length, LENGTHS, lengthNow(), value => { chosenLength.value = value; refresh(); });
  controls.append(length.node, switcher(texts.unit, {MB: 'MB (10⁶)', MiB: 'MiB (2²⁰)'}, unitName(), value => {
    chosenUnit.value = value; refresh();
  }));
  function refresh() {
    const {weights, work: done} = compared(rows);
    sentence.textContent = say(texts.finding, {weights: digits(weights, 2), length: lengthNow(), work: digits(done, 1)});
    place.replaceChildren(tableOf(rows, texts, refresh));
    stacks(place);
  }
  root.replaceChildren(sentence, controls, place, el('p', 'note', texts.note), make('p', {class: 'note'}, ...explained(texts.units, texts.terms)));
  refresh();
}

/** What the sentence compares: the widest ALBERT with the large BERT. @param {any[]} rows */
function compared(rows) {
  const [wide, large] = ['albert-xxlarge-v2', 'bert-large-uncased'].map(name => rows.find(r => r.name === name));
  return {weights: wide.total / large.total, work: work(wide, lengthNow()) / work(large, lengthNow())};
}

function tableOf(rows, texts, refresh) {
  const all = columns(texts), chosen = all.find(c => c.id === choice.by);
  const table = el('table'), head = el('tr'), body = el('tbody');
  for (const column of all) {
    const cell = el('th', '', null, {scope: 'col'});
    if (column.id === choice.by) cell.setAttribute('aria-sort', choice.down ? 'descending' : 'ascending');
    const mark = column.id === choice.by ? (choice.down ? ' ▾' : ' ▴') : '';
    const button = el('button', 'pt-sort', column.head + mark, {type: 'button'});
    if (column.title && column.head.length === 1) button.title = column.title();
    button.addEventListener('click', () => {
      choice.down = choice.by === column.id ? !choice.down : column.id !== 'name';
      choice.by = column.id;
      const at = all.indexOf(column);
      refresh();
      /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.pt-sizes th .pt-sort'))[at].focus();
    });
    cell.append(button);
    head.append(cell);
  }
  for (const row of sorted(rows, chosen.value, choice.down)) {
    const line = el('tr');
    line.dataset.model = row.key;
    all.forEach((column, i) => {
      const cell = i ? el('td', column.bar ? 'with-bar' : '', column.print(row)) : el('th', '', null, {scope: 'row'});
      if (!i) cell.append(el('span', 'model-name', row.name));
      if (column.bar) vary(cell, '--share', column.value(row) / Math.max(...rows.map(column.value)));
      if (column.title && column.head.length > 1) cell.title = column.title(row);
      line.append(cell);
    });
    body.append(line);
  }
  const top = el('thead');
  top.append(head);
  table.append(top, body);
  return table;
}

/** @type {import('../gradio.js').Picture['said']} */
export const said = ({rows}) => ({text: null, family: null, models: null, state: {length: lengthNow(), unit: unitName()}, xxlarge_over_bert_large: compared(rows)});

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = ({rows}) => ({LENGTH: lengthNow(), CONFIGS: Object.fromEntries(rows.map(row => [row.name, row.config]))});

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const columns = ['name', 'parameters', 'printed_millions', 'printed_in', 'also_printed_millions', 'percent_over_printed', 'applied', 'layers', 'hidden', 'embedding', 'heads',
    'fp32_bytes', 'fp16_bytes', 'int8_bytes', `flops_at_${lengthNow()}_tokens`];
  const rows = data.rows.map(r => [r.name, r.total, r.printed[0][0], r.printed[0][1], r.printed.slice(1).map(p => p[0]).join(' / '), 100 * offPrinted(r), r.applied, r.layers, r.width, r.embedding,
    r.heads, r.total * 4, r.total * 2, r.total, work(r, lengthNow())]);
  return {columns, rows};
}
