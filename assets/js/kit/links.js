// Sources as they are printed, with a link wherever one names a paper on arXiv.
import {make} from './dom.js';

const PAPER = /(arXiv[: ]\d{4}\.\d{4,5}(?:v\d+)?)/;

/** A source's text in parts; every second one names a paper. @param {string} source */
export const papers = source => source.split(PAPER);

/** @param {string} paper */
export const address = paper => `https://arxiv.org/abs/${paper.slice('arXiv:'.length)}`;

/** @param {string} source */
export const linked = source => papers(source).map((part, i) =>
  i % 2 ? make('a', {href: address(part), target: '_blank', rel: 'noopener'}, part) : part);
