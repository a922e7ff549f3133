import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, settled, shares, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {constants, header, show, table} = await import('../../../assets/js/depth/lens.js');
const {partOf} = await import('../../../assets/js/kit/menus.js');

const said = {finding: '{model} decides on {word} in {n} of {total}', at_once: '{model} has {word} at once', nothing_hidden: 'Nothing hidden.', look: 'Look',
  looks: {mask: 'a mask', words: 'every word'}, mask: 'Mask', numbered: 'Mask {i} of {n}: ', mask_name: '{i}: {near}', kl_scale: '; KL 0 to {kl}', terms: {KL: 'box-kl'}, rows: 'Rows and KL.\nBrittle KL.',
    first_masks: '{n} of {all} masks',
  embeddings: 'emb.', layer: 'layer {n}', cell: '{model}, {layer}: {word} {p}', place_cell: '{layer}: {word} in {rank}', kl_cell: '{layer}: {kl} nats',
  scale: 'Colour 0', strip: 'Strip of {model}', place: 'place', kl: 'KL', no_dial: 'No dial.', hide_each: 'Hide each', waiting: 'Wait.', lacking: 'Not now.', needs_page: 'Live only.',
    words_strip: 'words of {model}',
  words_note: 'Note.', first_words: 'first {n} of {all}', words_counted: 'Counted {n}.', words_none: 'None.', words_said: 'Said: ', words_finding: '{model} {first} of {n}', dial: 'Dial of {model}',
    usual: 'usual',
  times: 'times', dial_chart: 'Chart', dial_note: 'Dial note.', same: 'same', other: 'other', distance: '{kl} away', work: '{gflop}, {share}', same_work: '{gflop}, usual',
    beyond: 'up to {n}', follow: 'Follow', own: 'own', followed: 'All: {word}. ', followed_first: '{model} first from {n} of {total}', followed_at_once: '{model} at once',
  followed_last: '{model} ends {rank}', followed_lost: '{model} first in {n} of {total}, ends {rank}', followed_none: '{model} lacks it', place_of: 'its place'};
const mask = (decided, words, p, rank, kl, followed = {}) => ({decided, words, p, rank, kl, followed, top: p.map(row => words.map((word, i) => [word, row[i]]))});
const bert = () => ({key: 'bert', label: 'BERT', layers: 2, flops: [], masks: [
  mask(2, ['cat', 'dog'], [[.01, .25], [.003, .5], [.998, 0]], [1500, 2, 1], [12, 3, 0]), mask(0, ['mat', 'rug'], [[.5, .1], [.6, .1], [.7, .1]], [1, 1, 1],
    [2, 1, 0])]});
const albert = () => ({key: 'albert', label: 'ALBERT', layers: 1, flops: [1e9, 2e9], pooled: true, chart: {data: [{}], layout: {shapes: [{}, {}]}}, masks: [
  mask(1, ['dog', 'cat'], [[.1, .2], [.9, .1]], [3, 1], [6, 0]), mask(1, ['rug', 'mat'], [[.1, .2], [.9, .1]], [3, 1], [6, 0])]});
const data = changes => ({texts: said, models: [bert(), albert()], masks: ['The ▢', 'a ▢'], n_masks: 2, cards: [], run: {text: 'x'}, ...changes});

let nth = 0;
function shown(params, changes, asks = async () => '{}') {
  const {state} = begun(params), root = place();
  const own = [];
  show(root, data({run: {text: `x${nth += 1}`}, ...changes}), {asks, dark: false, ask() {}, shows: value => own.push(JSON.parse(value))});
  return {root, state, own};
}
const option = (root, name) => [...root.querySelectorAll('.aw-choice button')].find(button => button.textContent === name);
const strip = (root, key) => root.querySelector(`.dp-strip[data-model=${key}]`);

test('one sentence says in which layer each model decides, or that it has its word at once', () => {
  assert.equal(shown().root.querySelector('.finding').textContent, 'Mask 1 of 2: BERT decides on cat in 2 of 2; ALBERT decides on dog in 1 of 1.');
  assert.equal(shown({mask: '1'}).root.querySelector('.finding').textContent, 'Mask 2 of 2: BERT has mat at once; ALBERT decides on rug in 1 of 1.');
});

