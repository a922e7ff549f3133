import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, enter, place, shares, texts} from '../dom.js';
import {begun, reply} from '../page/stage.js';

const {choices, constants, header, show, table} = await import('../../../assets/js/predictions/gaps.js');
const {begin} = await import('../../../assets/js/page/masks.js');

const said = {shown: 'Shown', rest: 'outside these {k}', rest_one: 'outside this word', spread: 'among {n}', also: 'also {names}', only: 'alone',
  shared: 'In {lists}: {words}.', shared_none: 'None in {lists}.', both_lists: 'both', all_lists: 'all {n}', scale: 'Full: {max}.', rule: 'Rule.\nSpread.', mask: 'Gap {i} of {n}',
  yours: '{word}: {p}, {rank} of {size}', yours_pieces: '{word} is {n} pieces', yours_unknown: '{word} unknown', yours_row: 'you hid it', more: 'More', put: 'Fill with {word}'};
const mask = (words, p, changes = {}) => ({words, pieces: words.map(word => `▁${word}`), p, choices: 3.25, ...changes});
const model = (label, ...masks) => ({label, vocabulary: 30522, masks});
const gap = {before: 'The ', after: ' sat.', hidden: 'cow'};
const models = () => ({
  bert: model('BERT', mask(['cat', 'dog', 'man'], [.4, .2, .1])),
  distilbert: model('DistilBERT', mask(['dog', 'cat', 'cow'], [.3, .15, .05], {choices: 1234.5})),
  albert: model('ALBERT', mask(['cat', 'cow', 'hen'], [.01, .008, .0001], {choices: 12.4}))});

function shown(changes = {}, count = '10') {
  const root = place();
  show(root, {texts: said, masks: [gap], models: models(), ...changes});
  if (root.querySelector('#pr-shown')) enter(root.querySelector('#pr-shown'), count);
  return root;
}
const rows = (root, key, what = '.pr-word') => texts(root.querySelector(`.pr-column[data-model=${key}]`), `.pr-row ${what}`);

test('a column for each model: its first answer, how unsure it is, its words with their probabilities', () => {
  const root = shown();
  assert.deepEqual(texts(root, 'h3'), ['BERT', 'DistilBERT', 'ALBERT']);
  assert.deepEqual(texts(root, '.pr-answer'), ['cat0.400', 'dog0.300', 'cat0.010']);
  assert.deepEqual(texts(root, '.pr-spread'), ['among 3.3', 'among 1,235', 'among 12']);
  assert.deepEqual(rows(root, 'albert'), ['cat', 'cow', 'hen']);
  assert.deepEqual(rows(root, 'albert', '.pr-p'), ['0.010', '0.008', '1.0×10⁻⁴']);
});

test('all bars of a gap have one scale, the round number above the largest', () => {
  const root = shown();
  assert.deepEqual(shares(root, '.pr-bar'), [.8, .4, .2, .6, .3, .1, .02, .016, 0]);
  assert.match(root.querySelector('.pr-gap > .note').textContent, /Full: 0\.5\.$/);
});

test('a word that others list too says which; one of a model alone says that', () => {
  const root = shown(), all = [...root.querySelectorAll('.pr-row')];
  const [cat, dog, man] = all;
  assert.equal(cat.title, '▁cat, 0.400, also DistilBERT and ALBERT');
  assert.equal(cat.querySelector('.sr').textContent, 'also DistilBERT and ALBERT');
  assert.equal(dog.title, '▁dog, 0.200, also DistilBERT');
  assert.equal(man.title, '▁man, 0.100, alone');
  assert.deepEqual([cat, dog, man].map(row => row.classList.contains('shared')), [true, false, false]);
  assert.deepEqual([cat, dog, man].map(row => [...row.querySelectorAll('.pr-dots i')].map(dot => dot.getAttribute('data-model'))),
    [[], ['distilbert'], []]);   // a word in all lists has its name below them
  assert.match(root.querySelector('.pr-gap > .note').textContent, /^In all 3: “cat”\. /);
});

test('four models are joined by commas and one and', () => {
  const root = shown({models: {...models(), other: model('Other', mask(['cat'], [.4]))}});
  assert.equal(root.querySelector('.pr-row').title, '▁cat, 0.400, also DistilBERT, ALBERT and Other');
});

