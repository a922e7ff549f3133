// Checks the folders that have strict types, without those that they import from.
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';

import ts from 'typescript';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const STRICT = ['assets/js/kit/', 'assets/js/page/'];

const {config} = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const {fileNames, options} = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
const program = ts.createProgram(fileNames, {...options, strict: true});
const files = program
  .getSourceFiles()
  .filter(({fileName}) => STRICT.some(folder => relative(ROOT, fileName).startsWith(folder)));
const errors = files.flatMap(file => [...program.getSemanticDiagnostics(file)]);
const host = {
  getCurrentDirectory: () => ROOT,
  getCanonicalFileName: name => name,
  getNewLine: () => '\n',
};
process.stdout.write(ts.formatDiagnostics(errors, host));
if (!files.length || errors.length) process.exitCode = 1;
