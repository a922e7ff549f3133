// What the reader chose and what the page shows. Three values are kept: the newest question, the
// newest answer, and which question each tab shows; the address bar repeats the answer's.

import {inColumns, sizesOf} from './family.js';

/**
 * @typedef {Record<string, string>} Params a link's fields by name; what is absent is the default
 */
/** @typedef {import('../data').ViewAnswer} Answer */
/** @typedef {import('../data').ViewConfig} Config */

/**
 *  Where a link's folds stand now: of folds that stand on two tabs by now, those beside the one
 *  that was opened last.
 * @param {Record<string, Params>} moved of the tab
 * @param {string} tab
 * @param {string} [folds]
 * @returns {Params}
 */
function nowAt(moved, tab, folds = '') {
  const names = folds.split(',');
  if (!names.some(name => Object.hasOwn(moved, name))) return {};
  const now = names.map(fold => ({tab, fold, ...(Object.hasOwn(moved, fold) ? moved[fold] : {})})),
    last = now[now.length - 1].tab;
  return {
    tab: last,
    fold: [...new Set(now.filter(place => place.tab === last).map(place => place.fold))].join(','),
  };
}

// in the link once chosen, even where it is the default: without it Attention chooses a head by
// itself
const TOLD = ['model'];

export class State {
  /**
   * @param {Config} config
   * @param {{send: () => void, write: (params: Params, isNew: boolean) => void, changed: () =>
   *   void}} page
   */
  constructor(config, page) {
    this.config = config;
    this.page = page;
    /** @type {import('./folds.js').Folds | null} */ this.folds = null; // those of the page
    /** @type {Params} */ this.wanted = {};
    /** @type {Params | null} */ this.accepted = null;
    /** @type {Record<string, string | null>} */ this.shown = {};
    /** @type {string[]} */ this.kept = [];
    this.askedText = ''; // the text of the newest answer as it was typed
    this.refused = false; // the newest answer was a refusal
    this.wrong = ''; // of this text
    this.number = 0;
    this.heard = 0; // the newest question that was answered, or lost
    this.entry = ''; // what the address's place in the browser's history compares, and its tab
  }

  /** The value of a field now, as the reader chose it. @param {string} name */
  get(name) {
    return this.wanted[name] ?? this.config.defaults[name];
  }

  get tab() {
    return this.get('tab');
  }

  /** Whether the page has a tab of that name: a link may hold any. @param {string} tab */
  knows(tab) {
    return Object.hasOwn(this.config.reads, tab);
  }

  /** Every field that any tab reads. */
  get read() {
    return [...new Set(Object.values(this.config.reads).flat())];
  }

  /**
   * What Back brings again: every field of the link, the texts whole; no machine.
   * @returns {Params}
   */
  get view() {
    const params = /** @type {Params} */ (this.accepted ?? {});
    return Object.fromEntries(
      Object.entries(params).filter(([name]) => Object.hasOwn(this.config.defaults, name)),
    );
  }

  /**
   * What a picture depends on: the fields its tab reads.
   * @param {string} tab
   * @param {Params} params
   */
  key(tab, params) {
    return this.printed(this.config.reads[tab], params);
  }

  /** What the folds depend on: every field that any tab reads. */
  get runKey() {
    return this.printed(this.read, this.accepted ?? this.wanted);
  }

  /** @param {string[]} names @param {Params} params */
  printed(names, params) {
    return JSON.stringify(names.map(name => params[name] ?? this.config.defaults[name] ?? ''));
  }

  /**
   * Whether a tab shows something else than the page's text, or nothing where it was asked for.
   * @param {string} tab
   */
  isStale(tab) {
    if (!this.accepted)
      return (
        this.heard > 0 &&
        !this.shown[tab] &&
        (tab === this.tab || this.config.reads[tab].includes('text'))
      );
    return this.shown[tab] !== this.key(tab, this.accepted);
  }

  /**
   * Begin with what a link holds, and what was chosen before it was read.
   * @param {Params} params
   */
  open(params) {
    const known = Object.entries(params).filter(
      ([name]) => Object.hasOwn(this.config.defaults, name) || name === this.config.packed,
    );
    this.wanted = {...Object.fromEntries(known), ...this.wanted};
    if (this.knows(this.tab))
      Object.assign(
        this.wanted,
        nowAt(this.config.moved?.[this.tab] ?? {}, this.tab, this.get('fold')),
      );
    this.ask();
  }

