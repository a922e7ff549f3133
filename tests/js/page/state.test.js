// The page's state: requests, the changes by a response, and the fields that stay.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {asOneField, familyOf, inColumns, showFamily, sizesOf, withColumn} from '../../../assets/js/page/family.js';
import {State} from '../../../assets/js/page/state.js';
import {place} from '../dom.js';
import {choices} from './stage.js';

const RUN = ['text', 'family', 'device', 'dtype'];
const config = {
  presets: {mini: {bert: 'mini'}}, columns: {bert: ['mini', 'large']},
  defaults: {text: 'start', family: 'mini', tab: 'predictions', model: 'bert', layer: '0', temperature: '2', word: '-1', fold: ''},
  reads: {predictions: RUN, attention: RUN, distillation: [...RUN, 'word'], claims: []},
  limit: 10, longest: 5000, packed: 'z', texts_of: ['text', 'hidden'],
};

function page(params = {}) {
  const sent = [], links = [];
  const state = new State(config, {send: () => sent.push(1), write: link => links.push(link), changed() {}});
  state.open(params);
  return {state, sent, links, last: () => links.at(-1)};
}

// The server's response to a request, as `view_canvas` writes it.
function reply(question, changes = {}) {
  const {device = 'cpu', dtype = 'float32', text = 'start', ...rest} = question.params;
  const params = Object.fromEntries(Object.entries(rest).filter(([name, value]) => name === 'family' || value !== config.defaults[name]));
  return {number: question.number, accepted: true, drawn: true, repaired: [], params: {family: 'mini', ...params},
    text, machine: {device: device === 'auto' ? 'cpu' : device, dtype}, note: '', ...changes};
}
const answer = (state, changes) => state.answered(reply(JSON.parse(JSON.stringify(state.question())), changes));

test('opening asks once, for what the link holds and nothing that is no field of it', () => {
  const {state, sent} = page({text: 'a cat', __theme: 'dark', device: 'cuda'});
  assert.equal(sent.length, 1);
  assert.deepEqual(state.question().params, {text: 'a cat'});
});

test('a tab that shows this text already asks nobody; one that does not is asked for once', () => {
  const {state, sent, last} = page();
  answer(state);
  state.show('attention');
  answer(state);
  assert.equal(sent.length, 2);
  for (const tab of ['predictions', 'attention', 'predictions']) state.show(tab);
  assert.equal(sent.length, 2);
  assert.equal(last().tab, undefined);
  state.show('attention');
  assert.equal(last().tab, 'attention');
});

test('after a new text every other tab that reads one is stale, and one that reads none is not', () => {
  const {state} = page();
  answer(state);
  for (const tab of ['attention', 'claims']) { state.show(tab); answer(state); }
  state.show('predictions');
  state.compare({text: 'another'});
  assert.deepEqual(state.question().keep, ['claims']);
  answer(state);
  assert.deepEqual(['predictions', 'attention', 'claims'].map(tab => state.isStale(tab)), [false, true, false]);
});

test('Compare asks again for the same text and keeps the other tabs', () => {
  const {state, sent} = page();
  answer(state);
  state.show('attention');
  answer(state);
  state.compare({text: 'start'});
  assert.equal(sent.length, 3);
  assert.deepEqual(state.question().keep, ['predictions']);
});

test('an answer to an older question does not undo what was asked since', () => {
  const {state, links} = page();
  const opening = reply(state.question());
  state.compare({text: 'newer', family: 'mini', device: 'auto', dtype: 'float32'});
  const newest = state.question();
  state.answered(opening);
  assert.equal(state.get('text'), 'newer');
  assert.deepEqual(state.question(), newest);
  answer(state);
  assert.equal(links.at(-1).text, 'newer');
  assert.equal(state.isStale('predictions'), false);
});

test('a tab chosen while a text is being run is asked for that text', () => {
  const {state, sent} = page();
  answer(state);
  state.compare({text: 'slow'});
  state.show('attention');
  assert.equal(sent.length, 3);
  assert.deepEqual(state.question().params.text, 'slow');
  assert.equal(state.question().params.tab, 'attention');
});

