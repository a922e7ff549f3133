import assert from 'node:assert/strict';
import {test} from 'node:test';

import {charts, click, enter, place, settled, shares, texts} from '../dom.js';
import {begun} from '../page/stage.js';
import {beside, lab, STUDENT, TEACHER} from './soft.js';

const {constants, header, show, table, whole} = await import('../../../assets/js/distillation/lab.js');
const {setTemperature} = await import('../../../assets/js/distillation/temperature.js');

const soft = (p, t) => { const raised = p.map(one => one ** (1 / t)), sum = raised.reduce((a, b) => a + b); return raised.map(one => one / sum); };
const kl = (p, q) => p.reduce((sum, one, i) => sum + one * Math.log(one / q[i]), 0);
const entropy = p => -p.reduce((sum, one) => sum + one * Math.log(one), 0);
const value = (root, key) => Number(root.querySelector(`[data-measure=${key}]`).dataset.value);
const near = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-6, `${found} is not ${expected}`);

function shown(changes) {
  const {state, sent} = begun(), root = place();
  show(root, lab(changes), {});
  return {root, state, sent};
}

test('both lists in one, the teacher\'s order, ties in the student\'s, with names and badges', () => {
  const {root} = shown();
  assert.deepEqual(texts(root, '.ds-row .ds-text'), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'j', 'h', 'the other 1 words']);
  assert.equal(root.querySelector('.ds-hard').closest('.ds-row').dataset.id, '0');
  assert.equal(root.querySelector('.ds-true').closest('.ds-row').dataset.id, '3');
  assert.equal(root.querySelectorAll('.badge').length, 2);
});

test('probabilities of both models, bars from 0 to 1, and what the rest keeps', () => {
  const {root} = shown();
  assert.deepEqual(texts(root, '.ds-row[data-id="0"] .ds-p'), ['0.439', '0.130']);
  assert.deepEqual(texts(root, '.ds-row[data-id="1"] .ds-p'), ['0.248', '0.370']);
  assert.deepEqual(shares(root, '.ds-row[data-id="0"] .ds-bar'), [.439, .13]);
  assert.deepEqual(shares(root, '.ds-row[data-id="1"] .ds-bar'), [.248, .37]);
  assert.equal(root.querySelector('.ds-main > .note').textContent, '0 to 1');
  assert.deepEqual(texts(root, '.ds-rest .ds-p'), ['0.002', '0.040']);
  assert.equal(root.querySelectorAll('.ds-rest .ds-bar').length, 0, 'on the scale of one word all others would be as long as it');
});

test('a shorter list leaves more to the rest, and the choice stays with the next word', () => {
  const {root} = shown();
  assert.deepEqual(texts(root, '#ds-k option'), ['5', '8']);
  assert.equal(root.querySelector('#ds-k').value, '8');
  enter(root.querySelector('#ds-k'), '5');
  assert.deepEqual(texts(root, '.ds-row .ds-text'), ['a', 'b', 'c', 'd', 'e', 'f', 'j', 'the other 3 words']);
  assert.deepEqual(texts(root, '.ds-rest .ds-p'), ['0.028', '0.130']);
  const again = {root: place()};
  show(again.root, lab(), {});
  assert.equal(again.root.querySelector('#ds-k').value, '5');
  assert.equal(again.root.querySelectorAll('.ds-row').length, 8);
  enter(again.root.querySelector('#ds-k'), '8');
});

test('the finding above has the temperature, each model\'s own first answer, and the distance', () => {
  const {root} = shown(), above = document.createElement('div');
  above.id = 'tab-distillation';
  above.innerHTML = `<p class="finding">${['t', 'teacher', 'student', 'kl'].map(key => `<span data-soft="${key}"></span>`).join('')}</p>`;
  root.after(above);
  click(root.querySelector('.ds-presets button'));
  const [t, teacher, student, distance] = texts(above, 'span');
  assert.equal(t, '1');
  assert.deepEqual([teacher, student].map(Number), [TEACHER, STUDENT].map(all => Number(Math.max(...all).toFixed(3))));
  assert.equal(distance, kl(TEACHER, STUDENT).toFixed(3));
});

