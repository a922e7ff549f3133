// The rows of pictures: reads `{kind: data}` from stdin, writes `{kind: table}`; for test_tables.py.
import {readFileSync} from 'node:fs';

import {moduleOf} from './module.js';
import './page.js';

const given = Object.entries(JSON.parse(readFileSync(0, 'utf8')));
const tables = given.map(async ([kind, data]) => [kind, (await moduleOf(kind)).table(data)]);
process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(tables))));
