// The seven sizes, at any length: weights against compute in a chart, or everything in a table to
// sort.
import {slider, switcher} from '../kit/choice.js';
import {el, make, say, stacks, vary} from '../kit/dom.js';
import {figure, readable} from '../kit/figure.js';
import {sorted} from '../kit/maths.js';
import {digits, exact, gflop, quotient, unbreakable, weights} from '../kit/numbers.js';
import {explained} from '../kit/term.js';
import {look} from '../page/look.js';

export {whole} from '../kit/figure.js';

/**
 * @typedef {import('../data').SizesData} SizesData
 * @typedef {import('../data').SizeRow} Row
 */

/** @type {[string, number][]} */
const FORMATS = [
  ['fp32', 4],
  ['fp16', 2],
  ['int8', 1],
];
const chosenLength = look('length', 128),
  chosenUnit = look('bytes', 'MB'),
  chosenForm = look('sizes', ''),
  chosenOrder = look('sort', 'total.down');
/** @param {number[]} lengths */
const lengthNow = lengths => lengths.find(length => String(length) === chosenLength.value) ?? 128;
const unitName = () => (chosenUnit.value === 'MiB' ? 'MiB' : 'MB');
/** A link of before the switch that names a unit was made at the table. */
const formNow = () =>
  chosenForm.value === 'table' || (chosenForm.value === '' && unitName() === 'MiB')
    ? 'table'
    : 'chart';

/** @param {Row} row @param {number} length */
const work = (row, length) => row.flops[0] + row.flops[1] * length + row.flops[2] * length ** 2;
/** @param {Row} row */
const offPrinted = row => row.total / 1e6 / row.printed[0][0] - 1;
/**
 * The column that the table is sorted by, and whether the largest come first.
 * @param {Column[]} all
 */
const orderNow = all => {
  const [id, way] = chosenOrder.value.split('.');
  return {column: all.find(column => column.id === id) ?? all[1], down: way !== 'up'};
};
const unit = () => (unitName() === 'MB' ? 1e6 : 2 ** 20);

/**
 * @typedef {{id: string, head: string, value: (row: Row) => any, print: (row: Row) => any, bar?:
 *   boolean, title?: (row: Row) => string}} Column
 * @param {any} texts
 * @param {number} length
 * @returns {Column[]}
 */
function columns(texts, length) {
  return [
    {id: 'name', head: texts.heads.name, value: r => r.name, print: r => r.name},
    {
      id: 'total',
      head: texts.heads.total,
      value: r => r.total,
      print: r => exact(r.total),
      bar: true,
    },
    {
      id: 'printed',
      head: texts.heads.printed,
      value: r => r.printed[0][0],
      print: r => r.printed.map(p => `${p[0]}${unbreakable}M`).join(' / '),
      title: r => r.printed.map(p => `${p[0]}${unbreakable}M: ${p[1]}`).join('; '),
    },
    {
      id: 'off',
      head: texts.heads.off,
      value: offPrinted,
      print: r => (offPrinted(r) > 0 ? '+' : '−') + digits(100 * Math.abs(offPrinted(r)), 1) + '%',
    },
    {
      id: 'applied',
      head: texts.heads.applied,
      value: r => r.applied,
      print: r => weights(r.applied),
    },
    {
      id: 'work',
      head: say(texts.heads.work, {length}),
      value: r => work(r, length),
      print: r => gflop(work(r, length) / 1e9).replace(/\D+$/, ''),
      bar: true,
    },
    {
      id: 'layers',
      head: 'L',
      value: r => r.layers,
      print: r => r.layers,
      title: () => texts.heads.layers,
    },
    {
      id: 'width',
      head: 'H',
      value: r => r.width,
      print: r => exact(r.width),
      title: () => texts.heads.width,
    },
    {
      id: 'embedding',
      head: 'E',
      value: r => r.embedding,
      print: r => exact(r.embedding),
      title: () => texts.heads.embedding,
    },
    {
      id: 'heads',
      head: 'A',
      value: r => r.heads,
      print: r => r.heads,
      title: () => texts.heads.heads,
    },
    ...FORMATS.map(([name, size]) => ({
      id: name,
      head: `${name} ${unitName()}`,
      value: (/** @type {Row} */ row) => row.total * size,
      print: (/** @type {Row} */ row) => digits((row.total * size) / unit(), 1),
    })),
  ];
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {SizesData} */ data) {
  const {rows, texts, lengths} = data;
  const sentence = el('p', 'finding pt-finding'),
    controls = el('div', 'pm-controls'),
    body = el('div');
  const length = slider(texts.length, lengths, lengthNow(lengths), value => {
    chosenLength.value = String(value);
    refresh();
  });
  const units = switcher(texts.unit, {MB: 'MB (10⁶)', MiB: 'MiB (2²⁰)'}, unitName(), value => {
    chosenUnit.value = value;
    refresh();
  });
  const form = switcher(texts.form, texts.forms, formNow(), value => {
    chosenForm.value = value === 'chart' && unitName() === 'MB' ? '' : value;
    draw();
  });
  const gflop = () => make('p', {class: 'note'}, ...explained(texts.units, texts.terms));
  let follow = () => {};
  function refresh() {
    sentence.textContent = comparison(rows, texts, lengthNow(lengths));
    follow();
  }
  function draw() {
    const isTable = formNow() === 'table',
      [parts, next] = isTable
        ? tableParts(rows, texts, () => lengthNow(lengths), refresh)
        : chartParts(data);
    follow = next;
    controls.replaceChildren(form, length.node, ...(isTable ? [units] : []));
    body.replaceChildren(...parts, gflop());
    refresh();
  }
  root.replaceChildren(sentence, controls, body);
  draw();
}