test('a refused text leaves link, text and tabs as they were', () => {
  const {state, sent, last} = page({text: 'good'});
  answer(state);
  state.compare({text: ''});
  answer(state, {accepted: false, drawn: false});
  assert.equal(state.get('text'), 'good');
  assert.equal(last().text, 'good');
  assert.equal(sent.length, 2);
  state.show('attention');
  assert.equal(state.question().params.text, 'good');
});

test('a tab whose question is refused is not asked for again by itself, and is empty', () => {
  const {state, sent, links} = page({text: 'good'});
  answer(state);
  state.show('attention');   // a cluster that is away, or a tab that cannot be drawn
  answer(state, {accepted: false, drawn: false});
  assert.deepEqual([sent.length, state.heard === state.number, state.isStale('attention')], [2, true, true]);
  state.compare({text: 'other'});
  answer(state, {accepted: false, drawn: false});
  assert.equal(sent.length, 4, 'another question was refused: the one before may have an answer');
  answer(state);
  assert.deepEqual([state.isStale('attention'), state.get('text'), links.at(-1).tab], [false, 'good', 'attention']);
});

test('a question without an answer leaves the page as it was, and its tab is asked for again when it is pressed', () => {
  const {state, sent, links, last} = page({text: 'good'});
  answer(state);
  state.show('attention');
  state.lost();   // too many wait, or an error that is no refusal
  assert.deepEqual([state.isStale('attention'), state.isStale('predictions'), sent.length], [true, false, 2]);
  state.set({temperature: 4});
  assert.equal(last().temperature, '4', 'the address goes on');
  state.show('attention');
  state.show('attention');
  assert.equal(sent.length, 3, 'once while it is under way');
  answer(state);
  state.show('attention');
  assert.deepEqual([state.isStale('attention'), sent.length], [false, 3]);
  state.compare({text: 'lost'});
  state.lost();
  assert.deepEqual([state.get('text'), links.at(-1).text, state.isThere('attention')], ['good', 'good', true]);
});

test('a first question without an answer: its tab is empty, and pressing it asks once more', () => {
  for (const tab of ['attention', 'claims']) {
    const {state, sent, links} = page({text: 'linked', tab});
    state.show(tab);
    assert.deepEqual([state.isStale(tab), sent.length], [false, 1]);
    state.lost();
    assert.deepEqual(['predictions', tab].map(one => state.isStale(one)), [true, true]);
    state.show(tab);
    assert.deepEqual([sent.length, state.question().params, links.length], [2, {text: 'linked', tab}, 0]);
    answer(state);
    assert.deepEqual([state.isStale(tab), links.at(-1).text], [false, 'linked']);
  }
});

test('a first text that is refused hides what the page began with', () => {
  const {state} = page({text: 'bad'});
  answer(state, {accepted: false, drawn: false});
  assert.deepEqual(['predictions', 'attention', 'claims'].map(tab => state.isStale(tab)), [true, true, false]);
});

test('another text forgets the hidden word; a word of its own comes along', () => {
  const {state} = page({text: 'one', word: '1', tab: 'distillation'});
  answer(state);
  state.compare({text: 'two'});
  assert.equal(state.get('word'), '-1');
  state.compare({text: 'three', word: '2'});
  assert.equal(state.get('word'), '2');
});

test('what the browser decides alone asks nobody, is in the link, and a default is left out', () => {
  const {state, sent, last} = page();
  answer(state);
  state.set({layer: 3, temperature: 4});
  assert.deepEqual([last().layer, last().temperature, sent.length], ['3', '4', 1]);
  state.set({layer: 0, temperature: 2});
  assert.deepEqual([last().layer, last().temperature], [undefined, undefined]);
});

test('a choice made while the answer was on its way stays; a repaired one is the server\'s', () => {
  const {state, last} = page({layer: '40', text: 'x'});
  state.set({temperature: 4});
  answer(state, {repaired: ['layer'], params: {family: 'mini'}});
  assert.deepEqual([last().layer, last().temperature], [undefined, '4']);
});

test('a link holds no machine, the family always, and each text whole', () => {
  const {state, last} = page();
  state.compare({text: '👩🔬 a long text', family: 'base', device: 'cuda', dtype: 'float16'});
  answer(state);
  assert.deepEqual(last(), {v: '1', family: 'base', text: '👩🔬 a long text'});
});

