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
  return {views, mount, link, param, bytes, dark};
})();