/**
 * @param {SizesData} data
 * @returns {[Node[], () => void]} the chart and its legend, and what follows a new length
 */
function chartParts(data) {
  const {rows, texts, lengths, figures} = data,
    spec = () => figures[lengths.indexOf(lengthNow(lengths))];
  const chart = figure(spec(), spec().layout.meta.label),
    numbers = el('div');
  const legend = make(
    'ul',
    {class: 'pt-layers'},
    ...rows.map(row => {
      const layers = say(texts.layers[row.stored_layers < row.layers ? 'shared' : 'own'], {
        n: row.layers,
      });
      return make(
        'li',
        {class: 'head', 'data-model': row.key, 'data-size': row.size},
        make('span', {class: 'model-name'}, row.label),
        make('small', {}, layers),
      );
    }),
  );
  return [
    [chart.node, legend, el('p', 'note', texts.chart_note), numbers],
    () => {
      chart.set(spec());
      numbers.replaceChildren(readable(table(data)));
    },
  ];
}

/**
 * @param {Row[]} rows
 * @param {any} texts
 * @param {() => number} length
 * @param {() => void} refresh
 * @returns {[Node[], () => void]} the table, and what follows a new length or unit
 */
function tableParts(rows, texts, length, refresh) {
  const place = el('div', 'table sorts pt-sizes', null, {
    tabindex: 0,
    role: 'region',
    'aria-label': texts.label,
  });
  return [
    [place, el('p', 'note', texts.note), el('p', 'note', texts.bytes)],
    () => {
      place.replaceChildren(tableOf(rows, texts, length(), refresh));
      stacks(place);
    },
  ];
}

/** The widest ALBERT beside the large BERT. @param {Row[]} rows @param {number} length */
function compared(rows, length) {
  const [wide, large] = ['albert-xxlarge-v2', 'bert-large-uncased'].map(
    name => /** @type {Row} */ (rows.find(row => row.name === name)),
  );
  return {
    wide,
    large,
    ratios: {weights: wide.total / large.total, work: work(wide, length) / work(large, length)},
  };
}

/** @param {Row[]} rows @param {any} texts @param {number} length */
function comparison(rows, texts, length) {
  const {wide, large, ratios} = compared(rows, length),
    [singular, plural] = texts.tokens;
  const done = (/** @type {Row} */ row) => gflop(work(row, length) / 1e9),
    stored = (/** @type {Row} */ row) => weights(row.total);
  return say(texts.finding, {
    weights: quotient(ratios.weights),
    stored: stored(wide),
    of_stored: stored(large),
    length,
    tokens: length === 1 ? singular : plural,
    work: quotient(ratios.work),
    done: done(wide),
    of_done: done(large),
  });
}

/** @param {Row[]} rows @param {any} texts @param {number} length @param {() => void} refresh */
function tableOf(rows, texts, length, refresh) {
  const all = columns(texts, length),
    order = orderNow(all);
  const table = el('table'),
    head = el('tr'),
    body = el('tbody');
  for (const column of all) {
    const cell = el('th', '', null, {scope: 'col'});
    const isChosen = column === order.column;
    if (isChosen) cell.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
    const mark = isChosen ? (order.down ? ' ▾' : ' ▴') : '';
    const button = el('button', 'pt-sort', column.head + mark, {type: 'button'});
    if (column.title && column.head.length === 1) button.title = column.title(rows[0]);
    button.addEventListener('click', () => {
      const isUp = isChosen ? order.down : column.id === 'name';
      chosenOrder.value = `${column.id}.${isUp ? 'up' : 'down'}`;
      const at = all.indexOf(column);
      refresh();
      /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.pt-sizes th .pt-sort'))[
        at
      ].focus();
    });
    cell.append(button);
    head.append(cell);
  }
  for (const row of sorted(rows, order.column.value, order.down)) {
    const line = el('tr');
    Object.assign(line.dataset, {model: row.key, size: row.size});
    all.forEach((column, i) => {
      const cell = i
        ? el('td', column.bar ? 'with-bar' : '', column.print(row))
        : el('th', '', null, {scope: 'row'});
      if (!i) cell.append(el('span', 'model-name', row.name));
      if (column.bar)
        vary(cell, '--share', column.value(row) / Math.max(...rows.map(column.value)));
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

/** @param {SizesData} data */
export function header({rows, lengths}) {
  const {ratios} = compared(rows, lengthNow(lengths)),
    form = formNow();
  return {
    text: null,
    family: null,
    models: null,
    state: {form, length: lengthNow(lengths), ...(form === 'table' ? {unit: unitName()} : {})},
    xxlarge_over_bert_large: ratios,
  };
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {SizesData} */ {rows, lengths}) => ({
  LENGTH: lengthNow(lengths),
  CONFIGS: Object.fromEntries(rows.map(row => [row.name, row.config])),
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {SizesData} */ {rows, lengths}) {
  const length = lengthNow(lengths),
    columns = [
      'name',
      'parameters',
      'printed_millions',
      'printed_in',
      'also_printed_millions',
      'percent_over_printed',
      'applied',
      'layers',
      'hidden',
      'embedding',
      'heads',
      'fp32_bytes',
      'fp16_bytes',
      'int8_bytes',
      `flops_at_${length}_tokens`,
      'uses_of_a_weight_per_token',
    ];
  return {
    columns,
    rows: rows.map(r => [
      r.name,
      r.total,
      r.printed[0][0],
      r.printed[0][1],
      r.printed
        .slice(1)
        .map(p => p[0])
        .join(' / '),
      100 * offPrinted(r),
      r.applied,
      r.layers,
      r.width,
      r.embedding,
      r.heads,
      r.total * 4,
      r.total * 2,
      r.total,
      work(r, length),
      work(r, length) / (2 * length * r.total),
    ]),
  };
}
