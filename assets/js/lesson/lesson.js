// A lesson next to the tabs: a question, a guess that is locked, one look at the real page, and a
// finding that the student takes away.
import {closest, find, make, say, the} from '../kit/dom.js';
import {chosen, linkNow, listen, withState} from '../page/here.js';
import {opened} from '../page/parts.js';
import {address, light, openView} from '../page/stop.js';
import {responseFrom} from '../take/take.js';
import {card} from './card.js';
import {FAMILY, findingOf, handIn} from './hand_in.js';
import {Progress, STAGES} from './progress.js';
import {READERS} from './read.js';

/** @type {{texts: any, lessons: import('./progress.js').Lesson[]}} */
let data;
/** @type {Progress | null} */
let progress = null;
/** The lesson under way, where there is one. */
const current = () => /** @type {Progress} */ (progress);
/** @type {Progress | null} the lesson for which an answer is computed */
let asking = null;
/** @type {HTMLElement} */
let panel;
const state = () => {
  let now;
  withState(shown => {
    now = shown;
  });
  return /** @type {import('../page/state.js').State | undefined} */ (now);
};

/** @param {string} text @param {() => void} press @param {Record<string, any>} [attributes] */
function button(text, press, attributes = {}) {
  const node = make('button', {type: 'button', class: 'chip', text, ...attributes});
  node.addEventListener('click', press);
  return node;
}

/**
 * A field whose text is kept as it is typed.
 * @param {'textarea' | 'input'} tag
 * @param {string} label
 * @param {'before' | 'word' | 'claim' | 'after' | 'student'} name
 * @param {Record<string, any>} [attributes]
 */
function field(tag, label, name, attributes = {}) {
  const {kept} = current(),
    input = make(tag, {
      maxlength: tag === 'input' ? 40 : 600,
      readonly: kept.locked && ['before', 'word'].includes(name),
      'data-typed': true,
      autocomplete: 'off',
      ...attributes,
    });
  input.value = kept[name];
  input.addEventListener('input', () => {
    current().set({[name]: input.value});
    enable();
  });
  return make('label', {class: 'ls-field'}, make('span', {}, label), input);
}

/** What can be pressed follows what was written, and what is said of the models the page's own. */
function enable() {
  const other = find(panel, '[data-other]');
  if (other) other.hidden = chosen('family') === FAMILY;
  const next = /** @type {HTMLButtonElement | null} */ (find(panel, '[data-next]')),
    lock = /** @type {HTMLButtonElement | null} */ (find(panel, '[data-lock]'));
  if (next) next.disabled = !current().isDone(current().stage);
  if (lock) lock.disabled = !current().canLock;
}

/** @param {string} text */
const tell = text => {
  the(panel, '.ls-said').textContent = text;
};

/** Whether the page shows what an act asks for. @param {import('./progress.js').Act} act */
function shows({link, shows: text}) {
  const now = state(),
    wanted = current().withWord(text || link.text || '');
  return Boolean(
    now?.accepted &&
    now.tab === link.tab &&
    now.isThere(link.tab) &&
    now.get('family') === FAMILY &&
    (!wanted || now.get('text') === wanted),
  );
}

/**
 * What a reader finds; null with a sentence on the panel where there is nothing yet.
 * @template T
 * @param {() => T | string | null | Promise<T | string | null>} find
 * @param {string} missing
 * @returns {Promise<T | null>}
 */
async function taken(find, missing) {
  const mine = progress;
  if (asking === mine) return null; // pressed twice
  asking = mine;
  tell(data.texts.asking);
  try {
    const result = await find();
    if (progress !== mine) return null;
    tell(typeof result === 'string' ? result : result ? '' : missing);
    return typeof result === 'string' ? null : result;
  } catch (error) {
    if (progress === mine) tell(data.texts.not_answered);
    reportError(error);
    return null;
  } finally {
    asking = null;
  }
}

/** Keep what the page shows of the next act, and the answer after the last one. */
async function takeAnswer() {
  const {lesson, kept} = current(),
    {texts} = data,
    reader = READERS[lesson.name],
    act = lesson.acts[kept.readings.length];
  const reading = await taken(
    () => (kept.locked && shows(act) ? reader.read(act, texts.read) : null),
    texts.not_there,
  );
  if (!reading) return;
  const readings = [...kept.readings, reading],
    isLast = readings.length === lesson.acts.length;
  const judged = isLast ? await taken(() => reader.judge(readings, texts.read), '') : null;
  if (isLast && !judged) return;
  current().set(
    judged
      ? {
          readings,
          answer: judged.answer,
          numbers: judged.numbers,
          link: linkNow().href,
          stage: 'found',
        }
      : {readings},
  );
  light('');
  draw(true);
}