  /** Compare: run what is chosen, also when it is on the page already. @param {Params} changes */
  compare(changes) {
    if ('text' in changes && changes.text !== this.get('text')) {
      // a place in another text means nothing
      for (const name of ['mask', 'at', 'lit', 'other', 'sentiment', 'span'])
        delete this.wanted[name];
      if (!('word' in changes)) delete this.wanted.word;
    }
    if (changes.family) this.leaveColumns(changes.family);
    Object.assign(this.wanted, changes);
    this.ask();
  }

  /**
   * A choice of a column that a family does not have means nothing in it.
   * @param {string} family
   */
  leaveColumns(family) {
    const sizes = sizesOf(family, this.config);
    for (const name of ['model', 'teacher', 'student'])
      if (sizes && !Object.hasOwn(sizes, this.get(name))) delete this.wanted[name];
  }

  /** The fields that another view has otherwise. @param {Params} view */
  differing(view) {
    const {defaults} = this.config;
    return Object.keys(defaults).filter(name => (view[name] ?? defaults[name]) !== this.get(name));
  }

  /** The tabs that have drawn an answer to one of these fields. @param {string[]} names */
  drawnFrom(names) {
    const sources = this.config.drawn_from ?? {};
    return Object.keys(sources).filter(tab => sources[tab].some(name => names.includes(name)));
  }

  /**
   * Back or Forward: the view as it was left; nobody is asked when its text is on the page.
   * @param {Params} view
   */
  walk(view) {
    const {defaults, packed} = this.config,
      tab = this.knows(view.tab) ? view.tab : defaults.tab;
    for (const other of this.drawnFrom(this.differing(view))) delete this.shown[other];
    this.take({...view, tab}, [...Object.keys(defaults), packed]);
    this.entry = this.entryOf(this.wanted);
    if (packed in this.wanted || !this.isThere(tab)) {
      this.ask();
      return;
    }
    // An answer has its text and its models, also where the address has not.
    this.accepted = {...this.wanted, text: this.get('text'), family: this.get('family')};
    this.publish();
  }

  /**
   * Want these fields as they stand there; what is absent is the default.
   * @param {Params} params
   * @param {string[]} names
   */
  take(params, names) {
    for (const name of names) {
      if (params[name] === undefined) delete this.wanted[name];
      else this.wanted[name] = params[name];
    }
  }

  /** Open another view: nothing of the one before is kept. @param {Params} view */
  visit(view) {
    this.take(view, [...Object.keys(this.config.defaults), this.config.packed]);
    this.ask();
  }

  /** Whether a tab shows what is wanted, and no question is under way. @param {string} tab */
  isThere(tab) {
    return (
      this.accepted !== null &&
      this.heard === this.number &&
      this.shown[tab] === this.key(tab, this.wanted) &&
      this.printed(this.read, this.accepted) === this.printed(this.read, this.wanted)
    );
  }

  /**
   * Look at another tab; nobody is asked when it shows this text already. A tab without an answer
   * is asked for again.
   * @param {string} tab
   */
  show(tab) {
    if (tab === this.tab) {
      if (this.heard === this.number && this.isStale(tab)) this.ask();
      return;
    }
    delete this.wanted.fold;
    this.wanted.tab = tab;
    const isThere = this.accepted && this.shown[tab] === this.key(tab, this.wanted);
    if (this.accepted && this.heard === this.number) {
      delete this.accepted.fold;
      this.accepted.tab = tab;
      this.write(); // a place in the history at once, whenever the answer comes
    }
    if (isThere) this.page.changed();
    else this.ask();
  }

