// A picture taken away: as a drawing, as pixels, as its rows, or as the lines that compute them again.
import {fine, make} from '../kit/dom.js';
import {linkNow, readsText, runParams} from '../page/here.js';
import {drawing, pixels} from './drawing.js';
import {described} from './png.js';
import {csv, fileName, json, recipe} from './files.js';

/** @typedef {import('./files.js').About} About */
/** @typedef {{models: {label: string, source: string, revision: string, sha256: string}[], versions: string, cite: string}} Provenance */
/** @typedef {{kind: string, root: HTMLElement, data: any, picture: Omit<import('../gradio.js').Picture, 'show'>}} Shown what there is at a place */

const TYPES = {svg: 'image/svg+xml', csv: 'text/csv;charset=utf-8', json: 'application/json', py: 'text/x-python;charset=utf-8', html: 'text/html;charset=utf-8'};
const CHOICE = /\[[^\[\]|\n]+(?:\|[^\[\]|\n]+)+\]/g;

/** What the page knows of a family; a page that was taken away has it with it. @param {string} family @returns {Promise<Provenance>} */
export const provenance = async family => window.explorer.taken?.provenance ?? (await asked(`provenance/${family}`)).json();

/** @param {string} address relative to the page @returns {Promise<Response>} */
export async function asked(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer;
}

/**
 * What a file says about its numbers: of a tab that reads no text only what the picture asks for by `true`.
 * @param {string} kind @param {Provenance} known @param {Record<string, any>} own what the picture says itself; null for nothing @returns {About}
 */
export function aboutOf(kind, known, own = {}) {
  const {text = '', family = '', device = '', dtype = ''} = runParams();
  const run = Object.entries({text, family, models: known.models.map(checkpoint), device, dtype}).filter(([name]) => readsText(kind) || own[name] === true);
  const told = Object.entries(own).filter(([, value]) => value !== true);
  const about = {picture: kind, ...Object.fromEntries(run), versions: known.versions, date: new Date().toISOString().slice(0, 10),
    link: linkNow().href, cite: known.cite, ...Object.fromEntries(told)};
  return /** @type {About} */ (Object.fromEntries(Object.entries(about).filter(([, value]) => value !== null)));
}
const checkpoint = ({label, source, revision, sha256}) => `${label}: ${source}${sha256 ? ` (sha256 ${sha256})` : `@${revision}`}`;

/** Which weights, and where they ran. @param {About} about */
export const origin = ({models, adapters = [], device, dtype}) => [...models, ...adapters, [device, dtype].filter(Boolean).join(', ')].filter(Boolean).join('; ')
  .replace(/([0-9a-f]{8})[0-9a-f]{32,}/g, '$1');

/** What stands below a drawing. @param {About} about */
const caption = ({text, versions, date, link, cite, ...run}) => [...text ? [`“${text}”`] : [], ...run.models ? [origin(run)] : [],
  `${versions}; ${date}`, link, cite];

/** @param {Shown} shown @param {About} about @param {Provenance} known */
async function python({kind, data, picture}, about, known) {
  const lines = window.explorer.taken?.recipes[kind] ?? await (await asked(`recipe/${kind}.py`)).text();
  const models = Object.fromEntries(known.models.map(({label, source, revision}) => [label, [source, revision]]));
  return recipe(lines, {TEXT: runParams().text.replace(CHOICE, '[MASK]'), MODELS: models, ...picture.constants?.(data)}, about);
}

/** What is drawn while everything in it is at least twice as fine as the page. @template T @param {() => T} draw @param {HTMLElement} root @param {Shown['picture']} picture */
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

/** One file of a picture. @param {string} ending @param {Shown} shown @param {About} about @param {Provenance} known @returns {Promise<Blob>} */
async function file(ending, shown, about, known) {
  const {root, data, picture} = shown, drawn = () => drawing(root, {title: [about.picture, about.text].filter(Boolean).join(': '), caption: caption(about), about});
  if (ending === 'png' || ending === 'svg') await picture.whole?.(root);
  if (ending === 'png') return described(await pixels(finely(drawn, root, picture)), about);
  const written = {svg: () => finely(drawn, root, picture).text, csv: () => csv(picture.table(data), about), json: () => json(picture.table(data), about),
    py: () => python(shown, about, known)}[ending];
  return new Blob([await written()], {type: TYPES[ending]});
}

/** Hands a file to the reader. @param {string} name @param {Blob} content */
export function save(name, content) {
  const link = make('a', {href: URL.createObjectURL(content), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** @param {string} ending @param {Shown} shown */
export async function take(ending, shown) {
  const known = await provenance(runParams().family), about = aboutOf(shown.kind, known, shown.picture.said?.(shown.data));
  save(fileName(about, shown.kind, ending), await file(ending, shown, about, known));
}
