// Many masks: a numbered list with the word that each model says; the chosen one's columns are
// below it.
import {closest, make, say, sized} from '../kit/dom.js';
import {rove} from '../kit/rove.js';

/**
 * The models that have answered, by key.
 * @typedef {[string, import('../data').ModelAnswers][]} Answers
 */

/**
 * What each model says of a mask: one word where all say the same.
 * @param {Answers} models
 * @param {number} mask
 */
function answers(models, mask) {
  const words = models.map(([, model]) => model.masks[mask].words[0]);
  if (new Set(words).size === 1) return [make('span', {class: 'pr-says all'}, words[0])];
  return models.map(([key], i) => make('span', {class: 'pr-says', 'data-model': key}, words[i]));
}

/**
 * @param {import('../data').GapsData} data
 * @param {Answers} models
 * @param {number} chosen
 * @param {(mask: number) => void} choose
 */
export function chooser(data, models, chosen, choose) {
  const n = data.masks.length;
  const tiles = data.masks.map((_, mask) => {
    const firstWords = models
      .map(([, model]) => `${model.label} ${model.masks[mask].words[0]}`)
      .join(', ');
    return make(
      'button',
      {
        type: 'button',
        class: 'pr-mask',
        'aria-label': `${say(data.texts.mask, {i: mask + 1, n})} ${firstWords}`,
        title: firstWords,
      },
      make('span', {class: 'pr-number'}, String(mask + 1)),
      ...answers(models, mask),
    );
  });
  const list = make(
    'div',
    {class: 'pr-masks', role: 'group', 'aria-label': data.texts.masks},
    ...tiles,
  );
  rove(list);
  let at = -1;
  const mark = (/** @type {number} */ mask) => {
    at = mask;
    tiles.forEach((tile, place) => {
      tile.setAttribute('aria-pressed', String(place === mask));
      tile.tabIndex = place === mask ? 0 : -1;
    });
  };
  const pick = (/** @type {Event} */ event) => {
    const tile = closest(event, '.pr-mask'),
      mask = tiles.findIndex(other => other === tile);
    if (mask < 0 || mask === at) return;
    mark(mask);
    choose(mask);
  };
  list.addEventListener('click', pick);
  // the arrows move the focus, and what is looked at with it
  list.addEventListener('focusin', pick);
  mark(chosen);
  // On a phone the list is one row, which begins where the chosen mask is in sight.
  sized(list, () => {
    list.scrollLeft = tiles[at].offsetLeft - (list.clientWidth - tiles[at].offsetWidth) / 2;
  });
  return list;
}
