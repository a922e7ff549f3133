// Data of the page and of charts as Python sends it: written by python -m tests.js.typedefs.

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
