// What a box of the flow opens to: its stations, each with the numbers of every model, the lists of
// words capped, and its arithmetic.
import {make, say, sayNodes, vary, word} from '../kit/dom.js';
import {fixed, floats, number} from '../kit/numbers.js';
import {arithmetic} from './arithmetic.js';
import {listed, more} from './lists.js';

const FINE = 1600; // pixels of a strip at least: a saved image is twice as fine as the page

/** The vector of a station, if it is one. */
export const vectorAt = (model, station) => {
  const packed =
    station === 'embedding'
      ? model.embedding.normalised
      : station === 'heads'
        ? model.read
        : model.vectors[station];
  return packed ? floats(packed) : null;
};
export const length = values => Math.hypot(...values);

function strip(values, palette, most) {
  const each = Math.ceil(FINE / values.length),
    width = each * values.length;
  const canvas = make('canvas', {class: 'ly-strip', width, height: 1, 'aria-hidden': 'true'}),
    pen = canvas.getContext('2d');
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

/** How the lists print their numbers: weights as probabilities, scores with two decimals. */
const printer = station => (station === 'softmax' ? number : value => fixed(value, 2));

/** A list's tokens, each with a bar below it. */
function tokens(model, name, {texts, lists, print}) {
  const values = name === 'softmax' ? model.weights : model.scores,
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
          make('b', {}, print(values[i])),
        );
      }),
    ),
    more(model, texts, lists),
  ];
}

function cell(model, station, view) {
  const {texts, scale} = view,
    node = make(
      'div',
      {class: 'ly-cell', 'data-model': model.key},
      make('h5', {class: 'model-name', 'data-model': model.key}, model.label),
    ),
    values = vectorAt(model, station);
  if (station === 'scores' || station === 'softmax') {
    node.append(...tokens(model, station, view).filter(Boolean));
    return node;
  }
  const norm = model.norms[station] ?? length(values),
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

/** What is this model's alone at a station. */
function aside(model, station, texts) {
  if (station !== 'embedding') return null;
  const {embedding} = model,
    said = [];
  if (!embedding.parts.segment) said.push(texts.no_segment);
  if (embedding.dimensions !== embedding.width)
    said.push(say(texts.factorised, {e: embedding.dimensions, d: embedding.width}));
  return said.length ? make('em', {class: 'ly-own'}, said.join('; ')) : null;
}

/**
 * One station: a sentence, every model's numbers, and the arithmetic that its name opens.
 * @param {{models: any[], texts: any, chosen: any}} data
 * @param {string} station
 * @param {any} view the scale, the lists, and which arithmetic is open
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
  const print = printer(station),
    toggle = yes => {
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
    ...models.map(model => cell(model, station, {...view, texts, print})),
    open,
  );
  return {node, toggle};
}
