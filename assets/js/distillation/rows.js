// The lab's numbers as rows: what is drawn at its temperature, and what its curves are made of.
import {softMeasures, softmax} from '../kit/maths.js';
import {bytes, floats} from '../kit/numbers.js';

/** The logits and partners of a picture's data as numbers, once. @param {any} data */
export function unpack(data) {
  if (data.ready) return;
  for (const model of data.models) {
    model.logits = floats(model.logits);
    if (model.beside) {
      model.partner = new Int32Array(bytes(model.partner).buffer);
      model.shared = [...new Set(model.partner)].filter(id => id >= 0);
    }
    data[model.beside ? 'beside' : model.role_key] = model;
  }
  data.ready = true;
}

/**
 * The top word of the model beside the two, where the teacher has it.
 * @param {any} data
 * @returns {number[]}
 */
const firstBeside = ({beside}) => (beside?.first_here >= 0 ? [beside.first_here] : []);

/** Every word of both lists, and the third model's own. @param {any} data @returns {number[]} */
export const listedIn = data => [
  ...new Set([...data.teacher.top, ...data.student.top, ...firstBeside(data)]),
];

/**
 * Those of them that are listed.
 * @param {any} data
 * @param {number} listed of each model
 * @returns {number[]}
 */
export const shownIn = (data, listed) => [
  ...new Set([
    ...data.teacher.top.slice(0, listed),
    ...data.student.top.slice(0, listed),
    ...firstBeside(data),
  ]),
];

/** The temperatures of the curves. @param {any} data @returns {number[]} */
export const steps = data => data.curves[0].data[0].x;

/** What the divergences are called in a file, in the order of the card. */
const MEASURES = {
  kl_teacher_student: 'ab',
  kl_student_teacher: 'ba',
  js: 'js',
  entropy_teacher: 'ha',
  entropy_student: 'hb',
};

/**
 * @param {any} data unpacked
 * @param {number} t
 * @param {number} listed
 * @returns {import('../gradio.js').Table}
 */
export function labTable(data, t, listed) {
  const both = [data.teacher, data.student],
    ids = listedIn(data),
    soft = new Map(data.models.map(model => [model, softmax(model.logits, t).p]));
  const plain =
    // the outlines behind the bars
    t === 1 ? null : new Map(data.models.map(model => [model, softmax(model.logits, 1).p]));
  const at = (model, id) => (model.beside ? model.partner[id] : id);
  const words = data.models.flatMap(model =>
    ids
      .filter(id => at(model, id) >= 0)
      .flatMap(id => [
        ['probability', model.label, t, id, data.names[id], soft.get(model)[at(model, id)]],
        ...(plain
          ? [['probability', model.label, 1, id, data.names[id], plain.get(model)[at(model, id)]]]
          : []),
        ['logit_below_largest', model.label, null, id, data.names[id], model.logits[at(model, id)]],
      ]),
  );
  const shown = shownIn(data, listed),
    row = (measure, model, value) => [measure, model.label, t, null, null, value];
  const rest = both.map(model =>
    row(
      'probability_of_all_words_but_those_shown',
      model,
      Math.max(
        0,
        shown.reduce((left, id) => left - soft.get(model)[id], 1),
      ),
    ),
  );
  const dark = both.map(model => row('dark_knowledge', model, 1 - soft.get(model)[model.top[0]]));
  const measures = [t, ...steps(data).filter(one => one !== t)].flatMap(one => measured(data, one));
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

/** What the card and the curves say at one temperature. */
function measured({teacher, student}, t) {
  const found = softMeasures(teacher.logits, student.logits, t),
    row = (name, value) => [name, null, t, null, null, value];
  return [
    ...Object.entries(MEASURES).map(([name, at]) => row(name, found[at])),
    row('t2_kl', t * t * found.ab),
    row('t2_kl_by_mean', (t * t * found.ab) / teacher.logits.length),
    row('gradient_of_kl', found.gradient),
    row('gradient_of_t2_kl', t * t * found.gradient),
  ];
}

const overlaps = ({teacher, student}) =>
  [1, 5, 10].map(k => [
    `shared_of_top_${k}`,
    null,
    null,
    null,
    null,
    teacher.top.slice(0, k).filter(id => student.top.slice(0, k).includes(id)).length,
  ]);

/** What is said of the model beside the two. */
function besideRows({teacher, beside}, soft, t) {
  if (!beside) return [];
  const [p, q] = [soft.get(teacher), soft.get(beside)],
    share = (name, model, value) => [name, model.label, t, null, null, value];
  return [
    ['probability_of_first', beside.label, t, null, beside.first, q[beside.first_id]],
    ['share_of_pieces_in_both_vocabularies', teacher.label, null, null, null, beside.share_first],
    ['share_of_pieces_in_both_vocabularies', beside.label, null, null, null, beside.share_second],
    share(
      'probability_of_pieces_in_both',
      teacher,
      p.reduce((sum, one, id) => (beside.partner[id] >= 0 ? sum + one : sum), 0),
    ),
    share(
      'probability_of_pieces_in_both',
      beside,
      beside.shared.reduce((sum, id) => sum + q[id], 0),
    ),
  ];
}
