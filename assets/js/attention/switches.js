// Every head as a switch: click, walk with the arrow keys, Space; darker heads matter more.
import {closest, make, say as fill, vary} from '../kit/dom.js';
import {power} from '../kit/numbers.js';
import {look} from '../page/look.js';

/**
 * @typedef {import('../data').SwitchesData} SwitchesData
 * @typedef {import('../data').SwitchesModel} SwitchesModel
 * @typedef {import('../data').SwitchesCard} SwitchesCard
 * @typedef {SwitchesModel & {cells: HTMLElement[], counter: HTMLElement}} Column a model, the
 *   switches of its heads and how many of them are off
 * @typedef {import('../gradio.js').Context['ask']} Ask
 */

/** @param {number} value */
const nats = value =>
  value >= 0.0995
    ? value.toFixed(2)
    : value >= 0.001
      ? value.toFixed(3)
      : value === 0
        ? '0'
        : power(value);

// a mark of the text, then each model with its heads that are off as the bits of a number
const kept = look('off', '');
const MAX = 200; // letters of it in a link

/** @param {string} text */
const markOf = text =>
  [...text]
    .reduce((mark, letter) => (31 * mark + Number(letter.codePointAt(0))) % 4294967291, 7)
    .toString(36);

/** Heads as the bits of a number. @param {Iterable<number>} heads */
const packed = heads =>
  [...heads].reduce((bits, head) => bits | (1n << BigInt(head)), 0n).toString(36);

/** The heads of a number, in base 36. @param {string} digits @param {number} most */
function unpacked(digits, most) {
  const bits = [...digits].reduce((sum, digit) => 36n * sum + BigInt(parseInt(digit, 36)), 0n);
  return Array.from({length: most}, (_, head) => head).filter(head => (bits >> BigInt(head)) & 1n);
}

/**
 * By their place: what is off survives new numbers for the same text.
 * @type {WeakMap<HTMLElement, Switches>}
 */
const shown = new WeakMap();

/**
 * @template {SwitchesModel} M
 * @param {M | SwitchesCard} model
 * @returns {model is M}
 */
const hasHeads = model => !('card' in model);

