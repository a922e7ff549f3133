// The page's own small runtime: pictures register in `views`, links are kept in `link`.
window.explorer = window.explorer || (() => {
  const views = {};   // kind -> {draw(root, data, {dark, trigger}), theme?(root)}
  const dark = () => document.body.classList.contains('dark');
  const roots = new Set();

  function mount(kind, element, props, watch, trigger) {
    const root = element.querySelector('.canvas');
    const draw = () => {
      const view = views[kind];
      if (!view || !root) return;
      if (!props.value) { root.replaceChildren(); return; }
      root.__data = JSON.parse(props.value);
      view.draw(root, root.__data, {dark: dark(), trigger});
    };
    root.__redraw = draw;
    roots.add(root);
    watch('value', draw);
    draw();
  }

  function start() {
    new MutationObserver(() => roots.forEach(r => r.isConnected ? r.__redraw() : roots.delete(r)))
      .observe(document.body, {attributes: true, attributeFilter: ['class']});
  }
  if (document.body) start(); else addEventListener('DOMContentLoaded', start);

  // The address bar is the only place where a view is kept; `null` takes a parameter out.
  function link(changes) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries({v: '1', ...changes})) {
      if (value === null || value === undefined || value === '') url.searchParams.delete(name);
      else url.searchParams.set(name, String(value));
    }
    url.searchParams.delete('__sign');   // a private Space's token is never shared
    history.replaceState(history.state, '', url);
    if (window.parent !== window) {
      window.parent.postMessage({queryString: url.searchParams.toString()}, 'https://huggingface.co');
    }
  }

  const param = name => new URL(location.href).searchParams.get(name);

  // base64 -> typed array: numbers travel once, packed.
  function bytes(base64) {
    const text = atob(base64), out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
    return out;
  }
  // One element. An attribute that is null or false is left out, true is set empty, `text` is the
  // element's text; children are nodes or strings, and a string is never markup.
  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === 'text') node.textContent = value;
      else node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
  }
  const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
  // Fills the {holes} of a sentence, and prints a probability.
  const say = (text, values) => text.replace(/\{(\w+)\}/g, (hole, name) => name in values ? values[name] : hole);
  const number = p => p >= 0.001 ? p.toFixed(3) : p > 0 ? p.toExponential(1) : '0.000';
  return {make, svg, say, number, views, mount, link, param, bytes, dark};
})();
