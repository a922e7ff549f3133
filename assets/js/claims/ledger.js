// The ledger: search and filters over all claims, each beside its source and what this machine
// finds.
import {make, marked, say} from '../kit/dom.js';
import {linked} from '../kit/links.js';
import {choose, chosen, listen as hear} from '../page/here.js';
import {
  filter,
  followLink,
  GLYPHS,
  listen,
  matching,
  open,
  opensWrong,
  pressed,
  results,
  running,
  searched,
  setFilter,
} from './filter.js';

/**
 * @typedef {import('../data').LedgerData} LedgerData
 * @typedef {import('../data').ClaimRow} Claim
 * @typedef {Record<string, any>} Texts
 * @typedef {ReturnType<typeof build>} View
 */

const PAGE = 6,
  STEP = 40;

/** @param {Claim} claim @param {LedgerData} data */
function haystack(claim, data) {
  return searched(
    [
      claim.id,
      claim.claim,
      claim.claimed,
      claim.found,
      claim.source,
      data.topics[claim.topic],
      ...claim.models.map(key => data.models[key]),
      ...claim.checks.map(id => data.checks[id].name),
    ].join(' '),
  );
}

/** Whether the filter leaves a claim. @param {Claim} claim */
function fits(claim) {
  return (
    (!filter.model || claim.models.includes(filter.model)) &&
    (!filter.topic || claim.topic === filter.topic) &&
    (!filter.verdict || claim.verdict === filter.verdict) &&
    (!filter.report || claim.report === filter.report) &&
    (!filter.live || claim.live.length > 0)
  );
}

/** What is found, the wordings of one claim together. @param {Claim[]} claims */
function together(claims) {
  /** @type {Map<string, Claim[]>} */
  const groups = new Map();
  for (const claim of claims)
    groups.set(claim.same || claim.id, [...(groups.get(claim.same || claim.id) ?? []), claim]);
  return [...groups.values()];
}

/** Search the claims, and put it in the link. @param {string} search */
function searchFor(search) {
  setFilter({search});
  choose({search});
}

/**
 * @param {string} name
 * @param {string} label
 * @param {Record<string, string>} options
 * @param {Texts} texts
 */
function chooser(name, label, options, texts) {
  const select = make(
    'select',
    {'data-filter': name},
    make('option', {value: ''}, texts.any),
    ...Object.entries(options).map(([value, text]) => make('option', {value}, text)),
  );
  select.addEventListener('change', () => setFilter({[name]: select.value}));
  return make('label', {class: 'cl-field'}, make('span', {}, label), select);
}

/** @param {LedgerData} data */
function toolbar(data) {
  const t = data.texts;
  const input = make('input', {
    type: 'search',
    placeholder: t.placeholder,
    autocomplete: 'off',
    spellcheck: 'false',
    'data-filter': 'search',
    maxlength: 80,
  });
  input.addEventListener('input', () => searchFor(input.value));
  const live = make('input', {type: 'checkbox', 'data-filter': 'live'});
  live.addEventListener('change', () => setFilter({live: live.checked}));
  const clear = make('button', {type: 'button', class: 'chip cl-clear'}, t.clear);
  clear.addEventListener('click', () => {
    setFilter({model: '', topic: '', verdict: '', report: '', live: false});
    searchFor('');
    input.focus();
  });
  return make(
    'form',
    {class: 'cl-tools', role: 'search', 'aria-label': t.search},
    make('label', {class: 'cl-field cl-search'}, make('span', {}, t.search), input),
    chooser('model', t.model, data.models, t),
    chooser('topic', t.topic, data.topics, t),
    chooser('verdict', t.verdict, data.verdicts, t),
    chooser('report', t.report, data.reports, t),
    make('label', {class: 'cl-live-only'}, live, make('span', {}, t.live)),
    clear,
  );
}

/** @param {string} id @param {View} view */
function checkButton(id, view) {
  const note = view.data.checks[id],
    busy = running.has(id);
  const label = say(view.data.texts.run, note);
  const button = make(
    'button',
    {
      type: 'button',
      class: 'cl-run',
      'aria-label': label,
      title: label,
      'data-check': id,
      'aria-busy': String(busy),
    },
    busy ? `${note.name} …` : `▷ ${note.name}`,
  );
  button.addEventListener('click', () => view.ask(pressed(id)));
  return button;
}

