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

/** One column of a table: its label and unit. */
export interface Column {
  label: string;
  unit: string;
  lower_is_better: boolean;
}

/** One system and its printed numbers; None where the paper prints none. */
export interface Row {
  name: string;
  model: string;
  values: (number | null)[];
}

/** A remark on one cell: a misprint, or a contradiction between sources. */
export interface Flag {
  row: string;
  column: string;
  kind: string;
  text: string;
}

/** One table of one paper, with its dataset split and evaluation protocol. */
export interface BenchmarkTable {
  id: string;
  paper: string;
  title: string;
  source: string;
  split: string;
  protocol: string;
  columns: Column[];
  rows: Row[];
  flags: Flag[];
  sort: string;
  note: string;
}

/** Published tables. */
export interface BenchmarksData {
  texts: Record<string, string>;
  terms: Record<string, string>;
  addresses: Record<string, string>;
  tables: BenchmarkTable[];
}

/** Description of one live check, displayed before it runs. */
export interface CheckNote {
  id: string;
  name: string;
  measures: string;
  expected: string;
  see: string;
}

/** Live checks: what each measures and expects. */
export interface ChecksData {
  texts: Record<string, string>;
  checks: CheckNote[];
}

/** Claim as the ledger draws it. */
export interface ClaimRow {
  id: string;
  report: string;
  claim: string;
  models: string[];
  topic: string;
  claimed: string;
  source: string;
  found: string;
  verdict: string;
  checks: string[];
  same: string;
  live: string[];
  numbers: string[];
}

/** Claims with their sources, and what they can be filtered by. */
export interface LedgerData {
  texts: Record<string, any>;
  verdicts: Record<string, string>;
  topics: Record<string, string>;
  reports: Record<string, string>;
  models: Record<string, string>;
  addresses: Record<string, string>;
  checks: Record<string, CheckNote>;
  claims: ClaimRow[];
}

/** Verdict on one printed number by the quantity measured for it. */
export interface ClaimVerdict {
  text: string;
  holds: boolean | null;
}

/** Result of one check, and its verdicts on each claim that it tests. */
export interface CheckResult {
  id: string;
  status: string;
  text: string;
  on: string;
  published: boolean;
  claims: Record<string, ClaimVerdict[]>;
  timed: boolean;
}

/** Progress of live checks, and their new results. */
export interface ResultsData {
  running: string[];
  names: string[];
  done: number | null;
  total: number;
  stopped: boolean;
  texts: Record<string, string>;
  results: CheckResult[];
}

/** Claims of a report by verdict. */
export interface ReportShares {
  id: string;
  name: string;
  kind: string;
  counts: Record<string, number>;
}

/** Claims by verdict, of all reports and of each. */
export interface SharesData {
  texts: Record<string, any>;
  verdicts: Record<string, string>;
  total: Record<string, number>;
  reports: ReportShares[];
}

/** Published shape. */
export interface Preset {
  name: string;
  n_layers: number;
  d_model: number;
  n_heads: number;
  d_ffn: number;
  d_embedding: number;
  d_vocab: number;
  n_segments: number;
  n_positions: number;
  has_pooler: boolean;
  sharing: string;
}

/** Form of the model builder. */
export interface BuildData {
  presets: Preset[];
  texts: Record<string, any>;
}

/** Tensors of one part of one layer, or outside the layers. */
export interface MapCell {
  part: string;
  layer: number | null;
  calls: number;
  size: number;
  tensors: [string, number[], string, number][];
}

/** Counted model: its bar from left to right, and what its changes save. */
export interface MapRow {
  key: string;
  size: string;
  label: string;
  name: string;
  total: number;
  applied: number;
  bytes: number;
  head: MapCell;
  calls: number;
  layer: number;
  cells: MapCell[];
  config: Record<string, any>;
  savings: [string, number][];
}

/** Counted models by family. */
export interface MapData {
  families: Record<string, MapRow[]>;
  chosen: string;
  texts: Record<string, any>;
}

/** Way of sharing layers, with the paper's scores. */
export interface SharingRow {
  mode: string;
  total: number;
  applied: number;
  printed: number;
  squad1: string;
  squad2: string;
  mnli: number;
  sst2: number;
  race: number;
  average: number;
}

/** Published size. */
export interface SizeRow {
  key: string;
  name: string;
  label: string;
  size: string;
  total: number;
  applied: number;
  layers: number;
  stored_layers: number;
  width: number;
  embedding: number;
  heads: number;
  flops: number[];
  printed: [number, string][];
  config: Record<string, any>;
}

/** Published sizes: a chart for each length, and a table. */
export interface SizesData {
  figures: Chart[];
  lengths: number[];
  rows: SizeRow[];
  texts: Record<string, any>;
}

/** Word of another model that is followed through the layers of this one. */
export interface FollowedWord {
  word: string;
  piece: string;
  p: number[];
  rank: number[];
  decided: number | null;
}

