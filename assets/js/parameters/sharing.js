// What layers hold in common: four counts from real networks, the paper's scores, and any depth.
import {chart} from '../kit/chart.js';
import {slider, switcher} from '../kit/choice.js';
import {el, say, stacks} from '../kit/dom.js';
import {digits, exact, fine, million} from '../kit/numbers.js';

const DEPTHS = Array.from({length: 48}, (_, i) => i + 1);
const INK = {none: 'var(--ink-soft)', attention: 'var(--pt-attention)', ffn: 'var(--pt-ffn)', all: 'var(--albert-fill)'};
const choice = {e: '128', depth: 12};   // kept while the page is open

// Everything outside the layers, then each part as often as its mode stores it.
function count(mode, total12, parts, depth) {
  const both = {none: [12, 12], attention: [1, 12], ffn: [12, 1], all: [1, 1]}[mode];
  const outside = total12 - both[0] * parts.attention - both[1] * parts.ffn;
  const at = both.map(n => (n === 12 ? depth : 1));
  return outside + at[0] * parts.attention + at[1] * parts.ffn;
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const {modes, parts, texts} = data;
  const sentence = el('p', 'finding pt-finding'), bars = el('ol', 'pt-fall pt-modes', null, {'aria-label': texts.label});
  const controls = el('div', 'pm-controls'), picture = el('div', 'pt-picture'), scores = el('div', 'table', null,
    {tabindex: 0, role: 'region', 'aria-label': texts.scores});
  const deep = el('p', 'finding pt-finding'), key = el('ul', 'pt-key');
  controls.append(switcher(texts.e, {128: 'E = 128', 768: 'E = 768'}, choice.e, e => { choice.e = e; refresh(); }));
  const depth = slider(texts.depth, DEPTHS, choice.depth, value => { choice.depth = value; refresh(); });
  const lower = el('div', 'pm-controls');
  lower.append(depth.node);
  root.replaceChildren(sentence, controls, bars, el('h3', 'pt-published', texts.scores), scores,
    el('p', 'note', texts.published), deep, lower, key, picture);
  const curve = chart(lines(modes[choice.e], parts, texts));
  picture.append(curve.node);
  function refresh() {
    const rows = modes[choice.e], of = Object.fromEntries(rows.map(r => [r.mode, r]));
    sentence.textContent = say(texts.finding, {none: million(of.none.total), all: million(of.all.total),
      attention: million(of.attention.total), ffn: million(of.ffn.total), applied: million(of.all.applied)});
    bars.replaceChildren(...rows.map(row => bar(row, of.none.total, texts)));
    scores.replaceChildren(scoreTable(rows, texts));
    stacks(scores);
    deep.textContent = say(texts.deep, {depth: choice.depth, one: choice.depth === 1 ? '' : 's',
      albert: million(count('all', of.all.total, parts, choice.depth)),
      bert: million(count('none', of.none.total, parts, choice.depth)), layer: exact(parts.attention + parts.ffn)});
    key.replaceChildren(...rows.map(row => keyOf(row, parts, texts)));
    curve.set(lines(rows, parts, texts));
  }
  refresh();
}

function keyOf(row, parts, texts) {
  const item = el('li'), swatch = el('i', 'pm-swatch');
  swatch.style.background = INK[row.mode];
  item.append(swatch, `${texts.modes[row.mode]}: `, el('strong', '', million(count(row.mode, row.total, parts, choice.depth))));
  return item;
}

function bar(row, scale, texts) {
  const line = el('li'), track = el('span', 'track'), kept = el('i', 'kept');
  kept.style.cssText = `left:0;width:${100 * row.total / scale}%;background:${INK[row.mode]}`;
  track.append(kept);
  line.append(el('span', 'what', texts.modes[row.mode]), track, el('span', 'n', exact(row.total)));
  return line;
}

function scoreTable(rows, texts) {
  const table = el('table'), head = el('tr'), body = el('tbody'), top = el('thead');
  texts.score_heads.forEach(h => head.append(el('th', '', h, {scope: 'col'})));
  for (const row of rows) {
    const line = el('tr');
    line.append(el('th', '', texts.modes[row.mode], {scope: 'row'}),
      ...[million(row.total), row.printed + 'M', row.squad1, row.squad2, digits(row.mnli, 1), digits(row.sst2, 1),
        digits(row.race, 1), digits(row.average, 1)].map((t, i) => el('td', i ? 'published' : '', t)));
    body.append(line);
  }
  top.append(head);
  table.append(top, body);
  return table;
}

function lines(rows, parts, texts) {
  const top = Math.max(...rows.map(row => count(row.mode, row.total, parts, 48)));
  const of = (row, depth) => count(row.mode, row.total, parts, depth);
  return {
    xs: [1, 48], height: 280, label: texts.chart, rules: [choice.depth],
    x: {ticks: [1, 6, 12, 18, 24, 30, 36, 42, 48], print: exact, title: texts.depth},
    y: {range: [0, 1.1 * top], ticks: [0, 1, 2, 3].map(i => i * 1e8).filter(v => v <= top), print: v => v ? fine(v) : '0'},
    lines: rows.map(row => ({label: texts.modes[row.mode], values: [of(row, 1), of(row, 48)], colour: INK[row.mode]})),
    dots: rows.map(row => ({x: choice.depth, y: of(row, choice.depth), colour: INK[row.mode], r: 4})),
    ends: rows.map(row => ({y: of(row, 48), label: texts.modes[row.mode]})),
  };
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const names = ['mode', 'total', 'applied', 'printed', 'squad1', 'squad2', 'mnli', 'sst2', 'race', 'average'];
  return {columns: ['embedding', ...names],
    rows: Object.entries(data.modes).flatMap(([e, modes]) => modes.map(mode => [Number(e), ...names.map(name => mode[name])]))};
}
