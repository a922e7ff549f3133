// Three bars on one scale: every weight stored, or every weight as often as a pass applies it.
import {switcher} from '../kit/choice.js';
import {el, make, say, sized, stacks, the} from '../kit/dom.js';
import {memory, percent, weights} from '../kit/numbers.js';
import {explained} from '../kit/term.js';
import {look} from '../page/look.js';

/**
 * @typedef {import('../data').MapData} MapData
 * @typedef {import('../data').MapRow} Row
 * @typedef {import('../data').MapCell & {again?: boolean}} Cell `again`: a copy of a shared layer
 * @typedef {{cell: Cell, part: HTMLElement}} Entry
 * @typedef {{scale: number, first: string}} Frame what all bars share: their scale, and the name of
 *   the first model
 */

/** How a label may stand in its part, the longest first. */
const FORMS = ['', 'two', 'short'];
const chosenMode = look('mode', 'stored'),
  chosenFamily = look('counts', '');
// A choice of whose counts are shown holds for the family that it was made beside.
const beside = (chosen = '') => chosen.replace(/[^A-Za-z0-9]/g, '').slice(0, 40);
const modeIn = (/** @type {any} */ {modes} = {modes: {}}) =>
  Object.hasOwn(modes, chosenMode.value) ? chosenMode.value : 'stored';

