// The triple loss on one sentence: weights and temperature move here, the parts arrived once.
import {make, note, stacks, vary} from '../kit/dom.js';
import {brief, nats, percent, shown, cosine} from '../kit/numbers.js';
import {look} from '../page/look.js';

const PARTS = ['ce', 'mlm', 'cos'];
/** @type {Record<string, number>} */
const chosen = {};
// tenths of the three weights, then of the temperature; nothing: as in the paper
const kept = look('loss', '');

/** Set what the link holds. @param {any} data */
function follow({temperatures, texts: {start}}) {
  const parts = kept.value.split('.').map(Number),
    isGood = parts.length === 4 && parts.slice(0, 3).every(w => w >= 0 && w <= 100);
  const t = temperatures.find(one => Math.round(10 * one) === parts[3]);
  Object.assign(chosen, start);
  if (isGood && t !== undefined)
    Object.assign(chosen, {
      t,
      ...Object.fromEntries(PARTS.map((part, i) => [part, parts[i] / 10])),
    });
}

/** Put what is set into the link. @param {any} data */
function keep({texts: {start}}) {
  const isUsual = [...PARTS, 't'].every(name => chosen[name] === start[name]);
  kept.value = isUsual ? '' : [...PARTS, 't'].map(name => Math.round(10 * chosen[name])).join('.');
}

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['look'];

function slider(id, label, options, change) {
  const input = make('input', {type: 'range', id, ...options});
  const output = make('output', {for: id});
  input.addEventListener('input', change);
  return {
    node: make('div', {class: 'dl-slider'}, make('label', {for: id}, label), input, output),
    input,
    output,
  };
}

function paint(view) {
  const {data, rows, words, strip} = view,
    texts = data.texts;
  const i = data.temperatures.indexOf(chosen.t);
  const value = {ce: data.ce[i], mlm: data.mlm, cos: data.cos};
  const total = PARTS.reduce((sum, part) => sum + chosen[part] * (value[part] || 0), 0);
  for (const part of PARTS) {
    const missing = value[part] === null,
      weighted = missing ? 0 : chosen[part] * value[part];
    rows[part].raw.textContent = missing ? '–' : nats(value[part]);
    rows[part].times.textContent = `× ${brief(chosen[part])}`;
    rows[part].part.textContent = missing ? texts.unknown : nats(weighted);
    rows[part].share.textContent = missing || !total ? '' : percent(weighted / total);
    vary(rows[part].fill, '--share', total ? weighted / total : 0);
  }
  view.total.textContent = nats(total);
  view.total.dataset.value = total;
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

function row(part, texts) {
  const cells = {
    raw: make('td'),
    times: make('td'),
    part: make('td'),
    share: make('td'),
    fill: make('i', {'data-part': part}),
  };
  cells.node = make(
    'tr',
    {},
    make('th', {scope: 'row'}, make('i', {class: 'dl-key', 'data-part': part}), texts[part]),
    cells.raw,
    cells.times,
    cells.part,
    cells.share,
  );
  return cells;
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  const texts = data.texts;
  follow(data);
  const rows = Object.fromEntries(PARTS.map(part => [part, row(part, texts)]));
  const words = data.tokens.map(token => {
    const cell = {bar: make('i'), value: make('span', {class: 'dl-kl'})};
    cell.node = make(
      'li',
      {class: 'dl-word'},
      make('span', {class: 'dl-bar', 'aria-hidden': 'true'}, cell.bar),
      cell.value,
      make('span', {class: 'dl-token'}, token),
    );
    return cell;
  });
  const view = {
    data,
    rows,
    words,
    total: make('strong', {class: 'dl-total'}),
    head: make('h3'),
    worst: make('p', {class: 'ds-sentence'}),
    strip: make('ol', {class: 'dl-strip', tabindex: 0}, ...words.map(cell => cell.node)),
  };
  const sliders = PARTS.map(part =>
    slider(`dl-${part}`, texts.weights[part], {min: 0, max: 10, step: 0.1}, event => {
      chosen[part] = Number(event.target.value);
      keep(data);
      sync();
      paint(view);
    }),
  );
  const t = slider(
    'dl-t',
    texts.temperature,
    {min: 0, max: data.temperatures.length - 1, step: 1},
    event => {
      chosen.t = data.temperatures[Number(event.target.value)];
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
    make('div', {class: 'dl-sliders'}, ...sliders.map(one => one.node), t.node, reset),
    make(
      'div',
      {class: 'dl-sum'},
      make('span', {}, texts.total),
      view.total,
      make(
        'span',
        {class: 'dl-shares', 'aria-hidden': 'true'},
        ...PARTS.map(part => rows[part].fill),
      ),
    ),
    stacks(
      make(
        'div',
        {class: 'table', tabindex: 0, role: 'region', 'aria-label': texts.table},
        make(
          'table',
          {},
          make(
            'thead',
            {},
            make('tr', {}, ...texts.columns.map(name => make('th', {scope: 'col'}, name))),
          ),
          make('tbody', {}, ...PARTS.map(part => rows[part].node)),
        ),
      ),
    ),
    ...texts.notes.map(sentence => note(sentence)),
    texts.how ? make('p', {class: 'note how', text: texts.how}) : '',
    view.head,
    view.worst,
    view.strip,
  );
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = ({place, answer, temperatures, texts}) => ({
  PAIR: texts.pair,
  PLACE: place,
  ANSWER: answer,
  TEMPERATURES: temperatures,
  WEIGHTS: weightsOf(texts),
});

/** @type {import('../gradio.js').Picture['said']} */
export const said = ({temperatures, texts, place}) => ({
  state: {
    temperature: temperatures.includes(chosen.t) ? chosen.t : texts.start.t,
    weights: weightsOf(texts),
    masked_word: place + 1,
  },
});

/**
 * The weights of the three parts as they are set.
 * @param {any} texts
 * @returns {Record<string, number>}
 */
const weightsOf = ({start}) =>
  Object.fromEntries(PARTS.map(part => [part, chosen[part] ?? start[part]]));

/**
 * Each part times its weight, their sum, and the share of each in it.
 * @param {any} data
 * @param {number} i which temperature
 */
function weighted({ce, mlm, cos, texts}, i) {
  const weights = weightsOf(texts),
    value = {ce: ce[i], mlm, cos},
    parts = PARTS.map(part => (value[part] === null ? null : weights[part] * value[part]));
  const total = parts.reduce((sum, part) => sum + (part ?? 0), 0);
  return [...parts, total, ...parts.map(part => (part === null || !total ? null : part / total))];
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
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
