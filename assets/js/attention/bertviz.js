// The closed frame BertViz draws in: data go in by message once, its height comes back.
import {fileUrl} from '../gradio.js';

const frames = new Map();   // frame -> {data, dark, ready}

function send(frame) {
  const {data, dark, ready} = frames.get(frame);
  if (!ready) return;
  frame.contentWindow.postMessage({type: 'bertviz', data: {...data, script: fileUrl(data.script)}, dark}, '*');
}

addEventListener('message', event => {
  for (const [frame, state] of frames) {
    if (!frame.isConnected) { frames.delete(frame); continue; }
    if (event.source !== frame.contentWindow) continue;
    if (event.data?.type === 'bertviz-ready') { state.ready = true; send(frame); }
    if (event.data?.type === 'bertviz-size') frame.style.height = `${Math.max(120, Math.min(Number(event.data.height) || 0, 1600))}px`;
  }
});

export function draw(root, data, {dark}) {
  let frame = root.querySelector('iframe');
  if (!frame) {
    frame = document.createElement('iframe');
    frame.className = 'bertviz';
    frame.setAttribute('sandbox', 'allow-scripts');   // no access to the page around it
    frame.src = fileUrl(data.frame);
    frames.set(frame, {ready: false});
    root.replaceChildren(frame);
  }
  frame.title = data.title;
  Object.assign(frames.get(frame), {data, dark});
  send(frame);
}
