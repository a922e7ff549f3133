import assert from 'node:assert/strict';
import {test} from 'node:test';

import '../dom.js';
import {card, page, row} from '../../../assets/js/lesson/card.js';

const TEXTS = {numbers: 'The numbers', view: 'Open this view', guessed: 'Guess', was_right: 'The same:', was_wrong: 'The answer was:', contradicts: 'Contradicts', none: 'I found none.', asked: 'Asked',
  before: 'Before', after: 'After', attempt: 'attempt {n}'};
const FOUND = {lesson: 'mask', title: 'What a mask is', attempt: 1, date: '2026-11-29', student: '=Ada', asks: 'How?', before: 'line one\nline "two"', after: '<script>alert(1)</script>', question: 'Who?', guess: 'A & B',
  answer: 'C', right: false, numbers: /** @type {[string, string][]} */ ([['A', '“door” 0.833'], ['C', '0.148']]), claim: '"><img src=x onerror=alert(1)>', link: 'http://page.test/?v=1&text=a+%22b%22',
  contrary: {text: '@SUM(A1), [MASK]', answer: 'A', numbers: /** @type {[string, string][]} */ ([['A', '0.9']]), link: 'http://page.test/?v=1'}, origin: 'weights', cite: 'cite'};

/** What a spreadsheet reads: cells of RFC 4180. @param {string} text */
function cells(text) {
  return [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n)/g)].reduce((rows, [, quoted, plain, end]) => {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ',') rows.push([]);
    return rows;
  }, /** @type {string[][]} */ ([[]])).slice(0, -1);
}

test('a row has fixed columns, stands on one line, and no cell of it is a formula', () => {
  const text = row(FOUND), [head, values] = cells(text);
  assert.deepEqual(head, ['lesson', 'date', 'student', 'attempt', 'guess', 'answer', 'guess_was_right', 'numbers', 'claim', 'link', 'contrary_text', 'contrary_answer', 'contrary_numbers',
    'contrary_link', 'before', 'after', 'models']);
  assert.equal(text.split('\r\n').length, 3);
  assert.equal(values.length, head.length);
  const by = Object.fromEntries(head.map((name, i) => [name, values[i]]));
  assert.deepEqual([by.student, by.contrary_text, by.before, by.guess_was_right, by.numbers], ["'=Ada", "'@SUM(A1), [MASK]", 'line one line "two"', 'false', 'A: “door” 0.833; C: 0.148']);
  assert.deepEqual(cells(row({...FOUND, contrary: null, student: ''}))[0], head);
});

test('the card says all of the finding, and what a student wrote is text', () => {
  const shown = card(FOUND, TEXTS);
  assert.equal(shown.querySelector('script, img'), null);
  for (const said of [FOUND.claim, FOUND.after, FOUND.student, 'A & B. The answer was: C.', '“door” 0.833', FOUND.contrary.text]) assert.ok(shown.textContent.includes(said), said);
  assert.deepEqual([...shown.querySelectorAll('a')].map(one => one.getAttribute('href')), [FOUND.link, FOUND.contrary.link]);
  assert.ok(card({...FOUND, contrary: null}, TEXTS).textContent.includes('I found none.'));
  assert.ok(card({...FOUND, attempt: 2}, TEXTS).textContent.includes('attempt 2'));
  assert.ok(!shown.textContent.includes('attempt'));
});

test('the page is whole, in English, asks for nothing, and holds no markup of a student', () => {
  const text = page(FOUND, TEXTS);
  assert.match(text, /^<!doctype html>\n<html lang="en">/);
  assert.match(text, /default-src 'none'/);
  const read = new DOMParser().parseFromString(text, 'text/html');
  assert.equal(read.querySelector('script, img, link'), null);
  assert.equal(read.title, `What a mask is: ${FOUND.claim}`);
  assert.ok(text.includes('&lt;script&gt;alert(1)&lt;/script&gt;'));
});
