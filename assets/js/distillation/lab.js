// Soft-probability lab: logits arrive once, every temperature is computed here over the whole
// vocabulary.
import {make, note, sayNodes as say, vary, word} from '../kit/dom.js';
import {nats, number, percent, shown, sideBySide} from '../kit/numbers.js';
import {divergences, softmax} from '../kit/maths.js';
import {choice} from '../kit/choice.js';
import {placeOf} from '../kit/scales.js';
import {explained, explainer} from '../kit/term.js';
import {compare as run} from '../page/here.js';
import {look} from '../page/look.js';
import {curves} from './curves.js';
import {control} from './dial.js';
import {idIn, labTable, listedIn, ofEach, shownIn, steps, unpack} from './rows.js';
import {setTemperature, setUp, temperature} from './temperature.js';

/** @typedef {import('../data').LabData} LabData */
/** @typedef {import('./rows.js').Lab} Lab */
/** @typedef {import('./rows.js').Model} Model */
/** @typedef {ReturnType<typeof softmax>} Soft */
/** @typedef {ReturnType<typeof built>} View */

const LISTED = [5, 8, 12, 20];
const chosenScale = look('scale', 'share'),
  scaleNow = () => (chosenScale.value === 'log' ? 'log' : 'share');
const chosenLength = look('listed', 8),
  listed = () => LISTED.find(k => String(k) === chosenLength.value) ?? 8;

/** @param {Lab} data */
function strip(data) {
  const box = make('div', {
    class: 'ds-strip',
    dir: 'auto',
    role: 'group',
    'aria-label': data.texts.strip,
  });
  data.words.forEach((item, i) => {
    if (!item.clickable) {
      box.append(make('span', {class: 'ds-mark'}, item.text));
      return;
    }
    const chosen = i === data.selected;
    const button = make(
      'button',
      {
        type: 'button',
        class: chosen ? 'ds-word chosen' : 'ds-word',
        'aria-pressed': String(chosen),
        title: chosen ? data.texts.hidden : data.texts.hide,
      },
      item.text,
    );
    button.addEventListener('click', () => {
      if (!chosen) run({word: String(i)});
    });
    box.append(button);
  });
  return make('div', {class: 'ds-pick'}, make('span', {class: 'ds-lead'}, data.texts.pick), box);
}

/**
 * The two lists do not change with T, so the rows are built once and only their numbers move.
 * @param {Lab} data
 */
function rows(data) {
  const ids = shownIn(data, listed());
  ids.sort(
    (a, b) =>
      data.teacher.logits[b] - data.teacher.logits[a] ||
      data.student.logits[b] - data.student.logits[a],
  );
  const models = data.models;
  return ids.map(id => {
    const badges = [];
    if (id === data.teacher.top[0])
      badges.push(make('span', {class: 'badge ds-hard'}, data.texts.hard));
    if (id === data.answer.id)
      badges.push(make('span', {class: 'badge ds-true'}, data.texts.answer));
    const cells = models.map(model => {
      const at = idIn(model, id);
      const bar = make('i', {class: 'ds-bar', 'data-model': model.key}),
        ghost = make('i', {class: 'ds-ghost', 'data-model': model.key});
      const value = make('span', {class: 'ds-p', 'data-model': model.key});
      if (at < 0) {
        bar.classList.add('none');
        value.textContent = '–';
        value.title = data.texts.no_partner;
      }
      return {model, at, bar, ghost, value};
    });
    const node = make(
      'li',
      {class: 'ds-row', 'data-id': id},
      make('span', {class: 'ds-name'}, make('span', {class: 'ds-text'}, data.names[id]), ...badges),
      make(
        'span',
        {class: 'ds-track', 'aria-hidden': 'true'},
        ...cells.map(cell => make('span', {class: 'ds-pair'}, cell.ghost, cell.bar)),
      ),
      make('span', {class: 'ds-ps'}, ...cells.map(cell => cell.value)),
    );
    return {id, node, cells};
  });
}

/** @param {Lab} data */
function restRow(data) {
  const cells = [data.teacher, data.student].map(model => ({
    model,
    value: make('span', {class: 'ds-p', 'data-model': model.key}),
  }));
  const pad = data.models.length > cells.length ? [make('span', {class: 'ds-p'}, '')] : [];
  const name = make('span', {class: 'ds-text'});
  const node = make(
    'li',
    {class: 'ds-row ds-rest'},
    make('span', {class: 'ds-name'}, name),
    // no bar: on the scale of one word nearly all words would look as long
    make('span', {class: 'ds-track'}),
    make('span', {class: 'ds-ps'}, ...cells.map(cell => cell.value), ...pad),
  );
  return {node, cells, name};
}

/** @param {Lab} data */
function legend(data) {
  return make(
    'div',
    {class: 'ds-legend'},
    ...data.models.map(model =>
      make(
        'span',
        {class: 'model-name', 'data-model': model.key},
        make('i', {class: 'ds-key'}),
        model.role,
      ),
    ),
    make('span', {class: 'ds-lead'}, make('i', {class: 'ds-key ds-outline'}), data.texts.outline),
  );
}

