import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, place, shares, texts} from '../dom.js';

const {clear, show, table} = await import('../../../assets/js/predictions/words.js');

const said = {rule: 'Rule.', nothing: 'not in it', surprise: '{nats} nats', strip: 'Words', disagree: 'they disagree', head: ['model', 'p', 'surprise',
  'rank', 'pieces', 'instead']};
const found = (p, nats, rank, pieces = ['a']) => ({p, nats, rank, pieces, answers: [['it', .5], ['he', .25]]});
const word = (name, models, breaks = false) => ({word: name, breaks, models});
const labels = {bert: 'BERT', albert: 'ALBERT'};
const words = () => [
  word('The', {bert: found(.9, .1, 1), albert: found(.8, .2, 1)}),
  word('cat', {bert: found(.5, 4.5, 2), albert: found(.1, 2.3, 1)}),
  word('zyx', {bert: found(null, 0, 0), albert: found(.0002, 18, 1500, ['zy', 'x'])}, true),
  word('.', {})];

function shown(list = words(), root = place()) {
  show(root, {texts: said, labels, words: list});
  return root;
}
const chosen = root => [...root.querySelectorAll('.pw-tile')].map(tile => tile.getAttribute('aria-pressed')).indexOf('true');
const press = (root, key) => {
  const event = new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true});
  document.activeElement.dispatchEvent(event);
  return event.defaultPrevented;
};

test('a tile for each word, a line for each model, darker where it surprises', () => {
  const root = shown(), lines = texts(root, '.pw-tile .pw-line').map(text => text.trim());
  assert.deepEqual(texts(root, '.pw-tile .pw-word').map(text => text.split('≠')[0]), ['The', 'cat', 'zyx', '.']);
  assert.deepEqual(lines, ['BERT 0.900', 'ALBERT 0.800', 'BERT 0.500', 'ALBERT 0.100', 'BERT not in it–', 'ALBERT 2.0×10⁻⁴', '', '']);
  assert.deepEqual(shares(root, '.pw-tile .pw-line', '--dark'), [.011, .022, .5, .256, 0, 1, 0, 0]);
  assert.deepEqual([...root.querySelectorAll('.pw-tile .pw-line')].map(line => line.classList.contains('none')), [...Array(6).fill(false), true, true]);
  assert.deepEqual(texts(root, '.pw-legend .model-name'), ['BERT', 'ALBERT']);
});

test('a sign marks a word that one model gets at once and another does not', () => {
  const root = shown();
  assert.deepEqual([...root.querySelectorAll('.pw-tile')].map(tile => Boolean(tile.querySelector('.pw-odd'))), [false, true, false, false]);
  assert.equal(root.querySelector('.pw-odd').title, 'they disagree');
  assert.equal(shown([word('x', {bert: found(null, 0, 1), albert: found(.1, 2, 2)})]).querySelector('.pw-odd'), null);
  assert.equal(shown([word('x', {bert: found(.3, 1, 3), albert: found(.1, 2, 2)})]).querySelector('.pw-odd'), null);
});

test('lines of a text stay lines', () => {
  const strip = shown().querySelector('.pw-strip');
  assert.deepEqual([...strip.children].map(node => node.className.split(' ')[0]), ['pw-tile', 'pw-tile', 'pw-break', 'pw-tile', 'pw-tile']);
});

test('the word on which the models are furthest apart is open at first: one they disagree on before all', () => {
  assert.equal(chosen(shown()), 1);
  const apart = nats => word('x', {bert: found(.5, nats, 2), albert: found(.5, 1, 2)});
  assert.equal(chosen(shown([apart(2), apart(5), apart(3), apart(5)])), 1);
  assert.equal(chosen(shown([word('.', {}), apart(1)])), 1);
  assert.equal(chosen(shown([word('.', {})])), -1);
});

