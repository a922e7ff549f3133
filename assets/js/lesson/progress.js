// How far a student is in a lesson: what each step needs before the next one opens, and what cannot
// be changed any more.
import {recall, remember} from '../kit/memory.js';

/**
 * @typedef {{link: Record<string, string>, lit: string, do: string, pair: string[], miss: string,
 *   shows: string}} Act what is opened, what the student does there, and the text that the page
 *   shows then; "{word}" stands for the student's own
 */
/**
 * @typedef {{name: string, title: string, minutes: number, asks: string, question: string, word:
 *   string, choices: [string, string][], acts: Act[], found: string, claim: string, contrary:
 *   string}} Lesson
 */
/** @typedef {{text: string, link: string, answer: string, numbers: [string, string][]}} Contrary */
/**
 * @typedef {{stage: string, attempt: number, before: string, word: string, guess: string, locked:
 *   boolean, readings: any[], link: string, answer: string,
 *   numbers: [string, string][], claim: string, contrary: Contrary | null, none: boolean, after:
 *   string, student: string}} Kept
 */

export const STAGES = ['before', 'guess', 'act', 'found', 'contrary', 'after', 'card'];
const LOCKED = ['before', 'word', 'guess']; // what was said before the answer was seen
const WORD = /^[\p{L}\p{M}]+$/u; // which the page's box takes as one word

/** @returns {Kept} */
const none = (attempt = 1) => ({
  stage: STAGES[0],
  attempt,
  before: '',
  word: '',
  guess: '',
  locked: false,
  readings: [],
  link: '',
  answer: '',
  numbers: [],
  claim: '',
  contrary: null,
  none: false,
  after: '',
  student: '',
});

export class Progress {
  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    /** @type {Kept} of this browser's tab, until it is closed */
    this.kept = {...none(), ...recall(`lesson-${lesson.name}`, 'sessionStorage')};
  }

  get stage() {
    return this.kept.stage;
  }

  get at() {
    return STAGES.indexOf(this.stage);
  }

  /** Keep what the student did; what is locked stays as it is. @param {Partial<Kept>} changes */
  set(changes) {
    const free = Object.entries(changes).filter(
      ([name]) => !(this.kept.locked && LOCKED.includes(name)),
    );
    Object.assign(this.kept, Object.fromEntries(free));
    remember(`lesson-${this.lesson.name}`, this.kept, 'sessionStorage');
  }

  /** Whether the guess can be locked. */
  get canLock() {
    const {guess, word} = this.kept;
    return (
      this.lesson.choices.some(([key]) => key === guess) && (!this.lesson.word || WORD.test(word))
    );
  }

  lock() {
    if (this.canLock) this.set({locked: true});
  }

  /** Whether a step has what the next one needs. @param {string} stage */
  isDone(stage) {
    const {before, locked, answer, claim, contrary, none: foundNone, after} = this.kept;
    return {
      before: Boolean(before.trim()),
      guess: locked,
      act: locked && Boolean(answer),
      found: Boolean(claim.trim()),
      contrary: Boolean(contrary) || foundNone,
      after: Boolean(after.trim()),
      card: false,
    }[stage];
  }

  /** One step on or back. @param {number} by */
  go(by) {
    if (by < 0 || this.isDone(this.stage))
      this.set({stage: STAGES[Math.min(STAGES.length - 1, Math.max(0, this.at + by))]});
  }

  /** From the beginning, which the card says. */
  restart() {
    this.kept = none(this.kept.attempt + 1);
    this.set({});
  }

  /** A text of the lesson with the student's own word in it. @param {string} text */
  withWord(text) {
    return text.replaceAll('{word}', this.kept.word);
  }

  /** How a choice reads. @param {string} key */
  label(key) {
    return this.lesson.choices.find(([choice]) => choice === key)?.[1] ?? key;
  }

  /**
   * What is handed in.
   * @param {{date: string, origin: string, cite: string}} known
   * @returns {import('./card.js').Finding}
   */
  finding(known) {
    const {
        lesson: {name, title, asks, question},
        kept,
      } = this,
      {attempt, student, before, after, guess, answer, numbers, claim, link, contrary} = kept;
    return {
      ...known,
      lesson: name,
      title,
      attempt,
      student: student.trim(),
      asks,
      before,
      after,
      question,
      guess: this.label(guess),
      answer: this.label(answer),
      right: guess === answer,
      numbers,
      claim,
      link,
      contrary: contrary && {...contrary, answer: this.label(contrary.answer)},
    };
  }
}
