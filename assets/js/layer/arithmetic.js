// The arithmetic of a station, from the numbers that the page has: sums, products, a softmax, a
// norm.
import {picker} from '../kit/choice.js';
import {make, say, tableHead} from '../kit/dom.js';
import {exact, fixed, floats, sideBySide} from '../kit/numbers.js';
import {listed as shownOf, more} from './lists.js';

/** @typedef {import('../data').LayerModel} LayerModel */
/** @typedef {Record<string, any>} Texts */
/** @typedef {import('./lists.js').Lists} Lists */

const MAX = 8;

/** @param {string} caption @param {string[]} head @param {(string | number)[][]} rows */
const listed = (caption, head, rows) =>
  make(
    'figure',
    {class: 'tabled'},
    make('figcaption', {}, caption),
    make(
      'div',
      {class: 'table', tabindex: 0, role: 'group', 'aria-label': caption},
      make(
        'table',
        {},
        tableHead(head),
        make(
          'tbody',
          {},
          ...rows.map(([first, ...rest]) =>
            make(
              'tr',
              {},
              make('th', {scope: 'row'}, first),
              ...rest.map(value => make('td', {}, value)),
            ),
          ),
        ),
      ),
    ),
  );

/** @param {number} value */
const four = value => fixed(value, 4);
/** @param {number} value */
const five = value => fixed(value, 5);
/** The places of the largest values by size. @param {Float32Array} values */
const largest = values =>
  [...values.keys()].sort((a, b) => Math.abs(values[b]) - Math.abs(values[a])).slice(0, MAX);

/**
 * The products that a number is the sum of, for the one of several that the reader chooses.
 * @param {string} given @param {string} many vectors that it is multiplied with, one after another
 * @param {{name: string, choices: string[], first: number, caption: (at: number) => string, head:
 *   string[], ends: (at: number, sum: number) => string}} texts
 */
function products(given, many, {name, choices, first, caption, head, ends}) {
  const vector = floats(given),
    all = floats(many),
    place = make('div');
  /** @param {number} at */
  const draw = at => {
    const others = all.subarray(at * vector.length);
    const parts = [...vector]
      .map((q, i) => ({i, q, k: others[i], part: q * others[i]}))
      .sort((a, b) => Math.abs(b.part) - Math.abs(a.part));
    const sum = parts.reduce((total, {part}) => total + part, 0);
    place.replaceChildren(
      listed(
        caption(at),
        head,
        parts.map(({i, q, k, part}) => [String(i + 1), five(q), five(k), five(part)]),
      ),
      make('p', {class: 'note'}, ends(at, sum)),
    );
  };
  draw(first);
  return [
    picker(name, Object.fromEntries(choices.map((choice, i) => [i, choice])), String(first), at =>
      draw(Number(at)),
    ),
    place,
  ];
}

/** @param {LayerModel} model @param {Texts} texts */
const scores = ({query, keys, tokens, scores: values, weights}, texts) =>
  products(query, keys, {
    name: texts.key,
    choices: tokens,
    first: weights.indexOf(Math.max(...weights)),
    head: texts.dot_head,
    caption: at => say(texts.dot, {key: tokens[at]}),
    ends: (at, sum) =>
      say(texts.dot_sum, {sum: five(sum), d: floats(query).length, score: five(values[at])}),
  });

/**
 * A factorised embedding brought to d_model, in its largest dimensions.
 * @param {string} normalised
 * @param {import('../data').ProjectedData} projected
 * @param {Texts} texts
 */
function projection(normalised, {shown, weight, bias, result}, texts) {
  const choices = shown.map(i => String(i + 1));
  return products(normalised, weight, {
    name: texts.dimension,
    choices,
    first: 0,
    head: texts.projected_head,
    caption: at => say(texts.projected, {i: choices[at]}),
    ends: (at, sum) =>
      say(texts.projected_sum, {sum: five(sum), bias: five(bias[at]), result: five(result[at])}),
  });
}

/**
 * The sum, its norm, and the projection of a factorised one.
 * @param {LayerModel} model
 * @param {Texts} texts
 */
