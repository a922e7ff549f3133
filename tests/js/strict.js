// Checks the folders and files that have strict types, without those that they import from.
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';

import ts from 'typescript';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const STRICT = [
  'attention/',
  'claims/',
  'depth/',
  'distillation/',
  'kit/',
  'layer/',
  'lesson/',
  'page/',
  'parameters/',
  'predictions/',
  'take/',
  'texts/',
  'gradio.js',
  'early.js',
  'first.js',
];

const {config} = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
const {fileNames, options} = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
const program = ts.createProgram(fileNames, {...options, strict: true});
const files = program
  .getSourceFiles()
  .filter(({fileName}) =>
    STRICT.some(place => relative(ROOT, fileName).startsWith(`assets/js/${place}`)),
  );
const errors = files.flatMap(file => [...program.getSemanticDiagnostics(file)]);
const host = {
  getCurrentDirectory: () => ROOT,
  getCanonicalFileName: name => name,
  getNewLine: () => '\n',
};
process.stdout.write(ts.formatDiagnostics(errors, host));
if (!files.length || errors.length) process.exitCode = 1;
