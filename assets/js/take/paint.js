// Colours, stripes and borders of the style sheet as plain SVG, which every drawing program reads.
import {svg} from '../kit/dom.js';

const pixel = /** @type {CanvasRenderingContext2D} */ (
  Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {
    willReadFrequently: true,
  })
);
/** @type {Map<string, [string, number]>} */
const known = new Map();
const COLOUR = /(?:rgba?|color|oklab|oklch|hsla?|lab|lch)\([^()]*\)|#[0-9a-f]{3,8}\b/gi;
let serial = 0;

/**
 * A colour as drawing programs know it, and how opaque it is.
 * @param {string} css
 * @returns {[string, number]}
 */
export function inks(css) {
  if (!css || css === 'none' || css === 'transparent') return ['none', 0];
  const cached = known.get(css);
  if (cached) return cached;
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = '#000';
  pixel.fillStyle = css;
  pixel.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
  /** @type {[string, number]} */
  const ink = a
    ? [`#${[r, g, b].map(v => v.toString(16).padStart(2, '0')).join('')}`, a / 255]
    : ['none', 0];
  known.set(css, ink);
  return ink;
}

/** The fill of a colour, as SVG has it. @param {string} css */
const filled = css => {
  const [fill, alpha] = inks(css);
  return {fill, 'fill-opacity': alpha < 1 ? alpha.toFixed(3) : null};
};

/** @param {CSSStyleDeclaration} style @param {DOMRect} box */
const placed = (style, {x, y, width, height}) => ({
  x,
  y,
  width,
  height,
  rx: Math.min(parseFloat(style.borderTopLeftRadius) || 0, width / 2, height / 2) || null,
});

/**
 * A box's fill: one colour, a share of its width, or stripes.
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} box
 * @returns {SVGElement[]}
 */
export function striped(style, box) {
  if (!box.width || !box.height) return [];
  const out = [],
    image = style.backgroundImage,
    place = placed(style, box);
  if (inks(style.backgroundColor)[1])
    out.push(svg('rect', {...place, ...filled(style.backgroundColor)}));
  if (!image.includes('gradient')) return out;
  const ramp = stopsOf(image);
  if (ramp.length > 1) return [...out, ...ramped(place, ramp)];
  const colours = /** @type {string[]} */ (image.match(COLOUR) ?? []),
    percent = image.startsWith('repeating') ? undefined : image.match(/([\d.]+)%/)?.[1],
    share = percent === undefined ? null : parseFloat(percent) / 100;
  if (share !== null)
    return [...out, svg('rect', {...place, width: box.width * share, ...filled(colours[0])})];
  const id = `stripes-${(serial += 1)}`,
    angle = Number(image.match(/(-?\d+)deg/)?.[1] ?? 45);
  const pattern = svg(
    'pattern',
    {
      id,
      width: 6,
      height: 6,
      patternUnits: 'userSpaceOnUse',
      patternTransform: `rotate(${angle - 90})`,
    },
    ...colours
      .slice(0, 4)
      .filter((colour, i) => colours.indexOf(colour) === i)
      .map((colour, i) => svg('rect', {x: 3 * i, width: 3, height: 6, ...filled(colour)})),
  );
  return [...out, pattern, svg('rect', {...place, fill: `url(#${id})`})];
}

/**
 * The stops of a gradient that runs to the right, each with its share of the way; none of a bar's
 * share or of stripes.
 * @param {string} image
 * @returns {{colour: string, at: number}[]}
 */
