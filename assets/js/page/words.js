// The box: at rest the text's words as buttons, typed in a text box; two of both for a pair of
// sentences.
import {closest, find, make, say} from '../kit/dom.js';
import {exact} from '../kit/numbers.js';
import {rove} from '../kit/rove.js';
import {begin, follow, masksOf, toggled} from './masks.js';
import {cutAt, joined, sentences} from './pair.js';
import {splitWords, wordsOf} from './pattern.js';
import {openNext} from './folds.js';
import {textBox, typeText} from './parts.js';
import {showTab} from './tabs.js';
import {chosen, compare, configNow, listen, withState} from './here.js';
import {recentTexts} from './recent.js';

const MAX = 400; // words that are drawn
/** @type {import('../data').BoxData} */ let texts; // what the box says
/** @type {HTMLElement} */ let root;
/** @type {ReturnType<typeof recentTexts> | null} */
let recent = null; // the texts compared last
/** @type {string | null} */
let answered = null; // the text on the page
let isPair = false; // two boxes: the text is a pair, or a second sentence is about to be typed

/** @param {{text: string, hidden: string}} changes */
function run(changes) {
  typeText(changes.text);
  compare(changes);
}

/** An example, and the fold that it is about. @param {DOMStringMap} example */
function tryOut({text = '', tab = chosen('tab') ?? '', fold}) {
  run({text, hidden: ''});
  if (tab !== chosen('tab')) showTab(tab);
  openNext(tab, fold);
}

// The boxes that are typed in: Gradio's own, or the two of a pair, which write into it.
const boxes = () => (isPair ? [...root.querySelectorAll('textarea')] : [textBox()]);
/** @param {unknown} node */
const isBox = node => node instanceof Element && node.matches('#text-row textarea');
/** @param {boolean} isOn */
const edit = isOn => find(document, '#input-bar')?.classList.toggle('editing', isOn);

/**
 * Where a word is to be typed: the mask is selected, so that typing replaces it.
 * @param {string} text
 * @param {number} ordinal
 */
function offer(text, ordinal) {
  const mask = masksOf(text)[ordinal],
    cut = isPair ? cutAt(text) : null,
    isSecond = Boolean(cut && mask?.start >= cut.start);
  const box = boxes()[isSecond ? 1 : 0],
    from = cut && isSecond ? cut.start : 0;
  box.focus();
  if (mask && box.value === (isPair ? sentences(text)[isSecond ? 1 : 0] : text))
    box.setSelectionRange(mask.start - from, mask.end - from);
}

/**
 * One word, sign or separator of the text as it is clicked.
 * @param {string} text
 * @param {{text: string, index: number}} match
 * @param {number} ordinal the number of masks before it
 * @param {string} word what a mask hides, if it is known
 */
function part(text, match, ordinal, word) {
  const {text: typed, index: start} = match,
    isMask = typed === '[MASK]';
  if (typed.includes('|') && typed.length > 1)
    return make('span', {class: 'word masked choice', text: typed});
  if (typed === '[SEP]') return make('span', {class: 'sep', title: typed, text: '⟂'});
  if (!isMask && !/[\p{L}\p{N}]/u.test(typed)) return make('span', {class: 'mark', text: typed});
  const end = start + typed.length;
  const button = make('button', {
    type: 'button',
    class: isMask ? 'word masked' : 'word',
    'aria-pressed': String(isMask),
    text: word ? `[${word}]` : typed,
    'aria-label': word
      ? say(texts.unmask, {word})
      : isMask
        ? texts.fill
        : say(texts.mask, {word: typed}),
  });
  button.addEventListener('click', () =>
    isMask && !word ? offer(text, ordinal) : run(toggled(text, {start, end})),
  );
  return button;
}

/** @type {WeakMap<Element, string>} what each strip shows */
const drawn = new WeakMap();

/**
 * The text as it is typed, its words as buttons: every line breaks where the box's line does.
 * @param {string} text
 */
function drawWords(text) {
  const strips = /** @type {HTMLElement[]} */ ([...root.querySelectorAll('.strip')]),
    hidden = follow(text),
    cut = isPair ? cutAt(text) : null;
  const matches = wordsOf(text),
    left = matches.length - MAX;
  if (!strips.length) return; // Gradio has emptied the place; it is drawn again
  const now = JSON.stringify([text, hidden]);
  // a word may be pressed, or have the focus
  if (strips.every(each => drawn.get(each) === now)) return;
  for (const each of strips) drawn.set(each, now);
  let masks = 0,
    end = 0,
    strip = strips[0];
  strips.forEach(each => each.replaceChildren());
  for (const match of matches.slice(0, MAX)) {
    if (cut && match.index === text.indexOf('[SEP]')) {
      strip = strips[1];
      end = cut.start;
      continue;
    }
    const isGap = match.text === '[MASK]' || (match.text.includes('|') && match.text.length > 1);
    if (match.index > end) strip.append(text.slice(end, match.index));
    strip.append(part(text, match, masks, match.text === '[MASK]' ? hidden[masks] : ''));
    if (isGap) masks += 1;
    end = match.index + match.text.length;
  }
  if (left > 0)
    strip.append(
      make('span', {class: 'hint'}, ` ${say(texts.cut, {shown: MAX, left: exact(left)})}`),
    );
  for (const each of strips) {
    rove(each);
    const first = find(each, '.masked');
    each.scrollTop = first ? Math.max(0, first.offsetTop - each.clientHeight / 2) : 0;
  }
}

