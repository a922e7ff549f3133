// The module that draws a kind of picture: its own, or the generic chart module.
import {existsSync} from 'node:fs';

const ASSETS = new URL('../../assets/js/', import.meta.url);

/** @param {string} kind */
export const moduleOf = kind => import(new URL(existsSync(new URL(`${kind}.js`, ASSETS)) ? `${kind}.js` : 'kit/figure.js', ASSETS).href);
