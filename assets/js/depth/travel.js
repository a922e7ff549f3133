// How one word moves: a chart for each model, its cosine to where it began and to where it ends.
import {choice} from '../kit/choice.js';
import {make, note} from '../kit/dom.js';
import {figure} from '../kit/figure.js';
import {choose, chosen} from '../page/here.js';

export {constants, table, whole} from '../kit/figure.js';

/**
 * @typedef {import('../data').ChartData & {first: number, texts: any, ways: number[][][][], words:
 *   string[]}} TravelData `ways`: by model and side the cosines of each word
 */

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['at'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {TravelData} */ {figures, first, texts, ways, words}) {
  const wanted = Number(chosen('at') ?? -1),
    at = wanted >= 0 && wanted < words.length ? wanted : first;
  const charts = figures.map(spec =>
    figure(spec, `${spec.layout.title.text}: ${texts.start}, ${texts.end}`),
  );
  const draw = (/** @type {number} */ word) =>
    charts.forEach((chart, i) =>
      chart.set({data: figures[i].data.map((line, side) => ({...line, y: ways[i][side][word]}))}),
    );
  const names = Object.fromEntries(words.map((word, i) => [i, word]));
  root.replaceChildren(
    make('p', {class: 'finding'}, texts.finding),
    choice(texts.word, names, String(at), key => {
      choose({at: Number(key) === first ? -1 : Number(key)});
      draw(Number(key));
    }),
    make('div', {class: 'dt'}, ...charts.map(({node}) => node)),
    note(texts.note),
  );
  draw(at);
}
