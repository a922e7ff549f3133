// Attention in the browser: unpacked heads, their exact numbers, colours and likeness.
(() => {
  const E = window.explorer;
  const A = E.attention = E.attention || {};
  A.timings = {};

  A.make = E.make;
  A.fill = E.say;
  A.word = text => text.replace(/^##/, '').replace(/▁/g, ' ').trim() || text;

  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // wall: the data plus, for each model, `bytes` (layer, head, row, column) and `exact` by head.
  A.unpack = async data => {
    const begun = performance.now();
    const raw = await inflate(E.bytes(data.packed));
    const n = data.words.length, size = Math.ceil(n / data.pool);
    let offset = 0;
    const models = data.models.map((model, m) => {
      const count = model.layers * model.heads, length = count * size * size;
      const bytes = raw.subarray(offset, offset += length);
      const exact = new Array(count).fill(null);
      if (data.exact.length) {
        const all = new Float32Array(E.bytes(data.exact[m]).buffer), s = model.pieces.length;
        for (let i = 0; i < count; i++) exact[i] = withWords(model, all.subarray(i * s * s, (i + 1) * s * s));
      }
      return {...model, m, count, bytes, exact};
    });
    A.timings.unpack = performance.now() - begun;
    return {...data, n, size, models};
  };

  // From pieces to words: sum over the looked-at pieces, mean over the looking ones.
  function withWords(model, pieces) {
    const groups = model.groups, n = groups.length, s = model.pieces.length;
    const words = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (const q of groups[i]) for (const k of groups[j]) sum += pieces[q * s + k];
        words[i * n + j] = groups[i].length ? sum / groups[i].length : 0;
      }
    }
    return {words, pieces};
  }

  A.receive = (wall, answer) => {
    for (const head of answer.heads) {
      const model = wall.models.find(m => m.key === head.model);
      if (!model) continue;
      const decode = base64 => new Float32Array(E.bytes(base64).buffer);
      const size = head.pieces ? model.pieces.length : wall.n;
      const values = decode(head.pieces || head.words);
      if (values.length !== size * size) continue;      // an answer for a text that is gone
      model.exact[head.layer * model.heads + head.head] =
        head.pieces ? withWords(model, values) : {words: Float64Array.from(values), pieces: null};
    }
  };

  // The value of a cell between words: exact if it is here, else from the byte that is drawn.
  A.words = (wall, head) => {
    const model = wall.models[head.m], exact = model.exact[head.i];
    if (exact) return {values: exact.words, exact: true};
    const {n, size, pool} = wall, values = new Float64Array(n * n), start = head.i * size * size;
    for (let q = 0; q < n; q++) for (let k = 0; k < n; k++) {
      const byte = model.bytes[start + Math.floor(q / pool) * size + Math.floor(k / pool)];
      values[q * n + k] = (byte / 255) ** 2;
    }
    return {values, exact: false};
  };

  A.head = (wall, m, i) => ({m, i, layer: Math.floor(i / wall.models[m].heads), head: i % wall.models[m].heads});
  A.same = (a, b) => Boolean(a && b && a.m === b.m && a.i === b.i);

  // Jensen-Shannon divergence of two heads in nats, averaged over the rows of the text's words.
  const xlogx = x => x > 0 ? x * Math.log(x) : 0;
  A.js = (p, q, n, rows) => {
    let sum = 0;
    for (let r = 0; r < rows.length; r++) {
      for (let c = rows[r] * n, end = c + n; c < end; c++) sum += (xlogx(p[c]) + xlogx(q[c])) / 2 - xlogx((p[c] + q[c]) / 2);
    }
    return Math.max(0, sum / (rows.length || 1));
  };
  let table = null;    // the term of the sum for every pair of bytes
  function terms() {
    if (table) return table;
    table = new Float32Array(65536);
    for (let a = 0; a < 256; a++) for (let b = 0; b < 256; b++) {
      const p = (a / 255) ** 2, q = (b / 255) ** 2;
      table[a << 8 | b] = (xlogx(p) + xlogx(q)) / 2 - xlogx((p + q) / 2);
    }
    return table;
  }
  A.rows = wall => {
    const rows = [...wall.words.keys()].filter(i => !wall.special[i]);
    return rows.length ? rows : [...wall.words.keys()];
  };

  // How far every head of every model is from one head: [model][i], exact or from the bytes.
  A.distances = (wall, anchor) => {
    if (wall.exact.length) {
      const own = wall.models[anchor.m].exact[anchor.i].words, rows = A.rows(wall);
      return wall.models.map(model => Float64Array.from(model.exact, head => A.js(own, head.words, wall.n, rows)));
    }
    const t = terms(), {size, pool} = wall, own = wall.models[anchor.m].bytes;
    const rows = [...new Set(A.rows(wall).map(row => Math.floor(row / pool)))];
    if (pool > 1) return pooledDistances(wall, anchor, rows);
    return wall.models.map(model => {
      const out = new Float64Array(model.count);
      for (let i = 0; i < model.count; i++) {
        out[i] = Math.max(0, sumOfTerms(t, own, anchor.i * size * size, model.bytes, i * size * size, rows, size) / rows.length);
      }
      return out;
    });
  };

  // Plain loops on purpose: sixty times faster here than iterators in a callback.
  function sumOfTerms(t, p, startP, q, startQ, rows, size) {
    let sum = 0;
    for (let r = 0; r < rows.length; r++) {
      let a = startP + rows[r] * size, b = startQ + rows[r] * size;
      for (const end = a + size; a < end;) sum += t[p[a++] << 8 | q[b++]];
    }
    return sum;
  }

  // Pooled rows no longer sum to 1: they are scaled to, once, before they are compared.
  function pooledDistances(wall, anchor, rows) {
    const {size, models} = wall;
    wall.scaled = wall.scaled || models.map(model => {
      const out = Float32Array.from(model.bytes, byte => (byte / 255) ** 2);
      for (let start = 0; start < out.length; start += size) {
        let sum = 0;
        for (let c = start; c < start + size; c++) sum += out[c];
        for (let c = start; c < start + size; c++) out[c] /= sum || 1;
      }
      return out;
    });
    const part = (m, i) => wall.scaled[m].subarray(i * size * size, (i + 1) * size * size);
    const own = part(anchor.m, anchor.i);
    return models.map((model, m) => Float64Array.from({length: model.count}, (_, i) => A.js(own, part(m, i), size, rows)));
  }

  // One head per model: the anchor itself and, elsewhere, the most similar or the one in its place.
  A.partners = (wall, anchor, others) => {
    const key = `${anchor.m}/${anchor.i}/${others}`;
    wall.partners = wall.partners || new Map();
    if (!wall.partners.has(key)) {
      const distances = others === 'closest' ? A.distances(wall, anchor) : null;
      wall.partners.set(key, wall.models.map((model, m) => {
        if (m === anchor.m) return anchor;
        if (distances) return A.head(wall, m, distances[m].indexOf(Math.min(...distances[m])));
        return A.head(wall, m, sameRow(wall, anchor, model) * model.heads + Math.min(anchor.head, model.heads - 1));
      }));
    }
    return wall.partners.get(key);
  };
  function sameRow(wall, anchor, model) {
    const row = wall.models[anchor.m].rows[anchor.layer];
    const gaps = model.rows.map(r => Math.abs(r - row));
    return gaps.indexOf(Math.min(...gaps));
  }

  // JS as it is printed: exact where both heads are, near where every word has its byte, else nothing yet.
  A.apart = (wall, a, b) => {
    const p = A.words(wall, a), q = A.words(wall, b), exact = p.exact && q.exact;
    if (!exact && wall.pool > 1) return '…';
    return (exact ? '' : '≈ ') + A.fixed(A.js(p.values, q.values, wall.n, A.rows(wall)), exact ? 3 : 2);
  };

  const hex = text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
  const mix = (a, b, t) => a.map((v, i) => v + (b[i] - v) * t);
  const rgba = c => (255 << 24 | Math.round(c[2]) << 16 | Math.round(c[1]) << 8 | Math.round(c[0])) >>> 0;
  A.css = c => `rgb(${c.map(Math.round).join(',')})`;

  function ramp(stops, length) {
    return Uint32Array.from({length}, (_, i) => {
      const t = i / (length - 1), next = Math.max(1, stops.findIndex(s => s[0] >= t));
      const [t0, c0] = stops[next - 1], [t1, c1] = stops[next];
      return rgba(mix(c0, c1, (t - t0) / (t1 - t0)));
    });
  }

  // Colours come from the style sheet, so that light and dark need no second table.
  A.palette = (root, keys, dark) => {
    const style = getComputedStyle(root);
    const read = name => hex(style.getPropertyValue(`--${name}`).trim());
    const panel = read('panel'), ink = read('ink');
    const ramps = {}, text = {};
    for (const key of keys) {
      const fill = read(`${key}-fill`), strong = read(key);
      text[key] = A.css(strong);
      ramps[key] = dark
        ? ramp([[0, mix(panel, fill, .10)], [.45, mix(panel, fill, .62)], [.75, strong], [1, mix(strong, [255, 255, 255], .72)]], 256)
        : ramp([[0, mix(panel, fill, .05)], [.45, mix(panel, fill, .55)], [.75, mix(fill, strong, .6)], [1, mix(strong, [0, 0, 0], .55)]], 256);
    }
    const end = key => dark ? mix(read(key), [255, 255, 255], .25) : mix(read(key), [0, 0, 0], .15);
    const diverging = (a, b) => ramp([[0, end(b)], [.25, mix(panel, read(`${b}-fill`), .6)], [.5, mix(panel, ink, .04)],
      [.75, mix(panel, read(`${a}-fill`), .6)], [1, end(a)]], 511);
    return {ramps, text, diverging, ink: A.css(ink), soft: A.css(read('ink-soft')), line: A.css(read('line')),
      panel: A.css(panel), paper: A.css(read('paper')), accent: A.css(read('accent'))};
  };

  // One head as an image of one pixel a cell.
  A.tile = (wall, head, palette) => {
    const {size} = wall, model = wall.models[head.m], ramp = palette.ramps[model.key], tile = document.createElement('canvas');
    tile.width = tile.height = size;
    const image = new ImageData(size, size), out = new Uint32Array(image.data.buffer), start = head.i * size * size;
    for (let c = 0; c < size * size; c++) out[c] = ramp[model.bytes[start + c]];
    tile.getContext('2d').putImageData(image, 0, 0);
    return tile;
  };

  A.percent = value => `${Math.round(value * 100)} %`;
  A.fixed = (value, digits) => value.toFixed(digits);

  // A canvas that is sharp on this screen; coordinates are CSS pixels.
  A.resize = (canvas, width, height) => {
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
  };

  // A row of buttons of which one is pressed.
  A.choice = (label, options, chosen, onChoose) => {
    const buttons = Object.entries(options).map(([key, text]) => {
      const button = A.make('button', {type: 'button', text, 'aria-pressed': String(key === chosen), 'data-key': key});
      button.addEventListener('click', () => {
        buttons.forEach(b => b.setAttribute('aria-pressed', String(b === button)));
        onChoose(key);
      });
      return button;
    });
    return A.make('div', {class: 'aw-choice', role: 'group', 'aria-label': label}, A.make('span', {text: label}), A.make('div', {}, ...buttons));
  };
})();
