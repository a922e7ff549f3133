// What does one layer do to a word? The layer as a flow, the models as columns; each box opens its
// numbers.
import {paletteOf} from '../attention/colours.js';
import {picker} from '../kit/choice.js';
import {make, note, say, sayNodes, word} from '../kit/dom.js';
import {fixed} from '../kit/numbers.js';
import {explainer} from '../kit/term.js';
import {choose, chosen, listen, runParams} from '../page/here.js';
import {look} from '../page/look.js';
import {isList, length, station as stationOf, vectorAt} from './details.js';
import {degrees, flow, STAGES} from './flow.js';

/** @typedef {import('../data').LayerData} LayerData */
/** @typedef {import('../data').LayerModel} LayerModel */
/** @typedef {import('../gradio.js').Context} Context */
/** @typedef {Record<string, any>} Texts */
/** @typedef {Record<string, string | number>} Changes what the reader chose */
/** @typedef {ReturnType<typeof flow>['rows']} Rows */

const STATIONS = Object.values(STAGES).flat(),
  VECTORS = STATIONS.filter(station => !isList(station));
const READ_AT = ['input', 'attention_norm', 'output']; // the states that the head reads
const FULL = 0.98; // this share of all numbers lies within the colour scale
/** How each picture colours its strips. @type {WeakMap<HTMLElement, () => void>} */
const painted = new WeakMap();
/**
 * What is on the page.
 * @type {{root: HTMLElement, place: string, go: (changes: Changes) => void, sync: () => void} |
 *   null}
 */
let now = null;

/**
 * Which of several places are open, as one field of the link.
 * @param {string} name
 * @param {string[]} places
 */
function openOnes(name, places) {
  const field = look(name, '');
  /** @param {string} place */
  const plain = place => place.replace('_', '');
  /** @param {string} place */
  const has = place => field.value.split('.').includes(plain(place));
  return {
    has,
    /** @param {string} turned */
    turn(turned) {
      field.value = places
        .filter(place => has(place) !== (place === turned))
        .map(plain)
        .join('.');
    },
  };
}
const openStages = openOnes('stages', Object.keys(STAGES)),
  openSums = openOnes('sums', STATIONS),
  lists = look('tokens', 'few');

/** @param {LayerModel} model */
const nameOf = model => make('span', {class: 'model-name', 'data-model': model.key}, model.label);

/** Models with commas and a last "and". @param {Node[][]} models @param {string} and */
const listed = (models, and) =>
  make(
    'span',
    {},
    ...models.flatMap((model, i) => [!i ? '' : i === models.length - 1 ? and : ', ', ...model]),
  );

/**
 * Which block turned the word further in which models, as the angles are printed.
 * @param {LayerData} data
 */
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
    const group = make(
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
        models: group,
      });
    const first = block || 'attention',
      second = first === 'attention' ? 'feed_forward' : 'attention';
    return sayNodes(block ? texts.finding : texts.equal, {
      word: word(words[at]),
      models: group,
      place,
      first: texts.blocks[first],
      second: texts.blocks[second],
    });
  });
  return make('p', {class: 'finding'}, ...parts.flat(), '.');
}

/**
 * The block that turned the state further; none where both angles print alike.
 * @param {LayerModel} model
 */
const changedBy = ({angles, changed_by: by}) =>
  degrees(angles.attention) === degrees(angles.feed_forward) ? '' : by;

/** @param {LayerModel[]} models @param {Texts} texts */
const everyOne = ({length: n}, texts) => [
  n === 2 ? texts.every.both : say(texts.every.all, {n: texts.numbers[n] ?? n}),
];

/** @param {number} n */
const numbered = n => Object.fromEntries(Array.from({length: n}, (_, i) => [i, String(i + 1)]));

/** A model of the data, by its key. @param {LayerData} data @param {string} key */
const modelOf = ({models}, key) =>
  /** @type {LayerModel} */ (models.find(model => model.key === key));

/**
 * The menus: the layers are those of the deepest model, whose choice the others follow.
 * @param {LayerData} data
 * @param {(changes: Changes) => void} go
 */
