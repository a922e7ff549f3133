// The closed frame BertViz draws in: data go in by message once, its height comes back.
import {bytes} from '../kit/numbers.js';

/** @typedef {import('../data').BertvizData} BertvizData */

/**
 * What each frame draws, and whether it is ready to.
 * @type {Map<HTMLIFrameElement, {data: BertvizData, context: import('../gradio.js').Context, ready:
 *   boolean}>}
 */
const frames = new Map();

/** @param {HTMLIFrameElement} frame */
function send(frame) {
  const state = frames.get(frame);
  if (!state?.ready) return;
  const {data, context} = state;
  frame.contentWindow?.postMessage({type: 'bertviz', data, dark: context.dark}, '*');
}

addEventListener('message', event => {
  for (const [frame, state] of frames) {
    if (!frame.isConnected) {
      frames.delete(frame);
      continue;
    }
    if (event.source !== frame.contentWindow) continue;
    if (event.data?.type === 'bertviz-ready') {
      state.ready = true;
      send(frame);
    }
    if (event.data?.type === 'bertviz-size')
      frame.style.height = `${Math.max(120, Math.min(Number(event.data.height) || 0, 1600))}px`;
  }
});

/** @type {import('../gradio.js').Picture['show']} */
export function show(root, /** @type {BertvizData} */ data, context) {
  let frame = root.querySelector('iframe');
  if (!frame) {
    frame = document.createElement('iframe');
    frame.className = 'bertviz';
    frame.setAttribute('sandbox', 'allow-scripts'); // no access to the page around it
    frame.src = data.frame;
    root.replaceChildren(frame);
  }
  frame.title = data.title;
  frames.set(frame, {data, context, ready: frames.get(frame)?.ready ?? false});
  send(frame);
}

/** @type {NonNullable<import('../gradio.js').Picture['theme']>} */
export function theme(root) {
  const frame = root.querySelector('iframe');
  if (frame) send(frame);
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(/** @type {BertvizData} */ data) {
  const [layers, heads, n] = data.shape,
    drawn = bytes(data.attention),
    rows = [];
  for (let layer = 0, at = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      for (const query of data.tokens)
        for (const key of data.tokens)
          rows.push([layer + 1, head + 1, query, key, drawn[at++] / 255]);
    }
  return {
    columns: ['layer', 'head', 'query', 'key', 'attention_in_255ths'],
    rows: rows.slice(0, layers * heads * n * n),
  };
}
