// The lab's numbers as rows: what is drawn at its temperature, and what its curves are made of.
import {softMeasures, softmax} from '../kit/maths.js';
import {bytes, floats} from '../kit/numbers.js';

/** @typedef {import('../data').LabData} LabData */
/** @typedef {import('../data').BesideModel} BesideModel */
/** @typedef {(string | number | null)[]} Row */

/**
 * Teacher or student with its logits as numbers; the third model too, and the ids of its words that
 * the teacher has.
 * @typedef {Omit<import('../data').ComparedModel, 'logits'> & {logits: Float32Array}} Compared
 * @typedef {Omit<BesideModel, 'logits' | 'partner'> & {logits: Float32Array, partner: Int32Array,
 *   shared: number[]}} Beside
 * @typedef {Compared | Beside} Model
 * @typedef {Omit<LabData, 'models'> & {models: Model[], teacher: Compared, student: Compared,
 *   beside: Beside | null}} Lab
 */

/** @param {BesideModel} model @returns {Beside} */
function unpackBeside(model) {
  const partner = new Int32Array(bytes(model.partner).buffer),
    shared = [...new Set(partner)].filter(id => id >= 0);
  return {...model, logits: floats(model.logits), partner, shared};
}

/**
 * A picture's data with the logits and partners as numbers.
 * @param {LabData} data
 * @returns {Lab}
 */
export function unpack(data) {
  const [teacher, student] = data.models
    .filter(model => 'top' in model)
    .map(model => ({...model, logits: floats(model.logits)}));
  const [beside = null] = data.models.filter(model => 'partner' in model).map(unpackBeside);
  const models = [teacher, student, ...(beside ? [beside] : [])];
  return {...data, models, teacher, student, beside};
}

/**
 * What each model has, computed once.
 * @template T
 * @param {Model[]} models
 * @param {(model: Model) => T} compute
 * @returns {(model: Model) => T}
 */
export function ofEach(models, compute) {
  const byModel = new Map(models.map(model => [model, compute(model)]));
  return model => /** @type {T} */ (byModel.get(model));
}

/**
 * The id that a word of the teacher has in a model; negative where it has none.
 * @param {Model} model
 * @param {number} id
 */
export const idIn = (model, id) => ('partner' in model ? model.partner[id] : id);

/**
 * The top word of the model beside the two, where the teacher has it.
 * @param {Lab} data
 */
const firstBeside = ({beside}) => (beside && beside.first_here >= 0 ? [beside.first_here] : []);

/** Every word of both lists, and the third model's own. @param {Lab} data */
export const listedIn = data => [
  ...new Set([...data.teacher.top, ...data.student.top, ...firstBeside(data)]),
];

/**
 * Those of them that are listed.
 * @param {Lab} data
 * @param {number} listed of each model
 */
export const shownIn = (data, listed) => [
  ...new Set([
    ...data.teacher.top.slice(0, listed),
    ...data.student.top.slice(0, listed),
    ...firstBeside(data),
  ]),
];

/** The temperatures of the curves. @param {Lab} data @returns {number[]} */
export const steps = data => data.curves[0].data[0].x;

/**
 * What the divergences are called in a file, in the order of the card.
 * @type {Record<string, 'ab' | 'ba' | 'js' | 'ha' | 'hb'>}
 */
const MEASURES = {
  kl_teacher_student: 'ab',
  kl_student_teacher: 'ba',
  js: 'js',
  entropy_teacher: 'ha',
  entropy_student: 'hb',
};

/**
 * @param {Lab} data
 * @param {number} t
 * @param {number} listed
 * @returns {import('../gradio.js').Table}
 */
export function labTable(data, t, listed) {
  const both = [data.teacher, data.student],
    ids = listedIn(data),
    soft = ofEach(data.models, model => softmax(model.logits, t).p);
  const plain =
    // the outlines behind the bars
    t === 1 ? null : ofEach(data.models, model => softmax(model.logits, 1).p);
  const words = data.models.flatMap(model =>
    ids
      .map(id => ({id, at: idIn(model, id)}))
      .filter(({at}) => at >= 0)
      .flatMap(({id, at}) => [
        ['probability', model.label, t, id, data.names[id], soft(model)[at]],
        ...(plain ? [['probability', model.label, 1, id, data.names[id], plain(model)[at]]] : []),
        ['logit_below_largest', model.label, null, id, data.names[id], model.logits[at]],
      ]),
  );
  const shown = shownIn(data, listed);
  /** @param {string} measure @param {Model} model @param {number} value @returns {Row} */
  const row = (measure, model, value) => [measure, model.label, t, null, null, value];
  const rest = both.map(model =>
    row(
      'probability_of_all_words_but_those_shown',
      model,
      Math.max(
        0,
        shown.reduce((left, id) => left - soft(model)[id], 1),
      ),
    ),
  );
  const dark = both.map(model => row('dark_knowledge', model, 1 - soft(model)[model.top[0]]));
  const measures = [t, ...steps(data).filter(step => step !== t)].flatMap(step =>
    measured(data, step),
  );
  return {
    columns: ['measure', 'model', 'temperature', 'id', 'word', 'value'],
    rows: [
      ...words,
      ...rest,
      ...dark,
      ...measures,
      ...overlaps(data),
      ...besideRows(data, soft, t),
    ],
  };
}

/** What the card and the curves say at one temperature. @param {Lab} data @param {number} t */
function measured({teacher, student}, t) {
  const measures = softMeasures(teacher.logits, student.logits, t);
  /** @param {string} name @param {number} value @returns {Row} */
  const row = (name, value) => [name, null, t, null, null, value];
  return [
    ...Object.entries(MEASURES).map(([name, at]) => row(name, measures[at])),
    row('t2_kl', t * t * measures.ab),
    row('t2_kl_by_mean', (t * t * measures.ab) / teacher.logits.length),
    row('gradient_of_kl', measures.gradient),
    row('gradient_of_t2_kl', t * t * measures.gradient),
  ];
}

/** @param {Lab} data @returns {Row[]} */
const overlaps = ({teacher, student}) =>
  [1, 5, 10].map(k => [
    `shared_of_top_${k}`,
    null,
    null,
    null,
    null,
    teacher.top.slice(0, k).filter(id => student.top.slice(0, k).includes(id)).length,
  ]);

/**
 * What is said of the model beside the two.
 * @param {Lab} data
 * @param {(model: Model) => Float64Array} soft
 * @param {number} t
 * @returns {Row[]}
 */
function besideRows({teacher, beside}, soft, t) {
  if (!beside) return [];
  const [p, q] = [soft(teacher), soft(beside)];
  /** @param {string} name @param {Model} model @param {number} value @returns {Row} */
  const share = (name, model, value) => [name, model.label, t, null, null, value];
  return [
    ['probability_of_first', beside.label, t, null, beside.first, q[beside.first_id]],
    ['share_of_pieces_in_both_vocabularies', teacher.label, null, null, null, beside.share_first],
    ['share_of_pieces_in_both_vocabularies', beside.label, null, null, null, beside.share_second],
    share(
      'probability_of_pieces_in_both',
      teacher,
      p.reduce((sum, share, id) => (beside.partner[id] >= 0 ? sum + share : sum), 0),
    ),
    share(
      'probability_of_pieces_in_both',
      beside,
      beside.shared.reduce((sum, id) => sum + q[id], 0),
    ),
  ];
}
