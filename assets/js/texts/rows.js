// The rows of a list through all models: ordered, filtered, and each opens where its text can be
// looked at.
import {el, make, marked as findMarked, say, stacks} from '../kit/dom.js';
import {fixed, number} from '../kit/numbers.js';
import {compare, listen} from '../page/here.js';
import {openNext} from '../page/folds.js';
import {landOn} from '../page/landing.js';
import {look} from '../page/look.js';
import {typeText} from '../page/parts.js';
import {put} from '../page/tabs.js';

const EXACT = 9; // decimals that a number in float32 is worth
const STEP = 12; // rows at once
const only = look('only', 'all'),
  group = look('group', 'all'),
  order = look('rows', 'apart');

/**
 * @typedef {{tab: string, text: string, hidden?: string, fold?: string, sentiment?: string,
 *   span?: string}} View
 * @typedef {{n: number, lead: string[], cells: any[][], group: string, apart: number | null, right:
 *   (boolean | null)[], marks: [number, number][],
 *   open: View, more?: View[], offered?: [string, number | null][][]}}
 *   Line `lead`: what the list gives of a row; `more`: other views of it
 * @typedef {{kind: string, columns: string[], names: Record<string, string>, models: string[],
 *   total: number, lines: Line[],
 *   fast?: {exact: Record<string, number[]>, decimals: Record<string, number>},
 *   constants: Record<string, unknown>, said: Record<string, unknown>, texts: Record<string,
 *   string>}} Data
 */

/**
 * Whether a row is one of those that are to be shown.
 * @param {Line} line
 * @param {string} which
 * @param {string[]} models
 */
export function isLike(line, which, models) {
  const {right} = line,
    judged = right.filter(isRight => isRight !== null),
    [a, b] = which.split('.').map(key => models.indexOf(key));
  if (which === 'all') return true;
  if (which === 'wrong') return judged.length > 0 && !judged.some(Boolean);
  if (which === 'differ') return judged.some(isRight => isRight !== judged[0]);
  return right[a] === true && right[b] === false;
}

/**
 * The rows in sight, in their order; what was kept of another list and is none of this one's
 * choices hides nothing.
 * @param {Data} data
 * @param {{only: string, group: string, rows: string}} chosen
 */
export function matching(data, chosen) {
  const only = Object.hasOwn(filters(data), chosen.only) ? chosen.only : 'all';
  const groups = groupsOf(data),
    wanted = groups.length > 1 ? groups.find((_, i) => String(i) === chosen.group) : undefined;
  const matches = data.lines.filter(
    line => isLike(line, only, data.models) && (!wanted || line.group === wanted),
  );
  return chosen.rows === 'list' ? matches.toSorted((a, b) => a.n - b.n) : matches;
}

/** @param {Data} data */
const groupsOf = ({lines}) =>
  [...new Set(lines.map(line => line.group))].filter(Boolean).toSorted();

/** What the rows can be filtered by. @param {Data} data @returns {Record<string, string>} */
function filters({lines, models, names, texts: t}) {
  if (!lines.some(({right}) => right.length)) return {};
  const pairs = models.flatMap(a =>
    models
      .filter(b => b !== a)
      .map(b => [`${a}.${b}`, say(t.only, {right: names[a], wrong: names[b]})]),
  );
  return {
    all: t.all,
    ...(models.length > 1 ? {differ: t.differ} : {}),
    wrong: t.wrong,
    ...Object.fromEntries(pairs),
  };
}

/**
 * @param {string} label
 * @param {Record<string, string>} options
 * @param {{value: string}} kept
 * @param {() => void} changed
 */
function chooser(label, options, kept, changed) {
  const select = make(
    'select',
    {'aria-label': label},
    ...Object.entries(options).map(([value, text]) => make('option', {value}, text)),
  );
  select.value = Object.hasOwn(options, kept.value) ? kept.value : Object.keys(options)[0];
  select.addEventListener('change', () => {
    kept.value = select.value;
    changed();
  });
  return make('label', {class: 'tx-field'}, make('span', {}, label), select);
}