test('packed texts are sent as they are, and known once the server has read them, refused or not', () => {
  for (const accepted of [true, false]) {
    const {state} = page({z: 'packed', layer: '2'});
    const question = JSON.parse(JSON.stringify(state.question()));
    assert.deepEqual(question.params, {z: 'packed', layer: '2'});
    state.answered(reply(question, {params: {family: 'mini', hidden: 'dog'}, text: 'long', accepted, drawn: accepted}));
    assert.deepEqual([state.get('text'), state.wanted.hidden, 'z' in state.wanted], ['long', 'dog', false]);
  }
  const {state, last} = page({z: 'packed'}), opening = reply(state.question(), {text: 'long'});
  state.compare({text: 'typed meanwhile'});
  state.answered(opening);
  answer(state);
  assert.equal(last().text, 'typed meanwhile');
});

test('folds are for a text, not for a tab', () => {
  const {state} = page();
  answer(state);
  const before = state.runKey;
  state.show('attention');
  answer(state);
  assert.equal(state.runKey, before);
  state.compare({text: 'other'});
  answer(state);
  assert.notEqual(state.runKey, before);
});

// A browser's history: `write` as here.js does it, and Back.
function browser(params = {}) {
  const places = [{}];
  let at = 0;
  const write = (link, isNew) => {
    if (isNew) places.splice(at += 1);
    places[at] = {link, view: state.view};
  };
  const state = new State(config, {send() {}, write, changed() {}});
  state.open(params);
  answer(state);
  return {state, places, go: step => { at += step; state.walk(places[at].view); }, texts: () => places.map(place => place.view.text), tabs: () => places.map(place => place.view.tab ?? config.defaults.tab)};
}

test('each text compared is one place in the history and each tab another; a head, the same text again are none', () => {
  const {state, texts, tabs} = browser();
  const long = 'a text longer than a link holds';
  state.compare({text: long});
  state.show('attention');   // while it runs: the first of the two requests may be answered or not
  answer(state);
  state.set({layer: 3});
  state.compare({text: long, family: 'mini'});
  answer(state);
  state.show('predictions');
  assert.deepEqual([texts(), tabs()], [['start', long, long], ['predictions', 'attention', 'predictions']], 'before its answer is there');
  answer(state);
  assert.deepEqual(tabs(), ['predictions', 'attention', 'predictions']);
});

test('Back and Forward go through the tabs, and ask nobody for what is there already', () => {
  const {state, go, tabs} = browser();
  for (const tab of ['attention', 'claims']) { state.show(tab); answer(state); }
  state.set({fold: 'checks'});
  const asked = state.number;
  for (const [step, tab] of [[-1, 'attention'], [-1, 'predictions'], [1, 'attention'], [1, 'claims'], [-2, 'predictions']]) {
    go(step);
    assert.deepEqual([state.tab, state.get('fold'), state.isStale(tab)], [tab, tab === 'claims' ? 'checks' : '', false]);
  }
  assert.deepEqual([state.number, tabs()], [asked, ['predictions', 'attention', 'claims']]);
});

test('a place that this page did not write has the default text and models, as its answer has: saved files name both', () => {
  const {state} = browser();
  state.walk({fold: 'words'});   // a `#` typed after the address: a history entry without a view
  assert.deepEqual([state.accepted.text, state.accepted.family, state.accepted.fold, state.number], ['start', 'mini', 'words', 1]);
});

test('Back and Forward bring the text again, whole, in the tab it was compared in, and add no place', () => {
  const {state, go, texts} = browser();
  const long = 'a text longer than a link holds';
  for (const text of [long, 'third']) { state.compare({text, family: 'mini'}); answer(state); }
  state.show('attention');
  answer(state);
  go(-1);
  assert.deepEqual([state.tab, state.isStale('predictions')], ['predictions', false]);
  go(-1);
  assert.deepEqual([state.question().params.text, state.tab], [long, 'predictions']);
  answer(state);
  assert.equal(state.isStale('attention'), true);
  go(-1);
  const slow = reply(state.question());
  go(1);
  state.answered(slow);   // a stale response
  answer(state);
  assert.deepEqual(texts(), ['start', long, 'third', 'third']);
  state.compare({text: 'other'});
  answer(state);
  assert.deepEqual(texts(), ['start', long, 'other']);
});