/** @param {MapData} data */
function familyIn({families, chosen}) {
  const [family, at] = chosenFamily.value.split('.');
  if (at === beside(chosen) && Object.hasOwn(families, family)) return family;
  return families.chosen ? 'chosen' : Object.keys(families)[0];
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/** @type {import('../gradio.js').Picture['show']} */
export const show = draw;

/** @param {HTMLElement} root @param {MapData} data */
function draw(root, data) {
  const {families, texts} = data;
  const shown = familyIn(data);
  // The sentence on top is of one family, too: the style sheet shows the chosen one's.
  root.closest('#tab-parameters')?.setAttribute('data-family', shown);
  const rows = families[shown];
  const box = el('div', 'pm');
  const noteOf = (/** @type {string} */ mode) => say(texts[mode + '_note'], {first: rows[0].label});
  const inspector = el('div', 'pm-inspector');
  inspector.setAttribute('aria-live', 'polite');
  const scale = Math.max(...rows.map(row => Math.max(row.total, row.applied)));
  const bars = rows.map(row => makeRow(row, {scale, first: rows[0].label}, texts, inspector));
  const controls = el('div', 'pm-controls');
  controls.append(
    switcher(texts.mode_label, texts.modes, modeIn(texts), mode => {
      chosenMode.value = mode;
      bars.forEach(bar => bar.place(mode));
      caption.textContent = noteOf(mode);
      if (inspected) inspect(inspector, inspected.row, inspected.cell, texts);
    }),
  );
  const names = Object.fromEntries(Object.keys(families).map(f => [f, texts.families[f]]));
  if (Object.keys(names).length > 1) {
    controls.append(
      switcher(texts.family_label, names, shown, family => {
        chosenFamily.value = `${family}.${beside(data.chosen)}`;
        draw(root, data);
        the(root, '.pm-switch:last-child [aria-pressed=true]').focus();
      }),
    );
  }
  const caption = el('p', 'note', noteOf(modeIn(texts)));
  box.append(
    controls,
    caption,
    ...bars.map(bar => bar.node),
    legend(rows, texts, box),
    el('p', 'note how', texts.hint),
    inspector,
    make('p', {class: 'note'}, ...explained(texts.heads_apart, texts.terms)),
  );
  root.replaceChildren(box);
  bars.forEach(bar => bar.place(modeIn(texts)));
  const last = rows[rows.length - 1],
    ffn = last.cells.find(cell => cell.part === 'ffn');
  if (ffn) inspect(inspector, last, ffn, texts);
}

/**
 * Cells in reading order; a shared layer gets one hatched copy for each further time it runs.
 * @param {Row} row
 * @returns {Cell[]}
 */
function cellsOf(row) {
  const shared = row.cells.filter(cell => cell.layer !== null && cell.calls > 1);
  const copies = [];
  const times = shared.length ? shared[0].calls : 1;
  for (let call = 1; call < times; call++) {
    copies.push(...shared.map(cell => ({...cell, layer: call, again: true})));
  }
  const end = row.cells.findLastIndex(cell => cell.layer !== null) + 1;
  return [...row.cells.slice(0, end), ...copies, ...row.cells.slice(end)];
}

/** @param {Row} row @param {Frame} frame @param {any} texts @param {HTMLElement} inspector */
function makeRow(row, {scale, first}, texts, inspector) {
  const node = el('section', 'pm-row');
  Object.assign(node.dataset, {model: row.key, size: row.size});
  const name = el('h3', 'model-name', row.label);
  const total = el('strong', 'pm-total'),
    unit = el('span', 'pm-unit');
  const head = el('header');
  const apart = el(
    'button',
    'chip pm-head',
    `+ ${weights(row.head.size)} ${texts.parts.head.toLowerCase()}`,
    {type: 'button'},
  );
  apart.addEventListener('click', () => inspect(inspector, row, row.head, texts));
  head.append(name, total, unit, apart);
  const bar = el('div', 'pm-bar');
  bar.tabIndex = 0;
  bar.setAttribute('role', 'group');
  bar.setAttribute(
    'aria-label',
    say(texts.bar, {label: row.label, stored: weights(row.total), applied: weights(row.applied)}),
  );
  const cells = cellsOf(row).map(cell => {
    const part = el('i', 'pm-cell' + (cell.again ? ' again' : ''));
    part.dataset.part = cell.part;
    if (cell.part === 'attention') part.classList.add('starts');
    if (cell.part === 'word_embeddings') part.append(el('span', '', texts.embeddings));
    if (cell.part === 'ffn')
      part.append(
        el('span', '', `${Number(cell.layer) + 1}`, {
          title: `${texts.layer} ${Number(cell.layer) + 1}`,
        }),
      );
    return {cell, part};
  });
  // A model that is wider than the first would save more than the bars are long: then it is no
  // smaller form of that one.
  const smaller = row.savings.filter(([, saved]) => saved > 0),
    fits = smaller.reduce((sum, [, saved]) => sum + saved, row.total) <= scale;
  const ghosts = (fits ? smaller : []).map(([change, saved]) => {
    const part = el('i', 'pm-ghost');
    part.title = `${texts.changes[change]}: −${weights(saved)}`;
    part.append(
      make(
        'span',
        {},
        make('span', {class: 'pm-what'}, `${texts.changes[change]}: `),
        `−${weights(saved)}`,
      ),
    );
    return {change, saved, part};
  });
  bar.append(...cells.map(c => c.part), ...ghosts.map(g => g.part));
  const text = el('p', 'pm-caption');
  node.append(head, bar, text);

  let mode = 'stored',
    current = -1;
  const visible = () => cells.filter(c => mode === 'applied' || !c.cell.again);
  /** @param {Entry} entry */
  function point(entry) {
    bar
      .closest('.pm')
      ?.querySelectorAll('.pm-cell.current')
      .forEach(part => part.classList.remove('current'));
    entry.part.classList.add('current');
    current = visible().indexOf(entry);
    inspect(inspector, row, entry.cell, texts);
  }
  cells.forEach(entry => entry.part.addEventListener('pointerenter', () => point(entry)));
  cells.forEach(entry => entry.part.addEventListener('pointerdown', () => point(entry)));
  bar.addEventListener('keydown', event => {
    const list = visible(),
      places = {ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: list.length - 1},
      next = places[/** @type {keyof typeof places} */ (event.key)];
    if (next === undefined) return;
    event.preventDefault();
    point(list[Math.max(0, Math.min(list.length - 1, next))]);
  });

  /** @param {string} to */
  function place(to) {
    mode = to;
    let at = 0;
    const set = (/** @type {HTMLElement} */ part, /** @type {number} */ size) => {
      part.style.left = (100 * at) / scale + '%';
      part.style.width = (100 * size) / scale + '%';
      at += size;
    };
    for (const {cell, part} of cells) {
      const shown = !cell.again || mode === 'applied';
      part.classList.toggle('folded', !shown);
      set(part, shown ? cell.size : 0);
    }
    for (const {change, saved, part} of ghosts) {
      const shown = !(mode === 'applied' && change === 'sharing');
      part.classList.toggle('folded', !shown);
      set(part, shown ? saved : 0);
    }
    total.textContent = weights(mode === 'applied' ? row.applied : row.total);
    unit.textContent =
      mode === 'applied' ? texts.modes.applied.toLowerCase() : memory(row.bytes) + ' fp32';
    text.textContent = captionOf(row, first, texts, mode);
    trim();
  }

  // A label stands in one line, in two, or as its number alone; what is too narrow for that says
  // nothing: the line that comes with the pointer has the same numbers.
  function trim() {
    for (const {part} of [...cells, ...ghosts]) {
      const label = /** @type {HTMLElement | null} */ (part.firstElementChild),
        room = (bar.clientWidth * parseFloat(part.style.width)) / 100;
      if (!label) continue;
      label.className =
        FORMS.find(form => {
          label.className = form;
          return label.offsetWidth + 4 <= room;
        }) ?? 'cut';
    }
  }
  sized(bar, trim);
  return {node, place};
}

/** @param {Row} row */
const embeddingsOf = row =>
  row.cells
    .filter(c => c.layer === null && c.part !== 'pooler')
    .reduce((sum, c) => sum + c.size, 0);

/**
 * What a bar is made of and what it lacks: as stored, or as applied, where sharing saves nothing.
 * @param {Row} row
 * @param {string} first
 * @param {any} texts
 * @param {string} mode
 */
function captionOf(row, first, texts, mode) {
  const embeddings = embeddingsOf(row);
  const pooler = row.cells.find(c => c.part === 'pooler');
  const shared = row.cells.some(c => c.calls > 1);
  const layers = shared
    ? `${texts.one_layer} ${weights(row.layer)}, ${say(texts.run, {n: row.calls})}`
    : row.calls === 1
      ? `${texts.one_layer} ${weights(row.layer)}`
      : `${row.calls} ${texts.layers_each} ${weights(row.layer)}`;
  const parts = [`${texts.embeddings} ${weights(embeddings)}`, layers];
  if (pooler) parts.push(`${texts.parts.pooler.toLowerCase()} ${weights(pooler.size)}`);
  const savings = row.savings.filter(([change]) => mode === 'stored' || change !== 'sharing');
  if (!savings.length) return parts.join(', ');
  const saved = savings.reduce((sum, [, n]) => sum + n, 0);
  // else a share of the sum would be no share
  const oneWay = savings.every(([, n]) => n * saved > 0);
  const steps = savings.map(
    ([change, n]) =>
      `${texts.changes[change]} ${weights(Math.abs(n))}` +
      (oneWay && n / saved >= 5e-4 ? ` (${percent(n / saved)})` : ''),
  );
  const than = say(saved < 0 ? texts.more : texts.less, {first, how: texts.how[mode]});
  return `${parts.join(', ')}. ${weights(Math.abs(saved))} ${than}: ${steps.join(', ')}.`;
}

/** What was looked at last. @type {{row: Row, cell: Cell} | null} */
let inspected = null;

/** @param {HTMLElement} inspector @param {Row} row @param {Cell} cell @param {any} texts */
function inspect(inspector, row, cell, texts) {
  inspected = {row, cell};
  const whole = chosenMode.value === 'applied' && cell.calls ? row.applied : row.total;
  // The head is beside the bar, not a part of it.
  const share = cell === row.head ? '' : `, ${percent(cell.size / whole)}`;
  const where = cell.layer === null ? '' : `, ${texts.layer} ${cell.layer + 1}`;
  const line = el('p', 'pm-line');
  const name = el('span', 'model-name', row.label);
  name.dataset.model = row.key;
  line.append(
    name,
    `${where}, ${texts.parts[cell.part]}: `,
    el('strong', '', cell.size.toLocaleString('en')),
    ` ${texts.numbers}${share}` +
      (cell.again
        ? ` (${texts.again})`
        : cell.calls > 1
          ? ` (${say(texts.run, {n: cell.calls})})`
          : ''),
  );
  const table = el('table'),
    head = el('tr'),
    body = el('tbody');
  for (const name of texts.tensor_head) head.append(el('th', '', name, {scope: 'col'}));
  for (const [tensor, shape, dtype, bytes] of cell.tensors) {
    const tr = el('tr'),
      th = el('th', '', tensor);
    th.scope = 'row';
    tr.append(
      th,
      ...[shape.join(' × '), dtype, bytes.toLocaleString('en')].map(t => el('td', '', t)),
    );
    body.append(tr);
  }
  const thead = el('thead');
  thead.append(head);
  table.append(thead, body);
  const wrap = el('div', 'table');
  wrap.tabIndex = 0;
  wrap.setAttribute('role', 'region');
  wrap.setAttribute('aria-label', texts.tensor_head[0]);
  wrap.append(table);
  stacks(wrap);
  inspector.replaceChildren(line, wrap);
}

/** @param {Row[]} rows @param {any} texts @param {HTMLElement} box */
function legend(rows, texts, box) {
  const list = el('ul', 'pm-legend');
  const used = new Set(rows.flatMap(row => row.cells.map(cell => cell.part)));
  for (const part of Object.keys(texts.parts).filter(p => used.has(p))) {
    const item = el('li');
    const swatch = el('i', 'pm-swatch');
    swatch.dataset.part = part;
    item.append(swatch, texts.parts[part]);
    item.addEventListener('pointerenter', () => {
      box.dataset.lit = part;
    });
    item.addEventListener('pointerleave', () => {
      delete box.dataset.lit;
    });
    list.append(item);
  }
  return list;
}

/** The family that is drawn. @param {MapData} data */
const drawnOf = data => data.families[familyIn(data)];

/** What a link calls it. @param {MapData} data */
const nameOf = data => (familyIn(data) === 'chosen' ? data.chosen : familyIn(data));

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {MapData} */ data) => ({
  state: {family: nameOf(data), counted: modeIn(data.texts)},
  totals: Object.fromEntries(
    drawnOf(data).map(row => [
      row.label,
      {
        stored: row.total,
        applied: row.applied,
        fp32_bytes: row.bytes,
        one_layer: row.layer,
        embeddings: embeddingsOf(row),
        saved: savingsOf(row),
      },
    ]),
  ),
});

