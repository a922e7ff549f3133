// The one classic script: what has to be there before Gradio's client asks its first question.

// Gradio (6.31.0) can lose an event. If its answer to `queue/join` overtakes the end of the
// session's event stream, the client takes that stream for open, never opens another, and every
// later press of the same button waits behind the lost one. So the answer is held here until the
// stream has named the event, which it does at once, or has ended; at the longest for HELD_MS,
// because
// a stream may stay open and never name it, as after a move to another server process.
(() => {
  const ask = window.fetch.bind(window);
  const ID = /"event_id":\s*"(\w+)"/g;
  const LONGEST = 100; // characters that an id may be cut across two chunks
  const HELD_MS = 5000;
  /** @typedef {{ids: Set<string>, ended: boolean, waiting: (() => void)[]}} Stream */
  /** @type {Stream | null} */
  let stream = null; // the newest event stream: the ids it has named, whether it has ended

  /** @param {Promise<Response>} request */
  function listen(request) {
    /** @type {Stream} */
    const mine = {ids: new Set(), ended: false, waiting: []};
    stream = mine;
    const tell = () => mine.waiting.splice(0).forEach(look => look());
    const end = () => {
      mine.ended = true;
      setTimeout(tell, 0);
    }; // the client reads the end first
    const decoder = new TextDecoder();
    let tail = '';
    const ear = new TransformStream({
      transform(chunk, out) {
        out.enqueue(chunk);
        const text = tail + decoder.decode(chunk, {stream: true});
        for (const [, id] of text.matchAll(ID)) mine.ids.add(id);
        tail = text.slice(-LONGEST);
        tell();
      },
    });
    return request.then(
      response => {
        response.body?.pipeTo(ear.writable).then(end, end);
        return new Response(ear.readable, response);
      },
      failure => {
        end();
        throw failure;
      },
    );
  }

  /** @type {(heard: Stream, id: string) => Promise<void>} */
  const spokenOf = (heard, id) =>
    new Promise(done => {
      const timer = setTimeout(done, HELD_MS);
      const look = () => {
        if (!heard.ended && !heard.ids.has(id)) return void heard.waiting.push(look);
        clearTimeout(timer);
        done();
      };
      look();
    });

  window.fetch = async (resource, options) => {
    window.explorer.hasAsked = true;
    const url = resource instanceof Request ? resource.url : String(resource);
    if (url.includes('/queue/data?')) return listen(ask(resource, options));
    const answer = await ask(resource, options);
    if (url.includes('/queue/join') && answer.ok && stream) {
      await spokenOf(stream, (await answer.clone().json()).event_id);
    }
    return answer;
  };
})();

// Gradio (6.31.0) goes on counting the seconds of its first "Loading..." in every frame after that
// has
// gone, so an open page would never rest. The counting ends as soon as no progress is shown.
(() => {
  const next = window.requestAnimationFrame.bind(window);
  const LONGEST = 100; // characters of the function that counts
  const counts = (/** @type {string} */ source) =>
    source.length < LONGEST && /performance\.now\(\).*\/1e3/.test(source);
  const isShown = () => document.querySelector('[data-testid=status-tracker]:not(.hide)');
  window.requestAnimationFrame = callback =>
    counts(String(callback))
      ? next(time => {
          if (isShown()) callback(time);
        })
      : next(callback);
})();

// Gradio (6.31.0) closes its streams on `beforeunload`, long before the page is left: until a slow
// page answers, or where a download answers, it says "connection lost" and then loads the page
// again, which cancels the reader's way out. A page that is left closes its connections itself.
window.addEventListener('beforeunload', event => event.stopImmediatePropagation());

// A component may be there before the modules are: its picture, or what it tells, waits in line.
window.explorer = {
  waiting: [],
  mount(...args) {
    this.waiting.push(args);
  },
  told: [],
  tell(...message) {
    this.told.push(message);
  },
};

// The box can be typed in before any module is there; what stands in it then is the reader's, not
// the link's.
document.addEventListener(
  'input',
  event => {
    const box = /** @type {any} */ (event.target);
    if (box.matches?.('#text textarea')) window.explorer.typed = box.value;
  },
  true,
);

// Enter compares, Shift+Enter ends the line: Gradio's box does both by itself; with Ctrl or Cmd the
// box and those of a pair do here.
document.addEventListener('keydown', event => {
  const box = /** @type {any} */ (event.target),
    isOwn = box.matches?.('#text textarea');
  if (
    event.key !== 'Enter' ||
    event.isComposing ||
    event.shiftKey ||
    !box.matches?.('#text-row textarea')
  )
    return;
  if (isOwn && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  compareWhenThere();
});

/** The box may be there before its button: then the press waits for that. */
function compareWhenThere() {
  const button = () =>
    /** @type {HTMLElement | null} */ (document.querySelector('button#compare, #compare button'));
  const there = button();
  if (there) {
    there.click();
    return;
  }
  const watch = new MutationObserver(() => {
    if (!button()) return;
    watch.disconnect();
    setTimeout(() => button()?.click(), 0); // it listens once Gradio is through with it
  });
  watch.observe(document.body, {childList: true, subtree: true});
}

// The page is English. Gradio would set `lang`, and write its own labels, in the browser's
// language.
Object.defineProperty(window.navigator, 'language', {value: 'en', configurable: true});
Object.defineProperty(window.navigator, 'languages', {value: ['en'], configurable: true});

// Inside another page only the picture stays; for a projector the box, the tab and its picture,
// larger.
for (const mode of ['embed', 'projector'])
  document.documentElement.classList.toggle(
    mode,
    new URL(location.href).searchParams.get(mode) === '1',
  );

// A link to something else than the opening example must not show that example first.
(() => {
  const param = (/** @type {string} */ name) => new URL(location.href).searchParams.get(name);
  const linked =
    param('text') ||
    param('z') ||
    param('tab') ||
    (param('family') || 'mini') !== 'mini' ||
    ['bert', 'distilbert', 'albert'].some(param);
  document.documentElement.classList.toggle('linked', Boolean(linked));
})();

// The theme that was chosen last time stays, from the first paint on, unless the address names one
// (Gradio asks only the system, and sets its own once it has mounted).
(() => {
  const named = new URL(location.href).searchParams.get('__theme');
  window.explorer.keptTheme = () => {
    if (named) return '';
    try {
      return String(JSON.parse(localStorage.getItem('explorer-theme') ?? 'null') ?? '');
    } catch {
      return '';
    }
  };
  const keep = () => {
    if (window.explorer.isOtherTheme) return;
    const theme = window.explorer.keptTheme?.(),
      isDark = document.body.classList.contains('dark');
    if (theme && isDark !== (theme === 'dark'))
      document.body.classList.toggle('dark', theme === 'dark');
  };
  keep();
  new MutationObserver(keep).observe(document.body, {attributes: true, attributeFilter: ['class']});
})();
