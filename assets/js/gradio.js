// The seam to Gradio: how a picture gets its data, and everything that knows the page's insides.
import {make} from './kit/dom.js';

export const isDark = () => document.body.classList.contains('dark');
export const textBox = () => document.querySelector('#text textarea');
export const pressCompare = () => document.querySelector('button#compare, #compare button').click();
export const fileUrl = path => `${(window.gradio_config?.root || '').replace(/\/$/, '')}/gradio_api/file=${path}`;
export const openTab = () =>
  [...document.querySelectorAll('#tabs [role=tabpanel]')].find(panel => panel.offsetParent)?.id.slice('tab-'.length);

export function typeText(text) {
  const area = textBox();
  area.value = text;
  area.dispatchEvent(new Event('input', {bubbles: true}));
}

// Open folds show the text that was compared last: their hidden buttons ask for it.
export function refreshFolds() {
  for (const button of document.querySelectorAll('.fold .fold-refresh')) {
    const target = button.matches('button') ? button : button.querySelector('button');
    const header = button.closest('.fold')?.querySelector('button.label-wrap');
    if (target && header?.classList.contains('open')) target.click();
  }
}

// Every picture is a module of its own, `<kind>.js`: one that is broken costs only its own place.
const drawings = new Map();   // root -> draws it anew

async function mount(kind, element, props, watch, trigger) {
  const root = element.querySelector('.canvas');
  if (!root) return;
  let picture = null;
  const draw = () => {
    if (!picture) return;
    if (!props.value) { root.replaceChildren(); return; }
    try {
      picture.draw(root, JSON.parse(props.value), {dark: isDark(), trigger});
    } catch (error) {
      fail(root, error);
    }
  };
  watch('value', draw);
  drawings.set(root, draw);
  try {
    picture = await import(`./${kind}.js`);
  } catch (error) {
    fail(root, error);
  }
  draw();
}

function fail(root, error) {
  root.replaceChildren(make('p', {class: 'message failure', role: 'alert', text: root.dataset.failed}));
  reportError(error);
}

new MutationObserver(() => drawings.forEach((draw, root) => root.isConnected ? draw() : drawings.delete(root)))
  .observe(document.body, {attributes: true, attributeFilter: ['class']});

document.addEventListener('click', event => {
  if (event.target.closest('#theme-switch')) document.body.classList.toggle('dark');
});

const {waiting} = window.explorer;
window.explorer.mount = mount;
waiting.forEach(asked => mount(...asked));
