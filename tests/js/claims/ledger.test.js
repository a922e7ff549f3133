import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {beforeEach, test} from 'node:test';

import {click, enter, place, texts} from '../dom.js';
import {begun} from '../page/stage.js';

const {filter, matching, publish, results, searched, setFilter} = await import('../../../assets/js/claims/filter.js');
const {show, table} = await import('../../../assets/js/claims/ledger.js');

const said = {any: 'any', placeholder: 'find', wordings: '{n} wordings', numbers: 'Numbers', clear: 'Clear', search: 'Search', model: 'Model', topic: 'Topic', verdict: 'Verdict', report: 'Report',
  live: 'live',
  claim: 'Claim', printed: 'Printed', source: 'Source', here: 'Here', none: 'No claim.', count: '{n} of {total}', opened: '{n} wrong of {total}', more: '{n} more',
    run: 'Run {name}: {measures}',
  no_check: 'no check', no_source: 'no source', partly: 'left: {names}', published: 'published', measured: 'measured', holds: 'holds', fails: 'fails',
  waits: 'waits', failed: 'failed', undecided: 'undecided', press: 'press again'};
const claim = (id, changes = {}) => ({id, claim: `Claim ${id}`, claimed: '40 %', found: 'BERT, Table 1', source: '', topic: 'size', verdict: 'right',
  report: 'a', models: ['bert'], checks: [], live: [], numbers: [], ...changes});
const data = claims => ({texts: said, claims, models: {bert: 'BERT', albert: 'ALBERT'}, topics: {size: 'Sizes', speed: 'Speeds'},
  verdicts: {right: 'Right', wrong: 'Wrong'}, reports: {a: 'Report A', b: 'Report B'}, addresses: {'Table 1': 'https://paper.test/1'},
  checks: {T1: {name: 'Time', measures: 'time'}, S2: {name: 'Size', measures: 'size'}, S3: {name: 'Share', measures: 'share'}}});
const many = n => Array.from({length: n}, (_, i) => claim(`c${i}`));
const result = (id, status, changes = {}) => ({id, status, text: `${id} found`, on: 'this CPU', ...changes});

function shown(claims) {
  const root = place(), asked = [];
  show(root, data(claims), {ask: question => asked.push(question)});
  return {root, asked};
}
const ids = root => [...root.querySelectorAll('.cl-row')].map(row => row.dataset.claim);
const count = root => root.querySelector('.cl-count').textContent;

beforeEach(() => {
  begun();
  for (const id of Object.keys(results)) delete results[id];
  setFilter({search: '', model: '', topic: '', verdict: '', report: '', live: false});
  publish({});
});

test('a row says what is claimed, of whom, what was printed, where it is from, and the verdict', () => {
  const {root} = shown([claim('c1', {source: 'Table 1, p. 3'}), claim('c2', {verdict: 'wrong', models: ['bert', 'albert'], topic: 'speed'})]);
  assert.deepEqual(texts(root, '.cl-head span'), ['Claim', 'Verdict', 'Source', 'Here']);
  const [one, two] = [...root.querySelectorAll('.cl-row')].map(row => texts(row, '.cl-cell'));
  assert.deepEqual(one, ['ClaimClaim c1Printed 40 %BERTSizesReport A', 'Verdict✓Right', 'SourceBERT, Table 1Table 1, p. 3', 'Hereno check']);
  assert.deepEqual(two, ['ClaimClaim c2Printed 40 %BERTALBERTSpeedsReport A', 'Verdict✕Wrong', 'SourceBERT, Table 1no source', 'Hereno check']);
  assert.deepEqual([...root.querySelectorAll('.cl-row')].map(row => row.dataset.verdict), ['right', 'wrong']);
  assert.deepEqual([...root.querySelectorAll('.cl-row')[0].querySelectorAll('a')].map(link => link.href), Array(2).fill('https://paper.test/1'));
});

test('the numbers that a verdict was computed from fold out; a claim in words has none', () => {
  const {root} = shown([claim('c1', {numbers: ['Width: 2 claimed', 'Depth: 3 claimed']}), claim('c2', {claimed: ''})]);
  const [one, two] = root.querySelectorAll('.cl-row');
  assert.deepEqual(texts(one, '.cl-source summary'), ['Numbers']);
  assert.deepEqual(texts(one, '.cl-source li'), ['Width: 2 claimed', 'Depth: 3 claimed']);
  assert.deepEqual([texts(two, '.cl-source details'), texts(two, '.cl-print')], [[], []]);
});

