// What a saved picture leaves out: controls, and what is not for the reader of the picture.

/** What is there to be pressed, moved or chosen: what it chose is said below the drawing. */
const CONTROLS = [
  'input',
  'select',
  'textarea',
  'output',
  'label:has(> input)',
  'label:has(> select)',
  'label:has(+ input)',
  'button.chip',
  '.chips',
  '.take',
  '.aw-zoom',
  '.aw-choice',
  '.ds-pick',
  '.ds-control',
  '.ds-listed',
  '.ds-switch',
  '.dl-sliders',
  '.dd-dial',
  '.pr-control',
  '.ly-top',
  '.pm-controls',
  '.pm-switch',
  '.pt-slider',
  '.cl-tools',
];
const ASIDES = [
  '.live-only',
  '.how',
  '.note[role=status]',
  'details:not([open]) > :not(summary)',
  'iframe',
  'script',
  'style',
  '[hidden]',
  '.pm-caption',
  '.pm-inspector',
  '.aw-words',
  '.aw-under',
];
/** A selector of all of it. */
export const LEFT_OUT = [...CONTROLS, ...ASIDES].join(', ');
