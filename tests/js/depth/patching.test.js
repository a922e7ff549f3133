import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, shares, texts} from '../dom.js';
import {begun, reply} from '../page/stage.js';

const {between, constants, show, table} = await import('../../../assets/js/depth/patching.js');

const said = {finding: '{was} to {becomes}: ', from: '{model} from {n} of {total}', others: ' More: ', other: '{word} in {n} of {total} of {model}', no_finding: 'Little between {was} and {becomes}.',
  no_partner: 'No model has {was}.',
  offers: 'Change', offer: '{kind}: {was}, {becomes}', kinds: {gender: 'Gender', place: 'Place'}, cell: '{model}, {layer}, {word}: {share}', layers: 'layer',
    layer: 'layer {n}',
  embeddings: 'emb.', map: 'Map of {model}', little: 'Too little, {gap} KL.', answers: '{first} then {second}', same: 'not {first} nor {second}',
  gaps: ' {d_first} and {d_second} KL', mask: 'Mask', first_masks: '{n} of {all} masks', how: 'How.', frame: 'Frame.', terms: {KL: 'box-kl'}};
const one = (effect, changes = {}) => ({answers: ['he', 'she'], are_first: true, gaps: [2.5, -1.25], effect, taken: 1, ...changes});
const bert = () => ({key: 'bert', label: 'BERT', groups: [[1], [2], [3]], refused: '', maps: [
  one([[0, 1, 0], [.049, .75, -.05], [.05, -.049, -1.2]], {taken: 2}), one([], {gaps: [3, 1]})]});
const albert = () => ({key: 'albert', label: 'ALBERT', groups: [], refused: '', maps: [one([[0, 1, 0], [0, .004, .996]], {are_first: false}), one([[0, 1, 0],
  [0, 0, 1]])]});
const refused = {key: 'distilbert', label: 'DistilBERT', groups: [], refused: 'Other pieces.', maps: []};
const data = changes => ({texts: said, offered: [{kind: 'gender', was: 'king', becomes: 'queen', text: 'The queen.'}, {kind: 'place', was: 'Rome',
  becomes: 'Paris', text: 'Paris.'}],
  first: 'start', second: 'Paris.', other: 'Paris.', words: ['The', 'king', '[MASK]'], changed: 1, was: 'king', becomes: 'queen', masks: [2, 0], near: ['king ▢', '▢ The'],
    n_masks: 2,
  models: [bert(), albert(), refused], ...changes});

function shown(params, changes) {
  const {state} = begun(params), root = place(), asked = [];
  show(root, data(changes), {ask: question => asked.push(question), dark: false});
  return {root, state, asked};
}
const section = (root, key) => root.querySelector(`.dq[data-model=${key}]`);
const cells = node => [...node.querySelectorAll('.dq-row:not(.head)')].map(row => texts(row, '.dq-cell'));

test('the sentence says from which layer each model has taken the change over', () => {
  assert.equal(shown().root.querySelector('.fold-finding').textContent, 'king to queen: BERT from 2 of 2 and ALBERT from 1 of 1. More: The in 1 of 2 of BERT.');
  assert.equal(shown({mask: '1'}).root.querySelector('.fold-finding').textContent, 'king to queen: ALBERT from 1 of 1. More: [MASK] in 1 of 1 of ALBERT.');
  const three = shown({}, {models: [bert(), albert(), {...albert(), label: 'Other'}]}).root.querySelector('.fold-finding').textContent;
  assert.ok(three.startsWith('king to queen: BERT from 2 of 2, ALBERT from 1 of 1 and Other from 1 of 1.'));
});

test('it names the word that carries more than the changed one and the mask, and in how many layers', () => {
  const other = (label, effect) => ({...bert(), label, maps: [one(effect)]});
  const carries = [[0, 1, 0], [.5, .4, .3], [.2, .1, .3], [0, 0, 1]], never = [[0, 1, 0], [.4, .5, .3], [0, 0, 1]];
  const said = models => shown({}, {models}).root.querySelector('.fold-finding').textContent.split('. ')[1] ?? '';
  assert.equal(said([other('BERT', carries), other('None', never), other('Other', carries)]).trim(), 'More: The in 1 of 3 of BERT, The in 1 of 3 of Other.');
  assert.equal(said([other('None', never)]), '');
});

