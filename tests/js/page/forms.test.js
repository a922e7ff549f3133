// The controls of folds in the link: what the reader set is kept, and a link sets what a control can show.
import test from 'node:test';
import assert from 'node:assert/strict';
import '../page.js';
const {begun} = await import('./stage.js');
import {choose, chosen} from '../../../assets/js/page/here.js';
import {filled, formNow, keepForm} from '../../../assets/js/page/forms.js';

const controls = [
  {name: 'memory.sizes', usual: 'base', among: ['base', 'mini', 'larger']},
  {name: 'memory.length', usual: 128, low: 8, high: 512},
  {name: 'memory.keeps', usual: false},
  {name: 'choose.size', usual: null, low: 0, high: null},
  {name: 'masking.rounds', usual: 1, among: [1, 40]},
];
const usual = controls.map(control => control.usual);

test('what is set is kept beside the other forms, and the usual is left out', () => {
  begun();
  keepForm({controls, values: ['mini', 64, true, 250.5, 40]});
  assert.equal(chosen('form'), 'choose.size:250.5,masking.rounds:40,memory.keeps:yes,memory.length:64,memory.sizes:mini');
  assert.deepEqual(formNow(controls), ['mini', 64, true, 250.5, 40]);
  keepForm({controls: controls.slice(0, 3), values: ['base', 128, false]});
  assert.equal(chosen('form'), 'choose.size:250.5,masking.rounds:40');
  keepForm({controls: controls.slice(3), values: [null, 1]});
  assert.deepEqual([chosen('form'), formNow(controls)], ['', usual]);
});

test('what a control cannot show becomes its usual value, and a fold computes from the rest', () => {
  for (const length of ['9000', '7', 'many']) {
    begun();
    choose({form: `memory.sizes:huge,memory.length:${length},memory.keeps:maybe,choose.size:-3,masking.rounds:40`});
    assert.deepEqual(formNow(controls), [...usual.slice(0, 4), 40]);
  }
});

test('a text is kept whatever its letters are, and fills an empty box that is sent', () => {
  const box = {name: 'ask.words', usual: '', most: 40}, names = {name: 'retention.student', usual: 'BERT-base', among: ['BERT-base', 'Distil (6 layers)']};
  for (const text of ['late, tired', 'Ümläut 北京 _.!', "<b>'\"&=+%</b>", 'a'.repeat(40)]) {
    begun();
    keepForm({controls: [box, names], values: [text, 'Distil (6 layers)']});
    assert.match(chosen('form'), /^ask\.words:[A-Za-z0-9.+-]+,retention\.student:Distil\.20\.286\.20layers\.29$/);
    assert.deepEqual(formNow([box, names]), [text, 'Distil (6 layers)']);
    assert.deepEqual(filled([null, box, box, names], ['', '', null, '']), ['', text, text, '']);
    assert.deepEqual(filled([null, box], ['', 'typed']), ['', 'typed']);
  }
  keepForm({controls: [box], values: ['x'.repeat(301)]});
  assert.equal(chosen('form'), 'retention.student:Distil.20.286.20layers.29');
  choose({form: `ask.words:.ff.zz,retention.student:other`});
  assert.deepEqual(formNow([box, names]), ['', 'BERT-base']);
  choose({form: `ask.words:a${'.f0.9f.98.80'.repeat(50)}`});
  assert.deepEqual(formNow([box]), [`a${'😀'.repeat(39)}`], 'cut to whole characters');
});

test('words that are being typed stay when a fold is filled from the link; those of the link before do not', () => {
  const box = {name: 'ask.names', usual: '', most: 400};
  begun();
  assert.deepEqual(formNow([box], ['tab']), ['tab']);   // typed before anything was told
  keepForm({controls: [box], values: ['table']});
  assert.deepEqual(formNow([box], ['table, ch']), ['table, ch']);
  choose({form: 'ask.names:chair'});
  assert.deepEqual(formNow([box], ['table']), ['chair']);   // Back, or another link
  choose({form: ''});
  assert.deepEqual(filled([box], ['chair']), [''], 'a fold is asked before its box is set');
  assert.deepEqual(formNow([box], ['chair']), ['']);
  assert.deepEqual(filled([box], ['chair']), [''], 'or right after it, with what the box held');
  keepForm({controls: [box], values: ['x'.repeat(301)]});   // no link holds it
  assert.deepEqual(formNow([box], ['x'.repeat(301)]), ['x'.repeat(301)]);
});

test('a whole text has a field of its own in the link, whatever its letters and its length', () => {
  const box = {name: 'first', usual: '', most: 20_000, field: 'first'}, word = {name: 'meaning.word', usual: '', most: 60};
  const text = 'Он сел на берег. '.repeat(40).trim();
  begun({first: ''});
  keepForm({controls: [box, word], values: [text, 'берег']});
  assert.deepEqual([chosen('first'), chosen('form')], [text, 'meaning.word:.d0.b1.d0.b5.d1.80.d0.b5.d0.b3']);
  assert.deepEqual(formNow([box, word]), [text, 'берег']);
  assert.deepEqual(filled([null, box], ['', '']), ['', text], 'a fold that opens is asked before its box is set');
  assert.deepEqual(formNow([box], ['typed']), ['typed'], 'what is being typed stays');
  keepForm({controls: [box, word], values: ['', '']});
  assert.deepEqual([chosen('first'), chosen('form'), formNow([box])], ['', '', ['']]);
});
