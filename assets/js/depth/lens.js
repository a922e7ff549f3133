// When does each model know? The head read at every layer, one strip a model, and the depth dial.
import {choice} from '../kit/choice.js';
import {make, note, say, sayNodes, word} from '../kit/dom.js';
import {number} from '../kit/numbers.js';
import {menuOf} from '../kit/menus.js';
import {explainer} from '../kit/term.js';
import {choose, chosen} from '../page/here.js';
import {look} from '../page/look.js';
import {
  finding as followedFinding,
  followedIn,
  header as followedHeader,
  keyOf,
  offered,
  piecesFollowed,
  rows as followedRows,
} from './follow.js';
import {applications, dial, dialRows, lacking} from './dial.js';
import {klOf, most, sizeOf, strip} from './strip.js';
import * as every from './words.js';

export {whole} from '../kit/figure.js';

const kept = look('follow', 'own'); // the model whose answer is followed in all of them

/** @typedef {import('../data').LensData} LensData */

/** @param {LensData} data @param {number} place */
function finding({models, masks, n_masks: all, texts}, place) {
  if (!masks.length) return make('p', {class: 'finding'}, texts.nothing_hidden);
  const parts = models.flatMap((model, i) => {
    const mask = model.masks[place];
    const sentence = sayNodes(mask.decided ? texts.finding : texts.at_once, {
      model: make('span', {class: 'model-name', 'data-model': model.key}, model.label),
      word: word(mask.words[0]),
      n: String(mask.decided),
      total: String(model.layers),
    });
    return i ? ['; ', ...sentence] : sentence;
  });
  return make(
    'p',
    {class: 'finding'},
    all > 1 ? say(texts.numbered, {i: place + 1, n: all}) : '',
    ...parts,
    '.',
  );
}

/** @param {string[]} masks */
const placeOf = masks => Math.min(Number(chosen('mask')) || 0, Math.max(0, masks.length - 1));

/** @param {import('../data').LensCard} card */
const card = ({key, label, sentence}) =>
  make(
    'section',
    {class: 'card plain', 'data-model': key},
    make('h3', {}, label),
    make('p', {}, sentence),
  );

/** @param {LensData} data @param {number} place @param {import('../gradio.js').Context} context */
function lens(data, place, context) {
  const {texts, masks, n_masks: all} = data,
    models = followedIn(data.models, place, kept.value),
    size = sizeOf(models);
  const top = {
    kl: Math.max(...models.flatMap(model => model.masks[place].kl)),
    p: most(models, place),
  };
  const sharing = models.filter(model => model.flops.length);
  const strips = models.map(model => strip(model, place, size, top, texts));
  const explain = explainer(texts.terms);
  const left =
    masks.length < all
      ? make('p', {class: 'note'}, say(texts.first_masks, {n: masks.length, all}))
      : '';
  return [
    make(
      'div',
      {class: 'dp'},
      make('div', {class: 'dp-strips'}, ...strips, ...data.cards.map(card)),
      make(
        'p',
        {class: 'note dp-scale'},
        texts.scale,
        make('i'),
        number(top.p),
        say(texts.kl_scale, {kl: klOf(top.kl)}),
      ),
      make(
        'div',
        {class: 'dp-below'},
        make('div', {}, left, note(texts.rows, explain)),
        make(
          'div',
          {class: 'dp-dials'},
          ...data.models
            .filter(model => model.flops.length)
            .map(model => dial(model, place, data, context)),
          sharing.length ? '' : make('p', {class: 'note'}, texts.no_dial),
        ),
      ),
    ),
  ];
}

/**
 * The words are read when the reader looks at them: they cost more than the masks.
 * @param {import('../data').LensData} data
 * @param {HTMLElement} root
 * @param {HTMLElement} top
 * @param {HTMLElement} place
 * @param {import('../gradio.js').Context} context
 */