test('fewer words leave more to the rest, are compared among themselves, and stay so for the next text', () => {
  let root = shown();
  assert.deepEqual(texts(root, '.pr-rest'), ['0.300 outside these 3; among 3.3', '0.500 outside these 3; among 1,235', '0.982 outside these 3; among 12']);
  assert.deepEqual(shares(root, '.pr-mass', '--rest'), [.3, .5, .982]);
  root = shown({}, '1');
  assert.equal(root.querySelector('output').textContent, '1');
  assert.deepEqual(texts(root, '.pr-rest'), ['0.600 outside this word; among 3.3', '0.700 outside this word; among 1,235', '0.990 outside this word; among 12']);
  assert.equal(root.querySelector('.pr-row').title, '▁cat, 0.400, also ALBERT');
  assert.match(root.querySelector('.pr-gap > .note').textContent, /^None in all 3\. /);
  const next = place();
  show(next, {texts: said, masks: [gap], models: models()});
  assert.deepEqual([next.querySelector('#pr-shown').value, next.querySelectorAll('.pr-row').length], ['1', 3]);
  assert.deepEqual(['min', 'max', 'step'].map(name => next.querySelector('#pr-shown').getAttribute(name)), ['1', '50', '1']);
});

test('probabilities that sum to more than one leave nothing, not less', () => {
  const root = shown({models: {bert: model('BERT', mask(['a', 'b'], [.9, .2]))}});
  assert.deepEqual([texts(root, '.pr-rest'), shares(root, '.pr-mass', '--rest')], [['0.000 outside these 2; among 3.3'], [0]]);
});

test('several words in all lists are all named; of one model nothing is', () => {
  const {bert, distilbert} = models();
  assert.match(shown({models: {bert, distilbert}}).querySelector('.pr-gap > .note').textContent, /^In both: “cat”, “dog”\. Full/);
  assert.equal(shown({models: {bert}}).querySelector('.pr-gap > .note').textContent, 'Full: 0.5.');
});

test('one gap needs no heading; of several each is named with what stands around it', () => {
  assert.equal(shown().querySelector('.pr-context'), null);
  const two = {bert: model('BERT', mask(['cat'], [.4]), mask(['mat'], [.04]))};
  const root = shown({models: two, masks: [gap, {before: 'on ', after: '.', hidden: ''}]});
  assert.deepEqual(texts(root, '.pr-context').map(text => text.replaceAll('\u2009', '')), ['Gap 1 of 2 The ? sat.', 'Gap 2 of 2 on ?.']);
  assert.deepEqual(rows(root.querySelectorAll('.pr-gap')[1], 'bert'), ['mat']);
  assert.deepEqual(shares(root, '.pr-bar'), [.8, .8]);   // each gap has its own scale
});

test('the word that was hidden: its number and rank, its pieces, or that there is none', () => {
  const yours = found => shown({models: {bert: model('BERT', mask(['cat', 'cow'], [.4, .2], {yours: found}))}});
  let root = yours({pieces: 1, p: .2, rank: 2000, row: 1});
  assert.deepEqual(texts(root, '.pr-yours'), ['“cow”: 0.200, 2,000 of 30,522']);
  assert.deepEqual([...root.querySelectorAll('.pr-row')].map(row => row.classList.contains('yours')), [false, true]);
  assert.deepEqual(texts(root, '.pr-row .sr'), ['alone', 'alone, you hid it']);
  root = yours({pieces: 2});
  assert.deepEqual([texts(root, '.pr-yours'), root.querySelectorAll('.yours').length], [['“cow” is 2 pieces'], 0]);
  assert.deepEqual(texts(yours({pieces: 0}), '.pr-yours'), ['“cow” unknown']);
  assert.deepEqual(texts(shown(), '.pr-yours'), []);
});