test('a refused text is no place in the history', () => {
  const {state, texts} = browser();
  state.compare({text: ''});
  answer(state, {accepted: false, drawn: false});
  assert.deepEqual(texts(), ['start']);
});

test('a family is a preset, a size for some columns, or a preset with other sizes', () => {
  assert.deepEqual(sizesOf('base', choices), {bert: 'base', albert: 'base'});
  assert.deepEqual(sizesOf('albert=xlarge', choices), {bert: 'mini', albert: 'xlarge'});
  assert.deepEqual(sizesOf('base,bert=large', choices), {bert: 'large', albert: 'base'});
  for (const none of ['huge', 'bert=huge', 'gpt=base', '', 'base,bert']) assert.equal(sizesOf(none, choices), null, none);
});

test('a size that came after the page was built is known from the answer that has it', () => {
  const {state} = browser();
  state.compare({family: 'bert=my-own'});
  assert.equal(sizesOf('bert=my-own', state.config), null);
  answer(state, {sizes: {bert: 'my-own'}});
  assert.deepEqual(sizesOf(state.get('family'), state.config), {bert: 'my-own'});
});

const own = {...choices, closed: '-', own_columns: ['before', 'text'], columns: {...choices.columns, before: ['a', 'b', 'c'], text: ['a', 'b', 'c']}};

test('a family of exact columns has no others, in the order in which it names them', () => {
  for (const family of ['only,before=a,text=b', 'before=a,text=b']) assert.deepEqual(Object.entries(sizesOf(family, own)), [['before', 'a'], ['text', 'b']], family);
  assert.deepEqual(sizesOf('only,bert=large', own), {bert: 'large'});
  for (const none of ['only', 'only,', 'only,before=z', 'only,after=a', 'only,before=a,bert=mini', 'base,before=a', 'huge,before=a']) assert.equal(sizesOf(none, own), null, none);
  assert.equal(familyOf({before: 'a', text: 'b'}, own), 'only,before=a,text=b');
  assert.equal(familyOf({bert: 'mini'}, own), 'only,bert=mini');
});

test('such a family is one field of a link, and a column called text is no field', () => {
  assert.deepEqual(inColumns('only,before=a,text=b'), {family: 'only,before=a,text=b'});
  assert.deepEqual(asOneField({family: 'only,before=a', text: 'Hello.', bert: 'large'}, own), {family: 'only,before=a', text: 'Hello.'});
  assert.deepEqual(asOneField({text: 'Hello.'}, own), {text: 'Hello.'});
});

test('a column is closed and opened again in its place; the last one stays, and a preset gives way to a column of the page\'s own', () => {
  const after = (sizes, key, size) => familyOf(withColumn(sizes, key, size, own), own);
  assert.equal(after({bert: 'mini', albert: 'mini'}, 'albert', '-'), 'only,bert=mini');
  assert.equal(after({albert: 'mini'}, 'bert', 'mini'), 'mini');
  assert.equal(after({before: 'a', text: 'b'}, 'before', '-'), 'only,text=b');
  assert.equal(after({text: 'b'}, 'before', 'c'), 'only,before=c,text=b');
  assert.equal(after({text: 'b'}, 'text', '-'), 'only,text=b');
  assert.equal(after({bert: 'mini', albert: 'mini'}, 'before', 'a'), 'only,before=a');
});

test('a column with a name of its own has a row for each model that it holds, copied from the model\'s', () => {
  const root = place();
  root.innerHTML = `<div id="masthead"><b data-family="mini"></b><b data-family="only"></b></div><div id="family">
    <i class="fm-row" data-model="before" data-size="a"><b class="model-name" data-model="before">before</b></i>
    <i class="fm-row" data-model="" data-size="b" hidden><b class="model-name" data-model="">Model B</b></i></div>`;
  const inSight = () => [...root.querySelectorAll('.fm-row')].filter(row => !row.hasAttribute('hidden')).map(row => `${row.textContent.trim()} ${row.getAttribute('data-size')}`);
  showFamily('only,before=b', own);
  showFamily('only,before=b', own);
  assert.deepEqual(inSight(), ['before b']);
  assert.deepEqual([...root.querySelectorAll('#masthead b')].map(node => !node.hasAttribute('hidden')), [false, true]);
  showFamily('only,before=a', own);
  assert.deepEqual(inSight(), ['before a']);
});