/**
 * A text with the marked spans, which count characters and not units of 16 bits.
 * @param {string} text
 * @param {[number, number][]} marks
 */
function marked(text, marks) {
  const signs = [...text],
    parts = [];
  let end = 0;
  for (const [from, to] of marks) {
    parts.push(signs.slice(end, from).join(''), make('mark', {}, signs.slice(from, to).join('')));
    end = to;
  }
  return [...parts, signs.slice(end).join('')];
}

/**
 * Whether a model has a row right; nothing where nothing says so.
 * @param {boolean | null | undefined} isRight
 * @param {Record<string, string>} t
 */
const verdict = (isRight, t) =>
  isRight === undefined || isRight === null
    ? null
    : make(
        'span',
        {
          class: 'tx-verdict',
          'data-right': String(isRight),
          title: isRight ? t.right : t.wrong_one,
        },
        make('span', {'aria-hidden': 'true'}, isRight ? t.yes : t.no),
        el('span', 'sr-only', isRight ? t.right : t.wrong_one),
      );

/**
 * The words that are asked for, each with its probability; nothing of one answer alone.
 * @param {[string, number | null][]} words
 * @param {Record<string, string>} t
 * @param {(p: number) => string} [shown]
 */
const wordsSaid = (words, t, shown = number) =>
  words.length < 2
    ? ''
    : words.map(([word, p]) => `${word} ${p === null ? t.no_word : shown(p)}`).join(', ');

/**
 * The rank of the given answer, and its pieces where there are several; nothing of one that is
 * first.
 * @param {any[]} cells
 * @param {Record<string, string>} t
 * @param {(p: number) => string} [shown]
 */
const rankSaid = ([, , given, , rank, pieces], t, shown = number) =>
  rank === 1 && pieces === 1
    ? ''
    : rank === null
      ? t.unknown
      : [say(t.rank, {rank, probability: shown(given)}), pieces > 1 ? say(t.pieces, {pieces}) : '']
          .filter(Boolean)
          .join(', ');

/**
 * The labels of a row, which bars divide.
 * @param {string} labels
 * @param {Record<string, string>} t
 */
export const labelsSaid = (labels, t) => labels.split('|').join(', ') || t.no_labels;

/**
 * What a model's own head says of a row, and its frozen features below it; the features alone where
 * no head is scored.
 * @param {string | null} head
 * @param {string | null} predicted by the features; null where no classifier learns from the rows
 * @param {boolean} others whether the head of another model is scored
 * @param {Record<string, string>} t
 * @returns {[string, string]}
 */
const byHead = (head, predicted, others, t) =>
  head === null
    ? [predicted ?? '–', others && predicted !== null ? t.no_head : '']
    : [head, predicted === null ? '' : say(t.by_features, {predicted})];

/**
 * Whether a row has the answer of any head, which is at one place of the cells.
 * @param {Line} line
 * @param {number} place
 */
const hasHeads = ({cells}, place) => cells.some(each => (each[place] ?? null) !== null);

/**
 * What a model says of a row, by kind: a line and a smaller one. `worth`: the decimals that its
 * numbers are worth, where they are fewer than usual.
 * @type {Record<string, (cells: any[], line: Line, t: Record<string, string>, model: number,
 *   worth?: number) => [string, string]>}
 */
export const SAID = {
  masked: (cells, {lead: [, answer], offered = []}, t, i, worth = EXACT) => {
    const shown = (/** @type {number} */ p) => (worth < 3 ? fixed(p, worth) : number(p));
    const words = wordsSaid(offered[i] ?? [], t, shown);
    const below = [answer ? rankSaid(cells, t, shown) : '', words].filter(Boolean).join('; ');
    return [`${cells[0]} ${shown(cells[1])}`, below];
  },
  plain: ([, , pll, within], {lead: [text]}, t, i, worth = EXACT) => [
    fixed(within, Math.min(1, worth)),
    `PLL ${fixed(pll, Math.min(1, worth))}`,
  ],
  pairs: (cells, line, t, i, worth = EXACT) => [
    `${cells[6] > 0 ? '+' : ''}${fixed(cells[6], Math.min(2, worth))}`,
    '',
  ],
  labelled: ([predicted, , head = null, p], line, t) =>
    byHead(head === null ? null : `${head} ${number(p)}`, predicted, hasHeads(line, 2), t),
  multilabel: ([predicted, , head = null], line, t) =>
    byHead(
      head === null ? null : labelsSaid(head, t),
      labelsSaid(predicted, t),
      hasHeads(line, 2),
      t,
    ),
  scored: ([predicted, head = null], line, t) =>
    byHead(head === null ? null : fixed(head, 2), fixed(predicted, 2), hasHeads(line, 1), t),
  tagged: ([, missed, inVain], line, t) => {
    const missing = missed ? say(t.missed, {spans: missed}) : '',
      extra = inVain ? say(t.in_vain, {spans: inVain}) : '';
    return missing || extra ? [missing || extra, missing ? extra : ''] : [t.as_given, ''];
  },
};

