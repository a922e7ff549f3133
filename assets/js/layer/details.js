// What a box of the flow opens to: its stations, each with the numbers of every model, the lists of
// words capped, and its arithmetic.
import {make, say, sayNodes, vary, word} from '../kit/dom.js';
import {fixed, floats, number} from '../kit/numbers.js';
import {arithmetic} from './arithmetic.js';
import {listed, more} from './lists.js';

/** @typedef {import('../data').LayerModel} LayerModel */
/** @typedef {Record<string, any>} Texts */

/**
 * The one scale of all strips: what draws a strip draws it again in other colours.
 * @typedef {{readonly most: number, add: (draw: (palette: Uint32Array) => void) => void}} Scale
 * @typedef {object} View
 * @property {Scale} scale
 * @property {import('./lists.js').Lists} lists
 * @property {{turn: (station: string) => void}} sums which arithmetic is open
 */

const FINE = 1600; // pixels of a strip at least: a saved image is twice as fine as the page

/**
 * Whether a station has a number for each token, and no vector.
 * @param {string} station
 */
export const isList = station => station === 'scores' || station === 'softmax';

/** The vector of a station that has one. @param {LayerModel} model @param {string} station */
export const vectorAt = (model, station) =>
  floats(
    station === 'embedding'
      ? model.embedding.normalised
      : station === 'heads'
        ? model.read
        : model.vectors[station],
  );
/** @param {Float32Array} values */
export const length = values => Math.hypot(...values);

/** @param {Float32Array} values @param {Uint32Array} palette @param {number} most */
function strip(values, palette, most) {
  const each = Math.ceil(FINE / values.length),
    width = each * values.length;
  const canvas = make('canvas', {class: 'ly-strip', width, height: 1, 'aria-hidden': 'true'}),
    pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const image = new ImageData(width, 1),
    out = new Uint32Array(image.data.buffer);
  values.forEach((value, i) =>
    out.fill(
      palette[Math.round(255 + 255 * Math.max(-1, Math.min(1, value / most)))],
      i * each,
      (i + 1) * each,
    ),
  );
  pen.putImageData(image, 0, 0);
  return canvas;
}

/**
 * A list's tokens, each with a bar below it: weights as probabilities, scores with two decimals.
 * @param {LayerModel} model
 * @param {string} name
 * @param {Texts} texts
 * @param {import('./lists.js').Lists} lists
 */
function tokens(model, name, texts, lists) {
  const values = name === 'softmax' ? model.weights : model.scores,
    printed = values.map(value => (name === 'softmax' ? number(value) : fixed(value, 2))),
    at = listed(model, lists),
    most = Math.max(...at.map(i => Math.abs(values[i])), 1e-9);
  return [
    make(
      'ol',
      {class: 'ly-tokens', 'aria-label': texts.stations[name]},
      ...at.map(i => {
        const bar = make('i', {class: values[i] < 0 ? 'less' : null});
        vary(bar, '--share', Math.abs(values[i]) / most);
        return make(
          'li',
          {class: i === model.position ? 'self' : null},
          make('span', {}, model.tokens[i]),
          make('span', {class: 'ly-bar'}, bar),
          make('b', {}, printed[i]),
        );
      }),
    ),
    more(model, texts, lists),
  ];
}

/** @param {LayerModel} model @param {string} station @param {Texts} texts @param {View} view */
function cell(model, station, texts, {scale, lists}) {
  const node = make(
    'div',
    {class: 'ly-cell', 'data-model': model.key},
    make('h5', {class: 'model-name', 'data-model': model.key}, model.label),
  );
  if (isList(station)) {
    node.append(...tokens(model, station, texts, lists).filter(part => part !== null));
    return node;
  }
  const values = vectorAt(model, station),
    norm = model.norms[station] ?? length(values),
    cosine = model.cosines[station];
  const picture = make('div', {
    role: 'img',
    'aria-label': say(texts.strip, {
      station: texts.stations[station],
      model: model.label,
      n: values.length,
      norm: fixed(norm, 2),
    }),
  });
  scale.add(palette => picture.replaceChildren(strip(values, palette, scale.most)));
  const small = make(
    'small',
    {},
    make('span', {}, say(texts.norm, {n: fixed(norm, 2)})),
    cosine === undefined ? null : make('span', {}, say(texts.cosine, {n: fixed(cosine, 3)})),
    aside(model, station, texts),
  );
  node.append(picture, small);
  return node;
}

/**
 * What only this model has at a station.
 * @param {LayerModel} model
 * @param {string} station
 * @param {Texts} texts
 */
function aside(model, station, texts) {
  if (station !== 'embedding') return null;
  const {embedding} = model,
    notes = [];
  if (!embedding.parts.segment) notes.push(texts.no_segment);
  if (embedding.dimensions !== embedding.width)
    notes.push(say(texts.factorised, {e: embedding.dimensions, d: embedding.width}));
  return notes.length ? make('em', {class: 'ly-own'}, notes.join('; ')) : null;
}

/**
 * One station: a sentence, every model's numbers, and the arithmetic that its name opens.
 * @param {import('../data').LayerData} data
 * @param {string} station
 * @param {View} view
 */
export function station({models, texts, chosen: {words, at}}, station, view) {
  const id = `ly-${station}`,
    open = make('div', {class: 'ly-open', id, hidden: true});
  const button = make(
    'button',
    {
      type: 'button',
      'aria-expanded': 'false',
      'aria-controls': id,
      title: say(texts.open, {station: texts.stations[station]}),
    },
    texts.stations[station],
  );
  /** @param {boolean} yes */
  const toggle = yes => {
    if (yes && !open.firstChild)
      open.append(
        ...models.map(model =>
          make(
            'div',
            {class: 'ly-sum', 'data-model': model.key},
            make('h5', {class: 'model-name', 'data-model': model.key}, model.label),
            ...arithmetic(model, station, texts, view.lists),
          ),
        ),
      );
    open.hidden = !yes;
    button.setAttribute('aria-expanded', String(yes));
  };
  button.addEventListener('click', () => view.sums.turn(station));
  const node = make(
    'section',
    {class: 'ly-row', 'data-station': station},
    make('h4', {}, button),
    make('p', {class: 'note'}, ...sayNodes(texts.said[station], {word: word(words[at])})),
    ...models.map(model => cell(model, station, texts, view)),
    open,
  );
  return {node, toggle};
}
