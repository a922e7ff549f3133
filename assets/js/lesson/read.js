// What a lesson reads from the page: the rows of a picture, which its menu saves too, and what they
// answer.
import {betweenWords, onPage, wordLabel} from '../attention/heads.js';
import {tableOf} from '../gradio.js';
import {say} from '../kit/dom.js';
import {
  cosine,
  digits,
  gflop,
  nats,
  number,
  percent,
  quotient,
  sideBySide,
  weights,
} from '../kit/numbers.js';
import {chosen} from '../page/here.js';
import {ask} from './ask.js';
import {exactP} from './exact.js';

/** @typedef {Record<string, any>} Row a picture's row by its columns' names */
/**
 * @typedef {{answer: string, numbers: [string, string][], text?: string}} Judged `answer`: the key
 *   of a lesson's choice, empty where the student is to judge; `numbers`: as they are printed, each
 *   with its name; `text`: what was read, where it is not the page's text
 */
/** @typedef {Record<string, string>} Texts how the numbers are called */
/**
 * `read`: what the page shows, plain values; null where it is not there yet, a sentence where
 * something else is to be chosen. `other`: the same of a text of the student's own, judged;
 * without one it is read and judged like the lesson's. `keeps`: what the next view opens with.
 * `on`: the tab of the student's own text, if it is not the lesson's
 * @typedef {{read: (act: import('./progress.js').Act, t: Texts) => any, judge: (readings: any[], t:
 *   Texts) => Judged | Promise<Judged>, other?: (t: Texts, acts: import('./progress.js').Act[]) =>
 *   Judged | string | null | Promise<Judged | null>,
 *   keeps?: (reading: any) => Record<string, string>, on?: string}} Reader
 */

/**
 * The rows that a picture shows now; none while it is not drawn.
 * @param {string} kind
 * @returns {Row[]}
 */
