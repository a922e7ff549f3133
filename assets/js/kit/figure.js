// Charts by Plotly: the library is fetched when the first one comes near, the page's light or dark
// laid beneath.
import {make, note as noted, tableHead, touched} from './dom.js';

/** Where the library and the looks of charts are, beside the page's own modules. */
export const addresses = () =>
  ['plotly.min.js', 'templates.json'].map(name => new URL(`../${name}`, import.meta.url).href);
const NEAR = '400px';
/** What a reader can do with a chart: zoom by dragging, pan, and come back. */
const CONFIG = {
  displaylogo: false,
  showSendToCloud: false,
  displayModeBar: 'hover',
  scrollZoom: false,
  doubleClick: 'reset',
  modeBarButtonsToRemove: [
    'select2d',
    'lasso2d',
    'autoScale2d',
    'toImage',
    'zoomIn2d',
    'zoomOut2d',
  ],
};
const isDark = () => document.body.classList.contains('dark');

/** @typedef {import('../data').Chart} Spec a figure as Python's `to_json` writes it */

/** @typedef {{Plotly: any, templates: {light: any, dark: any}}} Library */
/** @type {Promise<Library> | null} */
let library = null;

/** The library and both looks, asked for once. */
export function plotly() {
  return (library ??= Promise.all([loaded(addresses()[0]), fetched(addresses()[1])])
    .then(([, templates]) => ({Plotly: /** @type {any} */ (window).Plotly, templates}))
    .catch(failure => {
      library = null;
      throw failure;
    }));
}

/**
 * A chart in a fold that was opened: the library comes while its numbers are computed.
 * @type {NonNullable<import('../gradio.js').Picture['near']>}
 */
export function near(root) {
  // who draws says what failed
  if (root.closest('.fold') && root.getClientRects().length) plotly().catch(() => {});
}

/** @param {string} address @returns {Promise<void>} */
const loaded = address =>
  new Promise((done, failed) => {
    const script = make('script', {src: address});
    script.onload = () => done();
    script.onerror = () => failed(new Error(`no ${address}`));
    document.head.append(script);
  });

/** @param {string} address */
async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
}

/** The place of a chart, as high as the chart will be. @param {Spec} spec */
export function frame({layout: {height = 320, title}}) {
  const name = make('figcaption', {}, title?.text ?? ''),
    plot = make('div', {class: 'fg', style: `height:${height}px`});
  // above the drawing a title has room for two lines
  return {name, plot, node: make('figure', {class: 'fg-titled'}, name, plot)};
}

/** Say in the place of a chart that it could not be drawn. @param {HTMLElement} place */
export function sayFailed(place) {
  place.textContent = place.closest('.canvas')?.getAttribute('data-failed') ?? '';
}

/**
 * A chart whose place has its height from the start, and that follows light and dark. `set` draws
 * other traces or
 * another layout at once where the library is there; `whole` draws it out of sight too.
 * @param {Spec} spec @param {string} label what it shows, for those who cannot see it
 */
