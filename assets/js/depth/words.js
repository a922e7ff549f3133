// Every word at every layer: the place that the head gives to the word's own name.
import {make, say, sayNodes, vary} from '../kit/dom.js';
import {layerName} from './strip.js';

const place = (/** @type {number} */ rank) =>
  !rank ? '–' : rank < 1000 ? String(rank) : `${Math.round(rank / 1000)}k`;
const shade = (/** @type {number} */ rank) => (rank ? Math.max(0, 1 - Math.log10(rank) / 4) : 0);

/** @param {number} rank @param {string} word @param {number} layer @param {any} texts */
function cell(rank, word, layer, texts) {
  const shown = rank ? rank.toLocaleString('en') : '–';
  const node = make(
    'td',
    {title: say(texts.place_cell, {layer: layerName(texts, layer), word, rank: shown})},
    place(rank),
  );
  vary(node, '--share', shade(rank));
  return node;
}

/** @param {import('../data').WordsRanks} model @param {string[]} words @param {any} texts */
function map(model, words, texts) {
  const name = say(texts.words_strip, {model: model.label});
  const head = make(
    'tr',
    {},
    make(
      'th',
      {scope: 'col'},
      make('span', {class: 'model-name', 'data-model': model.key}, model.label),
    ),
    ...words.map(word => make('th', {scope: 'col'}, word)),
  );
  const rows = model.rank.map((ranks, layer) =>
    make(
      'tr',
      {},
      make('th', {scope: 'row'}, layer ? String(layer) : texts.embeddings),
      ...ranks.map((rank, i) => cell(rank, words[i], layer, texts)),
    ),
  );
  return make(
    'div',
    {class: 'table dw', 'data-model': model.key, tabindex: 0, role: 'region', 'aria-label': name},
    make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows)),
  );
}

/**
 * What the maps show, in one sentence.
 * @param {import('../data').EveryWordData} data
 * @param {any} texts
 */
export function wordFinding(data, texts) {
  const n = data.counted,
    parts = data.models.flatMap((model, i) => [
      i ? '; ' : '',
      ...sayNodes(texts.words_finding, {
        model: make('span', {class: 'model-name', 'data-model': model.key}, model.label),
        first: String(model.first),
        n: String(n),
      }),
    ]);
  const some =
    n < data.words.length ? ` ${say(texts.words_counted, {n, all: data.words.length})}` : '';
  return make(
    'p',
    {class: 'finding'},
    ...(n ? [texts.words_said, ...parts, '.', some] : [texts.words_none]),
  );
}

/** @param {import('../data').EveryWordData} data @param {any} texts */
export const wordMaps = (data, texts) => [
  ...data.models.map(model => map(model, data.words, texts)),
  make(
    'p',
    {class: 'note'},
    texts.words_note,
    data.words.length < data.n_words
      ? ` ${say(texts.first_words, {n: data.words.length, all: data.n_words})}`
      : null,
  ),
];

/** @param {import('../data').EveryWordData} data */
export const constants = data => ({
  WORDS: data.words,
  GROUPS: Object.fromEntries(data.models.map(model => [model.label, model.groups])),
});

/** @param {import('../data').EveryWordData} data @returns {import('../gradio.js').Table} */
export const table = data => ({
  columns: ['model', 'layer', 'position', 'word', 'place'],
  rows: data.models.flatMap(model =>
    model.rank.flatMap((ranks, layer) =>
      ranks.map((rank, i) => [model.label, layer, i + 1, data.words[i], rank || null]),
    ),
  ),
});
