// The form of Your texts: a list is pasted, opened or tried; how it is read is said, and can be
// changed.
import {make, say} from '../kit/dom.js';
import {exact} from '../kit/numbers.js';
import {choose, chosen, listen, withState} from '../page/here.js';
import {keepForm, valuesInLink} from '../page/forms.js';
import {deflated} from '../page/pack.js';
import {fade} from '../page/parts.js';

const WAIT = 400,
  KB = 1024; // milliseconds after a key; bytes
const ENDINGS = ['txt', 'csv', 'tsv', 'jsonl', 'json'];
const FIELDS = [
  'name',
  'ending',
  'kind',
  'text',
  'second',
  'answer',
  'good',
  'bad',
  'label',
  'group',
  'pooling',
  'layer',
  'score',
  'long',
  'precision',
  'rows',
];

/**
 * @typedef {{text: string, name: string, source: string, ending: string, kind: string, columns:
 *   Record<string,
 *   string>, pooling: string, layer: string, score: string, long: string,
 *   precision: string}} List
 * `name`: of a bundled list; `source`: a file's name, which may be that of a public data set, and
 * `ending`: its last part, which links hold
 */
/**
 * @typedef {{said?: string, left_out?: string, error?: string, kind?: string, names?: string[],
 *   columns?: Record<string, string>, n_rows?: number, text?: string}} Reading
 */

/** Whether rows of a kind train a regression. @param {string | undefined} kind */
const isTrained = kind => ['labelled', 'multilabel', 'scored'].includes(kind ?? '');

/** @returns {List} */
const none = () => ({
  text: '',
  name: '',
  source: '',
  ending: '',
  kind: '',
  columns: {},
  pooling: 'mean',
  layer: '-1',
  score: 'pll',
  long: 'leave_out',
  precision: 'float32',
});

/** @type {any} */
let view = null; // the form that is in the page
let list = none();
/** @type {Reading} */
let reading = {};
let asked = ''; // the link's own words for what was run last
let newest = 0; // the reading that was asked for last

/** The bytes of a list as they are sent. @param {Uint8Array | string} content */
async function packed(content) {
  const text = await deflated(content);
  if (text.length > view.data.limit * KB - 4 * KB) throw new TooLarge(text.length);
  return text;
}

class TooLarge extends Error {
  /** @param {number} length */
  constructor(length) {
    super();
    this.kb = Math.ceil(length / KB);
  }
}

/** How the list is to be read, as Python is asked. */
const how = () => ({
  name: list.source || (list.ending ? `list.${list.ending}` : ''),
  kind: list.kind,
  columns: list.columns,
  family: view.data.asks[0],
  names: view.data.asks[3],
});

/**
 * Ask how a list is read.
 * @param {() => Promise<Record<string, unknown>>} question
 * @returns {Promise<boolean>} whether it can be run
 */
async function read(question) {
  const mine = ++newest,
    {data, asks} = view;
  /** @type {Reading} */
  let found;
  try {
    found = JSON.parse(await asks(await question()));
  } catch (failure) {
    found = {
      error:
        failure instanceof TooLarge
          ? say(data.texts.too_large, {size: failure.kb, limit: data.limit})
          : data.texts.not_read,
    };
  }
  if (mine !== newest) return false;
  reading = found;
  if (found.text !== undefined) {
    list.text = found.text;
    view.box.value = found.text;
  }
  draw();
  return !found.error;
}

const readBox = () =>
  list.text.trim() ? read(async () => ({packed: await packed(list.text), ...how()})) : forget();

/** Say that there is nothing to run. */
function nothing() {
  newest += 1;
  reading = {error: view.data.texts.empty};
  draw();
  return false;
}

async function forget() {
  newest += 1;
  reading = {};
  draw();
  return false;
}

/** @param {string} name of a bundled list */
function readBundled(name) {
  list = {...none(), name, ending: 'csv'};
  return read(async () => ({list: name}));
}

/** @param {File} file */
async function readFile(file) {
  const ending = file.name.split('.').at(-1).toLowerCase();
  list = {
    ...none(),
    source: file.name,
    ending: ENDINGS.includes(ending) ? ending : ending === 'ndjson' ? 'jsonl' : '',
  };
  return read(async () => ({
    packed: await packed(new Uint8Array(await file.arrayBuffer())),
    file: true,
    ...how(),
  }));
}

/**
 *  Run the list, once it is known how it is read; an answer that stays below a refusal is of
 *  another list, and fades.
 * What the tab is for, where nothing has been answered yet, does not.
 */
