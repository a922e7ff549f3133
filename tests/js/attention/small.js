// A small wall: two models, four words, all numbers set by hand; and the colours of a style sheet.
import {deflateSync} from 'node:zlib';

import {coloured, packed, place} from '../dom.js';

export const COLOURS = {panel: '#ffffff', paper: '#fafafa', ink: '#000000', 'ink-soft': '#666666', line: '#cccccc', accent: '#ff8800',
  'column-bert': '#0000c8', 'column-bert-fill': '#6464ff', 'column-albert': '#c80000', 'column-albert-fill': '#ff6464'};

/** An element with the colours. */
export const painter = () => coloured(place(), COLOURS);

/** A head of n words: each row is a list of attention weights. */
export const square = (n, share) => Array.from({length: n * n}, (_, c) => share(Math.floor(c / n), c % n));

/** Heads of four words: next word, own word, uniform, first word. */
export const NEXT = square(4, (q, k) => (k === (q + 1) % 4 ? 1 : 0)), SELF = square(4, (q, k) => (q === k ? 1 : 0));
export const EVEN = square(4, () => .25), FIRST = square(4, (_, k) => (k === 0 ? 1 : 0));

const TEXTS = {
  wall: 'all heads', words: 'words', show: 'show', order: 'sort', orders: {place: 'by place', entropy: 'by entropy', distance: 'by distance',
    kind: 'by kind', alike: 'by likeness', from: 'from', to: 'to'}, kinds: {next: 'Next', previous: 'Previous', self: 'Self', first: 'First', mark: 'Marks', other: 'Other'},
  rules: {next: 'looks on', previous: 'looks back', self: 'looks at itself', first: 'looks first', mark: 'looks at marks', other: 'none of these'},
  hint: 'Point at entropy.', rows: 'Rows.', pooled: 'Each row is {n} words.', terms: {entropy: 'box-entropy'}, low: 'low', high: 'high', scale: 'scale',
  head: '{model} {layer}.{head}', from: '{share} from {word}', to: '{share} to {word}', summary: '{kind}; {entropy} nats; {distance} words', kind_share: '{kind} {share}',
  shapes: {bert: '2 layers of 2', albert: 'one layer, once'},
  chosen_head: 'chosen', unit: 'unit', units: {words: 'words', pieces: 'pieces'}, view: 'view', views: {matrix: 'matrix', lines: 'lines',
    difference: 'difference'},
  added: 'added', addeds: {shown: 'shown', hidden: 'hidden', rest: 'rest'}, others: 'others', otherses: {closest: 'closest', same: 'same place'},
  mass: 'mass {mass}', lacking: 'rounded', waiting: 'waiting', no_pieces: 'more than {n}', cell_hint: 'point at a cell', zoom: {in: 'in', out: 'out', all: 'all'}, line_hint: 'point at a word', copy: 'copy', copied: 'copied', not_copied: 'not copied',
  closest: 'JS {js}', chosen: 'the one', minus: '{a} − {b}', minus_note: '{a} over {b}', cell: '{query} → {key}: {value}',
};

/** The wall's data: BERT with two layers of two heads, ALBERT with one of two. */
export function wallData(changes = {}) {
  const heads = changes.heads ?? [[NEXT, SELF, EVEN, FIRST], [SELF, EVEN]], {pool = 1, exact = true, ...rest} = changes;
  const model = (key, label, layers, rows, shared, numbers) => ({key, label, layers, heads: 2, rows, shared, groups: [[0], [1], [2], [3]],
    pieces: ['[CLS]', 'cat', '##s', '[SEP]'], added: [1, 0, 0, 1], ...numbers});
  const bytes = changes.bytes ?? heads.flat(2).map(share => Math.round(255 * Math.sqrt(share)));
  delete rest.heads;
  delete rest.bytes;
  return {
    words: ['[CLS]', 'cat', '##s', '[SEP]'], special: [1, 0, 0, 1], masks: [0, 0, 1, 0], pool,
    models: [
      model('bert', 'BERT', 2, [0, 1], false, {entropy: [.5, .25, 1.386294, .125], distance: [1, 0, 1.25, 1.5], kind: [0, 2, 5, 3],
        shares: [.9, 0, 0, .1, 0, 0, 0, .756, 0, 0, .25, .25, .25, .25, 0, .1, 0, 0, .8, 0]}),
      model('albert', 'ALBERT', 1, [1], true, {entropy: [.3, 1.2], distance: [0, 1.25], kind: [2, 5], shares: [0, 0, 1, 0, 0, .25, .25, .25, .25, 0]}),
    ],
    cards: [{key: 'distilbert', label: 'DistilBERT', sentence: 'is not here'}], packed: deflateSync(Buffer.from(bytes)).toString('base64'),
    exact: exact ? heads.map(model => packed(model.flat())) : [], kinds: ['next', 'previous', 'self', 'first', 'mark', 'other'], pieces_limit: 128,
    texts: TEXTS, ...rest,
  };
}
