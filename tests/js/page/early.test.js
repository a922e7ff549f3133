// The script that runs before Gradio's client: responses that wait for their stream, queued requests, the first classes.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {settled} from '../dom.js';

let serial = 0, served;
const encoder = new TextEncoder(), asked = [];
/** Run the script at an address, with a network that the test controls. */
async function opened(address = 'http://page.test/', kept = {}) {
  delete window.explorer?.keptTheme;   // the scripts that ran before watch the same body
  history.replaceState({}, '', address);
  localStorage.clear();
  for (const [name, value] of Object.entries(kept)) localStorage.setItem(`explorer-${name}`, value);
  document.documentElement.className = 'embed linked';
  document.body.className = '';
  globalThis.fetch = async (resource, options) => {
    asked.push([resource, options]);
    return served(resource instanceof Request ? resource.url : String(resource));
  };
  await import(`../../../assets/js/early.js?${serial += 1}`);
}

/** An event stream that the test writes and a reader consumes. */
async function stream() {
  let pen;
  const source = new ReadableStream({start(controller) { pen = controller; }}), joins = {ok: true};
  served = url => url.includes('/queue/data?') ? new Response(source, {headers: {'x-kept': 'yes'}})
    : new Response(url.includes('again') ? '{"event_id": "two"}' : '{"event_id": "one"}', {status: joins.ok ? 200 : 500});
  const answer = await fetch('/queue/data?session=1'), read = answer.text().catch(() => 'cut off');
  return {answer, read, joins, write: async text => { pen.enqueue(encoder.encode(text)); await settled(5); },
    close: () => pen.close(), fail: () => pen.error(new Error('lost'))};
}
/** A request, and a flag for its response. */
function join(address = '/queue/join') {
  const one = {there: false, answer: null};
  one.answer = fetch(address).then(found => { one.there = true; return found; });
  return one;
}

test('whatever is no question passes as it is', async () => {
  await opened();
  served = url => new Response(url);
  const options = {method: 'POST'};
  assert.equal(await (await fetch('/theme.css', options)).text(), '/theme.css');
  assert.deepEqual(asked.at(-1), ['/theme.css', options]);
  assert.equal(await (await fetch('/queue/join')).text(), '/queue/join');   // without a stream nothing is delayed
});

test('an answer waits until the stream has spoken of its event', async () => {
  await opened();
  const {answer, read, write, close} = await stream(), one = join(), two = join(new Request('http://page.test/queue/join?again'));
  assert.equal(answer.headers.get('x-kept'), 'yes');
  await settled(20);
  assert.deepEqual([one.there, two.there], [false, false]);
  await write('data: {"event_id": "other"}\n');
  assert.deepEqual([one.there, two.there], [false, false]);
  await write('data: {"event_id":"two", "x": 1}\n data: {"event_id": "three"}');
  assert.deepEqual([one.there, two.there], [false, true]);
  await write('data: {"event_');
  await write('id":   "one"}');
  assert.equal(one.there, true);
  assert.deepEqual(await (await one.answer).json(), {event_id: 'one'});
  assert.equal((await join('/queue/join?again').answer).ok, true);   // its event id came before
  close();
  assert.match(await read, /^data: \{"event_id": "other"\}\n.*"one"\}$/s);
});

test('an answer waits no longer than the stream lasts', async () => {
  for (const end of ['close', 'fail']) {
    await opened();
    const found = await stream(), one = join();
    await settled(20);
    assert.equal(one.there, false);
    found[end]();
    await one.answer;
    await settled(5);
    assert.equal((await join().answer).status, 200, 'nor does the next one');
  }
});

test('an answer is held for some seconds at the longest by a stream that stays open and never names its event', async () => {
  await opened();
  const {write, close} = await stream(), later = globalThis.setTimeout, timers = [];
  globalThis.setTimeout = (run, ms, ...rest) => ms < 1000 ? later(run, ms, ...rest) : timers.push({run, ms});
  try {
    const one = join();
    await settled(20);
    await write('data: {"event_id": "other"}\n');
    assert.equal(one.there, false);
    assert.equal(timers.length, 1);
    timers[0].run();
    assert.deepEqual(await (await one.answer).json(), {event_id: 'one'});
  } finally {
    globalThis.setTimeout = later;
    close();
  }
});