test('six claims at first, forty more with each press, and the focus goes to the first of the new ones', () => {
  const claims = many(55);
  claims[6].checks = ['T1'];
  const {root} = shown(claims), more = root.querySelector('.cl-more');
  assert.deepEqual([ids(root).length, more.textContent, more.hidden], [6, '40 more', false]);
  click(more);
  assert.deepEqual([ids(root).length, more.textContent], [46, '9 more']);
  assert.equal(document.activeElement.closest('.cl-row').dataset.claim, 'c6');
  click(more);
  assert.deepEqual([ids(root).length, more.hidden, count(root)], [55, true, '55 of 55']);
  setFilter({model: 'bert'});
  assert.equal(ids(root).length, 6);
});

test('exactly six claims need no press; none says so', () => {
  const {root} = shown(many(6));
  assert.equal(root.querySelector('.cl-more').hidden, true);
  assert.equal(root.querySelector('.cl-empty').hidden, true);
  setFilter({search: 'nothing like it'});
  assert.deepEqual([root.querySelector('.cl-empty').hidden, root.querySelector('.cl-more').hidden, count(root)], [false, true, '0 of 6']);
});

test('results do not fold what was unfolded', () => {
  const {root} = shown(many(20));
  click(root.querySelector('.cl-more'));
  publish({results: []});
  assert.equal(ids(root).length, 20);
});

test('the wordings of one claim are one row, each with its report and its verdict; all are counted', () => {
  const {root} = shown([claim('a', {claim: '60% faster'}), claim('b'), claim('c', {claim: '60% faster on GLUE', same: 'a', verdict: 'wrong', report: 'b'})]);
  assert.deepEqual([ids(root), count(root)], [['a', 'b'], '3 of 3']);
  assert.deepEqual(texts(root, '.cl-wordings summary'), ['2 wordings']);
  assert.deepEqual(texts(root, '.cl-wordings li'), ['“60% faster”, Report A ✓Right', '“60% faster on GLUE”, Report B ✕Wrong']);
  setFilter({verdict: 'wrong'});
  assert.deepEqual([ids(root), count(root), texts(root, '.cl-wordings')], [['c'], '1 of 3', []]);
});

test('a question in words finds the claim it is nearest to, where no claim has all its words', () => {
  const {root} = shown([claim('c1', {claim: 'ALBERT trains faster because it has fewer parameters', models: ['albert']}),
    claim('c2', {claim: 'ALBERT has fewer parameters', models: ['albert']}), claim('c3', {claim: 'BERT reads both sides'}), ...many(6)]);
  const search = root.querySelector('input[type=search]');
  const finds = text => { enter(search, text); return ids(root); };
  assert.deepEqual(finds('ALBERT is faster because it has fewer parameters?'), ['c1']);
  assert.deepEqual(finds('Is ALBERT much quicker because of its few parameters'), ['c1']);
  assert.deepEqual(finds('which model reads from both sides?'), ['c3']);
  assert.deepEqual(finds('why does the moon shine tonight'), []);
  assert.deepEqual(finds('quicker parameters'), [], 'two words are both looked for');
});

test('of claims that hold most of a question the nearest comes first', () => {
  const near = 'red green blue gold pink', texts = [near, `${near} black`, 'one', 'two', 'three', 'four'];
  const found = matching(texts.map((haystack, id) => ({haystack, id})), `${near} black white`);
  assert.deepEqual(found.map(one => one.id), [1, 0]);
});

