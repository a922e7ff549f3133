// The chosen head of one model beside its counterparts in the others.
import {choice, picker} from '../kit/choice.js';
import {copied} from '../kit/clipboard.js';
import {make, note, say, sayFor, the} from '../kit/dom.js';
import {menuOf} from '../kit/menus.js';
import {fixed, wholePercent} from '../kit/numbers.js';
import {explainer} from '../kit/term.js';
import {choose, chosen} from '../page/here.js';
import {look} from '../page/look.js';
import {
  apartOf,
  apartText,
  betweenWords,
  headName,
  partnersOf,
  sameHead,
  shareOfKind,
  wordLabel,
} from './heads.js';
import {Lines} from './lines.js';
import {Matrix} from './matrix.js';
import {Zoom} from './zoom.js';

const SAID_MS = 1500;
const kept = {
  unit: look('unit', 'words'),
  added: look('added', 'shown'),
  others: look('others', 'closest'),
  mass: look('mass', 70),
};

/**
 * @typedef {import('./heads.js').Head} Head
 * @typedef {import('./matrix.js').Cell} Cell
 * @typedef {{labels: string[], values: Float64Array, n: number, exact: boolean, pieces: boolean,
 *   keep: number[]}} Square the numbers that are drawn; `keep`: the words or pieces of its rows
 * @typedef {{key: string, title: string, detail: string, square: Square, picture:
 *   import('./lines.js').LinesPicture}} Shape what one panel shows
 * @typedef {{shape: Shape, picture: Lines | Matrix, title: HTMLElement, detail: HTMLElement,
 *   reading: HTMLElement, copy: HTMLButtonElement, figure: HTMLElement}} Panel
 */

export class Lens {
  /** @param {import('./wall.js').Wall} host the wall it belongs to */
  constructor(host) {
    this.host = host;
    this.isLacking = false; // what was asked for last could not be had
    this.isAlone = host.wall.models.length < 2; // there is no difference of one model
    this.view =
      this.isAlone && chosen('view') === 'difference' ? 'matrix' : (chosen('view') ?? 'matrix');
    const {texts} = host.wall;
    /** @param {'unit' | 'added' | 'others'} name @param {string} options */
    const known = (name, options) =>
      Object.hasOwn(texts[options], kept[name].value)
        ? kept[name].value
        : Object.keys(texts[options])[0];
    this.unit = known('unit', 'units');
    this.added = known('added', 'addeds');
    this.others = known('others', 'otherses');
    this.mass = Math.min(100, Math.max(10, Number(kept.mass.value) || 70)) / 100;
    /** @type {Cell | null} */
    this.cell = null; // the marked one
    this.width = 0;
    this.told = ''; // the line below the heads
    /** @type {Head[]} */
    this.heads = [];
    /** @type {Panel[]} */
    this.parts = [];
    this.drawnKey = ''; // what the panels were made for
    this.zoom = new Zoom(texts.zoom, 'zoom', host.wall.words.length);
    this.node = make('section', {class: 'aw-lens'});
    this.units = this.control('unit', 'units', choice);
    this.slider = make('input', {
      type: 'range',
      min: '10',
      max: '100',
      step: '5',
      value: String(this.mass * 100),
    });
    this.sliderText = make('span');
    this.sliderLabel = make('label', {class: 'aw-mass'}, this.sliderText, this.slider);
    this.panels = make('div', {class: 'aw-panels'});
    this.note = make('div');
    this.live = make('p', {class: 'sr-only', role: 'status'});
    this.build();
    this.observer = new ResizeObserver(() => {
      if (this.node.clientWidth !== this.width) this.draw();
    });
    this.observer.observe(this.node);
  }

  /** @param {'view' | 'unit' | 'added' | 'others'} name @param {string} value */
  keep(name, value) {
    this[name] = value;
    if (name === 'view') choose({view: value});
    else kept[name].value = value;
    if (name === 'others') {
      this.host.others = value;
      this.host.drawOver();
      this.host.ask();
    }
    this.draw();
  }

  /** @param {number} mass */
  keepMass(mass) {
    this.mass = mass;
    kept.mass.value = String(Math.round(100 * mass));
    this.draw();
  }

  /**
   * @param {'view' | 'unit' | 'added' | 'others'} name
   * @param {string} options
   * @param {typeof choice | typeof picker} kind
   */
  control(name, options, kind = picker) {
    const {texts} = this.host.wall;
    return kind(texts[name], texts[options], this[name], key => this.keep(name, key));
  }

  build() {
    const {texts} = this.host.wall;
    const views = this.control('view', 'views', choice);
    /** @type {HTMLButtonElement} */ (the(views, '[data-key=difference]')).disabled = this.isAlone;
    this.slider.addEventListener('input', () => this.keepMass(Number(this.slider.value) / 100));
    this.node.replaceChildren(
      make('h3', {text: texts.chosen_head}),
      make(
        'div',
        {class: 'aw-bar'},
        views,
        this.units,
        this.control('added', 'addeds'),
        this.control('others', 'otherses'),
        this.sliderLabel,
      ),
      this.panels,
      this.note,
      this.live,
      menuOf(this.host.root, this.part()) ?? '',
    );
  }