test('an answer that is a refusal does not wait, nor does one of a stream that was never there', async () => {
  await opened();
  const {joins, close} = await stream();
  joins.ok = false;
  assert.equal((await join().answer).status, 500);
  close();
  served = url => { if (url.includes('data')) throw new Error('offline'); return new Response('{"event_id": "one"}'); };
  await assert.rejects(fetch('/queue/data?session=2'), /offline/);
  assert.equal((await join().answer).status, 200);
});

test('the newest stream is the one that counts', async () => {
  await opened();
  const old = await stream(), next = await stream(), one = join();
  await old.write('{"event_id": "one"}');
  assert.equal(one.there, false);
  await next.write('{"event_id": "one"}');
  assert.equal(one.there, true);
  old.close();
  next.close();
});

test('components that are early wait in line', async () => {
  await opened();
  window.explorer.mount('kind', 'element');
  window.explorer.tell('tab', 'depth');
  assert.deepEqual([window.explorer.waiting, window.explorer.told], [[['kind', 'element']], [['tab', 'depth']]]);
});

test('the address says whether the page stands in another one, and whether the opening example must be hidden', async () => {
  const classes = async search => {
    await opened(`http://page.test/${search}`);
    return ['embed', 'linked'].map(name => document.documentElement.classList.contains(name));
  };
  assert.deepEqual(await classes(''), [false, false]);
  assert.deepEqual(await classes('?embed=1'), [true, false]);
  assert.deepEqual(await classes('?embed=2'), [false, false]);
  for (const search of ['?text=x', '?tab=depth', '?family=base']) assert.deepEqual(await classes(search), [false, true], search);
  assert.deepEqual(await classes('?family=mini&layer=3'), [false, false]);
});

test('the theme chosen last time is there at once, but an address that names one has the last word', async () => {
  const now = async (...given) => {
    await opened(...given);
    return document.body.classList.contains('dark');
  };
  assert.equal(await now(), false);
  assert.equal(await now('http://page.test/', {theme: '"dark"'}), true);
  assert.equal(await now('http://page.test/', {theme: '"light"'}), false);
  assert.equal(await now('http://page.test/?__theme=light', {theme: '"dark"'}), false);
  assert.equal(await now('http://page.test/', {theme: '{broken'}), false);
});

test('a press of Ctrl+Enter before the Compare button is there waits for it, and is one press', async () => {
  await opened();
  const row = document.createElement('div'), pressed = [];
  row.innerHTML = '<div id="text-row"><div id="text"><textarea></textarea></div></div>';
  document.body.append(row);
  row.querySelector('textarea').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true}));
  await settled(5);
  const button = document.createElement('button');
  button.id = 'compare';
  button.addEventListener('click', () => pressed.push(1));
  row.append(button);
  await settled(20);
  row.append(document.createElement('p'));
  await settled(20);
  assert.ok(pressed.length >= 1, 'it was heard');
  const heard = pressed.length;
  row.append(document.createElement('p'));
  await settled(20);
  assert.equal(pressed.length, heard, 'and is over');
  row.remove();
});

test('paper is light where dark was chosen last time, too, and the page is dark again afterwards', async () => {
  await opened('http://page.test/', {theme: '"dark"'});
  await import('../../../assets/js/page/print.js');
  const isDark = async event => {
    dispatchEvent(new Event(event));
    await settled();
    return document.body.classList.contains('dark');
  };
  assert.deepEqual([await isDark('beforeprint'), await isDark('afterprint')], [false, true]);
  document.body.classList.remove('dark');   // Gradio, once it has mounted
  await settled();
  assert.equal(document.body.classList.contains('dark'), true);
});
