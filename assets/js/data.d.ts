// Data of the page and of pictures as Python sends it: written by python -m tests.js.typedefs.

/** Fields of the link of an answered question, and whether it was accepted and drawn. */
export interface ViewAnswer {
  number: number;
  repaired: string[];
  accepted: boolean;
  drawn: boolean;
  params: Record<string, string>;
  sizes: Record<string, string>;
  machine: Record<string, string>;
  text: string;
}

/** Answer to a question of the page. */
export interface ViewData {
  answer: ViewAnswer;
}

/** Constants of the page. */
export interface ViewConfig {
  defaults: Record<string, string>;
  moved: Record<string, Record<string, Record<string, string>>>;
  presets: Record<string, Record<string, string>>;
  columns: Record<string, string[]>;
  own_columns: string[];
  closed: string;
  reads: Record<string, string[]>;
  shown_by: Record<string, string[]>;
  limit: number;
  longest: number;
  packed: string;
  texts_of: string[];
  drawn_from: Record<string, string[]>;
  home: string;
  texts: Record<string, string>;
}

/** Text of the box, and the strings of its buttons. */
export interface BoxData {
  text: string;
  hint: string;
  cut: string;
  mask: string;
  unmask: string;
  fill: string;
  edit: string;
  recent: string;
  first: string;
  second: string;
  remove: string;
}

/** Figure as plotly writes it, without its template. */
export interface Chart {
  data: any[];
  layout: Record<string, any>;
}

/** Rows of a picture, with the header and the constants of its files. */
export interface Numbers {
  columns: string[];
  rows: (string | number | boolean | null)[][];
  said: Record<string, any>;
  constants: Record<string, any>;
}

/** Charts side by side, and the rows that they draw. */
export interface ChartData {
  figures: Chart[];
  numbers: Numbers;
  finding?: string;
  note?: string;
}

/** Text around a mask, and the word that the reader hid there. */
export interface MaskContext {
  before: string;
  after: string;
  hidden?: string;
}

/** Hidden word as one model knows it: its tokens, and where it is one, its place. */
export interface HiddenWord {
  pieces: number;
  p?: number;
  rank?: number;
  row?: number;
}

/** Words that one model predicts at a mask. */
export interface MaskAnswers {
  words: string[];
  pieces: string[];
  p: number[];
  entropy: number;
  choices: number;
  yours?: HiddenWord;
}

/** Predictions of one model. */
export interface ModelAnswers {
  label: string;
  vocabulary: number;
  masks: MaskAnswers[];
}

/** Model that cannot answer, and why. */
export interface ModelCard {
  label: string;
  card: string;
  code: string;
}

/** Predictions of all models at all masks. */
export interface GapsData {
  masks: MaskContext[];
  models: Record<string, ModelAnswers | ModelCard>;
  texts: Record<string, string>;
}

/** One model's score of a masked word; without ``p`` for a word that it cannot write. */
export interface WordScore {
  p: number | null;
  nats: number;
  rank: number | null;
  pieces: string[];
  answers: [string, number][];
}

/** A word of the text, masked in turn, with the scores that are there so far. */
export interface WordTile {
  word: string;
  breaks: boolean;
  models: Record<string, WordScore>;
}

/** Every word of a text with its scores. */
export interface WordsData {
  words: WordTile[];
  labels: Record<string, string>;
  texts: Record<string, any>;
}

/** Form of a list: the choices of each of its menus, and its limits. */
export interface ListFormData {
  asks: string[];
  lists: Record<string, string>[];
  kinds: Record<string, string>;
  roles: Record<string, string>;
  poolings: Record<string, string>;
  scores: Record<string, string>;
  ways: Record<string, string>;
  precisions: Record<string, string>;
  last: number;
  limit: number;
  most: number;
  texts: Record<string, string>;
}