test('no other word carries more than both in more layers, and nothing faint is named', () => {
  let seed = 7;
  const next = () => { seed = seed * 16807 % 2147483647; return Math.round(20 * (seed / 2147483647 - .4)) / 10; };   // ties are frequent
  for (let round = 0; round < 200; round++) {
    const effect = Array.from({length: 1 + round % 5}, () => Array.from({length: 2 + round % 4}, next));
    const layers = i => effect.filter(row => row[i] >= .05 && row[i] > row[0] && row[i] > row[1]).length;
    const counts = effect[0].map((_, i) => (i < 2 ? 0 : layers(i))), found = between(effect, 0, 1);
    assert.equal(found?.n ?? 0, Math.max(...counts));
    if (found) assert.equal(counts[found.word], found.n);
  }
});

test('without a map it says whether the texts are too alike or no model could be patched', () => {
  const alike = {...bert(), maps: [one([])]};
  assert.equal(shown({}, {models: [alike, refused]}).root.querySelector('.fold-finding').textContent, 'Little between king and queen.');
  assert.equal(shown({}, {models: [refused]}).root.querySelector('.fold-finding').textContent, 'No model has king.');
});

test('changes are offered as buttons; the one that is followed is pressed, another is asked for', () => {
  const {root, asked, state} = shown(), buttons = [...root.querySelectorAll('.dq-offers button')];
  assert.deepEqual(buttons.map(button => button.textContent), ['Gender: king, queen', 'Place: Rome, Paris']);
  assert.deepEqual(buttons.map(button => button.getAttribute('aria-pressed')), ['false', 'true']);
  click(buttons[0]);
  assert.deepEqual(asked, [{second: 'The queen.'}]);
  assert.equal(state.wanted.other, 'Paris.');
});

test('the second text of a view that Back brings is not that of the picture which still stands there', () => {
  const {root, state} = shown({text: 'start', mask: '1', other: 'Rome.'});
  assert.equal(state.wanted.other, 'Paris.', 'new data of the page’s text');
  state.walk({text: 'start', tab: 'depth', other: 'Rome.'});
  show(root, data(), {});
  assert.equal(state.question().params.other, 'Rome.', 'drawn anew it chooses nothing');
  state.compare({text: 'Another.'});
  reply(state);
  show(root, data({first: 'Another.', other: ''}), {});
  state.walk({text: 'start', tab: 'depth', mask: '1', other: 'Rome.'});
  show(root, data({first: 'Another.', other: ''}), {});
  assert.equal(state.question().params.other, 'Rome.', 'nor of another text');
});

test('a picture that comes after another text was compared leaves that text’s second one alone', () => {
  const {root, state} = shown({text: 'start'});
  state.compare({text: 'Another.'});
  show(root, data({second: 'Rome.', other: 'Rome.'}), {});
  assert.equal(state.wanted.other, undefined);
  reply(state);
  show(root, data({first: 'Another.', second: 'Rome.', other: 'Rome.'}), {});
  assert.equal(state.wanted.other, 'Rome.');
});

test('before a pair is followed there are only offers; without any nothing stands in their place', () => {
  const {root} = shown({}, {models: undefined});
  assert.deepEqual([root.children.length, root.querySelector('.dq')], [1, null]);
  assert.equal(shown({}, {offered: []}).root.querySelector('.dq-offers'), null);
});

test('a map has a row for each word and a column for each layer, shares as short as they can be', () => {
  const {root} = shown(), bert = section(root, 'bert');
  assert.deepEqual(texts(bert, '.head .dq-cell'), ['emb.', '1', '2']);
  assert.equal(bert.querySelectorAll('.head .dq-cell')[1].title, 'layer 1');
  assert.deepEqual(texts(bert, '[role=rowheader]'), ['The', 'king', '[MASK]']);
  assert.deepEqual(cells(bert), [['0', '0.05', '0.05'], ['1', '0.75', '−0.05'], ['0', '−0.05', '−1.20']]);
  assert.deepEqual(cells(section(root, 'albert')), [['0', '0'], ['1', '0'], ['0', '1']]);
  assert.equal(bert.querySelectorAll('.dq-row:not(.head) .dq-cell')[4].title, 'BERT, layer 1, king: 0.750');
  assert.deepEqual(shares(root, '.dq-map', '--layers'), [3, 3]);
});

