// Run all test files of the command line in one process, because loading the document takes far longer than most tests.
// Each file has its own modules and document; its changes to globals and its pending timers are undone before the next.
import * as dom from 'happy-dom';
import {register} from 'node:module';
import {describe, mock} from 'node:test';
import {pathToFileURL} from 'node:url';

register('./own_modules.js', import.meta.url);
const classes = Object.values(dom).filter(one => typeof one === 'function' && one.prototype).map(one => one.prototype);
const soon = setImmediate, START = {setTimeout, setInterval}, STOP = {setTimeout: clearTimeout, setInterval: clearInterval};

/** The current properties of an object, to be restored. */
function kept(owner) {
  const before = Object.getOwnPropertyDescriptors(owner);
  return () => {
    for (const name of Reflect.ownKeys(owner)) if (!(name in before)) Reflect.deleteProperty(owner, name);
    Object.defineProperties(owner, before);
  };
}

/** Timers from now on, to be cleared. */
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
