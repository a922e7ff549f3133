// What a lesson reads from the page: the rows of a picture, which its menu saves too, and what they answer.
import {tableOf} from '../gradio.js';
import {sideBySide} from '../kit/numbers.js';

/** @typedef {Record<string, any>} Row a picture's row by its columns' names */
/** @typedef {{answer: string, said: [string, string][]}} Judged `answer`: the key of a lesson's choice; `said`: the numbers as they are printed, each with its name */
/** @typedef {{read: () => Promise<any> | any, judge: (readings: any[]) => Judged}} Reader `read`: of what the page shows, plain values or null where it is not there yet */

/** The rows that a picture shows now; none while it is not drawn. @param {string} kind @returns {Row[]} */
export function rowsOf(kind) {
  const root = /** @type {HTMLElement | undefined} */ ([...document.querySelectorAll('.canvas[data-kind]')].find(one => /** @type {HTMLElement} */ (one).dataset.kind === kind));
  const {columns, rows} = (root && tableOf(root)) ?? {columns: [], rows: []};
  return rows.map(row => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
}

/** @template T @param {T[]} list @param {(one: T) => number} value the one with the largest */
const largest = (list, value) => list.reduce((best, one) => (value(one) > value(best) ? one : best));

/** Each model's first word for the first mask; null where there is none. @param {Row[]} rows */
export function firstWords(rows) {
  const first = rows.filter(row => row.gap === 1 && row.rank === 1).map(({model, word, probability}) => ({model, word, probability}));
  return first.length ? first : null;
}

/** @param {{model: string, word: string, probability: number}[][]} readings @returns {Judged} */
export const surest = ([first]) => ({answer: largest(first, one => one.probability).model,
  said: sideBySide(first.map(one => one.probability)).map((printed, i) => [first[i].model, `“${first[i].word}” ${printed}`])});

/** By the name of a lesson. @type {Record<string, Reader>} */
export const READERS = {
  mask: {read: () => firstWords(rowsOf('predictions/gaps')), judge: surest},
};
