// The head wall: every head of every model as a tile, and what the reader does with them.
import {picker} from '../kit/choice.js';
import {make, note, resize, say} from '../kit/dom.js';
import {menuOf} from '../kit/menus.js';
import {wholePercent} from '../kit/numbers.js';
import {rove} from '../kit/rove.js';
import {explained} from '../kit/term.js';
import {choose, chosen, isChosen, runParams} from '../page/here.js';
import {headImage} from './colours.js';
import {
  apartText,
  headAt,
  headName,
  onPage,
  partnersOf,
  receiveExact,
  sameHead,
  shareOfKind,
  sharesOf,
  unpackWall,
  usualLock,
  wordLabel,
} from './heads.js';
import {Lens} from './lens.js';
import {Tiles, WAYS} from './tiles.js';

/**
 * @typedef {import('../data').WallData} WallData
 * @typedef {import('./heads.js').Head} Head
 */

/** Kinds that are faint, kept for a new text. @type {Set<number>} */
const faint = new Set();
/** The wall of each place. @type {WeakMap<HTMLElement, Wall>} */
const walls = new WeakMap();
/** The last call of `show` for each place. @type {WeakMap<HTMLElement, object>} */
const turns = new WeakMap();

export class Wall extends Tiles {
  /**
   * @param {HTMLElement} root
   * @param {import('./heads.js').Heads} wall
   * @param {import('../gradio.js').Context} context
   * @param {WallData} data
   */
  constructor(root, wall, context, data) {
    super(root, wall, context, usualLock(wall));
    this.usual = this.lock; // the head that is chosen where neither a reader nor a link chooses
    this.data = data;
    this.order = chosen('order') ?? this.order;
    this.lit = Number(chosen('lit') ?? -1); // the word that the reader or a link chose
    this.word = this.kept = this.keptWord();
    this.hidden = faint;
    this.take(this.firstLock());
    this.strip = this.wordChips();
    this.card = make('div', {class: 'aw-card', hidden: true, 'aria-hidden': 'true'});
    this.stage = make(
      'div',
      {class: 'aw-stage', tabindex: '0', role: 'application', 'aria-label': wall.texts.wall},
      this.base,
      this.over,
      this.card,
    );
    this.live = make('p', {class: 'sr-only', role: 'status'});
    this.scale = make('div', {class: 'aw-scale'});
    this.lens = new Lens(this);
    this.others = this.lens.others;
    this.build();
    this.drawScale();
    this.layout();
    this.lens.draw();
    this.observer = new ResizeObserver(() => {
      if (root.clientWidth !== this.width) this.layout();
    });
    this.observer.observe(root);
  }

  recolour() {
    this.palette = this.colours();
    this.baked = null;
    this.drawScale();
    this.layout();
    this.lens.draw();
  }

  end() {
    this.flight += 1; // what still flies comes down
    this.observer.disconnect();
    this.lens.observer.disconnect();
    this.lens.zoom.end();
  }

  /** @param {Head} head chosen now: by the page itself, or not */
  take(head) {
    this.lock = head;
    this.root.toggleAttribute('data-chosen', !sameHead(head, this.usual));
  }

  /** The head that the link names, else the usual one. */
  firstLock() {
    const {models} = this.wall,
      m = models.findIndex(model => model.key === chosen('model'));
    const layer = Number(chosen('layer')),
      head = Number(chosen('head'));
    if (['model', 'layer', 'head'].some(isChosen)) {
      const model = models[Math.max(0, m)];
      if (model && layer >= 0 && layer < model.layers && head >= 0 && head < model.heads) {
        return headAt(this.wall, model.m, layer * model.heads + head);
      }
    }
    return this.usual;
  }

