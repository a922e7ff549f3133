// The input bar: the text's words as buttons, and the examples.
import {find, make as node, say} from '../kit/dom.js';
import {exact} from '../kit/numbers.js';
import {begin, follow, masksOf, toggled} from './masks.js';
import {splitWords, WORD} from './pattern.js';
import {openNext} from './folds.js';
import {pressCompare, showTab, textBox, typeText} from '../gradio.js';
import {chosen, compare, listen, withState} from './here.js';
import {recentTexts} from './recent.js';

const MOST = 400;       // words that the strip shows
/** @type {any} */ let texts = {};   // what the strip says
let recent = null;      // the texts compared last
let typed = null;       // what was written into the box; what Gradio puts there itself may come after the answer

const make = (tag, text, attributes = {}) => node(tag, {...attributes, text});

/** @param {{text: string, hidden: string}} changes */
function run(changes) {
  typeText(changes.text);
  compare(changes);
}

/** An example, and the fold that it is about. @param {{text: string, tab?: string, fold?: string}} example */
function tryOut(example) {
  if (example.fold) openNext(example.tab, example.fold);
  run({text: example.text, hidden: ''});
  if (example.tab && example.tab !== chosen('tab')) showTab(example.tab);
}

/** Where a word is to be typed: the mask is selected, so that typing replaces it. @param {string} text @param {number} ordinal */
function offer(text, ordinal) {
  const box = textBox(), mask = masksOf(box.value)[ordinal];
  box.focus();
  if (mask && box.value === text) box.setSelectionRange(mask.start, mask.end);
}

function drawWords(holder, text) {
  holder.replaceChildren();
  const hidden = follow(text);
  let masks = 0;
  const matches = [...text.matchAll(WORD)], left = matches.length - MOST;
  for (const match of matches.slice(0, MOST)) {
    const isMask = match[0] === '[MASK]', ordinal = masks;
    if (isMask) masks += 1;
    if (match[0].includes('|') && match[0].length > 1) { holder.append(make('span', match[0], {class: 'word masked choice'})); masks += 1; continue; }
    if (match[0] === '[SEP]') { holder.append(make('span', '⟂', {class: 'sep', title: '[SEP]'})); continue; }
    if (!isMask && !/[\p{L}\p{N}]/u.test(match[0])) { holder.append(make('span', match[0], {class: 'mark'})); continue; }
    const word = isMask ? hidden[ordinal] : '';
    const button = make('button', word ? `[${word}]` : match[0], {
      type: 'button', class: isMask ? 'word masked' : 'word', 'aria-pressed': String(isMask),
      'aria-label': word ? `masked: ${word}, bring back` : isMask ? '[MASK], type a word in its place' : `mask ${match[0]}`,
    });
    const start = match.index, end = start + match[0].length;
    button.addEventListener('click', () => isMask && !word ? offer(text, ordinal) : run(toggled(text, {start, end})));
    holder.append(button);
  }
  if (left > 0) holder.append(make('span', say(texts.cut, {shown: MOST, left: exact(left)}), {class: 'hint'}));
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  texts = data;
  const strip = make('div', null, {class: 'strip', role: 'group', 'aria-label': data.hint});
  const chips = make('div', null, {class: 'chips', role: 'group', 'aria-label': data.try});
  chips.append(make('span', data.try, {class: 'lead'}));
  for (const example of data.examples) {
    const chip = make('button', example.label, {type: 'button', class: 'chip', title: example.shows || example.text});
    chip.addEventListener('click', () => tryOut(example));
    chips.append(chip);
  }
  recent = recentTexts(data.recent, run);
  chips.prepend(recent.select);
  const hint = node('p', {class: 'hint'}, data.hint, node('span', {class: 'keys', text: ` ${data.keys}`}));
  root.replaceChildren(strip, hint, chips, make('p', null, {class: 'hint shows', role: 'status'}));
  write(data.text);
  withState(hear);   // an answer may have been here before this picture
}

/** @param {import('./state.js').State} state */
function hear(state) {
  if (!state.accepted) {
    const asked = state.get('text');   // a link's text that cannot be run: not the example's words
    if (state.refused) write(asked, typed ?? asked);
    return;
  }
  begin(state.accepted.text, state.accepted.hidden ?? '');
  recent?.follow({text: state.accepted.text, hidden: state.accepted.hidden ?? ''});
  write(state.accepted.text, typed ?? state.accepted.text);
  const shows = find(document, '#words .shows');
  if (shows) shows.textContent = texts.examples?.find(example => example.text === state.accepted?.text)?.shows ?? '';
}

listen(hear);

/** The text that is answered, and the words of what was typed on meanwhile. @param {string} text @param {string} now */
function write(text, now = text) {
  const strip = find(document, '#words .strip');
  if (!strip) return;
  strip.dataset.text = text;
  drawWords(strip, now);
}

document.addEventListener('input', event => {
  if (event.target !== textBox()) return;
  typed = textBox().value;
  const strip = document.querySelector('#words .strip');
  if (strip) drawWords(strip, typed);
});
document.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  pressCompare();
});

/** @type {import('../gradio.js').Picture['table']} */
export const table = data => ({columns: ['word'], rows: splitWords(data.text).map(word => [word])});