/**
 * What stands below a row's text, by kind.
 * @type {Record<string, (lead: string[], t: Record<string, string>) => string>}
 */
const BELOW = {
  masked: ([, answer], t) => (answer ? say(t.answer, {answer}) : ''),
  plain: () => '',
  pairs: ([, bad], t) => say(t.bad, {bad}),
  labelled: ([, label], t) => say(t.label_of, {label}),
  multilabel: ([, labels], t) => say(t.labels_of, {labels: labelsSaid(labels, t)}),
  scored: ([, score], t) => say(t.score_of, {score}),
  tagged: ([, , spans], t) => (spans ? say(t.spans_of, {spans}) : t.no_spans),
};

/** Whether the rows of a kind have labels, which have no distance. @param {string} kind */
const isClassified = kind => ['labelled', 'multilabel', 'tagged'].includes(kind);

let opened = 0; // the row whose text was opened, to come back to

/**
 * The names of the orders: pairs that only some models have right are before all others.
 * @param {Data} data
 * @returns {Record<string, string>}
 */
export const ordersOf = ({kind, texts: t}) => ({
  apart: kind === 'pairs' ? t.apart_pairs : t.apart,
  list: t.list,
});

/** @param {number} n of the row @param {View} view */
function open(n, {tab, text, hidden = '', fold = '', sentiment = '', span = ''}) {
  opened = n;
  typeText(text);
  compare({text, hidden, tab, ...(sentiment && {sentiment}), ...(span && {span})});
  put({tab});
  if (fold) openNext(tab, fold);
  else landOn(tab, '', true);
}

/**
 * The other views of a row.
 * @param {Line} line
 * @param {Record<string, string>} t
 */
function links({n, more = []}, t) {
  const buttons = more.map(view => {
    const button = make(
      'button',
      {type: 'button', class: 'tx-view', title: t[`opens_${view.tab}`]},
      t[`view_${view.tab}`],
    );
    button.addEventListener('click', event => {
      event.stopPropagation();
      open(n, view);
    });
    return button;
  });
  return buttons.length ? make('span', {class: 'tx-views'}, ...buttons) : null;
}

/** @param {Line} line @param {Data} data */
function row(line, data) {
  const {kind, models, texts: t} = data,
    below = BELOW[kind](line.lead, t);
  const text = make(
    'button',
    {type: 'button', class: 'tx-open-row', title: t[`opens_${line.open.tab}`]},
    ...marked(line.lead[0], line.marks),
  );
  text.addEventListener('click', event => {
    event.stopPropagation();
    open(line.n, line.open);
  });
  const cells = models.map((key, i) => {
    const isExact = !data.fast || data.fast.exact[key].includes(line.n);
    const worth = data.fast && !isExact ? data.fast.decimals[key] : EXACT;
    const [value, small] = SAID[kind](line.cells[i], line, t, i, worth);
    return make(
      'td',
      {'data-model': key},
      verdict(line.right[i], t),
      make('span', {class: isClassified(kind) ? null : 'tx-value'}, value),
      small ? el('small', '', small) : null,
      data.fast && isExact ? el('small', 'tx-exact', t.exact) : null,
    );
  });
  const apart =
    isClassified(kind) || models.length < 2
      ? []
      : [make('td', {}, line.apart === null ? '–' : fixed(line.apart, 3))];
  const whole = make(
    'tr',
    {'data-row': line.n},
    make('th', {scope: 'row'}, String(line.n)),
    make('td', {class: 'tx-text'}, text, below ? el('small', '', below) : null, links(line, t)),
    ...cells,
    ...apart,
  );
  whole.addEventListener('click', () => {
    if (!String(getSelection())) open(line.n, line.open);
  });
  return whole;
}