test('a choice of a column goes with it, and a choice of another one stays', () => {
  const {state} = browser();
  Object.assign(state.config, own);
  state.compare({model: 'before', teacher: 'text', student: 'before'});
  state.compare({family: 'only,text=b'});
  assert.deepEqual(['model', 'teacher', 'student'].map(name => state.wanted[name]), [undefined, 'text', undefined]);
});

test('sizes that are a preset have its name', () => {
  assert.equal(familyOf({bert: 'base', albert: 'base'}, choices), 'base');
  assert.equal(familyOf({bert: 'large', albert: 'base'}, choices), 'bert=large,albert=base');
});

test('a link has a field for each column, and one that has is read as one family', () => {
  assert.deepEqual(inColumns('mini'), {family: 'mini'});
  assert.deepEqual(inColumns('bert=large,albert=base'), {bert: 'large', albert: 'base'});
  assert.deepEqual(asOneField({bert: 'large', tab: 'depth'}, choices), {tab: 'depth', family: 'mini,bert=large'});
  assert.deepEqual(asOneField({family: 'base', albert: 'xlarge'}, choices), {family: 'base,albert=xlarge'});
  assert.deepEqual(asOneField({family: 'base'}, choices), {family: 'base'});
});

test('the drawings of the models in use are in sight, and the badge says what they are', () => {
  const root = place();
  root.innerHTML = `<div id="masthead"><b data-family="mini"></b><b data-family=""></b></div><div id="family">
    <i class="fm-row" data-model="bert" data-size="mini"></i><i class="fm-row" data-model="bert" data-size="large"></i></div>`;
  const inSight = () => [...root.querySelectorAll('b, i')].map(node => !node.hasAttribute('hidden'));
  showFamily('bert=large,albert=mini', choices);
  assert.deepEqual(inSight(), [false, true, false, true]);
  assert.deepEqual(['bert', 'albert'].map(key => document.documentElement.getAttribute(`data-column-${key}`)), ['large', 'mini']);
  showFamily('mini', choices);
  assert.deepEqual(inSight(), [true, false, true, false]);
});

test('a link opens a fold where it stands now, and beside it those of that tab', () => {
  const moved = {attention: {pair: {tab: 'claims'}, lines: {fold: 'more'}}};
  for (const [fold, tab, now] of [['pair', 'claims', 'pair'], ['heads,pair', 'claims', 'pair'], ['pair,heads', 'attention', 'heads'], ['lines,heads', 'attention', 'more,heads'], ['more,lines', 'attention', 'more'], ['heads,more', 'attention', 'heads,more']]) {
    const state = new State({...config, moved}, {send() {}, write() {}, changed() {}});
    state.open({tab: 'attention', fold});
    assert.deepEqual([state.tab, state.get('fold')], [tab, now], fold);
  }
});

test('the link of a tab has what this tab shows; the view for Back has everything, and so has the page', () => {
  const shown_by = {temperature: ['distillation'], layer: ['attention'], 'look.unit': ['attention'], 'form.live': ['distillation']};
  const links = [], state = new State({...config, defaults: {...config.defaults, look: '', form: ''}, shown_by}, {send() {}, write: link => links.push(link), changed() {}});
  const chosen = {temperature: '5', layer: '3', look: 'all:1,unit:pieces', form: 'live.steps:20,live.rate:2'};
  state.open({tab: 'attention', ...chosen});
  answer(state);
  assert.deepEqual(links.at(-1), {v: '1', family: 'mini', tab: 'attention', layer: '3', look: 'all:1,unit:pieces'});
  state.show('distillation');
  answer(state);
  assert.deepEqual(links.at(-1), {v: '1', family: 'mini', tab: 'distillation', temperature: '5', look: 'all:1', form: 'live.steps:20,live.rate:2'});
  assert.deepEqual(state.link('attention').layer, '3');
  for (const [name, value] of Object.entries(chosen)) assert.deepEqual([state.view[name], state.get(name)], [value, value]);
});
