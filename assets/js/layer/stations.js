// What does one layer do to a word? Its stations as rows, the models as columns, on one colour scale.
import {paletteOf} from '../attention/colours.js';
import {picker} from '../kit/choice.js';
import {make, say, sayNodes, vary, word} from '../kit/dom.js';
import {fixed, floats} from '../kit/numbers.js';
import {explainer} from '../kit/term.js';
import {choose, chosen, listen, runParams} from '../page/here.js';
import {arithmetic} from './arithmetic.js';

const STATIONS = ['embedding', 'input', 'scores', 'softmax', 'heads', 'projection', 'attended', 'attention_norm', 'feed_forward', 'summed', 'output'];
const FINE = 1600;   // pixels of a strip at least: a saved image is twice as fine as the page
const FULL = 0.98;   // this share of all numbers lies within the colour scale
/** @type {WeakMap<HTMLElement, () => void>} how each picture colours its strips */
const painted = new WeakMap();
/** @type {{root: HTMLElement, place: string, look: (changes: Record<string, number>) => void} | null} what is on the page */
let now = null;

/** The vector of a station, if it is one. */
const vectorAt = (model, station) => {
  const packed = station === 'embedding' ? model.embedding.normalised : station === 'heads' ? model.read : model.vectors[station];
  return packed ? floats(packed) : null;
};

function strip(values, palette, most) {
  const each = Math.ceil(FINE / values.length), width = each * values.length;
  const canvas = make('canvas', {class: 'ly-strip', width, height: 1, 'aria-hidden': 'true'}), pen = canvas.getContext('2d');
  const image = new ImageData(width, 1), out = new Uint32Array(image.data.buffer);
  values.forEach((value, i) => out.fill(palette[Math.round(255 + 255 * Math.max(-1, Math.min(1, value / most)))], i * each, (i + 1) * each));
  pen.putImageData(image, 0, 0);
  return canvas;
}

const length = values => Math.hypot(...values);

/** Every token with a bar below it. */
function tokens(model, values, name) {
  const most = Math.max(...values.map(Math.abs), 1e-9);
  return make('ol', {class: 'ly-tokens', 'aria-label': name}, ...model.tokens.map((token, i) => {
    const bar = make('i', {class: values[i] < 0 ? 'less' : null});
    vary(bar, '--share', Math.abs(values[i]) / most);
    return make('li', {class: i === model.position ? 'self' : null}, make('span', {}, token), make('span', {class: 'ly-bar'}, bar), make('b', {}, fixed(values[i], name === 'softmax' ? 3 : 2)));
  }));
}

function cell(model, station, texts, scale) {
  const node = make('div', {class: 'ly-cell', 'data-model': model.key}), values = vectorAt(model, station);
  if (station === 'scores' || station === 'softmax') {
    node.append(tokens(model, station === 'scores' ? model.scores : model.weights, station));
    return node;
  }
  const norm = model.norms[station] ?? length(values), cosine = model.cosines[station];
  const picture = make('div', {role: 'img', 'aria-label': say(texts.strip, {station: texts.stations[station], model: model.label, n: values.length, norm: fixed(norm, 2)})});
  scale.strips.push(palette => picture.replaceChildren(strip(values, palette, scale.most)));
  node.append(picture, make('small', {}, make('span', {}, say(texts.norm, {n: fixed(norm, 2)})), cosine === undefined ? null : make('span', {}, say(texts.cosine, {n: fixed(cosine, 3)})), aside(model, station, texts)));
  return node;
}

/** What is this model's alone at a station. */
function aside(model, station, texts) {
  if (station !== 'embedding') return null;
  const {embedding} = model, said = [];
  if (!embedding.parts.segment) said.push(texts.no_segment);
  if (embedding.dimensions !== embedding.width) said.push(say(texts.factorised, {e: embedding.dimensions, d: embedding.width}));
  return said.length ? make('em', {class: 'ly-own'}, said.join('; ')) : null;
}

const nameOf = model => make('span', {class: 'model-name', 'data-model': model.key}, model.label);

/** Models with commas and a last "and". @param {Node[][]} models */
const listed = (models, and) => make('span', {}, ...models.flatMap((model, i) => [!i ? '' : i === models.length - 1 ? and : ', ', ...model]));

/** Which block changed the word more in which models, as their cosines are printed. */
function finding({models, chosen: {words, at}, texts}) {
  const one = models.every(model => model.layer === models[0].layer);
  const place = one ? say(texts.place, {n: models[0].layer + 1}) : '';
  const groups = [...new Set(models.map(changedBy))].map(block => ({block, of: models.filter(model => changedBy(model) === block)}));
  const who = of => make('span', {}, ...(of.length === models.length ? everyOne(of, texts, one) : [named(of, texts, one)]));
  const order = [...groups.filter(({block}) => block), ...groups.filter(({block}) => !block)];
  const parts = order.map(({block, of}, i) => {
    const models = who(of);
    if (block && i) return sayNodes(texts.rest, {block: texts.blocks[block], models});
    const first = block || 'attention', second = first === 'attention' ? 'feed_forward' : 'attention';
    return sayNodes(block ? texts.finding : texts.equal, {word: word(words[at]), models, place: i ? '; ' : place,
      first: texts[place || i ? 'blocks' : 'opens'][first], second: texts.blocks[second]});
  });
  return make('p', {class: 'finding'}, ...parts.flat(), '.');
}

