// A picture's rows as files: pure functions of the rows and of what is known about them.
import {first} from '../kit/dom.js';

/** @typedef {import('../gradio.js').Table} Table */
/** @typedef {Record<string, any>} About what a file says about its numbers, by name */

const LONGEST = 40; // characters of the text in a file's name

/** @param {string} text @param {RegExp} other what has no place in a name */
const plain = (text, other = /[^\p{L}\p{N}]+/gu) =>
  first(text.toLowerCase().replace(other, '-'), LONGEST).replace(/^-+|-+$/g, '');

/**
 * Text, tab with picture, what the reader has chosen there, and date.
 * @param {About} about
 * @param {string} kind
 * @param {string} ending
 * @param {Record<string, unknown>} [state]
 */
export function fileName(about, kind, ending, state = {}) {
  const chosen = Object.entries(state).map(([name, value]) =>
    plain(`${name} ${oneLine(value)}`, /[^\p{L}\p{N}.]+/gu),
  );
  const parts = [plain(about.text ?? ''), kind.replace('/', '-'), ...chosen, about.date];
  return `${parts.filter(Boolean).join('_')}.${ending}`;
}

/**
 * A text without a formula: an apostrophe stands where one would begin, also behind a sign at which
 * another spreadsheet divides, for which
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

// what no reader of a file sees, and some take for the end of a line
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** @param {string} sign */
const escaped = sign => {
  const at = /** @type {number} */ (sign.codePointAt(0));
  return at > 0xffff
    ? `\\U${at.toString(16).padStart(8, '0')}`
    : `\\u${at.toString(16).padStart(4, '0')}`;
};

/** @param {unknown} value */
const oneLine = value =>
  (typeof value === 'string' ? value : JSON.stringify(value))
    .replace(/\s+/g, ' ')
    .replace(HIDDEN, escaped);

/** @param {string} value */
const quoted = value => (/[",;\t\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
/** @param {Table['rows']} rows */
const lines = rows => rows.map(row => row.map(cell).join(',')).join('\r\n') + '\r\n';

/** Rows as CSV (RFC 4180). @param {Table} table */
export const plainCsv = ({columns, rows}) => lines([columns, ...rows]);

/**
 * The same below lines of one cell that begins with #; no other cell does.
 * @param {Table} table
 * @param {About} about
 */
export const csv = (table, about) =>
  Object.entries(about)
    .map(([name, value]) => `${quoted(harmless(`# ${name}: ${oneLine(value)}`))}\r\n`)
    .join('') + plainCsv(table);

/** @param {Table} table @param {About} about */
export const json = (table, about) => `${JSON.stringify({about, ...table}, null, 1)}\n`;

/**
 * A text as Python writes it: JSON's escapes are Python's, and what is hidden is escaped too.
 * @param {string} text
 */
const literal = text => JSON.stringify(text).replace(HIDDEN, escaped);

const BUNDLED = 'assets/models/',
  PLACES = new Set(['MODELS', 'ADAPTERS']); // what a recipe is told of where its models are

/**
 * A place of a model as Python writes it: a bundled one is where the head of the lines found it.
 * @param {string} text
 */
const placed = text =>
  text.startsWith(BUNDLED) ? `BUNDLED + ${literal(text.slice(BUNDLED.length - 1))}` : literal(text);

/**
 * A value as Python writes it.
 * @param {any} value
 * @param {(text: string) => string} written a text
 * @returns {string}
 */
function python(value, written = literal) {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(item => python(item, written)).join(', ')}]`;
  if (typeof value === 'string') return written(value);
  if (typeof value !== 'object')
    return Number.isFinite(value) ? String(value) : `float("${value}")`;
  return `{${Object.entries(value)
    .map(([name, item]) => `${literal(name)}: ${python(item, written)}`)
    .join(', ')}}`;
}

/**
 * @typedef {{finds: string, computes: string, prints: string, draws: string, writes: string}} Lines
 * the parts of a recipe as they lie on the server: a reader's text is in none of them
 */
/** @typedef {Record<string, any>} Constants what a recipe is told, by the names in its lines */

const CONSTANT = /^([A-Z_]+) = (?:\{\n(?:    .*\n)*\}|\[\n(?:    .*\n)*\]|.*?)(?=  #.*$|$)/gm;

/**
 * The lines with every constant that is told in its place.
 * @param {string} lines
 * @param {Constants} constants
 */
const told = (lines, constants) =>
  lines.replace(CONSTANT, (line, name) =>
    Object.hasOwn(constants, name)
      ? `${name} = ${python(constants[name], PLACES.has(name) ? placed : literal)}`
      : line,
  );

const SPACE = /^https:\/\/huggingface\.co\/spaces\/([\w.-]+\/[\w.-]+)/;

/**
 * The lines that find the bundled models, where these lines read one.
 * @param {Lines} lines
 * @param {Constants} constants
 * @param {About} about
 */
function head({finds, computes}, constants, {link = ''}) {
  const readsBundled = [...PLACES].some(
    name =>
      new RegExp(`^${name} = `, 'm').test(computes) &&
      Object.values(constants[name] ?? {})
        .flat()
        .some(place => String(place).startsWith(BUNDLED)),
  );
  return readsBundled ? told(finds, {SPACE: SPACE.exec(link)?.[1] ?? ''}) : '';
}

// Python looks for this in the first two lines, and would take it from a text
const CODED = '# -*- coding: utf-8 -*-';

/**
 * The lines that recompute the numbers, for this text and these models.
 * @param {Lines} lines
 * @param {Constants} constants
 * @param {About} about
 */
export function recipe(lines, constants, about) {
  const comments = Object.entries(about).map(([name, value]) => `# ${name}: ${oneLine(value)}`),
    {computes, prints, draws, writes} = lines;
  const begins = [CODED, ...comments, head(lines, constants, about)].join('\n');
  return [begins, told(computes, constants), prints, draws, writes].join('');
}

/**
 * The same as a notebook: what it is about, the numbers, their rows, the figure.
 * @param {Lines} lines
 * @param {Constants} constants
 * @param {About} about
 */
export function notebook(lines, constants, about) {
  const lists = Object.entries(about)
    .map(([name, value]) => `${name}: ${oneLine(value)}`)
    .join('\n');
  const fence = '`'.repeat(
    Math.max(3, ...[...lists.matchAll(/`+/g)].map(([run]) => run.length + 1)),
  ); // what stands in a fence is no markup
  const introduction = [
    `# ${about.picture}`,
    `${fence}text`,
    lists,
    fence,
    '',
    'pip install torch transformers peft plotly',
  ];
  const code = [
    head(lines, constants, about),
    told(lines.computes, constants),
    lines.prints,
    `${lines.draws}figure`,
  ]
    .map(part => part.trim())
    .filter(Boolean);
  const cells = [['markdown', introduction.join('\n')], ...code.map(source => ['code', source])];
  return `${JSON.stringify(
    {
      nbformat: 4,
      nbformat_minor: 5,
      metadata: {kernelspec: {name: 'python3', display_name: 'Python 3', language: 'python'}},
      cells: cells.map(([kind, source], i) => ({
        cell_type: kind,
        id: `cell-${i}`,
        metadata: {},
        source,
        ...(kind === 'code' ? {execution_count: null, outputs: []} : {}),
      })),
    },
    null,
    1,
  )}\n`;
}
