// The chosen head of one model beside its counterparts in the others.
import {choice, picker} from '../kit/choice.js';
import {copied} from '../kit/clipboard.js';
import {make, note, say, sayFor} from '../kit/dom.js';
import {menuOf} from '../kit/menus.js';
import {fixed, wholePercent} from '../kit/numbers.js';
import {explainer} from '../kit/term.js';
import {choose, chosen} from '../page/here.js';
import {look} from '../page/look.js';
import {apartOf, apartText, betweenWords, partnersOf, sameHead, wordLabel} from './heads.js';
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

export class Lens {
  /** @param {any} host the wall it belongs to */
  constructor(host) {
    this.host = host;
    this.isLacking = false; // what was asked for last could not be had
    this.isAlone = host.wall.models.length < 2; // there is no difference of one model
    this.view =
      this.isAlone && chosen('view') === 'difference' ? 'matrix' : (chosen('view') ?? 'matrix');
    const {texts} = host.wall,
      known = (name, options) =>
        Object.hasOwn(texts[options], kept[name].value)
          ? kept[name].value
          : Object.keys(texts[options])[0];
    this.unit = known('unit', 'units');
    this.added = known('added', 'addeds');
    this.others = known('others', 'otherses');
    this.mass = Math.min(100, Math.max(10, Number(kept.mass.value) || 70)) / 100;
    this.cell = null;
    this.zoom = new Zoom(texts.zoom, 'zoom', host.wall.words.length);
    this.node = make('section', {class: 'aw-lens'});
    this.build();
    this.observer = new ResizeObserver(() => {
      if (this.node.clientWidth !== this.width) this.draw();
    });
    this.observer.observe(this.node);
  }

  keep(name, value) {
    this[name] = value;
    if (name === 'view') choose({view: value});
    else kept[name].value = name === 'mass' ? Math.round(100 * value) : value;
    if (name === 'others') {
      this.host.others = value;
      this.host.drawOver();
      this.host.ask();
    }
    this.draw();
  }

  build() {
    const {texts} = this.host.wall;
    /** @param {typeof choice | typeof picker} kind */
    const control = (name, options, kind = picker) =>
      kind(texts[name], texts[options], this[name], key => this.keep(name, key));
    this.units = control('unit', 'units', choice);
    const views = control('view', 'views', choice);
    /** @type {HTMLButtonElement} */ (views.querySelector('[data-key=difference]')).disabled =
      this.isAlone;
    this.slider = make('input', {
      type: 'range',
      min: '10',
      max: '100',
      step: '5',
      value: String(this.mass * 100),
    });
    this.sliderText = make('span');
    this.slider.addEventListener('input', () => this.keep('mass', Number(this.slider.value) / 100));
    this.sliderLabel = make('label', {class: 'aw-mass'}, this.sliderText, this.slider);
    this.panels = make('div', {class: 'aw-panels'});
    this.note = make('div');
    this.live = make('p', {class: 'sr-only', role: 'status'});
    this.node.replaceChildren(
      make('h3', {text: texts.chosen_head}),
      make(
        'div',
        {class: 'aw-bar'},
        views,
        this.units,
        control('added', 'addeds'),
        control('others', 'otherses'),
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
        said: () => this.said(),
        theme: () => this.host.recolour(),
      },
      data: null,
    };
  }

