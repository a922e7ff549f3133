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

class TooLarge extends Error {
  /** @param {number} length */
  constructor(length) {
    super();
    this.kb = Math.ceil(length / KB);
  }
}

/** What the link says of a list; empty for none. */
function inLink() {
  const fields = valuesInLink('list'),
    rows = chosen('list') ?? '';
  return rows || fields.size ? JSON.stringify([rows, ...[...fields].toSorted()]) : '';
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

/** One form: its list, how that is read, and its elements. */
class ListForm {
  /**
   * @param {HTMLElement} root
   * @param {import('../data').ListFormData} data
   * @param {import('../gradio.js').Context} context
   */
  constructor(root, data, context) {
    const {texts: t} = data;
    this.root = root;
    this.data = data;
    this.context = context;
    this.list = none();
    /** @type {Reading} */
    this.reading = {};
    this.linked = ''; // the link's own words for what was run last
    this.newest = 0; // the reading that was asked for last
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined; // reads what was typed
    this.isAnother = false; // what is typed replaces the whole list
    const box = {'aria-label': t.box, placeholder: t.placeholder, rows: 3, spellcheck: 'false'};
    this.box = make('textarea', {...box, 'data-typed': true});
    this.status = make('p', {class: 'tx-said', role: 'status'});
    this.fields = make('div', {class: 'tx-fields'});
    const summary = make('summary', {}, t.change);
    this.change = make('details', {class: 'tx-change', hidden: true}, summary, this.fields);
    this.unlinked = make('p', {class: 'hint tx-unlinked'});
    this.hearBox();
    listen(() => this.follow());
  }

  /**
   * Show the form for the page's models; what it shows for the same models stays.
   * @param {import('../data').ListFormData} data
   * @param {import('../gradio.js').Context} context
   */
  show(data, context) {
    if (this.root.contains(this.box) && String(this.data.asks) === String(data.asks)) return;
    Object.assign(this, {data, context});
    this.build();
    this.box.value = this.list.text;
    this.unlinked.textContent = '';
    this.linked = ''; // other models: what the link holds is asked anew
    this.draw();
    withState(() => this.follow());
  }

  /** The bytes of a list as they are sent. @param {Uint8Array | string} content */
  async packed(content) {
    const text = await deflated(content);
    if (text.length > this.data.limit * KB - 4 * KB) throw new TooLarge(text.length);
    return text;
  }

  /** How the list is to be read, as Python is asked. */
  how() {
    const {source, ending, kind, columns} = this.list,
      [family, , , names] = this.data.asks;
    return {name: source || (ending ? `list.${ending}` : ''), kind, columns, family, names};
  }

  /**
   * Ask how a list is read.
   * @param {() => Promise<Record<string, unknown>>} question
   * @returns {Promise<boolean>} whether it can be run
   */
  async read(question) {
    const mine = ++this.newest,
      {data, context} = this;
    /** @type {Reading} */
    let reading;
    try {
      reading = JSON.parse(await context.asks(await question()));
    } catch (failure) {
      reading = {
        error:
          failure instanceof TooLarge
            ? say(data.texts.too_large, {size: failure.kb, limit: data.limit})
            : data.texts.not_read,
      };
    }
    if (mine !== this.newest) return false;
    if (reading.text !== undefined) {
      this.list.text = reading.text;
      this.box.value = reading.text;
    }
    return this.use(reading);
  }

  /**
   * Show how the list is read.
   * @param {Reading} reading
   * @returns {boolean} whether it can be run
   */
  use(reading) {
    this.reading = reading;
    this.draw();
    return !reading.error;
  }

  /** Read what the box holds; an empty box forgets how the last list was read. */
  async readBox() {
    const {text} = this.list;
    if (text.trim())
      return this.read(async () => ({packed: await this.packed(text), ...this.how()}));
    this.newest += 1;
    this.use({});
    return false;
  }

  /** @param {string} name of a bundled list */
  readBundled(name) {
    this.list = {...none(), name, ending: 'csv'};
    return this.read(async () => ({list: name}));
  }

  /** @param {File} file */
  readFile(file) {
    const ending = (file.name.split('.').at(-1) ?? '').toLowerCase();
    this.list = {
      ...none(),
      source: file.name,
      ending: ENDINGS.includes(ending) ? ending : ending === 'ndjson' ? 'jsonl' : '',
    };
    return this.read(async () => ({
      packed: await this.packed(new Uint8Array(await file.arrayBuffer())),
      file: true,
      ...this.how(),
    }));
  }

  /** Whether there is a list that can be run; says why not. */
  async canRun() {
    if (this.list.text.trim()) return this.readBox();
    this.newest += 1;
    return this.use({error: this.data.texts.empty});
  }

  /**
   * Run the list, once it is known how it is read. An answer below a refusal is of another list,
   * and fades; the tab's introduction does not.
   */
  async run() {
    clearTimeout(this.timer);
    const canRun = await this.canRun();
    fade(this.reading.error && document.querySelector('#tab-texts .tx-rows') ? ['texts'] : []);
    if (!canRun) return;
    const {list, reading} = this;
    const question = {
      packed: await this.packed(list.text),
      ...this.how(),
      pooling: list.pooling,
      layer: Number(list.layer),
      score: list.score,
      too_long: isTrained(reading.kind) ? list.long : '',
      precision: isTrained(reading.kind) ? '' : list.precision,
    };
    this.keep();
    this.context.ask(question);
  }

  /**
   * The link holds a short list, the name of a bundled one, or how many rows of a long one are not
   * in it.
   */
  keep() {
    const {list, reading} = this,
      {most, texts} = this.data,
      isBundled = list.name !== '',
      fits = list.text.length <= most;
    const places = Object.fromEntries(
      Object.entries(list.columns).map(([role, name]) => [
        role,
        name ? (reading.names ?? []).indexOf(name) : '-',
      ]),
    );
    /** @type {Record<string, string | number | undefined>} */
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
    this.linked = inLink();
    this.unlinked.textContent = isBundled || fits ? '' : say(texts.no_link, {most: exact(most)});
  }

  /**
   * A link, or Back, brings a list: it is filled in and run; of a long one is said that it is not
   * there.
   */
  async follow() {
    const link = inLink(),
      {data} = this;
    if (!this.root.isConnected || chosen('tab') !== 'texts' || !link || link === this.linked)
      return;
    this.linked = link;
    const fields = valuesInLink('list'),
      rows = Number(fields.get('rows'));
    const options = {
      pooling: fields.get('pooling') ?? 'mean',
      layer: fields.get('layer') ?? '-1',
      score: (fields.get('score') ?? 'pll').replaceAll('-', '_'),
      long: (fields.get('long') ?? 'leave_out').replaceAll('-', '_'),
      precision: fields.get('precision') ?? 'float32',
    };
    if (rows) {
      this.use({error: say(data.texts.not_linked, {rows: exact(rows), most: exact(data.most)})});
      return;
    }
    const name = (fields.get('name') ?? '').replaceAll('-', '_');
    if (name) await this.readBundled(name);
    else this.list = {...none(), text: chosen('list') ?? '', ending: fields.get('ending') ?? ''};
    const {list} = this;
    Object.assign(list, options, {kind: fields.get('kind') ?? ''});
    this.box.value = list.text;
    const places = Object.keys(data.roles).filter(role => fields.has(role));
    if (places.length && (await this.readBox())) {
      list.columns = Object.fromEntries(
        places.map(role => [role, this.reading.names?.[Number(fields.get(role))] ?? '']),
      );
    }
    await this.run();
  }

  /** Change the list's options without reading it again. @param {Partial<List>} options */
  set(options) {
    Object.assign(this.list, options);
  }

  /** Read the list again in another way. @param {Partial<List>} changes */
  readAgain(changes) {
    this.set(changes);
    this.readBox();
  }

  /** How the list is read: a sentence, and what of it can be changed. */
  draw() {
    const {status, fields, change} = this,
      {names = [], error, said: sentence, left_out: leftOut} = this.reading;
    status.textContent = error ?? [sentence, leftOut].filter(Boolean).join(' ');
    status.classList.toggle('message', Boolean(error));
    change.hidden = !names.length;
    const focused = /** @type {HTMLElement | null} */ (document.activeElement),
      at =
        focused && fields.contains(focused)
          ? [...fields.querySelectorAll('select')].indexOf(/** @type {any} */ (focused))
          : -1;
    fields.replaceChildren(...this.pickers());
    if (at >= 0) fields.querySelectorAll('select')[at]?.focus();
  }

  /** The menus for what can be changed in how the list is read and run. */
  pickers() {
    const {data, reading, list} = this,
      {texts: t} = data,
      {names = [], kind = ''} = reading;
    const columns = {'': t.none, ...Object.fromEntries(names.map(name => [name, name]))};
    const layers = {
      '-1': t.last,
      ...Object.fromEntries(Array.from({length: data.last + 1}, (_, i) => [String(i), String(i)])),
    };
    const forTraining = () => [
      picker(t.pooling, data.poolings, list.pooling, pooling => this.set({pooling})),
      picker(t.layer, layers, list.layer, layer => this.set({layer})),
      picker(t.way, data.ways, list.long, long => this.set({long})),
    ];
    const forScores = () =>
      picker(t.precision, data.precisions, list.precision, precision => this.set({precision}));
    const forPairs = () => picker(t.score, data.scores, list.score, score => this.set({score}));
    return [
      picker(t.kind, data.kinds, kind, value => this.readAgain({kind: value, columns: {}})),
      ...Object.entries(reading.columns ?? {}).map(([role, name]) =>
        picker(data.roles[role], columns, name, value =>
          this.readAgain({columns: {...reading.columns, [role]: value}}),
        ),
      ),
      ...(isTrained(kind) ? forTraining() : []),
      ...(kind && !isTrained(kind) ? [forScores()] : []),
      ...(kind === 'pairs' ? [forPairs()] : []),
    ];
  }

  /** Put the form's elements in place. */
  build() {
    const {root, data} = this,
      {texts: t} = data;
    const button = make('button', {type: 'button', class: 'tx-run'}, t.run);
    button.addEventListener('click', () => this.run());
    const group = {class: 'chips', 'data-rove': true, role: 'group', 'aria-label': t.try},
      chips = data.lists.map((bundled, i) => this.chip(bundled, i));
    root.replaceChildren(
      make('div', {class: 'tx-row'}, this.box, button),
      make(
        'div',
        {class: 'tries'},
        make('span', {class: 'lead'}, t.try),
        make('div', group, ...chips),
        ...this.opener(),
      ),
      this.status,
      this.change,
      this.unlinked,
    );
  }

  /** A button with a bundled list. @param {Record<string, string>} bundled @param {number} i */
  chip({name, title}, i) {
    const chip = make('button', {type: 'button', class: 'chip', 'data-list': name}, title);
    chip.tabIndex = i ? -1 : 0;
    chip.addEventListener('click', async () => {
      if (await this.readBundled(name)) this.run();
    });
    return chip;
  }

  /** The button that opens a file, and the field behind it. */
  opener() {
    const {open: label} = this.data.texts;
    const file = make('input', {
      type: 'file',
      accept: '.txt,.csv,.tsv,.jsonl,.ndjson,.json,.conll,.conllu,.bio,.iob',
      hidden: true,
      tabindex: -1,
      'aria-label': label,
    });
    const open = make('button', {type: 'button', class: 'chip tx-open'}, label);
    open.addEventListener('click', () => file.click());
    file.addEventListener('change', async () => {
      const [chosen] = file.files ?? [];
      if (!chosen) return;
      await this.readFile(chosen);
      file.value = '';
    });
    return [open, file];
  }

  hearBox() {
    const {box} = this;
    // what takes the place of the whole list says itself how it is read; an edit leaves that as it
    // is
    box.addEventListener('beforeinput', () => {
      this.isAnother = !(
        box.value.slice(0, box.selectionStart) + box.value.slice(box.selectionEnd)
      ).trim();
    });
    box.addEventListener('input', () => {
      this.set({...(this.isAnother || !box.value.trim() ? none() : {}), text: box.value, name: ''});
      this.isAnother = false;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.readBox(), WAIT);
    });
    box.addEventListener('keydown', event => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.run();
      }
    });
    box.addEventListener('dragover', event => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    box.addEventListener('drop', event => {
      const [dropped] = event.dataTransfer?.files ?? [];
      if (!dropped) return;
      event.preventDefault();
      this.readFile(dropped);
    });
  }
}

/** @type {WeakMap<HTMLElement, ListForm>} */
const forms = new WeakMap();

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, context) {
  const form = forms.get(root) ?? new ListForm(root, data, context);
  forms.set(root, form);
  form.show(data, context);
}

/** @type {import('../gradio.js').Picture['table']} */
export const table = (_, root) => ({
  columns: ['text'],
  rows: ((root && forms.get(root)?.list.text) ?? '').split('\n').map(line => [line]),
});
