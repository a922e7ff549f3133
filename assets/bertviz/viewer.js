// Feeds BertViz's own scripts: what they ask of RequireJS, and the parameters they expect.
(() => {
  window.require = {config() {}};
  window.requirejs = (names, use) => use(window.jQuery, window.d3);

  const unpack = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const make = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  // A flat array of [layer, head, row, column] as nested arrays, rows and columns cut to ranges.
  function nested(flat, [layers, heads, rows, columns], [r0, r1], [c0, c1], value) {
    return Array.from({length: layers}, (_, layer) => Array.from({length: heads}, (_, head) =>
      Array.from({length: r1 - r0}, (_, r) => {
        const start = ((layer * heads + head) * rows + r0 + r) * columns;
        return Array.from(flat.subarray(start + c0, start + c1), value);
      })));
  }

  const NAMES = {all: 'All', aa: 'A → A', ab: 'A → B', ba: 'B → A', bb: 'B → B'};

  function blocks(data) {
    const n = data.tokens.length, a = [0, data.second ?? n], b = [data.second ?? n, n], all = [0, n];
    const ranges = data.second === null ? {all: [all, all]} : {all: [all, all], aa: [a, a], ab: [a, b], ba: [b, a], bb: [b, b]};
    const attention = unpack(data.attention), [layers, heads] = data.shape;
    const vectors = data.queries && ['queries', 'keys'].map((name, i) => {
      const numbers = new Int16Array(unpack(data[name]).buffer);
      return range => nested(numbers, [layers, heads, n, data.width], range, [0, data.width], value => value * data.scales[i]);
    });
    return Object.fromEntries(Object.entries(ranges).map(([name, [left, right]]) => [name, {
      attn: nested(attention, data.shape, left, right, value => value / 255),
      left_text: data.tokens.slice(...left), right_text: data.tokens.slice(...right),
      ...(vectors && {queries: vectors[0](left), keys: vectors[1](right)}),
    }]));
  }

  function controls(data, names) {
    const choices = {head: [['Layer', 'layer']], model: [], neuron: [['Layer', 'layer'], ['Head', 'att_head']]}[data.view];
    const selects = choices.map(([label, id]) => make('label', {}, `${label} `, make('select', {id})));
    if (names.length > 1) {
      const options = names.map(([value, name]) => make('option', {value}, NAMES[name]));
      selects.push(make('label', {}, 'Attention ', make('select', {id: 'filter'}, ...options)));
    }
    return make('div', {id: 'controls'}, ...selects);
  }

  function draw({data, dark}) {
    document.body.className = dark ? 'dark' : '';
    const found = blocks(data), listed = data.view !== 'neuron';
    const names = Object.keys(found).map((name, i) => [listed ? String(i) : name, name]);
    const [layers, heads] = data.shape, range = n => Array.from({length: n}, (_, i) => i);
    const params = {
      attention: listed ? Object.values(found) : found,
      default_filter: listed ? '0' : 'all',
      root_div_id: 'bertviz', layer: 0, head: 0, heads: null, bidirectional: true,
      include_layers: range(layers), include_heads: range(heads), total_heads: heads,
      display_mode: dark ? 'dark' : 'light',
    };
    window.PYTHON_PARAMS = window.bertviz_params = params;   // the names its scripts read
    const root = document.getElementById('bertviz'), vis = make('div', {id: 'vis', tabindex: '0', role: 'img', 'aria-label': data.title});
    root.className = data.view;
    root.replaceChildren(controls(data, names), vis);
    if (data.view === 'model') new MutationObserver(() => fit(vis)).observe(vis, {childList: true});
    document.querySelectorAll('script.view').forEach(old => old.remove());
    document.body.append(make('script', {src: data.script, class: 'view'}));
  }

  // The model view draws at a fixed width; scaled, it fits any page.
  function fit(vis) {
    const svg = vis.querySelector('svg');
    if (!svg || svg.hasAttribute('viewBox')) return;
    svg.setAttribute('viewBox', `0 0 ${svg.getAttribute('width')} ${svg.getAttribute('height')}`);
    svg.removeAttribute('width');
    svg.removeAttribute('height');
  }

  addEventListener('message', event => {
    if (event.source === parent && event.data?.type === 'bertviz') draw(event.data);
  });
  const tell = () => parent.postMessage({type: 'bertviz-size', height: Math.ceil(document.body.getBoundingClientRect().height) + 2}, '*');
  new ResizeObserver(tell).observe(document.body);
  parent.postMessage({type: 'bertviz-ready'}, '*');
})();