test('filters are in the link, and a link or Back brings them again', () => {
  const {state} = begun({}), claims = [claim('a', {verdict: 'wrong'}), claim('b', {models: ['albert'], live: [{}]}), claim('c', {topic: 'speed', report: 'b'})];
  const {root} = shown(claims), pick = (name, value) => { const select = root.querySelector(`[data-filter=${name}]`); select.value = value; select.dispatchEvent(new Event('change')); };
  pick('model', 'albert');
  assert.equal(state.get('look'), 'claimmodel:albert');
  pick('verdict', 'right');
  assert.deepEqual([state.get('look'), ids(root)], ['claimmodel:albert,claimverdict:right', ['b']]);
  state.walk({});   // Back
  assert.deepEqual([ids(root), filter.verdict, filter.model], [['a'], 'wrong', '']);
  begun({look: 'claimlive:yes'});
  assert.deepEqual([ids(shown(claims).root), filter.verdict], [['b'], '']);
  begun({search: 'Claim', look: 'claimverdict:wrong'});
  assert.deepEqual(ids(shown(claims).root), ['a']);
  begun({look: 'claimverdict:any'});
  assert.deepEqual(ids(shown(claims).root).length, 3);
});

test('the list opens on the wrong claims and says so, until something is chosen', () => {
  begun({search: ''});
  assert.equal(count(shown([claim('a', {verdict: 'wrong'}), claim('b')]).root), '1 wrong of 2');
  begun({look: 'claimverdict:wrong'});
  assert.equal(count(shown([claim('a', {verdict: 'wrong'}), claim('b')]).root), '1 of 2');
});

test('what is searched is in the link, and a link or Back brings it again', () => {
  const {state} = begun({search: '60%'});
  const {root} = shown([claim('a', {claim: '60% faster'}), claim('b')]);
  assert.deepEqual(ids(root), ['a']);
  assert.equal(root.querySelector('input[type=search]').value, '60%');
  enter(root.querySelector('input[type=search]'), 'Claim b');
  assert.deepEqual([ids(root), state.get('search')], [['b'], 'Claim b']);
  state.walk({search: '60%'});   // Back
  assert.deepEqual(ids(root), ['a']);
});

test('twenty questions as they are typed find the claim that answers them among the first three', t => {
  const ledger = JSON.parse(readFileSync(new URL('../../../assets/data/claims.json', import.meta.url), 'utf8'));
  const claims = ledger.claims.map(one => ({...one, haystack: searched([one.id, one.claim, one.claimed, one.found, one.source, ledger.topics[one.topic]].join(' '))}));
  for (const [question, id] of [
    ['ALBERT is faster because it has fewer parameters', 'B19'], ['Is DistilBERT 60% faster?', 'A01'], ['is distilbert 60 percent faster at inference', 'A01'],
    ['Does DistilBERT keep 97% of BERT’s performance?', 'A02'], ['DistilBERT retains 97 %', 'A02'], ['SOP is more challenging than NSP', 'D30'],
    ['ALBERT-base has 12M parameters', 'E28'], ['BERT-base has 110 M parameters', 'A04'], ['BERT hides 15% of the words', 'C05'],
    ['does sharing improve generalisation?', 'E24'], ['sharing layers maintains the capacity', 'A22'], ['ALBERT is smaller and faster', 'D21'],
    ['BERT reads left and right context', 'C04'], ['ALBERT-large 74.8 RACE', 'A31'], ['BERT-large RACE 72', 'A27'], ['DistilBERT triple loss', 'A10'],
    ['SOP: two sentences swapped', 'C32'], ['all layers share the same parameters in ALBERT?', 'A21'], ['89% reduction', 'C31'], ['BERT uses only the encoder', 'C37'],
  ]) {
    const found = [...new Set(matching(claims, question).map(one => one.same || one.id))];   // a row for each claim
    t.diagnostic(`${question} | ${found.slice(0, 3).map(one => claims.find(claim => claim.id === one).claim).join(' / ')}`);
    assert.ok(found.slice(0, 3).includes(id), `${question}: ${found.join(', ')}`);
  }
});

