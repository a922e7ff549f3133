// A lesson's finding as what is handed in: one HTML file, and one row of CSV. Pure functions of
// what the student did.
import {make, say} from '../kit/dom.js';
import {plainCsv} from '../take/files.js';

/**
 * @typedef {{lesson: string, title: string, attempt: number, date: string, student: string, asks:
 *   string, before: string, after: string, question: string, guess: string, answer: string,
 *   right: boolean, numbers: [string, string][], claim: string, link: string, contrary: {text:
 *   string, answer: string, numbers: [string, string][], link: string} | null, origin: string,
 *   cite: string}} Finding
 * `guess` and `answer` as they read; `contrary`: null where the student found none
 */

/** @param {number} level @param {string} text */
const heading = (level, text) => make(/** @type {'h1'} */ (`h${level}`), {}, text);
/** @param {string} text */
const line = text => text.replace(/\s+/g, ' ').trim();
/** @param {[string, string][]} numbers */
const listed = numbers => numbers.map(([name, value]) => `${name}: ${value}`).join('; ');

/**
 * One row below its head, each on a line of its own, so that the rows of a class lie below each
 * other.
 * @param {Finding} finding
 */
export function row(finding) {
  const {contrary} = finding,
    cells = {
      lesson: finding.lesson,
      date: finding.date,
      student: finding.student,
      attempt: finding.attempt,
      guess: finding.guess,
      answer: finding.answer,
      guess_was_right: finding.right,
      numbers: listed(finding.numbers),
      claim: finding.claim,
      link: finding.link,
      contrary_text: contrary?.text ?? '',
      contrary_answer: contrary?.answer ?? '',
      contrary_numbers: contrary ? listed(contrary.numbers) : '',
      contrary_link: contrary?.link ?? '',
      before: finding.before,
      after: finding.after,
      models: finding.origin,
    };
  return plainCsv({
    columns: Object.keys(cells),
    rows: [Object.values(cells).map(value => (typeof value === 'string' ? line(value) : value))],
  });
}

/**
 * The card as it is on the page and in the file.
 * @param {Finding} finding
 * @param {Record<string, string>} texts
 * @param {1 | 3} top level of its heading
 */
export function card(finding, texts, top = 3) {
  const {contrary} = finding,
    numbers = (/** @type {[string, string][]} */ list) =>
      make('ul', {}, ...list.map(([name, value]) => make('li', {}, `${name}: ${value}`)));
  const part = (/** @type {string} */ name, /** @type {any[]} */ ...inside) => [
    heading(top + 1, texts[name]),
    ...inside,
  ];
  const view = (/** @type {string} */ link) => make('p', {}, make('a', {href: link}, texts.view));
  return make(
    'article',
    {class: 'finding-card'},
    heading(top, finding.claim),
    make(
      'p',
      {class: 'by'},
      [
        finding.title,
        finding.student,
        finding.date,
        finding.attempt > 1 ? say(texts.attempt, {n: finding.attempt}) : '',
      ]
        .filter(Boolean)
        .join(', '),
    ),
    ...part(
      'numbers',
      make('p', {}, finding.question),
      numbers(finding.numbers),
      view(finding.link),
    ),
    ...part(
      'guessed',
      make(
        'p',
        {},
        `${finding.guess}. ${finding.right ? texts.was_right : texts.was_wrong} ${finding.answer}.`,
      ),
    ),
    ...part(
      'contradicts',
      ...(contrary
        ? [
            make('p', {}, make('q', {}, contrary.text)),
            contrary.answer ? make('p', {}, contrary.answer) : '',
            numbers(contrary.numbers),
            view(contrary.link),
          ]
        : [make('p', {}, texts.none)]),
    ),
    ...part(
      'asked',
      make('p', {}, finding.asks),
      make(
        'dl',
        {},
        make('dt', {}, texts.before),
        make('dd', {}, finding.before),
        make('dt', {}, texts.after),
        make('dd', {}, finding.after),
      ),
    ),
    make('p', {class: 'origin'}, `${finding.origin}. ${finding.cite}`),
  );
}

const STYLE =
  ':root{color-scheme:light dark}' +
  'body{font:17px/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem;' +
  'overflow-wrap:anywhere}' +
  'h1{font:600 1.5rem/1.3 Georgia,serif}h2{font-size:1rem;margin:1.4rem 0 .2rem}' +
  'p,ul,dl{margin:.2rem 0}dt{font-weight:600}dd{margin:0 0 .4rem 1rem}' +
  '.by,.origin{opacity:.75;font-size:.9rem}.origin{margin-top:2rem}';
const META = [
  'charset="utf-8"',
  'name="viewport" content="width=device-width, initial-scale=1"',
  `http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"`,
];

/**
 * A file that needs nothing else, and that asks for nothing.
 * @param {Finding} finding
 * @param {Record<string, string>} texts
 */
export function page(finding, texts) {
  const head = make('div', {}, make('title', {}, `${finding.title}: ${finding.claim}`)),
    body = make('div', {}, make('main', {}, card(finding, texts, 1)));
  return [
    '<!doctype html>\n<html lang="en">\n<head>',
    ...META.map(meta => `<meta ${meta}>`),
    `${head.innerHTML}\n<style>${STYLE}</style>\n</head>`,
    `<body>\n${body.innerHTML}\n</body>\n</html>\n`,
  ].join('\n');
}