test('measures at T = 1 are those of the two lists', () => {
  const {root} = shown(), mean = TEACHER.map((p, i) => (p + STUDENT[i]) / 2);
  near(value(root, 'kl_teacher_student'), kl(TEACHER, STUDENT));
  near(value(root, 'kl_student_teacher'), kl(STUDENT, TEACHER));
  near(value(root, 'js'), (kl(TEACHER, mean) + kl(STUDENT, mean)) / 2);
  near(value(root, 't2_kl'), kl(TEACHER, STUDENT));
  near(value(root, 'entropy_teacher'), entropy(TEACHER));
  near(value(root, 'entropy_student'), entropy(STUDENT));
  assert.equal(root.querySelector('[data-measure=entropy_teacher]').textContent, entropy(TEACHER).toFixed(3));
  assert.deepEqual(texts(root, '.ds-measures dt'), ['KL forward', 'KL at 1', 'KL back', 'JS', 'T2', 'H t', 'H s']);
  assert.equal(root.querySelector('.ds-measures .term').getAttribute('popovertarget'), 'box-kl');
});

test('models that agree have a divergence of 0.000, not of some rounding', () => {
  const {root} = shown({models: [lab().models[0], {...lab().models[0], key: 'distilbert', role_key: 'student'}]});
  assert.equal(root.querySelector('[data-measure=kl_teacher_student]').textContent, '0.000');
  assert.equal(root.querySelector('[data-measure=js]').textContent, '0.000');
});

test('the card says what each keeps for the words that are not its first', () => {
  const {root} = shown();
  assert.deepEqual(texts(root, '.ds-know .model-name'), ['BERT', 'DistilBERT']);
  assert.deepEqual(texts(root, '.ds-dark'), ['56.1%', '63.0%']);
  assert.deepEqual(shares(root, '.ds-mass i'), [.439, .37]);
  assert.deepEqual([...root.querySelectorAll('.ds-dark')].map(node => Number(node.dataset.p).toFixed(4)), ['0.5605', '0.6300']);
});

test('the dial redraws at its temperature, and only when it is let go does the link hold it', () => {
  const {root, state} = shown(), range = root.querySelector('#ds-t');
  assert.equal(range.value, '300');   // 1 lies half-way from 0.05 to 20, by ratio
  range.value = '369';
  range.dispatchEvent(new Event('input', {bubbles: true}));
  const t = Number(root.dataset.t), p = soft(TEACHER, t), q = soft(STUDENT, t);
  assert.equal(t, 2);   // a round stop: 600 · ln 40 / ln 400 = 369.4
  assert.equal(root.querySelector('.ds-t').value, '2');
  assert.equal(range.getAttribute('aria-valuetext'), 'T = 2');
  assert.equal(root.querySelector('.ds-row[data-id="0"] .ds-p').textContent, p[0].toFixed(3));
  near(value(root, 't2_kl'), 4 * kl(p, q));
  near(value(root, 'kl_plain'), kl(TEACHER, STUDENT));   // at any temperature
  near(value(root, 'kl_student_teacher'), kl(q, p));
  assert.equal(state.wanted.temperature, undefined);
  range.dispatchEvent(new Event('change', {bubbles: true}));
  assert.equal(state.wanted.temperature, '2');
});

test('a button sets its temperature, is pressed, and is kept in the link; numbers stand where they are on the dial', () => {
  const {root, state} = shown(), [one, two] = root.querySelectorAll('.ds-presets button');
  click(one);
  assert.deepEqual([one, two].map(button => button.getAttribute('aria-pressed')), ['true', 'false']);
  assert.equal(state.wanted.temperature, '1');
  click(two);
  assert.deepEqual([one, two].map(button => button.getAttribute('aria-pressed')), ['false', 'true']);
  assert.equal(root.querySelector('#ds-t').value, '369');
  assert.deepEqual(texts(root, '.ds-ticks button'), ['0.05', '0.1', '0.2', '0.5', '1', '2', '5', '10', '20']);
  const at = shares(root, '.ds-ticks button', '--at');
  assert.deepEqual([at[0], at[4], at[8]], [0, .5, 1]);
  click(one);
});

test('many moves within one frame are one redraw, of the last of them', () => {
  const {root} = shown(), later = [], soon = globalThis.requestAnimationFrame, range = root.querySelector('#ds-t');
  globalThis.requestAnimationFrame = drawn => later.push(drawn);
  for (const at of ['400', '500', '600']) { range.value = at; range.dispatchEvent(new Event('input')); }
  globalThis.requestAnimationFrame = soon;
  assert.equal(later.length, 1);
  assert.equal(root.dataset.t, '1');
  later[0]();
  assert.equal(root.dataset.t, '20');
  click(root.querySelector('.ds-presets button'));
  assert.equal(root.dataset.t, '1');
});

