// What does one layer do to a word? The layer as a flow, the models as columns; each box opens its
// numbers.
import {paletteOf} from '../attention/colours.js';
import {picker} from '../kit/choice.js';
import {make, note, say, sayNodes, word} from '../kit/dom.js';
import {fixed} from '../kit/numbers.js';
import {explainer} from '../kit/term.js';
import {choose, chosen, listen, runParams} from '../page/here.js';
import {look} from '../page/look.js';
import {length, station as stationOf, vectorAt} from './details.js';
import {degrees, flow, STAGES} from './flow.js';

const STATIONS = Object.values(STAGES).flat();
const READ_AT = ['input', 'attention_norm', 'output']; // the states that the head reads
const FULL = 0.98; // this share of all numbers lies within the colour scale
/** @type {WeakMap<HTMLElement, () => void>} how each picture colours its strips */
const painted = new WeakMap();
/**
 * @type {{root: HTMLElement, place: string, go: (changes: Record<string, number>) => void, sync: ()
 *   => void} | null} what is on the page
 */
let now = null;

/**
 * Which of several places are open, as one field of the link.
 * @param {string} name
 * @param {string[]} places
 */
function openOnes(name, places) {
  const field = look(name, ''),
    plain = place => place.replace('_', ''),
    has = place => field.value.split('.').includes(plain(place));
  return {
    has,
    turn(place) {
      field.value = places
        .filter(one => has(one) !== (one === place))
        .map(plain)
        .join('.');
    },
  };
}
const openStages = openOnes('stages', Object.keys(STAGES)),
  openSums = openOnes('sums', STATIONS),
  lists = look('tokens', 'few');

const nameOf = model => make('span', {class: 'model-name', 'data-model': model.key}, model.label);

/** Models with commas and a last "and". @param {Node[][]} models */
const listed = (models, and) =>
  make(
    'span',
    {},
    ...models.flatMap((model, i) => [!i ? '' : i === models.length - 1 ? and : ', ', ...model]),
  );

/** Which block turned the word further in which models, as the angles are printed. */
function finding({models, chosen: {words, at}, texts}) {
  const place = models.every(model => model.layer === models[0].layer)
    ? say(texts.place, {n: models[0].layer + 1})
    : texts.places;
  const groups = [...new Set(models.map(changedBy))].map(block => ({
    block,
    of: models.filter(model => changedBy(model) === block),
  }));
  const order = [...groups.filter(({block}) => block), ...groups.filter(({block}) => !block)];
  const parts = order.map(({block, of}, i) => {
    const who = make(
      'span',
      {},
      ...(of.length === models.length && of.length > 1
        ? everyOne(of, texts)
        : [
            listed(
              of.map(model => [nameOf(model)]),
              texts.and,
            ),
          ]),
    );
    if (i)
      return sayNodes(block ? texts.rest : texts.equal_rest, {
        block: texts.blocks[block],
        models: who,
      });
    const first = block || 'attention',
      second = first === 'attention' ? 'feed_forward' : 'attention';
    return sayNodes(block ? texts.finding : texts.equal, {
      word: word(words[at]),
      models: who,
      place,
      first: texts.blocks[first],
      second: texts.blocks[second],
    });
  });
  return make('p', {class: 'finding'}, ...parts.flat(), '.');
}

/** The block that turned the state further; none where both angles print alike. */
const changedBy = ({angles, changed_by: by}) =>
  degrees(angles.attention) === degrees(angles.feed_forward) ? '' : by;

const everyOne = ({length: n}, texts) => [
  n === 2 ? texts.every.both : say(texts.every.all, {n: texts.numbers[n] ?? n}),
];

const numbered = n => Object.fromEntries(Array.from({length: n}, (_, i) => [i, String(i + 1)]));

/** The menus: the layers are those of the deepest model, whose choice the others follow. */
function controls({models, texts, chosen: to}, go) {
  const deep = models.find(model => model.key === to.deepest);
  return make(
    'div',
    {class: 'ly-controls'},
    picker(texts.word, Object.fromEntries(to.words.map((one, i) => [i, one])), String(to.at), at =>
      go({at: Number(at) === to.first ? -1 : Number(at)}),
    ),
    picker(texts.layer, numbered(deep.n_layers), String(deep.layer), layer =>
      go({
        model: deep.key,
        layer: Number(layer),
        head: Math.min(Number(chosen('head')), deep.n_heads - 1),
      }),
    ),
  );
}

