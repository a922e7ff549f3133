// Every word masked in turn: a tile per word, a line per model, darker where it surprises.
import {captioned, closest, make, note, say, vary} from '../kit/dom.js';
import {nats, number} from '../kit/numbers.js';

const DARKEST_NATS = 9;
const choices = new WeakMap(); // root -> the text's words and the tile that the reader chose

function disagrees(entry) {
  const known = Object.values(entry.models).filter(found => found.p !== null);
  return known.some(found => found.rank === 1) && known.some(found => found.rank > 1);
}

function tile(entry, index, data) {
  const lines = Object.keys(data.labels).map(key => {
    const found = entry.models[key];
    const text = !found ? '' : found.p === null ? '–' : number(found.p);
    const said =
      found &&
      make(
        'span',
        {class: 'sr'},
        ` ${data.labels[key]} ${found.p === null ? data.texts.nothing : ''}`,
      );
    const line = make(
      'span',
      {class: found ? 'pw-line' : 'pw-line none', 'data-model': key},
      said,
      text || '\u00a0',
    );
    vary(line, '--dark', found && found.p !== null ? Math.min(1, found.nats / DARKEST_NATS) : 0);
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

function details(entry, data) {
  const head = make('tr', {}, ...data.texts.head.map(cell => make('th', {scope: 'col'}, cell)));
  const rows = Object.entries(data.labels)
    .filter(([key]) => entry.models[key])
    .map(([key, label]) => {
      const found = entry.models[key];
      const unknown = found.p === null;
      const answers = found.answers.map(([word, p]) => `${word} ${number(p)}`).join(', ');
      return make(
        'tr',
        {},
        make('th', {scope: 'row'}, make('span', {class: 'model-name', 'data-model': key}, label)),
        make('td', {}, unknown ? data.texts.nothing : number(found.p)),
        make('td', {}, unknown ? '–' : say(data.texts.surprise, {nats: nats(found.nats)})),
        make('td', {}, unknown || !found.rank ? '–' : found.rank.toLocaleString('en')),
        make('td', {}, found.pieces.join(' + ')),
        make('td', {}, answers),
      );
    });
  return captioned(
    make('em', {class: 'w'}, entry.word),
    make(
      'div',
      {class: 'table', tabindex: 0, role: 'region', 'aria-label': entry.word},
      make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows)),
    ),
  );
}

// The word that the models see most differently is the one to look at first.
function mostTelling(words) {
  let best = -1,
    widest = -1;
  words.forEach((entry, index) => {
    const nats = Object.values(entry.models)
      .filter(found => found.p !== null)
      .map(found => found.nats);
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
export function show(root, data) {
  const words = JSON.stringify(data.words.map(entry => entry.word)),
    before = choices.get(root);
  // survives the next batch of numbers
  const choice = before?.words === words ? before : {words, at: null};
  choices.set(root, choice);
  const hadFocus =
    root.contains(document.activeElement) && document.activeElement.matches('.pw-tile');
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
  const panel = make('div', {class: 'pw-panel'});
  const choose = (index, byReader) => {
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
    if (node) choose(tiles.indexOf(node), true);
  });
  strip.addEventListener('keydown', event => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.preventDefault();
    let next = tiles.indexOf(document.activeElement) + step;
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

/** @type {import('../gradio.js').Picture['clear']} */
export function clear(root) {
  choices.delete(root);
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const rows = data.words.flatMap((entry, i) =>
    Object.entries(entry.models).map(([key, found]) => [
      i + 1,
      entry.word,
      data.labels[key],
      found.p,
      found.p === null ? null : found.nats,
      found.p === null || found.pieces.length > 1 ? null : found.rank,
      found.pieces.join(' '),
      ...found.answers.flat(),
    ]),
  );
  const most = Math.max(
    0,
    ...data.words.flatMap(entry => Object.values(entry.models).map(found => found.answers.length)),
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