  /**
   * What the browser alone decides: a head, a temperature, an open fold.
   * @param {Record<string, string | number | null>} changes
   */
  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      for (const params of [this.wanted, this.accepted]) {
        if (!params) continue;
        if (
          value === null ||
          (String(value) === this.config.defaults[name] && !TOLD.includes(name))
        )
          delete params[name];
        else params[name] = String(value);
      }
    }
    this.write();
  }

  ask() {
    this.number += 1;
    this.page.send();
  }

  /** The question as it is sent: always the newest. */
  question() {
    this.kept = Object.keys(this.shown).filter(
      tab => tab !== this.tab && this.shown[tab] === this.key(tab, this.wanted),
    );
    return {params: this.wanted, number: this.number, keep: this.kept};
  }

  /** @param {Answer} answer */
  answered(answer) {
    /** @type {Params} */
    const params = {...answer.params, text: answer.text, ...answer.machine};
    const tab = params.tab ?? this.config.defaults.tab,
      {columns} = this.config;
    for (const [key, size] of Object.entries(answer.sizes ?? {}))
      columns[key] = [...new Set([...columns[key], size])];
    if (answer.drawn) {
      for (const other of Object.keys(this.shown))
        if (!this.kept.includes(other)) delete this.shown[other];
      this.shown[tab] = this.key(tab, params);
    }
    this.unpack(params);
    this.refused = !answer.accepted;
    this.wrong = this.get('text');
    this.heard = answer.number;
    if (answer.accepted) this.accept(answer, params);
    else if (answer.number === this.number) this.refuse();
    this.publish();
  }

  /** @param {Answer} answer @param {Params} params */
  accept(answer, params) {
    if (answer.number !== this.number) {
      this.accepted = {...params};
      return;
    } // a newer question is under way
    this.askedText = this.get('text');
    // What only the browser decides may have moved on meanwhile; what was repaired is the server's.
    this.take(params, [...this.read, ...answer.repaired]);
    this.accepted = {...this.wanted};
  }

  /** The texts of a link that held them packed: the server has read them. @param {Params} params */
  unpack(params) {
    if (!(this.config.packed in this.wanted)) return;
    delete this.wanted[this.config.packed];
    for (const name of this.config.texts_of)
      if (params[name] !== undefined) this.wanted[name] ??= params[name];
  }

  /**
   * A refused question leaves the page as it was; a tab that does not show that is asked for,
   * unless that was refused.
   */
  refuse() {
    if (!this.accepted) return;
    const tab = this.tab,
      refusedKey = this.key(tab, this.wanted);
    this.wanted = {...this.accepted, tab};
    const key = this.key(tab, this.wanted);
    if (this.shown[tab] !== key && key !== refusedKey) this.ask();
  }

  /** No answer comes to the newest question: the page stays as it was. */
  lost() {
    this.heard = this.number;
    if (this.accepted) this.wanted = {...this.accepted, tab: this.tab};
    this.publish();
  }

  publish() {
    this.write();
    this.page.changed();
  }

  /** What makes two places in the browser's history the same. @param {Params} params */
  entryOf(params) {
    return this.printed([...this.read.filter(name => name in this.config.defaults), 'tab'], params);
  }

  /**
   * The address repeats the newest answer; something else compared, or another tab, is a new place,
   * one step on.
   */
  write() {
    if (!this.accepted || this.heard !== this.number) return; // the answer under way will say it
    const entry = this.entryOf(this.accepted),
      isNew = this.entry !== '' && this.entry !== entry;
    this.entry = entry;
    this.page.write(this.link(), isNew);
  }

  /**
   * Whether a tab shows what a field decides, or a name in one.
   * @param {string} tab
   * @param {string} name
   */
  shows(tab, name) {
    return this.config.shown_by?.[name]?.includes(tab) ?? true;
  }

  /**
   * What a tab shows of a field.
   * @param {string} tab
   * @param {string} name
   * @param {string | undefined} value
   */
  shownOf(tab, name, value) {
    if (!this.shows(tab, name)) return undefined;
    if (!value || !['form', 'look'].includes(name)) return value;
    return value
      .split(',')
      .filter(pair => this.shows(tab, `${name}.${pair.split(/[.:]/)[0]}`))
      .join(',');
  }

  /**
   * The link's parameters: what a tab shows, no defaults but the family, no machine; each text
   * whole.
   * @param {string} [tab]
   * @returns {Params}
   */
  link(tab = this.accepted?.tab ?? this.config.defaults.tab) {
    const params = /** @type {Params} */ ({v: '1', ...inColumns(this.get('family'))});
    for (const name of Object.keys(this.config.defaults)) {
      if (name === 'family') continue;
      const value = this.shownOf(tab, name, this.accepted?.[name]);
      if (value !== undefined && (value !== this.config.defaults[name] || TOLD.includes(name)))
        params[name] = value;
    }
    return params;
  }
}