test('a menu for each kind: what fits all of them is left', () => {
  const {root} = shown([claim('a'), claim('b', {models: ['albert', 'bert']}), claim('c', {topic: 'speed'}), claim('d', {verdict: 'wrong'}),
    claim('e', {report: 'b'}), claim('f', {checks: ['T1'], live: ['T1']})]);
  const menu = name => root.querySelector(`select[data-filter=${name}]`);
  assert.deepEqual(texts(menu('model'), 'option'), ['any', 'BERT', 'ALBERT']);
  assert.deepEqual(texts(menu('report'), 'option'), ['any', 'Report A', 'Report B']);
  for (const [name, value, left] of [['model', 'albert', ['b']], ['topic', 'speed', ['c']], ['verdict', 'wrong', ['d']], ['report', 'b', ['e']]]) {
    enter(menu(name), value);
    assert.deepEqual(ids(root), left);
    enter(menu(name), '');
  }
  const live = root.querySelector('input[type=checkbox]');
  live.checked = true;
  live.dispatchEvent(new Event('change'));
  assert.deepEqual([ids(root), count(root)], [['f'], '1 of 6']);
  enter(menu('verdict'), 'wrong');
  assert.deepEqual(ids(root), []);
});

test('search looks for every word, in what is written and in names, whatever the case', () => {
  const {root} = shown([claim('c1'), claim('c2', {claim: 'ALBERT is small', models: ['albert']}), claim('c3', {topic: 'speed', checks: ['S3']}),
    claim('c4', {source: 'a blog', claimed: '12 M', found: 'Section 4'})]);
  const search = root.querySelector('input[type=search]');
  const finds = (text, left) => { enter(search, text); assert.deepEqual(ids(root), left, text); };
  finds('SMALL albert', ['c2']);
  finds('speeds', ['c3']);
  finds('share', ['c3']);
  finds('blog', ['c4']);
  finds('12 m', ['c4']);
  finds('section', ['c4']);
  finds('c1', ['c1']);
  finds('claim table', ['c1', 'c3']);
  finds('', ['c1', 'c2', 'c3', 'c4']);
  assert.equal(search.getAttribute('maxlength'), '80');
});

test('a share is found however it is written, in the search and in the claim', () => {
  const {root} = shown([claim('c1'), claim('c2', {claimed: '97%'}), claim('c3', {claimed: '40', claim: 'loses 97 percent'}), claim('c4', {claimed: '97'})]);
  const search = root.querySelector('input[type=search]');
  for (const sign of ['%', ' %', '\u202f%', ' percent', ' per cent']) {
    enter(search, `97${sign}`);
    assert.deepEqual(ids(root), ['c2', 'c3'], sign);
  }
  enter(search, 'percentile');
  assert.deepEqual(ids(root), []);
});
test('millions and negative numbers are found however they are written', () => {
  const {root} = shown([claim('c1', {found: 'exact 109.5 M'}), claim('c2', {found: 'RTE −9.4'}), claim('c3', {claimed: '110M'})]);
  const search = root.querySelector('input[type=search]');
  const found = text => (enter(search, text), ids(root));
  assert.deepEqual(['109.5M', '109.5 m', '-9.4', '−9.4', '110 M'].flatMap(found), ['c1', 'c1', 'c2', 'c2', 'c3']);
});

test('the tab opens on what is wrong; a first search is over all claims', async () => {
  const opened = await import(`../../../assets/js/claims/filter.js?${Math.random()}`);
  assert.equal(opened.filter.verdict, 'wrong');
  opened.setFilter({search: '40'});
  assert.equal(opened.filter.verdict, '');
  opened.setFilter({verdict: 'right'});
  opened.setFilter({search: '41'});
  assert.equal(opened.filter.verdict, 'right');
});

test('Clear forgets all filters and leaves the reader in the search; controls show what others set', () => {
  const {root} = shown(many(3));
  setFilter({search: 'c1', verdict: 'right', live: true});
  const [search, live] = root.querySelectorAll('input'), verdict = root.querySelector('[data-filter=verdict]');
  assert.deepEqual([search.value, live.checked, verdict.value], ['c1', true, 'right']);
  click(root.querySelector('.cl-clear'));
  assert.deepEqual(filter, {search: '', model: '', topic: '', verdict: '', report: '', live: false});
  assert.deepEqual([search.value, live.checked, verdict.value], ['', false, '']);
  assert.equal(document.activeElement, search);
  const event = new Event('submit', {cancelable: true});
  root.querySelector('form').dispatchEvent(event);
  assert.equal(event.defaultPrevented, true);
});