  /** What was chosen, and what stands above each head's matrix. */
  said() {
    const {wall, lock} = this.host,
      {view, added, others, mass} = this;
    const heads = this.heads.map(head => {
      const model = wall.models[head.m],
        apart = sameHead(head, lock) ? null : apartOf(wall, head, lock);
      return {
        head: this.name(head),
        share_of_kind:
          model.kind[head.i] < 5 ? model.shares[head.i * 5 + model.kind[head.i]] : null,
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
        ...(view === 'lines' ? {mass} : this.zoom.said()),
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
      this.view === 'difference' ? this.differences() : this.heads.map(head => this.one(head));
    const across = this.width >= 860 ? shapes.length : 1,
      width = Math.floor((this.width - 28 * (across - 1)) / across);
    this.panels.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    const kind = this.view === 'lines' ? Lines : Matrix,
      key = `${this.view}/${shapes.length}`;
    if (this.drawnKey !== key) this.fresh(kind, shapes);
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

  // The switch says what is drawn: words while pieces are not here, too many, or of two models.
  lightUnit(shapes) {
    const drawn = shapes.length && shapes.every(shape => shape.square?.pieces) ? 'pieces' : 'words';
    for (const button of this.units.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.key === drawn));
      button.disabled = button.dataset.key === 'pieces' && this.view === 'difference';
    }
  }

  fresh(Kind, shapes) {
    const {texts} = this.host.wall;
    this.zoom.pictures.clear();
    this.parts = shapes.map(() => {
      const part = {picture: new Kind(cell => this.mark(cell, part), this.zoom)};
      part.title = make('b', {class: 'model-name'});
      part.detail = make('span', {class: 'aw-detail'});
      part.reading = make('p', {class: 'aw-reading'});
      part.copy = make('button', {type: 'button', class: 'chip', text: texts.copy});
      part.copy.addEventListener('click', () => this.copyRow(part));
      part.figure = make(
        'figure',
        {},
        make('figcaption', {}, part.title, part.detail),
        part.picture.node,
        make('div', {class: 'aw-under'}, part.reading, Kind === Matrix ? part.copy : null),
      );
      return part;
    });
    this.panels.replaceChildren(...this.parts.map(part => part.figure));
  }

  // What one head shows under the present choices: labels and a square of numbers.
  square(head) {
    const {wall} = this.host,
      model = wall.models[head.m],
      exact = model.exact[head.i];
    const pieces = this.unit === 'pieces' && this.view !== 'difference' && exact && exact.pieces;
    const all = pieces ? {values: exact.pieces, exact: true} : betweenWords(wall, head);
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

  name(head) {
    const {texts, models} = this.host.wall;
    return say(texts.head, {
      model: models[head.m].label,
      layer: head.layer + 1,
      head: head.head + 1,
    });
  }

  one(head) {
    const {wall, palette, lock} = this.host,
      model = wall.models[head.m],
      {texts} = wall;
    const square = this.square(head),
      apart = sameHead(head, lock) ? null : apartText(wall, head, lock);
    const role = apart ? say(texts.closest, {js: apart}) : texts.chosen;
    return {
      key: model.key,
      title: this.name(head),
      detail: `${role}, ${this.host.summary(head)}`,
      square,
      picture: {
        ...square,
        ramp: palette.ramps[model.key],
        colour: palette.text[model.key],
        palette,
        mass: this.mass,
        label: `${this.name(head)}. ${this.host.summary(head)}`,
      },
    };
  }

  differences() {
    const {wall, palette} = this.host,
      {texts} = wall,
      pairs = [];
    this.heads.forEach((a, i) => this.heads.slice(i + 1).forEach(b => pairs.push([a, b])));
    return pairs.map(([a, b]) => {
      const one = this.square(a),
        two = this.square(b),
        labels = {a: wall.models[a.m].label, b: wall.models[b.m].label};
      const square = {
        ...one,
        values: one.values.map((v, i) => v - two.values[i]),
        exact: one.exact && two.exact,
      };
      const short = head => `${wall.models[head.m].label} ${head.layer + 1}.${head.head + 1}`;
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
          ramp: palette.diverging(wall.models[a.m].key, wall.models[b.m].key),
          label: title,
        },
      };
    });
  }

  // The same two words are marked in every panel; pieces differ between models.
  mark(cell, source = null) {
    const texts = this.host.wall.texts,
      alone = source && source.shape.square.pieces;
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
    const square = source && !alone && this.cell ? source.shape.square : null;
    this.host.lightWord(square ? square.keep[this.cell[0]] : null);
  }

  async copyRow(part) {
    const {labels, values, n} = part.shape.square,
      row = this.cell[0];
    const lines = labels.map((label, k) => `${labels[row]}\t${label}\t${values[row * n + k]}`);
    const {texts} = this.host.wall;
    const isDone = await copied(lines.join('\n'), part.copy);
    sayFor(part.copy, isDone ? texts.copied : texts.not_copied, SAID_MS, texts.copy);
  }
}
