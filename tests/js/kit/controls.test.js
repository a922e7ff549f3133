import assert from 'node:assert/strict';
import {test} from 'node:test';

import {click, enter, place, texts} from '../dom.js';

const {choice, slider, switcher} = await import('../../../assets/js/kit/choice.js');
const {explained, explainer, literal} = await import('../../../assets/js/kit/term.js');
const {linked} = await import('../../../assets/js/kit/links.js');
const {recall, remember} = await import('../../../assets/js/kit/memory.js');

const pressed = node => [...node.querySelectorAll('button')].map(one => one.getAttribute('aria-pressed'));

test('one button of a row is pressed, and a click presses another', () => {
  const told = [], node = choice('view', {matrix: 'Matrix', lines: 'Lines'}, 'lines', key => told.push(key));
  assert.deepEqual([node.getAttribute('aria-label'), node.getAttribute('role'), texts(node, 'span'), texts(node, 'button')], ['view', 'group', ['view'],
    ['Matrix', 'Lines']]);
  assert.deepEqual([pressed(node), [...node.querySelectorAll('button')].map(one => [one.type, one.dataset.key])],
    [['false', 'true'], [['button', 'matrix'], ['button', 'lines']]]);
  click(node.querySelector('button'));
  assert.deepEqual([pressed(node), told], [['true', 'false'], ['matrix']]);
});

test('a switch is chosen by its value, also where that is a number', () => {
  const told = [], node = switcher('E', {128: 'E = 128', 768: 'E = 768'}, 768, value => told.push(value));
  assert.deepEqual([node.getAttribute('aria-label'), node.getAttribute('role'), texts(node, 'button'), pressed(node)], ['E', 'group', ['E = 128', 'E = 768'],
    ['false', 'true']]);
  click(node.querySelector('button'));
  assert.deepEqual([pressed(node), told], [['true', 'false'], ['128']]);
  assert.equal(node.querySelector('button').type, 'button');
});

test('a slider stands at the stop nearest to its value and prints the stop', () => {
  const told = [], made = slider('length', [1, 1000, 4000], 900, value => told.push(value)), input = made.node.querySelector('input');
  const printed = () => [input.value, made.node.querySelector('output').textContent, input.getAttribute('aria-valuetext')];
  assert.deepEqual([input.type, input.min, input.max, input.step, input.getAttribute('aria-label'), texts(made.node, 'span')], ['range', '0', '2', '1',
    'length', ['length']]);
  assert.deepEqual(printed(), ['1', '900', '900']);
  enter(input, '2');
  assert.deepEqual([printed(), told], [['2', '4,000', '4,000'], [4000]]);
  made.set(1);
  assert.deepEqual([printed(), told], [['0', '1', '1'], [4000]]);
});

test('a word is explained where it stands first, in one sentence after another', () => {
  const explain = explainer({KL: 'box-kl', 'log p': 'box-p'}), root = place();
  root.append(...explain('KL and KLM, then KL.'), ...explain(' Also log p and KL.'));
  assert.deepEqual([texts(root, 'button'), root.textContent], [['KL', 'log p'], 'KL and KLM, then KL. Also log p and KL.']);
  assert.deepEqual([...root.querySelectorAll('button')].map(one => [one.getAttribute('popovertarget'), one.className, one.type]),
    [['box-kl', 'term', 'button'], ['box-p', 'term', 'button']]);
  root.replaceChildren(...explained('softKL, f(x) of KL', {KL: 'box-kl', 'f(x)': 'box-f'}));
  assert.deepEqual(texts(root, 'button'), ['f(x)', 'KL']);
  assert.equal(literal('[a].(b)/c'), '\\[a\\]\\.\\(b\\)\\/c');
});

test('a source’s link opens beside the page', () => {
  const root = place();
  root.append(...linked('see docs here, docs there', {docs: 'https://docs.test/'}));
  const [link] = root.querySelectorAll('a');
  assert.deepEqual(texts(root, 'a'), ['docs', 'docs']);
  assert.deepEqual([root.textContent, link.textContent, link.href, link.target, link.rel], ['see docs here, docs there', 'docs', 'https://docs.test/', '_blank',
    'noopener']);
});

test('what the browser keeps comes back, by name and by place', () => {
  remember('one', {a: [1]});
  remember('one', 'tab', 'sessionStorage');
  assert.deepEqual([recall('one'), recall('one', 'sessionStorage'), recall('two')], [{a: [1]}, 'tab', null]);
  assert.equal(localStorage.getItem('explorer-one'), '{"a":[1]}');
  localStorage.setItem('explorer-two', 'not what we wrote');
  assert.equal(recall('two'), null);
});

test('where the browser may keep nothing, nothing breaks', () => {
  const kept = window.localStorage;
  Object.defineProperty(window, 'localStorage', {configurable: true, get() { throw new Error('no'); }});
  remember('one', 1);
  assert.equal(recall('one'), null);
  Object.defineProperty(window, 'localStorage', {configurable: true, writable: true, value: kept});
});