test('a claim\'s checks are buttons that ask; one at work says so', () => {
  const {root, asked} = shown([claim('c1', {checks: ['T1', 'S2'], live: ['T1']})]);
  assert.deepEqual(texts(root, '.cl-run'), ['▷ Time', '▷ Size']);
  assert.equal(root.querySelector('.cl-run').title, 'Run Time: time');
  click(root.querySelectorAll('.cl-run')[1]);
  assert.deepEqual(asked, [{check: 'S2', press: 1}]);
  publish({running: ['S2']});
  assert.deepEqual(texts(root, '.cl-run'), ['▷ Time', 'Size …']);
  assert.deepEqual([...root.querySelectorAll('.cl-run')].map(button => button.getAttribute('aria-busy')), ['false', 'true']);
});

test('what a check found for this claim stands below, each part with its verdict', () => {
  const {root} = shown([claim('c1', {checks: ['T1'], live: ['T1']}), claim('c2', {checks: ['T1'], live: ['T1']})]);
  assert.equal(root.querySelector('.cl-outcome'), null);
  publish({results: [result('T1', 'holds', {timed: true, claims: {c1: [{text: '1.5 ×', holds: true}, {text: '2 ×', holds: false}, {text: '3 ×',
    holds: null}]}})]});
  assert.deepEqual(texts(root, '.cl-outcome'), ['measured, this CPU1.5 × holds2 × fails3 × press again', 'measured, this CPUT1 found ']);
  assert.deepEqual([...root.querySelectorAll('.cl-test')].map(node => node.dataset.holds), ['true', 'false', 'null', 'none']);
});

test('what waits or failed says so; what was published says that; what has no place says none', () => {
  const {root} = shown([claim('c1', {checks: ['T1', 'S2', 'S3'], live: ['T1', 'S2', 'S3']})]);
  publish({results: [result('T1', 'waits'), result('S2', 'failed', {published: true}), result('S3', 'holds', {on: ''})]});
  assert.deepEqual(texts(root, '.cl-outcome'), ['measured, this CPUT1 found waits', 'publishedS2 found failed', 'S3 found ']);
  assert.deepEqual([...root.querySelectorAll('.cl-outcome')].map(node => node.className),
    ['cl-outcome measured', 'cl-outcome published', 'cl-outcome measured']);
});

test('where some of its checks are done it says which are left', () => {
  const {root} = shown([claim('c1', {checks: ['T1', 'S2', 'S3'], live: ['T1', 'S2', 'S3']}), claim('c2', {checks: ['S2']})]);
  assert.deepEqual(texts(root, '.cl-none'), []);
  publish({results: [result('T1', 'holds')]});
  assert.deepEqual(texts(root, '.cl-none'), ['left: Size, Share']);
  publish({results: [result('S2', 'holds'), result('S3', 'holds')]});
  assert.deepEqual(texts(root, '.cl-none'), []);
});

test('the focus stays on a claim\'s check while results come in', () => {
  const {root} = shown([claim('c1', {checks: ['T1']}), claim('c2', {checks: ['T1', 'S2']})]);
  root.querySelectorAll('.cl-row')[1].querySelectorAll('.cl-run')[1].focus();
  publish({results: []});
  assert.deepEqual([document.activeElement.dataset.check, document.activeElement.closest('.cl-row').dataset.claim], ['S2', 'c2']);
  root.querySelector('input').focus();
  publish({results: []});
  assert.equal(document.activeElement, root.querySelector('input'));
});

test('the table has a row for each claim, with names for keys', () => {
  const {columns, rows} = table(data([claim('c1', {models: ['bert', 'albert'], checks: ['T1', 'S2'], source: 'x', verdict: 'wrong', numbers: ['Width: 2', 'Depth: 3']}), claim('c2')]));
  assert.deepEqual(columns, ['id', 'claim', 'models', 'topic', 'printed', 'found', 'source', 'verdict', 'checks', 'found_here', 'report', 'numbers_compared']);
  assert.deepEqual(rows, [['c1', 'Claim c1', 'BERT, ALBERT', 'Sizes', '40 %', 'BERT, Table 1', 'x', 'Wrong', 'Time, Size', null, 'Report A', 'Width: 2; Depth: 3'],
    ['c2', 'Claim c2', 'BERT', 'Sizes', '40 %', 'BERT, Table 1', '', 'Right', '', null, 'Report A', null]]);
});
