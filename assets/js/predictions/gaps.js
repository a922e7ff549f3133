// What each model puts in the gaps: one row of columns per gap, cut to as many words as asked; of
// many gaps the chosen one.
import {closest, make, note, say, vary} from '../kit/dom.js';
import {number, sideBySide} from '../kit/numbers.js';
import {rove} from '../kit/rove.js';
import {niceTop} from '../kit/scales.js';
import {typeText} from '../page/parts.js';
import {choose, chosen, compare, runParams} from '../page/here.js';
import {look} from '../page/look.js';
import {filled} from '../page/masks.js';
import {chooser} from './chooser.js';

/**
 * @typedef {import('../data').GapsData} GapsData
 * @typedef {import('./chooser.js').Answers} Answers
 * @typedef {object} View what a column is drawn from
 * @property {string} key
 * @property {Answers[number][1]} model
 * @property {number} gap
 * @property {Map<string, string[]>} by the models that list a word
 * @property {GapsData} data
 * @property {number} max the end of the bars
 * @property {string[]} inAll the words that all models list
 * @property {Record<string, string>} first the first probability of each model, as printed
 */

const TOGETHER = 4; // masks whose columns are in sight together; of more, one is chosen
const USUAL = 10,
  FEW = 3,
  MAX = 50; // words of a column; on a phone the three models are in sight together
const shown = look('shown', window.matchMedia?.('(max-width: 760px)').matches ? FEW : USUAL);
/** The masks whose columns are in sight. @param {any[]} masks @returns {number[]} */
const inSight = masks =>
  masks.length > TOGETHER
    ? [Math.min(Number(chosen('mask')) || 0, masks.length - 1)]
    : [...masks.keys()];
const most = () => Math.min(MAX, Math.max(1, Number(shown.value) || USUAL));