/** @param {Data} data */
function head({kind, models, names, texts: t}) {
  const columns = [
    t.number,
    t.text,
    ...models.map(key => names[key]),
    ...(isClassified(kind) || models.length < 2
      ? []
      : [kind === 'plain' ? t.a_word_apart : kind === 'scored' ? t.apart_scores : t.js]),
  ];
  const model = (/** @type {number} */ i) => models[i - 2];
  return make(
    'thead',
    {},
    make(
      'tr',
      {},
      ...columns.map((name, i) =>
        make(
          'th',
          {scope: 'col'},
          model(i) ? make('span', {class: 'model-name', 'data-model': model(i)}, name) : name,
        ),
      ),
    ),
  );
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {Data} */ data) {
  const t = data.texts,
    isPart = data.lines.length < data.total,
    list = make('tbody'),
    count = make('p', {class: 'tx-count', role: 'status'});
  const more = make('button', {type: 'button', class: 'chip tx-more-rows'}),
    empty = make('p', {class: 'note'}, t.none);
  let limit = STEP;
  // the kind of the lines of Python that compute these rows
  root.dataset.lines = `texts/${data.kind}`;
  const draw = () => {
    const matches = matching(data, {only: only.value, group: group.value, rows: order.value}),
      sent = matches.slice(0, limit);
    list.replaceChildren(...sent.map(line => row(line, data)));
    count.textContent = say(isPart ? t.so_far : t.count, {
      n: matches.length.toLocaleString('en'),
      total: data.total.toLocaleString('en'),
    });
    more.hidden = matches.length <= limit;
    more.textContent = say(t.more, {n: Math.min(STEP, matches.length - limit)});
    empty.hidden = matches.length > 0;
    stacks(scroller);
  };
  const again = () => {
    limit = STEP;
    draw();
  };
  more.addEventListener('click', () => {
    limit += STEP;
    draw();
    /** @type {HTMLElement | null} */ (
      list.children[limit - STEP]?.querySelector('button')
    )?.focus();
  });
  const scroller = make(
    'div',
    {class: 'table tx-rows', tabindex: 0, role: 'region', 'aria-label': t.label},
    make('table', {}, head(data), list),
  );
  const groups = groupsOf(data),
    which = filters(data);
  const tools = make(
    'div',
    {class: 'tx-tools'},
    Object.keys(which).length ? chooser(t.show, which, only, again) : null,
    groups.length > 1
      ? chooser(
          t.group,
          {all: t.all, ...Object.fromEntries(groups.map((name, i) => [String(i), name]))},
          group,
          again,
        )
      : null,
    chooser(t.order, ordersOf(data), order, again),
  );
  root.replaceChildren(...(isPart ? [] : [tools]), count, scroller, empty, more);
  draw();
}

// Back to the table: where it was left, with the row that was opened.
listen(state => {
  if (state.tab !== 'texts' || !opened) return;
  const button = findMarked(document, 'data-row', String(opened))?.querySelector('button');
  if (!button?.getClientRects().length) return;
  opened = 0;
  button.scrollIntoView({block: 'center'});
  button.focus({preventScroll: true});
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {Data} */ {columns, names, lines}) {
  const labels = Object.values(names),
    inOrder = lines.toSorted((a, b) => a.n - b.n);
  return {
    columns,
    rows: inOrder.flatMap(({n, lead, cells}) =>
      cells.map((of, i) => [n, labels[i], ...lead, ...of]),
    ),
  };
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {Data} */ {lines, constants: more}) => ({
  ROWS: lines.toSorted((a, b) => a.n - b.n).map(({n, lead}) => [n, ...lead]),
  ...more,
});

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {Data} */ {said: told}) => told;
