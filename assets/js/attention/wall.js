// The head wall: every head of every model as a tile, drawn from one image per model.
(() => {
  const E = window.explorer, A = E.attention;
  const GUTTER = 30, TOP = 46, GAP = 5, SPACE = 34, FLIGHT = 420;
  const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

  class Wall {
    constructor(root) {
      this.root = root;
      this.order = 'place';
      this.hidden = new Set();
      this.word = null;
      this.point = null;
      this.flight = 0;
      this.observer = new ResizeObserver(() => { if (this.wall && root.clientWidth !== this.width) this.layout(); });
      this.observer.observe(root);
    }

    async set(data, {dark, trigger}) {
      this.trigger = trigger;
      this.dark = dark;
      if (this.packed !== data.packed || this.text !== data.words.join(' ')) {
        this.packed = data.packed;
        this.text = data.words.join(' ');
        const wall = await A.unpack(data);
        if (this.packed !== data.packed) return;    // a newer text came meanwhile
        this.wall = wall;
        A.current = this;
        this.word = this.point = null;
        this.lock = this.firstLock();
        this.build();
      }
      this.colour();
      this.layout();
      this.lens.set(this);
      this.ask();
    }

    // From the link; else the head that watches one neighbouring word most sharply.
    firstLock() {
      const {models} = this.wall, m = models.findIndex(model => model.key === E.param('model'));
      const layer = Number(E.param('layer') || 0), head = Number(E.param('head') || 0);
      if (E.param('layer') !== null || E.param('head') !== null || m > 0) {
        const model = models[Math.max(0, m)];
        if (model && layer >= 0 && layer < model.layers && head >= 0 && head < model.heads) {
          return A.head(this.wall, model.m, layer * model.heads + head);
        }
      }
      const model = models[0], score = i => Math.max(model.shares[i * 5], model.shares[i * 5 + 1]);
      const best = [...Array(model.count).keys()].reduce((a, b) => score(b) > score(a) ? b : a, 0);
      return A.head(this.wall, 0, best);
    }

    build() {
      const {texts, words, special, masks, cards, kinds, models, pool} = this.wall;
      const counts = kinds.map((_, k) => models.reduce((sum, model) => sum + model.kind.filter(x => x === k).length, 0));
      this.chips = kinds.map((kind, k) => {
        const chip = A.make('button', {type: 'button', class: 'aw-kind', 'aria-pressed': String(!this.hidden.has(k)), title: texts.rules[kind]},
          A.make('span', {text: texts.kinds[kind]}), A.make('b', {text: String(counts[k])}));
        chip.addEventListener('click', () => {
          this.hidden.has(k) ? this.hidden.delete(k) : this.hidden.add(k);
          chip.setAttribute('aria-pressed', String(!this.hidden.has(k)));
          this.drawBase();
        });
        return chip;
      });
      this.strip = words.map((word, w) => {
        const chip = A.make('button', {type: 'button', class: special[w] ? 'aw-word added' : masks[w] ? 'aw-word mask' : 'aw-word', text: A.word(word)});
        const on = () => this.lightWord(w), off = () => this.lightWord(null);
        chip.addEventListener('pointerenter', on);
        chip.addEventListener('pointerleave', off);
        chip.addEventListener('focus', on);
        chip.addEventListener('blur', off);
        return chip;
      });
      this.base = A.make('canvas', {'aria-hidden': 'true'});
      this.over = A.make('canvas', {'aria-hidden': 'true', class: 'aw-over'});
      this.card = A.make('div', {class: 'aw-card', hidden: true, 'aria-hidden': 'true'});
      this.stage = A.make('div', {class: 'aw-stage', tabindex: '0', role: 'application', 'aria-label': texts.wall}, this.base, this.over, this.card);
      this.live = A.make('p', {class: 'sr-only', role: 'status'});
      this.scale = A.make('div', {class: 'aw-scale'});
      this.lens = new A.Lens();
      this.root.replaceChildren(
        A.make('div', {class: 'aw-bar'},
          A.choice(texts.order, texts.orders, this.order, key => { this.order = key; this.layout(true); }),
          A.make('div', {class: 'aw-choice', role: 'group', 'aria-label': texts.show}, A.make('span', {text: texts.show}), A.make('div', {class: 'aw-kinds'}, ...this.chips))),
        A.make('div', {class: 'aw-words', role: 'group', 'aria-label': texts.words}, ...this.strip),
        ...cards.map(card => A.make('section', {class: 'card plain', 'data-model': card.key}, A.make('h3', {text: card.label}), A.make('p', {text: card.sentence}))),
        this.stage, this.live,
        A.make('div', {class: 'aw-foot'}, this.scale, A.make('p', {class: 'note', text: [texts.hint, texts.rows,
          pool > 1 ? A.fill(texts.pooled, {n: pool}) : ''].join(' ')})),
        this.lens.node);
      this.listen();
    }

    colour() {
      const {models, texts} = this.wall;
      this.palette = A.palette(this.root, models.map(m => m.key), this.dark);
      this.baked = null;
      this.scale.replaceChildren(A.make('span', {text: texts.low}), ...models.map(model => {
        const bar = A.make('canvas', {'aria-hidden': 'true'}), pen = A.resize(bar, 64, 12), ramp = this.palette.ramps[model.key];
        for (let x = 0; x < 64; x++) {
          const c = ramp[Math.round(255 * Math.sqrt(x / 63))];
          pen.fillStyle = `rgb(${c & 255},${c >> 8 & 255},${c >> 16 & 255})`;
          pen.fillRect(x, 0, 1.5, 12);
        }
        return bar;
      }), A.make('span', {text: texts.high}), A.make('span', {text: texts.scale}));
    }

    // One image per model at the tiles' own size, so that drawing copies pixels and scales nothing
    // down; a pixel that stands for several cells shows the largest.
    bake(ratio) {
      const {models, size} = this.wall, side = Math.min(size, Math.round(this.tile * ratio)), key = `${side}`;
      if (this.baked === key) return;
      const begun = performance.now(), from = [], to = [];
      for (let r = 0; r < side; r++) {
        from.push(Math.floor(r * size / side));
        to.push(Math.ceil((r + 1) * size / side));
      }
      this.baked = key;
      this.side = side;
      this.atlases = models.map(model => {
        const atlas = document.createElement('canvas'), width = atlas.width = model.heads * side;
        atlas.height = model.layers * side;
        const pen = atlas.getContext('2d'), image = pen.createImageData(width, atlas.height);
        const out = new Uint32Array(image.data.buffer), ramp = this.palette.ramps[model.key], {bytes} = model;
        for (let i = 0; i < model.count; i++) {
          const start = i * size * size, corner = Math.floor(i / model.heads) * side * width + i % model.heads * side;
          for (let r = 0; r < side; r++) for (let c = 0; c < side; c++) {
            let most = 0;
            for (let y = from[r]; y < to[r]; y++) for (let x = from[c]; x < to[c]; x++) {
              const byte = bytes[start + y * size + x];
              if (byte > most) most = byte;
            }
            out[corner + r * width + c] = ramp[most];
          }
        }
        pen.putImageData(image, 0, 0);
        return atlas;
      });
      A.timings.bake = performance.now() - begun;
    }

    // Where every tile lies: by layer and head, or sorted within each model.
    layout(fly = false) {
      const {models} = this.wall, width = this.width = this.root.clientWidth;
      if (!width) return;
      const across = this.across = width >= 700, columns = across ? models.length : 1;
      const block = (width - SPACE * (columns - 1)) / columns;
      const heads = Math.max(...models.map(m => m.heads));
      this.tile = Math.max(14, Math.min(56, Math.floor((block - GUTTER) / heads) - GAP));
      const step = this.tile + GAP;
      let y = 0, bottom = 0;
      const before = this.places;
      this.blocks = models.map((model, m) => {
        const top = across ? 0 : y, left = across ? m * (block + SPACE) : 0;
        const rows = this.order !== 'place' || !across ? [...Array(model.layers).keys()] : model.rows;
        const height = TOP + (Math.max(...rows) + 1) * step;
        y = top + height + 18;
        bottom = Math.max(bottom, top + height);
        return {left, top, rows, height, width: GUTTER + model.heads * step};
      });
      this.places = models.map((model, m) => {
        const {left, top, rows} = this.blocks[m], ranks = this.ranks(model);
        return Array.from({length: model.count}, (_, i) => {
          const at = ranks[i], row = Math.floor(at / model.heads);
          return {x: left + GUTTER + at % model.heads * step, y: top + TOP + rows[row] * step};
        });
      });
      this.height = bottom + 4;
      this.baseWidth = Math.max(width, ...this.blocks.map(b => b.left + b.width));
      if (fly && before && !still()) this.fly(before); else { this.shown = this.places; this.drawBase(); }
      this.drawOver();
    }

    ranks(model) {
      const all = [...Array(model.count).keys()];
      if (this.order === 'place') return all;
      const keys = {
        entropy: i => model.entropy[i], distance: i => -model.distance[i],
        kind: i => model.kind[i] * 10 + model.entropy[i] / 10,
        alike: i => this.alike[model.m][i],
      };
      if (this.order === 'alike') this.alike = A.distances(this.wall, this.lock);
      const key = keys[this.order], ranks = new Array(model.count);
      all.sort((a, b) => key(a) - key(b) || a - b).forEach((i, at) => { ranks[i] = at; });
      return ranks;
    }

    fly(before) {
      const begun = performance.now(), flight = ++this.flight;
      const frame = now => {
        if (flight !== this.flight || !this.root.isConnected) return;
        const t = Math.min(1, Math.max(0, now - begun) / FLIGHT), ease = 1 - (1 - t) ** 3;
        this.shown = this.places.map((places, m) => places.map((to, i) => {
          const from = before[m][i];
          return {x: from.x + (to.x - from.x) * ease, y: from.y + (to.y - from.y) * ease};
        }));
        this.drawBase();
        if (t < 1) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }

    drawBase() {
      const begun = performance.now(), {models, n} = this.wall;
      const pen = A.resize(this.base, this.baseWidth, this.height), tile = this.tile;
      const ratio = this.base.width / this.baseWidth;
      pen.clearRect(0, 0, this.baseWidth, this.height);
      models.forEach((model, m) => this.drawLabels(pen, model, this.blocks[m]));
      this.bake(ratio);
      const {side} = this;
      pen.imageSmoothingEnabled = false;
      pen.strokeStyle = this.palette.line;
      pen.lineWidth = 1;
      const line = this.word === null ? -1 : Math.floor(this.word * side / n), part = tile / side;
      models.forEach((model, m) => {
        const atlas = this.atlases[m];
        for (let i = 0; i < model.count; i++) {
          const {x, y} = this.shown[m][i], sx = i % model.heads * side, sy = Math.floor(i / model.heads) * side;
          const faint = this.hidden.has(model.kind[i]) ? .12 : 1;
          pen.globalAlpha = line < 0 ? faint : faint * .25;
          pen.drawImage(atlas, sx, sy, side, side, x, y, tile, tile);
          pen.strokeRect(x - .5, y - .5, tile + 1, tile + 1);
          if (line < 0) continue;
          pen.globalAlpha = faint;
          pen.drawImage(atlas, sx, sy + line, side, 1, x, y + line * part, tile, Math.max(1, part));
          pen.drawImage(atlas, sx + line, sy, 1, side, x + line * part, y, Math.max(1, part), tile);
        }
      });
      pen.globalAlpha = 1;
      A.timings.draw = performance.now() - begun;
    }

    drawLabels(pen, model, {left, top, rows}) {
      const {texts} = this.wall, step = this.tile + GAP;
      pen.textBaseline = 'alphabetic';
      pen.textAlign = 'left';
      pen.fillStyle = this.palette.text[model.key];
      pen.font = '600 16px system-ui, sans-serif';
      pen.fillText(model.label, left + GUTTER, top + 15);
      const after = pen.measureText(model.label).width;
      pen.fillStyle = this.palette.soft;
      pen.font = '13px system-ui, sans-serif';
      const detail = A.fill(model.shared ? texts.shared : texts.layers, model);
      const room = Math.max(this.blocks[model.m].width, this.width / (this.across ? this.wall.models.length : 1) - SPACE) - GUTTER - after - 8;
      if (pen.measureText(detail).width <= room) pen.fillText(detail, left + GUTTER + after + 8, top + 15);
      if (this.order !== 'place') return;
      pen.font = '12px system-ui, sans-serif';
      pen.textAlign = 'center';
      const skip = step < 17 ? 2 : 1;
      for (let h = 0; h < model.heads; h += skip) pen.fillText(String(h + 1), left + GUTTER + h * step + this.tile / 2, top + TOP - 8);
      pen.textAlign = 'right';
      pen.textBaseline = 'middle';
      rows.forEach((row, layer) => pen.fillText(String(layer + 1), left + GUTTER - 8, top + TOP + row * step + this.tile / 2));
    }

    drawOver() {
      const pen = A.resize(this.over, this.baseWidth, this.height), {palette} = this;
      const ring = (head, colour, width, out) => {
        const {x, y} = this.places[head.m][head.i];
        pen.strokeStyle = colour;
        pen.lineWidth = width;
        pen.strokeRect(x - out, y - out, this.tile + 2 * out, this.tile + 2 * out);
      };
      const family = (anchor, width, alpha) => {
        const partners = A.partners(this.wall, anchor, this.lens.others);
        const middle = head => { const p = this.places[head.m][head.i]; return [p.x + this.tile / 2, p.y + this.tile / 2]; };
        const [x, y] = middle(anchor);
        for (const partner of partners) {
          if (A.same(partner, anchor)) continue;
          const [px, py] = middle(partner), half = this.tile / 2 * Math.sign(px - x);
          pen.globalAlpha = alpha;
          pen.strokeStyle = palette.ink;
          pen.lineWidth = 1.25;
          pen.beginPath();
          pen.moveTo(x + half, y);
          pen.bezierCurveTo((x + px) / 2, y, (x + px) / 2, py, px - half, py);
          if (this.across) pen.stroke();
          pen.globalAlpha = 1;
          ring(partner, palette.ink, width, 1);
        }
        ring(anchor, palette.ink, width + 1, 1.5);
      };
      family(this.lock, 1.5, this.point && !A.same(this.point, this.lock) ? .25 : .6);
      if (this.point && !A.same(this.point, this.lock)) family(this.point, 1.5, .6);
    }

    lightWord(word) {
      if (word === this.word) return;
      this.word = word;
      this.strip.forEach((chip, w) => chip.classList.toggle('on', w === word));
      this.drawBase();
    }

    at(event) {
      const box = this.base.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      for (const [m, places] of this.places.entries()) {
        const i = places.findIndex(p => x >= p.x - 1 && x < p.x + this.tile + 2 && y >= p.y - 1 && y < p.y + this.tile + 2);
        if (i >= 0) return A.head(this.wall, m, i);
      }
      return null;
    }

    preview(head) {
      if (A.same(head, this.point) || (!head && !this.point)) return;
      this.point = head;
      this.drawOver();
      this.card.hidden = !head;
      if (head) this.drawCard(head);
    }

    keep(head) {
      this.lock = head;
      this.preview(null);
      const model = this.wall.models[head.m];
      E.link({model: model.key, layer: head.layer, head: head.head});
      if (this.order === 'alike') this.layout(true);
      this.drawOver();
      this.lens.set(this);
      this.live.textContent = this.describe(head);
      this.ask();
    }

    // Exact numbers for what is printed, unless they are here already.
    ask() {
      const needed = A.partners(this.wall, this.lock, this.lens.others).filter(head => !this.wall.models[head.m].exact[head.i]);
      if (needed.length) this.trigger('select', {heads: needed.map(h => [this.wall.models[h.m].key, h.layer, h.head])});
    }

    receive(answer) {
      A.receive(this.wall, answer);
      this.lens.set(this);
    }

    describe(head) {
      const {texts, models} = this.wall, model = models[head.m];
      return `${A.fill(texts.head, {model: model.label, layer: head.layer + 1, head: head.head + 1})}: ${this.summary(head)}`;
    }

    summary(head) {
      const {texts, models, kinds} = this.wall, model = models[head.m], kind = kinds[model.kind[head.i]];
      const share = model.kind[head.i] < 5 ? model.shares[head.i * 5 + model.kind[head.i]] : null;
      const name = share === null ? texts.kinds[kind] : A.fill(texts.kind_share, {kind: texts.kinds[kind], share: A.percent(share)});
      return A.fill(texts.summary, {kind: name, entropy: A.fixed(model.entropy[head.i], 2), distance: A.fixed(model.distance[head.i], 1)});
    }

    drawCard(head) {
      const {texts, models, size} = this.wall, side = 132;
      const views = A.partners(this.wall, head, this.lens.others).map(partner => {
        const model = models[partner.m], canvas = A.make('canvas'), pen = A.resize(canvas, side, side);
        pen.imageSmoothingEnabled = size > side;
        pen.drawImage(A.tile(this.wall, partner, this.palette), 0, 0, side, side);
        const apart = A.same(partner, head) ? '' : `JS ${A.apart(this.wall, head, partner)}`;
        return A.make('figure', {'data-model': model.key}, canvas, A.make('figcaption', {},
          A.make('b', {class: 'model-name', text: A.fill(texts.short, {model: model.label, layer: partner.layer + 1, head: partner.head + 1})}),
          A.make('span', {text: apart})));
      });
      this.card.replaceChildren(A.make('div', {class: 'aw-card-views'}, ...views), A.make('p', {text: this.summary(head)}));
      const place = this.places[head.m][head.i], width = this.card.offsetWidth, height = this.card.offsetHeight;
      const x = Math.max(0, Math.min(this.width - width, place.x + this.tile / 2 - width / 2));
      const below = place.y + this.tile + 12, above = place.y - height - 12;
      const box = this.stage.getBoundingClientRect();
      const y = box.top + below + height > innerHeight && box.top + above > 0 ? above : below;
      this.card.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    }

    listen() {
      this.stage.addEventListener('pointermove', event => { if (event.pointerType !== 'touch') this.preview(this.at(event)); });
      this.stage.addEventListener('pointerleave', () => this.preview(null));
      this.stage.addEventListener('blur', () => this.preview(null));
      this.stage.addEventListener('click', event => { const head = this.at(event); if (head) this.keep(head); });
      this.stage.addEventListener('keydown', event => {
        const here = this.point || this.lock;
        if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); this.keep(here); return; }
        if (event.key === 'Escape') { this.preview(null); return; }
        const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
        if (!way) return;
        event.preventDefault();
        const next = this.walk(here, way);
        if (next) { this.preview(next); this.live.textContent = this.describe(next); }
      });
    }

    // The nearest tile in a direction; sideways it goes on in the next model.
    walk(head, [dx, dy]) {
      const from = this.places[head.m][head.i];
      let best = null, least = Infinity;
      this.places.forEach((places, m) => places.forEach((place, i) => {
        const x = place.x - from.x, y = place.y - from.y, ahead = x * dx + y * dy, aside = Math.abs(x * dy + y * dx);
        if (ahead < 1 || (dx && aside > this.tile * 4) || (dy && aside > this.tile / 2)) return;
        const cost = ahead + aside * 3;
        if (cost < least) { least = cost; best = A.head(this.wall, m, i); }
      }));
      return best;
    }
  }

  E.views.attention_wall = {draw(root, data, context) {
    root.__wall = root.__wall || new Wall(root);
    root.__wall.set(data, context);
  }};
  E.views.attention_exact = {draw(root, data) { if (A.current) A.current.receive(data); }};
})();
