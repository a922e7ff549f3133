// Two texts, patched: how much of the difference each word's state brings back, layer by layer.
import {choice} from '../kit/choice.js';
import {make, note, say, sayNodes, vary, word} from '../kit/dom.js';
import {brief, fixed} from '../kit/numbers.js';
import {explainer} from '../kit/term.js';
import {choose, chosen} from '../page/here.js';
import {layerName} from './strip.js';

/**
 * @typedef {import('../data').PatchingOffer & {texts: any}} Offer
 * @typedef {import('../data').PatchingFound & Offer} Data with the results
 * @typedef {import('../data').PatchedModel} Model
 * @typedef {import('../data').PatchingMap} Effects
 */

const FAINT = 0.05; // what is nearer to 0 is printed quietly
const short = (/** @type {number} */ v) =>
  Math.abs(v) < 0.005 ? '0' : fixed(v, 2).replace(/\.00$/, '');
const modelName = (/** @type {Model} */ model) =>
  make('span', {class: 'model-name', 'data-model': model.key}, model.label);

/**
 * The word besides the changed one and the mask that carries more than both in the most layers, and
 * in how many; null for none.
 * @param {number[][]} effect
 * @param {number} changed
 * @param {number} at the mask's word
 * @returns {{word: number, n: number} | null}
 */
export function between(effect, changed, at) {
  const others = [...effect[0].keys()].filter(i => i !== changed && i !== at);
  const counts = others.map(word => ({
    word,
    n: effect.filter(row => row[word] >= FAINT && row[word] > Math.max(row[changed], row[at]))
      .length,
  }));
  return counts.reduce(
    (most, word) => (word.n > (most?.n ?? 0) ? word : most),
    /** @type {{word: number, n: number} | null} */ (null),
  );
}

/**
 * What the sentence says of words between; nothing where there are none.
 * @param {Data} data
 * @param {Model[]} told
 * @param {number} mask
 */
function others({words, changed, masks, texts}, told, mask) {
  const carriers = told.flatMap(model => {
    const word = between(model.maps[mask].effect, changed, masks[mask]);
    return word ? [{model, ...word}] : [];
  });
  return carriers.flatMap(({model, word: at, n}, i) => [
    i ? ', ' : texts.others,
    ...sayNodes(texts.other, {
      word: word(words[at]),
      n: String(n),
      total: String(model.maps[mask].effect.length - 1),
      model: modelName(model),
    }),
    i === carriers.length - 1 ? '.' : '',
  ]);
}

/** @param {Data} data @param {number} mask */
function finding(data, mask) {
  const {models, was, becomes, texts} = data,
    told = models.filter(model => model.maps[mask]?.effect.length);
  const names = {was: word(was), becomes: word(becomes)};
  if (!told.length)
    return make(
      'p',
      {class: 'fold-finding'},
      ...sayNodes(
        models.some(model => model.maps.length) ? texts.no_finding : texts.no_partner,
        names,
      ),
    );
  const parts = told.flatMap((model, i) => [
    i === 0 ? '' : i === told.length - 1 ? ' and ' : ', ',
    ...sayNodes(texts.from, {
      model: modelName(model),
      n: String(model.maps[mask].taken),
      total: String(model.maps[mask].effect.length - 1),
    }),
  ]);
  return make(
    'p',
    {class: 'fold-finding'},
    ...sayNodes(texts.finding, names),
    ...parts,
    '.',
    ...others(data, told, mask),
  );
}

/** @param {Offer} offer @param {import('../gradio.js').Context} context */
function offers({offered, second, texts}, {ask}) {
  const buttons = offered.map(({kind, was, becomes, text}) => {
    const name = say(texts.offer, {kind: texts.kinds[kind], was, becomes});
    const button = make(
      'button',
      {type: 'button', class: 'chip', 'aria-pressed': String(text === second)},
      name,
    );
    button.addEventListener('click', () => ask({second: text}));
    return button;
  });
  return buttons.length
    ? make(
        'div',
        {class: 'chips dq-offers', role: 'group', 'aria-label': texts.offers},
        make('span', {class: 'lead'}, texts.offers),
        ...buttons,
      )
    : '';
}

/**
 * @param {number} value
 * @param {Model} model
 * @param {string} name
 * @param {number} layer
 * @param {any} texts
 */
function cell(value, model, name, layer, texts) {
  const sentence = say(texts.cell, {
    model: model.label,
    word: name,
    layer: layerName(texts, layer),
    share: fixed(value, 3),
  });
  const kind = value <= -FAINT ? 'dq-cell below' : value < FAINT ? 'dq-cell faint' : 'dq-cell';
  const node = make('span', {class: kind, role: 'cell', title: sentence}, short(value));
  vary(node, '--share', Math.max(0, Math.min(1, value)));
  return node;
}

