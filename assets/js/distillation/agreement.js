// Agreement over the bundled sentences: three shares, and the worst sentences as buttons.
import {typeText} from '../page/parts.js';
import {captioned, make, tableHead} from '../kit/dom.js';
import {nats, percent} from '../kit/numbers.js';
import {compare} from '../page/here.js';

/** @typedef {import('../data').AgreementData} AgreementData */
/** @typedef {import('../data').AgreementProgress} AgreementProgress */

/** @param {string} value @param {string} label */
function big(value, label) {
  return make('div', {class: 'da-big'}, make('strong', {}, value), make('span', {}, label));
}

/** @param {AgreementData} data */
function worst(data) {
  return data.worst.map(item => {
    const [before, after] = item.text.split('[MASK]');
    const button = make(
      'button',
      {type: 'button', class: 'da-sentence'},
      before,
      make('span', {class: 'da-gap'}, item.answer),
      after,
    );
    button.addEventListener('click', () => {
      typeText(item.opens.text);
      compare({text: item.opens.text, word: String(item.opens.word)});
      const lab = document.querySelector('[data-kind="distillation/lab"]');
      if (lab) lab.scrollIntoView({block: 'start'});
    });
    return make(
      'tr',
      {},
      make('th', {scope: 'row'}, button),
      make('td', {}, make('em', {class: 'w'}, item.teacher)),
      make('td', {}, make('em', {class: 'w'}, item.student)),
      make('td', {}, nats(item.kl)),
      make('td', {}, String(item.shared)),
    );
  });
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {AgreementData | AgreementProgress} */ data) {
  if ('done' in data) {
    const bar =
      data.done === null
        ? []
        : [make('progress', {max: data.n, value: data.done, 'aria-label': data.sentence})];
    root.replaceChildren(make('p', {role: 'status'}, data.sentence), ...bar);
    return;
  }
  const texts = data.texts;
  root.replaceChildren(
    make(
      'div',
      {class: 'da-bigs'},
      big(percent(data.first), texts.first),
      big(percent(data.five), texts.five),
      big(nats(data.kl), texts.kl),
      big(percent(data.teacher_right), texts.teacher_right),
      big(percent(data.student_right), texts.student_right),
    ),
    make('p', {class: 'note'}, texts.note),
    captioned(
      texts.worst,
      make(
        'div',
        {class: 'table da-table', tabindex: 0, role: 'region', 'aria-label': texts.worst},
        make('table', {}, tableHead(texts.columns), make('tbody', {}, ...worst(data))),
      ),
    ),
  );
}

/** @type {import('../gradio.js').Picture['header']} */
// it is of the bundled sentences, and of the models it was run with
export const header = (/** @type {AgreementData | AgreementProgress} */ data) => ({
  text: null,
  ...('done' in data ? {} : data.ran),
});

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {AgreementData | AgreementProgress} */ data) =>
  'done' in data
    ? {SENTENCES: [], PAIR: []}
    : {SENTENCES: data.worst.map(item => item.text), PAIR: data.texts.pair};

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {AgreementData | AgreementProgress} */ data) {
  const sentences = 'done' in data ? [] : data.worst;
  const rows = sentences.map(item => [
    item.text,
    item.answer,
    item.teacher,
    item.student,
    item.kl,
    item.shared,
  ]);
  return {
    columns: [
      'sentence',
      'answer',
      'teacher',
      'student',
      'kl_teacher_student_nats',
      'shared_of_five',
    ],
    rows,
  };
}
