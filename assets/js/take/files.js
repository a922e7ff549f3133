// A picture's rows as files: pure functions of the rows and of what is known about them.

/** @typedef {import('../gradio.js').Table} Table */
/** @typedef {Record<string, any>} About what a file says about its numbers, by name */

const LONGEST = 40;   // characters of the text in a file's name

/** Text, tab with picture, and date. @param {About} about @param {string} kind @param {string} ending */
export function fileName(about, kind, ending) {
  const text = (about.text ?? '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, LONGEST).replace(/^-+|-+$/g, '');
  return `${text ? `${text}_` : ''}${kind.replace('/', '-')}_${about.date}.${ending}`;
}

/**
 * A text without a formula: an apostrophe stands where one would begin, also behind a sign at which another spreadsheet divides, for which
 * quotation marks inside a line mean nothing. @param {string} text
 */
const harmless = text => text.replace(/(^|[;\t\r\n])(?=[=+\-@\t\r])/g, "$1'");

/** One cell. @param {string | number | boolean | null} value */
export function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const guarded = harmless(value);
  return /["',;#\t\n\r]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;   // what no reader of a file sees, and some take for the end of a line
const escaped = sign => { const at = sign.codePointAt(0); return at > 0xffff ? `\\U${at.toString(16).padStart(8, '0')}` : `\\u${at.toString(16).padStart(4, '0')}`; };

const oneLine = value => (typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ').replace(HIDDEN, escaped);

const quoted = value => (/[",;\t\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const lines = rows => rows.map(row => row.map(cell).join(',')).join('\r\n') + '\r\n';

/** Rows as CSV (RFC 4180). @param {Table} table */
export const plainCsv = ({columns, rows}) => lines([columns, ...rows]);

/** The same below lines of one cell that begins with #; no other cell does. @param {Table} table @param {About} about */
export const csv = (table, about) =>
  Object.entries(about).map(([name, value]) => `${quoted(harmless(`# ${name}: ${oneLine(value)}`))}\r\n`).join('') + plainCsv(table);

/** @param {Table} table @param {About} about */
export const json = (table, about) => `${JSON.stringify({about, ...table}, null, 1)}\n`;

/** A text as Python writes it: JSON's escapes are Python's, and what is hidden is escaped too. @param {string} text */
const literal = text => JSON.stringify(text).replace(HIDDEN, escaped);

/** A value as Python writes it. @param {any} value @returns {string} */
function python(value) {
  if (value === null || typeof value === 'boolean') return {null: 'None', true: 'True', false: 'False'}[String(value)];
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'string') return literal(value);
  if (typeof value !== 'object') return Number.isFinite(value) ? String(value) : `float("${value}")`;
  return `{${Object.entries(value).map(([name, one]) => `${literal(name)}: ${python(one)}`).join(', ')}}`;
}

/** @typedef {{computes: string, prints: string, draws: string}} Lines the parts of a recipe as they lie on the server: a reader's text is in none of them */
/** @typedef {Record<string, any>} Constants what a recipe is told, by the names in its lines */

const CONSTANT = /^([A-Z_]+) = (?:\{\n(?:    .*\n)*\}|\[\n(?:    .*\n)*\]|.*?)(?=  #.*$|$)/gm;

/** The lines with every constant that is told in its place. @param {string} lines @param {Constants} constants */
const told = (lines, constants) => lines.replace(CONSTANT, (line, name) => (Object.hasOwn(constants, name) ? `${name} = ${python(constants[name])}` : line));

const CODED = '# -*- coding: utf-8 -*-';   // Python looks for this in the first two lines, and would take it from a text

/** The lines that recompute the numbers, for this text and these models. @param {Lines} lines @param {Constants} constants @param {About} about */
export function recipe({computes, prints, draws}, constants, about) {
  const said = Object.entries(about).map(([name, value]) => `# ${name}: ${oneLine(value)}`);
  return `${[CODED, ...said].join('\n')}\n${told(computes, constants)}${prints}${draws}`;
}

const BUNDLED = 'assets/models/';
const SPACE = /^https:\/\/huggingface\.co\/spaces\/([\w.-]+\/[\w.-]+)/;

/** Where the bundled models are: in a copy of the explorer, else in the Space that the link leads to. @param {About} about */
const home = ({link = ''}) => ['import os', '', 'home = os.environ.get("EXPLORER", ".")  # a copy of the explorer, with its assets/models',
  'if not os.path.isdir(f"{home}/assets/models"):',
  ...SPACE.test(link) ? ['    from huggingface_hub import snapshot_download', '',
    `    home = snapshot_download("${SPACE.exec(link)?.[1]}", repo_type="space", allow_patterns="assets/models/*")`]
    : ['    raise FileNotFoundError("The bundled models are not here: set EXPLORER to a folder with a copy of the explorer.")'],
  'os.chdir(home)'].join('\n');

/** Whether the lines read one of the bundled models. @param {Lines} lines @param {Constants} constants */
const readsBundled = ({computes}, constants) => ['MODELS', 'ADAPTERS'].some(name => new RegExp(`^${name} = `, 'm').test(computes)
  && Object.values(constants[name] ?? {}).flat().some(place => String(place).startsWith(BUNDLED)));

/** The same as a notebook: what it is about, the numbers, the figure. @param {Lines} lines @param {Constants} constants @param {About} about */
export function notebook(lines, constants, about) {
  const said = [`# ${about.picture}`, ...Object.entries(about).map(([name, value]) => `- ${name}: ${oneLine(value)}`), '', 'pip install torch transformers peft plotly'];
  const code = [...readsBundled(lines, constants) ? [home(about)] : [], told(lines.computes, constants).trim(), lines.draws.trim()];
  const cells = [['markdown', said.join('\n')], ...code.map(source => ['code', source])];
  return `${JSON.stringify({nbformat: 4, nbformat_minor: 5, metadata: {kernelspec: {name: 'python3', display_name: 'Python 3', language: 'python'}},
    cells: cells.map(([kind, source], i) => ({cell_type: kind, id: `cell-${i}`, metadata: {}, source,
      ...kind === 'code' ? {execution_count: null, outputs: []} : {}}))}, null, 1)}\n`;
}