/** Whether the page shows a text of the student's own. */
function showsOwn() {
  const {lesson} = current(),
    now = state(),
    tab = READERS[lesson.name].on ?? lesson.acts[0].link.tab;
  const isThere =
    now?.accepted &&
    now.heard === now.number &&
    now.get('family') === FAMILY &&
    (!tab || now.isThere(tab));
  return (
    isThere &&
    !lesson.acts.some(
      act => current().withWord(act.shows || act.link.text || '') === now.get('text'),
    )
  );
}

/** Keep the text on the page as the one that contradicts the claim. */
async function takeContrary() {
  const {texts} = data,
    reader = READERS[current().lesson.name],
    [act] = current().lesson.acts;
  const own = async () => {
    const reading = await reader.read(act, texts.read);
    return reading && reader.judge([reading], texts.read);
  };
  const text = state()?.get('text') ?? '',
    link = linkNow().href;
  const judged = await taken(
    () => (showsOwn() ? (reader.other ?? own)(texts.read, current().lesson.acts) : null),
    texts.no_other_text,
  );
  if (!judged) return;
  current().set({
    contrary: {text: judged.text ?? text, link, answer: judged.answer, numbers: judged.numbers},
    none: false,
  });
  draw();
}

/** @param {[string, string][]} list */
const numbers = list =>
  make(
    'ul',
    {class: 'ls-numbers'},
    ...list.map(([name, value]) =>
      make('li', {}, make('span', {}, name), make('b', {translate: 'no'}, value)),
    ),
  );

/** What a step shows, by its name. @type {Record<string, (texts: any) => any[]>} */
const parts = {
  before: t => [
    field('textarea', current().lesson.asks, 'before', {rows: 3}),
    make('p', {class: 'note'}, t.private),
  ],
  guess(t) {
    const {lesson, kept} = current(),
      options = lesson.choices.map(([key, label]) => {
        const input = make('input', {
          type: 'radio',
          name: 'lesson-guess',
          value: key,
          checked: key === kept.guess,
          disabled: kept.locked,
        });
        input.addEventListener('change', () => {
          current().set({guess: key});
          enable();
        });
        return make('label', {}, input, label);
      });
    const lock = button(
      t.lock,
      () => {
        current().lock();
        draw();
        the(panel, '[data-next]').focus();
      },
      {'data-lock': true},
    );
    return [
      ...(lesson.word ? [field('input', lesson.word, 'word', {maxlength: 24})] : []),
      make('fieldset', {}, make('legend', {}, lesson.question), ...options),
      kept.locked ? make('p', {class: 'ls-locked'}, t.locked) : lock,
    ];
  },
  act(t) {
    const {lesson, kept} = current(),
      i = Math.min(kept.readings.length, lesson.acts.length - 1),
      act = lesson.acts[i];
    const text = current().withWord(act.link.text ?? ''),
      before = kept.readings[i - 1],
      keeps = before && READERS[lesson.name].keeps?.(before);
    const open = () => {
      openView({...act.link, ...(text ? {text} : {}), ...keeps, family: FAMILY});
      light(act.lit, covered);
    };
    return [
      ...(lesson.acts.length > 1
        ? [make('p', {class: 'note'}, say(t.view_of, {i: i + 1, n: lesson.acts.length}))]
        : []),
      make('p', {}, current().withWord(act.do)),
      make(
        'p',
        {class: 'ls-row'},
        button(t.open, open),
        ...(kept.answer ? [] : [button(t.take, takeAnswer, {'data-take-answer': true})]),
      ),
    ];
  },
  found(t) {
    const {lesson, kept} = current(),
      isRight = kept.guess === kept.answer;
    return [
      make('p', {}, say(t.guessed, {guess: current().label(kept.guess)})),
      make(
        'p',
        {class: 'ls-verdict'},
        say(isRight ? t.right : t.wrong, {answer: current().label(kept.answer)}),
      ),
      numbers(kept.numbers),
      make('p', {}, lesson.found),
      field('textarea', lesson.claim, 'claim', {rows: 2, maxlength: 300}),
    ];
  },
  contrary(t) {
    const {
      lesson,
      kept: {contrary, answer, claim},
    } = current();
    return [
      make('p', {}, make('q', {}, claim)),
      make('p', {}, lesson.contrary),
      make(
        'p',
        {class: 'ls-row'},
        button(t.take_text, takeContrary),
        button(t.found_none, () => {
          current().set({none: true, contrary: null});
          current().go(1);
          draw(true);
        }),
      ),
      ...(contrary
        ? [
            make('p', {}, make('q', {}, contrary.text)),
            numbers(contrary.numbers),
            make(
              'p',
              {class: 'ls-verdict'},
              say(
                !contrary.answer
                  ? t.you_judge
                  : contrary.answer === answer
                    ? t.same_answer
                    : t.other_answer,
                {answer: current().label(contrary.answer)},
              ),
            ),
          ]
        : []),
    ];
  },
  after: t => [
    field('textarea', current().lesson.asks, 'after', {rows: 3}),
    make('p', {class: 'note'}, t.both_kept),
  ],
  card(t) {
    const place = make('div', {class: 'ls-card'});
    findingOf(current())
      .then(finding => place.replaceChildren(card(finding, t.card)))
      .catch(reportError);
    return [
      field('input', t.student, 'student'),
      make(
        'p',
        {class: 'ls-row'},
        button(t.save_html, () => saveAs('html')),
        button(t.save_csv, () => saveAs('csv')),
      ),
      place,
    ];
  },
};