function stopsOf(image) {
  if (!/^linear-gradient\((to right|90deg)/.test(image)) return [];
  const stops = [...image.matchAll(new RegExp(`(${COLOUR.source})(?:\\s+([\\d.]+)%)?`, 'gi'))].map(
    ([, colour, at]) => ({colour, at: at === undefined ? null : Number(at) / 100}),
  );
  if (stops.length === 2 && stops[0].at !== null) return [];
  return stops.map(({colour, at}, i) => ({colour, at: at ?? i / (stops.length - 1)}));
}

/**
 * A box whose colour changes from left to right.
 * @param {object} place
 * @param {{colour: string, at: number}[]} stops
 */
function ramped(place, stops) {
  const id = `ramp-${(serial += 1)}`;
  const drawn = stops.map(({colour, at}, i) => {
    const [ink, alpha] = inks(colour),
      // what fades keeps its colour
      seen = alpha ? ink : inks((stops[i + 1] ?? stops[i - 1]).colour)[0];
    return svg('stop', {
      offset: at,
      'stop-color': seen,
      'stop-opacity': alpha < 1 ? alpha.toFixed(3) : null,
    });
  });
  return [svg('linearGradient', {id}, ...drawn), svg('rect', {...place, fill: `url(#${id})`})];
}

/**
 * A box's borders, its outline and the line that a shadow without blur draws around it.
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} box
 * @returns {SVGElement[]}
 */
export function bordered(style, box) {
  const sides = /** @type {const} */ (['Top', 'Right', 'Bottom', 'Left'])
    .map(side => ({
      side,
      width: parseFloat(style[`border${side}Width`]) || 0,
      colour: style[`border${side}Color`],
      line: style[`border${side}Style`],
    }))
    .filter(({width, line, colour}) => width && line !== 'none' && inks(colour)[1]);
  const alike =
    sides.length === 4 &&
    sides.every(({width, colour}) => width === sides[0].width && colour === sides[0].colour);
  const out = alike
    ? [framed(style, box, sides[0], sides[0].width / 2)]
    : sides.map(side => edge(box, side));
  const ring = (style.boxShadow ?? '').match(/^(.+?) 0px 0px 0px ([\d.]+)px( inset)?$/);
  if (ring)
    out.push(
      framed(
        style,
        box,
        {width: Number(ring[2]), colour: ring[1], line: 'solid'},
        ((ring[3] ? 1 : -1) * Number(ring[2])) / 2,
      ),
    );
  if (
    style.outlineStyle !== 'none' &&
    style.outlineStyle !== 'auto' &&
    parseFloat(style.outlineWidth)
  ) {
    const width = parseFloat(style.outlineWidth);
    out.push(
      framed(
        style,
        box,
        {width, colour: style.outlineColor, line: style.outlineStyle},
        -parseFloat(style.outlineOffset) - width / 2,
      ),
    );
  }
  return out;
}

/**
 * A line around a box, this far inside its edge.
 * @param {CSSStyleDeclaration} style
 * @param {DOMRect} box
 * @param {{width: number, colour: string, line: string}} pen
 * @param {number} inset
 */
function framed(style, {x, y, width, height}, pen, inset) {
  const [stroke, alpha] = inks(pen.colour),
    radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, width / 2, height / 2);
  return svg('rect', {
    x: x + inset,
    y: y + inset,
    width: Math.max(0, width - 2 * inset),
    height: Math.max(0, height - 2 * inset),
    rx: radius || null,
    fill: 'none',
    stroke,
    'stroke-opacity': alpha < 1 ? alpha.toFixed(3) : null,
    'stroke-width': pen.width,
    'stroke-dasharray': dashes(pen),
  });
}

/** How a line is broken. @param {{line: string, width: number}} pen */
const dashes = ({line, width}) =>
  ({dashed: `${3 * width} ${2 * width}`, dotted: `${width} ${width}`})[line] ?? null;

/**
 * One border of four.
 * @param {DOMRect} box
 * @param {{side: string, width: number, colour: string, line: string}} pen
 */
function edge(box, {side, width, colour, line}) {
  const level = side === 'Top' || side === 'Bottom';
  if (line === 'dashed' || line === 'dotted') {
    const [stroke] = inks(colour),
      x = side === 'Right' ? box.right - width / 2 : box.x + width / 2,
      y = side === 'Bottom' ? box.bottom - width / 2 : box.y + width / 2;
    return svg('line', {
      x1: level ? box.x : x,
      x2: level ? box.right : x,
      y1: level ? y : box.y,
      y2: level ? y : box.bottom,
      stroke,
      'stroke-width': width,
      'stroke-dasharray': dashes({line, width}),
    });
  }
  return svg('rect', {
    x: side === 'Right' ? box.right - width : box.x,
    y: side === 'Bottom' ? box.bottom - width : box.y,
    width: level ? box.width : width,
    height: level ? width : box.height,
    ...filled(colour),
  });
}
