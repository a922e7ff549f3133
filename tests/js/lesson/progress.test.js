import assert from 'node:assert/strict';
import {beforeEach, test} from 'node:test';

import '../dom.js';
import {Progress, STAGES} from '../../../assets/js/lesson/progress.js';

const LESSON = {name: 'mask', title: 'A', minutes: 8, asks: 'How?', question: 'Who?', word: 'Which?', choices: /** @type {[string, string][]} */ ([['a', 'A one'], ['b', 'B one']]),
  acts: [{link: {tab: 'predictions'}, lit: '', do: '', pair: [], miss: '', shows: ''}], found: '', claim: '', contrary: ''};
beforeEach(() => sessionStorage.clear());

test('a guess is one of the choices, is locked with what was said before it, and a reload keeps it so', () => {
  const first = new Progress(LESSON);
  first.set({before: 'left words', word: 'two words', guess: 'a'});
  first.lock();
  assert.equal(first.kept.locked, false);   // the box would take it as two words
  first.set({word: 'lock', guess: 'c'});
  assert.equal(first.canLock, false);
  first.set({guess: 'a'});
  first.lock();
  const again = new Progress(LESSON);
  again.set({guess: 'b', before: 'both sides', word: 'door', claim: 'sure'});
  const {guess, before, word, claim} = new Progress(LESSON).kept;
  assert.deepEqual([guess, before, word, claim], ['a', 'left words', 'lock', 'sure']);
  assert.equal(again.withWord('into the {word}.'), 'into the lock.');
});

test('each step waits for what the one before it asks, and the answer for the lock', () => {
  const one = new Progress(LESSON), steps = [{before: 'x'}, {word: 'lock', guess: 'a', locked: true}, {answer: 'b'}, {claim: 'x'}, {none: true}, {after: 'x'}];
  one.set({answer: 'b'});
  assert.equal(one.isDone('act'), false);
  one.set({answer: ''});
  steps.forEach((done, i) => {
    one.go(1);
    assert.equal(one.stage, STAGES[i]);
    one.set(done);
    one.go(1);
    assert.equal(one.stage, STAGES[i + 1]);
  });
  const found = one.finding({date: 'd', origin: 'o', cite: 'c'});
  assert.deepEqual([found.guess, found.answer, found.right, found.contrary], ['A one', 'B one', false, null]);
  one.restart();
  assert.deepEqual([one.stage, one.kept.guess, one.kept.locked, new Progress(LESSON).kept.attempt], ['before', '', false, 2]);
});