/** @param {string} id @param {Claim} claim @param {View} view */
function outcome(id, claim, view) {
  const t = view.data.texts,
    result = results[id];
  if (!result) return null;
  const tests = (result.claims || {})[claim.id];
  const line = (/** @type {string} */ text) => make('span', {class: 'cl-value'}, text);
  const body = tests
    ? tests.map(test =>
        make(
          'span',
          {class: 'cl-test', 'data-holds': String(test.holds)},
          line(test.text),
          ' ',
          make('b', {}, t[test.holds === null ? open(result) : test.holds ? 'holds' : 'fails']),
        ),
      )
    : [
        make(
          'span',
          {class: 'cl-test', 'data-holds': 'none'},
          line(result.text),
          ' ',
          result.status === 'waits' || result.status === 'failed'
            ? make('b', {}, t[result.status])
            : null,
        ),
      ];
  const kind = result.published ? t.published : result.on ? `${t.measured}, ${result.on}` : '';
  return make(
    'div',
    {class: `cl-outcome ${result.published ? 'published' : 'measured'}`},
    kind ? make('span', {class: 'cl-kind'}, kind) : null,
    ...body,
  );
}

/** @param {Claim} claim @param {View} view */
function liveCell(claim, view) {
  const t = view.data.texts;
  if (!claim.checks.length) return make('p', {class: 'cl-none'}, t.no_check);
  const left = claim.live.filter(id => !results[id]);
  const partly = claim.live.length && left.length && left.length < claim.live.length;
  return make(
    'div',
    {},
    make('div', {class: 'cl-buttons'}, ...claim.checks.map(id => checkButton(id, view))),
    ...claim.checks.map(id => outcome(id, claim, view)),
    partly
      ? make(
          'p',
          {class: 'cl-none'},
          say(t.partly, {names: left.map(id => view.data.checks[id].name).join(', ')}),
        )
      : null,
  );
}

/** @param {string} name @param {string} label @param {any[]} children */
function cell(name, label, ...children) {
  return make(
    'div',
    {class: `cl-cell cl-${name}`},
    make('span', {class: 'cl-label'}, label),
    ...children,
  );
}

/** @param {string} verdict @param {LedgerData} data */
const badge = (verdict, data) =>
  make(
    'span',
    {class: 'cl-badge', 'data-verdict': verdict},
    make('i', {'aria-hidden': 'true'}, make('span', {}, GLYPHS[verdict])),
    data.verdicts[verdict],
  );

/**
 * The other wordings of a claim, each with where it stands and its own verdict.
 * @param {Claim[]} group
 * @param {View} view
 */
function wordings(group, {data}) {
  if (group.length < 2) return null;
  return make(
    'details',
    {class: 'cl-wordings'},
    make('summary', {}, say(data.texts.wordings, {n: group.length})),
    make(
      'ul',
      {},
      ...group.map(claim =>
        make(
          'li',
          {},
          `“${claim.claim}”, ${data.reports[claim.report]} `,
          badge(claim.verdict, data),
        ),
      ),
    ),
  );
}

/** The numbers that a verdict was computed from. @param {Claim} claim @param {Texts} t */
function numbers(claim, t) {
  if (!claim.numbers.length) return null;
  return make(
    'details',
    {class: 'cl-wordings'},
    make('summary', {}, t.numbers),
    make('ul', {}, ...claim.numbers.map(line => make('li', {}, line))),
  );
}

/** @param {Claim[]} group @param {View} view */
function row(group, view) {
  const {data} = view,
    t = data.texts,
    [claim] = group;
  const models = claim.models.map(key =>
    make('span', {class: 'model-name', 'data-model': key}, data.models[key]),
  );
  return make(
    'li',
    {class: 'cl-row', 'data-claim': claim.id, 'data-verdict': claim.verdict},
    cell(
      'claim',
      t.claim,
      make('p', {class: 'cl-text'}, claim.claim),
      claim.claimed
        ? make(
            'p',
            {class: 'cl-print'},
            `${t.printed} `,
            make('span', {class: 'printed'}, claim.claimed),
          )
        : null,
      make(
        'p',
        {class: 'cl-meta'},
        ...models,
        make('span', {}, data.topics[claim.topic]),
        make('span', {}, data.reports[claim.report]),
      ),
      wordings(group, view),
    ),
    cell('verdict', t.verdict, badge(claim.verdict, data)),
    cell(
      'source',
      t.source,
      make('p', {}, ...linked(claim.found, data.addresses)),
      make('cite', {}, ...linked(claim.source || t.no_source, data.addresses)),
      numbers(claim, t),
    ),
    cell('live', t.here, liveCell(claim, view)),
  );
}

