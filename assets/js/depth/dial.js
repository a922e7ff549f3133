// The dial: a shared layer applied once, twice ... up to twice as often as usual.
import {make, note, say, vary} from '../kit/dom.js';
import {figure} from '../kit/figure.js';
import {gflop, nats, number, quotient} from '../kit/numbers.js';
import {niceTop} from '../kit/scales.js';
import {choose, chosen} from '../page/here.js';

/**
 * What the dial knows: the lens's own answers up to the usual depth, all of them where the server
 * was asked (`deeper`, by model and mask).
 * @param {import('../data').LensModel} model
 * @param {number} place which mask
 * @param {import('../data').LensData} data
 */
function knownOf(model, place, data) {
  const mask = model.masks[place];
  return data.deeper?.[`${model.key} ${place}`] ?? {top: mask.top.slice(1), kl: mask.kl.slice(1)};
}

/** Why there is no answer: in a saved page there is nobody to ask. @param {any} texts */
export const lacking = texts => (window.explorer?.taken ? texts.needs_page : texts.lacking);

/**
 * What a dial can show, one row for each application and word: of the models that share their
 * layer.
 * @param {import('../data').LensData} data
 */
export const dialRows = data =>
  data.models
    .filter(model => model.flops.length)
    .flatMap(model =>
      model.masks.flatMap((_, place) => {
        const {top, kl} = knownOf(model, place, data);
        return top.flatMap((listed, i) =>
          listed.map(([word, p]) => [
            'dial',
            place + 1,
            model.label,
            i + 1,
            word,
            p,
            null,
            kl[i],
            null,
            model.flops[i],
            null,
          ]),
        );
      }),
    );

/**
 * How often the layer is applied in those rows, by label and mask.
 * @param {import('../data').LensData} data
 */
export const applications = data =>
  Object.fromEntries(
    data.models
      .filter(model => model.flops.length)
      .map(model => [
        model.label,
        model.masks.map((_, place) => knownOf(model, place, data).top.length),
      ]),
  );

/**
 * Up to the usual depth the lens has the answers already; beyond it the server is asked once.
 * @param {import('../data').LensModel} model
 * @param {number} place which mask
 * @param {import('../data').LensData} data
 * @param {import('../gradio.js').Context} context
 */
export function dial(model, place, data, {asks, shows}) {
  const {texts} = data,
    usual = model.layers,
    most = model.flops.length;
  const known = {...knownOf(model, place, data)};
  const input = make('input', {
    type: 'range',
    min: 1,
    max: most,
    step: 1,
    'aria-label': texts.times,
  });
  const shown = make('output'),
    answer = make('div', {class: 'dd-answer', role: 'status'});
  const node = make('section', {class: 'dd', 'data-model': model.key});
  const chart = /** @type {import('../data').Chart} */ (model.chart),
    plot = figure(chart, texts.dial_chart);
  let isAsked = known.top.length > usual;

  /**
   * The view's curve and its two upright lines, the second where the dial stands; the axis ends
   * where the curve does.
   * @param {number} times
   */
  function curve(times) {
    const [fixed, here] = chart.layout.shapes,
      range = [0.5, Math.max(times, known.kl.length) + 0.5];
    plot.set({
      data: [{...chart.data[0], y: model.flops.map((_, i) => known.kl[i] ?? null)}],
      layout: {
        ...chart.layout,
        xaxis: {...chart.layout.xaxis, range},
        shapes: [fixed, {...here, x0: times, x1: times}],
      },
    });
  }

  function draw() {
    const times = Number(input.value);
    shown.textContent = times === usual ? `${times} × (${texts.usual})` : `${times} ×`;
    input.setAttribute('aria-valuetext', shown.textContent);
    curve(times);
    answer.replaceChildren(
      ...(known.top[times - 1]
        ? after(times)
        : [make('p', {class: 'note'}, say(texts.beyond, {n: most}))]),
    );
  }

  /** @param {number} times */
  function after(times) {
    const top = known.top[times - 1],
      full = niceTop(top[0][1]),
      same = top[0][0] === known.top[usual - 1][0][0];
    const list = make(
      'ol',
      {class: 'dd-list'},
      ...top.map(([word, p]) => {
        const bar = make('i', {class: 'dd-bar'});
        vary(bar, '--share', p / full);
        return make(
          'li',
          {},
          make('span', {class: 'dd-word'}, word),
          make('span', {class: 'dd-track'}, bar),
          make('span', {class: 'dd-p'}, number(p)),
        );
      }),
    );
    const work = say(times === usual ? texts.same_work : texts.work, {
      gflop: gflop(model.flops[times - 1] / 1e9),
      share: `${quotient(model.flops[times - 1] / model.flops[usual - 1])} ×`,
    });
    const facts = [
      say(same ? texts.same : texts.other, {n: usual}),
      say(texts.distance, {kl: nats(known.kl[times - 1])}),
      work,
    ];
    return [list, make('ul', {class: 'dd-facts'}, ...facts.map(fact => make('li', {}, fact)))];
  }

  // What lies beyond the usual depth needs one long pass, and is asked for when the reader goes
  // there.
  async function beyond() {
    if (isAsked || Number(input.value) <= usual) return;
    isAsked = true;
    try {
      const deep = JSON.parse(
        await asks({params: data.run, want: 'dial', model: model.key, mask: place}),
      );
      Object.assign(known, deep);
      data.deeper = {...data.deeper, [`${model.key} ${place}`]: deep};
      shows?.(JSON.stringify(data)); // a tab that is saved has it with it
      draw();
    } catch {
      isAsked = false;
      if (Number(input.value) > usual)
        // else its answer stands there
        answer.replaceChildren(make('p', {class: 'note'}, lacking(texts)));
    }
  }

  input.value = String(Math.min(most, Number(chosen('times')) || usual));
  input.addEventListener('input', () => {
    choose({times: Number(input.value) === usual ? 0 : Number(input.value)});
    draw();
    beyond();
  });
  node.append(
    make('h3', {}, say(texts.dial, {model: model.label})),
    make('label', {class: 'dd-dial'}, input, shown),
    answer,
    plot.node,
    note(texts.dial_note),
  );
  draw();
  beyond();
  return node;
}
