import assert from 'node:assert/strict';
import {afterEach, test} from 'node:test';

import {click, painted, texts, widen} from '../dom.js';
import {button, setTo, lock, never, state, wall} from './open.js';
import {painter, square, wallData} from './small.js';

const {onPage} = await import('../../../assets/js/attention/heads.js');
const {clear, constants, show, table, theme} = await import('../../../assets/js/attention/wall.js');

afterEach(() => { state.wanted = {}; state.accepted = null; });

test('the first head chosen is the one that looks most sharply at a neighbour, before or behind', async () => {
  assert.deepEqual(lock((await wall()).made), [0, 0]);
  const data = wallData();
  data.models[0].shares = [.4, .1, 0, 0, 1, .1, .6, 0, 0, 0, .2, .3, 1, 1, 0, .5, .3, 0, 0, 0];
  assert.deepEqual(lock((await wall({models: data.models})).made), [0, 1]);
  data.models[0].shares[15] = .7;
  assert.deepEqual(lock((await wall({models: data.models})).made), [0, 3]);
});

test('where the text has a word further off, the head chosen first looks at it most sharply from the mask', async () => {
  const words = ['[CLS]', 'cat', 'on', 'mat', '[MASK]', '[SEP]'], groups = words.map((_, i) => [i]), masks = words.map(w => Number(w === '[MASK]'));
  const special = [1, 0, 0, 0, 0, 1], looks = (k, share) => square(6, (q, at) => (q === 4 && at === k ? share : 0));
  const heads = [[looks(3, 1), looks(1, .5), looks(2, .9), looks(0, 1)], [looks(1, 1), looks(1, 1)]];   // at the next word, far, further, at [CLS]
  const {models} = wallData(), wide = models.map(model => ({...model, groups, pieces: words, added: special}));
  assert.deepEqual(lock((await wall({heads, words, special, masks, models: wide})).made), [0, 2]);
});

test('a link’s head is chosen where the model has it', async () => {
  const from = async changes => { state.wanted = {}; state.set(changes); return lock((await wall()).made); };
  assert.deepEqual(await from({model: 'albert', head: 1}), [1, 1]);
  assert.deepEqual(await from({layer: 1}), [0, 2]);
  assert.deepEqual(await from({layer: 1, head: 1}), [0, 3]);
  assert.deepEqual(await from({head: 1}), [0, 1]);
  assert.deepEqual(await from({layer: 2}), [0, 0]);
  assert.deepEqual(await from({head: 2}), [0, 0]);
  assert.deepEqual(await from({layer: -1, head: 1}), [0, 0]);
  assert.deepEqual(await from({layer: 1, head: -1}), [0, 0]);
  assert.deepEqual(await from({model: 'mini', layer: 1}), [0, 2]);
  state.wanted = {};
});

test('every kind has a button with how many heads it has in all models', async () => {
  const {root} = await wall();
  assert.deepEqual(texts(root, '.aw-kind'), ['Next1', 'Previous0', 'Self2', 'First1', 'Marks0', 'Other2']);
  assert.equal(root.querySelector('.aw-kind').title, 'looks on');
});

test('a kind that is pressed is faint, also for a new text, until it is pressed again', async () => {
  const {root, made} = await wall(), [next] = root.querySelectorAll('.aw-kind');
  const alpha = one => painted(one.base, 'drawImage')[0].globalAlpha;
  assert.equal(next.getAttribute('aria-pressed'), 'true');
  click(next);
  assert.deepEqual([next.getAttribute('aria-pressed'), alpha(made)], ['false', .12]);
  const newer = await wall(), [again] = newer.root.querySelectorAll('.aw-kind');
  assert.deepEqual([again.getAttribute('aria-pressed'), alpha(newer.made)], ['false', .12]);
  click(again);
  assert.deepEqual([again.getAttribute('aria-pressed'), alpha(newer.made)], ['true', 1]);
});

test('the text’s words say which are added and which a mask', async () => {
  const {root} = await wall(), chips = [...root.querySelectorAll('.aw-words .aw-word')];
  assert.deepEqual(chips.map(chip => [chip.textContent, chip.className]),
    [['[CLS]', 'aw-word added'], ['cat', 'aw-word'], ['s', 'aw-word mask'], ['[SEP]', 'aw-word added']]);
  assert.equal(root.querySelector('.aw-words').getAttribute('aria-label'), 'words');
  assert.deepEqual(chips.map(chip => chip.tabIndex), [0, -1, -1, -1], 'all words are one stop of the tab key');
});