test('colours say how much: quiet near nothing, apart below, never past one', () => {
  const bert = section(shown().root, 'bert');
  assert.deepEqual([...bert.querySelectorAll('.dq-row:not(.head) .dq-cell')].map(cell => cell.className.replace(/dq-cell ?/, '')),
    ['faint', 'faint', '', '', '', 'faint', 'faint', 'below', 'below']);
  assert.deepEqual(shares(bert, '.dq-row:not(.head) .dq-cell'), [0, .049, .05, 1, .75, 0, 0, 0, 0]);
  const over = {...albert(), key: 'bert', maps: [one([[1.3, 0, 0], [0, 0, 0]])]};
  assert.deepEqual(shares(section(shown({}, {models: [over]}).root, 'bert'), '.dq-row:not(.head) .dq-cell').slice(0, 1), [1]);
});

test('the changed word and the mask are framed', () => {
  const framed = root => [...section(root, 'albert').querySelectorAll('.dq-row:not(.head)')].map(row => row.classList.contains('framed'));
  assert.deepEqual(framed(shown().root), [false, true, true]);
  assert.deepEqual(framed(shown({mask: '1'}).root), [true, true, false]);
});

test('above it what the mask is answered with, and how far apart the answers are', () => {
  const {root} = shown();
  assert.equal(section(root, 'bert').querySelector('.note').textContent, 'he then she +2.5 and −1.25 KL');
  assert.equal(section(root, 'albert').querySelector('.note').textContent, 'not he nor she +2.5 and −1.25 KL');
  assert.equal(section(root, 'distilbert').querySelector('.note').textContent, 'Other pieces.');
  assert.equal(root.querySelectorAll('.term').length, 1);
  const little = section(shown({mask: '1'}).root, 'bert');
  assert.deepEqual([little.querySelector('.note').textContent, little.querySelector('.dq-map')], ['Too little, 2 KL.', null]);
});

test('several masks can be chosen from; the choice is in the link, and one that is gone is the last', () => {
  const {root, state} = shown(), [, second] = root.querySelectorAll('.aw-choice button');
  click(second);
  assert.equal(state.wanted.mask, '1');
  assert.match(root.querySelector('.fold-finding').textContent, /queen: ALBERT/);
  assert.equal(shown({}, {near: ['one'], models: [bert()]}).root.querySelector('.aw-choice'), null);
  assert.match(shown({mask: '5'}).root.querySelector('.fold-finding').textContent, /queen: ALBERT/);
  assert.ok(texts(shown({}, {n_masks: 6}).root, '.note').includes('2 of 6 masks'));
  assert.equal(texts(root, '.note').some(text => /masks/.test(text)), false);
});

test('its lines of Python know the texts, the words, and the pieces of the models that were patched', () => {
  assert.deepEqual(constants(data()), {SECOND: 'Paris.', WORDS: ['The', 'king', '[MASK]'], GROUPS: {BERT: [[1], [2], [3]], ALBERT: []}});
  assert.deepEqual(constants({second: 'x'}), {SECOND: 'x', WORDS: [], GROUPS: {}});
});

test('the table has a row for each word, layer and mask', () => {
  const {columns, rows} = table(data());
  assert.deepEqual(columns, ['model', 'mask', 'answer_first_text', 'answer_second_text', 'gap_first_text', 'gap_second_text', 'layer', 'word',
    'share_brought_back']);
  assert.equal(rows.length, 22);
  assert.deepEqual(rows[4], ['BERT', 1, 'he', 'she', 2.5, -1.25, 1, 'king', .75]);
  assert.deepEqual(rows[9], ['BERT', 2, 'he', 'she', 3, 1, null, null, null], 'where the texts differ by too little only the gaps are known');
  assert.deepEqual(rows.at(-1), ['ALBERT', 2, 'he', 'she', 2.5, -1.25, 1, '[MASK]', 1]);
  assert.deepEqual(table({}).rows, []);
});