function rowsOf(kind) {
  const root = /** @type {HTMLElement | undefined} */ (
    [...document.querySelectorAll('.canvas[data-kind]')].find(
      canvas => /** @type {HTMLElement} */ (canvas).dataset.kind === kind,
    )
  );
  const {columns, rows} = (root && tableOf(root)) ?? {columns: [], rows: []};
  return rows.map(row => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
}

/** @template T @param {T[]} list @param {(item: T) => number} value the item with the largest */
const largest = (list, value) =>
  list.reduce((best, item) => (value(item) > value(best) ? item : best));

/** Each model's first word for the first mask; null where there is none. @param {Row[]} rows */
function firstWords(rows) {
  const first = rows
    .filter(row => row.gap === 1 && row.rank === 1)
    .map(({model, word, probability}) => ({model, word, probability}));
  return first.length ? first : null;
}

/**
 * @param {{model: string, word: string, probability: number}[]} first
 * @returns {[string, string][]}
 */
const wordsSaid = first =>
  sideBySide(first.map(word => word.probability)).map((printed, i) => [
    first[i].model,
    `“${first[i].word}” ${printed}`,
  ]);

/** Which model gives its first word the most. @type {Reader['judge']} */
export const surest = ([first]) => ({
  answer: largest(first, word => word.probability).model,
  numbers: wordsSaid(first),
});

/**
 * In the head that is chosen: the word that one word attends to most, and how much.
 * @param {number} at the word's place
 */
function attended(at) {
  if (!onPage.wall?.wall.words[at]) return null;
  const {wall, lock} = onPage.wall,
    {values, exact} = betweenWords(wall, lock),
    row = [...values.slice(at * wall.n, (at + 1) * wall.n)],
    model = wall.models[lock.m];
  const to = row.indexOf(Math.max(...row));
  return exact
    ? {
        model: model.label,
        key: model.key,
        layer: lock.layer,
        head: lock.head,
        from: wordLabel(wall.words[at]),
        to: wordLabel(wall.words[to]),
        share: row[to],
      }
    : null;
}

/** @param {Row} reading @param {Texts} t @returns {[string, string]} */
const headSaid = ({model, layer, head, from, to, share}, t) => [
  say(t.head, {model, layer: layer + 1, head: head + 1, from}),
  `“${to}” ${number(share)}`,
];

/** On how many sentences the head finds its word. @type {Reader['judge']} */
export const tracked = (readings, t) => ({
  answer: String(readings.filter(reading => reading.to === reading.wanted).length),
  numbers: readings.map(reading => headSaid(reading, t)),
});

/**
 * Where the two meanings of a word part: the layer with the largest fall of the first model's
 * cosine.
 * @param {{model: string, cosine: number[]}[]} models
 * @param {Texts} t
 * @returns {Judged}
 */
export function parted(models, t) {
  const [{cosine: by}] = models,
    falls = by.slice(1).map((x, i) => by[i] - x),
    layer = falls.indexOf(Math.max(...falls)) + 1;
  return {
    answer: layer === 1 ? 'first' : layer === by.length - 1 ? 'last' : 'between',
    numbers: models.map(({model, cosine: all}) => [
      say(t.cosines, {model: t[model] ?? model, n: all.length - 1}),
      all.map(cosine).join(', '),
    ]),
  };
}

/**
 * What the fold on word vectors shows: both sentences, the word, and the cosines by model; null
 * while it shows none.
 */
function meaning() {
  const uses = [...document.querySelectorAll('#fold-depth-meaning .dv-uses li')],
    rows = rowsOf('depth/meaning');
  const models = [...new Set(rows.map(row => row.model))].map(model => ({
    model,
    cosine: rows.filter(row => row.model === model).map(row => row.cosine),
  }));
  return uses.length && models.length
    ? {
        texts: uses.map(use => use.textContent.trim()),
        word: uses[0].querySelector('mark')?.textContent ?? '',
        models,
      }
    : null;
}

/**
 * How much less of the larger one the smaller needs, of what is stored and of what is computed.
 * @type {Reader['judge']}
 */
export function cheaper([{bert, albert}], t) {
  const share = albert.flops / bert.flops,
    stored = bert.parameters / albert.parameters,
    computed = bert.flops / albert.flops;
  return {
    answer: share < 0.25 ? 'ninth' : share < 0.75 ? 'half' : 'same',
    numbers: [
      [
        t.stored,
        `${weights(bert.parameters)} / ${weights(albert.parameters)} = ${quotient(stored)}`,
      ],
      [
        t.computed,
        `${gflop(bert.flops / 1e9)} / ${gflop(albert.flops / 1e9)} = ${quotient(computed)}`,
      ],
    ],
  };
}

/**
 * How often the KL becomes smaller between two temperatures, and what T squared leaves of that.
 * @type {Reader['judge']}
 */
export function softened([from, to], t) {
  const factor = from.kl / to.kl,
    near = largest([1, 2, 4, 16], power => -Math.abs(Math.log(factor / power)));
  return {
    answer: String(near),
    numbers: [
      ...[from, to].map(
        ({temperature, kl}) =>
          /** @type {[string, string]} */ ([
            say(t.kl, {temperature}),
            `${nats(kl)}; × T²: ${nats(kl * temperature ** 2)}`,
          ]),
      ),
      [t.factor, digits(factor, 2)],
    ],
  };
}

/** @param {number} temperature */
const klAt = temperature =>
  rowsOf('distillation/lab').find(
    row => row.measure === 'kl_teacher_student' && row.temperature === temperature,
  )?.value;

/** Whether so many rows can tell two models apart. @type {Reader['judge']} */
export function told(readings, t) {
  const rows = /** @type {Row[]} */ (readings[0]),
    models = [...new Set(rows.map(row => row.model))],
    right = rows.filter(row => row.rank === 1),
    of = (/** @type {string} */ model) =>
      right.filter(row => row.model === model).map(row => row.row);
  const [first, last] = [of(models[0]), of(models.at(-1))],
    only = [
      first.filter(row => !last.includes(row)).length,
      last.filter(row => !first.includes(row)).length,
    ],
    p = exactP(only[0], only[1]);
  const n = rows.length / models.length,
    shares = models.map(
      model =>
        /** @type {[string, string]} */ ([
          model,
          `${percent(of(model).length / n)} (${of(model).length} / ${n})`,
        ]),
    );
  return {
    answer: p >= 0.05 ? 'unclear' : only[0] > only[1] ? 'first' : 'last',
    numbers: [
      ...shares,
      [say(t.only, {model: models[0]}), String(only[0])],
      [say(t.only, {model: models.at(-1)}), String(only[1])],
      [t.p, number(p)],
    ],
  };
}

const firstHere = () => firstWords(rowsOf('predictions/gaps'));

/** By the name of a lesson. @type {Record<string, Reader>} */
export const READERS = {
  mask: {read: firstHere, judge: surest},
  head: {
    read(act) {
      const [from, to] = act.pair,
        reading = attended((onPage.wall?.wall.words ?? []).map(wordLabel).indexOf(from));
      if (!reading) return null;
      return act.miss && reading.to !== to
        ? say(act.miss, {to: reading.to})
        : {...reading, wanted: to};
    },
    judge: tracked,
    keeps: ({key, layer, head}) => ({model: key, layer: String(layer), head: String(head)}),
    other(t) {
      const reading = attended(Number(chosen('lit')));
      return reading ? {answer: '', numbers: [headSaid(reading, t)]} : t.choose_word;
    },
  },
  layer: {
    read(act) {
      const reading = meaning();
      return reading && reading.texts.join() === [act.link.first, act.link.second].join()
        ? reading
        : null;
    },
    judge: ([{models}], t) => parted(models, t),
    other(t, [{link}]) {
      const reading = meaning();
      if (!reading || reading.texts.join() === [link.first, link.second].join()) return null;
      const {answer, numbers} = parted(reading.models, t);
      return {
        answer,
        numbers: [[t.word, `“${reading.word}”`], ...numbers],
        text: reading.texts.join(' / '),
      };
    },
    on: '',
  },
  albert: {
    read() {
      const rows = rowsOf('parameters/sizes'),
        named = (/** @type {string} */ name) => rows.find(row => row.name === name);
      const size = (/** @type {Row | undefined} */ row = {}) => ({
        parameters: row.parameters,
        flops: row[Object.keys(row).find(name => name.startsWith('flops_at_')) ?? ''],
      });
      return rows.length
        ? {bert: size(named('bert-base-uncased')), albert: size(named('albert-base-v2'))}
        : null;
    },
    judge: cheaper,
    async other(t) {
      const {models} = await ask('predict', [chosen('text'), 'mini', 1]);
      return {
        answer: '',
        numbers: models.map((/** @type {{model: string, tokens: string[]}} */ {model, tokens}) => [
          t[model] ?? model,
          say(t.pieces, {n: tokens.length}),
        ]),
      };
    },
    on: '',
  },
  temperature: {
    read(act) {
      const temperature = Number(act.link.temperature),
        kl = klAt(temperature);
      return kl === undefined ? null : {temperature, kl};
    },
    judge: softened,
    other(t) {
      const divergences = [1, 2].map(temperature => ({temperature, kl: klAt(temperature)}));
      return divergences.some(({kl}) => kl === undefined)
        ? null
        : {
            answer: '',
            numbers: divergences.map(({temperature, kl}) => [say(t.kl, {temperature}), nats(kl)]),
          };
    },
  },
  facts: {
    read() {
      const rows = rowsOf('texts/rows').map(({row, model, answer_rank: rank}) => ({
        row,
        model,
        rank,
      }));
      return rows.length ? rows : null;
    },
    judge: told,
    other() {
      const first = firstHere();
      return first && {answer: '', numbers: wordsSaid(first)};
    },
    on: 'predictions',
  },
};