/** @param {Lab} data */
function knowledge(data) {
  const parts = [data.teacher, data.student].map(model => ({
    model,
    fill: make('i', {}),
    value: make('strong', {class: 'ds-dark', 'data-model': model.key}),
  }));
  const node = make(
    'section',
    {class: 'card ds-card'},
    make('h3', {}, ...explained(data.texts.dark_title, data.texts.terms)),
    ...parts.map(part =>
      make(
        'div',
        {class: 'ds-know', 'data-model': part.model.key},
        make('span', {class: 'model-name', 'data-model': part.model.key}, part.model.label),
        part.value,
        make('span', {class: 'ds-mass', 'aria-hidden': 'true'}, part.fill),
      ),
    ),
    note(data.texts.dark_note),
  );
  return {node, parts};
}

/** @param {Lab} data */
function measures(data) {
  /** @type {Record<string, HTMLElement>} */
  const cells = {};
  const explain = explainer(data.texts.terms);
  /** @param {[string, string, string]} measure */
  const line = ([key, label, title]) => {
    cells[key] = make('dd', {'data-measure': key});
    return [make('dt', {title}, ...explain(label)), cells[key]];
  };
  const node = make(
    'section',
    {class: 'card ds-card'},
    make('h3', {}, data.texts.measures_title),
    make('dl', {class: 'ds-measures'}, ...data.texts.measures.flatMap(line)),
  );
  return {node, cells};
}

/** @param {Lab} data @param {() => void} redraw */
function listControl(data, redraw) {
  const select = make(
    'select',
    {id: 'ds-k'},
    ...LISTED.filter(k => k <= data.teacher.top.length).map(k =>
      make('option', {value: k}, String(k)),
    ),
  );
  select.value = String(listed());
  select.addEventListener('change', () => {
    chosenLength.value = select.value;
    redraw();
  });
  return make('div', {class: 'ds-listed'}, make('label', {for: 'ds-k'}, data.texts.listed), select);
}

/** @param {View} view @param {number} t */
function paint(view, t) {
  const soft = ofEach(view.data.models, model => softmax(model.logits, t)),
    place = placeOf(scaleNow());
  for (const row of view.rows)
    for (const cell of row.cells) {
      if (cell.at < 0) {
        for (const bar of [cell.bar, cell.ghost]) vary(bar, '--share', 0);
        continue;
      }
      const p = soft(cell.model).p[cell.at];
      vary(cell.bar, '--share', place(p));
      vary(cell.ghost, '--share', t === 1 ? 0 : place(view.plain(cell.model)[cell.at]));
      cell.value.textContent = number(p);
      cell.value.dataset.p = String(p);
    }
  for (const cell of view.rest.cells) {
    const {p} = soft(cell.model),
      left = view.rows.reduce((share, {id}) => share - p[id], 1);
    cell.value.textContent = number(Math.max(0, left));
  }
  for (const part of view.knowledge.parts) {
    const {p} = soft(part.model),
      first = part.model.top[0],
      kept = 1 - p[first];
    part.value.textContent = percent(kept);
    part.value.dataset.p = String(kept);
    vary(part.fill, '--share', p[first]);
  }
  words(view, t, soft);
}

/** @param {View} view @param {number} t @param {(model: Model) => Soft} soft */
function words(view, t, soft) {
  const {data} = view,
    texts = data.texts,
    [a, b] = [soft(data.teacher), soft(data.student)];
  const measures = divergences(data.teacher.logits, data.student.logits, t, a, b);
  for (const [key, value] of Object.entries({
    kl_teacher_student: measures.ab,
    kl_plain: view.plainKl,
    kl_student_teacher: measures.ba,
    js: measures.js,
    t2_kl: t * t * measures.ab,
    entropy_teacher: measures.ha,
    entropy_student: measures.hb,
  })) {
    view.measures.cells[key].textContent = nats(value);
    view.measures.cells[key].dataset.value = String(value);
  }
  const [first, second] = sideBySide([a.p[data.teacher.top[0]], b.p[data.student.top[0]]]);
  /** @type {Record<string, string>} */
  const told = {t: shown(t), teacher: first, student: second, kl: nats(Math.abs(measures.ab))};
  for (const place of document.querySelectorAll('#tab-distillation .finding [data-soft]'))
    place.textContent = told[place.getAttribute('data-soft') ?? ''];
  view.scale.textContent = scaleNow() === 'log' ? texts.scale_log : texts.scale;
  const {beside} = data;
  if (!beside) return;
  const c = soft(beside);
  let onTeacher = 0,
    onBeside = 0;
  for (let i = 0; i < a.p.length; i++) if (beside.partner[i] >= 0) onTeacher += a.p[i];
  for (const id of beside.shared) onBeside += c.p[id];
  view.beside.text.replaceChildren(
    ...say(texts.beside, {first: word(beside.first), p: number(c.p[beside.first_id])}),
  );
  view.beside.shared.replaceChildren(
    ...say(texts.beside_shared, {
      name: beside.label,
      pieces: percent(beside.share_first),
      own: percent(beside.share_second),
      teacher_mass: percent(onTeacher),
      mass: percent(onBeside),
    }),
  );
}

