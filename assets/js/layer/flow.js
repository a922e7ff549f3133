// One layer as textbooks draw it: boxes one below the other, lines around the blocks for the
// residual connections, a shared layer as a loop.
import {make, say, sayNodes, svg, vary, word} from '../kit/dom.js';
import {number} from '../kit/numbers.js';
import {rove} from '../kit/rove.js';
import {largest} from './lists.js';

/** @typedef {import('../data').LayerData} LayerData */
/** @typedef {import('../data').LayerModel} LayerModel */
/** @typedef {Record<string, any>} Texts */

/**
 * The boxes from top to bottom, and the stations that each opens to.
 * @type {Record<string, string[]>}
 */
export const STAGES = {
  input: ['embedding', 'input'],
  attention: ['scores', 'softmax', 'heads', 'projection'],
  norm1: ['attended', 'attention_norm'],
  feed: ['feed_forward'],
  norm2: ['summed', 'output'],
};
const READ_AT = ['input', 'norm1', 'norm2']; // where there is a state that the head can read
/** @type {Record<string, string>} */
const BLOCK_OF = {norm1: 'attention', norm2: 'feed_forward'};
/** @type {Record<string, string>} */
const PART_OF = {attention: 'attention', feed: 'ffn'};
/** @type {Record<string, string>} */
const TURNED = {right: 'rotate(-90 4 3)', left: 'rotate(90 4 3)'};
const MAX_READ = 3;

/**
 * The tokens that a model's heads read most in the mean, the largest first.
 * @param {LayerModel} model
 */
const mostRead = ({read_from: weights}) =>
  largest(weights, MAX_READ).sort((a, b) => weights[b] - weights[a]);

/** By how much a vector turned, in whole degrees. @param {number} angle */
export const degrees = angle => (angle > 0 && angle < 1 ? '< 1°' : `${Math.round(angle)}°`);

/** @param {string} direction */
const tip = direction =>
  svg(
    'svg',
    {class: `ly-tip ${direction}`, viewBox: '0 0 8 6', width: 8, height: 6},
    svg('path', {
      d: 'M0 0h8L4 6z',
      fill: 'currentColor',
      transform: TURNED[direction] ?? null,
    }),
  );
/** @param {string} name @param {(Element | null)[]} children */
const line = (name, ...children) =>
  make('span', {class: `ly-line ${name}`, 'aria-hidden': 'true'}, ...children);

/**
 * The lines of one box: the arrow from the one above, the residual connection on the right, a
 * shared layer's loop on the left.
 * @param {string} stage
 * @param {boolean} loops
 */
const lines = (stage, loops) => [
  stage === 'input' ? null : line('down', tip('down')),
  stage in PART_OF ? line('past') : stage in BLOCK_OF ? line('joins', tip('left')) : null,
  loops
    ? line(stage === 'input' ? 'enters' : 'loops', stage === 'input' ? tip('right') : null)
    : null,
];

/** Two arms of a vector and the angle between them. @param {number} angle */
function turn(angle) {
  const a = (angle * Math.PI) / 180,
    x = 9 + 8 * Math.cos(a),
    y = 10 - 8 * Math.sin(a);
  return svg(
    'svg',
    {class: 'ly-turn', viewBox: '0 0 18 19', width: 18, height: 19, 'aria-hidden': 'true'},
    svg('path', {
      d: `M17 10H9L${x.toFixed(2)} ${y.toFixed(2)}`,
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 1.75,
      'stroke-linejoin': 'round',
      'stroke-linecap': 'round',
    }),
  );
}

/**
 * The three tokens that attention reads most, in the mean of the heads.
 * @param {LayerModel} model
 * @param {Texts} texts
 * @param {number} most the largest of these weights in any model
 */
function reads(model, texts, most) {
  return [
    make('span', {class: 'ly-small'}, say(texts.reads, {n: model.n_heads})),
    make(
      'span',
      {class: 'ly-reads'},
      ...mostRead(model).map(i => {
        const bar = make('i');
        vary(bar, '--share', model.read_from[i] / most);
        return make(
          'span',
          {},
          make('span', {class: i === model.position ? 'self' : null}, model.tokens[i]),
          make('span', {class: 'ly-bar'}, bar),
          make('b', {}, number(model.read_from[i])),
        );
      }),
    ),
  ];
}