  /**
   * The word that stays lit: the chosen one; else, where the order needs one, the first mask or the
   * last word that is no sign.
   */
  keptWord() {
    const {words, special, masks} = this.wall,
      isWord = words.map((word, i) => !special[i] && /[\p{L}\p{N}]/u.test(word));
    if (this.lit >= 0 && this.lit < words.length) return this.lit;
    if (!WAYS.includes(this.order)) return null;
    return masks.includes(1) ? masks.indexOf(1) : Math.max(0, isWord.lastIndexOf(true));
  }

  /** A word is chosen, or is not any more. @param {number} word */
  keepWord(word) {
    this.lit = this.lit === word ? -1 : word;
    choose({lit: this.lit});
    this.rekeep();
    if (WAYS.includes(this.order)) this.layout(true);
  }

  rekeep() {
    this.kept = this.keptWord();
    this.strip.forEach((chip, w) => chip.setAttribute('aria-pressed', String(w === this.kept)));
    this.lightWord(null);
  }

  /** A button for each kind of head, which makes it faint. */
  kindChips() {
    const {texts, kinds, models} = this.wall;
    const counts = kinds.map((_, k) =>
      models.reduce((sum, model) => sum + model.kind.filter(x => x === k).length, 0),
    );
    return kinds.map((kind, k) => {
      const chip = make(
        'button',
        {
          type: 'button',
          class: 'aw-kind',
          'aria-pressed': String(!this.hidden.has(k)),
          title: texts.rules[kind],
        },
        make('span', {text: texts.kinds[kind]}),
        make('b', {text: String(counts[k])}),
      );
      chip.addEventListener('click', () => {
        this.hidden.has(k) ? this.hidden.delete(k) : this.hidden.add(k);
        chip.setAttribute('aria-pressed', String(!this.hidden.has(k)));
        this.drawBase();
      });
      return chip;
    });
  }

  /** A button for each word, which lights it in all heads. */
  wordChips() {
    const {words, special, masks} = this.wall;
    return words.map((word, w) => {
      const kind = special[w] ? 'aw-word added' : masks[w] ? 'aw-word mask' : 'aw-word',
        isKept = w === this.kept;
      const chip = make('button', {
        type: 'button',
        class: isKept ? `${kind} on` : kind,
        'aria-pressed': String(isKept),
        text: wordLabel(word),
      });
      chip.addEventListener('click', () => this.keepWord(w));
      const on = () => this.lightWord(w),
        off = () => this.lightWord(null);
      chip.addEventListener('pointerenter', on);
      chip.addEventListener('pointerleave', off);
      chip.addEventListener('focus', on);
      chip.addEventListener('blur', off);
      return chip;
    });
  }

  build() {
    const {texts, cards, pool} = this.wall;
    const strip = make(
      'div',
      {class: 'aw-words', role: 'group', 'aria-label': texts.words},
      ...this.strip,
    );
    rove(strip);
    const drawn = make(
      'div',
      {},
      this.stage,
      make(
        'div',
        {class: 'aw-foot'},
        this.scale,
        note(
          [texts.hint, texts.rows, pool > 1 ? say(texts.pooled, {n: pool}) : ''].join(' '),
          text => explained(text, texts.terms),
        ),
      ),
    );
    this.root.replaceChildren(
      make(
        'div',
        {class: 'aw-bar'},
        picker(texts.order, texts.orders, this.order, key => {
          this.order = key;
          choose({order: key});
          this.rekeep();
          this.layout(true);
        }),
        make(
          'div',
          {class: 'aw-choice', role: 'group', 'aria-label': texts.show},
          make('span', {text: texts.show}),
          make('div', {class: 'aw-kinds'}, ...this.kindChips()),
        ),
      ),
      strip,
      ...cards.map(card =>
        make(
          'section',
          {class: 'card plain', 'data-model': card.key},
          make('h3', {text: card.label}),
          make('p', {text: card.sentence}),
        ),
      ),
      drawn,
      this.live,
      menuOf(
        this.root,
        {
          kind: 'attention/wall',
          root: drawn,
          picture: {table, constants, theme: () => this.recolour()},
          data: this.data,
        },
        true,
      ) ?? '',
      this.lens.node,
    );
    this.listen();
  }