test('the words of the sentence: another one is hidden by a click, this one is not, a full stop is none', () => {
  const {root, sent} = shown(), [first, hidden] = root.querySelectorAll('.ds-word');
  assert.deepEqual(texts(root, '.ds-mark'), ['.']);
  assert.deepEqual([first, hidden].map(node => [node.getAttribute('aria-pressed'), node.title, node.className]),
    [['false', 'hide it', 'ds-word'], ['true', 'hidden', 'ds-word chosen']]);
  click(hidden);
  assert.equal(sent.length, 0);
  click(first);
  assert.equal(sent[0].word, '0');
});

test('without a third column there is no card for it', () => {
  assert.equal(shown().root.querySelector('.ds-beside'), null);
});

test('where there is a way back it leads to no word of its own', () => {
  assert.equal(texts(shown().root, 'button').includes('back'), false);
  const {root, sent} = shown({back: true});
  click([...root.querySelectorAll('button')].find(button => button.textContent === 'back'));
  assert.equal(sent.length, 1);
  assert.equal(sent[0].word, '-1');
});

test('a third model has a bar where it has the word, and says how far its words are the others\'', () => {
  const {root} = shown({models: [...lab().models, beside()], beside_key: 'albert'});
  assert.deepEqual(texts(root, '.ds-row[data-id="0"] .ds-p'), ['0.439', '0.130', '0.500']);
  assert.deepEqual(texts(root, '.ds-row[data-id="1"] .ds-p'), ['0.248', '0.370', '0.250']);
  assert.deepEqual(texts(root, '.ds-row[data-id="2"] .ds-p'), ['0.125', '0.060', '–']);
  const last = root.querySelector('.ds-row[data-id="2"] .ds-ps').lastElementChild;
  assert.equal(last.title, 'no such word');
  assert.deepEqual([...root.querySelectorAll('.ds-row[data-id="2"] .ds-bar')].map(bar => bar.classList.contains('none')), [false, false, true]);
  assert.deepEqual(shares(root, '.ds-row[data-id="2"] .ds-bar'), [.125, .06, 0]);
  assert.deepEqual(texts(root, '.ds-rest .ds-p'), ['0.002', '0.040', '']);
  assert.equal(root.querySelector('.ds-beside').textContent, 'a|0.500');
  assert.equal(root.querySelector('.ds-beside + details').textContent, 'How?ALBERT|30.0%|80.0%|75.0%|87.5%');
  assert.deepEqual(texts(root, '.ds-legend .model-name'), ['BERT, teacher', 'DistilBERT, student', 'ALBERT, beside']);
  assert.equal(root.querySelectorAll('.ds-know').length, 2);
});

test('its own top word is listed where the teacher has it, if neither of the two lists holds it', () => {
  const {root} = shown({models: [...lab().models, {...beside(), first_here: 8}]});
  assert.deepEqual(texts(root, '.ds-row .ds-text').slice(-3), ['h', 'i', 'the other 0 words']);
});

test('without it its card says why, and the rest has no empty place for it', () => {
  const {root} = shown({beside_missing: 'not here', beside_key: 'another'});
  assert.equal(root.querySelector('.ds-beside').textContent, 'not here');
  assert.equal(root.querySelector('.ds-beside').closest('section').dataset.model, 'another');
  assert.equal(root.querySelectorAll('.ds-rest .ds-p').length, 2);
});

test('the same data can be drawn again; the curves can be asked for whole', async () => {
  begun();
  const root = place(), data = lab();
  show(root, data, {});
  show(root, data, {});
  assert.equal(root.querySelectorAll('.ds-row').length, 10);
  await whole(root);
  assert.equal(root.querySelectorAll('.fg').length, 2);
  click(root.querySelectorAll('.ds-presets button')[1]);
  assert.deepEqual(charts(root).map(({layout}) => layout.shapes[0].x0), [2, 2]);
  click(root.querySelector('.ds-presets button'));
  await whole(place());
  await settled();
});