/** The heads of the widest model, whose choice the others follow. */
function headControl({models, texts, chosen: to}, go) {
  const wide = models.find(model => model.key === to.widest);
  return make(
    'div',
    {class: 'ly-controls'},
    picker(texts.head, numbered(wide.n_heads), String(wide.head), head =>
      go({
        model: wide.key,
        layer: chosen('model') === wide.key ? Number(chosen('layer')) : wide.layer,
        head: Number(head),
      }),
    ),
  );
}

/** The strips on the page, and the one scale of their colours. */
function colours(root, models, context) {
  let palette = null,
    most = 0;
  const strips = [],
    paint = () => {
      palette = paletteOf(root, [], context.dark).diverging('plus', 'minus');
      strips.forEach(one => one(palette));
    };
  return {
    paint,
    forget() {
      strips.length = 0;
    },
    add(one) {
      strips.push(one);
      if (!palette) paint();
      else one(palette);
    },
    get most() {
      const sizes = most
        ? null
        : Float32Array.from(
            models.flatMap(model =>
              STATIONS.flatMap(station => [...(vectorAt(model, station) ?? [])]),
            ),
            Math.abs,
          ).sort();
      if (sizes) most = sizes[Math.floor(FULL * (sizes.length - 1))] || 1;
      return most;
    },
  };
}

/**
 * What the boxes open: built when it is first asked for, and again when its lists are to be longer.
 */
function opener(root, data, scale, go, sync) {
  const shown = {
      all: lists.value === 'all',
      turn(button) {
        const which = [...root.querySelectorAll('.ly-more')].indexOf(button);
        lists.value = shown.all ? 'few' : 'all';
        sync();
        /** @type {HTMLElement} */ (root.querySelectorAll('.ly-more')[which])?.focus();
      },
    },
    sums = {
      turn(station) {
        openSums.turn(station);
        sync();
      },
    };
  const built = new Map();
  return rows => {
    if (shown.all !== (lists.value === 'all')) {
      shown.all = !shown.all;
      rows.forEach(({open}) => open.replaceChildren());
      built.clear();
      scale.forget();
    }
    for (const {stage, open, boxes} of rows) {
      const yes = openStages.has(stage);
      if (yes && !built.has(stage)) {
        built.set(
          stage,
          STAGES[stage].map(name => ({
            name,
            ...stationOf(data, name, {scale, lists: shown, sums}),
          })),
        );
        if (stage === 'attention') open.append(headControl(data, go));
        open.append(...built.get(stage).map(({node}) => node));
      }
      built.get(stage)?.forEach(({name, toggle}) => toggle(openSums.has(name)));
      open.hidden = !yes;
      boxes.forEach(box => box.setAttribute('aria-expanded', String(yes)));
    }
  };
}

const place = () => JSON.stringify(['model', 'layer', 'head', 'at'].map(chosen));

