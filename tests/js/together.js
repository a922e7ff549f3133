// Every test file named on the command line, in this one process: to load the document takes far longer than most of the tests.
// Each file has modules and a document of its own; what it changed of the process and left to do is undone before the next.
import * as dom from 'happy-dom';
import {register} from 'node:module';
import {describe, mock} from 'node:test';
import {pathToFileURL} from 'node:url';

register('./own_modules.js', import.meta.url);
const classes = Object.values(dom).filter(one => typeof one === 'function' && one.prototype).map(one => one.prototype);
const soon = setImmediate, START = {setTimeout, setInterval}, STOP = {setTimeout: clearTimeout, setInterval: clearInterval};

/** What hangs on an object now, to be put back. */
function kept(owner) {
  const before = Object.getOwnPropertyDescriptors(owner);
  return () => {
    for (const name of Reflect.ownKeys(owner)) if (!(name in before)) Reflect.deleteProperty(owner, name);
    Object.defineProperties(owner, before);
  };
}

/** Timers from now on, to be stopped. */
function timed() {
  const stops = [];
  for (const [name, start] of Object.entries(START)) {
    globalThis[name] = (...given) => { const begun = start(...given); stops.push(() => STOP[name](begun)); return begun; };
  }
  return () => { for (const stop of stops) stop(); };
}

for (const [number, file] of process.argv.slice(2).entries()) {
  const back = [globalThis, ...classes].map(kept), stop = timed();
  await describe(file, async () => { await import(`${pathToFileURL(file)}?file=${number}`); });
  mock.timers.reset();
  mock.restoreAll();
  stop();
  await globalThis.document?.defaultView?.happyDOM?.abort();
  await new Promise(done => { soon(done); });
  for (const one of back) one();
}