test('the same word is marked in all lists of its gap while the pointer is on it', () => {
  const two = {...models(), distilbert: models().distilbert};
  for (const one of Object.values(two)) one.masks.push(one.masks[0]);
  const root = shown({models: two, masks: [gap, gap]}), gaps = root.querySelector('.pr-gaps'), first = root.querySelector('.pr-gap');
  const over = (target, name) => gaps[`on${name}`]({target});
  over(first.querySelector('.pr-row[data-word=dog] .pr-p'), 'pointerover');
  assert.equal(root.querySelectorAll('.linked').length, 2);
  assert.ok([...root.querySelectorAll('.linked')].every(row => row.dataset.word === 'dog' && first.contains(row)));
  over(first.querySelector('.pr-row[data-word=man]'), 'pointerover');
  assert.deepEqual([...root.querySelectorAll('.linked')].map(row => row.dataset.word), ['man']);
  over(first.querySelector('h3'), 'pointerover');
  assert.equal(root.querySelectorAll('.linked').length, 0);
  over(first.querySelector('.pr-row'), 'pointerover');
  over(first.querySelector('.pr-row'), 'pointerleave');
  assert.equal(root.querySelectorAll('.linked').length, 0);
});

test('a model that cannot be had is a card in its place; without a gap or a model only cards are left', () => {
  const {bert} = models(), albert = {label: 'ALBERT', card: 'It is not here.'};
  let root = shown({models: {albert, bert}});
  assert.deepEqual(texts(root, '.columns > *').map(text => text.slice(0, 8)), ['ALBERTIt', 'BERTcat0']);
  assert.match(root.querySelector('.pr-gap > .note').textContent, /^Full/);
  root = shown({models: {albert, bert}, masks: []});
  assert.deepEqual([texts(root, '.pr-column'), root.querySelector('input')], [['ALBERTIt is not here.'], null]);
  root = shown({models: {albert}});
  assert.deepEqual([texts(root, '.pr-column'), root.querySelector('input')], [['ALBERTIt is not here.'], null]);
});

test('the table has a row for each word, gap after gap within a model, without the cards', () => {
  const far = {...mask(['z'], [.5]), choices: 7, yours: {pieces: 1, p: .01, rank: 60, row: -1}}, masks = [{hidden: ''}, {hidden: 'cat'}];
  const drawn = {masks, models: {a: {label: 'A', card: 'x'}, b: model('B', {...mask(['x', 'y'], [.25, .125]), choices: 9}, far)}}, {columns, rows: found} = table(drawn);
  assert.deepEqual(columns, ['gap', 'model', 'rank', 'word', 'token', 'probability', 'left_to_all_further_words', 'perplexity']);
  assert.deepEqual(found, [[1, 'B', 1, 'x', '▁x', .25, .75, 9], [1, 'B', 2, 'y', '▁y', .125, .625, 9], [2, 'B', 1, 'z', '▁z', .5, .5, 7],
    [2, 'B', 60, 'cat', null, .01, null, 7]]);
  assert.deepEqual(constants(drawn), {HIDDEN: ['', 'cat']});
});

test('a click on a predicted word fills its gap, and the words behind the others stay', () => {
  const page = place();
  page.innerHTML = '<div id="text"><textarea></textarea></div><div id="gaps"></div>';
  const {sent} = begun({text: 'A [MASK] sat on the [MASK].', hidden: '|mat'}), root = page.querySelector('#gaps');
  begin('A [MASK] sat on the [MASK].', '|mat');
  show(root, {texts: said, masks: [gap], models: models()});
  const word = root.querySelector('.pr-word');
  assert.equal(word.title, 'Fill with cat');
  click(word);
  assert.equal(page.querySelector('textarea').value, 'A cat sat on the [MASK].');
  assert.deepEqual([sent[0].text, sent[0].hidden], ['A cat sat on the [MASK].', 'mat']);
});

test('a second press before the answer fills no other gap; after it the next one is filled', () => {
  const page = place();
  page.innerHTML = '<div id="text"><textarea></textarea></div><div id="gaps"></div>';
  const {state, sent} = begun({text: 'A [MASK] sat on the [MASK].'}), root = page.querySelector('#gaps'), box = page.querySelector('textarea');
  const press = () => click(root.querySelector('.pr-word'));
  show(root, {texts: said, masks: [gap, gap], models: {bert: model('BERT', mask(['cat'], [.4]), mask(['mat'], [.4]))}});
  press();
  press();
  assert.deepEqual([box.value, sent.length], ['A cat sat on the [MASK].', 1]);
  reply(state);
  show(root, {texts: said, masks: [gap], models: {bert: model('BERT', mask(['mat'], [.4]))}});
  press();
  press();   // there is no gap left
  assert.deepEqual([box.value, sent.length], ['A cat sat on the mat.', 2]);
});