/** @param {Lab} data */
function besideCard(data) {
  const text = make('p', {class: 'ds-beside'}, data.beside_missing || ''),
    shared = make('p');
  const node = make(
    'section',
    {class: 'card ds-card', 'data-model': data.beside_key},
    make('h3', {}, data.texts.beside_title),
    text,
    data.beside
      ? make('details', {class: 'note how'}, make('summary', {}, data.texts.beside_origin), shared)
      : '',
  );
  return {node, text, shared};
}

/** @type {WeakMap<HTMLElement, ReturnType<typeof curves>>} */
const below = new WeakMap();

/** @type {NonNullable<import('../gradio.js').Picture['whole']>} */
export const whole = async root => below.get(root)?.whole();

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['temperature', 'look'];

/** What moves with the temperature, and the numbers at T = 1. @param {Lab} data */
const built = data => ({
  data,
  plain: ofEach(data.models, model => softmax(model.logits, 1).p),
  plainKl: divergences(data.teacher.logits, data.student.logits, 1).ab,
  rows: rows(data),
  scale: make('p', {class: 'note scale'}),
  knowledge: knowledge(data),
  measures: measures(data),
  rest: restRow(data),
  beside: besideCard(data),
  curves: curves(data),
});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {LabData} */ sent) {
  const data = unpack(sent),
    scale = setUp(data),
    view = built(data);
  below.set(root, view.curves);
  const list = make('ol', {class: 'ds-list', 'aria-label': data.texts.list});
  const fill = () => {
    view.rest.name.textContent = data.texts.rest.replace(
      '{n}',
      (data.teacher.logits.length - view.rows.length).toLocaleString('en'),
    );
    list.replaceChildren(...view.rows.map(row => row.node), view.rest.node);
  };
  let waiting = 0;
  /** @param {number} t */
  const change = t => {
    setTemperature(t);
    dial.set(t);
    if (waiting) return;
    waiting = requestAnimationFrame(() => {
      // many moves within one frame are one redraw
      waiting = 0;
      paint(view, temperature());
      view.curves.mark();
      root.dataset.t = String(temperature());
    });
  };
  const dial = control(data, scale, change);
  fill();
  dial.set(temperature());
  paint(view, temperature());
  root.dataset.t = String(temperature());
  const back = data.back ? make('button', {type: 'button', class: 'chip'}, data.texts.back) : null;
  if (back) back.addEventListener('click', () => run({word: '-1'}));
  root.replaceChildren(
    strip(data),
    ...(back ? [back] : []),
    dial.node,
    make(
      'div',
      {class: 'ds-grid'},
      make(
        'div',
        {class: 'ds-main'},
        make(
          'div',
          {class: 'ds-top'},
          legend(data),
          choice(data.texts.scales_label, data.texts.scales, scaleNow(), key => {
            chosenScale.value = key;
            paint(view, temperature());
          }),
          listControl(data, () => {
            view.rows = rows(data);
            fill();
            paint(view, temperature());
          }),
        ),
        list,
        view.scale,
      ),
      make(
        'div',
        {class: 'ds-side'},
        view.knowledge.node,
        view.measures.node,
        data.beside_key ? view.beside.node : '',
      ),
    ),
    view.curves.node,
  );
}

/** The data as the rows need it, with the reader's temperature set. @param {LabData} data */
function ready(data) {
  setUp(data);
  return unpack(data);
}

/** @type {NonNullable<import('../gradio.js').Picture['header']>} */
export function header(/** @type {LabData} */ sent) {
  const data = ready(sent),
    {selected, teacher} = data;
  return {
    state: {
      temperature: temperature(),
      words_per_model: listed(),
      scale: scaleNow(),
      masked_word: selected + 1,
    },
    words_not_shown: teacher.logits.length - shownIn(data, listed()).length,
  };
}

/** @type {NonNullable<import('../gradio.js').Picture['constants']>} */
export function constants(/** @type {LabData} */ sent) {
  const data = ready(sent),
    {teacher, student, beside, selected} = data;
  return {
    PLACE: selected,
    IDS: listedIn(data),
    SHOWN: shownIn(data, listed()),
    TEMPERATURE: temperature(),
    TEMPERATURES: steps(data),
    PAIR: [teacher.label, student.label],
    BESIDE: beside?.label ?? null,
  };
}

/** @type {import('../gradio.js').Picture['table']} */
export const table = (/** @type {LabData} */ data) =>
  labTable(ready(data), temperature(), listed());
