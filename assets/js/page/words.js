// The input bar: the text's words as buttons, and the examples.
import {find, make as node} from '../kit/dom.js';
import {splitWords, WORD} from './pattern.js';
import {pressCompare, textBox, typeText} from '../gradio.js';
import {compare, listen} from './here.js';

let hint = '';          // what the words are for
const originals = [];   // what stood where each mask is now, in reading order

const make = (tag, text, attributes = {}) => node(tag, {...attributes, text});

function run(text) {
  typeText(text);
  compare({text});
}

function toggle(text, match, ordinal) {
  const isMask = match[0] === '[MASK]';
  if (isMask && !originals[ordinal]) { textBox().focus(); return; }
  const word = isMask ? originals.splice(ordinal, 1)[0] : '[MASK]';
  if (!isMask) originals.splice(ordinal, 0, match[0]);
  run(text.slice(0, match.index) + word + text.slice(match.index + match[0].length));
}

function drawWords(holder, text, hint) {
  holder.replaceChildren();
  holder.setAttribute('aria-label', hint);
  let masks = 0;
  const matches = [...text.matchAll(WORD)].slice(0, 400);
  for (const match of matches) {
    const isMask = match[0] === '[MASK]', ordinal = masks;
    if (isMask) masks += 1;
    if (match[0].includes('|') && match[0].length > 1) { holder.append(make('span', match[0], {class: 'word masked choice'})); masks += 1; continue; }
    if (match[0] === '[SEP]') { holder.append(make('span', '⟂', {class: 'sep', title: '[SEP]'})); continue; }
    if (!isMask && !/[\p{L}\p{N}]/u.test(match[0])) { holder.append(make('span', match[0], {class: 'mark'})); continue; }
    const known = isMask && originals[ordinal];
    const button = make('button', isMask ? (known ? `[${originals[ordinal]}]` : '[MASK]') : match[0], {
      type: 'button', class: isMask ? 'word masked' : 'word', 'aria-pressed': String(isMask),
      'aria-label': isMask ? (known ? `masked: ${originals[ordinal]}, bring back` : 'mask, edit in the text box') : `mask ${match[0]}`,
    });
    button.addEventListener('click', () => toggle(text, match, ordinal));
    holder.append(button);
  }
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  hint = data.hint;
  const strip = make('div', null, {class: 'strip', role: 'group'});
  const chips = make('div', null, {class: 'chips', role: 'group', 'aria-label': data.try});
  chips.append(make('span', data.try, {class: 'lead'}));
  for (const example of data.examples) {
    const chip = make('button', example.label, {type: 'button', class: 'chip', title: example.shows || example.text});
    chip.addEventListener('click', () => { originals.length = 0; run(example.text); });
    chips.append(chip);
  }
  root.replaceChildren(strip, make('p', data.hint, {class: 'hint'}), chips);
  write(data.text);
}

listen(state => { if (state.accepted) write(state.accepted.text); });

function write(text) {
  const masks = (text.match(/\[MASK\]|\[[^\[\]|]+(?:\|[^\[\]|]+)+\]/g) || []).length;
  if (originals.length !== masks) originals.length = 0;
  const strip = find(document, '#words .strip');
  if (!strip) return;
  strip.dataset.text = text;
  drawWords(strip, text, hint);
}

document.addEventListener('input', event => {
  if (event.target !== textBox()) return;
  if (event.isTrusted) originals.length = 0;
  const strip = document.querySelector('#words .strip');
  if (strip) drawWords(strip, textBox().value, hint);
});
document.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  pressCompare();
});

/** @type {import('../gradio.js').Picture['table']} */
export const table = data => ({columns: ['word'], rows: splitWords(data.text).map(word => [word])});