test('what each model says of the open word', () => {
  const root = shown();
  assert.equal(root.querySelector('figcaption').textContent, 'cat');
  assert.deepEqual(texts(root, 'thead th'), said.head);
  assert.deepEqual(texts(root, 'tbody th, tbody td'), ['BERT', '0.500', '4.500 nats', '2', 'a', 'it 0.500, he 0.250', 'ALBERT', '0.100', '2.300 nats', '1',
    'a', 'it 0.500, he 0.250']);
  click(root.querySelectorAll('.pw-tile')[2]);
  assert.deepEqual(texts(root, 'tbody th, tbody td'), ['BERT', 'not in it', '–', '–', 'a', 'it 0.500, he 0.250', 'ALBERT', '2.0×10⁻⁴', '18.000 nats', '1,500',
    'zy + x', 'it 0.500, he 0.250']);
});

test('a model that has not come to the word yet has no line in its table', () => {
  const root = shown([word('x', {albert: found(.5, 1, 2)})]);
  assert.deepEqual(texts(root, 'tbody th'), ['ALBERT']);
});

test('a click opens a word, which alone is reached by Tab; a word without numbers cannot be opened', () => {
  const root = shown(), tiles = [...root.querySelectorAll('.pw-tile')];
  click(tiles[0].querySelector('.pw-word'));
  assert.equal(chosen(root), 0);
  assert.deepEqual(tiles.map(tile => tile.tabIndex), [0, -1, -1, -1]);
  assert.deepEqual(tiles.map(tile => tile.classList.contains('chosen')), [true, false, false, false]);
  assert.deepEqual(tiles.map(tile => tile.disabled), [false, false, false, true]);
  click(root.querySelector('.pw-strip'));
  assert.equal(chosen(root), 0);
});

test('arrows go from word to word, over those without numbers, and stop at the ends', () => {
  const list = words();
  list.splice(1, 0, word(',', {}));
  const root = shown(list), tiles = [...root.querySelectorAll('.pw-tile')];
  click(tiles[0]);
  tiles[0].focus();
  assert.equal(press(root, 'ArrowRight'), true);
  assert.deepEqual([chosen(root), document.activeElement], [2, tiles[2]]);
  press(root, 'ArrowRight');
  press(root, 'ArrowRight');
  assert.deepEqual([chosen(root), document.activeElement], [3, tiles[3]]);
  assert.equal(press(root, 'a'), false);
  press(root, 'ArrowLeft');
  press(root, 'ArrowLeft');
  press(root, 'ArrowLeft');
  assert.deepEqual([chosen(root), document.activeElement], [0, tiles[0]]);
});

test('the reader\'s choice survives the next batch of numbers, with its focus; another text does not keep it', () => {
  const root = shown();
  click(root.querySelectorAll('.pw-tile')[2]);
  root.querySelectorAll('.pw-tile')[2].focus();
  shown(words(), root);
  assert.deepEqual([chosen(root), document.activeElement === root.querySelectorAll('.pw-tile')[2]], [2, true]);
  shown([...words(), word('!', {})], root);
  assert.equal(chosen(root), 1);
  shown(words(), root);
  assert.equal(chosen(root), 1);
  click(root.querySelectorAll('.pw-tile')[0]);
  clear(root);
  assert.equal(root.childNodes.length, 0);
  shown(words(), root);
  assert.equal(chosen(root), 1);
});

test('what the page chose itself gives way to what is more telling later, and takes no focus', () => {
  const early = words();
  early[1] = word('cat', {});
  const root = shown(early);
  assert.equal(chosen(root), 0);
  document.body.focus();
  shown(words(), root);
  assert.equal(chosen(root), 1);
  assert.equal(root.contains(document.activeElement), false);
});

test('the table has a row for each word and model, empty where the vocabulary has no such word', () => {
  const {columns, rows} = table({labels, words: words().slice(1)});
  assert.deepEqual(columns.slice(0, 7), ['position', 'word', 'model', 'probability', 'surprisal_nats', 'rank', 'tokens']);
  assert.deepEqual(columns.slice(7, 9), ['answer_1', 'probability_of_answer_1']);
  assert.deepEqual(rows.map(row => row.slice(0, 7)), [[1, 'cat', 'BERT', .5, 4.5, 2, 'a'], [1, 'cat', 'ALBERT', .1, 2.3, 1, 'a'],
    [2, 'zyx', 'BERT', null, null, null, 'a'], [2, 'zyx', 'ALBERT', .0002, 18, null, 'zy x']]);   // a word of several pieces has no rank
  assert.ok(rows.every(row => row.length === columns.length));
});
