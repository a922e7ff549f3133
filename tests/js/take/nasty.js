// Saved files for hostile texts: reads {recipes, texts} from stdin, answers [{kind, text, code, cells}].
import {readFileSync} from 'node:fs';

import {csv, notebook, recipe} from '../../../assets/js/take/files.js';

const {recipes, texts} = JSON.parse(readFileSync(0, 'utf8'));
const MODELS = {'mini-BERT': ['assets/models/mini-bert', 'main']};
const saved = Object.entries(recipes).flatMap(([kind, lines]) => texts.map(text => {
  const link = `http://page.test/?${new URLSearchParams({text})}`, constants = {TEXT: text, MODELS, WORDS: [text], GROUPS: {[text]: [text, NaN, -Infinity]}};
  const about = {picture: kind, text, models: [text], link};
  return {kind, text, code: recipe(lines, constants, about), cells: JSON.parse(notebook(lines, constants, about)).cells,
    rows: csv({columns: ['a', text], rows: [[text, 1], [`a${text}`, null]]}, about)};
}));
process.stdout.write(JSON.stringify(saved));