class Switches {
  /** @param {HTMLElement} root @param {SwitchesData} data @param {Ask} ask */
  constructor(root, data, ask) {
    this.data = data;
    this.ask = ask;
    this.of = ''; // what these switches are of
    /** @type {(Column | SwitchesCard)[]} */
    this.columns = [];
    /** @type {Column[]} */
    this.models = []; // the columns with switches
    this.strongest = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Record<string, Set<number>>} */
    this.off = {};
    /** @type {[string, number] | null} */
    this.focus = null;
    this.linked = ''; // what of the link these switches show
    this.node = make('div', {class: 'hs'});
    root.replaceChildren(this.node);
  }

  /** @param {SwitchesData} data @param {Ask} ask */
  set(data, ask) {
    const of = JSON.stringify([data.text, data.models], (name, value) =>
      name === 'nats' ? undefined : value,
    );
    const isSame = of === this.of;
    if (!isSame) {
      this.off = {};
      this.focus = null;
      this.linked = '';
    }
    this.data = data;
    this.ask = ask;
    this.of = of;
    this.columns = data.models.map(model =>
      hasHeads(model) ? {...model, cells: [], counter: make('span', {class: 'badge'})} : model,
    );
    this.models = this.columns.filter(hasHeads);
    const isSwept = this.models.some(model => model.nats.length);
    for (const model of this.models) this.off[model.key] = this.off[model.key] || new Set();
    this.strongest = Math.max(0, ...this.models.flatMap(model => model.nats.flat()));
    const held = this.node.contains(document.activeElement);
    const isLinked = this.follow();
    this.build();
    if (held && this.focus) this.cell(this.focus)?.focus();
    // The same switches again, as the fold was opened before the page's own answer: its sentence
    // says that all are on.
    if (isLinked || (isSame && !isSwept && this.models.some(model => this.off[model.key].size)))
      this.update(...this.models);
  }

  /** Switch off what the link says, where it is of this text; whether anything changed. */
  follow() {
    if (this.linked === kept.value) return false; // also what is too long for a link stays
    const [mark, ...fields] = kept.value.split('.'),
      isMine = mark === markOf(this.data.text),
      before = JSON.stringify(this.headsOff());
    this.linked = kept.value;
    for (const model of this.models) {
      const at = fields.indexOf(model.key);
      this.off[model.key] = new Set(
        isMine && at >= 0 ? unpacked(fields[at + 1], model.layers * model.heads) : [],
      );
    }
    return before !== JSON.stringify(this.headsOff());
  }

  keep() {
    const off = this.models
      .filter(model => this.off[model.key].size)
      .map(model => `${model.key}.${packed(this.off[model.key])}`);
    const value = [markOf(this.data.text), ...off].join('.');
    kept.value = this.linked = off.length && value.length <= MAX ? value : '';
  }

  build() {
    const {texts} = this.data;
    const swept =
      this.models.length > 0 && this.models.every(model => model.nats.length === model.layers);
    /** @param {string} label @param {() => void} act */
    const chip = (label, act) => {
      const button = make('button', {type: 'button', class: 'chip', text: label});
      button.addEventListener('click', act);
      return button;
    };
    const chips = make(
      'div',
      {class: 'chips hs-chips'},
      chip(texts.all_on, () => this.choose(() => [])),
      chip(texts.all_off, () => this.choose(model => this.all(model))),
      swept &&
        chip(fill(texts.strongest, {n: 5}), () =>
          this.choose(model => this.ranked(model).slice(0, 5)),
        ),
      swept &&
        chip(texts.weakest, () =>
          this.choose(model =>
            this.ranked(model).slice(-Math.floor((model.layers * model.heads) / 2)),
          ),
        ),
    );
    const columns = this.columns.map(model =>
      hasHeads(model) ? this.column(model) : this.card(model),
    );
    const scale = this.strongest ? fill(texts.scale, {low: 0, high: nats(this.strongest)}) : '';
    this.node.replaceChildren(
      chips,
      make('div', {class: 'columns'}, ...columns),
      make('p', {class: 'note how', text: texts.hint}),
      scale ? make('p', {class: 'note scale', text: scale}) : '',
    );
  }

  /** @param {Column} model */
  all(model) {
    return Array.from({length: model.layers * model.heads}, (_, i) => i);
  }

  /** @param {Column} model */
  ranked(model) {
    const flat = model.nats.flat();
    return this.all(model).sort((a, b) => flat[b] - flat[a]);
  }

  /** @param {SwitchesCard} model */
  card(model) {
    return make(
      'section',
      {class: 'card plain', 'data-model': model.key},
      make('h3', {text: model.label}),
      make('p', {text: model.card}),
    );
  }

  /** @param {Column} model */
  column(model) {
    const {texts} = this.data,
      grid = make('div', {
        class: 'hs-grid',
        role: 'grid',
        'aria-label': fill(texts.grid, {model: model.label}),
      });
    grid.style.gridTemplateColumns = `30px repeat(${model.heads}, minmax(16px, 1fr))`;
    for (let layer = 0; layer < model.layers; layer++) {
      const name = make('button', {
        type: 'button',
        class: 'hs-layer',
        text: layer + 1,
        'aria-label': fill(texts.layer, {layer: layer + 1}),
      });
      name.addEventListener('click', () => this.flipLayer(model, layer));
      const row = make(
        'div',
        {role: 'row', class: 'hs-row'},
        make('span', {role: 'rowheader'}, name),
      );
      for (let head = 0; head < model.heads; head++) row.append(this.switch(model, layer, head));
      grid.append(row);
    }
    grid.addEventListener('keydown', event => this.key(event, model));
    this.count(model);
    return make(
      'section',
      {class: 'hs-column', 'data-model': model.key},
      make(
        'h3',
        {},
        make('span', {class: 'model-name', text: model.label}),
        document.createTextNode(' '),
        model.counter,
      ),
      grid,
    );
  }

  /** @param {Column} model @param {number} layer @param {number} head */
  switch(model, layer, head) {
    const value = model.nats[layer]?.[head],
      i = layer * model.heads + head;
    const cell = make('button', {
      type: 'button',
      role: 'gridcell',
      class: 'hs-head',
      'data-cell': `${model.key}/${i}`,
      tabindex: i ? '-1' : '0',
    });
    if (value !== undefined && this.strongest) {
      vary(cell, '--share', Math.round(100 * Math.sqrt(value / this.strongest)));
      cell.classList.add('known');
    }
    this.name(cell, model, layer, head);
    model.cells[i] = cell;
    cell.addEventListener('click', () => {
      this.flip(model, i);
      this.focus = [model.key, i];
    });
    cell.addEventListener('focus', () => {
      this.focus = [model.key, i];
    });
    return cell;
  }

  /**
   * @param {HTMLElement} cell
   * @param {Column} model
   * @param {number} layer
   * @param {number} head
   */
  name(cell, model, layer, head) {
    const {texts} = this.data,
      off = this.off[model.key].has(layer * model.heads + head),
      value = model.nats[layer]?.[head];
    const parts = [
      fill(texts.head, {model: model.label, layer: layer + 1, head: head + 1}),
      off ? texts.off : texts.on,
    ];
    if (value !== undefined) parts.push(fill(texts.alone, {nats: nats(value)}));
    cell.setAttribute('aria-label', parts.join(', '));
    cell.title = parts.join(', ');
    cell.setAttribute('aria-selected', String(off));
    cell.classList.toggle('off', off);
  }

  /** @param {[string, number]} head */
  cell([key, i]) {
    return this.models.find(model => model.key === key)?.cells[i];
  }

  /** @param {KeyboardEvent} event @param {Column} model */
  key(event, model) {
    const cell = closest(event, '[data-cell]');
    if (!cell) return;
    const i = model.cells.indexOf(cell),
      {heads, layers} = model;
    /** @type {Record<string, number>} */
    const steps = {
      ArrowRight: i % heads < heads - 1 ? 1 : 0,
      ArrowLeft: i % heads ? -1 : 0,
      ArrowDown: i + heads < heads * layers ? heads : 0,
      ArrowUp: i >= heads ? -heads : 0,
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = model.cells[i + steps[event.key]];
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  /** @param {Column} model @param {number} i */
  flip(model, i) {
    const off = this.off[model.key];
    if (!off.delete(i)) off.add(i);
    this.keep();
    this.update(model);
  }

  /** @param {Column} model @param {number} layer */
  flipLayer(model, layer) {
    const off = this.off[model.key],
      row = Array.from({length: model.heads}, (_, head) => layer * model.heads + head);
    const all = row.every(i => off.has(i));
    for (const i of row)
      if (all) off.delete(i);
      else off.add(i);
    this.keep();
    this.update(model);
  }

  /** @param {(model: Column) => number[]} pick */
  choose(pick) {
    for (const model of this.models) this.off[model.key] = new Set(pick(model));
    this.keep();
    this.update(...this.models);
  }

  /** @param {Column[]} models */
  update(...models) {
    for (const model of models) {
      model.cells.forEach((cell, i) =>
        this.name(cell, model, Math.floor(i / model.heads), i % model.heads),
      );
      this.count(model);
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), 120); // a run of clicks asks once
  }

  /** @param {Column} model */
  count(model) {
    model.counter.textContent = fill(this.data.texts.count, {
      off: this.off[model.key].size,
      all: model.layers * model.heads,
    });
  }

  /** What is off: [layer, head] by model. */
  headsOff() {
    return Object.fromEntries(
      this.models.map(model => [
        model.key,
        [...this.off[model.key]]
          .sort((a, b) => a - b)
          .map(i => [Math.floor(i / model.heads), i % model.heads]),
      ]),
    );
  }

  send() {
    this.ask({off: this.headsOff()});
  }
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {SwitchesData} */ data, {ask}) {
  const switches = shown.get(root) ?? new Switches(root, data, ask);
  shown.set(root, switches);
  switches.set(data, ask);
}

/** @type {NonNullable<import('../gradio.js').Picture['clear']>} */
export function clear(root) {
  clearTimeout(shown.get(root)?.timer);
  shown.delete(root);
  root.replaceChildren();
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {SwitchesData} */ data) {
  const rows = data.models.filter(hasHeads).flatMap(model =>
    Array.from({length: model.layers * model.heads}, (_, i) => {
      const layer = Math.floor(i / model.heads),
        head = i % model.heads;
      return [model.label, layer + 1, head + 1, model.nats[layer]?.[head] ?? null];
    }),
  );
  return {columns: ['model', 'layer', 'head', 'nats_lost_without_it'], rows};
}