function controls(data, go) {
  const {texts, chosen: to} = data,
    deep = modelOf(data, to.deepest);
  return make(
    'div',
    {class: 'ly-controls'},
    picker(
      texts.word,
      Object.fromEntries(to.words.map((word, i) => [i, word])),
      String(to.at),
      at => go({at: Number(at) === to.first ? -1 : Number(at)}),
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

/**
 * The heads of the widest model, whose choice the others follow.
 * @param {LayerData} data
 * @param {(changes: Changes) => void} go
 */
function headControl(data, go) {
  const {texts, chosen: to} = data,
    wide = modelOf(data, to.widest);
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

/**
 * The strips on the page, and the one scale of their colours.
 * @param {HTMLElement} root
 * @param {LayerModel[]} models
 * @param {Context} context
 */
function colours(root, models, context) {
  /** @type {Uint32Array | null} */
  let palette = null;
  let most = 0;
  /** @type {((palette: Uint32Array) => void)[]} */
  const strips = [];
  const paint = () => {
    const colours = paletteOf(root, [], context.dark).diverging('plus', 'minus');
    palette = colours;
    strips.forEach(draw => draw(colours));
  };
  return {
    paint,
    forget() {
      strips.length = 0;
    },
    /** @param {(palette: Uint32Array) => void} draw */
    add(draw) {
      strips.push(draw);
      if (!palette) paint();
      else draw(palette);
    },
    get most() {
      const sizes = most
        ? null
        : Float32Array.from(
            models.flatMap(model => VECTORS.flatMap(station => [...vectorAt(model, station)])),
            Math.abs,
          ).sort();
      if (sizes) most = sizes[Math.floor(FULL * (sizes.length - 1))] || 1;
      return most;
    },
  };
}

/**
 * What the boxes open: built when it is first asked for, and again when its lists are to be longer.
 * @param {HTMLElement} root
 * @param {LayerData} data
 * @param {ReturnType<typeof colours>} scale
 * @param {(changes: Changes) => void} go
 * @param {() => void} sync
 */
function opener(root, data, scale, go, sync) {
  const shown = {
      all: lists.value === 'all',
      turn(/** @type {HTMLElement} */ button) {
        const which = [...root.querySelectorAll('.ly-more')].indexOf(button);
        lists.value = shown.all ? 'few' : 'all';
        sync();
        /** @type {HTMLElement} */ (root.querySelectorAll('.ly-more')[which])?.focus();
      },
    },
    sums = {
      turn(/** @type {string} */ station) {
        openSums.turn(station);
        sync();
      },
    };
  /** @type {Map<string, ({name: string} & ReturnType<typeof stationOf>)[]>} */
  const built = new Map();
  return (/** @type {Rows} */ rows) => {
    if (shown.all !== (lists.value === 'all')) {
      shown.all = !shown.all;
      rows.forEach(({open}) => open.replaceChildren());
      built.clear();
      scale.forget();
    }
    for (const {stage, open, boxes} of rows) {
      const yes = openStages.has(stage);
      if (yes && !built.has(stage)) {
        const stations = STAGES[stage].map(name => ({
          name,
          ...stationOf(data, name, {scale, lists: shown, sums}),
        }));
        built.set(stage, stations);
        if (stage === 'attention') open.append(headControl(data, go));
        open.append(...stations.map(({node}) => node));
      }
      built.get(stage)?.forEach(({name, toggle}) => toggle(openSums.has(name)));
      open.hidden = !yes;
      boxes.forEach(box => box.setAttribute('aria-expanded', String(yes)));
    }
  };
}

const place = () => JSON.stringify(['model', 'layer', 'head', 'at'].map(chosen));

/**
 * Another word, layer or head: asked of the server, drawn when it is still wanted.
 * @param {HTMLElement} root
 * @param {LayerData} data
 * @param {Context} context
 * @param {HTMLElement} status
 */
function goer(root, data, context, status) {
  return async (/** @type {Changes} */ changes) => {
    status.textContent = data.texts.waiting;
    if (Object.keys(changes).length) choose(changes);
    const params = {
        ...runParams(),
        ...Object.fromEntries(['model', 'layer', 'head', 'at'].map(name => [name, chosen(name)])),
      },
      wanted = place();
    try {
      /** @type {LayerData & {error?: string}} */
      const answer = {...JSON.parse(await context.asks({params})), texts: data.texts};
      if (wanted !== place() || !root.contains(status)) return;
      if (answer.error) {
        status.textContent = answer.error;
        return;
      }
      const at = document.activeElement?.closest('.ly-controls label'),
        which = at ? [...root.querySelectorAll('.ly-controls label')].indexOf(at) : -1;
      context.shows?.(JSON.stringify(answer));
      show(root, answer, context);
      if (which >= 0)
        /** @type {HTMLElement} */ (root.querySelectorAll('.ly-controls select')[which]).focus();
    } catch (failure) {
      status.textContent = data.texts.lacking;
      reportError(failure);
    }
  };
}

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {LayerData} */ data, context) {
  const {models, cards, texts} = data,
    status = make('span', {role: 'status', class: 'note'}),
    go = goer(root, data, context, status);
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
    make('div', {class: 'ly-top'}, controls(data, go), status),
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
export function table(/** @type {LayerData} */ data) {
  /** @param {LayerModel} model @param {string} station */
  const normOf = (model, station) => model.norms[station] ?? length(vectorAt(model, station));
  /** @param {LayerModel} model @param {string} station */
  const readOf = (model, station) => model.readings?.[READ_AT.indexOf(station)] ?? [null, null];
  const rows = data.models.flatMap(model => {
    const of = [model.label, model.layer + 1, model.head + 1]; // counted as on the page
    return [
      ...VECTORS.map(station => [
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

/** @type {NonNullable<import('../gradio.js').Picture['header']>} */
export function header(/** @type {LayerData} */ data) {
  const {words, at, deepest, widest} = data.chosen;
  const dimensions = Object.fromEntries(
    data.models.map(({label, embedding}) => [label, [embedding.dimensions, embedding.width]]),
  );
  return {
    state: {
      layer: modelOf(data, deepest).layer + 1,
      head: modelOf(data, widest).head + 1,
      word: words[at],
    },
    embedding_and_width: dimensions,
  };
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = (/** @type {LayerData} */ {models}) => ({
  LAYERS: Object.fromEntries(models.map(model => [model.label, model.layer])),
  HEADS: Object.fromEntries(models.map(model => [model.label, model.head])),
  POSITIONS: Object.fromEntries(models.map(model => [model.label, model.position])),
  WITH_HEAD: models.filter(model => model.readings).map(model => model.label),
});
