// The closed frame BertViz draws in: data go in by message once, its height comes back.
import {bytes} from '../kit/numbers.js';

const frames = new Map(); // frame -> {data, context, ready}

function send(frame) {
  const {data, context, ready} = frames.get(frame);
  if (!ready) return;
  frame.contentWindow.postMessage({type: 'bertviz', data, dark: context.dark}, '*');
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
export function show(root, data, context) {
  let frame = root.querySelector('iframe');
  if (!frame) {
    frame = document.createElement('iframe');
    frame.className = 'bertviz';
    frame.setAttribute('sandbox', 'allow-scripts'); // no access to the page around it
    frame.src = data.frame;
    frames.set(frame, {ready: false});
    root.replaceChildren(frame);
  }
  frame.title = data.title;
  Object.assign(frames.get(frame), {data, context});
  send(frame);
}

/** @type {import('../gradio.js').Picture['theme']} */
export function theme(root) {
  const frame = root.querySelector('iframe');
  if (frame) send(frame);
}

/** @type {import('../gradio.js').Picture['table']} */
export function table(data) {
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