/** @param {string} [name] what a sentence of a pair is called */
function sentence(name) {
  const strip = make('div', {
    class: 'strip',
    dir: 'auto',
    translate: 'no',
    role: 'group',
    'aria-label': name ? `${name}: ${texts.hint}` : texts.hint,
  });
  const box = name ? make('textarea', {'aria-label': name, rows: 1}) : null;
  box?.addEventListener('input', event => {
    event.stopPropagation();
    typeText(joined(boxes().map(area => area.value)));
  });
  return make(
    'div',
    {class: 'sentence'},
    name ? make('span', {class: 'lead', 'aria-hidden': 'true'}, name) : null,
    make('div', {class: 'stack'}, box, strip),
  );
}

/** One box or two. @param {boolean} two */
function layOut(two) {
  isPair = two;
  find(document, '#input-bar')?.classList.toggle('pair', two);
  const own = textBox(); // Gradio may not have put it there yet
  if (own) own.tabIndex = two ? -1 : 0;
  const remove = make(
    'button',
    {type: 'button', class: 'chip', title: texts.remove, 'aria-label': texts.remove},
    '×',
  );
  remove.addEventListener('click', () => {
    const [first] = sentences(textBox().value);
    layOut(false);
    run({text: first, hidden: ''});
  });
  const pencil = make(
    'button',
    {type: 'button', class: 'pencil', tabindex: -1, title: texts.edit, 'aria-label': texts.edit},
    '✎',
  );
  pencil.addEventListener('click', () => textBox().focus());
  const parts = two ? [sentence(texts.first), sentence(texts.second)] : [sentence()];
  parts[parts.length - 1].append(two ? remove : pencil);
  root.replaceChildren(...parts);
}

/**
 * The text that is answered, and the words of what was typed on meanwhile.
 * @param {string} text
 * @param {string} now
 */
function write(text, now = text) {
  const pair = Boolean(cutAt(now)),
    isTyping = Boolean(find(document, '#input-bar.editing'));
  if (
    !root.querySelector('.strip') ||
    (pair !== isPair && !isTyping && (pair || text !== answered))
  )
    layOut(pair);
  answered = text;
  for (const strip of root.querySelectorAll('.strip'))
    /** @type {HTMLElement} */ (strip).dataset.text = text;
  redraw(now);
}

/** What an example shows stands below the row while its text is in the box. @param {string} now */
function caption(now) {
  const shows = find(document, '#examples .shows'),
    example = [...document.querySelectorAll('#examples [data-text]')].find(
      button => button.getAttribute('data-text') === now,
    );
  if (shows)
    shows.textContent =
      configNow()?.defaults.text === now ? '' : (example?.getAttribute('title') ?? '');
}

/** @param {string} now */
function redraw(now) {
  caption(now);
  if (isPair)
    boxes().forEach((box, i) => {
      if (box !== document.activeElement) box.value = sentences(now)[i];
    });
  drawWords(now);
}

/** Put the last texts below the further examples, which may be drawn later than this picture. */
function placeRecent() {
  if (recent && !recent.select.isConnected) find(document, '#more-examples')?.append(recent.select);
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(place, data) {
  texts = data;
  root = place;
  recent?.select.remove();
  recent = recentTexts(data.recent, run);
  placeRecent();
  write(data.text, window.explorer.typed);
  edit(isBox(document.activeElement)); // it may be typed in already
  withState(hear); // an answer may have been here before this picture
}

/** @param {import('./state.js').State} state */
function hear(state) {
  if (!root) return;
  if (!state.accepted) {
    const wanted = state.get('text'),
      {typed} = window.explorer; // a link's text that was not run: not the example's words
    if (state.heard) write(wanted, typed ?? wanted);
    return;
  }
  const {text, hidden = ''} = state.accepted,
    {typed} = window.explorer;
  if (typed === text) edit(false);
  begin(text, hidden);
  placeRecent();
  recent?.follow({text, hidden});
  write(text, typed ?? text);
}

listen(hear);

document.addEventListener('input', event => {
  if (root && event.target === textBox()) redraw(textBox().value);
});
for (const name of ['focusin', 'pointerdown', 'input'])
  document.addEventListener(
    name,
    event => {
      if (isBox(event.target) && (name !== 'input' || event.target === document.activeElement))
        edit(true);
    },
    true,
  );
document.addEventListener('focusout', event => {
  if (!isBox(event.target) || isBox(/** @type {FocusEvent} */ (event).relatedTarget)) return;
  edit(false);
  if (root && !isPair && cutAt(textBox().value)) write(answered ?? '', textBox().value);
});
document.addEventListener('keydown', event => {
  if (isBox(event.target) && (event.key.length === 1 || event.key.startsWith('Arrow'))) edit(true);
});
document.addEventListener('click', event => {
  const example = closest(event, '#examples [data-text]');
  if (example) {
    /** @type {any} */ (closest(event, '[popover]'))?.hidePopover();
    tryOut(example.dataset);
  }
  if (closest(event, '#add-sentence') && root) {
    if (!isPair) {
      layOut(true);
      redraw(textBox().value);
    }
    boxes()[1].focus();
  }
});

/** @type {import('../gradio.js').Picture['table']} */
export const table = () => ({
  columns: ['word'],
  rows: splitWords(answered ?? '').map(word => [word]),
});
