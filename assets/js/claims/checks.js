// Live checks: the list of what each one measures, expects and found.
import {showTab} from '../page/tabs.js';
import {make, marked, say} from '../kit/dom.js';
import {openNext} from '../page/folds.js';
import {listen, open, pressed, results, running} from './filter.js';

/** @type {Record<string, string>} */
const HOLDS = {holds: 'true', fails: 'false'};

/**
 * @typedef {import('../data').ChecksData} ChecksData
 * @typedef {import('../data').CheckNote} CheckNote
 */

/** @param {CheckNote} check @param {Record<string, string>} t */
function outcome(check, t) {
  const result = results[check.id];
  if (running.has(check.id)) return [make('p', {class: 'cl-none'}, '…')];
  if (!result) return [make('p', {class: 'cl-none'}, t.not_run)];
  const kind = result.published ? t.published : result.on ? `${t.measured}, ${result.on}` : '';
  return [
    make(
      'div',
      {class: `cl-outcome ${result.published ? 'published' : 'measured'}`},
      kind ? make('span', {class: 'cl-kind'}, kind) : null,
      make(
        'span',
        {class: 'cl-test', 'data-holds': HOLDS[result.status] ?? 'none'},
        make('span', {class: 'cl-value'}, result.text),
        ' ',
        make('b', {}, t[result.status === 'undecided' ? open(result) : result.status]),
      ),
    ),
  ];
}

/**
 * Opens the tab, and its fold, where the same is seen on the page's own text.
 * @param {string} place
 * @param {string} label
 */
function seen(place, label) {
  const [tab, fold] = place.split('/'),
    button = make('button', {type: 'button', class: 'chip'}, label);
  button.addEventListener('click', () => {
    showTab(tab);
    setTimeout(() => openNext(tab, fold), 0); // after the tab has begun at its top
  });
  return button;
}

/**
 * @param {CheckNote} check
 * @param {ChecksData} data
 * @param {import('../gradio.js').Context['ask']} ask
 */
function item(check, data, ask) {
  const t = data.texts,
    label = say(t.run, check);
  const button = make(
    'button',
    {
      type: 'button',
      class: 'cl-run',
      'aria-label': label,
      'data-check': check.id,
      'aria-busy': String(running.has(check.id)),
    },
    `▷ ${check.name}`,
  );
  button.addEventListener('click', () => ask(pressed(check.id)));
  return make(
    'li',
    {class: 'cc-row', 'data-check-row': check.id},
    button,
    make(
      'div',
      {class: 'cl-cell'},
      make('p', {class: 'cl-text'}, check.measures),
      make('p', {class: 'cl-meta'}, `${t.expected}: ${check.expected}`),
      check.see ? seen(check.see, t.see) : null,
    ),
    make('div', {class: 'cl-cell'}, ...outcome(check, t)),
  );
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {ChecksData} */ data, {ask}) {
  const list = make('ul', {class: 'cl-list cc-list'});
  const fill = () => {
    const held =
      root.contains(document.activeElement) && document.activeElement?.getAttribute('data-check');
    list.replaceChildren(...data.checks.map(check => item(check, data, ask)));
    if (held) marked(list, 'data-check', held)?.focus();
  };
  root.replaceChildren(list);
  listen('checks', fill);
  fill();
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {ChecksData} */ data) {
  const rows = data.checks.map(check => {
    const result = results[check.id];
    return [
      check.name,
      check.measures,
      check.expected,
      result?.status ?? null,
      result?.text ?? null,
      result?.on ?? null,
    ];
  });
  return {columns: ['check', 'measures', 'expected', 'status', 'found', 'on'], rows};
}