/** Answers of one model at one mask after each layer. */
export interface LensMask {
  words: string[];
  p: number[][];
  rank: number[];
  kl: number[];
  top: [string, number][][];
  decided: number;
  followed: Record<string, FollowedWord>;
}

/** One model's answers, and of a shared layer what its dial needs. */
export interface LensModel {
  key: string;
  label: string;
  layers: number;
  masks: LensMask[];
  flops: number[];
  pooled: boolean;
  chart?: Chart;
}

/** Model without answers, and why. */
export interface LensCard {
  key: string;
  label: string;
  sentence: string;
  code: string;
}

/** Answers after every number of applications. */
export interface DialData {
  top: [string, number][][];
  kl: number[];
}

/** Rank of every word at each layer of one model; 0 where it has none. */
export interface WordsRanks {
  key: string;
  label: string;
  rank: number[][];
  groups: number[][];
  first: number;
}

/** First words of a text at each layer. */
export interface EveryWordData {
  words: string[];
  n_words: number;
  counted: number;
  models: WordsRanks[];
}

/** Answers of all models; ``deeper`` and ``every`` are what the browser asks for later. */
export interface LensData {
  masks: string[];
  n_masks: number;
  models: LensModel[];
  cards: LensCard[];
  texts: Record<string, any>;
  run: Record<string, any>;
  deeper?: Record<string, DialData>;
  every?: EveryWordData;
}

/** Effect of each state at one mask: [layer][word], empty where the texts differ too little. */
export interface PatchingMap {
  answers: string[];
  are_first: boolean;
  gaps: number[];
  effect: number[][];
  taken: number;
}

/** One model's maps, or why it has none. */
export interface PatchedModel {
  key: string;
  label: string;
  maps: PatchingMap[];
  groups: number[][];
  refused: string;
}

/** Results of patching: the words of the second text, and each model's maps. */
export interface PatchingFound {
  words: string[];
  changed: number;
  was: string;
  becomes: string;
  masks: number[];
  n_masks: number;
  near: string[];
  models: PatchedModel[];
}

/** Change of the text that is proposed. */
export interface OfferedChange {
  kind: string;
  was: string;
  becomes: string;
  text: string;
}

/** Proposed changes, and the two texts. */
export interface PatchingOffer {
  offered: OfferedChange[];
  first: string;
  second: string;
  other: string;
}

/** Heads of one model; ``rows`` holds the row of each layer, ``shares`` five for each head. */
export interface WallModel {
  key: string;
  label: string;
  layers: number;
  heads: number;
  shared: boolean;
  groups: number[][];
  pieces: string[];
  added: number[];
  entropy: number[];
  distance: number[];
  shares: number[];
  kind: number[];
  rows: number[];
}

/** Model without heads on the wall, and why. */
export interface WallCard {
  key: string;
  label: string;
  sentence: string;
  code: string;
}

/** Tiles of all heads, ``packed``, and the ``exact`` weights of a short text by model. */
export interface WallData {
  words: string[];
  special: number[];
  masks: number[];
  pool: number;
  models: WallModel[];
  cards: WallCard[];
  packed: string;
  exact: string[];
  kinds: string[];
  pieces_limit: number;
  texts: Record<string, any>;
}

/** Exact weights of one head as base64 of float32: between its pieces, or between words. */
export interface ExactHead {
  model: string;
  layer: number;
  head: number;
  pieces?: string;
  words?: string;
}

/** Exact weights of the heads that the browser asked for. */
export interface ExactData {
  heads: ExactHead[];
}

/** One model's matrix between words, as base64 of float32, and the pieces of each word. */
export interface SummaryModel {
  key: string;
  label: string;
  detail: string;
  values: string;
  groups: number[][];
}

/** One summary of each model's attention; 1 in ``special`` where the model added the word. */
export interface SummaryData {
  words: string[];
  special: number[];
  models: SummaryModel[];
  texts: Record<string, any>;
}

/** Heads of one model, and the nats that each costs without it: [layer][head], or empty. */
export interface SwitchesModel {
  key: string;
  label: string;
  layers: number;
  heads: number;
  nats: number[][];
}

/** Model without switches, and why. */
export interface SwitchesCard {
  key: string;
  label: string;
  card: string;
}

/** Head switches of all models for one text. */
export interface SwitchesData {
  text: string;
  models: (SwitchesModel | SwitchesCard)[];
  texts: Record<string, any>;
}

/** Attention of all heads of one model, as base64 of a byte a cell, for one view. */
export interface BertvizData {
  view: string;
  title: string;
  tokens: string[];
  second: number | null;
  shape: number[];
  attention: string;
  frame: string;
  script: string;
  width?: number;
  scales?: number[];
  queries?: string;
  keys?: string;
}

/** Layer norm of one vector; each row is a dimension, its x, scale, shift and result. */
export interface NormData {
  mean: number;
  deviation: number;
  rows: number[][];
}

