// Below the wall: one shared head over its applications, summaries, and heads named in tables.
(() => {
  const E = window.explorer, A = E.attention = E.attention || {};
  const SIDE = 92;

  // A head named anywhere on the page, `.aw-jump`, is shown on the wall by a click.
  document.addEventListener('click', event => {
    const button = event.target.closest && event.target.closest('.aw-jump');
    if (!button || !A.current) return;
    const {wall} = A.current, model = wall.models.find(m => m.key === button.dataset.model);
    if (!model) return;
    A.current.keep(A.head(wall, model.m, Number(button.dataset.layer) * model.heads + Number(button.dataset.head)));
    A.current.stage.scrollIntoView({block: 'center', behavior: 'smooth'});
  });

  class Film {
    constructor(root) {
      this.root = root;
      this.head = 0;
      this.observer = new ResizeObserver(() => { if (this.data && root.clientWidth !== this.width) this.draw(); });
      this.observer.observe(root);
    }

    set(data, dark) {
      this.data = data;
      this.dark = dark;
      const {texts, model} = data, heads = data.from_first[0].length;
      const names = Object.fromEntries(Array.from({length: heads}, (_, h) => [h, String(h + 1)]));
      this.head = Math.min(this.head, heads - 1);
      this.strip = A.make('div', {class: 'aw-film', role: 'img'});
      this.chart = A.make('canvas', {role: 'img', 'aria-label': texts.chart});
      this.root.dataset.model = model;
      this.root.replaceChildren(A.choice(texts.heads, names, String(this.head), key => { this.head = Number(key); this.draw(); }),
        this.strip, A.make('p', {class: 'note', text: texts.chart}), this.chart);
      this.draw();
    }

    draw() {
      this.width = this.root.clientWidth;
      const wall = A.current && A.current.wall, {data} = this;
      const model = wall && wall.models.find(m => m.key === data.model);
      if (!this.width || !model) return;
      const palette = A.palette(this.root, [model.key], this.dark), {size} = wall;
      this.strip.setAttribute('aria-label', A.fill(data.texts.label, {head: this.head + 1}));
      this.strip.replaceChildren(...data.from_first.map((_, layer) => {
        const tile = A.tile(wall, A.head(wall, model.m, layer * model.heads + this.head), palette);
        const shown = document.createElement('canvas'), brush = A.resize(shown, SIDE, SIDE), ratio = shown.width / SIDE;
        brush.imageSmoothingEnabled = size > SIDE * ratio;
        brush.drawImage(tile, 0, 0, SIDE, SIDE);
        const step = layer ? A.fill(data.texts.step, {js: A.fixed(data.step[layer - 1][this.head], 2)}) : '';
        return A.make('figure', {}, shown, A.make('figcaption', {}, A.make('b', {text: String(layer + 1)}), A.make('span', {text: step})));
      }));
      this.drawChart(palette, model);
    }

    drawChart(palette, model) {
      const width = Math.min(this.width, 720), height = 210, left = 40, bottom = 28, top = 10, {from_first: rows} = this.data;
      const pen = A.resize(this.chart, width, height), most = Math.max(.01, ...rows.flat());
      const x = layer => left + (width - left - 14) * (rows.length > 1 ? layer / (rows.length - 1) : 0);
      const y = js => top + (height - top - bottom) * (1 - js / most);
      pen.font = '12px system-ui, sans-serif';
      pen.fillStyle = palette.soft;
      pen.strokeStyle = palette.line;
      pen.textAlign = 'right';
      pen.textBaseline = 'middle';
      for (const part of [0, .5, 1]) {
        pen.fillText(A.fixed(most * part, 2), left - 8, y(most * part));
        pen.beginPath();
        pen.moveTo(left, y(most * part));
        pen.lineTo(width - 14, y(most * part));
        pen.stroke();
      }
      pen.textAlign = 'center';
      rows.forEach((_, layer) => pen.fillText(String(layer + 1), x(layer), height - 10));
      const line = (head, alpha, thick) => {
        pen.globalAlpha = alpha;
        pen.lineWidth = thick;
        pen.strokeStyle = palette.text[model.key];
        pen.beginPath();
        rows.forEach((row, layer) => layer ? pen.lineTo(x(layer), y(row[head])) : pen.moveTo(x(layer), y(row[head])));
        pen.stroke();
      };
      rows[0].forEach((_, head) => { if (head !== this.head) line(head, .3, 1.25); });
      line(this.head, 1, 3);
      pen.globalAlpha = 1;
    }
  }

  class Summary {
    constructor(root) {
      this.root = root;
      this.observer = new ResizeObserver(() => { if (this.data && root.clientWidth !== this.width) this.draw(); });
      this.observer.observe(root);
    }

    set(data, dark) {
      this.data = data;
      this.dark = dark;
      this.live = A.make('p', {class: 'sr-only', role: 'status'});
      this.parts = data.models.map(model => {
        const part = {model, values: Float64Array.from(new Float32Array(E.bytes(model.values).buffer))};
        part.picture = new A.Matrix(cell => this.mark(cell, part));
        part.reading = A.make('p', {class: 'aw-reading'});
        part.figure = A.make('figure', {'data-model': model.key},
          A.make('figcaption', {}, A.make('b', {class: 'model-name', text: A.fill(data.texts.title, {label: model.label, kind: data.texts.kind})}),
            A.make('span', {class: 'aw-detail', text: model.detail})),
          part.picture.node, A.make('div', {class: 'aw-under'}, part.reading));
        return part;
      });
      this.panels = A.make('div', {class: 'aw-panels'}, ...this.parts.map(part => part.figure));
      this.root.replaceChildren(this.panels, A.make('p', {class: 'note', text: data.texts.hint}), this.live);
      this.draw();
    }

    draw() {
      this.width = this.root.clientWidth;
      if (!this.width) return;
      const {models, words, texts} = this.data, palette = A.palette(this.root, models.map(m => m.key), this.dark);
      const across = this.width >= 860 ? this.parts.length : 1, width = Math.floor((this.width - 28 * (across - 1)) / across);
      this.panels.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
      for (const part of this.parts) {
        const {label, key, gain} = part.model;
        part.picture.draw({labels: words.map(A.word), values: part.values, n: words.length, ramp: palette.ramps[key], palette, gain,
          label: A.fill(texts.title, {label, kind: texts.kind})}, width);
        part.picture.mark(null);
      }
    }

    mark(cell, source) {
      const words = this.data.words.map(A.word), n = words.length;
      for (const part of this.parts) {
        part.picture.mark(cell);
        part.reading.textContent = cell ? A.fill(this.data.texts.cell,
          {query: words[cell[0]], key: words[cell[1]], value: A.fixed(part.values[cell[0] * n + cell[1]], 4)}) : '';
        if (part === source) this.live.textContent = part.reading.textContent;
      }
    }
  }

  E.views.attention_film = {draw(root, data, {dark}) { (root.__film = root.__film || new Film(root)).set(data, dark); }};
  E.views.attention_summary = {draw(root, data, {dark}) { (root.__summary = root.__summary || new Summary(root)).set(data, dark); }};
})();
