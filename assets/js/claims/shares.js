// The headline: what share of the printed claims is right, as bars whose parts filter the ledger.
import {make, say} from '../kit/dom.js';
import {filter, GLYPHS, listen, setFilter} from './filter.js';

/**
 * @typedef {import('../data').SharesData} SharesData
 * @typedef {import('../data').ReportShares} ReportShares
 */

/**
 * @param {Record<string, number>} counts
 * @param {SharesData} data
 * @param {(verdict: string, n: number) => HTMLElement} build
 */
function segments(counts, data, build) {
  const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
  return Object.keys(data.verdicts)
    .filter(v => counts[v])
    .map(verdict => {
      const node = build(verdict, counts[verdict]);
      node.style.flexGrow = String(counts[verdict] / total);
      node.dataset.verdict = verdict;
      return node;
    });
}

/** @param {SharesData} data */
function totalBar(data) {
  const bar = make('div', {class: 'cs-total', role: 'group', 'aria-label': data.texts.label});
  bar.append(
    ...segments(data.total, data, (verdict, n) => {
      const name = data.verdicts[verdict].toLowerCase();
      const button = make(
        'button',
        {type: 'button', class: 'cs-segment', 'aria-pressed': 'false', title: `${n} ${name}`},
        make('b', {}, String(n)),
        make('span', {}, ` ${name}`),
      );
      button.addEventListener('click', () =>
        setFilter({verdict: filter.verdict === verdict ? '' : verdict}),
      );
      return button;
    }),
  );
  return bar;
}

/** @param {SharesData} data */
function key(data) {
  return make(
    'ul',
    {class: 'cs-key', 'aria-hidden': 'true'},
    ...Object.entries(data.verdicts).map(([verdict, name]) =>
      make('li', {}, make('i', {'data-verdict': verdict}, make('span', {}, GLYPHS[verdict])), name),
    ),
  );
}

/** @param {ReportShares} report */
const countOf = report => Object.values(report.counts).reduce((sum, count) => sum + count, 0);

/** @param {ReportShares} report @param {SharesData} data */
function reportBar(report, data) {
  const n = countOf(report),
    decided = n - (report.counts.unsupported || 0);
  const label = say(data.texts.report, {name: report.name, kind: report.kind, n, ...report.counts});
  const button = make(
    'button',
    {
      type: 'button',
      class: 'cs-report',
      'aria-pressed': 'false',
      title: label,
      'data-report': report.id,
    },
    make('span', {class: 'cs-name'}, report.name),
    make('span', {class: 'cs-thin'}, ...segments(report.counts, data, () => make('i', {}))),
    make(
      'span',
      {class: 'cs-share'},
      say(data.texts.right_share, {
        share: Math.round((100 * report.counts.right) / decided),
        n: decided,
      }),
    ),
  );
  button.addEventListener('click', () =>
    setFilter({report: filter.report === report.id ? '' : report.id}),
  );
  return button;
}

/** @param {string} text */
const capitalised = text => text[0].toUpperCase() + text.slice(1);

/**
 * What each verdict means, and what kind of text each report is.
 * @param {SharesData} data
 */
function rule(data) {
  const t = data.texts;
  return make(
    'details',
    {class: 'cs-rule'},
    make('summary', {}, t.rule),
    make(
      'dl',
      {},
      ...Object.entries(data.verdicts).flatMap(([verdict, name]) => [
        make('dt', {}, name),
        make('dd', {}, t.rules[verdict]),
      ]),
      ...data.reports.flatMap(report => [
        make('dt', {}, report.name),
        make('dd', {}, capitalised(say(t.kind, {kind: report.kind, n: countOf(report)}))),
      ]),
    ),
  );
}

/** Mark the bars that filter the ledger now. @param {HTMLElement} root */
function press(root) {
  const bars = /** @type {NodeListOf<HTMLElement>} */ (
    root.querySelectorAll('.cs-segment, .cs-report')
  );
  for (const bar of bars) {
    const {report, verdict} = bar.dataset,
      isPressed = report === undefined ? filter.verdict === verdict : filter.report === report;
    bar.setAttribute('aria-pressed', String(isPressed));
  }
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {SharesData} */ data) {
  root.replaceChildren(
    totalBar(data),
    key(data),
    rule(data),
    make('p', {class: 'note'}, data.texts.reports),
    make('div', {class: 'cs-reports'}, ...data.reports.map(r => reportBar(r, data))),
  );
  listen('shares', () => press(root));
  press(root);
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {SharesData} */ data) {
  const of = (/** @type {string} */ name, /** @type {Record<string, number>} */ counts) => {
    const n = Object.values(counts).reduce((sum, count) => sum + count, 0),
      decided = n - (counts.unsupported || 0);
    return Object.keys(data.verdicts).map(verdict => [
      name,
      data.verdicts[verdict],
      counts[verdict] || 0,
      (counts[verdict] || 0) / n,
      verdict === 'unsupported' ? null : (counts[verdict] || 0) / decided,
    ]);
  };
  return {
    columns: ['report', 'verdict', 'claims', 'share_of_the_report', 'share_of_the_decided'],
    rows: [...of('all', data.total), ...data.reports.flatMap(r => of(r.name, r.counts))],
  };
}