test('the table has every number that is drawn at its temperature, of all three models, and what the curves say at the others', () => {
  const data = lab({temperature: 2, models: [...lab().models, beside()]}), t = 2;
  begun();   // the link names no temperature
  setTemperature(t);
  const {columns, rows} = table(data), of = (measure, model = null, at = t) => rows.filter(row => row[0] === measure && row[1] === model && row[2] === at);
  const one = (...wanted) => { const found = of(...wanted); assert.equal(found.length, 1, String(wanted)); return found[0][5]; };
  assert.deepEqual(columns, ['measure', 'model', 'temperature', 'id', 'word', 'value']);
  const [p, q] = [soft(TEACHER, t), soft(STUDENT, t)];
  for (const [label, exact] of /** @type {[string, number[]][]} */ ([['BERT', p], ['DistilBERT', q]])) {
    const listed = of('probability', label);
    assert.deepEqual(listed.map(row => row[4]), [...'abcdefghj']);
    for (const [, , , id, , value] of listed) near(value, exact[id]);
    near(one('probability_of_all_words_but_those_shown', label), exact[8]);
  }
  near(of('probability', 'DistilBERT', 1)[0][5], STUDENT[0]);   // the outline behind its bar
  near(of('logit_below_largest', 'BERT', null)[1][5], Math.log(254 / 450));
  near(one('kl_teacher_student'), kl(p, q));
  near(one('t2_kl'), 4 * kl(p, q));
  near(one('t2_kl_by_mean'), .4 * kl(p, q));
  near(one('entropy_student'), entropy(q));
  near(one('dark_knowledge', 'BERT'), 1 - p[0]);
  near(one('kl_teacher_student', null, .5), kl(soft(TEACHER, .5), soft(STUDENT, .5)));
  assert.equal(of('js').length, 1, 'the temperature of the dial is in the curves, too');
  const third = soft([.25, .5, .125, .125], t);
  assert.deepEqual(of('probability', 'ALBERT').map(row => row[4]), ['a', 'b', 'd']);
  near(one('probability_of_first', 'ALBERT'), third[1]);
  near(one('probability_of_pieces_in_both', 'BERT'), p[0] + p[1] + p[3]);
  near(one('probability_of_pieces_in_both', 'ALBERT'), third[0] + third[1] + third[2]);
  assert.deepEqual(['BERT', 'ALBERT'].map(label => one('share_of_pieces_in_both_vocabularies', label, null)), [.3, .8]);
  assert.deepEqual([1, 5].map(k => one(`shared_of_top_${k}`, null, null)), [0, 3]);
  assert.deepEqual(header(data), {state: {temperature: 2, words_per_model: 8, scale: 'share', masked_word: 2}, words_not_shown: 1});
  assert.deepEqual(constants(data), {PLACE: 1, IDS: [0, 1, 2, 3, 4, 5, 6, 7, 9], SHOWN: [0, 1, 2, 3, 4, 5, 6, 7, 9], TEMPERATURE: 2, TEMPERATURES: [.5, 1, 2],
    PAIR: ['BERT', 'DistilBERT'], BESIDE: 'ALBERT'});
  assert.equal(constants(lab()).BESIDE, null);
});

test('bars keep their scale at every temperature, with those of T = 1 as outlines; a log scale is the reader\'s choice and the link\'s', () => {
  const {root, state} = shown(), [one, two] = root.querySelectorAll('.ds-presets button'), of = (id, kind) => shares(root, `.ds-row[data-id="${id}"] .${kind}`);
  click(one);
  assert.deepEqual(of(0, 'ds-ghost'), [0, 0], 'nothing to be seen behind itself');
  const plain = of(0, 'ds-bar');
  click(two);
  const p = soft(TEACHER, 2)[0], q = soft(STUDENT, 2)[0];
  near(of(0, 'ds-bar')[0], Number(p.toFixed(3)));
  near(of(0, 'ds-bar')[1], Number(q.toFixed(3)));
  assert.deepEqual(of(0, 'ds-ghost'), plain);
  click(root.querySelector('[data-key=log]'));
  near(of(0, 'ds-bar')[0], Number((1 + Math.log10(p) / 6).toFixed(3)));
  assert.equal(root.querySelector('.ds-main > .note').textContent, 'by factors');
  assert.equal(state.wanted.look, 'scale:log');
  click(root.querySelector('[data-key=share]'));
  assert.equal(state.wanted.look, undefined);
});

test('a temperature is typed or pressed on the scale; one that is out of range is taken back', () => {
  const {root, state} = shown(), typed = root.querySelector('.ds-t');
  enter(typed, '3.3');
  assert.deepEqual([root.dataset.t, state.wanted.temperature], ['3.3', '3.3']);
  enter(typed, '2000');
  assert.deepEqual([typed.value, state.wanted.temperature], ['3.3', '3.3']);
  click(root.querySelectorAll('.ds-ticks button')[6]);
  assert.deepEqual([typed.value, state.wanted.temperature], ['5', '5']);
  click(root.querySelector('.ds-presets button'));
});
