// Notebooks as the browser writes them: reads {models, text, lines} from stdin, the lines of each kind, and answers {kind: notebook}.
import {readFileSync} from 'node:fs';

import {notebook} from '../../../assets/js/take/files.js';

const {models, text, lines} = JSON.parse(readFileSync(0, 'utf8'));
const written = Object.entries(lines).map(([kind, one]) => [kind, notebook(one, {TEXT: text, MODELS: models}, {picture: kind, text})]);
process.stdout.write(JSON.stringify(Object.fromEntries(written)));
