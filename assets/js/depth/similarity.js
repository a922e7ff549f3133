// Every layer against every layer: two squares of cells, and the cell that is pointed at read out.
import {make, resize, say, sized} from '../kit/dom.js';
import {paletteOf} from '../attention/colours.js';

const MARGIN = 34, MOST = 22;
const name = (texts, {label, layer}) => say(layer ? texts.layer : texts.embeddings, {model: label, n: layer});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, context) {
  const {rows, texts} = data, n = rows.length;
  const reading = make('p', {class: 'dk-reading', role: 'status'}, texts.hint);
  const squares = ['cka', 'shuffled'].map(kind => square(kind));
  const starts = rows.flatMap((row, i) => i && row.key === rows[i - 1].key ? [] : [i]);
  /** @type {number[] | null} */
  let cell = null;

  function square(kind) {
    const canvas = make('canvas', {tabindex: 0, role: 'img', 'aria-label': texts[kind]});
    const node = make('figure', {class: 'dk-square'}, make('figcaption', {}, texts[kind]), canvas);
    canvas.addEventListener('pointermove', event => {
      const step = Number(canvas.dataset.step), at = [event.offsetY, event.offsetX].map(v => Math.floor((v - MARGIN) / step));
      point(at.every(i => i >= 0 && i < n) ? at : null);
    });
    canvas.addEventListener('keydown', event => {
      const way = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      if (!way) return;
      event.preventDefault();
      point((cell ?? [0, 0]).map((v, i) => Math.max(0, Math.min(n - 1, v + way[i]))));
    });
    return {kind, canvas, node};
  }

  function point(at) {
    if (String(at) === String(cell)) return;
    cell = at;
    reading.textContent = at ? say(texts.cell, {row: name(texts, rows[at[0]]), column: name(texts, rows[at[1]]),
      cka: data.cka[at[0]][at[1]].toFixed(3), shuffled: data.shuffled[at[0]][at[1]].toFixed(3)}) : texts.hint;
    draw();
  }

  function draw() {
    const keys = starts.map(i => rows[i].key), palette = paletteOf(root, keys, context.dark), across = root.clientWidth;
    if (!across) return;
    const width = across > 760 ? (across - 32) / 2 : across, step = Math.max(5, Math.min(MOST, Math.floor((width - MARGIN - 4) / n)));
    squares.forEach(({kind, canvas}) => paint(canvas, data[kind], kind === 'cka' ? data.pairs : [], palette, step));
  }

  function paint(canvas, values, pairs, palette, step) {
    const pen = resize(canvas, MARGIN + n * step + 2, MARGIN + n * step + 2), at = i => MARGIN + i * step;
    canvas.dataset.step = String(step);
    values.forEach((line, r) => line.forEach((value, c) => {
      pen.globalAlpha = Math.max(.06, Math.min(1, value) ** 3);   // most values are large: so they can be told apart
      pen.fillStyle = palette.accent;
      pen.fillRect(at(c), at(r), step - 1, step - 1);
    }));
    pen.globalAlpha = 1;
    pen.font = '12px system-ui, sans-serif';
    starts.forEach((start, i) => {
      const end = starts[i + 1] ?? n, {key, label} = rows[start];
      pen.fillStyle = palette.text[key];
      for (const turned of [false, true]) {
        pen.save();
        if (turned) { pen.translate(12, at(end) - 2); pen.rotate(-Math.PI / 2); } else pen.translate(at(start), 12);
        pen.fillText(label, 0, 0, (end - start) * step - 4);
        pen.restore();
        turned ? pen.fillRect(MARGIN - 6, at(start), 3, (end - start) * step - 2) : pen.fillRect(at(start), MARGIN - 6, (end - start) * step - 2, 3);
      }
      if (start) {
        pen.fillStyle = palette.soft;
        pen.fillRect(at(start) - 1, MARGIN, 1, n * step);
        pen.fillRect(MARGIN, at(start) - 1, n * step, 1);
      }
    });
    pen.lineWidth = 2;
    pen.strokeStyle = palette.text[rows.at(-1).key] && palette.ink;
    const framed = pairs.flatMap(([r, c]) => [[r, c], [c, r]]);
    if (cell) framed.push(cell);
    for (const [r, c] of framed) pen.strokeRect(at(c), at(r), step - 1, step - 1);
  }

  const node = make('div', {class: 'dk'}, ...squares.map(one => one.node));
  root.replaceChildren(node, reading);
  shown.set(root, draw);
  sized(node, draw);
}

const shown = new WeakMap();   // root -> how it is drawn anew

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => shown.get(root)?.();

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = ({sentences}) => ({TEXTS: sentences});

/** @type {import('../gradio.js').Picture['table']} */
export const table = ({rows, cka, shuffled}) => ({columns: ['model', 'layer', 'other_model', 'other_layer', 'cka', 'cka_shuffled'],
  rows: rows.flatMap((row, r) => rows.map((other, c) => [row.label, row.layer, other.label, other.layer, cka[r][c], shuffled[r][c]]))});
