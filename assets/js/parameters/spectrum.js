// What the real embedding tables' singular values say: where a table is of full rank and where not.
import {el, say, sized} from '../kit/dom.js';
import {chart, colour} from '../kit/lines.js';
import {exact} from '../kit/numbers.js';

export function draw(root, data) {
  const {lines, texts} = data;
  const picture = el('div', 'pt-picture');
  const said = lines.map(l => say(l.rank < l.width ? texts.short : texts.full,
    {label: l.label, rank: exact(l.rank), width: exact(l.width), empty: exact(l.width - l.rank)}));
  const legend = el('ul', 'pt-key');
  for (const line of lines) {
    const item = el('li', 'model-name', say(texts.rank, {label: line.label, rank: exact(line.rank)}));
    item.dataset.model = line.key;
    legend.append(item);
  }
  root.replaceChildren(el('p', 'finding pt-finding', said.join(' ')), legend, picture, el('p', 'note', texts.note));
  const width = Math.max(...lines.map(l => l.width));
  const ranks = lines.filter(l => l.rank < l.width).map(l => ({x: l.rank}));
  sized(picture, w => chart(picture, {
    width: w, height: 300, label: said.join(' '), rules: ranks,
    x: {min: 1, max: width, ticks: [1, 64, 128, 192, 256, 320, 384, 512, 640, 768].filter(t => t <= width), print: exact, title: texts.index},
    y: {min: 1e-18, max: 1, log: true, ticks: [1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18],
      print: v => (v === 1 ? '1' : '10' + [...String(Math.round(Math.log10(v)))].map(c => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]).join(''))},
    lines: lines.map((l, i) => ({points: l.values.map((s, k) => [k + 1, Math.max(s, 1e-18)]), colour: colour(l.key), dash: i === 1 ? '7 4' : 'none'})),
  }));
}