/**
 * What each change saves of what is stored and of what is applied, and its share of what all of
 * them do.
 * @param {Row} row
 */
function savingsOf({savings}) {
  const told = (/** @type {Row['savings']} */ listed) => {
    const all = listed.reduce((sum, [, n]) => sum + n, 0);
    return {
      all,
      ...Object.fromEntries(
        listed.map(([change, n]) => [change, {weights: n, percent: (100 * n) / all}]),
      ),
    };
  };
  return {stored: told(savings), applied: told(savings.filter(([change]) => change !== 'sharing'))};
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {MapData} */ data) => ({
  FAMILY: nameOf(data),
  CONFIGS: Object.fromEntries(drawnOf(data).map(row => [row.label, row.config])),
});

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {MapData} */ data) {
  /** @type {(family: string, row: Row, cell: Cell) => (string | number | null)[]} */
  const of = (family, row, cell) => [
    family,
    row.label,
    cell.layer === null ? null : cell.layer + 1,
    cell.part,
    cell.size,
    cell.calls,
  ];
  const family = nameOf(data),
    rows = drawnOf(data).flatMap(row =>
      [...row.cells, row.head].map(cell => of(family, row, cell)),
    );
  return {columns: ['family', 'model', 'layer', 'part', 'weights', 'applied_times'], rows};
}