/** @param {string[]} list */
const names = list =>
  list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list[list.length - 1]}`;

/** @param {Answers} models @param {number} gap */
function listedBy(models, gap) {
  /** @type {Map<string, string[]>} */
  const by = new Map();
  for (const [key, model] of models) {
    for (const word of model.masks[gap].words.slice(0, most())) {
      if (!by.has(word)) by.set(word, []);
      by.get(word)?.push(key);
    }
  }
  return by;
}

/** @param {View} view @param {number} rank */
function row(view, rank) {
  const {key, model, gap, by, data, max, inAll} = view;
  const mask = model.masks[gap],
    word = mask.words[rank],
    p = mask.p[rank];
  const others = (by.get(word) || []).filter(other => other !== key);
  const labels = others.map(other => data.models[other].label);
  const note = others.length ? say(data.texts.also, {names: names(labels)}) : data.texts.only;
  const bar = make('span', {class: 'pr-bar'});
  vary(bar, '--share', Math.min(1, p / max));
  const yours = mask.yours?.row === rank;
  const isInAll = inAll.includes(word);
  const dots = make(
    'span',
    {class: 'pr-dots', 'aria-hidden': 'true'},
    ...(isInAll ? [] : others).map(other => make('i', {'data-model': other})),
  );
  const item = make(
    'li',
    {
      class: `pr-row${isInAll ? ' shared' : ''}${yours ? ' yours' : ''}`,
      'data-word': word,
      title: `${mask.pieces[rank]}, ${number(p)}, ${note}`,
    },
    guess(view, word),
    dots,
    make('span', {class: 'pr-track'}, bar),
    make('span', {class: 'pr-p'}, number(p)),
    make('span', {class: 'sr'}, yours ? `${note}, ${data.texts.yours_row}` : note),
  );
  return item;
}

/**
 * A predicted word fills its gap when it is clicked; in a saved page there is no gap to fill.
 * @param {View} view
 * @param {string} word
 */
function guess({gap, data}, word) {
  if (window.explorer?.taken) return make('span', {class: 'pr-word', translate: 'no'}, word);
  const button = make(
    'button',
    {type: 'button', class: 'pr-word', translate: 'no', title: say(data.texts.put, {word})},
    word,
  );
  button.addEventListener('click', () => {
    const text = chosen('text');
    // its answer is on the way, these columns are of the text before: so at the second press of a
    // double click
    if (runParams().text !== text) return;
    const changes = filled(text, gap, word);
    typeText(changes.text);
    const left = data.masks.length - 1; // the mask behind the filled one is looked at next
    compare(left >= TOGETHER ? {...changes, mask: String(Math.min(gap, left - 1))} : changes);
  });
  return button;
}

/**
 * What the model says of the word that the reader hid here; nothing where nobody hid one.
 * @param {View} view
 */
function yourWord({data, model, gap}) {
  const {yours} = model.masks[gap],
    word = `“${data.masks[gap].hidden}”`;
  if (!yours) return [];
  const {pieces, p = 0, rank = 0} = yours;
  const text =
    pieces === 1
      ? say(data.texts.yours, {
          word,
          p: number(p),
          rank: rank.toLocaleString('en'),
          size: model.vocabulary.toLocaleString('en'),
        })
      : say(pieces ? data.texts.yours_pieces : data.texts.yours_unknown, {
          word,
          n: pieces,
        });
  return [make('p', {class: 'pr-yours'}, text)];
}

/** @param {View} view */
function column(view) {
  const {key, model, gap, data, first} = view;
  const mask = model.masks[gap],
    k = Math.min(most(), mask.p.length);
  const rest = Math.max(0, 1 - mask.p.slice(0, k).reduce((sum, p) => sum + p, 0));
  const list = make('ol', {class: 'pr-list', 'aria-label': model.label});
  for (let rank = 0; rank < k; rank++) list.append(row(view, rank));
  rove(list);
  const strip = make('span', {class: 'pr-mass', 'aria-hidden': 'true'}, make('i'));
  vary(strip, '--rest', rest);
  return make(
    'section',
    {class: 'pr-column', 'data-model': key},
    make(
      'header',
      {},
      make('h3', {class: 'model-name', 'data-model': key}, model.label),
      make(
        'p',
        {class: 'pr-answer'},
        make('span', {class: 'pr-first', translate: 'no'}, mask.words[0]),
        make('span', {class: 'pr-first-p'}, first[key]),
      ),
      ...yourWord(view),
    ),
    list,
    make(
      'p',
      {class: 'pr-rest'},
      strip,
      `${number(rest)} ${k === 1 ? data.texts.rest_one : say(data.texts.rest, {k})}; `,
      make(
        'span',
        {class: 'pr-spread'},
        say(data.texts.spread, {
          n:
            mask.choices < 10
              ? mask.choices.toFixed(1)
              : Math.round(mask.choices).toLocaleString('en'),
        }),
      ),
    ),
  );
}

/** @param {string} key @param {import('../data').ModelCard} model */
const card = (key, model) =>
  make(
    'section',
    {class: 'pr-column card plain', 'data-model': key},
    make('h3', {class: 'model-name', 'data-model': key}, model.label),
    make('p', {}, model.card),
  );

/** @param {GapsData} data @param {Answers} models @param {number} gap */
function gapBlock(data, models, gap) {
  const by = listedBy(models, gap);
  const max = niceTop(Math.max(...models.map(([, model]) => model.masks[gap].p[0])));
  const inAll =
    models.length < 2
      ? []
      : [...by].filter(([, keys]) => keys.length === models.length).map(([word]) => word);
  const printed = sideBySide(models.map(([, model]) => model.masks[gap].p[0]));
  const first = Object.fromEntries(models.map(([key], i) => [key, printed[i]]));
  const block = make('div', {class: 'pr-gap'});
  if (data.masks.length > 1) {
    block.append(
      make(
        'p',
        {class: 'pr-context', translate: 'no'},
        make('strong', {}, say(data.texts.mask, {i: gap + 1, n: data.masks.length}) + ' '),
        data.masks[gap].before,
        make('mark', {}, '\u2009?\u2009'),
        data.masks[gap].after,
      ),
    );
  }
  block.append(
    make(
      'div',
      {class: 'columns'},
      ...Object.entries(data.models).map(([key, model]) =>
        'card' in model ? card(key, model) : column({key, model, gap, by, data, max, inAll, first}),
      ),
    ),
  );
  const foot = [];
  if (models.length > 1) {
    const lists = say(data.texts[models.length === 2 ? 'both_lists' : 'all_lists'], {
      n: models.length,
    });
    foot.push(
      inAll.length
        ? say(data.texts.shared, {lists, words: inAll.map(word => `“${word}”`).join(', ')})
        : say(data.texts.shared_none, {lists}),
      ' ',
    );
  }
  block.append(make('p', {class: 'note scale'}, ...foot, say(data.texts.scale, {max})));
  return block;
}

/** @param {GapsData} data @param {() => void} redraw */
function control(data, redraw) {
  const range = make('input', {type: 'range', min: 1, max: MAX, step: 1, id: 'pr-shown'});
  range.value = String(most());
  const value = make('output', {for: 'pr-shown'}, String(most()));
  const set = (/** @type {number} */ k) => {
    shown.value = String(k);
    value.textContent = range.value = String(k);
    redraw();
  };
  range.addEventListener('input', () => set(Number(range.value)));
  return make(
    'div',
    {class: 'pr-control'},
    make('label', {for: 'pr-shown'}, data.texts.shown),
    range,
    value,
  );
}

/** Mark a word in all columns of its gap under the pointer. @param {HTMLElement} root */
function link(root) {
  const mark = (/** @type {Event} */ event, /** @type {boolean} */ isOver) => {
    const item = closest(event, '.pr-row');
    root.querySelectorAll('.pr-row.linked').forEach(other => other.classList.remove('linked'));
    if (!isOver || !item) return;
    const rows = /** @type {NodeListOf<HTMLElement> | undefined} */ (
      item.closest('.pr-gap')?.querySelectorAll('.pr-row')
    );
    rows?.forEach(other =>
      other.classList.toggle('linked', other.dataset.word === item.dataset.word),
    );
  };
  root.onpointerover = event => mark(event, true);
  root.onpointerleave = event => mark(event, false);
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look', 'mask'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {GapsData} */ data) {
  const all = Object.entries(data.models),
    models = all.flatMap(([key, model]) =>
      'card' in model ? [] : [/** @type {Answers[number]} */ ([key, model])],
    );
  const gaps = make('div', {class: 'pr-gaps'});
  const redraw = () => {
    gaps.classList.toggle('short', most() <= FEW);
    gaps.replaceChildren(...inSight(data.masks).map(gap => gapBlock(data, models, gap)));
  };
  const isEmpty = !data.masks.length || !models.length;
  root.toggleAttribute('data-empty', isEmpty); // nothing that could be saved
  if (isEmpty) {
    const cards = all.flatMap(([key, model]) => ('card' in model ? [card(key, model)] : []));
    root.replaceChildren(make('div', {class: 'columns'}, ...cards));
    return;
  }
  redraw();
  link(gaps);
  const list =
    data.masks.length > TOGETHER
      ? chooser(data, models, inSight(data.masks)[0], mask => {
          choose({mask});
          redraw();
        })
      : '';
  root.replaceChildren(
    list,
    gaps,
    make('div', {class: 'pr-foot'}, note(data.texts.rule), control(data, redraw)),
  );
}

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {GapsData} */ {masks}) => ({
  words_shown: most(),
  ...(masks.length > TOGETHER ? {state: {mask: inSight(masks)[0] + 1}} : {}),
});

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {GapsData} */ {masks}) => ({
  HIDDEN: masks.map(mask => mask.hidden || ''),
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {GapsData} */ data) {
  /** @type {(model: Answers[number][1]) => import('../gradio.js').Table['rows']} */
  const of = model =>
    model.masks.flatMap((mask, gap) => {
      let left = 1;
      const listed = mask.words.map((word, rank) => [
        gap + 1,
        model.label,
        rank + 1,
        word,
        mask.pieces[rank],
        mask.p[rank],
        Math.max(0, (left -= mask.p[rank])),
        mask.choices,
      ]);
      const {yours} = mask,
        // the reader's own word, too far down to be listed
        further = yours?.row === -1;
      return further
        ? [
            ...listed,
            [
              gap + 1,
              model.label,
              yours.rank ?? null,
              data.masks[gap].hidden ?? null,
              null,
              yours.p ?? null,
              null,
              mask.choices,
            ],
          ]
        : listed;
    });
  return {
    columns: [
      'gap',
      'model',
      'rank',
      'word',
      'token',
      'probability',
      'left_to_all_further_words',
      'perplexity',
    ],
    rows: Object.values(data.models).flatMap(model => ('card' in model ? [] : of(model))),
  };
}
