// Published tables: one column as outlined bars, all columns as a table whose heads sort.
import {make, marked, say, stacks, the} from '../kit/dom.js';
import {linked} from '../kit/links.js';
import {sorted} from '../kit/maths.js';
import {explained} from '../kit/term.js';

/**
 * @typedef {import('../data').BenchmarksData} BenchmarksData
 * @typedef {import('../data').BenchmarkTable} BenchmarkTable
 * @typedef {import('../data').Column} Column
 * @typedef {Record<string, string>} Texts
 */

const chosen = {table: 'distilbert-1', column: '', up: false};

/** A score keeps its decimal: 89 is printed 89.0, as the papers have it. @param {string} unit */
const isScore = unit => unit === '%' || unit.endsWith('× 100');
/** @param {number | null} value @param {string} unit */
const printed = (value, unit) =>
  value === null
    ? '–'
    : value.toLocaleString('en-GB', {
        minimumFractionDigits: isScore(unit) ? 1 : 0,
        maximumFractionDigits: 3,
      });
/**
 * A number with its unit; what a correlation is multiplied by stands beside the column's name.
 * @param {number | null} value
 * @param {string} unit
 */
const withUnit = (value, unit) =>
  printed(value, unit) + (unit === '%' ? unit : unit && !unit.endsWith('× 100') ? ` ${unit}` : '');
/** A column's name, and its unit where it is not the usual one. @param {Column} column */
const named = column =>
  column.label + (column.unit && column.unit !== '%' ? ` (${column.unit})` : '');
const papers = {bert: 'BERT', distilbert: 'DistilBERT', albert: 'ALBERT', released: 'Released'};

/** @param {BenchmarkTable} table */
function inOrder(table) {
  const at = table.columns.findIndex(({label}) => label === chosen.column);
  return {at, rows: sorted(table.rows, row => row.values[at], !chosen.up)};
}

/** @param {BenchmarkTable} table @param {string} row @param {string} column */
const flagsOf = (table, row, column) =>
  table.flags.filter(flag => flag.row === row && flag.column === column);

/** @param {BenchmarkTable} table @param {Texts} t */
function bars(table, t) {
  const {at, rows} = inOrder(table),
    column = table.columns[at];
  const most = Math.max(...rows.map(row => Math.abs(row.values[at] ?? 0)));
  const list = make('ol', {class: 'bm-bars', 'aria-label': say(t.bars, {column: column.label})});
  for (const row of rows.filter(row => row.values[at] !== null)) {
    const fill = make('i');
    fill.style.inlineSize = `${(100 * Math.abs(row.values[at] ?? 0)) / most}%`;
    const marks = flagsOf(table, row.name, column.label);
    list.append(
      make(
        'li',
        {'data-model': row.model || null},
        make(
          'span',
          {class: row.model ? 'model-name' : '', 'data-model': row.model || null},
          row.name,
        ),
        make('span', {class: 'bm-bar', 'aria-hidden': 'true'}, fill),
        make(
          'span',
          {class: 'printed'},
          withUnit(row.values[at], column.unit) + (marks.length ? ' †' : ''),
        ),
      ),
    );
  }
  return list;
}

/** @param {Column} column @param {(label?: string) => void} redraw @param {Texts} t */
function head(column, redraw, t) {
  const on = chosen.column === column.label;
  const button = make(
    'button',
    {type: 'button', title: say(t.sort, {column: column.label})},
    named(column),
    on ? (chosen.up ? ' ▲' : ' ▼') : '',
  );
  button.addEventListener('click', () => {
    chosen.up = on ? !chosen.up : Boolean(column.lower_is_better);
    chosen.column = column.label;
    redraw(column.label);
  });
  return make(
    'th',
    {scope: 'col', 'aria-sort': on ? (chosen.up ? 'ascending' : 'descending') : 'none'},
    button,
  );
}

