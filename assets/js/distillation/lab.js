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
import {labTable, listedIn, shownIn, steps, unpack} from './rows.js';
import {keep, setTemperature, setUp, temperature} from './temperature.js';

const LISTED = [5, 8, 12, 20];
const chosenScale = look('scale', 'share'),
  scaleNow = () => (chosenScale.value === 'log' ? 'log' : 'share');
const chosenLength = look('listed', 8),
  listed = () => LISTED.find(k => String(k) === chosenLength.value) ?? 8;

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

function control(data, dial, change) {
  const range = make('input', {
    type: 'range',
    min: 0,
    max: dial.steps,
    step: 1,
    id: 'ds-t',
    'aria-label': data.texts.temperature,
  });
  const [low, high] = data.temperatures,
    typed = make('input', {
      type: 'number',
      class: 'ds-t',
      step: 'any',
      min: low,
      max: high,
      'aria-label': data.texts.typed,
    });
  const presets = make(
    'div',
    {class: 'ds-presets'},
    ...data.texts.presets.map(([t, label]) => {
      const button = make('button', {type: 'button', class: 'chip', 'data-t': t}, label);
      button.addEventListener('click', () => {
        change(t);
        keep(t);
      });
      return button;
    }),
  );
  // The pointer's shortcuts: by keys the dial itself stops at each, so that they need no place of
  // their own.
  const ticks = make(
    'div',
    {class: 'ds-ticks', 'aria-hidden': 'true'},
    ...dial.round.map(t => {
      const tick = make('button', {type: 'button', tabindex: -1}, String(t));
      vary(tick, '--at', dial.place(t) / dial.steps);
      tick.addEventListener('click', () => {
        change(t);
        keep(t);
      });
      return tick;
    }),
  );
  typed.addEventListener('change', () => {
    const t = typed.valueAsNumber;
    if (t >= low && t <= high) {
      change(t);
      keep(t);
    } else set(temperature());
  });
  range.addEventListener('input', () => change(dial.value(range.value)));
  range.addEventListener('change', () => keep(temperature()));
  const set = t => {
    range.value = String(dial.place(t));
    typed.value = shown(t);
    range.setAttribute('aria-valuetext', `T = ${shown(t)}`);
    for (const button of presets.children)
      button.setAttribute('aria-pressed', String(Number(button.getAttribute('data-t')) === t));
  };
  const node = make(
    'div',
    {class: 'ds-control'},
    make(
      'div',
      {class: 'ds-dial'},
      make('label', {for: 'ds-t'}, data.texts.temperature),
      make('span', {class: 'ds-now'}, 'T = ', typed),
      presets,
    ),
    make('div', {class: 'ds-range'}, range, ticks),
  );
  return {node, set};
}

// The two lists do not change with T, so the rows are built once and only their numbers move.
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
      const at = model.beside ? model.partner[id] : id;
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

