// The triple loss on one sentence: weights and temperature move here, the parts arrived once.
import {make, note, stacks, tableHead, vary} from '../kit/dom.js';
import {brief, nats, percent, shown, cosine} from '../kit/numbers.js';
import {look} from '../page/look.js';

/** @typedef {import('../data').LossesData} LossesData */
/** @typedef {Record<string, any>} Texts */

const PARTS = ['ce', 'mlm', 'cos'];
/** @type {Record<string, number>} */
const chosen = {};
// tenths of the three weights, then of the temperature; nothing: as in the paper
const kept = look('loss', '');

/** Set what the link holds. @param {LossesData} data */
function follow({temperatures, texts: {start}}) {
  const parts = kept.value.split('.').map(Number),
    isGood = parts.length === 4 && parts.slice(0, 3).every(w => w >= 0 && w <= 100);
  const t = temperatures.find(step => Math.round(10 * step) === parts[3]);
  Object.assign(chosen, start);
  if (isGood && t !== undefined)
    Object.assign(chosen, {
      t,
      ...Object.fromEntries(PARTS.map((part, i) => [part, parts[i] / 10])),
    });
}

/** Put what is set into the link. @param {LossesData} data */
function keep({texts: {start}}) {
  const isUsual = [...PARTS, 't'].every(name => chosen[name] === start[name]);
  kept.value = isUsual ? '' : [...PARTS, 't'].map(name => Math.round(10 * chosen[name])).join('.');
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

/**
 * @param {string} id
 * @param {string} label
 * @param {{min: number, max: number, step: number}} options
 * @param {(value: number) => void} change
 */
function slider(id, label, options, change) {
  const input = make('input', {type: 'range', id, ...options});
  const output = make('output', {for: id});
  input.addEventListener('input', () => change(Number(input.value)));
  return {
    node: make('div', {class: 'dl-slider'}, make('label', {for: id}, label), input, output),
    input,
    output,
  };
}

/**
 * The unweighted parts of the loss at one temperature; null where a part is unknown.
 * @param {LossesData} data
 * @param {number} i which temperature
 * @returns {Record<string, number | null>}
 */
const valuesAt = ({ce, mlm, cos}, i) => ({ce: ce[i], mlm, cos});

/** @param {ReturnType<typeof built>} view */
function paint(view) {
  const {data, rows, words, strip} = view,
    texts = data.texts;
  const i = data.temperatures.indexOf(chosen.t);
  const values = valuesAt(data, i);
  const total = PARTS.reduce((sum, part) => sum + chosen[part] * (values[part] ?? 0), 0);
  for (const part of PARTS) {
    const value = values[part],
      weighted = value === null ? 0 : chosen[part] * value;
    rows[part].raw.textContent = value === null ? '–' : nats(value);
    rows[part].times.textContent = `× ${brief(chosen[part])}`;
    rows[part].part.textContent = value === null ? texts.unknown : nats(weighted);
    rows[part].share.textContent = value === null || !total ? '' : percent(weighted / total);
    vary(rows[part].fill, '--share', total ? weighted / total : 0);
  }
  view.total.textContent = nats(total);
  view.total.dataset.value = String(total);
  view.head.textContent = texts.head.replace('{t}', shown(chosen.t));
  const kl = data.kl[i],
    top = Math.max(...kl),
    worst = kl.indexOf(top);
  words.forEach((cell, w) => {
    vary(cell.bar, '--share', top ? kl[w] / top : 0);
    cell.value.textContent = nats(kl[w]);
    cell.node.classList.toggle('worst', w === worst);
    cell.node.title = texts.word
      .replace('{kl}', nats(kl[w]))
      .replace('{cos}', data.cosine ? cosine(data.cosine[w]) : texts.no_cosine);
  });
  strip.setAttribute('aria-label', texts.strip);
  view.worst.textContent = texts.worst
    .replace('{word}', data.tokens[worst])
    .replace('{kl}', nats(top))
    .replace('{share}', percent(top / (kl.reduce((a, b) => a + b, 0) || 1)));
}

/** @param {string} part @param {Texts} texts */
function row(part, texts) {
  const cells = {raw: make('td'), times: make('td'), part: make('td'), share: make('td')};
  const key = make('i', {class: 'dl-key', 'data-part': part}),
    node = make('tr', {}, make('th', {scope: 'row'}, key, texts[part]), ...Object.values(cells));
  return {...cells, node, fill: make('i', {'data-part': part})};
}

/** @param {string} token */
function wordCell(token) {
  const bar = make('i'),
    value = make('span', {class: 'dl-kl'});
  const node = make(
    'li',
    {class: 'dl-word'},
    make('span', {class: 'dl-bar', 'aria-hidden': 'true'}, bar),
    value,
    make('span', {class: 'dl-token'}, token),
  );
  return {bar, value, node};
}

/** What the sliders change. @param {LossesData} data */
function built(data) {
  const words = data.tokens.map(wordCell);
  return {
    data,
    rows: Object.fromEntries(PARTS.map(part => [part, row(part, data.texts)])),
    words,
    total: make('strong', {class: 'dl-total'}),
    head: make('h3'),
    worst: make('p', {class: 'ds-sentence'}),
    strip: make('ol', {class: 'dl-strip', tabindex: 0}, ...words.map(cell => cell.node)),
  };
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {LossesData} */ data) {
  const texts = data.texts;
  follow(data);
  const view = built(data);
  const sliders = PARTS.map(part =>
    slider(`dl-${part}`, texts.weights[part], {min: 0, max: 10, step: 0.1}, value => {
      chosen[part] = value;
      keep(data);
      sync();
      paint(view);
    }),
  );
  const t = slider(
    'dl-t',
    texts.temperature,
    {min: 0, max: data.temperatures.length - 1, step: 1},
    step => {
      chosen.t = data.temperatures[step];
      keep(data);
      sync();
      paint(view);
    },
  );
  const sync = () => {
    PARTS.forEach((part, i) => {
      sliders[i].input.value = String(chosen[part]);
      sliders[i].output.textContent = brief(chosen[part]);
    });
    t.input.value = String(data.temperatures.indexOf(chosen.t));
    t.output.textContent = shown(chosen.t);
    t.input.setAttribute('aria-valuetext', shown(chosen.t));
  };
  const reset = make('button', {type: 'button', class: 'chip'}, texts.reset);
  reset.addEventListener('click', () => {
    Object.assign(chosen, texts.start);
    keep(data);
    sync();
    paint(view);
  });
  sync();
  paint(view);
  root.replaceChildren(
    make('div', {class: 'dl-sliders'}, ...sliders.map(slider => slider.node), t.node, reset),
    make(
      'div',
      {class: 'dl-sum'},
      make('span', {}, texts.total),
      view.total,
      make(
        'span',
        {class: 'dl-shares', 'aria-hidden': 'true'},
        ...PARTS.map(part => view.rows[part].fill),
      ),
    ),
    stacks(
      make(
        'div',
        {class: 'table', tabindex: 0, role: 'region', 'aria-label': texts.table},
        make(
          'table',
          {},
          tableHead(texts.columns),
          make('tbody', {}, ...PARTS.map(part => view.rows[part].node)),
        ),
      ),
    ),
    ...texts.notes.map((/** @type {string} */ sentence) => note(sentence)),
    texts.how ? make('p', {class: 'note how', text: texts.how}) : '',
    view.head,
    view.worst,
    view.strip,
  );
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {LossesData} */ {place, answer, temperatures, texts}) => ({
  PAIR: texts.pair,
  PLACE: place,
  ANSWER: answer,
  TEMPERATURES: temperatures,
  WEIGHTS: weightsOf(texts),
});

/** @type {import('../gradio.js').Picture['header']} */
export const header = (/** @type {LossesData} */ {temperatures, texts, place}) => ({
  state: {
    temperature: temperatures.includes(chosen.t) ? chosen.t : texts.start.t,
    weights: weightsOf(texts),
    masked_word: place + 1,
  },
});

/**
 * The weights of the three parts as they are set.
 * @param {Texts} texts
 * @returns {Record<string, number>}
 */
const weightsOf = ({start}) =>
  Object.fromEntries(PARTS.map(part => [part, chosen[part] ?? start[part]]));

/**
 * Each part times its weight, their sum, and the share of each in it.
 * @param {LossesData} data
 * @param {number} i which temperature
 */
function weighted(data, i) {
  const weights = weightsOf(data.texts),
    values = valuesAt(data, i);
  const parts = PARTS.map(part => {
    const value = values[part];
    return value === null ? null : weights[part] * value;
  });
  const total = parts.reduce((/** @type {number} */ sum, part) => sum + (part ?? 0), 0);
  return [...parts, total, ...parts.map(part => (part === null || !total ? null : part / total))];
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {LossesData} */ data) {
  const rows = data.temperatures.flatMap((t, i) =>
    data.tokens.map((token, w) => [
      t,
      w + 1,
      token,
      data.kl[i][w],
      data.kl[i][w] / (data.kl[i].reduce((a, b) => a + b, 0) || 1),
      data.cosine?.[w] ?? null,
      data.ce[i],
      data.mlm,
      data.cos,
      ...weighted(data, i),
    ]),
  );
  return {
    columns: [
      'temperature',
      'position',
      'token',
      'kl_nats',
      'share_of_kl',
      'cosine',
      'loss_ce',
      'loss_mlm',
      'loss_cos',
      ...PARTS.map(part => `weighted_${part}`),
      'total',
      ...PARTS.map(part => `share_${part}`),
    ],
    rows,
  };
}