/** Projection of a factorised embedding, in its largest dimensions. */
export interface ProjectedData {
  shown: number[];
  weight: string;
  bias: number[];
  result: number[];
}

/** Summands of the embedding, their layer norm, and the projection of a factorised one. */
export interface EmbeddingData {
  parts: Record<string, string>;
  normalised: string;
  projected: ProjectedData | null;
  dimensions: number;
  width: number;
}

/** Layer of one model; vectors are packed, and those with a value for each token are not. */
export interface LayerModel {
  key: string;
  label: string;
  layer: number;
  n_layers: number;
  head: number;
  n_heads: number;
  note: string;
  pieces: string;
  tokens: string[];
  raw: string[];
  position: number;
  vectors: Record<string, string>;
  norms: Record<string, number>;
  cosines: Record<string, number>;
  query: string;
  keys: string;
  read: string;
  value_lengths: number[];
  scores: number[];
  exponentials: number[];
  weights: number[];
  read_from: number[];
  shares: boolean;
  heads: number[];
  units: [number, number, number][];
  active: number;
  d_ffn: number;
  normalised: Record<string, NormData>;
  embedding: EmbeddingData;
  readings: [[string, number], [string, number], [string, number]] | null;
  changed_by: string;
  blocks: Record<string, number>;
  angles: Record<string, number>;
}

/** The reader's selection and the available choices. */
export interface Selection {
  words: string[];
  at: number;
  first: number;
  deepest: string;
  widest: string;
}

/** Model whose layer cannot be shown, and why. */
export interface LayerCard {
  key: string;
  label: string;
  why: string;
  code: string;
}

/** Layer of every model, for one word of the text. */
export interface LayerData {
  models: LayerModel[];
  chosen: Selection;
  cards: LayerCard[];
  texts: Record<string, any>;
}

/** Text and hidden word that open a sentence in the lab. */
export interface OpenedSentence {
  text: string;
  word: number;
}

/** Bundled sentence, and what each model answers in it. */
export interface AgreementSentence {
  text: string;
  answer: string;
  opens: OpenedSentence;
  teacher: string;
  student: string;
  kl: number;
  shared: number;
}

/** Mean agreement over the bundled sentences, and those with the largest divergence. */
export interface AgreementData {
  first: number;
  five: number;
  kl: number;
  teacher_right: number;
  student_right: number;
  worst: AgreementSentence[];
  texts: Record<string, any>;
  ran: Record<string, string>;
}

/** Progress over the bundled sentences; None is done of a run that was stopped. */
export interface AgreementProgress {
  done: number | null;
  n: number;
  sentence: string;
}

/** Word of the sentence, and whether it can be hidden. */
export interface LabWord {
  text: string;
  clickable: boolean;
}

/** Teacher or student, with its likeliest tokens. */
export interface ComparedModel {
  key: string;
  label: string;
  role_key: string;
  role: string;
  beside: boolean;
  logits: string;
  top: number[];
}

/** Third model: the packed id that each token of the teacher has there, and its top token. */
export interface BesideModel {
  key: string;
  label: string;
  role_key: string;
  role: string;
  beside: boolean;
  logits: string;
  partner: string;
  share_first: number;
  share_second: number;
  first_id: number;
  first_here: number;
  first: string;
}

/** Token that was hidden; -1 where it is unknown. */
export interface LabAnswer {
  id: number;
}

/** Logits of every model at one mask, and the tokens that may be listed. */
export interface LabData {
  texts: Record<string, any>;
  temperature: number;
  temperatures: [number, number];
  curves: Chart[];
  back: boolean;
  beside_key: string;
  beside_missing: string;
  words: LabWord[];
  selected: number;
  models: (ComparedModel | BesideModel)[];
  names: Record<string, string>;
  answer: LabAnswer;
}

/** The reader's settings of a run. */
export interface LiveSettings {
  layers: number;
  start: string;
  steps: number;
  temperature: number;
  ce: number;
  mlm: number;
  cos: number;
  seed: number;
}

/** Reports of a live run so far, as charts and as numbers. */
export interface LiveData {
  texts: Record<string, any>;
  sentence: string;
  done: boolean;
  keys: Record<string, string>;
  settings: LiveSettings;
  steps: number[];
  parts: Record<string, number[]>;
  exams: number[];
  agreement: Record<string, number[]>;
  figures: Chart[];
  words: string[];
  teacher: number[];
  first: number[];
  student: number[];
}

/** Sentence on a run without reports. */
export interface WaitingData {
  waiting: string;
}

/** Losses at every temperature step, and the KL of each token: ``kl[temperature][token]``. */
export interface LossesData {
  temperatures: number[];
  ce: number[];
  mlm: number | null;
  cos: number | null;
  kl: number[][];
  cosine: number[] | null;
  tokens: string[];
  place: number;
  answer: number | null;
  texts: Record<string, any>;
}