function restRow(data) {
  const cells = data.models
    .filter(model => !model.beside)
    .map(model => ({model, value: make('span', {class: 'ds-p', 'data-model': model.key})}));
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

function knowledge(data) {
  const parts = data.models
    .filter(model => !model.beside)
    .map(model => ({
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

function measures(data) {
  const cells = {},
    explain = explainer(data.texts.terms);
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

function paint(view, t) {
  const {data} = view,
    soft = new Map(data.models.map(model => [model, softmax(model.logits, t)]));
  const [a, b] = [soft.get(data.teacher), soft.get(data.student)];
  const left = new Map([
      [data.teacher, 1],
      [data.student, 1],
    ]),
    place = placeOf(scaleNow());
  view.plain ??= new Map(data.models.map(model => [model, softmax(model.logits, 1).p]));
  for (const row of view.rows)
    for (const cell of row.cells) {
      if (cell.at < 0) {
        for (const bar of [cell.bar, cell.ghost]) vary(bar, '--share', 0);
        continue;
      }
      const p = soft.get(cell.model).p[cell.at];
      vary(cell.bar, '--share', place(p));
      vary(cell.ghost, '--share', t === 1 ? 0 : place(view.plain.get(cell.model)[cell.at]));
      cell.value.textContent = number(p);
      cell.value.dataset.p = p;
      if (left.has(cell.model)) left.set(cell.model, left.get(cell.model) - p);
    }
  for (const cell of view.rest.cells) {
    const p = Math.max(0, left.get(cell.model));
    cell.value.textContent = number(p);
  }
  for (const part of view.knowledge.parts) {
    const p = soft.get(part.model).p,
      first = part.model.top[0],
      kept = 1 - p[first];
    part.value.textContent = percent(kept);
    part.value.dataset.p = kept;
    vary(part.fill, '--share', p[first]);
  }
  words(view, {t, a, b, soft});
}

function words(view, {t, a, b, soft}) {
  const {data} = view,
    texts = data.texts;
  const found = divergences(data.teacher.logits, data.student.logits, t, a, b);
  view.plainKl ??= divergences(data.teacher.logits, data.student.logits, 1).ab;
  for (const [key, value] of Object.entries({
    kl_teacher_student: found.ab,
    kl_plain: view.plainKl,
    kl_student_teacher: found.ba,
    js: found.js,
    t2_kl: t * t * found.ab,
    entropy_teacher: found.ha,
    entropy_student: found.hb,
  })) {
    view.measures.cells[key].textContent = nats(value);
    view.measures.cells[key].dataset.value = value;
  }
  const [first, second] = sideBySide([a.p[data.teacher.top[0]], b.p[data.student.top[0]]]);
  const told = {t: shown(t), teacher: first, student: second, kl: nats(Math.abs(found.ab))};
  for (const place of document.querySelectorAll('#tab-distillation .finding [data-soft]'))
    place.textContent = told[place.getAttribute('data-soft')];
  view.scale.textContent = scaleNow() === 'log' ? texts.scale_log : texts.scale;
  if (!data.beside) return;
  const c = soft.get(data.beside);
  let onTeacher = 0,
    onBeside = 0;
  for (let i = 0; i < a.p.length; i++) if (data.beside.partner[i] >= 0) onTeacher += a.p[i];
  for (const id of data.beside.shared) onBeside += c.p[id];
  view.beside.replaceChildren(
    ...say(texts.beside, {first: word(data.beside.first), p: number(c.p[data.beside.first_id])}),
  );
  view.besideShared.replaceChildren(
    ...say(texts.beside_shared, {
      name: data.beside.label,
      pieces: percent(data.beside.share_first),
      own: percent(data.beside.share_second),
      teacher_mass: percent(onTeacher),
      mass: percent(onBeside),
    }),
  );
}

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

/** @type {import('../gradio.js').Picture['whole']} */
export const whole = async root => below.get(root)?.whole();

/** @type {import('../gradio.js').Picture['choices']} */
export const choices = ['temperature', 'look'];

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  if (!data.models) {
    root.replaceChildren();
    return;
  }
  unpack(data);
  const scale = setUp(data);
  const view = {
    data,
    plain: null,
    plainKl: null,
    scale: make('p', {class: 'note scale'}),
    knowledge: knowledge(data),
    measures: measures(data),
    rest: restRow(data),
    curves: curves(data),
  };
  below.set(root, view.curves);
  const beside = besideCard(data);
  Object.assign(view, {beside: beside.text, besideShared: beside.shared});
  const list = make('ol', {class: 'ds-list', 'aria-label': data.texts.list});
  const fill = () => {
    view.rows = rows(data);
    view.rest.name.textContent = data.texts.rest.replace(
      '{n}',
      (data.teacher.logits.length - view.rows.length).toLocaleString('en'),
    );
    list.replaceChildren(...view.rows.map(row => row.node), view.rest.node);
  };
  let waiting = 0;
  const change = t => {
    setTemperature(t);
    dial.set(t);
    if (waiting) return;
    waiting = requestAnimationFrame(() => {
      // many moves within one frame are one redraw
      waiting = 0;
      paint(view, temperature());
      view.curves.mark();
      root.dataset.t = temperature();
    });
  };
  const dial = control(data, scale, change);
  fill();
  dial.set(temperature());
  paint(view, temperature());
  root.dataset.t = temperature();
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
        data.beside_key ? beside.node : '',
      ),
    ),
    view.curves.node,
  );
}

/** The data as the rows need it, with the reader's temperature set. @param {any} data */
function ready(data) {
  unpack(data);
  setUp(data);
  return data;
}

/** @type {import('../gradio.js').Picture['said']} */
export function said(data) {
  const {selected, teacher} = ready(data);
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

/** @type {import('../gradio.js').Picture['constants']} */
export function constants(data) {
  const {teacher, student, beside, selected} = ready(data);
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
export const table = data => labTable(ready(data), temperature(), listed());
