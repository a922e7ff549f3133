// The headlines that the browser writes above pictures of a layer: reads their data from stdin, for test_sentences.py.
import {readFileSync} from 'node:fs';

import {coloured, place} from '../../js/dom.js';
import {COLOURS} from '../../js/depth/palette.js';
import {show} from '../../../assets/js/layer/stations.js';

const said = JSON.parse(readFileSync(0, 'utf8')).map(data => {
  const root = coloured(place(), COLOURS);
  show(root, data, {dark: false, ask() {}});
  return root.querySelector('.finding').textContent;
});
process.stdout.write(JSON.stringify(said));
