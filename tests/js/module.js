// The module that draws a kind of picture: its own, or for a chart without one the charts' own.
import {existsSync} from 'node:fs';

const ASSETS = new URL('../../assets/js/', import.meta.url);

/** @param {string} kind */
export const moduleOf = kind => import(new URL(existsSync(new URL(`${kind}.js`, ASSETS)) ? `${kind}.js` : 'kit/figure.js', ASSETS).href);
