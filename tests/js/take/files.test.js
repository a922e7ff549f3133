// Files that the page saves: their name, cells, and Python code.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {cell, csv, fileName, json, notebook, recipe} from '../../../assets/js/take/files.js';

const about = {picture: 'predictions/gaps', text: 'It costs\n= 5, "no"', models: ['a', 'b'], date: '2026-01-31'};
const table = {columns: ['word', 'p'], rows: [['=1+1', 0.1], ['+x', -2.5], ['-', 1e-9], ['@a', null], ['##s', 0], ['a,"b"', 1], ['\tx', true]]};

test('a cell that a spreadsheet would run is set apart; a number never is', () => {
  assert.deepEqual(table.rows.map(([word]) => cell(word)), ['"\'=1+1"', '"\'+x"', '"\'-"', '"\'@a"', '"##s"', '"a,""b"""', '"\'\tx"']);
  assert.deepEqual([-2.5, 1e-9, null, true].map(cell), ['-2.5', '1e-9', '', 'true']);
  assert.deepEqual(['a;b', 'a;=1', 'a\tb', 'a;;-1\t+', 'a-1'].map(cell), ['"a;b"', '"a;\'=1"', '"a\tb"', '"a;;\'-1\t\'+"', 'a-1']);
});

test('a file’s name has forty letters of a text, each of them whole', () => {
  assert.equal(fileName({text: `a${'𠮷'.repeat(50)}`, date: 'd'}, 'depth/lens', 'csv'), `a${'𠮷'.repeat(39)}_depth-lens_d.csv`);
});

test('what is known stands above the rows, one line each, and no row begins like it', () => {
  const lines = csv(table, about).trimEnd().split('\r\n'), said = lines.filter(line => /^"?# /.test(line));
  assert.equal(said.length, Object.keys(about).length);
  assert.equal(said[0], '# picture: predictions/gaps');
  assert.equal(said[1], '"# text: It costs = 5, ""no"""');
  assert.equal(lines.length, said.length + 1 + table.rows.length);
  assert.equal(lines[said.length], 'word,p');
});

/** The cells of a CSV file by RFC 4180. */
function cells(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}

test('no cell of a file is a formula, whatever text it is about', () => {
  for (const text of ['The [MASK] is here,=1+1', '=1+1', 'a"\n,\t=1+1,"', '",+1', "a\r\n@x,-1"]) {
    const about = {text, models: ['=a', 'b'], date: '2026-01-31'}, rows = cells(csv({columns: ['word'], rows: [[text], [-1]]}, about));
    assert.deepEqual(rows.map(row => row.length), [1, 1, 1, 1, 1, 1]);
    assert.deepEqual(rows.flat().filter(cell => /^[=+\-@\t\r]/.test(cell)), ['-1'], 'a number is none');
    assert.equal(rows[4][0].replace(/(^|[;\t\r\n])'(?=[=+\-@])/g, '$1'), text);
  }
});

test('JSON holds the same', () => {
  assert.deepEqual(JSON.parse(json(table, about)), {about, ...table});
});

test('a name says text, picture and date, and nothing that a disk refuses', () => {
  assert.equal(fileName(about, 'predictions/gaps', 'csv'), 'it-costs-5-no_predictions-gaps_2026-01-31.csv');
  assert.equal(fileName({...about, text: 'Où? 漢字 ' + 'a'.repeat(99)}, 'a/b', 'svg'), `où-漢字-${'a'.repeat(34)}_a-b_2026-01-31.svg`);
  assert.equal(fileName({date: '2026-01-31'}, 'claims/shares', 'json'), 'claims-shares_2026-01-31.json');
});

test('constants are put where they stand, whole, whatever they hold', () => {
  const lines = 'import x\n\nTEXT = "old"\nMODELS = {\n    "a": 1,\n}  # all\nIDS = [1]  # which\nprint(TEXT)\n';
  const parts = {finds: 'find()\n', computes: lines, prints: 'print(1)\n', draws: 'draw()\n', writes: 'write()\n'}, set = recipe(parts, {TEXT: 'a "$1" \\ null true', MODELS: {b: ['c', true, null, {d: false}]}, IDS: null}, {date: 'd'});
  assert.equal(set, '# -*- coding: utf-8 -*-\n# date: d\nimport x\n\nTEXT = "a \\"$1\\" \\\\ null true"\nMODELS = {"b": ["c", True, None, {"d": False}]}  # all\nIDS = None  # which\nprint(TEXT)\nprint(1)\ndraw()\nwrite()\n');
});

test('what a notebook is about is no markup, whatever signs it has', () => {
  const text = '<img src="x"> ```` $5 and $6', [said] = JSON.parse(notebook({finds: '', computes: '', prints: '', draws: '', writes: ''}, {}, {picture: 'a/b', text})).cells;
  assert.equal(said.source, ['# a/b', '`````text', 'picture: a/b', `text: ${text}`, '`````', '', 'pip install torch transformers peft plotly'].join('\n'));
});

test('bundled models are where the head finds them, and a text that looks like one is a text', () => {
  const lines = {finds: 'SPACE = ""  # which\nBUNDLED = find()\n', computes: 'TEXT = ""\nMODELS = {}\n', prints: '', draws: 'figure = 1\n', writes: 'write()\n'};
  const constants = {TEXT: 'assets/models/a', MODELS: {a: ['assets/models/a', 'main'], b: ['c/assets/models/b', 'main']}}, [, , ...set] = recipe(lines, constants, {a: 1}).split('\n');
  assert.deepEqual(set, ['SPACE = ""  # which', 'BUNDLED = find()', 'TEXT = "assets/models/a"',
    'MODELS = {"a": [BUNDLED + "/a", "main"], "b": ["c/assets/models/b", "main"]}', 'figure = 1', 'write()', '']);
  assert.ok(!recipe(lines, {...constants, MODELS: {b: ['c', 'main']}}, {}).includes('BUNDLED'));
  assert.ok(recipe(lines, constants, {link: 'https://huggingface.co/spaces/me/explorer?text=a'}).includes('SPACE = "me/explorer"  # which'));
  const cells = JSON.parse(notebook(lines, constants, {picture: 'a/b'})).cells.map(one => one.source);
  assert.deepEqual(cells.slice(1), [set.slice(0, 2).join('\n'), set.slice(2, 4).join('\n'), 'figure = 1\nfigure']);
});