async function run() {
  clearTimeout(view.waiting);
  const canRun = list.text.trim() ? await readBox() : nothing();
  fade(reading.error && document.querySelector('#tab-texts .tx-rows') ? ['texts'] : []);
  if (!canRun) return;
  const question = {
    packed: await packed(list.text),
    ...how(),
    pooling: list.pooling,
    layer: Number(list.layer),
    score: list.score,
    too_long: isTrained(reading.kind) ? list.long : '',
    precision: isTrained(reading.kind) ? '' : list.precision,
  };
  keep();
  view.ask(question);
}

/**
 * The link holds a short list, the name of a bundled one, or how many rows of a long one are not in
 * it.
 */
function keep() {
  const {most} = view.data,
    isBundled = list.name !== '',
    fits = list.text.length <= most;
  const places = Object.fromEntries(
    Object.entries(list.columns).map(([role, name]) => [
      role,
      name ? reading.names.indexOf(name) : '-',
    ]),
  );
  const values = {
    ...places,
    kind: list.kind,
    ending: isBundled || list.ending === 'txt' ? '' : list.ending,
    name: list.name.replaceAll('_', '-'),
    pooling: list.pooling === 'mean' ? '' : list.pooling,
    layer: list.layer === '-1' ? '' : list.layer,
    score: list.score === 'pll' ? '' : list.score.replaceAll('_', '-'),
    long: list.long === 'leave_out' ? '' : list.long.replaceAll('_', '-'),
    precision: list.precision === 'float32' ? '' : list.precision,
    rows: isBundled || fits ? '' : reading.n_rows,
  };
  keepForm({
    controls: FIELDS.map(name => ({name: `list.${name}`, usual: ''})),
    values: FIELDS.map(name => values[name] ?? ''),
  });
  choose({list: !isBundled && fits ? list.text : null});
  asked = inLink();
  view.unlinked.textContent =
    isBundled || fits ? '' : say(view.data.texts.no_link, {most: exact(most)});
}

/** What the link says of a list; empty for none. */
function inLink() {
  const fields = valuesInLink('list'),
    rows = chosen('list') ?? '';
  return rows || fields.size ? JSON.stringify([rows, ...[...fields].toSorted()]) : '';
}

/**
 * A link, or Back, brings a list: it is filled in and run; of a long one is said that it is not
 * there.
 */
async function follow() {
  const link = inLink();
  if (!view || chosen('tab') !== 'texts' || !link || link === asked) return;
  asked = link;
  const {data} = view,
    fields = valuesInLink('list'),
    rows = Number(fields.get('rows'));
  const options = {
    pooling: fields.get('pooling') ?? 'mean',
    layer: fields.get('layer') ?? '-1',
    score: (fields.get('score') ?? 'pll').replaceAll('-', '_'),
    long: (fields.get('long') ?? 'leave_out').replaceAll('-', '_'),
    precision: fields.get('precision') ?? 'float32',
  };
  if (rows) {
    reading = {error: say(data.texts.not_linked, {rows: exact(rows), most: exact(data.most)})};
    draw();
    return;
  }
  const name = (fields.get('name') ?? '').replaceAll('-', '_');
  if (name) await readBundled(name);
  else list = {...none(), text: chosen('list') ?? '', ending: fields.get('ending') ?? ''};
  Object.assign(list, options, {kind: fields.get('kind') ?? ''});
  view.box.value = list.text;
  const places = Object.keys(data.roles).filter(role => fields.has(role));
  if (places.length && (await readBox())) {
    list.columns = Object.fromEntries(
      places.map(role => [role, reading.names[Number(fields.get(role))] ?? '']),
    );
  }
  await run();
}

/**
 * @param {string} label
 * @param {Record<string, string>} options
 * @param {string} value
 * @param {(value: string) => void} change
 */
function picker(label, options, value, change) {
  const select = make(
    'select',
    {'aria-label': label},
    ...Object.entries(options).map(([key, text]) => make('option', {value: key}, text)),
  );
  select.value = value;
  select.addEventListener('change', () => change(select.value));
  return make('label', {class: 'tx-field'}, make('span', {}, label), select);
}