async function words(data, root, top, place, {asks, shows}) {
  place.replaceChildren(make('p', {class: 'note', role: 'status'}, data.texts.waiting));
  try {
    /** @type {import('../data').EveryWordData} */
    const ranks = data.every ?? JSON.parse(await asks({params: data.run, want: 'words'}));
    if (!data.every) {
      data.every = ranks;
      shows?.(JSON.stringify(data)); // a tab that is saved has it with it
    }
    if (chosen('lens') !== 'words') return; // the reader looks at a mask again
    const part = {kind: 'depth/words', root, picture: every, data: ranks};
    top.replaceChildren(every.wordFinding(ranks, data.texts));
    place.replaceChildren(
      ...every.wordMaps(ranks, data.texts),
      menuOf(root, part, !window.explorer?.taken) ?? '',
    );
  } catch {
    if (chosen('lens') !== 'words') return;
    place.replaceChildren(make('p', {class: 'note', role: 'status'}, lacking(data.texts)));
  }
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['mask', 'lens', 'times', 'look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {LensData} */ data, {shows, ...others}) {
  const {texts, masks} = data,
    top = make('div'),
    bar = make('div', {class: 'aw-bar'}),
    body = make('div', {class: 'dp-place-of'});
  /**
   * A late answer of another text is not what is drawn now.
   * @type {import('../gradio.js').Context}
   */
  const context = {
    ...others,
    shows: value => {
      if (root.contains(body)) shows?.(value);
    },
  };

  function draw() {
    const place = placeOf(masks);
    const shownAs = chosen('lens') === 'words' ? 'words' : 'mask',
      turn = (/** @type {string} */ key) => {
        choose({lens: key});
        draw();
      };
    const names = Object.fromEntries(
      masks.map((near, i) => [i, masks.length > 1 ? say(texts.mask_name, {i: i + 1, near}) : near]),
    );
    const answers = masks.length ? offered(data, place) : {},
      key = masks.length ? keyOf(data, place, kept.value) : 'own';
    top.replaceChildren(key === 'own' ? finding(data, place) : followedFinding(data, place, key));
    bar.replaceChildren(
      choice(texts.look, texts.looks, shownAs, turn),
      masks.length > 1 && shownAs === 'mask'
        ? choice(texts.mask, names, String(place), key => {
            choose({mask: key});
            draw();
          })
        : '',
      shownAs === 'mask' && Object.keys(answers).length > 2
        ? choice(texts.follow, answers, key, model => {
            kept.value = model;
            draw();
          })
        : '',
    );
    // nothing that the menu below could save: the words have their own
    root.toggleAttribute('data-empty', shownAs === 'words' || !masks.length);
    if (shownAs === 'words') words(data, root, top, body, context);
    else
      body.replaceChildren(
        ...(masks.length ? lens(data, place, context) : [hideEach(() => turn('words'))]),
      );
  }

  /** @param {() => void} press */
  function hideEach(press) {
    const button = make('button', {type: 'button', class: 'chip'}, texts.hide_each);
    button.addEventListener('click', press);
    return button;
  }

  draw();
  root.replaceChildren(top, bar, body);
}

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {LensData} */ data) => ({
  state: {
    mask: 1 + placeOf(data.masks),
    ...followedHeader(data, placeOf(data.masks), kept.value),
    ...Object.fromEntries(
      data.models
        .filter(model => model.flops.length)
        .map(model => [`${model.label} applied`, Number(chosen('times')) || model.layers]),
    ),
  },
});

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {LensData} */ data) => ({
  MASKS: data.masks.length,
  APPLIED: applications(data),
  FOLLOWED: piecesFollowed(data, kept.value),
  POOLED: Object.fromEntries(
    data.models.filter(model => model.flops.length).map(model => [model.label, model.pooled]),
  ),
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {LensData} */ data) {
  const of = (/** @type {import('../data').LensModel} */ model) =>
    model.masks.flatMap((mask, place) =>
      mask.p.flatMap((shares, layer) =>
        mask.words.map((word, i) => [
          'lens',
          place + 1,
          model.label,
          layer,
          word,
          shares[i],
          mask.rank[layer],
          mask.kl[layer],
          layer >= mask.decided,
          null,
          null,
        ]),
      ),
    );
  return {
    columns: [
      'part',
      'mask',
      'model',
      'layer',
      'word',
      'probability',
      'place_of_final_answer',
      'kl_final_to_layer_nats',
      'decided',
      'flops',
      'rank_of_word',
    ],
    rows: [...data.models.flatMap(of), ...followedRows(data, kept.value), ...dialRows(data)],
  };
}