  /** The colours from no attention to all of it, in each model. */
  drawScale() {
    const {models, texts} = this.wall;
    this.scale.replaceChildren(
      make('span', {text: texts.low}),
      ...models.map(model => {
        const bar = make('canvas', {'aria-hidden': 'true'}),
          pen = resize(bar, 64, 12),
          ramp = this.palette.ramps[model.key];
        for (let x = 0; x < 64; x++) {
          const c = ramp[Math.round(255 * Math.sqrt(x / 63))];
          pen.fillStyle = `rgb(${c & 255},${(c >> 8) & 255},${(c >> 16) & 255})`;
          pen.fillRect(x, 0, 1.5, 12);
        }
        return bar;
      }),
      make('span', {text: texts.high}),
      make('span', {text: texts.scale}),
    );
  }

  /** @param {number | null} pointed */
  lightWord(pointed) {
    const word = pointed ?? this.kept;
    if (word === this.word) return;
    this.word = word;
    this.strip.forEach((chip, w) => chip.classList.toggle('on', w === word));
    this.drawBase();
  }

  /** @param {Head | null} head */
  preview(head) {
    if (sameHead(head, this.point) || (!head && !this.point)) return;
    this.point = head;
    this.drawOver();
    this.card.hidden = !head;
    if (head) this.drawCard(head);
  }

  /** @param {Head} head */
  keep(head) {
    this.take(head);
    this.preview(null);
    const model = this.wall.models[head.m];
    choose({model: model.key, layer: head.layer, head: head.head});
    if (this.order === 'alike') this.layout(true);
    this.drawOver();
    this.ask();
    this.lens.draw();
    this.live.textContent = this.describe(head);
  }

  // Exact numbers for what is printed, unless they are here already.
  ask() {
    const needed = partnersOf(this.wall, this.lock, this.others).filter(
      head => !this.wall.models[head.m].exact[head.i],
    );
    this.lens.isLacking = false;
    if (!needed.length) return;
    const heads = needed.map(h => [this.wall.models[h.m].key, h.layer, h.head]);
    this.context.asks({params: runParams(), heads}).then(
      answer => {
        if (onPage.wall === this) this.receive(JSON.parse(answer));
      },
      () => this.lens.lacks(),
    );
  }

  /** @param {import('../data').ExactData} answer */
  receive(answer) {
    receiveExact(this.wall, answer);
    this.lens.draw();
  }

  /** @param {Head} head */
  describe(head) {
    return `${headName(this.wall, head)}: ${this.summary(head)}`;
  }

  /** @param {Head} head */
  summary(head) {
    const {texts, models, kinds} = this.wall,
      model = models[head.m],
      kind = texts.kinds[kinds[model.kind[head.i]]],
      share = shareOfKind(model, head.i);
    const summary = say(texts.summary, {
      kind: share === null ? kind : say(texts.kind_share, {kind, share: wholePercent(share)}),
      entropy: model.entropy[head.i].toFixed(2),
      distance: model.distance[head.i].toFixed(1),
    });
    return [summary, this.shareText(head)].filter(Boolean).join('; ');
  }

  /**
   * By what the heads are sorted, where that is one word's attention and every word has a number of
   * its own.
   * @param {Head} head
   */
  shareText(head) {
    const {texts, models, pool, words} = this.wall;
    if (this.kept === null || !WAYS.includes(this.order) || pool > 1) return '';
    const share = wholePercent(sharesOf(this.wall, this.kept, this.order)[head.m][head.i]);
    return say(texts[this.order], {
      word: wordLabel(words[this.kept]),
      share: models[head.m].exact[head.i] ? share : `≈ ${share}`,
    });
  }