/** How the list is read: a sentence, and what of it can be changed. */
function draw() {
  const {data, said, fields, change} = view,
    {texts: t} = data,
    {names = [], error} = reading,
    kind = reading.kind ?? '';
  said.textContent = error ?? [reading.said, reading.left_out].filter(Boolean).join(' ');
  said.classList.toggle('message', Boolean(error));
  change.hidden = !names.length;
  const again = changes => {
    Object.assign(list, changes);
    readBox();
  };
  const columns = {'': t.none, ...Object.fromEntries(names.map(name => [name, name]))};
  const layers = {
    '-1': t.last,
    ...Object.fromEntries(Array.from({length: data.last + 1}, (_, i) => [String(i), String(i)])),
  };
  const held = /** @type {HTMLElement | null} */ (document.activeElement),
    at =
      held && fields.contains(held)
        ? [...fields.querySelectorAll('select')].indexOf(/** @type {any} */ (held))
        : -1;
  fields.replaceChildren(
    picker(t.kind, data.kinds, kind, value => again({kind: value, columns: {}})),
    ...Object.entries(reading.columns ?? {}).map(([role, name]) =>
      picker(data.roles[role], columns, name, value =>
        again({columns: {...reading.columns, [role]: value}}),
      ),
    ),
    ...(isTrained(kind)
      ? [
          picker(t.pooling, data.poolings, list.pooling, value => {
            list.pooling = value;
          }),
          picker(t.layer, layers, list.layer, value => {
            list.layer = value;
          }),
          picker(t.way, data.ways, list.long, value => {
            list.long = value;
          }),
        ]
      : []),
    ...(kind && !isTrained(kind)
      ? [
          picker(t.precision, data.precisions, list.precision, value => {
            list.precision = value;
          }),
        ]
      : []),
    ...(kind === 'pairs'
      ? [
          picker(t.score, data.scores, list.score, value => {
            list.score = value;
          }),
        ]
      : []),
  );
  if (at >= 0) fields.querySelectorAll('select')[at]?.focus();
}

/** @param {HTMLElement} root @param {any} data @param {import('../gradio.js').Context} context */
function build(root, data, {ask, asks}) {
  const t = data.texts;
  const box = make('textarea', {
    'aria-label': t.box,
    placeholder: t.placeholder,
    rows: 3,
    spellcheck: 'false',
    'data-typed': true,
  });
  const button = make('button', {type: 'button', class: 'tx-run'}, t.run),
    file = make('input', {
      type: 'file',
      accept: '.txt,.csv,.tsv,.jsonl,.ndjson,.json,.conll,.conllu,.bio,.iob',
      hidden: true,
      tabindex: -1,
      'aria-label': t.open,
    });
  const open = make('button', {type: 'button', class: 'chip tx-open'}, t.open);
  const said = make('p', {class: 'tx-said', role: 'status'}),
    fields = make('div', {class: 'tx-fields'});
  const change = make(
    'details',
    {class: 'tx-change', hidden: true},
    make('summary', {}, t.change),
    fields,
  );
  const chips = data.lists.map(({name, title}) => {
    const chip = make('button', {type: 'button', class: 'chip', 'data-list': name}, title);
    chip.addEventListener('click', async () => {
      if (await readBundled(name)) run();
    });
    return chip;
  });
  const unlinked = make('p', {class: 'hint tx-unlinked'});
  root.replaceChildren(
    make('div', {class: 'tx-row'}, box, button),
    make(
      'div',
      {class: 'tries'},
      make('span', {class: 'lead'}, t.try),
      make(
        'div',
        {class: 'chips', 'data-rove': true, role: 'group', 'aria-label': t.try},
        ...chips,
      ),
      open,
      file,
    ),
    said,
    change,
    unlinked,
  );
  chips.forEach((chip, i) => {
    chip.tabIndex = i ? -1 : 0;
  });
  // what takes the place of the whole list says itself how it is read; an edit leaves that as it is
  let isAnother = false;
  box.addEventListener('beforeinput', () => {
    isAnother = !(
      box.value.slice(0, box.selectionStart) + box.value.slice(box.selectionEnd)
    ).trim();
  });
  box.addEventListener('input', () => {
    Object.assign(list, isAnother || !box.value.trim() ? none() : {}, {text: box.value, name: ''});
    isAnother = false;
    clearTimeout(view.waiting);
    view.waiting = setTimeout(readBox, WAIT);
  });
  box.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  button.addEventListener('click', run);
  open.addEventListener('click', () => file.click());
  file.addEventListener('change', () => {
    if (file.files.length)
      readFile(file.files[0]).then(() => {
        file.value = '';
      });
  });
  box.addEventListener('dragover', event => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  box.addEventListener('drop', event => {
    const [dropped] = event.dataTransfer?.files ?? [];
    if (!dropped) return;
    event.preventDefault();
    readFile(dropped);
  });
  return {root, data, ask, asks, box, button, said, fields, change, unlinked, waiting: 0};
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, context) {
  if (view?.root === root && root.firstChild && String(view.data.asks) === String(data.asks))
    return; // the same models: what stands there stays
  view = build(root, data, context);
  view.box.value = list.text;
  asked = ''; // other models: what the link holds is asked anew
  draw();
  withState(follow);
}

listen(follow);

/** @type {import('../gradio.js').Picture['table']} */
export const table = () => ({columns: ['text'], rows: list.text.split('\n').map(line => [line])});
