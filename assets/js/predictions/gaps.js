// What each model puts in the gaps: one row of columns per gap, cut to as many words as asked.
import {make, say, vary} from '../kit/dom.js';
import {number} from '../kit/numbers.js';
import {niceTop} from '../kit/scales.js';

let shown = 10;   // kept while the page lives: a new text keeps the reader's choice

const names = list => list.length < 2 ? list.join('')
  : `${list.slice(0, -1).join(', ')} and ${list[list.length - 1]}`;

function listedBy(data, models, gap) {
  const by = new Map();
  for (const [key, model] of models) {
    for (const word of model.masks[gap].words.slice(0, shown)) {
      if (!by.has(word)) by.set(word, []);
      by.get(word).push(key);
    }
  }
  return by;
}

function row(view, rank) {
  const {key, model, gap, by, data, max} = view;
  const mask = model.masks[gap], word = mask.words[rank], p = mask.p[rank];
  const others = (by.get(word) || []).filter(other => other !== key);
  const labels = others.map(other => data.models[other].label);
  const note = others.length ? say(data.texts.also, {names: names(labels)}) : data.texts.only;
  const bar = make('span', {class: 'pr-bar'});
  vary(bar, '--share', Math.min(1, p / max));
  const yours = mask.yours?.row === rank;
  const dots = make('span', {class: 'pr-dots', 'aria-hidden': 'true'},
    ...others.map(other => make('i', {'data-model': other})));
  const item = make('li', {class: `pr-row${others.length ? ' shared' : ''}${yours ? ' yours' : ''}`, 'data-word': word,
    title: `${mask.pieces[rank]}, ${p.toPrecision(4)}, ${note}`},
    make('span', {class: 'pr-word'}, word), dots, make('span', {class: 'pr-track'}, bar),
    make('span', {class: 'pr-p'}, number(p)),
    make('span', {class: 'sr'}, yours ? `${note}, ${data.texts.yours_row}` : note));
  return item;
}

// What the model says of the word that the reader hid here; nothing where nobody hid one.
function yourWord(data, model, gap) {
  const found = model.masks[gap].yours, word = `“${data.masks[gap].hidden}”`;
  if (!found) return [];
  const text = found.pieces === 1 ? say(data.texts.yours, {word, p: number(found.p), rank: found.rank.toLocaleString('en'), size: model.vocabulary.toLocaleString('en')})
    : say(found.pieces ? data.texts.yours_pieces : data.texts.yours_unknown, {word, n: found.pieces});
  return [make('p', {class: 'pr-yours'}, text)];
}

function column(view) {
  const {key, model, gap, data} = view;
  const mask = model.masks[gap], k = Math.min(shown, mask.p.length);
  const rest = Math.max(0, 1 - mask.p.slice(0, k).reduce((sum, p) => sum + p, 0));
  const list = make('ol', {class: 'pr-list', 'aria-label': model.label});
  for (let rank = 0; rank < k; rank++) list.append(row(view, rank));
  const strip = make('span', {class: 'pr-mass', 'aria-hidden': 'true'}, make('i'));
  vary(strip, '--rest', rest);
  return make('section', {class: 'pr-column', 'data-model': key},
    make('header', {},
      make('h3', {class: 'model-name', 'data-model': key}, model.label),
      make('p', {class: 'pr-answer'}, make('span', {class: 'pr-first'}, mask.words[0]),
        make('span', {class: 'pr-first-p'}, number(mask.p[0]))),
      make('p', {class: 'pr-spread'}, say(data.texts.spread,
        {n: mask.choices < 10 ? mask.choices.toFixed(1) : Math.round(mask.choices).toLocaleString('en')})),
      ...yourWord(data, model, gap)),
    list,
    make('p', {class: 'pr-rest'}, strip, make('span', {}, number(rest) + ' '
      + (k === 1 ? data.texts.rest_one : say(data.texts.rest, {k})))));
}

const card = (key, model) => make('section', {class: 'pr-column card plain', 'data-model': key},
  make('h3', {class: 'model-name', 'data-model': key}, model.label), make('p', {}, model.card));

function gapBlock(data, models, gap) {
  const by = listedBy(data, models, gap);
  const max = niceTop(Math.max(...models.map(([, model]) => model.masks[gap].p[0])));
  const block = make('div', {class: 'pr-gap'});
  if (data.masks.length > 1) {
    block.append(make('p', {class: 'pr-context'},
      make('strong', {}, say(data.texts.mask, {i: gap + 1, n: data.masks.length}) + ' '),
      data.masks[gap].before, make('mark', {}, '\u2009?\u2009'), data.masks[gap].after));
  }
  block.append(make('div', {class: 'columns'}, ...Object.entries(data.models).map(([key, model]) =>
    model.card ? card(key, model) : column({key, model, gap, by, data, max}))));
  const common = [...by].filter(([, keys]) => keys.length === models.length).map(([word]) => word);
  const foot = [];
  if (models.length > 1) {
    foot.push(common.length ? say(data.texts.shared, {n: models.length, words: common.map(word => `“${word}”`).join(', ')})
      : say(data.texts.shared_none, {n: models.length}), ' ');
  }
  block.append(make('p', {class: 'note'}, ...foot, say(data.texts.scale, {max})));
  return block;
}

function control(data, redraw) {
  const range = make('input', {type: 'range', min: 1, max: 50, step: 1, id: 'pr-shown'});
  range.value = String(shown);
  const value = make('output', {for: 'pr-shown'}, String(shown));
  range.addEventListener('input', () => {
    shown = Number(range.value);
    value.textContent = range.value;
    redraw();
  });
  return make('div', {class: 'pr-control'},
    make('label', {for: 'pr-shown'}, data.texts.shown), range, value);
}

function link(root) {
  const mark = (event, on) => {
    const item = event.target.closest && event.target.closest('.pr-row');
    root.querySelectorAll('.pr-row.linked').forEach(other => other.classList.remove('linked'));
    if (!on || !item) return;
    const gap = item.closest('.pr-gap');
    gap.querySelectorAll('.pr-row').forEach(other =>
      other.classList.toggle('linked', other.dataset.word === item.dataset.word));
  };
  root.onpointerover = event => mark(event, true);
  root.onpointerleave = event => mark(event, false);
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const models = Object.entries(data.models).filter(([, model]) => !model.card);
  const gaps = make('div', {class: 'pr-gaps'});
  const redraw = () => gaps.replaceChildren(
    ...(models.length ? data.masks.map((_, gap) => gapBlock(data, models, gap)) : []));
  if (!data.masks.length || !models.length) {
    const cards = Object.entries(data.models).filter(([, model]) => model.card);
    root.replaceChildren(make('div', {class: 'columns'}, ...cards.map(pair => card(...pair))));
    return;
  }
  redraw();
  link(gaps);
  root.replaceChildren(control(data, redraw), gaps, make('p', {class: 'note'}, data.texts.rule));
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const of = model => model.masks.flatMap((mask, gap) =>
    mask.words.map((word, rank) => [gap + 1, model.label, rank + 1, word, mask.pieces[rank], mask.p[rank]]));
  return {columns: ['gap', 'model', 'rank', 'word', 'token', 'probability'],
    rows: Object.values(data.models).filter(model => !model.card).flatMap(of)};
}
