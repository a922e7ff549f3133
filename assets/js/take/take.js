// A picture taken away: as a drawing, as pixels, as its rows, or as the lines that compute them
// again.
import {fine, make} from '../kit/dom.js';
import {specs} from '../kit/figure.js';
import {linkNow, readsText, runParams} from '../page/here.js';
import {isDark, setDark} from '../page/parts.js';
import {hideChoices} from '../page/pattern.js';
import {beside} from './beside.js';
import {drawing, pixels} from './drawing.js';
import {described} from './png.js';
import {csv, fileName, json, notebook, recipe} from './files.js';

/** @typedef {import('./files.js').About} About */
/**
 * @typedef {{models: {label: string, source: string, revision: string, sha256: string}[], versions:
 *   string, cite: string}} Provenance
 */
/**
 * @typedef {{kind: string, root: HTMLElement, data: any, picture:
 *   Omit<import('../gradio.js').Picture, 'show'>}} Shown what there is at a place
 */

/**
 * @typedef {{width: number, theme: string, caption: boolean}} Look how an image differs from the
 *   page; 0 and '' for not at all
 */

/** @type {Record<string, string>} */
const TYPES = {
  svg: 'image/svg+xml',
  csv: 'text/csv;charset=utf-8',
  json: 'application/json',
  py: 'text/x-python;charset=utf-8',
  html: 'text/html;charset=utf-8',
  ipynb: 'application/x-ipynb+json',
};
const SETTLED_MS = 200; // what charts and pictures take to follow a width

/**
 * What the page knows of a family; a page that was taken away has it with it.
 * @param {string} family
 * @returns {Promise<Provenance>}
 */
export const provenance = async family =>
  window.explorer.taken?.provenance ?? (await responseFrom(`provenance/${family}`)).json();

/** @param {string} address relative to the page @returns {Promise<Response>} */
export async function responseFrom(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer;
}

/**
 * What a file says about its numbers: of a tab that reads no text only what the picture asks for by
 * `true`.
 * @param {string} kind
 * @param {Provenance} known
 * @param {Record<string, any>} own what the picture says itself; null for nothing
 * @returns {About}
 */
export function aboutOf(kind, known, own = {}) {
  const {text = '', family = '', device = '', dtype = ''} = runParams();
  const run = Object.entries({
    text,
    family,
    models: known.models.map(checkpoint),
    device,
    dtype,
  }).filter(([name]) => readsText(kind) || own[name] === true);
  const {state = {}, ...fields} = own,
    told = Object.entries(fields).filter(([, value]) => value !== true);
  const about = {
    picture: kind,
    ...Object.fromEntries(run),
    ...state,
    versions: known.versions,
    date: new Date().toISOString().slice(0, 10),
    link: linkNow().href,
    cite: known.cite,
    ...Object.fromEntries(told),
  };
  return /** @type {About} */ (
    Object.fromEntries(Object.entries(about).filter(([, value]) => value !== null))
  );
}
/** @param {Provenance['models'][number]} model */
const checkpoint = ({label, source, revision, sha256}) =>
  `${label}: ${source}${sha256 ? ` (sha256 ${sha256})` : `@${revision}`}`;

/** Which weights, and where they ran. @param {About} about */
export const origin = ({models, adapters = [], device, dtype}) =>
  [...models, ...adapters, [device, dtype].filter(Boolean).join(', ')]
    .filter(Boolean)
    .join('; ')
    .replace(/([0-9a-f]{8})[0-9a-f]{32,}/g, '$1');

/** What stands below a drawing. @param {About} about @param {Record<string, unknown>} state */
const caption = ({text, versions, date, link, cite, ...run}, state) =>
  [
    ...(text ? [`“${text}”`] : []),
    Object.entries(state)
      .map(([name, value]) => [name.replaceAll('_', ' '), value])
      .map(
        ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
      )
      .join('; '),
    run.models ? origin(run) : '',
    `${versions}; ${date}`,
    link,
    cite,
  ].filter(Boolean);

/**
 * The models that lines go through: those that the picture has, as one may be unavailable, or have
 * no head for it.
 * @param {Provenance['models']} models
 * @param {string} computes
 * @param {import('../gradio.js').Table} table
 */
function drawnOf(models, computes, {columns, rows}) {
  const at = columns.indexOf('model'),
    names = new Set(rows.map(row => row[at])),
    drawn = models.filter(({label}) => names.has(label));
  return drawn.length && /^for label in .*\bMODELS:$/m.test(computes) ? drawn : models;
}

/**
 * @param {typeof recipe | typeof notebook} write
 * @param {Shown} shown
 * @param {About} about
 * @param {Provenance} known
 */