test('a row for each layer: probabilities, the place of the final answer, KL, and the layer that decides', () => {
  const bert = strip(shown().root, 'bert');
  assert.deepEqual(texts(bert, '.dp-word'), ['cat', 'dog']);
  assert.deepEqual([...bert.querySelectorAll('.dp-row')].map(row => [...row.children].map(node => node.textContent)),
    [['emb.', '0.010', '0.250', '1,500', '12.000'], ['1', '0.003', '0.500', '2', '3.000'], ['2', '0.998', '', '1', '0.000']]);
  assert.deepEqual(shares(bert, '.dp-cell'), [.1, .501, .055, .708, 1, 0], 'the largest of all models has the fullest colour');
  assert.equal(shown().root.querySelector('.dp-scale').textContent, 'Colour 00.998; KL 0 to 12.000');
  assert.deepEqual([...bert.querySelectorAll('.dp-row')].map(row => row.className), ['dp-row', 'dp-row', 'dp-row decides decided']);
  assert.deepEqual([...strip(shown({mask: '1'}).root, 'bert').querySelectorAll('.dp-row')].map(row => row.className),
    ['dp-row decides decided', 'dp-row decided', 'dp-row decided']);
  assert.equal(bert.querySelectorAll('.dp-cell')[3].title, 'BERT, layer 1: dog 0.500');
  assert.equal(bert.querySelector('.dp-place').title, 'emb.: cat in 1,500');
  assert.equal(bert.querySelector('.dp-kl').title, 'emb.: 12.000 nats');
  assert.deepEqual([...bert.querySelectorAll('.dp-word')].map(node => node.className), ['dp-word first', 'dp-word']);
});

test('rows stand by their share of the depth: the deepest model\'s touch, the others\' spread', () => {
  const {root} = shown();
  assert.deepEqual(shares(strip(root, 'bert'), '.dp-row', '--top'), [0, 36, 72]);
  assert.deepEqual(shares(strip(root, 'albert'), '.dp-row', '--top'), [0, 72]);
  assert.deepEqual(['--height', '--row'].map(name => shares(root, '.dp-body', name)), [[108, 108], [36, 36]]);
  assert.deepEqual(shares(root, '.dp-strip', '--words'), [2, 2]);
  const deep = {...bert(), layers: 9, masks: [mask(9, ['a'], Array(10).fill([.5]), Array(10).fill(1), Array(10).fill(0))]};
  const low = shown({}, {models: [deep], masks: ['x']}).root;
  assert.deepEqual([shares(low, '.dp-body', '--height'), shares(low, '.dp-row', '--top').slice(-2)], [[260], [208, 234]]);
  const eight = {...deep, layers: 8, masks: [mask(8, ['a'], Array(9).fill([.5]), Array(9).fill(1), Array(9).fill(0))]};
  assert.deepEqual(shares(shown({}, {models: [eight], masks: ['x']}).root, '.dp-body', '--height'), [324]);
});

test('a curve of KL, as wide as the largest of all models, through the middle of each row', () => {
  const {root} = shown(), points = key => strip(root, key).querySelector('polyline').getAttribute('points').split(' ').map(p => p.split(',').map(Number));
  assert.deepEqual(points('bert'), [[32, 18], [9.5, 54], [2, 90]]);   // 2 + 30 · KL / 12
  assert.deepEqual(points('albert'), [[17, 18], [2, 90]]);
  assert.deepEqual([...strip(root, 'albert').querySelectorAll('circle')].map(dot => [dot.getAttribute('cx'), dot.getAttribute('cy')]), [['17.0', '18'],
    ['2.0', '90']]);
  const none = {...bert(), masks: [mask(0, ['a'], [[1], [1], [1]], [1, 1, 1], [0, 0, 0])]};
  assert.match(shown({}, {models: [none], masks: ['x']}).root.querySelector('polyline').getAttribute('points'), /^2\.0,18 2\.0,54/);
});

