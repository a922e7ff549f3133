// Compute cases read from stdin, `[[name, ...arguments], ...]`, for test_maths.py.
import {readFileSync} from 'node:fs';

import * as maths from '../../assets/js/kit/maths.js';
import * as numbers from '../../assets/js/kit/numbers.js';
import * as scales from '../../assets/js/kit/scales.js';
import * as pattern from '../../assets/js/page/pattern.js';

const functions = {...maths, ...numbers, ...scales, ...pattern};
const plain = (_, value) => ArrayBuffer.isView(value) ? [...value] : value;   // typed arrays as lists
const cases = JSON.parse(readFileSync(0, 'utf8'));
process.stdout.write(JSON.stringify(cases.map(([name, ...given]) => functions[name](...given)), plain));