  /**
   * What its menu saves: the matrices, or their differences, as they are drawn.
   * @returns {import('../kit/menus.js').Part}
   */
  part() {
    const lens = this;
    return {
      get kind() {
        return lens.view === 'difference' ? 'attention/difference' : 'attention/matrices';
      },
      root: this.panels,
      picture: {
        table: () => this.table(),
        header: () => this.header(),
        theme: () => this.host.recolour(),
      },
      data: null,
    };
  }

  /** What was chosen, and what stands above each head's matrix. */
  header() {
    const {wall, lock} = this.host,
      {view, added, others, mass} = this;
    const heads = this.heads.map(head => {
      const model = wall.models[head.m],
        apart = sameHead(head, lock) ? null : apartOf(wall, head, lock);
      return {
        head: headName(wall, head),
        share_of_kind: shareOfKind(model, head.i),
        entropy_nats: model.entropy[head.i],
        distance_words: model.distance[head.i],
        js_from_the_chosen: apart,
      };
    });
    const unit = this.parts.every(({shape}) => shape.square.pieces) ? 'pieces' : 'words',
      isExact = this.parts.every(({shape}) => shape.square.exact);
    return {
      state: {
        view,
        unit,
        added,
        others,
        ...(view === 'lines' ? {mass} : this.zoom.header()),
        ...(isExact ? {} : {rounded: 'to 1 of 255 steps'}),
      },
      heads,
    };
  }

  table() {
    const names =
      this.view === 'difference'
        ? ['heads', 'query', 'key', 'difference']
        : ['head', 'query', 'key', 'attention'];
    const rows = this.parts.flatMap(
      ({
        shape: {
          title,
          square: {labels, values, n},
        },
      }) => [...values].map((value, i) => [title, labels[Math.floor(i / n)], labels[i % n], value]),
    );
    return {columns: names, rows};
  }

  // The server could not be asked: what is drawn stays, and says that it is rounded.
  lacks() {
    this.isLacking = true;
    this.say(this.host.wall.texts.lacking);
  }

  /**
   * The line below the heads; what a reader has opened stays open while it is the same.
   * @param {string} text
   * @param {(text: string) => (string | Node)[]} [explain]
   */
  say(text, explain) {
    if (this.told !== text) this.note.replaceChildren(note(text, explain));
    this.told = text;
  }

  draw() {
    const {texts, models, pieces_limit: limit} = this.host.wall;
    this.width = this.node.clientWidth;
    if (!this.width) return;
    this.heads = partnersOf(this.host.wall, this.host.lock, this.others);
    this.sliderLabel.hidden = this.view !== 'lines';
    this.sliderText.textContent = say(texts.mass, {mass: wholePercent(this.mass)});
    const fetching = this.heads.some(head => !models[head.m].exact[head.i]);
    const long = this.unit === 'pieces' && models.some(model => model.pieces.length > limit);
    const explain = explainer(texts.terms);
    const shapes =
      this.view === 'difference' ? this.differences() : this.heads.map(head => this.shape(head));
    const across = this.width >= 860 ? shapes.length : 1,
      width = Math.floor((this.width - 28 * (across - 1)) / across);
    this.panels.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    const key = `${this.view}/${shapes.length}`;
    if (this.drawnKey !== key) this.fresh(shapes);
    this.drawnKey = key;
    this.parts.forEach((part, i) => {
      part.shape = shapes[i];
      part.figure.dataset.model = shapes[i].key || '';
      part.title.textContent = shapes[i].title;
      part.detail.replaceChildren(...explain(shapes[i].detail));
      part.picture.draw(shapes[i].picture, width);
    });
    this.say(
      fetching
        ? this.isLacking
          ? texts.lacking
          : texts.waiting
        : long
          ? say(texts.no_pieces, {n: limit})
          : texts[this.view === 'lines' ? 'line_hint' : 'cell_hint'],
      explain,
    );
    this.lightUnit(shapes);
    this.mark(this.cell);
  }