/**
 * What a box says below its name.
 * @param {LayerModel} model
 * @param {string} stage
 * @param {{texts: Texts, most: number, of: string}} shared by all models
 */
function inside(model, stage, {texts, most, of}) {
  const parts = [],
    reading = model.readings?.[READ_AT.indexOf(stage)];
  if (stage === 'input')
    parts.push(
      make(
        'span',
        {class: 'ly-small'},
        model.layer ? say(texts.from, {n: model.layer}) : texts.from_embedding,
      ),
    );
  if (stage === 'attention') parts.push(...reads(model, texts, most));
  if (stage === 'feed')
    parts.push(make('span', {class: 'ly-small'}, ...sayNodes(texts.alone, {word: word(of)})));
  if (reading)
    parts.push(
      make(
        'span',
        {class: 'ly-says'},
        ...sayNodes(texts.predicts, {
          word: word(reading[0]),
          p: make('b', {}, number(reading[1])),
        }),
      ),
    );
  if (stage in BLOCK_OF)
    parts.push(
      make(
        'span',
        {class: 'ly-angle'},
        turn(model.angles[BLOCK_OF[stage]]),
        say(texts.turned, {n: degrees(model.angles[BLOCK_OF[stage]])}),
      ),
    );
  return parts;
}

/** The largest weight that a box has a bar for. @param {LayerModel[]} models */
const mostOf = models =>
  Math.max(...models.flatMap(model => mostRead(model).map(i => model.read_from[i])), 1e-9);

/**
 * One row of boxes, a model each, and the place below it that they open.
 * @param {string} stage
 * @param {LayerData} data
 * @param {number} most
 * @param {(node: HTMLElement) => void} press
 */
function row(stage, data, most, press) {
  const {
      models,
      texts,
      chosen: {words, at},
    } = data,
    id = `ly-stage-${stage}`;
  const open = make('div', {
    class: 'ly-details',
    id,
    hidden: true,
    role: 'group',
    'aria-label': texts.stages[stage],
  });
  const boxes = models.map(model =>
    make(
      'button',
      {
        type: 'button',
        class: 'ly-box',
        'data-part': PART_OF[stage] ?? null,
        'aria-expanded': 'false',
        'aria-controls': id,
      },
      make('span', {class: 'ly-name'}, texts.stages[stage]),
      ...inside(model, stage, {texts, most, of: words[at]}),
    ),
  );
  const lanes = make(
    'div',
    {class: 'ly-lanes', role: 'group', 'aria-label': texts.stages[stage]},
    ...models.map((model, i) =>
      make(
        'div',
        {class: 'ly-lane', 'data-model': model.key},
        ...lines(stage, model.shares),
        boxes[i],
      ),
    ),
  );
  rove(lanes);
  boxes.forEach(box => box.addEventListener('click', () => press(box)));
  return {
    stage,
    open,
    boxes,
    node: make('section', {class: 'ly-stage', 'data-stage': stage}, lanes, open),
  };
}

/**
 * Where a layer's output goes: to the next layer, round again, or to the head.
 * @param {LayerData} data
 */
function exits({models, texts}) {
  /** @param {LayerModel} model */
  const to = model =>
    model.layer + 1 < model.n_layers
      ? say(model.shares ? texts.again : texts.to, {n: model.layer + 2})
      : model.readings
        ? texts.to_head
        : texts.ends;
  return make(
    'div',
    {class: 'ly-lanes'},
    ...models.map(model =>
      make(
        'div',
        {class: 'ly-lane ly-exit', 'data-model': model.key},
        line('down', tip('down')),
        model.shares ? line('leaves') : null,
        make('span', {class: 'ly-small'}, to(model)),
      ),
    ),
  );
}

/**
 * The whole flow, and what each row of boxes opens.
 * @param {LayerData} data
 * @param {HTMLElement} heads
 * @param {(stage: string, box: HTMLElement) => void} press
 */
export function flow(data, heads, press) {
  const most = mostOf(data.models),
    rows = Object.keys(STAGES).map(stage => row(stage, data, most, box => press(stage, box)));
  const node = make('div', {class: 'ly-grid'}, heads, ...rows.map(row => row.node), exits(data));
  vary(node, '--models', data.models.length);
  return {node, rows};
}