/** @param {View} view */
function refresh(view) {
  const {data, root} = view,
    t = data.texts;
  const claims = matching(view.claims.filter(fits), filter.search),
    groups = together(claims),
    shown = groups.slice(0, view.limit);
  const focused = root.contains(document.activeElement) ? document.activeElement : null,
    claim = focused?.closest('.cl-row')?.getAttribute('data-claim'),
    check = focused?.getAttribute('data-check');
  view.list.replaceChildren(...shown.map(group => row(group, view)));
  const again = claim && marked(view.list, 'data-claim', claim);
  if (again && check) marked(again, 'data-check', check)?.focus();
  view.count.textContent = say(opensWrong() ? t.opened : t.count, {
    n: claims.length,
    total: data.claims.length,
  });
  view.empty.hidden = claims.length > 0;
  view.more.hidden = groups.length <= view.limit;
  view.more.textContent = say(t.more, {n: Math.min(STEP, groups.length - view.limit)});
  /** @type {NodeListOf<HTMLInputElement>} */
  const controls = view.tools.querySelectorAll('[data-filter]');
  for (const control of controls) {
    const value = filter[/** @type {keyof typeof filter} */ (control.dataset.filter)];
    if (typeof value === 'boolean') control.checked = value;
    else if (control.value !== value) control.value = value;
  }
}

/**
 * @param {HTMLElement} root
 * @param {LedgerData} data
 * @param {import('../gradio.js').Context['ask']} ask
 */
function build(root, data, ask) {
  const t = data.texts;
  const view = {
    root,
    data,
    ask,
    claims: data.claims.map(claim => ({...claim, haystack: haystack(claim, data)})),
    limit: PAGE,
    tools: toolbar(data),
    last: JSON.stringify(filter),
    count: make('p', {class: 'cl-count', role: 'status', 'aria-live': 'polite'}),
    head: make(
      'div',
      {class: 'cl-head', 'aria-hidden': 'true'},
      ...[t.claim, t.verdict, t.source, t.here].map(text => make('span', {}, text)),
    ),
    list: make('ul', {class: 'cl-list', 'aria-label': t.claim}),
    empty: make('p', {class: 'cl-empty'}, t.none),
    more: make('button', {type: 'button', class: 'chip cl-more'}),
  };
  view.tools.addEventListener('submit', event => event.preventDefault());
  view.more.addEventListener('click', () => {
    const next = view.list.childElementCount;
    view.limit += STEP;
    refresh(view);
    view.list.children[next]?.querySelector('button')?.focus();
  });
  root.replaceChildren(view.tools, view.count, view.head, view.list, view.empty, view.more);
  return view;
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['search', 'look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {LedgerData} */ data, {ask}) {
  const view = build(root, data, ask);
  listen('ledger', () => {
    const now = JSON.stringify(filter);
    if (now !== view.last) {
      view.last = now;
      view.limit = PAGE;
    }
    refresh(view);
  });
  refresh(view);
  follow();
  hear(follow);
}

/** The search and the filters of a link, and those that Back restores. */
function follow() {
  const search = chosen('search');
  if (search !== null) followLink(search);
}

/** What the live checks have found of a claim so far. @param {Claim} claim */
const foundHere = claim =>
  claim.checks
    .filter(id => results[id])
    .flatMap(id => results[id].claims?.[claim.id]?.map(test => test.text) ?? [results[id].text])
    .join('; ') || null;

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {LedgerData} */ data) {
  const rows = data.claims.map(claim => [
    claim.id,
    claim.claim,
    claim.models.map(key => data.models[key]).join(', '),
    data.topics[claim.topic],
    claim.claimed,
    claim.found,
    claim.source,
    data.verdicts[claim.verdict],
    claim.checks.map(id => data.checks[id].name).join(', '),
    foundHere(claim),
    data.reports[claim.report],
    claim.numbers.join('; ') || null,
  ]);
  return {
    columns: [
      'id',
      'claim',
      'models',
      'topic',
      'printed',
      'found',
      'source',
      'verdict',
      'checks',
      'found_here',
      'report',
      'numbers_compared',
    ],
    rows,
  };
}