  /**
   * The switch says what is drawn: words while pieces are not here, too many, or of two models.
   * @param {Shape[]} shapes
   */
  lightUnit(shapes) {
    const drawn = shapes.length && shapes.every(shape => shape.square.pieces) ? 'pieces' : 'words';
    for (const button of this.units.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.key === drawn));
      button.disabled = button.dataset.key === 'pieces' && this.view === 'difference';
    }
  }

  /** New panels: matrices, or lines. @param {Shape[]} shapes */
  fresh(shapes) {
    const {texts} = this.host.wall,
      asLines = this.view === 'lines';
    this.zoom.pictures.clear();
    this.parts = shapes.map(shape => {
      const picture = asLines ? new Lines() : new Matrix(cell => this.mark(cell, part), this.zoom),
        title = make('b', {class: 'model-name'}),
        detail = make('span', {class: 'aw-detail'}),
        reading = make('p', {class: 'aw-reading'}),
        copy = make('button', {type: 'button', class: 'chip', text: texts.copy});
      copy.addEventListener('click', () => this.copyRow(part));
      const figure = make(
        'figure',
        {},
        make('figcaption', {}, title, detail),
        picture.node,
        make('div', {class: 'aw-under'}, reading, asLines ? null : copy),
      );
      /** @type {Panel} */
      const part = {shape, picture, title, detail, reading, copy, figure};
      return part;
    });
    this.panels.replaceChildren(...this.parts.map(part => part.figure));
  }

  /**
   * What one head shows under the present choices: labels and a square of numbers.
   * @param {Head} head
   * @returns {Square}
   */
  square(head) {
    const {wall} = this.host,
      model = wall.models[head.m],
      exact = model.exact[head.i];
    const pieces =
      this.unit === 'pieces' && this.view !== 'difference' ? (exact?.pieces ?? null) : null;
    const all = pieces ? {values: pieces, exact: true} : betweenWords(wall, head);
    const labels = pieces ? model.pieces : wall.words,
      added = pieces ? model.added : wall.special;
    const keep = [...labels.keys()].filter(i => this.added === 'shown' || !added[i]);
    const n = labels.length,
      values = new Float64Array(keep.length ** 2);
    keep.forEach((q, row) => {
      const whole =
        this.added === 'rest' ? keep.reduce((sum, k) => sum + all.values[q * n + k], 0) || 1 : 1;
      keep.forEach((k, column) => {
        values[row * keep.length + column] = all.values[q * n + k] / whole;
      });
    });
    return {
      labels: keep.map(i => wordLabel(labels[i])),
      values,
      n: keep.length,
      exact: all.exact,
      pieces: Boolean(pieces),
      keep,
    };
  }

  /** @param {Head} head @returns {Shape} */
  shape(head) {
    const {wall, palette, lock} = this.host,
      model = wall.models[head.m],
      {texts} = wall;
    const square = this.square(head),
      apart = sameHead(head, lock) ? null : apartText(wall, head, lock);
    const role = apart ? say(texts.closest, {js: apart}) : texts.chosen;
    return {
      key: model.key,
      title: headName(wall, head),
      detail: `${role}, ${this.host.summary(head)}`,
      square,
      picture: {
        ...square,
        ramp: palette.ramps[model.key],
        colour: palette.text[model.key],
        palette,
        mass: this.mass,
        label: `${headName(wall, head)}. ${this.host.summary(head)}`,
      },
    };
  }

  /** @returns {Shape[]} */
  differences() {
    const {wall, palette} = this.host,
      {texts} = wall,
      pairs = this.heads.flatMap((a, i) => this.heads.slice(i + 1).map(b => ({a, b})));
    return pairs.map(({a, b}) => {
      const minuend = this.square(a),
        subtrahend = this.square(b),
        labels = {a: wall.models[a.m].label, b: wall.models[b.m].label};
      const square = {
        ...minuend,
        values: minuend.values.map((v, i) => v - subtrahend.values[i]),
        exact: minuend.exact && subtrahend.exact,
      };
      const short = (/** @type {Head} */ head) =>
        `${wall.models[head.m].label} ${head.layer + 1}.${head.head + 1}`;
      const title = say(texts.minus, {a: short(a), b: short(b)});
      return {
        key: '',
        title,
        detail: say(texts.minus_note, labels),
        square,
        picture: {
          ...square,
          signed: true,
          palette,
          ramp: palette.diverging(
            `column-${wall.models[a.m].key}`,
            `column-${wall.models[b.m].key}`,
          ),
          colour: palette.ink,
          mass: this.mass,
          label: title,
        },
      };
    });
  }

  /**
   * The same two words are marked in every panel; pieces differ between models.
   * @param {Cell | null} cell
   * @param {Panel | null} source
   */
  mark(cell, source = null) {
    const texts = this.host.wall.texts,
      alone = source?.shape.square.pieces;
    if (source) this.cell = cell;
    for (const part of this.parts) {
      const {labels, values, n, exact} = part.shape.square;
      const mine =
        alone && part !== source
          ? null
          : this.cell && this.cell.every(i => i < n)
            ? this.cell
            : null;
      part.picture.mark(mine);
      part.copy.disabled = !mine || !exact;
      part.reading.textContent = mine
        ? say(texts.cell, {
            query: labels[mine[0]],
            key: labels[mine[1]],
            value: exact
              ? fixed(values[mine[0] * n + mine[1]], 4)
              : `≈ ${fixed(values[mine[0] * n + mine[1]], 2)}`,
          })
        : '';
      if (part === source) this.live.textContent = part.reading.textContent;
    }
    this.host.lightWord(
      source && !alone && this.cell ? source.shape.square.keep[this.cell[0]] : null,
    );
  }

  /** @param {Panel} part */
  async copyRow(part) {
    if (!this.cell) return;
    const {labels, values, n} = part.shape.square,
      [row] = this.cell;
    const lines = labels.map((label, k) => `${labels[row]}\t${label}\t${values[row * n + k]}`);
    const {texts} = this.host.wall;
    const isDone = await copied(lines.join('\n'), part.copy);
    sayFor(part.copy, isDone ? texts.copied : texts.not_copied, SAID_MS, texts.copy);
  }
}
