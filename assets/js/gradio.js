// The seam to Gradio: how a picture gets its data, and everything that knows the page's insides.
import {make} from './kit/dom.js';
import {compare, withState} from './page/here.js';

export const isDark = () => document.body.classList.contains('dark');
export const textBox = () => document.querySelector('#text textarea');
export const pressCompare = () => document.querySelector('button#compare, #compare button').click();
export const fileUrl = path => `${(window.gradio_config?.root || '').replace(/\/$/, '')}/gradio_api/file=${path}`;
export function typeText(text) {
  const area = textBox();
  area.value = text;
  area.dispatchEvent(new Event('input', {bubbles: true}));
}

// The folds of the tab in sight: their name in links, whether they are open, and two presses.
export function foldsInSight() {
  const nodes = [...document.querySelectorAll('.fold')].filter(node => node.offsetParent);
  return nodes.map(node => {
    const header = node.querySelector('button.label-wrap'), refresh = node.querySelector('.fold-refresh');
    return {
      node, name: node.id.split('-').pop(), isOpen: () => Boolean(header?.classList.contains('open')),
      press: () => header?.click(), refresh: () => (refresh?.matches('button') ? refresh : refresh?.querySelector('button'))?.click(),
    };
  });
}

/** React to every fold that a click opens or closes, after it did. */
export function onFold(react) {
  document.addEventListener('click', event => {
    const node = event.target.closest?.('.fold > button.label-wrap, .fold button.label-wrap')?.closest('.fold');
    if (node) setTimeout(() => react(foldsInSight().find(fold => fold.node === node)), 0);
  });
}

// What a tab shows for another text stays hidden until it is drawn anew.
const hiding = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, hiding];
export function hideStale(tabs) {
  hiding.replaceSync(tabs.map(tab => `#tab-${tab} > * { visibility: hidden; }`).join(' '));
}

// What Gradio's own components tell: the page is up, the link's tab is chosen, a tab, a Compare.
let restored = false, up;
export const opened = new Promise(done => { up = done; });
const hear = {
  opened: up,
  restored: () => { restored = true; },
  tab: tab => { if (restored) withState(state => state.show(tab)); },   // Gradio selects one while it loads
  compare,
};

// Every picture is a module of its own, `<kind>.js`: one that is broken costs only its own place.
const drawings = new Map();    // root -> draws it anew
const questions = new Map();   // kind -> what its picture asked last, or a function that says it

async function mount(kind, element, props, watch, trigger, asks) {
  const root = element.querySelector('.canvas');
  if (!root) return;
  let picture = null;
  const ask = question => { questions.set(kind, question); trigger('select', {}); };
  const draw = () => {
    if (!picture) return;
    if (!props.value) { root.replaceChildren(); return; }
    try {
      picture.draw(root, JSON.parse(props.value), {dark: isDark(), asks, ask});
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

const {waiting, told} = window.explorer;
window.explorer.mount = mount;
window.explorer.question = kind => {
  const question = questions.get(kind);
  return JSON.stringify(typeof question === 'function' ? question() : question);
};
window.explorer.tell = (name, said) => hear[name](said);
told.forEach(([name, said]) => hear[name](said));
waiting.forEach(asked => mount(...asked));