  /** @param {Head} head */
  drawCard(head) {
    const {models, size} = this.wall,
      side = 132;
    const views = partnersOf(this.wall, head, this.others).map(partner => {
      const model = models[partner.m],
        canvas = make('canvas'),
        pen = resize(canvas, side, side);
      pen.imageSmoothingEnabled = size > side;
      pen.drawImage(headImage(this.wall, partner, this.palette), 0, 0, side, side);
      const apart = sameHead(partner, head) ? '' : `JS ${apartText(this.wall, head, partner)}`;
      return make(
        'figure',
        {'data-model': model.key},
        canvas,
        make(
          'figcaption',
          {},
          make('b', {class: 'model-name', text: headName(this.wall, partner)}),
          make('span', {text: apart}),
        ),
      );
    });
    this.card.replaceChildren(
      make('div', {class: 'aw-card-views'}, ...views),
      make('p', {text: this.summary(head)}),
    );
    const place = this.places[head.m][head.i],
      width = this.card.offsetWidth,
      height = this.card.offsetHeight;
    const x = Math.max(0, Math.min(this.width - width, place.x + this.tile / 2 - width / 2));
    const below = place.y + this.tile + 12,
      above = place.y - height - 12;
    const box = this.stage.getBoundingClientRect(),
      zoom = box.width / (this.stage.offsetWidth || box.width) || 1;
    const y =
      box.top + (below + height) * zoom > innerHeight && box.top + above * zoom > 0 ? above : below;
    this.card.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  listen() {
    this.stage.addEventListener('pointermove', event => {
      if (event.pointerType !== 'touch') this.preview(this.at(event));
    });
    this.stage.addEventListener('pointerleave', () => this.preview(null));
    this.stage.addEventListener('blur', () => this.preview(null));
    this.stage.addEventListener('click', event => {
      const head = this.at(event);
      if (head) this.keep(head);
    });
    this.stage.addEventListener('keydown', event => {
      const here = this.point || this.lock;
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        this.keep(here);
        return;
      }
      if (event.key === 'Escape') {
        this.preview(null);
        return;
      }
      const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[
        event.key
      ];
      if (!way) return;
      event.preventDefault();
      const next = this.walk(here, way);
      if (next) {
        this.preview(next);
        this.live.textContent = this.describe(next);
      }
    });
  }
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['model', 'layer', 'head', 'order', 'lit', 'view', 'look'];

/** @type {import('../gradio.js').Picture['show']} */
export async function show(root, /** @type {WallData} */ data, context) {
  const turn = {};
  turns.set(root, turn);
  const unpacked = await unpackWall(data);
  if (turns.get(root) !== turn) return; // a newer text came meanwhile, or none
  end(root);
  const wall = new Wall(root, unpacked, context, data);
  walls.set(root, wall);
  onPage.wall = wall;
  wall.ask();
}

/** @type {NonNullable<import('../gradio.js').Picture['clear']>} */
export function clear(root) {
  turns.delete(root);
  end(root);
  root.replaceChildren();
}

/** @param {HTMLElement} root */
function end(root) {
  const wall = walls.get(root);
  if (!wall) return;
  wall.end();
  walls.delete(root);
  if (onPage.wall === wall) onPage.wall = null;
}

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => walls.get(root)?.recolour();

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {WallData} */ data) => ({
  GROUPS: Object.fromEntries(data.models.map(model => [model.label, model.groups])),
  ADDED: data.special.flatMap((added, word) => (added ? [word] : [])),
  KINDS: data.kinds.map(kind => data.texts.kinds[kind]),
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {WallData} */ data) {
  const rows = data.models.flatMap(model =>
    model.kind.map((kind, i) => [
      model.label,
      Math.floor(i / model.heads) + 1,
      (i % model.heads) + 1,
      data.texts.kinds[data.kinds[kind]],
      shareOfKind(model, i),
      model.entropy[i],
      model.distance[i],
    ]),
  );
  return {
    columns: ['model', 'layer', 'head', 'kind', 'share_of_kind', 'entropy_nats', 'distance_words'],
    rows,
  };
}