/** @param {BenchmarkTable} table @param {(label?: string) => void} redraw @param {Texts} t */
function grid(table, redraw, t) {
  const {rows} = inOrder(table);
  return stacks(
    make(
      'div',
      {class: 'table sorts', tabindex: '0', role: 'region', 'aria-label': table.title},
      make(
        'table',
        {},
        make(
          'thead',
          {},
          make(
            'tr',
            {},
            make('th', {scope: 'col'}, t.system),
            ...table.columns.map(column => head(column, redraw, t)),
          ),
        ),
        make(
          'tbody',
          {},
          ...rows.map(row =>
            make(
              'tr',
              {},
              make('th', {scope: 'row'}, row.name),
              ...row.values.map((value, i) =>
                make(
                  'td',
                  {class: 'printed'},
                  printed(value, table.columns[i].unit),
                  flagsOf(table, row.name, table.columns[i].label).length
                    ? make('sup', {}, '†')
                    : null,
                ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {BenchmarkTable} table @param {Texts} t */
function remarks(table, t) {
  return table.flags.map(flag =>
    make(
      'p',
      {class: 'note'},
      `† ${flag.row}, ${flag.column} `,
      make('span', {class: 'badge'}, t[flag.kind]),
      ` ${flag.text}`,
    ),
  );
}

/** @type {import('../gradio.js').Picture['show']} */
export const show = draw;

/** @param {BenchmarksData} data */
const tableOf = ({tables}) => tables.find(({id}) => id === chosen.table) ?? tables[0];

/** @param {BenchmarkTable} table @param {string} name @returns {Column} */
const columnOf = ({columns}, name) => columns.find(({label}) => label === name) ?? columns[0];

/** @param {HTMLElement} root @param {BenchmarksData} data */
function draw(root, data) {
  const t = data.texts,
    table = tableOf(data);
  if (!table.columns.some(({label}) => label === chosen.column)) {
    chosen.column = table.sort;
    chosen.up = Boolean(columnOf(table, table.sort).lower_is_better);
  }
  const redraw = (/** @type {string | undefined} */ label) => {
    draw(root, data);
    const name = label && say(t.sort, {column: label});
    if (name) marked(the(root, 'thead'), 'title', name)?.focus();
  };
  const select = make(
    'select',
    {},
    ...Object.entries(papers).map(([key, name]) =>
      make(
        'optgroup',
        {label: name},
        ...data.tables
          .filter(({paper}) => paper === key)
          .map(({id, title, source}) =>
            make(
              'option',
              {value: id, selected: id === table.id},
              `${title}, ${source.split(', ').pop()}`,
            ),
          ),
      ),
    ),
  );
  select.addEventListener('change', () => {
    Object.assign(chosen, {table: select.value, column: ''});
    draw(root, data);
    the(root, 'select').focus();
  });
  root.replaceChildren(
    make('label', {class: 'cl-field'}, make('span', {}, t.table), select),
    make(
      'p',
      {class: 'note'},
      make('span', {class: 'badge'}, t.published),
      ' ',
      ...linked(table.source, data.addresses),
      '. ',
      table.split === '-' ? '' : `${table.split}. `,
      ...explained(table.protocol, data.terms),
    ),
    make('p', {class: 'bm-title'}, say(t.bars, {column: named(columnOf(table, chosen.column))})),
    bars(table, t),
    grid(table, redraw, t),
    ...remarks(table, t),
    table.note ? make('p', {class: 'note'}, table.note) : '',
  );
}

/**
 * @type {import('../gradio.js').Picture['header']} what is drawn; the rows are those of all tables
 */
export const header = (/** @type {BenchmarksData} */ data) => ({
  state: {table_drawn: tableOf(data).title},
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {BenchmarksData} */ data) {
  const rows = data.tables.flatMap(published =>
    published.rows.flatMap(row =>
      published.columns.map((column, i) => [
        published.id,
        published.source,
        row.name,
        column.label,
        column.unit,
        row.values[i],
      ]),
    ),
  );
  return {columns: ['table', 'source', 'system', 'column', 'unit', 'value'], rows};
}