/** Another word, layer or head: asked of the server, drawn when it is still wanted. */
function goer(root, data, context, said) {
  return async changes => {
    said.textContent = data.texts.waiting;
    if (Object.keys(changes).length) choose(changes);
    const params = {
        ...runParams(),
        ...Object.fromEntries(['model', 'layer', 'head', 'at'].map(name => [name, chosen(name)])),
      },
      asked = place();
    try {
      const found = {...JSON.parse(await context.asks({params})), texts: data.texts};
      if (asked !== place() || !root.contains(said)) return;
      if (found.error) {
        said.textContent = found.error;
        return;
      }
      const at = document.activeElement?.closest('.ly-controls label'),
        which = at ? [...root.querySelectorAll('.ly-controls label')].indexOf(at) : -1;
      context.shows?.(JSON.stringify(found));
      show(root, found, context);
      if (which >= 0)
        /** @type {HTMLElement} */ (root.querySelectorAll('.ly-controls select')[which]).focus();
    } catch (failure) {
      said.textContent = data.texts.lacking;
      reportError(failure);
    }
  };
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data, context) {
  const {models, cards, texts} = data,
    said = make('span', {role: 'status', class: 'note'}),
    go = goer(root, data, context, said);
  const scale = colours(root, models, context),
    full = make('p', {class: 'note ly-scale', hidden: true});
  const heads = make(
    'div',
    {class: 'ly-lanes ly-heads'},
    ...models.map(model =>
      make(
        'div',
        {class: 'ly-cell'},
        make('h3', {class: 'model-name', 'data-model': model.key}, model.label),
        make('small', {}, model.note),
        model.pieces ? make('small', {}, model.pieces) : null,
      ),
    ),
  );
  const picture = flow(data, heads, stage => {
      openStages.turn(stage);
      sync();
    }),
    explained = explainer(texts.terms);
  const sync = () => {
    opens(picture.rows);
    full.hidden = picture.rows.every(({open}) => open.hidden);
    if (!full.hidden && !full.firstChild)
      full.append(texts.scale, ' ', make('i'), ` ±${fixed(scale.most, 2)}`);
  };
  const opens = opener(root, data, scale, go, sync);
  root.replaceChildren(
    finding(data),
    make('div', {class: 'ly-top'}, controls(data, go), said),
    picture.node,
    ...cards.map(card =>
      make(
        'section',
        {class: 'card plain', 'data-model': card.key},
        make('h3', {}, card.label),
        make('p', {}, card.why),
      ),
    ),
    full,
    note(texts.note, explained, texts.how),
  );
  sync();
  painted.set(root, scale.paint);
  now = {root, place: place(), go, sync};
}

// A layer or head that was chosen on another tab since, and what Back opens or closes.
listen(() => {
  if (!now?.root.isConnected || chosen('tab') !== 'layer') return;
  if (now.place !== place()) now.go({});
  else now.sync();
});

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => painted.get(root)?.();

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const named = STATIONS.filter(one => one !== 'scores' && one !== 'softmax'),
    normOf = (model, station) => model.norms[station] ?? length(vectorAt(model, station));
  const readOf = (model, station) => model.readings?.[READ_AT.indexOf(station)] ?? [null, null];
  const rows = data.models.flatMap(model => {
    const of = [model.label, model.layer + 1, model.head + 1]; // counted as on the page
    return [
      ...named.map(station => [
        ...of,
        station,
        null,
        null,
        normOf(model, station),
        model.cosines[station] ?? null,
        null,
        null,
        null,
        null,
        ...readOf(model, station),
      ]),
      ...Object.entries(model.blocks).map(([block, cosine]) => [
        ...of,
        `${block}_block`,
        null,
        null,
        null,
        cosine,
        model.angles[block],
        null,
        null,
        null,
        null,
        null,
      ]),
      ...model.raw.map((token, i) => [
        ...of,
        'softmax',
        i,
        token,
        null,
        null,
        null,
        model.scores[i],
        model.weights[i],
        model.read_from[i],
        null,
        null,
      ]),
    ];
  });
  return {
    columns: [
      'model',
      'layer',
      'head',
      'station',
      'position',
      'token',
      'norm',
      'cosine',
      'degrees',
      'score',
      'weight',
      'mean_of_heads',
      'prediction',
      'probability',
    ],
    rows,
  };
}

/** @type {import('../gradio.js').Picture['said']} */
export function said({models, chosen: {words, at, deepest, widest}}) {
  const [deep, wide] = [deepest, widest].map(key => models.find(model => model.key === key));
  const dimensions = Object.fromEntries(
    models.map(({label, embedding}) => [label, [embedding.dimensions, embedding.width]]),
  );
  return {
    state: {layer: deep.layer + 1, head: wide.head + 1, word: words[at]},
    embedding_and_width: dimensions,
  };
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = data => ({
  ...Object.fromEntries(
    [
      ['LAYERS', 'layer'],
      ['HEADS', 'head'],
      ['POSITIONS', 'position'],
    ].map(([name, field]) => [
      name,
      Object.fromEntries(data.models.map(model => [model.label, model[field]])),
    ]),
  ),
  WITH_HEAD: data.models.filter(model => model.readings).map(model => model.label),
});
