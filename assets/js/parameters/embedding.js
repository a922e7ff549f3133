// Factorised embedding: V x H against V x E + E x H, and what the real tables' singular values say.
(() => {
  const {el, exact, digits, fine, fill, slider, sized, chart} = window.explorer.pt;
  const V = [1000, 2000, 5000, 10000, 15000, 20000, 30000, 30522, 40000, 60000, 100000, 150000, 250000];
  const POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096];
  const choice = {v: 30000, h: 768, e: 128};   // kept while the page is open
  const colour = key => `var(--${key}-fill, var(--ink))`;
  const factorised = (v, h, e) => v * e + e * h;
  const stored = pin => (pin.e === pin.h ? pin.v * pin.h : factorised(pin.v, pin.h, pin.e));

  function draw(root, data) {
    const {pins, texts} = data;
    const sentence = el('p', 'finding pt-finding'), picture = el('div', 'pt-picture'), controls = el('div', 'pm-controls');
    const sliders = {
      v: slider(texts.v, [...new Set([...V, ...pins.map(p => p.v)])].sort((a, b) => a - b), choice.v, v => change('v', v)),
      h: slider(texts.h, POWERS.filter(p => p >= 64), choice.h, v => change('h', v)),
      e: slider(texts.e, POWERS, choice.e, v => change('e', v)),
    };
    controls.append(sliders.v, sliders.h, sliders.e);
    const chips = el('div', 'chips', null, {role: 'group', 'aria-label': texts.pins});
    for (const pin of pins) {
      const chip = el('button', 'chip model-name', pin.name, {type: 'button'});
      chip.dataset.model = pin.key;
      chip.addEventListener('click', () => {
        Object.assign(choice, {v: pin.v, h: pin.h, e: pin.e});
        Object.entries(sliders).forEach(([name, s]) => s.set(choice[name]));
        refresh();
      });
      chips.append(chip);
    }
    root.replaceChildren(sentence, controls, chips, picture, el('p', 'note', texts.note));
    const paint = sized(picture, width => curve(picture, width, pins, texts));
    function change(name, value) { choice[name] = value; refresh(); }
    function refresh() {
      const plain = choice.v * choice.h, split = factorised(choice.v, choice.h, choice.e);
      const even = choice.v * choice.h / (choice.v + choice.h);
      sentence.textContent = fill(split < plain ? texts.saves : texts.costs, {
        plain: fine(plain), split: fine(split), share: digits(100 * Math.abs(1 - split / plain), 1), even: exact(Math.floor(even))});
      paint();
    }
    refresh();
  }

  function curve(node, width, pins, texts) {
    const {v, h, e} = choice;
    const es = Array.from({length: 97}, (_, i) => Math.max(1, 2 ** (12 * i / 96)));
    const tens = [1e5, 1e6, 1e7, 1e8, 1e9];
    const here = pins.filter(p => p.v === v && p.h === h && p.e === e)[0];
    chart(node, {
      width, height: 300, label: texts.chart,
      x: {min: 1, max: 4096, log: true, ticks: [1, 4, 16, 64, 128, 256, 768, 2048, 4096], print: exact, title: texts.e},
      y: {min: 3e4, max: 1e9, log: true, ticks: tens, print: fine},
      lines: [
        {points: es.map(x => [x, factorised(v, h, x)]), colour: 'var(--albert-fill)'},
        {points: [[1, v * h], [4096, v * h]], colour: 'var(--bert-fill)', dash: '6 4'},
      ],
      marks: [
        ...pins.filter(p => p !== here).map(p => ({x: p.e, y: stored(p), colour: colour(p.key), r: 4})),
        {x: e, y: factorised(v, h, e), colour: 'var(--ink)', r: 7, label: here && e !== h ? here.name : texts.here},
      ],
    });
  }

  function spectrum(root, data) {
    const {lines, texts} = data;
    const picture = el('div', 'pt-picture');
    const said = lines.map(l => fill(l.rank < l.width ? texts.short : texts.full,
      {label: l.label, rank: exact(l.rank), width: exact(l.width), empty: exact(l.width - l.rank)}));
    const legend = el('ul', 'pt-key');
    for (const line of lines) {
      const item = el('li', 'model-name', fill(texts.rank, {label: line.label, rank: exact(line.rank)}));
      item.dataset.model = line.key;
      legend.append(item);
    }
    root.replaceChildren(el('p', 'finding pt-finding', said.join(' ')), legend, picture, el('p', 'note', texts.note));
    const width = Math.max(...lines.map(l => l.width));
    const ranks = lines.filter(l => l.rank < l.width).map(l => ({x: l.rank}));
    sized(picture, w => chart(picture, {
      width: w, height: 300, label: said.join(' '), rules: ranks,
      x: {min: 1, max: width, ticks: [1, 64, 128, 192, 256, 320, 384, 512, 640, 768].filter(t => t <= width), print: exact, title: texts.index},
      y: {min: 1e-18, max: 1, log: true, ticks: [1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18],
        print: v => (v === 1 ? '1' : '10' + [...String(Math.round(Math.log10(v)))].map(c => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(c)]).join(''))},
      lines: lines.map((l, i) => ({points: l.values.map((s, k) => [k + 1, Math.max(s, 1e-18)]), colour: colour(l.key), dash: i === 1 ? '7 4' : 'none'})),
    }));
  }

  window.explorer.views.parameters_embedding = {draw};
  window.explorer.views.parameters_spectrum = {draw: spectrum};
})();