test('several masks can be chosen from, one cannot; the choice is in the link', () => {
  const {root, state} = shown();
  click(option(root, '2: a ▢'));
  assert.equal(state.wanted.mask, '1');
  assert.match(root.querySelector('.finding').textContent, /^Mask 2 of 2: BERT has mat/);
  assert.deepEqual(texts(strip(root, 'albert'), '.dp-word'), ['rug', 'mat']);
  assert.match(root.querySelector('.dd-word').textContent, /rug/);
  assert.equal(option(root, '2: a ▢').getAttribute('aria-pressed'), 'true');
  assert.equal(option(shown({}, {masks: ['The ▢']}).root, 'The ▢'), undefined);
  assert.match(shown({mask: '7'}).root.querySelector('.finding').textContent, /^Mask 2 of 2: BERT has mat/);   // a link to a mask that no longer exists
});

test('a dial for models that share a layer, a word where none does, cards, and words that are explained once', () => {
  let {root} = shown();
  assert.deepEqual(texts(root, '.dd h3'), ['Dial of ALBERT']);
  assert.equal(texts(root, '.note').includes('No dial.'), false);
  assert.deepEqual(texts(root, '.term'), ['KL']);
  ({root} = shown({}, {models: [bert()], cards: [{key: 'albert', label: 'ALBERT', sentence: 'Not here.'}]}));
  assert.ok(texts(root, '.note').includes('No dial.'));
  assert.deepEqual(texts(root, '.card'), ['ALBERTNot here.']);
});

test('it says how many masks are read where that is not all', () => {
  assert.ok(texts(shown({}, {n_masks: 9}).root, '.note').includes('2 of 9 masks'));
  assert.equal(texts(shown().root, '.note').some(text => /masks/.test(text)), false);
});

const words = {words: ['a', 'b'], n_words: 2, counted: 2, models: [{key: 'bert', label: 'BERT', first: 1, rank: [[2, 1]], groups: [[1], [2]]}]};

test('every word is asked for when the reader looks at them, once for a text', async () => {
  const asked = [], {root, state} = shown({}, {run: {text: 'x'}}, async question => { asked.push(question); return JSON.stringify(words); });
  assert.equal(asked.length, 0);
  click(option(root, 'every word'));
  assert.equal(root.querySelector('.dp-place-of').textContent, 'Wait.');
  assert.equal(state.wanted.lens, 'words');
  await settled();
  assert.deepEqual(asked, [{params: {text: 'x'}, want: 'words'}]);
  assert.equal(root.querySelector('.finding').textContent, 'Said: BERT 1 of 2.');
  assert.deepEqual(texts(root, '.dw td'), ['2', '1']);
  assert.equal(option(root, '2: a ▢'), undefined);
  click(option(root, 'a mask'));
  assert.equal(root.querySelectorAll('.dp-strip').length, 2);
  click(option(root, 'every word'));
  await settled();
  assert.equal(asked.length, 1);
});

test('an answer that comes when the reader looks at a mask again does not replace it', async () => {
  let answer;
  const {root} = shown({}, {}, () => new Promise(done => { answer = done; }));
  click(option(root, 'every word'));
  click(option(root, 'a mask'));
  answer(JSON.stringify(words));
  await settled();
  assert.equal(root.querySelectorAll('.dp-strip').length, 2);
  assert.match(root.querySelector('.finding').textContent, /^Mask 1 of 2: BERT decides/);
});

test('a failure that comes when the reader looks at a mask again does not replace it', async () => {
  let fail;
  const {root} = shown({}, {}, () => new Promise((_, failed) => { fail = failed; }));
  click(option(root, 'every word'));
  click(option(root, 'a mask'));
  fail(new Error('no'));
  await settled();
  assert.equal(root.querySelectorAll('.dp-strip').length, 2);
});

test('where it cannot be had it says so', async () => {
  const {root} = shown({lens: 'words'}, {}, () => Promise.reject(new Error('no')));
  await settled();
  assert.equal(root.querySelector('.dp-place-of').textContent, 'Not now.');
});

test('a text without a mask says so and offers to hide each word', async () => {
  const {root} = shown({}, {masks: [], n_masks: 0, models: []}, async () => JSON.stringify(words));
  assert.equal(root.querySelector('.finding').textContent, 'Nothing hidden.');
  click(root.querySelector('.dp-place-of .chip'));
  await settled();
  assert.equal(root.querySelectorAll('.dw').length, 1);
});

