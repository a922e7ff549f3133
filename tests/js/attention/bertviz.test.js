import assert from 'node:assert/strict';
import {test} from 'node:test';

import {place} from '../dom.js';

const {show, table, theme} = await import('../../../assets/js/attention/bertviz.js');

const data = {title: 'all of BERT', frame: 'bertviz/viewer.html', script: 'head_view.js', tokens: ['[CLS]', 'cat'], shape: [2, 2, 2, 2],
  attention: Buffer.from(Uint8Array.from({length: 16}, (_, i) => i * 17)).toString('base64')};

/** An iframe on the page; `sent` records the messages to it, `says` posts one from it. */
function open(given = data, dark = false) {
  const root = place(), context = {dark, ask() {}};
  show(root, given, context);
  const frame = root.querySelector('iframe'), sent = [], inside = {postMessage: (message, to) => sent.push([message, to])};
  Object.defineProperty(frame, 'contentWindow', {configurable: true, value: inside});
  return {root, frame, sent, inside, context, says: (said, source = inside) => {
    dispatchEvent(Object.assign(new Event('message'), {data: said, source}));
  }};
}

test('BertViz draws in a frame that reaches nothing around it', () => {
  const {frame} = open();
  assert.deepEqual([frame.className, frame.getAttribute('sandbox'), frame.title], ['bertviz', 'allow-scripts', 'all of BERT']);
  assert.ok(frame.src.endsWith('bertviz/viewer.html'));
});

test('data go in once it is ready, with the address of its script', () => {
  const {sent, says} = open();
  assert.deepEqual(sent, []);
  says({type: 'bertviz-ready'});
  assert.deepEqual(sent, [[{type: 'bertviz', data: data, dark: false}, '*']]);
});

test('a ready frame is told of new data and of light and dark', () => {
  const {root, frame, sent, says, context} = open();
  theme(root);
  assert.equal(sent.length, 0);
  says({type: 'bertviz-ready'});
  show(root, {...data, title: 'anew'}, context);
  assert.deepEqual([sent.length, sent[1][0].data.title, root.querySelector('iframe') === frame, frame.title], [2, 'anew', true, 'anew']);
  context.dark = true;
  theme(root);
  assert.deepEqual([sent.length, sent[2][0].dark], [3, true]);
  theme(place());
});

test('its height comes back, between 120 and 1600 pixels', () => {
  const {frame, says} = open(), height = said => { says({type: 'bertviz-size', height: said}); return frame.style.height; };
  assert.deepEqual([height(500), height(3), height(9999), height('300'), height('none')], ['500px', '120px', '1600px', '300px', '120px']);
});

test('what others say is not heard, nor what is neither ready nor a height', () => {
  const {frame, sent, says} = open();
  says({type: 'bertviz-ready'}, {});
  says({type: 'bertviz-size', height: 500}, {});
  says(null);
  says({type: 'other'});
  assert.deepEqual([sent, frame.style.height], [[], '']);
});

test('a frame that is gone does not keep the next from being heard', () => {
  const old = open(), {sent, says} = open();
  old.says({type: 'bertviz-ready'});
  assert.equal(old.sent.length, 0);
  says({type: 'bertviz-ready'});
  assert.equal(sent.length, 1);
});

test('its table has every head’s square as it was sent, in 255ths', () => {
  const {columns, rows} = table(data);
  assert.deepEqual(columns, ['layer', 'head', 'query', 'key', 'attention_in_255ths']);
  assert.deepEqual([rows.length, rows[0], rows[1], rows[2]], [16, [1, 1, '[CLS]', '[CLS]', 0], [1, 1, '[CLS]', 'cat', 17 / 255], [1, 1, 'cat', '[CLS]',
    34 / 255]]);
  assert.deepEqual([rows[4], rows[15]], [[1, 2, '[CLS]', '[CLS]', 68 / 255], [2, 2, 'cat', 'cat', 1]]);
});
