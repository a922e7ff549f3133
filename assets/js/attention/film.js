// One shared head over its applications: its tiles side by side, and how much they change.
import {choice} from '../kit/choice.js';
import {make, resize, say} from '../kit/dom.js';
import {headImage, paletteOf} from './colours.js';
import {headAt, onPage} from './heads.js';

const SIDE = 92;

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
    this.strip = make('div', {class: 'aw-film', role: 'img'});
    this.chart = make('canvas', {role: 'img', 'aria-label': texts.chart});
    this.root.dataset.model = model;
    this.root.replaceChildren(choice(texts.heads, names, String(this.head), key => { this.head = Number(key); this.draw(); }),
      this.strip, make('p', {class: 'note', text: texts.chart}), this.chart);
    this.draw();
  }

  draw() {
    this.width = this.root.clientWidth;
    const wall = onPage.wall && onPage.wall.wall, {data} = this;
    const model = wall && wall.models.find(m => m.key === data.model);
    if (!this.width || !model) return;
    const palette = paletteOf(this.root, [model.key], this.dark), {size} = wall;
    this.strip.setAttribute('aria-label', say(data.texts.label, {head: this.head + 1}));
    this.strip.replaceChildren(...data.from_first.map((_, layer) => {
      const tile = headImage(wall, headAt(wall, model.m, layer * model.heads + this.head), palette);
      const shown = document.createElement('canvas'), brush = resize(shown, SIDE, SIDE), ratio = shown.width / SIDE;
      brush.imageSmoothingEnabled = size > SIDE * ratio;
      brush.drawImage(tile, 0, 0, SIDE, SIDE);
      const step = layer ? say(data.texts.step, {js: (data.step[layer - 1][this.head]).toFixed(2)}) : '';
      return make('figure', {}, shown, make('figcaption', {}, make('b', {text: String(layer + 1)}), make('span', {text: step})));
    }));
    this.drawChart(palette, model);
  }

  drawChart(palette, model) {
    const width = Math.min(this.width, 720), height = 210, left = 40, bottom = 28, top = 10, {from_first: rows} = this.data;
    const pen = resize(this.chart, width, height), most = Math.max(.01, ...rows.flat());
    const x = layer => left + (width - left - 14) * (rows.length > 1 ? layer / (rows.length - 1) : 0);
    const y = js => top + (height - top - bottom) * (1 - js / most);
    pen.font = '12px system-ui, sans-serif';
    pen.fillStyle = palette.soft;
    pen.strokeStyle = palette.line;
    pen.textAlign = 'right';
    pen.textBaseline = 'middle';
    for (const part of [0, .5, 1]) {
      pen.fillText((most * part).toFixed(2), left - 8, y(most * part));
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

export function draw(root, data, {dark}) {
  root.__film = root.__film || new Film(root);
  root.__film.set(data, dark);
}
