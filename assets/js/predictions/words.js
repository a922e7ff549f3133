// Every word masked in turn: a tile per word, a line per model, darker where it surprises.
import {captioned, closest, make, note, say, tableHead, vary} from '../kit/dom.js';
import {nats, number} from '../kit/numbers.js';

/**
 * @typedef {import('../data').WordsData} WordsData
 * @typedef {import('../data').WordTile} WordTile
 */

const DARKEST_NATS = 9;
/**
 * The text's words, and the tile that the reader chose.
 * @type {WeakMap<HTMLElement, {words: string, at: number | null}>}
 */
const choices = new WeakMap();

/** Whether one model expects the word and another does not. @param {WordTile} entry */
function disagrees(entry) {
  const ranks = Object.values(entry.models).flatMap(({p, rank}) =>
    p === null ? [] : (rank ?? []),
  );
  return ranks.includes(1) && ranks.some(rank => rank > 1);
}

/** @param {WordTile} entry @param {number} index @param {WordsData} data */
function tile(entry, index, data) {
  const lines = Object.keys(data.labels).map(key => {
    const score = entry.models[key],
      p = score?.p ?? null;
    const text = !score ? '' : p === null ? '–' : number(p);
    const spoken =
      score &&
      make('span', {class: 'sr'}, ` ${data.labels[key]} ${p === null ? data.texts.nothing : ''}`);
    const line = make(
      'span',
      {class: score ? 'pw-line' : 'pw-line none', 'data-model': key},
      spoken,
      text || '\u00a0',
    );
    vary(line, '--dark', p === null ? 0 : Math.min(1, score.nats / DARKEST_NATS));
    return line;
  });
  const odd = disagrees(entry);
  const button = make(
    'button',
    {type: 'button', class: 'pw-tile', tabindex: index ? -1 : 0},
    make(
      'span',
      {class: 'pw-word'},
      entry.word,
      odd
        ? make(
            'b',
            {class: 'pw-odd', title: data.texts.disagree},
            '≠',
            make('span', {class: 'sr'}, ` ${data.texts.disagree}`),
          )
        : null,
    ),
    ...lines,
  );
  if (!Object.keys(entry.models).length) button.disabled = true;
  return button;
}

/** @param {WordTile} entry @param {WordsData} data */
function details(entry, data) {
  const rows = Object.entries(data.labels)
    .filter(([key]) => entry.models[key])
    .map(([key, label]) => {
      const {p, nats: surprise, rank, pieces, answers: predicted} = entry.models[key];
      const isUnknown = p === null;
      const answers = predicted.map(([word, p]) => `${word} ${number(p)}`).join(', ');
      return make(
        'tr',
        {},
        make('th', {scope: 'row'}, make('span', {class: 'model-name', 'data-model': key}, label)),
        make('td', {}, isUnknown ? data.texts.nothing : number(p)),
        make('td', {}, isUnknown ? '–' : say(data.texts.surprise, {nats: nats(surprise)})),
        make('td', {}, isUnknown || !rank ? '–' : rank.toLocaleString('en')),
        make('td', {}, pieces.join(' + ')),
        make('td', {}, answers),
      );
    });
  return captioned(
    make('em', {class: 'w'}, entry.word),
    make(
      'div',
      {class: 'table', tabindex: 0, role: 'region', 'aria-label': entry.word},
      make('table', {}, tableHead(data.texts.head), make('tbody', {}, ...rows)),
    ),
  );
}

/**
 * The word that the models see most differently is the one to look at first.
 * @param {WordTile[]} words
 */
function mostTelling(words) {
  let best = -1,
    widest = -1;
  words.forEach((entry, index) => {
    const nats = Object.values(entry.models)
      .filter(score => score.p !== null)
      .map(score => score.nats);
    const spread = nats.length
      ? Math.max(...nats) - Math.min(...nats) + (disagrees(entry) ? 100 : 0)
      : -1;
    if (spread > widest) {
      widest = spread;
      best = index;
    }
  });
  return best;
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {WordsData} */ data) {
  const words = JSON.stringify(data.words.map(entry => entry.word)),
    before = choices.get(root);
  // survives the next batch of numbers
  const choice = before?.words === words ? before : {words, at: null};
  choices.set(root, choice);
  const hadFocus =
    root.contains(document.activeElement) && document.activeElement?.matches('.pw-tile');
  const tiles = data.words.map((entry, index) => tile(entry, index, data));
  const strip = make('div', {
    class: 'pw-strip',
    dir: 'auto',
    role: 'group',
    'aria-label': data.texts.strip,
  });
  tiles.forEach((node, index) => {
    if (data.words[index].breaks) strip.append(make('i', {class: 'pw-break'}));
    strip.append(node);
  });
  /** @param {Element | null} node */
  const placeOf = node => tiles.findIndex(other => other === node);
  const panel = make('div', {class: 'pw-panel'});
  const choose = (/** @type {number} */ index, /** @type {boolean} */ byReader) => {
    if (index < 0 || tiles[index].disabled) return;
    if (byReader) choice.at = index;
    tiles.forEach((node, place) => {
      node.classList.toggle('chosen', place === index);
      node.tabIndex = place === index ? 0 : -1;
      node.setAttribute('aria-pressed', String(place === index));
    });
    panel.replaceChildren(details(data.words[index], data));
  };
  strip.addEventListener('click', event => {
    const node = closest(event, '.pw-tile');
    if (node) choose(placeOf(node), true);
  });
  strip.addEventListener('keydown', event => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    let next = placeOf(document.activeElement) + step;
    while (tiles[next] && tiles[next].disabled) next += step;
    if (tiles[next]) {
      choose(next, true);
      tiles[next].focus();
    }
  });
  const legend = make(
    'p',
    {class: 'pw-legend'},
    ...Object.entries(data.labels).map(([key, label]) =>
      make(
        'span',
        {class: 'pw-line', 'data-model': key},
        make('span', {class: 'model-name', 'data-model': key}, label),
      ),
    ),
  );
  root.replaceChildren(legend, strip, panel, note(data.texts.rule, undefined, data.texts.how));
  const index = choice.at ?? mostTelling(data.words);
  choose(index, false);
  if (hadFocus && tiles[index]) tiles[index].focus();
}

/** @param {HTMLElement} root */
export function clear(root) {
  choices.delete(root);
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {WordsData} */ data) {
  const rows = data.words.flatMap((entry, i) =>
    Object.entries(entry.models).map(([key, {p, nats: surprise, rank, pieces, answers}]) => [
      i + 1,
      entry.word,
      data.labels[key],
      p,
      p === null ? null : surprise,
      p === null || pieces.length > 1 ? null : rank,
      pieces.join(' '),
      ...answers.flat(),
    ]),
  );
  const most = Math.max(
    0,
    ...data.words.flatMap(entry => Object.values(entry.models).map(({answers}) => answers.length)),
  );
  const answers = Array.from({length: most}, (_, n) => [
    `answer_${n + 1}`,
    `probability_of_answer_${n + 1}`,
  ]);
  return {
    columns: [
      'position',
      'word',
      'model',
      'probability',
      'surprisal_nats',
      'rank',
      'tokens',
      ...answers.flat(),
    ],
    rows,
  };
}
