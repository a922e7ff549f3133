// No picture of its own: the exact numbers that the wall asked for.
import {floats} from '../kit/numbers.js';
import {onPage} from './heads.js';

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, data) {
  onPage.wall?.receive(data);
}

export function clear() {}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
  const rows = data.heads.flatMap(head => [...floats(head.pieces || head.words)].map((value, i) =>
    [head.model, head.layer + 1, head.head + 1, head.pieces ? 'tokens' : 'words', i, value]));
  return {columns: ['model', 'layer', 'head', 'between', 'cell', 'attention'], rows};
}