export function figure(spec, label) {
  const {name, plot, node} = frame(spec);
  plot.setAttribute('role', 'figure');
  plot.setAttribute('aria-label', label);
  /** @type {Promise<void> | null} */
  let first = null;
  /** @type {Library | null} */
  let ready = null;
  let width = 0,
    now = spec;
  /** @param {Library['templates']} templates */
  const layout = templates => ({
    ...now.layout,
    title: undefined,
    uirevision: 'kept',
    template: templates[isDark() ? 'dark' : 'light'],
    autosize: true,
    ...(touched() ? {dragmode: false} : {}),
  });
  // under a finger its buttons would lie over the chart
  const config = () => (touched() ? {...CONFIG, displayModeBar: false} : CONFIG);
  /** @param {Library} library */
  const draw = library => library.Plotly.react(plot, now.data, layout(library.templates), config());
  /** @param {Library} library */
  const begin = library => {
    plot.replaceChildren(); // what a try before said
    ready = library;
    return draw(library);
  };
  const given = window.explorer.charts; // a page that was taken away has the library with it
  const whole = () =>
    (first ??= (given ? Promise.resolve(begin(given)) : plotly().then(begin)).catch(failure => {
      first = null; // the next look or save tries again
      sayFailed(plot);
      throw failure;
    }));
  new IntersectionObserver(
    (seen, watch) => {
      if (seen.some(entry => entry.isIntersecting))
        whole().then(
          () => watch.disconnect(),
          failure => reportError(failure),
        );
    },
    {rootMargin: NEAR},
  ).observe(plot);
  new ResizeObserver(() => {
    const wide = plot.clientWidth;
    if (!wide || wide === width) return;
    width = wide;
    if (ready) ready.Plotly.Plots.resize(plot);
  }).observe(plot);
  const chart = {
    node,
    whole,
    spec: () => ({
      data: now.data,
      layout: {...now.layout, template: ready?.templates[isDark() ? 'dark' : 'light']},
    }),
    redraw() {
      if (ready) draw(ready);
    },
    /** Plotly keeps listeners and numbers of a drawing until it is told. */
    end() {
      if (ready) ready.Plotly.purge(plot);
    },
    wasThere: false,
    /** @param {Partial<Spec>} changes */
    set(changes) {
      now = {...now, ...changes};
      name.textContent = now.layout.title?.text ?? '';
      if (ready) draw(ready);
    },
  };
  there();
  live.add(chart);
  return chart;
}

/**
 * @type {Set<{node: HTMLElement, whole: () => Promise<void>, redraw: () => void, end: () => void,
 *   spec: () => Spec, wasThere: boolean}>}
 */
const live = new Set();

/** The charts on the page; those that have left it are ended. */
function there() {
  for (const chart of live) {
    if (chart.node.isConnected) chart.wasThere = true;
    else if (chart.wasThere) {
      live.delete(chart);
      chart.end();
    }
  }
  return [...live].filter(chart => chart.node.isConnected);
}

new MutationObserver(() => {
  for (const chart of there()) chart.redraw();
}).observe(document.body, {attributes: true, attributeFilter: ['class']});

/** The charts at a place, in its order, as figures that Plotly reads. @param {HTMLElement} root */
export async function specs(root) {
  const charts = [...root.querySelectorAll('.fg-titled')].flatMap(node =>
    [...live].filter(chart => chart.node === node),
  );
  await Promise.all(charts.map(chart => chart.whole()));
  return charts.map(chart => chart.spec());
}

/**
 * The rows of a chart for those who cannot see it; a table alone would not be as small as its rule
 * says.
 * @param {import('../gradio.js').Table} numbers
 */
export const readable = ({columns, rows}) =>
  make(
    'div',
    {class: 'sr-only'},
    make(
      'table',
      {},
      tableHead(columns),
      make(
        'tbody',
        {},
        ...rows.map(row =>
          make('tr', {}, ...row.map(value => make('td', {}, value === null ? '–' : String(value)))),
        ),
      ),
    ),
  );

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  /** @type {import('../data').ChartData} */
  const {figures, numbers, finding, note} = data;
  const charts = figures.map(spec =>
    figure(spec, spec.layout.meta?.label ?? spec.layout.title?.text ?? ''),
  );
  root.replaceChildren(
    ...(finding ? [make('p', {class: 'finding'}, finding)] : []),
    make('div', {class: figures.length > 1 ? 'fg-pair' : null}, ...charts.map(chart => chart.node)),
    ...(note ? [noted(note)] : []),
    readable(numbers),
  );
}

/** @type {NonNullable<import('../gradio.js').Picture['whole']>} */
export const whole = async root => {
  await Promise.all(
    [...live].filter(chart => root.contains(chart.node)).map(chart => chart.whole()),
  );
};

/** @type {import('../gradio.js').Picture['table']} */
export const table = ({numbers: {columns, rows}}) => ({columns, rows});

/** @type {import('../gradio.js').Picture['constants']} */
export const constants = ({numbers}) => numbers.constants;

/** @type {import('../gradio.js').Picture['header']} */
export const header = ({numbers}) => numbers.said;