async function code(write, {kind, root, data, picture}, about, known) {
  const of = root.dataset.lines ?? kind,
    lines =
      window.explorer.taken?.recipes[of] ??
      (await (await responseFrom(`recipe/${of}.json`)).json());
  const models = Object.fromEntries(
    drawnOf(known.models, lines.computes, picture.table(data)).map(({label, source, revision}) => [
      label,
      [source, revision],
    ]),
  );
  return write(
    lines,
    {TEXT: hideChoices(runParams().text), MODELS: models, ...picture.constants?.(data)},
    about,
  );
}

/**
 * What is drawn while everything in it is at least twice as fine as the page.
 * @template T
 * @param {() => T} draw
 * @param {HTMLElement} root
 * @param {Shown['picture']} picture
 */
function finely(draw, root, picture) {
  try {
    fine(true);
    picture.theme?.(root);
    return draw();
  } finally {
    fine(false);
    picture.theme?.(root);
  }
}

/**
 * What is drawn in another width or theme than the page's, which has its own again afterwards.
 * @template T
 * @param {Look} look
 * @param {Shown} shown
 * @param {() => T} draw
 */
async function laidOut({width, theme}, {root, picture}, draw) {
  const wasDark = isDark();
  if (!width && !theme) return finely(draw, root, picture);
  try {
    if (width) root.style.width = `${width}px`;
    if (theme) setDark(theme === 'dark', true);
    await new Promise(done => setTimeout(done, SETTLED_MS));
    return finely(draw, root, picture);
  } finally {
    root.style.width = '';
    setDark(wasDark, false);
    picture.theme?.(root);
  }
}

/**
 * One file of a picture.
 * @param {string} ending
 * @param {Shown} shown
 * @param {About} about
 * @param {Provenance} known
 * @param {Look} look
 * @returns {Promise<Blob>}
 */
async function file(ending, shown, about, known, look) {
  const {root, data, picture} = shown,
    title = [about.picture, about.text].filter(Boolean).join(': '),
    {state = {}} = picture.header?.(data) ?? {};
  const drawn = () =>
    drawing(root, {
      title,
      caption: look.caption ? caption(about, state) : [],
      about,
      ...(look.caption && {beside: beside(root)}),
    });
  if (ending === 'png' || ending === 'svg') await picture.whole?.(root);
  if (ending === 'png') return described(await pixels(await laidOut(look, shown, drawn)), about);
  /** @type {Record<string, () => string | Promise<string>>} */
  const writers = {
    svg: async () => (await laidOut(look, shown, drawn)).text,
    csv: () => csv(picture.table(data), about),
    json: () => json(picture.table(data), about),
    py: () => code(recipe, shown, about, known),
    ipynb: () => code(notebook, shown, about, known),
  };
  return new Blob([await writers[ending]()], {type: TYPES[ending]});
}

/**
 * Every chart of a picture as a figure that Plotly reads, in the page's light or dark.
 * @param {Shown} shown
 * @param {About} about
 * @param {(kind: string, ending: string) => string} named
 */
async function figures({kind, root, picture}, about, named) {
  await picture.whole?.(root);
  const drawn = await specs(root);
  drawn.forEach(({data, layout}, i) => {
    const figure = JSON.stringify({data, layout: {...layout, meta: about}});
    save(
      named(drawn.length > 1 ? `${kind}-${i + 1}` : kind, 'plotly.json'),
      new Blob([figure], {type: TYPES.json}),
    );
  });
}

/** Hands a file to the reader. @param {string} name @param {Blob} content */
export function save(name, content) {
  const link = make('a', {href: URL.createObjectURL(content), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** How an image is to look, as a menu has it. @param {ParentNode} menu @returns {Look} */
export function lookOf(menu) {
  const field = (/** @type {string} */ name) =>
    /** @type {HTMLInputElement | null} */ (menu.querySelector('.take-look')?.querySelector(name));
  return {
    width: Number(field('[name=width]')?.value),
    theme: field('[name=theme]')?.value ?? '',
    caption: field('[name=caption]')?.checked ?? true,
  };
}

/** @param {string} ending @param {Shown} shown @param {Look} look */
export async function take(ending, shown, look) {
  const own = shown.picture.header?.(shown.data),
    family = own?.family; // of a picture that says it: the page may show another by now
  const known = await provenance(typeof family === 'string' ? family : runParams().family),
    about = aboutOf(shown.kind, known, own);
  const named = (/** @type {string} */ kind, /** @type {string} */ end) =>
    fileName(about, kind, end, own?.state);
  if (ending === 'plotly') await figures(shown, about, named);
  else save(named(shown.kind, ending), await file(ending, shown, about, known, look));
}
