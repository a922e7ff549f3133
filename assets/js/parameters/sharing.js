// What layers hold in common: four counts from real networks, the paper's scores, and any depth.
import {slider, switcher} from '../kit/choice.js';
import {el, note, say, stacks} from '../kit/dom.js';
import {figure} from '../kit/figure.js';
import {look} from '../page/look.js';
import {digits, exact, unbreakable, weights} from '../kit/numbers.js';

export {whole} from '../kit/figure.js';

/**
 * @typedef {import('../data').SharingRow} Row
 * @typedef {{attention: number, ffn: number}} Parts the weights of a layer's two parts
 * @typedef {import('../data').ChartData & {modes: Record<string, Row[]>, parts: Parts, texts: any}}
 *   SharingData
 */

const DEPTHS = Array.from({length: 48}, (_, i) => i + 1);
/** @type {Record<string, string>} */
const INK = {
  none: 'var(--ink)',
  attention: 'var(--pt-attention)',
  ffn: 'var(--pt-ffn)',
  all: 'var(--column-albert-fill)',
};
const chosenWidth = look('e', 128),
  chosenDepth = look('depth', 12);
/** @param {SharingData['modes']} modes */
const widthIn = modes => (Object.hasOwn(modes, chosenWidth.value) ? chosenWidth.value : '128');
const depthNow = () => DEPTHS.find(depth => String(depth) === chosenDepth.value) ?? 12;

/** How often each mode stores the two parts of twelve layers. @type {Record<string, number[]>} */
const STORED = {none: [12, 12], attention: [1, 12], ffn: [12, 1], all: [1, 1]};

/**
 * Everything outside the layers, then each part as often as its mode stores it.
 * @param {string} mode
 * @param {number} total12
 * @param {Parts} parts
 * @param {number} depth
 */
function count(mode, total12, parts, depth) {
  const both = STORED[mode];
  const outside = total12 - both[0] * parts.attention - both[1] * parts.ffn;
  const at = both.map(n => (n === 12 ? depth : 1));
  return outside + at[0] * parts.attention + at[1] * parts.ffn;
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {SharingData} */ data) {
  const {modes, parts, texts} = data;
  const sentence = el('p', 'finding pt-finding'),
    bars = el('ol', 'pt-fall pt-modes', null, {'aria-label': texts.label});
  const controls = el('div', 'pm-controls'),
    scores = el('div', 'table', null, {tabindex: 0, role: 'region', 'aria-label': texts.scores});
  const deep = el('p', 'finding pt-finding'),
    chart = figure(data.figures[0], texts.chart);
  controls.append(
    switcher(texts.e, {128: 'E = 128', 768: 'E = 768'}, widthIn(modes), e => {
      chosenWidth.value = e;
      refresh();
    }),
  );
  const depth = slider(texts.depth, DEPTHS, depthNow(), value => {
    chosenDepth.value = String(value);
    refresh();
  });
  const lower = el('div', 'pm-controls');
  lower.append(depth.node);
  root.replaceChildren(
    sentence,
    controls,
    bars,
    el('h3', 'pt-published', texts.scores),
    scores,
    note(texts.published),
    deep,
    lower,
    chart.node,
  );
  function refresh() {
    const rows = modes[widthIn(modes)],
      of = Object.fromEntries(rows.map(r => [r.mode, r]));
    sentence.textContent = say(texts.finding, {
      none: weights(of.none.total),
      all: weights(of.all.total),
      attention: weights(of.attention.total),
      ffn: weights(of.ffn.total),
      applied: weights(of.all.applied),
    });
    bars.replaceChildren(...rows.map(row => bar(row, of.none.total, texts)));
    scores.replaceChildren(scoreTable(rows, texts));
    stacks(scores);
    deep.textContent = say(texts.deep, {
      depth: depthNow(),
      one: depthNow() === 1 ? '' : 's',
      albert: weights(count('all', of.all.total, parts, depthNow())),
      bert: weights(count('none', of.none.total, parts, depthNow())),
      layer: exact(parts.attention + parts.ffn),
    });
    const spec = data.figures[Object.keys(modes).indexOf(widthIn(modes))];
    chart.set({
      layout: spec.layout,
      data: spec.data.map((trace, i) =>
        i < rows.length ? trace : dot(trace, rows[i - rows.length], parts),
      ),
    });
  }
  refresh();
}

/**
 * What a way of sharing stores at the chosen depth.
 * @param {any} trace
 * @param {Row} row
 * @param {Parts} parts
 */
function dot(trace, row, parts) {
  const y = count(row.mode, row.total, parts, depthNow());
  return {...trace, x: [depthNow()], y: [y], text: [weights(y)]};
}

/** @param {Row} row @param {number} scale @param {any} texts */
function bar(row, scale, texts) {
  const line = el('li'),
    track = el('span', 'track'),
    kept = el('i', 'kept');
  kept.style.cssText = `left:0;width:${(100 * row.total) / scale}%;background:${INK[row.mode]}`;
  track.append(kept);
  line.append(el('span', 'what', texts.modes[row.mode]), track, el('span', 'n', exact(row.total)));
  return line;
}

/** @param {Row[]} rows @param {any} texts */
function scoreTable(rows, texts) {
  const table = el('table'),
    head = el('tr'),
    body = el('tbody'),
    top = el('thead');
  for (const name of texts.score_heads) head.append(el('th', '', name, {scope: 'col'}));
  for (const row of rows) {
    const line = el('tr');
    line.append(
      el('th', '', texts.modes[row.mode], {scope: 'row'}),
      ...[
        weights(row.total),
        `${row.printed}${unbreakable}M`,
        row.squad1,
        row.squad2,
        digits(row.mnli, 1),
        digits(row.sst2, 1),
        digits(row.race, 1),
        digits(row.average, 1),
      ].map((t, i) => el('td', i ? 'published' : '', t)),
    );
    body.append(line);
  }
  top.append(head);
  table.append(top, body);
  return table;
}

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {SharingData} */ {numbers, parts}) => ({
  ...numbers.said,
  state: {embedding: Number(chosenWidth.value), layers: depthNow()},
  one_layer: parts.attention + parts.ffn,
});

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = () => ({LAYERS: [...new Set([12, depthNow()])]});

/**
 * The counted ones, and what each way stores with as many layers as are chosen; the scores are of
 * twelve.
 * @type {import('../gradio.js').Picture['table']}
 */
export function table(/** @type {SharingData} */ {numbers: {columns, rows}, modes, parts}) {
  const known = rows.map(([e, mode, ...rest]) => [e, mode, 12, ...rest]),
    depth = depthNow(),
    scores = columns.slice(4);
  const deeper =
    depth === 12
      ? []
      : Object.entries(modes).flatMap(([e, members]) => {
          const none = members.find(({mode}) => mode === 'none')?.total ?? 0;
          return members.map(({mode, total}) => [
            Number(e),
            mode,
            depth,
            count(mode, total, parts, depth),
            count('none', none, parts, depth),
            ...scores.map(() => null),
          ]);
        });
  return {
    columns: [...columns.slice(0, 2), 'layers', ...columns.slice(2)],
    rows: [...known, ...deeper],
  };
}