/** @param {Model} model @param {number} mask @param {Data} data @param {number} deepest */
function map(model, mask, data, deepest) {
  const {words, changed, masks, texts} = data,
    {effect} = model.maps[mask];
  const head = make(
    'div',
    {class: 'dq-row head', role: 'row'},
    make('span', {class: 'dq-word', role: 'columnheader'}, texts.layers),
    make(
      'div',
      {class: 'dq-cells'},
      ...effect.map((_, layer) =>
        make(
          'span',
          {class: 'dq-cell', role: 'columnheader', title: layerName(texts, layer)},
          layer ? String(layer) : texts.embeddings,
        ),
      ),
    ),
  );
  const rows = words.map((name, i) =>
    make(
      'div',
      {class: i === changed || i === masks[mask] ? 'dq-row framed' : 'dq-row', role: 'row'},
      make('span', {class: 'dq-word', role: 'rowheader', title: name}, name),
      make(
        'div',
        {class: 'dq-cells'},
        ...effect.map((row, layer) => cell(row[i], model, name, layer, texts)),
      ),
    ),
  );
  const table = make(
    'div',
    {class: 'dq-map', role: 'table', 'aria-label': say(texts.map, {model: model.label})},
    head,
    ...rows,
  );
  vary(table, '--layers', deepest + 1);
  return make(
    'div',
    {
      class: 'dq-scroll',
      tabindex: 0,
      role: 'region',
      'aria-label': say(texts.map, {model: model.label}),
    },
    table,
  );
}

/**
 * @param {Effects} effects
 * @param {any} texts
 * @param {ReturnType<typeof explainer>} explain
 */
function answers({answers: [first, second], are_first: areFirst, gaps, effect}, texts, explain) {
  const [d_first, d_second] = gaps.map(signed);
  if (!effect.length)
    return make(
      'p',
      {class: 'note dq-told'},
      ...explain(say(texts.little, {gap: brief(gaps[0] - gaps[1])})),
    );
  return make(
    'p',
    {class: 'note dq-told'},
    ...sayNodes(areFirst ? texts.answers : texts.same, {first: word(first), second: word(second)}),
    ...explain(say(texts.gaps, {d_first, d_second})),
  );
}

const signed = (/** @type {number} */ gap) => (gap < 0 ? '−' : '+') + brief(Math.abs(gap));

/**
 * @param {Model} model
 * @param {number} mask
 * @param {Data} data
 * @param {number} deepest
 * @param {ReturnType<typeof explainer>} explain
 */
function section(model, mask, data, deepest, explain) {
  const patched = model.maps[mask];
  const inside = patched
    ? [
        answers(patched, data.texts, explain),
        patched.effect.length ? map(model, mask, data, deepest) : '',
      ]
    : [make('p', {class: 'note dq-told'}, model.refused)];
  return make(
    'section',
    {class: 'dq', 'data-model': model.key},
    make('h3', {class: 'model-name', 'data-model': model.key}, model.label),
    ...inside,
  );
}

/** The two texts whose picture came last. @type {WeakMap<HTMLElement, string>} */
const drawn = new WeakMap();

/**
 * The second text is the page's from its picture on; Back has its own, also where this one is drawn
 * anew, and so has a newer text.
 * @param {HTMLElement} root
 * @param {Offer} offer
 */
function keep(root, {first, second, other}) {
  const pair = JSON.stringify([first, second]),
    isNew = drawn.get(root) !== pair;
  drawn.set(root, pair);
  if (isNew && first === chosen('text')) choose({other});
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['mask'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {Data} */ data, context) {
  const {models, texts} = data;
  keep(root, data);
  if (!models) {
    root.replaceChildren(offers(data, context));
    return;
  }
  const deepest = Math.max(
    ...models.flatMap(model => model.maps.map(patched => patched.effect.length - 1)),
    1,
  );
  const top = make('div'),
    bar = make('div'),
    maps = make('div', {class: 'dq-maps'});

  function draw() {
    const mask = Math.min(Number(chosen('mask')) || 0, Math.max(0, data.near.length - 1));
    const names = Object.fromEntries(data.near.map((text, i) => [i, text]));
    top.replaceChildren(finding(data, mask));
    bar.replaceChildren(
      data.near.length > 1
        ? choice(texts.mask, names, String(mask), key => {
            choose({mask: key});
            draw();
          })
        : '',
    );
    const explain = explainer(texts.terms);
    maps.replaceChildren(...models.map(model => section(model, mask, data, deepest, explain)));
  }

  draw();
  const left =
    data.near.length < data.n_masks
      ? make('p', {class: 'note'}, say(texts.first_masks, {n: data.near.length, all: data.n_masks}))
      : '';
  root.replaceChildren(
    offers(data, context),
    top,
    bar,
    maps,
    left,
    note(texts.how),
    note(texts.frame),
  );
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {Data} */ {second, words = [], models = []}) => ({
  SECOND: second,
  WORDS: words,
  GROUPS: Object.fromEntries(
    models.filter(model => model.maps.length).map(model => [model.label, model.groups]),
  ),
});

/** @type {import('../gradio.js').Picture['header']} */
export const header = ({second}) => ({state: {second_text: second}});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {Data} */ {models = [], words = []}) {
  const of = (/** @type {Model} */ model) =>
    model.maps.flatMap((patched, mask) => {
      // where the texts differ by too little there are no shares
      const told = [model.label, mask + 1, ...patched.answers, ...patched.gaps];
      return patched.effect.length
        ? patched.effect.flatMap((row, layer) =>
            row.map((share, i) => [...told, layer, words[i], share]),
          )
        : [[...told, null, null, null]];
    });
  return {
    columns: [
      'model',
      'mask',
      'answer_first_text',
      'answer_second_text',
      'gap_first_text',
      'gap_second_text',
      'layer',
      'word',
      'share_brought_back',
    ],
    rows: models.flatMap(of),
  };
}