test('few words first where there is little room, and more by one control', () => {
  const root = shown({}, '3'), range = root.querySelector('#pr-shown');
  assert.deepEqual([range.value, root.querySelector('.pr-gaps').classList.contains('short')], ['3', true]);
  assert.equal(root.querySelectorAll('.pr-control :is(button, input)').length, 1);
  range.value = '10';
  range.dispatchEvent(new Event('input'));
  assert.deepEqual([root.querySelector('.pr-control output').textContent, root.querySelector('.pr-gaps').classList.contains('short')], ['10', false]);
});

const words = ['one', 'two', 'three', 'four', 'five', 'six'];
function many(n, changes = {}) {
  const one = (label, last) => model(label, ...words.slice(0, n).map((word, i) => mask([i ? word : last, 'cat'], [.4, .2])));
  const masks = words.slice(0, n).map(word => ({before: `${word} `, after: '.', hidden: ''}));
  return {texts: {...said, masks: 'Masks'}, masks, models: {bert: one('BERT', 'one'), albert: one('ALBERT', 'another')}, ...changes};
}
const tiles = root => [...root.querySelectorAll('.pr-mask')], contexts = root => texts(root, '.pr-context').map(text => text.split(' ').slice(0, 4).join(' '));

test('up to four masks all have their columns; of more one is chosen from a list of what each model says', () => {
  begun({text: 'x'});
  const root = place();
  show(root, many(4));
  assert.deepEqual([root.querySelectorAll('.pr-gap').length, tiles(root).length], [4, 0]);
  assert.deepEqual(header(many(4)), {words_shown: 10});
  show(root, many(5));
  assert.deepEqual(contexts(root), ['Gap 1 of 5']);
  assert.deepEqual(tiles(root).map(tile => tile.textContent), ['1oneanother', '2two', '3three', '4four', '5five']);
  assert.equal(tiles(root)[0].getAttribute('aria-label'), 'Gap 1 of 5 BERT one, ALBERT another');
  assert.deepEqual([...tiles(root)[0].querySelectorAll('.pr-says')].map(one => one.dataset.model), ['bert', 'albert']);
  assert.equal(table(many(5)).rows.length, 20, 'the file has all masks');
});

test('the chosen mask is the page’s: in the link, in what files say, and for the next picture', () => {
  const {state, sent} = begun({text: 'x'}), root = place(), pressed = () => tiles(root).map(tile => tile.getAttribute('aria-pressed')).indexOf('true');
  show(root, many(5));
  click(tiles(root)[3]);
  assert.deepEqual([contexts(root), pressed(), state.link().mask, sent], [['Gap 4 of 5'], 3, '3', []]);
  assert.deepEqual(tiles(root).map(tile => tile.tabIndex), [-1, -1, -1, 0, -1]);
  assert.deepEqual(header(many(5)), {words_shown: 10, state: {mask: 4}});
  tiles(root)[4].focus();
  assert.deepEqual([contexts(root), pressed(), state.link().mask], [['Gap 5 of 5'], 4, '4'], 'the arrows move the focus');
  show(root, many(6));
  assert.deepEqual(contexts(root), ['Gap 5 of 6']);
  state.set({mask: '63'});
  show(root, many(6));
  assert.deepEqual(contexts(root), ['Gap 6 of 6'], 'the last one, of more than there are');
  assert.deepEqual([...choices], ['look', 'mask']);
});

test('a mask that is filled gives way to the one behind it', () => {
  const page = place();
  page.innerHTML = '<div id="text"><textarea></textarea></div><div id="gaps"></div>';
  const text = Array(6).fill('[MASK]').join(' '), {sent} = begun({text, mask: '5'}), root = page.querySelector('#gaps');
  begin(text, '');
  show(root, many(6));
  click(root.querySelector('.pr-word'));
  assert.deepEqual([sent[0].text, sent[0].mask], ['[MASK] [MASK] [MASK] [MASK] [MASK] six', '4']);
});
