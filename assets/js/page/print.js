// On paper: the light colours, every picture drawn and no wider than the sheet, and which text and
// which view it is.
import {the} from '../kit/dom.js';
import {drawWaiting} from '../gradio.js';
import {isDark, setDark} from './parts.js';
import {textInSight} from './asks.js';
import {linkNow, withState} from './here.js';

let wasDark = false;
/** @type {Set<SVGSVGElement>} Drawings that know one width alone: with a view box they shrink. */
const boxed = new Set();

addEventListener('beforeprint', () => {
  wasDark = isDark();
  setDark(false, true);
  drawWaiting();
  for (const svg of /** @type {NodeListOf<SVGSVGElement>} */ (
    document.querySelectorAll('#tabs svg:not([viewBox])')
  )) {
    const seen = svg.getBoundingClientRect(),
      [width, height] = [
        Number(svg.getAttribute('width')) || seen.width,
        Number(svg.getAttribute('height')) || seen.height,
      ];
    if (!width) continue;
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    boxed.add(svg);
  }
  withState(({accepted}) => {
    const {dataset} = the(document, '#tabs');
    dataset.text = accepted ? `“${textInSight()}”` : '';
    dataset.link = linkNow().href;
  });
});
addEventListener('afterprint', () => {
  setDark(wasDark, false);
  boxed.forEach(svg => svg.removeAttribute('viewBox'));
  boxed.clear();
});
