import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import {click, place, press, until} from '../dom.js';
import {begun} from './stage.js';

globalThis.CSSStyleSheet = /** @type {any} */ (class { replaceSync(text) { this.text = text; } });
Object.defineProperty(document, 'adoptedStyleSheets', {value: [], writable: true});
Object.assign(window, {parent: window});
history.replaceState({}, '', 'http://page.test/');
await import('../../../assets/js/gradio.js');
const sheet = () => /** @type {any} */ (document.adoptedStyleSheets.at(-1)).text;

function page() {
  const root = place();
  root.innerHTML = `<div id="text"><textarea></textarea></div><button id="put"></button><button id="tour-start"></button><button class="leave" data-project></button>
    <div id="tabs"></div><div id="a"><p data-kind="w"></p><p data-kind="x/y"><i></i></p></div><div id="b"><p data-kind="z"><i></i></p></div><div id="tour"><section class="tour" hidden data-count="{i} of {n}"><ol><li data-number="14" data-lit="#a [data-kind]"><a href="?v=1&tour=1&tab=claims">One</a></li>
    <li data-number="7" data-lit="#b [data-kind]"><a href="?v=1&tour=2&tab=depth&text=A+cat.&temperature=4&fold=moves">Two</a></li></ol><span class="tour-count"></span>
    <button data-step="-1"></button><button data-step="1"></button><button data-project></button><button id="tour-end"></button></section></div>`;
  return {root, ...begun({text: 'start'}), shown: () => [...root.querySelectorAll('li')].map(one => !one.hidden),
    at: name => new URL(location.href).searchParams.get(name)};
}
beforeEach(() => history.replaceState({}, '', 'http://page.test/'));

test('a stop shows its sentence, opens its view, lights its place and is in the address', async () => {
  const {root, sent, shown, at} = page();
  click(root.querySelector('#tour-start'));   // the module comes with the first click
  await until(() => sheet()?.startsWith('#a'));
  assert.deepEqual([shown(), at('tour'), sheet().startsWith('#a [data-kind][data-kind="x/y"]'), root.querySelector('.tour-count').textContent], [[true, false], '14', true, '1 of 2']);
  assert.equal(sent.at(-1).tab, 'claims');
  assert.equal(root.querySelector('[data-step="-1"]').disabled, true);
  press(document.body, 'ArrowRight');
  await until(() => sheet()?.startsWith('#b'));
  assert.deepEqual([shown(), at('tour'), sheet().startsWith('#b [data-kind][data-kind="z"]')], [[false, true], '7', true]);
  const {text, temperature, tab} = sent.at(-1);
  assert.deepEqual([text, temperature, tab, root.querySelector('textarea').value], ['A cat.', '4', 'depth', 'A cat.']);
  press(root.querySelector('textarea'), 'ArrowLeft');
  assert.deepEqual(shown(), [false, true]);
  click(root.querySelector('[data-step="-1"]'));
  assert.deepEqual([shown(), sent.at(-1).text, sent.at(-1).temperature], [[true, false], 'start', undefined]);   // nothing of the other stop
  press(document.body, 'Escape');
  assert.deepEqual([root.querySelector('.tour').hidden, at('tour'), sheet()], [true, null, '']);
});

test('the projector mode is in the address, and Escape ends it', () => {
  const {root, at} = page(), isOn = () => document.documentElement.classList.contains('projector');
  click(root.querySelector('.leave'));
  assert.deepEqual([isOn(), at('projector'), root.querySelector('#tour [data-project]').getAttribute('aria-pressed')], [true, '1', 'true']);
  press(document.body, 'Escape');
  assert.deepEqual([isOn(), at('projector')], [false, null]);
});

test('Back to the stop before takes its number with it; what is no stop leaves the number', () => {
  const {root, shown, at} = page(), back = view => window.dispatchEvent(Object.assign(new Event('popstate'), {state: {view}}));
  click(root.querySelector('#tour-start'));
  click(root.querySelector('[data-step="1"]'));
  assert.deepEqual([shown(), root.querySelector('.tour-count').textContent], [[false, true], '2 of 2']);
  back({tab: 'depth', text: 'A cat.', temperature: '4', fold: 'similarity'});
  assert.deepEqual(shown(), [false, true]);
  back({tab: 'claims'});
  assert.deepEqual([shown(), root.querySelector('.tour-count').textContent, at('tour')], [[true, false], '1 of 2', '14']);
  press(document.body, 'Escape');
});