/** The block that turned the state further; none where both cosines print alike. */
const changedBy = ({blocks, changed_by: by}) => fixed(blocks.attention, 2) === fixed(blocks.feed_forward, 2) ? '' : by;

const named = (models, texts, one) => listed(models.map(model => one ? [nameOf(model)] : [...sayNodes(texts.at, {model: nameOf(model), n: String(model.layer + 1)})]), texts.and);

/** All models: by name where there is one or where their layers differ. */
const everyOne = (models, texts, one) => models.length === 1 || !one ? [named(models, texts, one)]
  : [models.length === 2 ? texts.every.both : say(texts.every.all, {n: texts.numbers[models.length] ?? models.length})];

/** The head's first word before the layer and after it. */
function readings({readings: read}, texts) {
  if (!read) return null;
  const [[before], [after]] = read, change = make('span', {}, ...sayNodes(before === after ? texts.stays : texts.becomes, {before: word(before), after: word(after)}));
  return make('small', {}, ...sayNodes(texts.top, {change}));
}

/** One station: its name opens the arithmetic of all models. */
function row(data, station, scale) {
  const {models, texts} = data, id = `ly-${station}`;
  const open = make('div', {class: 'ly-open', id, hidden: true});
  const button = make('button', {type: 'button', 'aria-expanded': 'false', 'aria-controls': id, title: say(texts.open, {station: texts.stations[station]})}, texts.stations[station]);
  const node = make('section', {class: 'ly-row', 'data-station': station}, make('h4', {}, button), ...models.map(model => cell(model, station, texts, scale)), open);
  const toggle = (yes = open.hidden) => {
    if (yes && !open.firstChild) open.append(...models.map(model => make('div', {class: 'ly-sum', 'data-model': model.key}, make('h5', {class: 'model-name', 'data-model': model.key}, model.label), ...arithmetic(model, station, texts))));
    open.hidden = !yes;
    button.setAttribute('aria-expanded', String(yes));
  };
  button.addEventListener('click', () => toggle());
  return {node, toggle};
}

/** One sentence a station, with Back and Next; the station that it speaks of is lit. */
function walk({texts, chosen: {words, at}}, rows) {
  let step = -1;
  const said = make('p', {'aria-live': 'polite'}), count = make('span', {class: 'ly-count'});
  const back = make('button', {type: 'button', class: 'chip'}, texts.back), next = make('button', {type: 'button', class: 'chip'}, texts.next);
  const go = by => {
    step = Math.max(0, Math.min(STATIONS.length - 1, step + by));
    rows.forEach(({node}, i) => { if (i === step) node.setAttribute('aria-current', 'step'); else node.removeAttribute('aria-current'); });
    rows[step].node.scrollIntoView({block: 'nearest'});
    said.replaceChildren(make('b', {}, texts.stations[STATIONS[step]]), ': ', ...sayNodes(texts.said[STATIONS[step]], {word: word(words[at])}));
    count.textContent = say(texts.step, {i: step + 1, n: STATIONS.length});
    back.toggleAttribute('disabled', !step);
    next.toggleAttribute('disabled', step === STATIONS.length - 1);
  };
  back.addEventListener('click', () => go(-1));
  next.addEventListener('click', () => go(1));
  back.setAttribute('disabled', '');
  return make('div', {class: 'ly-walk', role: 'group', 'aria-label': texts.walk}, back, next, count, said);
}

/** The menus: layers of the deepest model, heads of the widest; a choice is of that model, and the others follow. */
function controls({models, texts, chosen: to}, look) {
  const numbered = n => Object.fromEntries(Array.from({length: n}, (_, i) => [i, String(i + 1)]));
  const [deep, wide] = [to.deepest, to.widest].map(key => models.find(model => model.key === key));
  return make('div', {class: 'ly-controls'},
    picker(texts.word, Object.fromEntries(to.words.map((one, i) => [i, one])), String(to.at), at => look({at: Number(at) === to.first ? -1 : Number(at)})),
    picker(texts.layer, numbered(deep.n_layers), String(deep.layer), layer => look({model: deep.key, layer: Number(layer), head: Math.min(Number(chosen('head')), deep.n_heads - 1)})),
    picker(texts.head, numbered(wide.n_heads), String(wide.head), head => look({model: wide.key, layer: chosen('model') === wide.key ? Number(chosen('layer')) : wide.layer, head: Number(head)})));
}

