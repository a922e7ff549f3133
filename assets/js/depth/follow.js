// One model's answer, followed in all models: its probability and its rank in each, layer by layer.
import {make, sayNodes, word} from '../kit/dom.js';

/**
 * The word that a key stands for at a mask: that model's answer.
 * @param {import('../data').LensData} data
 * @param {number} place
 * @param {string} key
 */
const wordOf = (data, place, key) =>
  data.models.map(model => model.masks[place].followed[key]).find(Boolean)?.word;

/**
 * The choices by their keys: each model's own answer first, then every different answer once.
 * @param {import('../data').LensData} data
 * @param {number} place
 * @returns {Record<string, string>}
 */
export function offered(data, place) {
  /** @type {Map<string, string>} */
  const words = new Map();
  for (const {key} of data.models) {
    const word = wordOf(data, place, key);
    if (word !== undefined && ![...words.values()].includes(word)) words.set(key, word);
  }
  return {own: data.texts.own, ...Object.fromEntries(words)};
}

/**
 * The choice that a link's key stands for: the first one with its word.
 * @param {import('../data').LensData} data
 * @param {number} place
 * @param {string} key
 */
export function keyOf(data, place, key) {
  const word = wordOf(data, place, key);
  return (
    Object.entries(offered(data, place)).find(
      ([name, offer]) => name !== 'own' && offer === word,
    )?.[0] ?? 'own'
  );
}

/**
 * A mask with the followed word first, beside the words that are drawn anyway.
 * @param {import('../data').LensMask} mask
 * @param {import('../data').FollowedWord} followed
 */
function withFirst(mask, followed) {
  const others = [...mask.words.keys()]
    .filter(i => mask.words[i] !== followed.word)
    .slice(0, mask.words.length - 1);
  return {
    ...mask,
    isFollowed: true,
    words: [followed.word, ...others.map(i => mask.words[i])],
    p: mask.p.map((row, layer) => [followed.p[layer], ...others.map(i => row[i])]),
    rank: followed.rank,
    decided: followed.decided ?? Infinity,
  };
}

/**
 * The models as they are drawn; one without the word keeps its own.
 * @param {import('../data').LensModel[]} models
 * @param {number} place
 * @param {string} key
 */
export const followedIn = (models, place, key) =>
  models.map(model => ({
    ...model,
    masks: model.masks.map((mask, i) =>
      i === place && mask.followed[key] ? withFirst(mask, mask.followed[key]) : mask,
    ),
  }));

/**
 * @param {import('../data').LensData} data
 * @param {import('../data').LensModel} model
 * @param {import('../data').FollowedWord | undefined} followed
 * @returns {[string, Record<string, string>]}
 */
function sentence({texts}, {layers}, followed) {
  if (!followed) return [texts.followed_none, {}];
  const rank = followed.rank[followed.rank.length - 1].toLocaleString('en'),
    lost = followed.rank.lastIndexOf(1);
  if (followed.decided !== null)
    return [
      followed.decided ? texts.followed_first : texts.followed_at_once,
      {n: String(followed.decided), total: String(layers)},
    ];
  return lost > 0
    ? [texts.followed_lost, {n: String(lost), total: String(layers), rank}]
    : [texts.followed_last, {rank}];
}

/**
 * What becomes of the followed word in each model.
 * @param {import('../data').LensData} data
 * @param {number} place
 * @param {string} key
 */
export function finding(data, place, key) {
  const parts = data.models.flatMap((model, i) => {
    const [template, values] = sentence(data, model, model.masks[place].followed[key]);
    return [
      i ? '; ' : '',
      ...sayNodes(template, {
        ...values,
        model: make('span', {class: 'model-name', 'data-model': model.key}, model.label),
      }),
    ];
  });
  return make(
    'p',
    {class: 'finding'},
    ...sayNodes(data.texts.followed, {word: word(wordOf(data, place, key) ?? '')}),
    ...parts,
    '.',
  );
}

/**
 * Each model's piece of the followed word, by mask, as the lines of Python have it.
 * @param {import('../data').LensData} data
 * @param {string} key
 */
export const piecesFollowed = (data, key) =>
  data.masks.map((_, place) =>
    Object.fromEntries(
      data.models.flatMap(({label, masks}) =>
        masks[place].followed[key] ? [[label, masks[place].followed[key].piece]] : [],
      ),
    ),
  );

/**
 * The word that a saved file names.
 * @param {import('../data').LensData} data
 * @param {number} place
 * @param {string} key
 */
export function header(data, place, key) {
  const word = data.masks.length ? wordOf(data, place, key) : undefined;
  return word === undefined ? {} : {followed: word};
}

/**
 * Rows of the followed word, one for each mask, model and layer.
 * @param {import('../data').LensData} data
 * @param {string} key
 */
export const rows = (data, key) =>
  data.models.flatMap(({label, masks}) =>
    masks.flatMap(({followed}, place) => {
      const record = followed[key];
      return record
        ? record.p.map((p, layer) => [
            'followed',
            place + 1,
            label,
            layer,
            record.word,
            p,
            null,
            null,
            record.decided !== null && layer >= record.decided,
            null,
            record.rank[layer],
          ])
        : [];
    }),
  );
