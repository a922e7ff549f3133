// What the pictures of the parameters tab have in common: nodes, numbers, sliders, switches, charts.
(() => {
  const E = window.explorer;
  const digits = (n, d) => n.toLocaleString('en', {minimumFractionDigits: d, maximumFractionDigits: d});
  const million = n => digits(n / 1e6, 1) + ' M';
  const exact = n => Math.round(n).toLocaleString('en');
  const fine = n => {
    const size = Math.abs(n);
    return size < 1e5 ? exact(n) : size < 1e7 ? digits(n / 1e6, 2) + ' M' : size < 1e9 ? million(n) : digits(n / 1e9, 1) + ' G';
  };

  const el = (tag, className, text, attributes = {}) => E.make(tag, {...attributes, class: className || null, text});
  const svg = (tag, attributes = {}, text) => E.svg(tag, {...attributes, text});

  function switcher(label, names, chosen, choose) {
    const group = el('div', 'pm-switch', null, {role: 'group', 'aria-label': label});
    for (const [value, name] of Object.entries(names)) {
      const button = el('button', '', name, {type: 'button', 'aria-pressed': String(value === String(chosen))});
      button.addEventListener('click', () => {
        group.querySelectorAll('button').forEach(b => b.setAttribute('aria-pressed', b === button));
        choose(value);
      });
      group.append(button);
    }
    return group;
  }

  // A range whose value is printed beside it; `scale` turns the stops of a list into values.
  function slider(label, stops, value, change) {
    const holder = el('label', 'pt-slider'), name = el('span', '', label);
    const nearest = v => stops.reduce((best, s, i) => Math.abs(s - v) < Math.abs(stops[best] - v) ? i : best, 0);
    const input = el('input', '', null, {type: 'range', min: 0, max: stops.length - 1, step: 1, 'aria-label': label});
    const output = el('output', '');
    const print = v => { output.textContent = exact(v); input.setAttribute('aria-valuetext', exact(v)); };
    input.value = nearest(value);
    print(value);
    input.addEventListener('input', () => { print(stops[input.value]); change(stops[input.value]); });
    holder.append(name, input, output);
    holder.set = v => { input.value = nearest(v); print(v); };
    return holder;
  }

  // Draws now and whenever the width changes; a picture in a closed fold has none yet.
  function sized(node, draw) {
    let last = 0;
    new ResizeObserver(() => {
      const width = Math.floor(node.clientWidth);
      if (width && width !== last) { last = width; draw(width); }
    }).observe(node);
    return () => { if (node.clientWidth) draw(Math.floor(node.clientWidth)); };
  }

  // Lines over one x axis. lines: [{points: [[x, y]], colour, dash?, label?}], marks: [{x, y, colour, label}]
  function chart(node, {height = 260, x, y, lines, marks = [], ends = [], rules = [], label, width}) {
    const left = 66, right = 24, top = 14, bottom = 40;
    const scale = (axis, from, to) => {
      const f = axis.log ? Math.log10 : v => v;
      const low = f(axis.min), high = f(axis.max);
      return v => from + (to - from) * (f(Math.max(v, axis.log ? axis.min : v)) - low) / (high - low || 1);
    };
    const px = scale(x, left, width - right), py = scale(y, height - bottom, top);
    const picture = svg('svg', {width, height, role: 'img', 'aria-label': label, class: 'pt-chart'});
    y.ticks.forEach(v => picture.append(
      svg('line', {x1: left, x2: width - right, y1: py(v), y2: py(v), class: 'grid'}),
      svg('text', {x: left - 8, y: py(v) + 4, 'text-anchor': 'end'}, y.print(v))));
    let end = -100;
    x.ticks.forEach(v => {
      if (px(v) - end < 34) return;
      end = px(v);
      picture.append(svg('text', {x: end, y: height - bottom + 18, 'text-anchor': 'middle'}, x.print(v)));
    });
    picture.append(svg('text', {x: (left + width - right) / 2, y: height - 4, 'text-anchor': 'middle', class: 'title'}, x.title));
    rules.forEach(r => picture.append(svg('line', {x1: px(r.x), x2: px(r.x), y1: top, y2: height - bottom, class: 'rule'})));
    lines.forEach(line => picture.append(svg('polyline', {
      points: line.points.map(([a, b]) => `${px(a).toFixed(1)},${py(b).toFixed(1)}`).join(' '),
      style: `stroke:${line.colour}`, 'stroke-dasharray': line.dash || 'none', class: 'line'})));
    ends.forEach(e => picture.append(
      svg('text', {x: width - right - 4, y: py(e.y) - 8, 'text-anchor': 'end', class: 'name'}, e.label)));
    marks.forEach(m => {
      picture.append(svg('circle', {cx: px(m.x), cy: py(m.y), r: m.r || 5, style: `fill:${m.colour}`, class: 'mark'}));
      if (!m.label) return;
      const flip = px(m.x) > left + 130;   // lines rise to the right: the free corner is the upper left
      picture.append(svg('text', {x: px(m.x) + (flip ? -10 : 10), y: py(m.y) - 9, 'text-anchor': flip ? 'end' : 'start', class: 'name'}, m.label));
    });
    node.replaceChildren(picture);
  }

  E.pt = {el, svg, digits, million, exact, fine, fill: E.say, switcher, slider, sized, chart};
})();