const place = () => JSON.stringify(['model', 'layer', 'head', 'at'].map(chosen));

/** @type {import('../gradio.js').Picture['show']} */
export const show = (root, data, context) => draw(root, data, context);

function draw(root, data, context, opened = []) {
  const {models, cards, texts} = data, said = make('span', {role: 'status', class: 'note'});
  const sizes = Float32Array.from(models.flatMap(model => STATIONS.flatMap(station => [...vectorAt(model, station) ?? []])), Math.abs).sort();
  const scale = {strips: [], most: sizes[Math.floor(FULL * (sizes.length - 1))] || 1};
  const rows = STATIONS.map(station => row(data, station, scale));
  const look = async changes => {
    said.textContent = texts.waiting;
    if (Object.keys(changes).length) choose(changes);
    const params = {...runParams(), ...Object.fromEntries(['model', 'layer', 'head', 'at'].map(name => [name, chosen(name)]))}, asked = place();
    try {
      const found = JSON.parse(await context.asks({params}));
      if (asked !== place() || !root.contains(said)) return;
      const open = rows.flatMap(({node}, i) => node.querySelector('.ly-open:not([hidden])') ? [STATIONS[i]] : []), at = document.activeElement?.closest('.ly-controls label');
      const which = at ? [...root.querySelectorAll('.ly-controls label')].indexOf(at) : -1;
      context.shows?.(JSON.stringify({...found, texts}));
      draw(root, {...found, texts}, context, open);
      if (which >= 0) /** @type {HTMLElement} */ (root.querySelectorAll('.ly-controls select')[which]).focus();
    } catch (failure) {
      said.textContent = texts.lacking;
      reportError(failure);
    }
  };
  const heads = make('div', {class: 'ly-row ly-heads'}, make('span'), ...models.map(model => make('div', {class: 'ly-cell'},
    make('h3', {class: 'model-name', 'data-model': model.key}, model.label), make('small', {}, model.note), make('small', {}, say(texts.turned, {block: texts.short[model.changed_by], cosine: fixed(model.blocks[model.changed_by], 2)})), readings(model, texts), model.pieces ? make('small', {}, model.pieces) : null)));
  const grid = make('div', {class: 'ly-grid'}, heads, ...rows.map(one => one.node));
  vary(grid, '--models', models.length);
  root.replaceChildren(finding(data), make('div', {class: 'ly-top'}, controls(data, look), said, walk(data, rows)), grid,
    ...cards.map(card => make('section', {class: 'card plain', 'data-model': card.key}, make('h3', {}, card.label), make('p', {}, card.why))),
    make('p', {class: 'note ly-scale'}, texts.scale, ' ', make('i'), ` ±${fixed(scale.most, 2)}`), make('p', {class: 'note'}, ...explainer(texts.terms)(texts.note)));
  const paint = () => {
    const palette = paletteOf(root, [], context.dark).diverging('plus', 'minus');
    scale.strips.forEach(one => one(palette));
  };
  paint();
  rows.forEach((one, i) => { if (opened.includes(STATIONS[i])) one.toggle(true); });
  painted.set(root, paint);
  now = {root, place: place(), look};
}

// A layer or head that was chosen on another tab since.
listen(() => { if (now?.root.isConnected && chosen('tab') === 'layer' && now.place !== place()) now.look({}); });

/** @type {import('../gradio.js').Picture['theme']} */
export const theme = root => painted.get(root)?.();

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const named = STATIONS.filter(one => one !== 'scores' && one !== 'softmax'), normOf = (model, station) => model.norms[station] ?? length(vectorAt(model, station));
  const rows = data.models.flatMap(model => [
    ...named.map(station => [model.label, model.layer, model.head, station, null, null, normOf(model, station), model.cosines[station] ?? null, null, null]),
    ...Object.entries(model.blocks).map(([block, cosine]) => [model.label, model.layer, model.head, `${block}_block`, null, null, null, cosine, null, null]),
    ...model.raw.map((token, i) => [model.label, model.layer, model.head, 'softmax', i, token, null, null, model.scores[i], model.weights[i]])]);
  return {columns: ['model', 'layer', 'head', 'station', 'position', 'token', 'norm', 'cosine', 'score', 'weight'], rows};
}

/** @type {import('../gradio.js').Picture['said']} */
export function said({models, chosen: {words, at, deepest, widest}}) {
  const [deep, wide] = [deepest, widest].map(key => models.find(model => model.key === key));
  const dimensions = Object.fromEntries(models.map(({label, embedding}) => [label, [embedding.dimensions, embedding.width]]));
  return {state: {layer: deep.layer + 1, head: wide.head + 1, word: words[at]}, embedding_and_width: dimensions};
}

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = data => Object.fromEntries([['LAYERS', 'layer'], ['HEADS', 'head'], ['POSITIONS', 'position']]
  .map(([name, field]) => [name, Object.fromEntries(data.models.map(model => [model.label, model[field]]))]));
