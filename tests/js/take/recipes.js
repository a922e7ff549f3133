// The lines of Python that pictures hand out, with the CSV beside them: reads {models, pictures} from stdin,
// where each picture has its kind's lines, its text and its data, and answers {name: {csv, lines}}; for test_recipes.py.
// A picture is named by its kind; variants of a kind add a suffix after a colon.
import {readFileSync} from 'node:fs';

import {moduleOf} from '../module.js';
import '../page.js';
import {begun} from '../page/stage.js';
import {plainCsv, recipe} from '../../../assets/js/take/files.js';

const {models, pictures} = JSON.parse(readFileSync(0, 'utf8'));
const drawn = {table: data => data, constants: data => data.constants};   // pictures drawn by Python carry both
const told = Object.entries(pictures).map(async ([name, {lines, text, data}]) => {
  const [kind] = name.split(':');
  const picture = data.rows && data.columns ? drawn : await moduleOf(data.lines ? 'texts/rows' : kind);
  begun({look: data.look ?? ''});   // how a link has this picture looked at
  const constants = {TEXT: text, MODELS: models, ...picture.constants?.(data)};
  return [name, {csv: plainCsv(picture.table(data)), lines: recipe(lines, constants, {picture: kind})}];
});
process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(told))));
