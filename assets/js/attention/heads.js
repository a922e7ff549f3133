// Attention in the browser: unpacked heads, their exact numbers, colours and likeness.
import {say} from '../kit/dom.js';
import {betweenGroups, rowsApart, termOfJs} from '../kit/maths.js';
import {bytes, floats} from '../kit/numbers.js';

/**
 * @typedef {import('../data').WallData} WallData
 * @typedef {{m: number, i: number, layer: number, head: number}} Head one head: which model, which
 *   of its heads
 * @typedef {{words: Float64Array, pieces: Float32Array | null}} Exact the exact numbers of a head
 * @typedef {import('../data').WallModel & {m: number, count: number, bytes: Uint8Array, exact:
 *   (Exact | null)[]}} Model `bytes`: layer, head, row, column; `exact`: by head
 * @typedef {Omit<WallData, 'models'> & {n: number, size: number, models: Model[], partners?:
 *   Map<string, Head[]>, scaled?: Float32Array[]}} Heads the data of the wall, unpacked
 */

/** The wall that the reader sees. @type {{wall: import('./wall.js').Wall | null}} */
export const onPage = {wall: null};

/** @param {string} text */
export const wordLabel = text => text.replace(/^##/, '').replace(/▁/g, ' ').trim() || text;

/** @param {Uint8Array<ArrayBuffer>} packed */
async function inflate(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {WallData} data @returns {Promise<Heads>} */
export const unpackWall = async data => {
  const raw = await inflate(bytes(data.packed));
  const n = data.words.length,
    size = Math.ceil(n / data.pool);
  let offset = 0;
  const models = data.models.map((model, m) => {
    const count = model.layers * model.heads,
      length = count * size * size;
    const drawn = raw.subarray(offset, (offset += length));
    /** @type {(Exact | null)[]} */
    const exact = new Array(count).fill(null);
    if (data.exact.length) {
      const all = floats(data.exact[m]),
        s = model.pieces.length;
      for (let i = 0; i < count; i++)
        exact[i] = withWords(model, all.subarray(i * s * s, (i + 1) * s * s));
    }
    return {...model, m, count, bytes: drawn, exact};
  });
  return {...data, n, size, models};
};

/**
 * @param {import('../data').WallModel} model
 * @param {Float32Array} pieces
 * @returns {Exact}
 */
const withWords = (model, pieces) => ({
  words: betweenGroups(pieces, model.pieces.length, model.groups),
  pieces,
});

/** @param {Heads} wall @param {import('../data').ExactData} answer */
export const receiveExact = (wall, answer) => {
  for (const head of answer.heads) {
    const model = wall.models.find(m => m.key === head.model);
    if (!model) continue;
    const size = head.pieces ? model.pieces.length : wall.n;
    const values = floats(head.pieces || head.words || '');
    if (values.length !== size * size) continue; // an answer for a text that is gone
    model.exact[head.layer * model.heads + head.head] = head.pieces
      ? withWords(model, values)
      : {words: Float64Array.from(values), pieces: null};
  }
};

/**
 * The value of a cell between words: exact if it is here, else from the byte that is drawn.
 * @param {Heads} wall @param {{m: number, i: number}} head
 */
export const betweenWords = (wall, head) => {
  const model = wall.models[head.m],
    exact = model.exact[head.i];
  if (exact) return {values: exact.words, exact: true};
  const {n, size, pool} = wall,
    values = new Float64Array(n * n),
    start = head.i * size * size;
  for (let q = 0; q < n; q++)
    for (let k = 0; k < n; k++) {
      const byte = model.bytes[start + Math.floor(q / pool) * size + Math.floor(k / pool)];
      values[q * n + k] = (byte / 255) ** 2;
    }
  return {values, exact: false};
};

/** @param {Heads} wall @param {number} m @param {number} i @returns {Head} */
export const headAt = (wall, m, i) => ({
  m,
  i,
  layer: Math.floor(i / wall.models[m].heads),
  head: i % wall.models[m].heads,
});
/** @param {Head | null} a @param {Head | null} b */
export const sameHead = (a, b) => Boolean(a && b && a.m === b.m && a.i === b.i);

/** How a head is called. @param {Heads} wall @param {Head} head */
export const headName = ({texts, models}, {m, layer, head}) =>
  say(texts.head, {model: models[m].label, layer: layer + 1, head: head + 1});

/**
 * How much of a head's attention makes its kind; null for a head of no kind.
 * @param {import('../data').WallModel} model @param {number} i
 */
export const shareOfKind = ({kind, shares}, i) => (kind[i] < 5 ? shares[i * 5 + kind[i]] : null);

/** @type {Float32Array | null} */
let table = null; // the term of the sum for every pair of bytes
function terms() {
  if (table) return table;
  const all = new Float32Array(65536);
  for (let a = 0; a < 256; a++)
    for (let b = 0; b < 256; b++) {
      all[(a << 8) | b] = termOfJs((a / 255) ** 2, (b / 255) ** 2);
    }
  table = all;
  return all;
}
/** @param {Heads} wall */
export const wordRows = wall => {
  const rows = [...wall.words.keys()].filter(i => !wall.special[i]);
  return rows.length ? rows : [...wall.words.keys()];
};

/**
 * How far every head of every model is from one head: [model][i], exact or from the bytes.
 * @param {Heads} wall @param {Head} anchor
 */
export const distancesFrom = (wall, anchor) => {
  if (wall.exact.length) {
    const own = betweenWords(wall, anchor).values,
      rows = wordRows(wall);
    return wall.models.map(({m, count}) =>
      Float64Array.from({length: count}, (_, i) =>
        rowsApart(own, betweenWords(wall, {m, i}).values, wall.n, rows),
      ),
    );
  }
  const t = terms(),
    {size, pool} = wall,
    own = wall.models[anchor.m].bytes;
  const rows = [...new Set(wordRows(wall).map(row => Math.floor(row / pool)))];
  if (pool > 1) return pooledDistances(wall, anchor, rows);
  return wall.models.map(model => {
    const out = new Float64Array(model.count);
    for (let i = 0; i < model.count; i++) {
      out[i] = Math.max(
        0,
        sumOfTerms(t, own, anchor.i * size * size, model.bytes, i * size * size, rows, size) /
          rows.length,
      );
    }
    return out;
  });
};

/**
 * Plain loops on purpose: sixty times faster here than iterators in a callback.
 * @param {Float32Array} t
 * @param {Uint8Array} p
 * @param {number} startP
 * @param {Uint8Array} q
 * @param {number} startQ
 * @param {number[]} rows
 * @param {number} size
 */
function sumOfTerms(t, p, startP, q, startQ, rows, size) {
  let sum = 0;
  for (let r = 0; r < rows.length; r++) {
    let a = startP + rows[r] * size,
      b = startQ + rows[r] * size;
    for (const end = a + size; a < end;) sum += t[(p[a++] << 8) | q[b++]];
  }
  return sum;
}

/**
 * Pooled rows no longer sum to 1: they are scaled to, once, before they are compared.
 * @param {Heads} wall @param {Head} anchor @param {number[]} rows
 */
function pooledDistances(wall, anchor, rows) {
  const {size, models} = wall;
  const scaled = (wall.scaled ??= models.map(model => {
    const out = Float32Array.from(model.bytes, byte => (byte / 255) ** 2);
    for (let start = 0; start < out.length; start += size) {
      let sum = 0;
      for (let c = start; c < start + size; c++) sum += out[c];
      for (let c = start; c < start + size; c++) out[c] /= sum || 1;
    }
    return out;
  }));
  /** @param {number} m @param {number} i */
  const part = (m, i) => scaled[m].subarray(i * size * size, (i + 1) * size * size);
  const own = part(anchor.m, anchor.i);
  return models.map((model, m) =>
    Float64Array.from({length: model.count}, (_, i) => rowsApart(own, part(m, i), size, rows)),
  );
}

/**
 * How much each head attends from a word to the other words of the text, or from each of them, on
 * average, to it: [model][head].
 * [CLS] and [SEP] are no words of the text.
 * @param {Heads} wall
 * @param {number} word
 * @param {string} way from, or to
 */
export const sharesOf = (wall, word, way) => {
  const {n, size, pool} = wall,
    others = [...wall.words.keys()].filter(i => !wall.special[i] && i !== word);
  const pairs = others.map(other => (way === 'from' ? [word, other] : [other, word]));
  const cells = pairs.map(([q, k]) => q * n + k),
    drawn = [...new Set(pairs.map(([q, k]) => Math.floor(q / pool) * size + Math.floor(k / pool)))];
  return wall.models.map(model =>
    Float64Array.from({length: model.count}, (_, i) => {
      const exact = model.exact[i]?.words,
        start = i * size * size;
      const sum = exact
        ? cells.reduce((all, cell) => all + exact[cell], 0)
        : drawn.reduce((all, cell) => all + (model.bytes[start + cell] / 255) ** 2, 0);
      return sum / (way === 'from' ? 1 : Math.max(1, others.length));
    }),
  );
};

/**
 * One head per model: the anchor itself and, elsewhere, the most similar or the one in its place.
 * @param {Heads} wall
 * @param {Head} anchor
 * @param {string} others closest, or same
 * @returns {Head[]}
 */
export const partnersOf = (wall, anchor, others) => {
  const key = `${anchor.m}/${anchor.i}/${others}`,
    known = (wall.partners ??= new Map()),
    before = known.get(key);
  if (before) return before;
  const distances = others === 'closest' ? distancesFrom(wall, anchor) : null;
  const partners = wall.models.map((model, m) => {
    if (m === anchor.m) return anchor;
    if (distances) return headAt(wall, m, distances[m].indexOf(Math.min(...distances[m])));
    return headAt(
      wall,
      m,
      sameRow(wall, anchor, model) * model.heads + Math.min(anchor.head, model.heads - 1),
    );
  });
  known.set(key, partners);
  return partners;
};
/** @param {Heads} wall @param {Head} anchor @param {Model} model */
function sameRow(wall, anchor, model) {
  const row = wall.models[anchor.m].rows[anchor.layer];
  const gaps = model.rows.map(r => Math.abs(r - row));
  return gaps.indexOf(Math.min(...gaps));
}

/**
 * How sharply each head of the first model looks from the masks, or else from every word, at a word
 * that is no neighbour; all 0 where none is.
 * @param {Heads} wall
 */
const reachOf = wall => {
  const {words, special, masks, pool, size} = wall,
    model = wall.models[0];
  const isWord = words.map((word, i) => !special[i] && /[\p{L}\p{N}]/u.test(word)),
    all = [...words.keys()];
  const rows = all.filter(i => (masks.some(Boolean) ? masks[i] : isWord[i]));
  const pairs = rows.map(q =>
    all
      .filter(k => isWord[k] && !masks[k] && Math.abs(q - k) > pool)
      .map(k => Math.floor(q / pool) * size + Math.floor(k / pool)),
  );
  return Array.from({length: model.count}, (_, i) =>
    pairs.reduce(
      (sum, cells) =>
        sum + Math.max(0, ...cells.map(cell => (model.bytes[i * size * size + cell] / 255) ** 2)),
      0,
    ),
  );
};

/**
 * The head in which a mask, or where there is none a word, looks most sharply at a word further
 * off; else at a neighbour.
 * @param {Heads} wall
 */
export function usualLock(wall) {
  const [model] = wall.models,
    far = reachOf(wall),
    isFar = far.some(Boolean);
  const score = (/** @type {number} */ i) =>
    isFar ? far[i] : Math.max(model.shares[i * 5], model.shares[i * 5 + 1]);
  return headAt(
    wall,
    0,
    [...Array(model.count).keys()].reduce((a, b) => (score(b) > score(a) ? b : a), 0),
  );
}

/**
 * JS between the words of two heads; null where no word has a number of its own.
 * @param {Heads} wall @param {Head} a @param {Head} b
 */
export const apartOf = (wall, a, b) => {
  const p = betweenWords(wall, a),
    q = betweenWords(wall, b);
  return !(p.exact && q.exact) && wall.pool > 1
    ? null
    : rowsApart(p.values, q.values, wall.n, wordRows(wall));
};

/**
 * JS as it is printed: exact where both heads are, near where every word has its byte, else nothing
 * yet.
 * @param {Heads} wall @param {Head} a @param {Head} b
 */
export const apartText = (wall, a, b) => {
  const apart = apartOf(wall, a, b),
    exact = betweenWords(wall, a).exact && betweenWords(wall, b).exact;
  return apart === null ? '…' : (exact ? '' : '≈ ') + apart.toFixed(exact ? 3 : 2);
};