test('the table has a row for each word at each layer, and whether the model has decided there', () => {
  const {columns, rows} = table(data());
  assert.deepEqual(columns, ['part', 'mask', 'model', 'layer', 'word', 'probability', 'place_of_final_answer', 'kl_final_to_layer_nats', 'decided', 'flops', 'rank_of_word']);
  assert.equal(rows.length, 24);
  assert.deepEqual(rows.slice(2, 6), [['lens', 1, 'BERT', 1, 'cat', .003, 2, 3, false, null, null], ['lens', 1, 'BERT', 1, 'dog', .5, 2, 3, false, null, null],
    ['lens', 1, 'BERT', 2, 'cat', .998, 1, 0, true, null, null], ['lens', 1, 'BERT', 2, 'dog', 0, 1, 0, true, null, null]]);
  assert.deepEqual(rows[6].slice(0, 4), ['lens', 2, 'BERT', 0]);
  assert.deepEqual(rows.slice(20, 22), [['dial', 1, 'ALBERT', 1, 'dog', .9, null, 0, null, 1e9, null], ['dial', 1, 'ALBERT', 1, 'cat', .1, null, 0, null, 1e9, null]]);
});

test('once the server was asked the table has what lies beyond the usual depth, too', async () => {
  const run = {text: 'deep'}, deep = {top: [[['dog', .9]], [['cat', .75]]], kl: [0, .25]};
  const {own} = shown({times: '2'}, {run}, async () => JSON.stringify(deep));
  await settled();
  const [drawn] = own, {rows} = table(drawn);
  assert.deepEqual(rows.filter(([part, mask]) => part === 'dial' && mask === 1), [['dial', 1, 'ALBERT', 1, 'dog', .9, null, 0, null, 1e9, null],
    ['dial', 1, 'ALBERT', 2, 'cat', .75, null, .25, null, 2e9, null]]);
  assert.deepEqual(constants(drawn), {MASKS: 2, APPLIED: {ALBERT: [2, 1]}, FOLLOWED: [{}, {}], POOLED: {ALBERT: true}});
  assert.deepEqual(constants(data()).APPLIED, {ALBERT: [1, 1]}, 'of another text nothing is known');
});

test('a saved tab has what the server was asked for, and says where it could only be asked on the live page', async () => {
  const deep = {top: [[['dog', .9]], [['cat', .75]]], kl: [0, .25]}, nobody = () => Promise.reject(new Error('taken'));
  const {root, own} = shown({times: '2'}, {}, async ({want}) => JSON.stringify(want === 'dial' ? deep : words));
  await settled();
  click(option(root, 'every word'));
  await settled();
  const saved = own.at(-1);
  window.explorer = {...window.explorer, taken: {}};
  const again = place(), menu = document.createElement('details');
  menu.className = 'take';
  menu.innerHTML = '<button data-take="csv"></button><button data-take="py"></button>';
  again.parentElement.append(menu);
  begun({times: '2', lens: 'words'});
  show(again, saved, /** @type {any} */ ({asks: nobody}));
  await settled();
  assert.deepEqual(texts(again, '.dw td'), ['2', '1']);
  assert.deepEqual([...again.querySelectorAll('.take button')].map(one => one.dataset.take), ['csv'], 'the lines of Python are on the server');
  click(option(again, 'a mask'));
  assert.deepEqual(texts(again, '.dd-list li'), ['cat0.750']);
  const without = shown({lens: 'words'}, {}, nobody).root;
  await settled();
  assert.equal(without.querySelector('.dp-place-of').textContent, 'Live only.');
  delete window.explorer.taken;
});

test('a late answer is not taken for what is drawn now', async () => {
  let answer;
  const {root, own} = shown({lens: 'words'}, {}, () => new Promise(done => { answer = done; }));
  show(root, data({run: {text: 'the next'}}), /** @type {any} */ ({asks: () => new Promise(() => {}), shows: value => own.push(value)}));
  answer(JSON.stringify(words));
  await settled();
  assert.deepEqual(own, []);
});

