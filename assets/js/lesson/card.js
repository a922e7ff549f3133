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

const heading = (level, text) => make(/** @type {'h1'} */ (`h${level}`), {}, text);
const line = text => text.replace(/\s+/g, ' ').trim();
const listed = numbers => numbers.map(([name, value]) => `${name}: ${value}`).join('; ');

/**
 * One row below its head, each on a line of its own, so that the rows of a class lie below each
 * other.
 * @param {Finding} found
 */
export function row(found) {
  const {contrary} = found,
    cells = {
      lesson: found.lesson,
      date: found.date,
      student: found.student,
      attempt: found.attempt,
      guess: found.guess,
      answer: found.answer,
      guess_was_right: found.right,
      numbers: listed(found.numbers),
      claim: found.claim,
      link: found.link,
      contrary_text: contrary?.text ?? '',
      contrary_answer: contrary?.answer ?? '',
      contrary_numbers: contrary ? listed(contrary.numbers) : '',
      contrary_link: contrary?.link ?? '',
      before: found.before,
      after: found.after,
      models: found.origin,
    };
  return plainCsv({
    columns: Object.keys(cells),
    rows: [Object.values(cells).map(value => (typeof value === 'string' ? line(value) : value))],
  });
}

/**
 * The card as it is on the page and in the file.
 * @param {Finding} found
 * @param {Record<string, string>} texts
 * @param {1 | 3} top level of its heading
 */
export function card(found, texts, top = 3) {
  const {contrary} = found,
    numbers = list =>
      make('ul', {}, ...list.map(([name, value]) => make('li', {}, `${name}: ${value}`)));
  const part = (name, ...inside) => [heading(top + 1, texts[name]), ...inside];
  const view = link => make('p', {}, make('a', {href: link}, texts.view));
  return make(
    'article',
    {class: 'finding-card'},
    heading(top, found.claim),
    make(
      'p',
      {class: 'by'},
      [
        found.title,
        found.student,
        found.date,
        found.attempt > 1 ? say(texts.attempt, {n: found.attempt}) : '',
      ]
        .filter(Boolean)
        .join(', '),
    ),
    ...part('numbers', make('p', {}, found.question), numbers(found.numbers), view(found.link)),
    ...part(
      'guessed',
      make(
        'p',
        {},
        `${found.guess}. ${found.right ? texts.was_right : texts.was_wrong} ${found.answer}.`,
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
      make('p', {}, found.asks),
      make(
        'dl',
        {},
        make('dt', {}, texts.before),
        make('dd', {}, found.before),
        make('dt', {}, texts.after),
        make('dd', {}, found.after),
      ),
    ),
    make('p', {class: 'origin'}, `${found.origin}. ${found.cite}`),
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
 * @param {Finding} found
 * @param {Record<string, string>} texts
 */
export function page(found, texts) {
  const head = make('div', {}, make('title', {}, `${found.title}: ${found.claim}`)),
    body = make('div', {}, make('main', {}, card(found, texts, 1)));
  return [
    '<!doctype html>\n<html lang="en">\n<head>',
    ...META.map(meta => `<meta ${meta}>`),
    `${head.innerHTML}\n<style>${STYLE}</style>\n</head>`,
    `<body>\n${body.innerHTML}\n</body>\n</html>\n`,
  ].join('\n');
}
