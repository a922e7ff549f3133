// Run the attention wall's own functions on the wall from stdin, for test_heads.py.
import {readFileSync} from 'node:fs';

import {apartText, betweenWords, distancesFrom, headAt, partnersOf, receiveExact, unpackWall} from '../../assets/js/attention/heads.js';
import {Tiles} from '../../assets/js/attention/tiles.js';

const {data, anchor, answer} = JSON.parse(readFileSync(0, 'utf8'));
const wall = await unpackWall(data), chosen = headAt(wall, anchor.m, anchor.i);
const orders = ['entropy', 'distance', 'kind', 'alike'];
const ranks = order => wall.models.map(model => Tiles.prototype.ranks.call({order, wall, lock: chosen}, model));
if (answer) receiveExact(wall, answer);
process.stdout.write(JSON.stringify({
  chosen,
  distances: distancesFrom(wall, chosen).map(row => [...row]),
  partners: Object.fromEntries(['closest', 'same'].map(others => [others, partnersOf(wall, chosen, others).map(head => head.i)])),
  ranks: Object.fromEntries(orders.map(order => [order, ranks(order)])),
  words: wall.models.map((model, m) => [...betweenWords(wall, headAt(wall, m, 0)).values]),
  isExact: wall.models.map((model, m) => betweenWords(wall, headAt(wall, m, 0)).exact),
  apart: wall.models.map((model, m) => apartText(wall, chosen, headAt(wall, m, 0))),
}));
