// A picture's rows as files: pure functions of the rows and of what is known about them.

/** @typedef {import('../gradio.js').Table} Table */
/** @typedef {Record<string, any>} About what a file says about its numbers, by name */

const LONGEST = 40;   // characters of the text in a file's name

/** Text, tab with picture, and date. @param {About} about @param {string} kind @param {string} ending */
export function fileName(about, kind, ending) {
  const text = (about.text ?? '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, LONGEST).replace(/^-+|-+$/g, '');
  return `${text ? `${text}_` : ''}${kind.replace('/', '-')}_${about.date}.${ending}`;
}

/** One cell; what a spreadsheet would run as a formula is set apart by an apostrophe. @param {string | number | boolean | null} value */
export function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const guarded = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /["',#\n\r]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

const oneLine = value => (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ');

const quoted = value => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const lines = rows => rows.map(row => row.map(cell).join(',')).join('\r\n') + '\r\n';

/** Rows as CSV (RFC 4180). @param {Table} table */
export const plainCsv = ({columns, rows}) => lines([columns, ...rows]);

/** The same below lines of one cell that begins with #; no other cell does. @param {Table} table @param {About} about */
export const csv = (table, about) =>
  Object.entries(about).map(([name, value]) => `${quoted(`# ${name}: ${oneLine(value)}`)}\r\n`).join('') + plainCsv(table);

/** @param {Table} table @param {About} about */
export const json = (table, about) => `${JSON.stringify({about, ...table}, null, 1)}\n`;

/** A value as Python writes it: strings and numbers are the same in both. @param {any} value @returns {string} */
function python(value) {
  if (value === null || typeof value === 'boolean') return {null: 'None', true: 'True', false: 'False'}[String(value)];
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${python(one)}`).join(', ')}}`;
}

/** The lines that recompute the numbers, for this text and these models. @param {string} lines @param {Record<string, any>} constants by their names in the lines @param {About} about */
export function recipe(lines, constants, about) {
  const set = Object.entries(constants).reduce((text, [name, value]) =>
    text.replace(new RegExp(`^${name} = (\\{\\n(?:    .*\\n)*\\}|\\[\\n(?:    .*\\n)*\\]|.*?)(?=  #.*$|$)`, 'm'), () => `${name} = ${python(value)}`), lines);
  const said = Object.entries(about).map(([name, value]) => `# ${name}: ${oneLine(value)}`);
  return `${said.join('\n')}\n${set}`;
}

const DRAWN = '# A plain figure', BUNDLED = 'assets/models/';
const SPACE = /^https:\/\/huggingface\.co\/spaces\/([\w.-]+\/[\w.-]+)/;

/** Where the bundled models are: in a copy of the explorer, else in the Space that the link leads to. @param {About} about */
const home = ({link = ''}) => ['import os', '', 'home = os.environ.get("EXPLORER", ".")  # a copy of the explorer, with its assets/models',
  'if not os.path.isdir(f"{home}/assets/models"):',
  ...SPACE.test(link) ? ['    from huggingface_hub import snapshot_download', '',
    `    home = snapshot_download("${SPACE.exec(link)?.[1]}", repo_type="space", allow_patterns="assets/models/*")`]
    : ['    raise FileNotFoundError("The bundled models are not here: set EXPLORER to a folder with a copy of the explorer.")'],
  'os.chdir(home)'].join('\n');

/** The same lines as a notebook: what it is about, the numbers, the figure. @param {string} lines @param {About} about */
export function notebook(lines, about) {
  const [computed, drawn] = lines.trim().split(DRAWN), numbers = computed.replace(/\nprint\(\*columns[^]*$/, '');
  const said = [`# ${about.picture}`, ...Object.entries(about).map(([name, value]) => `- ${name}: ${oneLine(value)}`), '', 'pip install torch transformers peft plotly'];
  const cells = [['markdown', said.join('\n')], ...lines.includes(BUNDLED) ? [['code', home(about)]] : [], ['code', numbers.trim()], ['code', DRAWN + drawn.trimEnd()]];
  return `${JSON.stringify({nbformat: 4, nbformat_minor: 5, metadata: {kernelspec: {name: 'python3', display_name: 'Python 3', language: 'python'}},
    cells: cells.map(([kind, source], i) => ({cell_type: kind, id: `cell-${i}`, metadata: {}, source,
      ...kind === 'code' ? {execution_count: null, outputs: []} : {}}))}, null, 1)}\n`;
}
