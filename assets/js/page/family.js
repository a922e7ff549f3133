// The models in use: a preset, or one size in each column; what speaks of others is out of sight.

/** @typedef {Record<string, string>} Sizes the size in each column
 *  @typedef {{presets: Record<string, Sizes>, columns: Record<string, string[]>}} Choices */

/** The size in each column of a family as it is written: "base", "bert=large,albert=xlarge" (the others as in the first preset) or "base,bert=large".
 * @param {string} family @param {Choices} choices @returns {Sizes | null} null where there is none of that name */
export function sizesOf(family, {presets, columns}) {
  const parts = family.split(','), preset = parts[0].includes('=') ? Object.keys(presets)[0] : parts.shift();
  const sizes = {...presets[preset], ...Object.fromEntries(parts.map(part => part.split('=')))};
  const known = Object.hasOwn(presets, preset) && Object.entries(sizes).every(([key, size]) => Object.hasOwn(columns, key) && columns[key].includes(size));
  return known ? Object.fromEntries(Object.keys(columns).filter(key => Object.hasOwn(sizes, key)).map(key => [key, sizes[key]])) : null;
}

/** The one way to write a family. @param {Sizes} sizes @param {Choices} choices */
export function familyOf(sizes, {presets}) {
  const written = one => Object.entries(one).map(pair => pair.join('=')).join(',');
  return Object.keys(presets).find(name => written(presets[name]) === written(sizes)) ?? written(sizes);
}

/** A family's fields in a link: its preset, or each column. @param {string} family @returns {Record<string, string>} */
export const inColumns = family => (family.includes('=') ? Object.fromEntries(family.split(',').map(part => part.split('='))) : {family});

/** A link's fields with its columns as one field. @param {Record<string, string>} params @param {Choices} choices @returns {Record<string, string>} */
export function asOneField(params, {presets, columns}) {
  const named = Object.keys(columns).filter(key => key in params);
  if (!named.length) return params;
  const rest = Object.fromEntries(Object.entries(params).filter(([name]) => !named.includes(name)));
  return {...rest, family: [params.family ?? Object.keys(presets)[0], ...named.map(key => `${key}=${params[key]}`)].join(',')};
}

/** @param {string} family @param {Choices} choices */
export function showFamily(family, choices) {
  const sizes = sizesOf(family, choices) ?? {};
  for (const key of Object.keys(choices.columns)) document.documentElement.setAttribute(`data-${key}`, sizes[key] ?? '');
  for (const row of document.querySelectorAll('#family .fm-row')) {
    row.toggleAttribute('hidden', sizes[row.getAttribute('data-model')] !== row.getAttribute('data-size'));
  }
  for (const badge of document.querySelectorAll('#masthead [data-family]')) {
    badge.toggleAttribute('hidden', badge.getAttribute('data-family') !== (family.includes('=') ? '' : family));
  }
}
