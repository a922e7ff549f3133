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
 * @typedef {{answer: string, said: [string, string][], text?: string}} Judged `answer`: the key of
 *   a lesson's choice, empty where the student is to judge; `said`: the numbers as they are
 *   printed, each with its name; `text`: what was read, where it is not the page's text
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
      one => /** @type {HTMLElement} */ (one).dataset.kind === kind,
    )
  );
  const {columns, rows} = (root && tableOf(root)) ?? {columns: [], rows: []};
  return rows.map(row => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
}

/** @template T @param {T[]} list @param {(one: T) => number} value the one with the largest */
const largest = (list, value) =>
  list.reduce((best, one) => (value(one) > value(best) ? one : best));

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
  sideBySide(first.map(one => one.probability)).map((printed, i) => [
    first[i].model,
    `“${first[i].word}” ${printed}`,
  ]);

/** Which model gives its first word the most. @type {Reader['judge']} */
export const surest = ([first]) => ({
  answer: largest(first, one => one.probability).model,
  said: wordsSaid(first),
});

/**
 * In the head that is chosen: the word that one word attends to most, and how much.
 * @param {number} at the word's place
 */
function attended(at) {
  const view = onPage.wall,
    {wall, lock} = view ?? {};
  if (!wall?.words[at]) return null;
  const {values, exact} = betweenWords(wall, lock),
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

/** @param {Row} found @param {Texts} t @returns {[string, string]} */
const headSaid = ({model, layer, head, from, to, share}, t) => [
  say(t.head, {model, layer: layer + 1, head: head + 1, from}),
  `“${to}” ${number(share)}`,
];

/** On how many sentences the head finds its word. @type {Reader['judge']} */
export const tracked = (readings, t) => ({
  answer: String(readings.filter(one => one.to === one.wanted).length),
  said: readings.map(one => headSaid(one, t)),
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
    said: models.map(({model, cosine: all}) => [
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
        texts: uses.map(one => one.textContent.trim()),
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
    said: [
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
    near = largest([1, 2, 4, 16], one => -Math.abs(Math.log(factor / one)));
  return {
    answer: String(near),
    said: [
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
export function told([rows], t) {
  const models = [...new Set(rows.map(row => row.model))],
    right = rows.filter(row => row.rank === 1),
    of = model => right.filter(row => row.model === model).map(row => row.row);
  const [first, last] = [of(models[0]), of(models.at(-1))],
    only = [
      first.filter(row => !last.includes(row)).length,
      last.filter(row => !first.includes(row)).length,
    ],
    p = exactP(only[0], only[1]);
  const n = rows.length / models.length,
    said = models.map(
      model =>
        /** @type {[string, string]} */ ([
          model,
          `${percent(of(model).length / n)} (${of(model).length} / ${n})`,
        ]),
    );
  return {
    answer: p >= 0.05 ? 'unclear' : only[0] > only[1] ? 'first' : 'last',
    said: [
      ...said,
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
        found = attended((onPage.wall?.wall.words ?? []).map(wordLabel).indexOf(from));
      if (!found) return null;
      return act.miss && found.to !== to ? say(act.miss, {to: found.to}) : {...found, wanted: to};
    },
    judge: tracked,
    keeps: ({key, layer, head}) => ({model: key, layer: String(layer), head: String(head)}),
    other(t) {
      const found = attended(Number(chosen('lit')));
      return found ? {answer: '', said: [headSaid(found, t)]} : t.choose_word;
    },
  },
  layer: {
    read(act) {
      const found = meaning();
      return found && found.texts.join() === [act.link.first, act.link.second].join()
        ? found
        : null;
    },
    judge: ([{models}], t) => parted(models, t),
    other(t, [{link}]) {
      const found = meaning();
      if (!found || found.texts.join() === [link.first, link.second].join()) return null;
      const {answer, said} = parted(found.models, t);
      return {answer, said: [[t.word, `“${found.word}”`], ...said], text: found.texts.join(' / ')};
    },
    on: '',
  },
  albert: {
    read() {
      const rows = rowsOf('parameters/sizes'),
        named = name => rows.find(row => row.name === name);
      const size = row => ({
        parameters: row.parameters,
        flops: row[Object.keys(row).find(name => /^flops_at_/.test(name))],
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
        said: models.map(({model, tokens}) => [
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
      const found = [1, 2].map(temperature => ({temperature, kl: klAt(temperature)}));
      return found.some(({kl}) => kl === undefined)
        ? null
        : {
            answer: '',
            said: found.map(({temperature, kl}) => [say(t.kl, {temperature}), nats(kl)]),
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
      return first && {answer: '', said: wordsSaid(first)};
    },
    on: 'predictions',
  },
};
