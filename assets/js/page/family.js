// The models in use: a preset, or one size in each column; what speaks of others is out of sight.

/**
 *  @typedef {Record<string, string>} Sizes the size in each column
 * @typedef {{presets: Record<string, Sizes>, columns: Record<string, string[]>, own_columns?:
 *   string[], closed?: string}} Choices
 * `own_columns`: those that the page was started with by names of its own; `closed`: what a column
 * that is not shown has in place of a size
 */

import {the} from '../kit/dom.js';

const ONLY = 'only',
  MAX_COLUMNS = 4;

/** The columns of the presets. @param {Choices} choices */
const usual = ({presets}) => Object.keys(Object.values(presets)[0]);

/** Whether a family has exactly the columns that it names. @param {string} family */
const isExact = family => family.split(',')[0] === ONLY;

/**
 *  The size in each column of a family as it is written: "base", "bert=large,albert=xlarge" (the
 *  others as in the first preset), "base,bert=large", or "only,before=a,after=b" (no others).
 * @param {string} family
 * @param {Choices} choices
 * @returns {Sizes | null} null where there is none of that name
 */
export function sizesOf(family, choices) {
  const {presets, columns, own_columns: own = []} = choices,
    parts = family.split(',');
  const preset = parts[0].includes('=') ? Object.keys(presets)[0] : (parts.shift() ?? ''),
    named = Object.fromEntries(parts.map(part => part.split('=')));
  const hasModels = Object.entries(named).every(
    ([key, size]) => Object.hasOwn(columns, key) && columns[key].includes(size),
  );
  if (!hasModels) return null;
  const keys = Object.keys(named);
  if (preset === ONLY || keys.some(key => !usual(choices).includes(key))) {
    const isOfPage = [usual(choices), own].some(page => keys.every(key => page.includes(key)));
    return isOfPage &&
      keys.length &&
      keys.length <= MAX_COLUMNS &&
      (preset === ONLY || family.split(',')[0].includes('='))
      ? named
      : null;
  }
  if (!Object.hasOwn(presets, preset)) return null;
  const sizes = {...presets[preset], ...named};
  return Object.fromEntries(
    Object.keys(columns)
      .filter(key => Object.hasOwn(sizes, key))
      .map(key => [key, sizes[key]]),
  );
}

/** The one way to write a family. @param {Sizes} sizes @param {Choices} choices */
export function familyOf(sizes, choices) {
  const {presets} = choices;
  /** @param {Sizes} each */
  const written = each =>
    Object.entries(each)
      .map(pair => pair.join('='))
      .join(',');
  const full = Object.keys(sizes).join() === usual(choices).join();
  return (
    Object.keys(presets).find(name => written(presets[name]) === written(sizes)) ??
    (full ? written(sizes) : `${ONLY},${written(sizes)}`)
  );
}

/**
 *  The sizes with another one in a column, in the page's order; a column that is closed is none of
 *  them. The last one stays.
 * @param {Sizes} sizes
 * @param {string} key
 * @param {string} size
 * @param {Choices} choices
 * @returns {Sizes}
 */
export function withColumn(sizes, key, size, choices) {
  const page = [usual(choices), choices.own_columns ?? []].find(
    columns => columns.includes(key) && Object.keys(sizes).every(name => columns.includes(name)),
  );
  // a column of the page's own has no place in a preset
  const all = {...(page ? sizes : {}), [key]: size};
  const kept = Object.keys(choices.columns).filter(
    name => all[name] !== undefined && all[name] !== choices.closed,
  );
  return kept.length ? Object.fromEntries(kept.map(name => [name, all[name]])) : sizes;
}

/**
 * A family's fields in a link: its preset, or each column; a family of exact columns is one field.
 * @param {string} family
 * @returns {Record<string, string>}
 */
export const inColumns = family =>
  family.includes('=') && !isExact(family)
    ? Object.fromEntries(family.split(',').map(part => part.split('=')))
    : {family};

/**
 * A link's fields with its columns as one field.
 * @param {Record<string, string>} params
 * @param {Choices} choices
 * @returns {Record<string, string>}
 */
export function asOneField(params, choices) {
  const {presets} = choices,
    named = usual(choices).filter(key => key in params);
  if (!named.length) return params;
  const rest = Object.fromEntries(Object.entries(params).filter(([name]) => !named.includes(name)));
  if (isExact(params.family ?? '')) return {...rest, family: params.family};
  return {
    ...rest,
    family: [
      params.family ?? Object.keys(presets)[0],
      ...named.map(key => `${key}=${params[key]}`),
    ].join(','),
  };
}

/** @param {string} family @param {Choices} choices */
export function showFamily(family, choices) {
  const sizes = sizesOf(family, choices) ?? {};
  for (const key of Object.keys(choices.columns))
    document.documentElement.setAttribute(`data-column-${key}`, sizes[key] ?? '');
  for (const key of choices.own_columns ?? []) if (sizes[key]) addRow(key, sizes[key]);
  for (const row of document.querySelectorAll('#family .fm-row')) {
    row.toggleAttribute(
      'hidden',
      sizes[row.getAttribute('data-model') ?? ''] !== row.getAttribute('data-size'),
    );
  }
  for (const badge of document.querySelectorAll('#masthead [data-family]')) {
    badge.toggleAttribute('hidden', badge.getAttribute('data-family') !== badgeOf(family));
  }
}

/** The name of a family's badge. @param {string} family */
const badgeOf = family => (isExact(family) ? ONLY : family.includes('=') ? '' : family);

/**
 * The row of a model in a column with a name of its own: a copy of the model's, under the column's
 * name.
 * @param {string} key
 * @param {string} size
 */
function addRow(key, size) {
  const rows = [...document.querySelectorAll('#family .fm-row')].filter(
    row => row.getAttribute('data-size') === size,
  );
  /** @param {string} model */
  const rowOf = model => rows.find(row => row.getAttribute('data-model') === model);
  const pattern = rowOf('');
  if (rowOf(key) || !pattern) return;
  const row = /** @type {Element} */ (pattern.cloneNode(true));
  const name = the(row, '.model-name');
  row.setAttribute('data-model', key);
  name.setAttribute('data-model', key);
  name.textContent = key;
  pattern.before(row);
}
