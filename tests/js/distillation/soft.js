// A masked word over ten candidates: probabilities that can be computed by hand, and the lab's texts.
import {packed} from '../dom.js';

export const TEACHER = [450, 254, 128, 64, 64, 32, 24, 3, 2, 3].map(n => n / 1024);
export const STUDENT = [13, 37, 6, 6, 6, 7, 6, 3, 4, 12].map(n => n / 100);
const logits = p => packed(p.map(one => Math.log(one / Math.max(...p))));
const whole = values => Buffer.from(new Int32Array(values).buffer).toString('base64');

export const texts = {strip: 'Words', pick: 'Hide:', hidden: 'hidden', hide: 'hide it', temperature: 'T', presets: [[1, 'as is'], [2, 'soft']],
  hard: 'hard label', answer: 'the answer', no_partner: 'no such word', rest: 'the other {n} words', list: 'List', listed: 'Show', back: 'back',
  dark_title: 'Dark', dark_note: 'Note.', terms: {KL: 'box-kl'}, measures_title: 'Measures', beside_title: 'ALBERT',
  measures: [['kl_teacher_student', 'KL forward', 'a'], ['kl_plain', 'KL at 1', 'f'], ['kl_student_teacher', 'KL back', 'b'], ['js', 'JS', 'c'], ['t2_kl', 'T2', 'd'],
    ['entropy_teacher', 'H t', 'e'], ['entropy_student', 'H s', 'f']],
  sentence: '{t}|{teacher}|{student}|{word}|{p}|{dark}|{other}', scale: '0 to 1', scale_log: 'by factors', scales: {share: 'share', log: 'log'}, scales_label: 'bars', typed: 'typed',
  beside: '{first}|{p}', beside_origin: 'How?', beside_shared: '{name}|{pieces}|{own}|{teacher_mass}|{mass}',
  curves: {title: 'Curves', names: {ab: 'forward', ba: 'back', js: 'JS', ha: 'teacher', hb: 'student', soft_loss: 'times T2', mean: 'mean',
    gradient: 'plain', soft_gradient: 'with T2'}, divergences: 'Divergences', entropies: 'Entropies', loss: 'Loss', gradients: 'Gradients',
  mean_note: 'by {n}', overlap: '{1} of 1, {5} of 5, {10} of 10', mean_switch: 'divide', why: 'Why.'}};

const curve = meta => ({meta, name: texts.curves.names[meta], x: [.5, 1, 2], visible: meta !== 'mean'});
const chart = (title, ...names) => ({data: [...names.map(curve), {mode: 'markers'}], layout: {title: {text: title}, shapes: [{x0: 1, x1: 1}]}});
const curves = () => [chart('Divergences', 'soft_loss', 'ab', 'js', 'mean'), chart('Gradients', 'soft_gradient', 'gradient')];

export const lab = (changes = {}) => ({texts, curves: curves(), temperatures: [.05, 20], temperature: 1, selected: 1, answer: {id: 3},
  words: [{text: 'The', clickable: true}, {text: '▢', clickable: true}, {text: '.', clickable: false}],
  names: Object.fromEntries([...'abcdefghij'].map((name, i) => [i, name])),
  models: [
    {key: 'bert', label: 'BERT', role_key: 'teacher', role: 'BERT, teacher', beside: false, logits: logits(TEACHER), top: [0, 1, 2, 3, 4, 5, 6, 7]},
    {key: 'distilbert', label: 'DistilBERT', role_key: 'student', role: 'DistilBERT, student', beside: false, logits: logits(STUDENT),
      top: [1, 0, 9, 5, 2, 3, 4, 6]}], ...changes});

/** A third model with another vocabulary: its first, second and fourth words are the teacher's. */
export const beside = () => ({key: 'albert', label: 'ALBERT', role_key: 'beside', role: 'ALBERT, beside', beside: true, logits: logits([.25, .5, .125, .125]),
  partner: whole([1, 0, -1, 2, -1, -1, -1, -1, -1, -1]), share_first: .3, share_second: .8, first_id: 1, first: 'a'});