test('every word has a table of its own, and a menu once it is there', async () => {
  const menu = document.createElement('details'), {root} = shown({}, {}, async () => JSON.stringify(words));
  menu.className = 'take';
  menu.innerHTML = '<button data-take="csv"></button><button data-take="py"></button>';
  root.parentElement.append(menu);
  assert.equal(root.hasAttribute('data-empty'), false);
  click(option(root, 'every word'));
  assert.equal(root.hasAttribute('data-empty'), true, 'nothing is there yet');
  await settled();
  const {kind, picture, data: found} = partOf(root.querySelector('.take'));
  assert.equal(kind, 'depth/words');
  assert.deepEqual(picture.table(found), {columns: ['model', 'layer', 'position', 'word', 'place'], rows: [['BERT', 0, 1, 'a', 2], ['BERT', 0, 2, 'b', 1]]});
  assert.deepEqual(picture.constants(found), {WORDS: ['a', 'b'], GROUPS: {BERT: [[1], [2]]}});
  assert.equal(root.querySelectorAll('.take [data-take]').length, 2, 'its lines of Python, too');
  click(option(root, 'a mask'));
  assert.deepEqual([root.hasAttribute('data-empty'), root.querySelector('.take')], [false, null]);
});

test('one model\'s answer is followed in all: it is first in each strip, and the sentence says what becomes of it', async () => {
  const models = [bert(), albert()], word = (decided, p, rank) => ({word: 'cat', piece: 'cat', decided, p, rank});
  models[0].masks[0].followed = {bert: word(2, [.01, .003, .998], [1500, 2, 1]), albert: {word: 'dog', piece: 'dog', decided: null, p: [.25, .5, 0], rank: [2, 1, 3]}};
  models[1].masks[0].followed = {bert: word(null, [.2, .1], [1, 2]), albert: {word: 'dog', piece: '▁dog', decided: 1, p: [.1, .9], rank: [3, 1]}};
  const {root, state} = shown({}, {models});
  assert.equal(root.querySelector('.finding').textContent, 'Mask 1 of 2: BERT decides on cat in 2 of 2; ALBERT decides on dog in 1 of 1.');
  click(option(root, 'dog'));
  assert.equal(state.get('look'), 'follow:albert');
  assert.equal(root.querySelector('.finding').textContent, 'All: dog. BERT first in 1 of 2, ends 3; ALBERT first from 1 of 1.');
  assert.deepEqual(texts(strip(root, 'bert'), '.dp-word'), ['dog', 'cat']);
  assert.deepEqual(texts(strip(root, 'bert'), '.dp-place'), ['2', '1', '3']);
  assert.deepEqual(texts(strip(root, 'bert'), '.dp-name'), ['its place', 'KL']);
  assert.deepEqual([...strip(root, 'bert').querySelectorAll('.dp-row')].map(row => row.className), ['dp-row', 'dp-row', 'dp-row']);
  const one = data({models}), rows = table(one).rows.filter(([part]) => part === 'followed');
  assert.deepEqual(rows, [['followed', 1, 'BERT', 0, 'dog', .25, null, null, false, null, 2], ['followed', 1, 'BERT', 1, 'dog', .5, null, null, false, null, 1],
    ['followed', 1, 'BERT', 2, 'dog', 0, null, null, false, null, 3], ['followed', 1, 'ALBERT', 0, 'dog', .1, null, null, false, null, 3],
    ['followed', 1, 'ALBERT', 1, 'dog', .9, null, null, true, null, 1]]);
  assert.deepEqual(constants(one).FOLLOWED, [{BERT: 'dog', ALBERT: '▁dog'}, {}]);
  assert.deepEqual(header(one).state.followed, 'dog');
  click(option(root, 'cat'));
  assert.equal(root.querySelector('.finding').textContent, 'All: cat. BERT first from 2 of 2; ALBERT ends 2.');
  click(option(root, 'own'));
  assert.equal(state.get('look'), '');
  assert.deepEqual(constants(one).FOLLOWED, [{}, {}]);
  delete models[0].masks[0].followed.albert;
  assert.equal(shown({look: 'follow:albert'}, {models}).root.querySelector('.finding').textContent, 'All: dog. BERT lacks it; ALBERT first from 1 of 1.');
  assert.equal(shown({look: 'follow:nobody'}, {models}).root.querySelector('.finding').textContent.slice(0, 9), 'Mask 1 of');
});