test('a word lights while the pointer or the keyboard is on it', async () => {
  const {root, made} = await wall(), chips = [...root.querySelectorAll('.aw-word')],
    lit = () => chips.map(chip => Number(chip.classList.contains('on'))).join('');
  for (const [on, off] of [['pointerenter', 'pointerleave'], ['focus', 'blur']]) {
    chips[2].dispatchEvent(new Event(on));
    assert.deepEqual([lit(), made.word], ['0010', 2]);
    assert.equal(painted(made.base, 'drawImage').length, 18);
    chips[2].dispatchEvent(new Event(off));
    assert.deepEqual([lit(), made.word], ['0000', null]);
  }
});

test('a word that is pressed stays lit, is in the link, and comes with it, until it is pressed again', async () => {
  const {root, made} = await wall(), chips = [...root.querySelectorAll('.aw-word')],
    pressed = of => [...of.querySelectorAll('.aw-word')].map(chip => Number(chip.getAttribute('aria-pressed') === 'true')).join('');
  assert.equal(pressed(root), '0000');
  click(chips[1]);
  chips[3].dispatchEvent(new Event('pointerenter'));
  assert.deepEqual([made.word, pressed(root), state.wanted.lit], [3, '0100', '1']);
  chips[3].dispatchEvent(new Event('pointerleave'));
  assert.deepEqual([made.word, chips[1].classList.contains('on')], [1, true]);
  const again = await wall();
  assert.deepEqual([again.made.word, pressed(again.root), again.root.querySelectorAll('.aw-word')[1].className], [1, '0100', 'aw-word on']);
  click(again.root.querySelectorAll('.aw-word')[1]);
  assert.deepEqual([again.made.word, pressed(again.root), 'lit' in state.wanted], [null, '0000', false]);
});

test('a link’s word is lit where the text has it', async () => {
  for (const [lit, word] of [[0, 0], [3, 3], [4, null], [-1, null]]) {
    state.set({lit});
    assert.equal((await wall()).made.word, word);
  }
});

test('an order by a word takes the chosen one; without one the mask, or the last word that is no sign', async () => {
  const kept = async changes => (await wall(changes)).made.kept, masks = [0, 0, 0, 0];
  state.set({order: 'to'});
  assert.equal(await kept(), 2);
  assert.equal(await kept({masks}), 2);
  assert.equal(await kept({masks, words: ['[CLS]', 'cat', '.', '[SEP]']}), 1);
  assert.equal(await kept({masks, words: ['[CLS]', '!', '.', '[SEP]']}), 0);
  state.set({lit: 1});
  assert.equal(await kept(), 1);
});

test('heads are sorted anew by another word, and say how much they attend to it', async () => {
  const {root, made} = await wall(), chips = [...root.querySelectorAll('.aw-word')], first = () => made.places[0].indexOf(made.places[0].toSorted((a, b) => a.y - b.y || a.x - b.x)[0]);
  setTo(root, 'from');
  assert.deepEqual([state.wanted.order, made.kept, first()], ['from', 2, 2], 'from the mask to the other word: the even head');
  assert.deepEqual(made.summary({m: 0, i: 2, layer: 1, head: 0}).split('; ').at(-1), '25% from s');
  click(chips[1]);
  assert.deepEqual([made.kept, first()], [1, 0], 'from the first word all goes to the next');
  assert.deepEqual(made.summary({m: 0, i: 0, layer: 0, head: 0}).split('; ').at(-1), '100% from cat');
  setTo(root, 'to');
  assert.deepEqual(first(), 2);
  setTo(root, 'place');
  assert.ok(!made.summary({m: 0, i: 0, layer: 0, head: 0}).includes('cat'));
});

test('the same word again is not drawn again', async () => {
  const {made} = await wall(), drawn = () => made.base.getContext('2d').notes.length;
  made.lightWord(1);
  const before = drawn();
  made.lightWord(1);
  assert.equal(drawn(), before);
});

test('another order moves the tiles and is told to the page', async () => {
  const {root, made} = await wall(), before = made.places;
  assert.equal(button(root, 'place').parentElement.value, 'place');
  setTo(root, 'entropy');
  assert.equal(state.wanted.order, 'entropy');
  assert.deepEqual(made.places[0][3], before[0][0]);
  assert.equal((await wall()).made.order, 'entropy', 'a new text keeps it');
});