const embedded = ({embedding, normalised}, texts) => [
  ...sum(
    Object.entries(embedding.parts).map(([name, packed]) => [texts.rows[name], packed]),
    texts,
  ),
  ...norm(normalised.embedding, texts),
  ...(embedding.projected ? projection(embedding.normalised, embedding.projected, texts) : []),
];

/** @param {LayerModel} model @param {Texts} texts @param {Lists} lists */
function softmax(model, texts, lists) {
  const most = Math.max(...model.scores),
    sum = model.exponentials.reduce((total, value) => total + value, 0);
  const at = shownOf(model, lists),
    [exps, weights] = [model.exponentials, model.weights].map(values =>
      sideBySide(
        at.map(i => values[i]),
        5,
      ),
    );
  return [
    listed(
      say(texts.softmax_said, {most: five(most), sum: five(sum)}),
      texts.softmax_head,
      at.map((i, n) => [model.tokens[i], five(model.scores[i]), exps[n], weights[n]]),
    ),
    more(model, texts, lists),
  ];
}

/**
 * Two or three vectors that are added, in the dimensions where the sum is largest.
 * @param {[string, string][]} parts the name of each, and the vector packed
 * @param {Texts} texts
 */
function sum(parts, texts) {
  const vectors = parts.map(([, packed]) => floats(packed)),
    total = vectors[0].map((_, i) => vectors.reduce((sofar, vector) => sofar + vector[i], 0));
  return [
    listed(
      say(texts.dimensions, {n: exact(total.length)}),
      [texts.sum_head[0], ...parts.map(([name]) => name), texts.sum_head[1]],
      largest(total).map(i => [
        String(i + 1),
        ...vectors.map(vector => four(vector[i])),
        four(total[i]),
      ]),
    ),
  ];
}

/** @param {import('../data').NormData} norm @param {Texts} texts */
function norm({mean, deviation, rows}, texts) {
  return [
    listed(
      say(texts.norm_said, {mean: five(mean), deviation: five(deviation)}),
      texts.norm_head,
      rows.map(([i, ...values]) => [String(i + 1), ...values.map(four)]),
    ),
  ];
}

/**
 * The values of the tokens, and what of each the head reads.
 * @param {LayerModel} model
 * @param {Texts} texts
 * @param {Lists} lists
 */
function weighted(model, texts, lists) {
  const {tokens, weights, value_lengths: lengths} = model,
    at = shownOf(model, lists);
  const printed = sideBySide(
      at.map(i => weights[i]),
      5,
    ),
    products = sideBySide(
      at.map(i => weights[i] * lengths[i]),
      4,
    );
  return [
    listed(
      texts.stations.heads,
      texts.values_head,
      at.map((i, n) => [tokens[i], printed[n], four(lengths[i]), products[n]]),
    ),
    more(model, texts, lists),
  ];
}

/**
 * @param {LayerModel} model
 * @param {string} station
 * @param {Texts} texts
 * @param {Lists} lists
 * @returns {(HTMLElement | null)[]}
 */
export function arithmetic(model, station, texts, lists) {
  const {vectors} = model,
    names = texts.stations;
  if (station === 'scores') return scores(model, texts);
  if (station === 'softmax') return softmax(model, texts, lists);
  if (station === 'heads') return weighted(model, texts, lists);
  if (station === 'projection')
    return [
      listed(
        names.projection,
        texts.heads_head,
        model.heads.map((size, i) => [String(i + 1), four(size)]),
      ),
    ];
  if (station === 'attended')
    return sum(
      [
        [names.input, vectors.input],
        [names.projection, vectors.projection],
      ],
      texts,
    );
  if (station === 'summed')
    return sum(
      [
        [names.attention_norm, vectors.attention_norm],
        [names.feed_forward, vectors.feed_forward],
      ],
      texts,
    );
  if (station === 'embedding') return embedded(model, texts);
  if (model.normalised[station]) return norm(model.normalised[station], texts);
  if (station === 'feed_forward') {
    return [
      listed(
        say(texts.units_said, {n: exact(model.active), all: exact(model.d_ffn)}),
        texts.units_head,
        model.units.map(([i, value, size]) => [String(i + 1), four(value), four(size)]),
      ),
    ];
  }
  return [
    make('p', {class: 'note'}, say(texts.input_said, {n: exact(floats(vectors.input).length)})),
  ];
}
