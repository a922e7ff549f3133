// A whole tab as one file that opens from a disk: what is seen, the pictures' own numbers, and the
// scripts that draw them.
import {find, make, the} from '../kit/dom.js';
import {configNow, linkNow, runParams} from '../page/here.js';
import {textInSight} from '../page/asks.js';
import {addresses} from '../kit/figure.js';
import {valueAt} from '../gradio.js';
import {aboutOf, origin, provenance, responseFrom, save} from './take.js';
import {fileName} from './files.js';

const LEFT_OUT = 'script, style, iframe, link, input, select, textarea';

/**
 * The parts of a tab in reading order; closed folds and Gradio's own controls stay behind.
 * @param {Element} node
 * @param {string} needsPage
 * @returns {Node[]}
 */
function parts(node, needsPage) {
  if (
    !node.getClientRects().length &&
    !(node instanceof HTMLElement && getComputedStyle(node).display === 'contents')
  )
    return [];
  const fold = node.classList.contains('fold'),
    header = fold ? find(node, 'button.label-wrap') : null;
  if (header && !header.classList.contains('open')) return [];
  const canvas = [...node.children].find(child => child.matches('.canvas'));
  if (canvas instanceof HTMLElement) return picture(canvas, needsPage);
  if (node.matches('.html-container, .prose') && !node.querySelector('.canvas'))
    return [written(node)];
  const inside = [...node.children].flatMap(child =>
    child === header ? [] : parts(child, needsPage),
  );
  return header && inside.length
    ? [make('section', {class: 'taken-fold'}, make('h3', {}, header.textContent.trim()), ...inside)]
    : inside;
}

/**
 * A picture's place, to be drawn again, and its menu.
 * @param {HTMLElement} canvas
 * @param {string} needsPage
 */
function picture(canvas, needsPage) {
  if (!canvas.childElementCount) return [];
  if (canvas.querySelector('iframe')) return [make('p', {class: 'note'}, needsPage)];
  const {kind, value} = valueAt(canvas),
    menu = canvas.parentElement?.querySelector(':scope > .take')?.cloneNode(true);
  if (menu instanceof HTMLDetailsElement) menu.open = false;
  return [
    make(
      'div',
      {
        class: 'taken-picture',
        'data-kind': kind,
        'data-lines': canvas.dataset.lines,
        'data-value': value,
      },
      make('div', {
        class: 'canvas',
        'data-kind': kind,
        'data-module': canvas.dataset.module,
        'data-failed': canvas.dataset.failed,
      }),
      menu,
    ),
  ];
}

/**
 * What Python wrote, without anything that runs or asks; links lead to where they led.
 * @param {Element} node
 */
function written(node) {
  const copy = /** @type {HTMLElement} */ (
    make('div', {class: 'taken-text'}, ...[...node.childNodes].map(child => child.cloneNode(true)))
  );
  copy.querySelectorAll(LEFT_OUT).forEach(node => node.remove());
  copy.querySelectorAll('.take[open]').forEach(node => node.removeAttribute('open'));
  copy.querySelectorAll('*').forEach(node =>
    node
      .getAttributeNames()
      .filter(name => name.startsWith('on'))
      .forEach(name => node.removeAttribute(name)),
  );
  const links = /** @type {NodeListOf<HTMLAnchorElement>} */ (node.querySelectorAll('a[href]'));
  copy.querySelectorAll('a[href]').forEach((link, i) => link.setAttribute('href', links[i].href));
  return copy;
}

/**
 * Plotly and its looks, where a picture is drawn by them: lines of a script.
 * @param {Element} panel
 */
async function library(panel) {
  if (!panel.querySelector('.fg')) return '';
  const [code, looks] = await Promise.all(
    addresses().map(async address => (await responseFrom(address)).text()),
  );
  const templates = safe(JSON.parse(looks));
  return (
    `${code.replaceAll('</script', '<\\/script')};` +
    `window.explorer.charts = {Plotly: window.Plotly, templates: ${templates}};`
  );
}

/** JSON that cannot end a script. @param {unknown} value */
const safe = value =>
  JSON.stringify(value)
    .replace(/</g, '\\u003c')
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029');

/** @param {string} tab @param {{needs_page: string, live: string}} texts */
export async function takeTab(tab, texts) {
  const panel = the(document, `#tab-${tab}`),
    params = runParams(),
    known = await provenance(params.family),
    link = linkNow().href;
  const about = aboutOf(`${tab}/tab`, known, {
      family: true,
      models: true,
      device: true,
      dtype: true,
    }),
    question = find(panel, '.question h2')?.textContent ?? '';
  const text = about.text && textInSight();
  const shown = [...panel.children].flatMap(child => parts(child, texts.needs_page)),
    pictures = shown.flatMap(node =>
      node instanceof Element
        ? [
            ...(node.matches('.taken-picture') ? [node] : []),
            ...node.querySelectorAll('.taken-picture'),
          ]
        : [],
    );
  const values = pictures.map(node => {
    const value = node.getAttribute('data-value');
    node.removeAttribute('data-value');
    return value;
  });
  const kinds = new Set(
    shown
      .flatMap(node =>
        node instanceof Element ? [...node.querySelectorAll('[data-take=py]')] : [],
      )
      .map(button => /** @type {HTMLElement} */ (button.closest('[data-kind]')))
      .map(({dataset}) => dataset.lines ?? dataset.kind),
  );
  const recipes = Object.fromEntries(
    await Promise.all(
      [...kinds].map(async kind => [
        kind,
        await (await responseFrom(`recipe/${kind}.json`)).json(),
      ]),
    ),
  );
  const status = find(document, '#status .status'),
    meanings = find(document, '#meanings');
  const page = make(
    'div',
    {},
    make(
      'header',
      {},
      make('div', {}, make('h1', {}, question), make('p', {}, text ? `“${text}”` : '')),
      make(
        'button',
        {type: 'button', class: 'chip', id: 'theme-switch'},
        the(document, '#theme-switch').textContent,
      ),
    ),
    make(
      'section',
      {id: `tab-${tab}`, 'data-family': panel.dataset.family ?? params.family},
      ...shown,
    ),
    status?.parentElement ? written(status.parentElement) : '',
    make('p', {class: 'note'}, `${origin(about)}; ${about.versions}.`),
    make(
      'p',
      {class: 'note'},
      make('a', {href: link}, texts.live),
      ` ${about.date}. ${about.cite}`,
    ),
    meanings ? written(find(meanings, '.html-container, .prose') ?? meanings) : '',
  );
  const taken = {
    link,
    params,
    config: configNow(),
    provenance: known,
    recipes,
    values,
    dark: document.body.classList.contains('dark'),
  };
  const [head, middle, tail] = (await (await responseFrom('standalone')).text()).split(
    /<!--(?:content|taken)-->/,
  );
  const title = make('title', {}, [question, text].filter(Boolean).join(' – '));
  save(
    fileName(about, `${tab}/tab`, 'html').replace('-tab_', '_'),
    new Blob(
      [
        head.replace('</head>', () => `${title.outerHTML}</head>`),
        page.innerHTML,
        middle,
        `window.explorer.taken = ${safe(taken)};`,
        await library(panel),
        tail,
      ],
      {type: 'text/html;charset=utf-8'},
    ),
  );
}