test('a model that cannot be had has a card in place of its heads', async () => {
  const {root} = await wall();
  assert.deepEqual([root.querySelector('section.card').dataset.model, texts(root, '.card *')], ['distilbert', ['DistilBERT', 'is not here']]);
});

test('the note explains its words, and says how many words share a row', async () => {
  const note = '.aw-foot .note', {root} = await wall();
  assert.deepEqual(texts(root, note).map(text => text.trim()), ['Point at entropy. Rows.']);
  assert.equal(root.querySelector(`${note} .term`).getAttribute('popovertarget'), 'box-entropy');
  const pooled = await wall({pool: 2, exact: false, bytes: Array(24).fill(9)});
  assert.deepEqual(texts(pooled.root, note), ['Point at entropy. Rows. Each row is 2 words.']);
});

test('the scale has a bar for each model, even steps of attention from low to high', async () => {
  const {root, made} = await wall(), scale = root.querySelector('.aw-scale'), bars = [...scale.querySelectorAll('canvas')];
  assert.deepEqual(texts(scale, 'span'), ['low', 'high', 'scale']);
  assert.deepEqual([bars.length, bars[0].width, bars[0].height, bars[0].previousSibling.textContent], [2, 64, 12, 'low']);
  const steps = painted(bars[1], 'fillRect');
  assert.deepEqual(steps.map(one => one.given), Array.from({length: 64}, (_, x) => [x, 0, 1.5, 12]));
  for (const [x, i] of [[0, 0], [7, 85], [28, 170], [63, 255]]) {   // the root of x / 63
    const c = made.palette.ramps.albert[i];
    assert.equal(steps[x].fillStyle, `rgb(${c & 255},${c >>> 8 & 255},${c >>> 16 & 255})`);
  }
});

test('of two texts that come at once the newer is drawn, and none after all is taken away', async () => {
  const root = painter(), context = {dark: false, ask() {}, asks: never};
  const first = show(root, wallData({words: ['[CLS]', 'old', '##s', '[SEP]']}), context), second = show(root, wallData(), context);
  await Promise.all([first, second]);
  assert.ok(texts(root, '.aw-word').includes('cat'));
  const third = show(root, wallData(), context);
  clear(root);
  await third;
  assert.deepEqual([root.childNodes.length, onPage.wall], [0, null]);
});

test('a wall that is taken away no longer follows the page', async () => {
  const {root, made} = await wall(), {width, flight} = made;
  clear(root);
  widen(root, 900);
  assert.deepEqual([made.width, made.lens.width], [width, width]);
  assert.equal(made.flight, flight + 1);
  theme(root);
  assert.equal(onPage.wall, null);
});

test('a wall that another room shows now is not forgotten with an older one', async () => {
  const {root} = await wall(), newer = {};
  onPage.wall = newer;
  clear(root);
  assert.equal(onPage.wall, newer);
});

test('the wall follows its width and the page’s colours', async () => {
  const {root, made} = await wall();
  widen(root, 900);
  assert.deepEqual([made.width, made.across], [900, true]);
  root.style.setProperty('--ink', '#010203');
  theme(root);
  assert.equal(made.palette.ink, 'rgb(1,2,3)');
  assert.equal(painted(made.over, 'strokeRect')[0].strokeStyle, 'rgb(1,2,3)');
});

test('its lines of Python know each model’s pieces and which words were added', () => {
  const groups = [[0], [1], [2], [3]];
  assert.deepEqual(constants(wallData()), {GROUPS: {BERT: groups, ALBERT: groups}, ADDED: [0, 3], KINDS: wallData().kinds.map(kind => wallData().texts.kinds[kind])});
});

test('its table has a row for every head, with the share of its kind where it has one', () => {
  const {columns, rows} = table(wallData());
  assert.deepEqual(columns, ['model', 'layer', 'head', 'kind', 'share_of_kind', 'entropy_nats', 'distance_words']);
  assert.deepEqual(rows, [['BERT', 1, 1, 'Next', .9, .5, 1], ['BERT', 1, 2, 'Self', .756, .25, 0], ['BERT', 2, 1, 'Other', null, 1.386294, 1.25],
    ['BERT', 2, 2, 'First', .8, .125, 1.5], ['ALBERT', 1, 1, 'Self', 1, .3, 0], ['ALBERT', 1, 2, 'Other', null, 1.2, 1.25]]);
});