/** @param {'html' | 'csv'} ending */
async function saveAs(ending) {
  try {
    handIn(await findingOf(current()), ending, data.texts.card);
  } catch (error) {
    tell(data.texts.not_saved);
    reportError(error);
  }
}

/** The lessons there are. */
function list() {
  const t = data.texts;
  const rows = data.lessons.map(lesson =>
    make(
      'li',
      {},
      button(lesson.title, () => show(lesson.name), {class: 'ls-link'}),
      ` ${say(t.minutes, {n: lesson.minutes})}`,
    ),
  );
  return [
    make('h2', {tabindex: -1}, t.name),
    make('p', {}, t.lead),
    make('ul', {class: 'ls-list'}, ...rows),
  ];
}

/** The step of the lesson that is shown, and the ways on and back. */
function step() {
  const t = data.texts,
    {lesson, stage, at, kept} = current(),
    again = () => {
      current().restart();
      light('');
      draw(true);
    };
  return [
    make('h2', {}, lesson.title),
    make('p', {class: 'note'}, say(t.count, {i: at + 1, n: STAGES.length})),
    ...(at < 3 ? [make('p', {class: 'note', 'data-other': true}, t.other_family)] : []),
    make('h3', {tabindex: -1}, t.stages[stage]),
    ...parts[stage](t),
    make('p', {class: 'ls-said', role: 'status'}),
    make(
      'p',
      {class: 'ls-row ls-way'},
      ...(at
        ? [
            button(`‹ ${t.back}`, () => {
              current().go(-1);
              draw(true);
            }),
          ]
        : []),
      ...(stage === 'card'
        ? []
        : [
            button(
              `${t.next} ›`,
              () => {
                current().go(1);
                draw(true);
              },
              {'data-next': true},
            ),
          ]),
      ...(kept.locked ? [restart(t, again)] : []),
    ),
  ];
}

/**
 * What deletes a student's work is pressed twice.
 * @param {Record<string, string>} t
 * @param {() => void} again
 */
function restart(t, again) {
  const node = button(
    t.again,
    () => {
      if (node.dataset.sure) again();
      else {
        node.dataset.sure = 'yes';
        node.textContent = t.sure;
      }
    },
    {class: 'ls-link'},
  );
  return node;
}

/** @param {boolean} [isNew] another step, whose title is read */
function draw(isNew = false) {
  panel.replaceChildren(
    button('×', close, {class: 'chip ls-close', 'aria-label': data.texts.close}),
    ...(progress ? step() : list()),
  );
  panel.hidden = false;
  if (progress) enable();
  if (!isNew) return;
  panel.scrollTop = 0;
  /** @type {HTMLElement} */ (
    panel.querySelector(':scope > h3') ?? panel.querySelector('h2')
  ).focus({preventScroll: true});
}

/** How much of the window's lower end the lesson covers: nothing where it stands at the side. */
const covered = () => {
  const {top, left} = panel.getBoundingClientRect();
  return left > 1 ? 0 : Math.max(0, innerHeight - top);
};

/**
 * Show a lesson, or all of them.
 * @param {string} name
 * @param {boolean} [isNew] a place in the browser's history
 */
function show(name, isNew = true) {
  const lesson = data.lessons.find(other => other.name === name);
  progress = lesson ? new Progress(lesson) : null;
  address({lesson: lesson?.name ?? 'list', tour: null}, isNew);
  draw(true);
}

function hide() {
  progress = null;
  panel.hidden = true;
  light('');
}

function close() {
  hide();
  address({lesson: null});
  find(document, '#tour-start')?.focus();
}

/** @param {Event | null} event the click that asked for this module; none where the address did */
export async function begin(event) {
  data = await (await responseFrom('lessons')).json();
  await opened;
  panel = make('section', {class: 'lesson', 'aria-label': data.texts.name, hidden: true});
  the(document, '#tour .tour').after(panel);
  document.addEventListener('click', click => {
    if (closest(click, '[data-lessons]')) show('list');
  });
  document.addEventListener('keydown', press => {
    if (
      press.key === 'Escape' &&
      !panel.hidden &&
      !press.defaultPrevented &&
      !closest(press, 'input, textarea, select, [popover], .take')
    )
      close();
  });
  listen(() => {
    if (progress) enable();
  });
  const named = () => new URL(location.href).searchParams.get('lesson');
  addEventListener('popstate', () => {
    const name = named();
    if (!name) hide();
    else if (panel.hidden || name !== (progress?.lesson.name ?? 'list')) show(name, false);
  });
  if (event) show('list');
  else withState(() => show(named() ?? 'list', false));
}
