// The first picture lies over the page until Gradio has built it, then in its tab until that is
// drawn: it goes part by part.
// A classic script beside early.js: all of it has to work however late the modules come.
(() => {
  const NAME = 'explorer-first',
    LATE_MS = 8000,
    EMPTY_MS = 1000,
    CLICK_MS = 100;
  const page = document.documentElement;
  /** @type {(selector: string) => HTMLElement | null} */
  const find = selector => document.querySelector(selector);

  // its shadow root is there once the parser has read it
  /** @type {ElementInternals | null} */ let internals = null;
  /** @type {HTMLElement | null} */ let host = null;
  const placed = () => /** @type {HTMLElement} */ (host);
  const tabNode = () => document.getElementById(`tab-${placed().dataset.tab}`);
  customElements.define(
    NAME,
    class extends HTMLElement {
      connectedCallback() {
        if (host) return; // moved into its tab
        host = this;
        const theme = window.explorer.keptTheme?.();
        if (theme) this.dataset.theme = theme;
        internals = this.attachInternals();
        page.classList.add('covered');
        watch.observe(page, {
          childList: true,
          subtree: true,
          attributes: true,
          attributeFilter: ['class'],
        });
      }
    },
  );

  // What was typed goes on in the page's own box.
  document.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.target !== host)
      return;
    event.preventDefault();
    internals?.shadowRoot?.querySelector('form')?.requestSubmit();
  });
  // A question or a link that is pressed here leaves the page: what it still loads would delay the
  // answer.
  // Not once Gradio's client is there: it takes a stream that ends for a lost connection.
  let isStopped = false;
  /** @param {any} event */
  function stopLoading(event) {
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (
      window.explorer.hasAsked ||
      (event.type === 'click' && (isElsewhere || !event.target.closest('a')))
    )
      return;
    isStopped = true;
    // modules that are not fetched any more
    window.addEventListener('unhandledrejection', failed => failed.preventDefault());
    window.stop();
  }
  document.addEventListener('DOMContentLoaded', () => {
    for (const act of ['submit', 'click'])
      internals?.shadowRoot?.addEventListener(act, stopLoading);
  });
  window.addEventListener('pageshow', event => {
    if (event.persisted && isStopped) location.reload();
  });

  let isHandedOver = false;
  function handOver() {
    if (isHandedOver) return;
    isHandedOver = true;
    const inside = internals?.shadowRoot,
      own = inside?.querySelector('textarea'),
      box = /** @type {HTMLTextAreaElement | null} */ (find('#text textarea'));
    if (!own || !box) return;
    const {selectionStart, selectionEnd, value} = own,
      isFocused = inside?.activeElement === own;
    if (value !== own.defaultValue) {
      window.explorer.typed = box.value = value;
      box.dispatchEvent(new Event('input', {bubbles: true}));
    }
    if (!isFocused) return;
    box.focus({preventScroll: true});
    box.setSelectionRange(selectionStart, selectionEnd);
  }

  // Nothing moves under a pressed pointer: between its two ends another element would come below
  // it, and no click.
  let isPressed = false,
    releasing = 0;
  /** @type {(() => void)[]} */ const waiting = [];
  const onceReleased = (/** @type {() => void} */ act) => {
    if (isPressed) waiting.push(act);
    else act();
  };
  window.addEventListener(
    'pointerdown',
    event => {
      if (event.button || !event.isPrimary) return;
      clearTimeout(releasing);
      releasing = 0;
      isPressed = true;
    },
    true,
  );
  const release = (/** @type {any} */ event) => {
    if (!isPressed || event.buttons || (event.type === 'blur' && event.target !== window)) return;
    releasing ||= setTimeout(() => {
      // a finger's click comes after it
      releasing = 0;
      isPressed = false;
      for (const act of waiting.splice(0)) act();
    }, CLICK_MS);
  };
  // A scroll bar, a menu or another window may keep the end of a press to itself.
  for (const end of ['pointerup', 'pointercancel', 'pointermove', 'blur'])
    window.addEventListener(end, release, true);

  // 0: nothing else is there; 1: Gradio has built the page below; 2: the picture alone is left, in
  // its tab
  let stage = 0;
  function built() {
    stage = 1;
    placed().dataset.through = '';
    for (const act of ['pointerdown', 'focusin'])
      document.addEventListener(
        act,
        event => {
          if (event.target !== host) {
            handOver();
            onceReleased(uncover);
          }
        },
        {capture: true, once: true},
      );
    setTimeout(uncover, LATE_MS); // its modules may never come
  }
  function uncover() {
    if (stage !== 1) return;
    stage = 2;
    handOver();
    page.classList.remove('covered');
    const tab = tabNode()?.querySelector(':scope > .column');
    if (!tab?.getClientRects().length) {
      leave();
      return;
    }
    placed().dataset.part = 'picture';
    delete placed().dataset.through;
    tab.classList.add('first-there');
    tab.prepend(placed()); // Gradio may put the rest before it: its place is by the style sheet
  }
  function leave() {
    if (stage !== 2) return;
    stage = 3;
    watch.disconnect();
    page.classList.remove('covered');
    placed().parentElement?.classList.remove('first-there');
    placed().remove();
  }

  /** Whether the tab has drawn what takes the picture's place. */
  function isDrawn() {
    const tab = tabNode(),
      canvas = tab?.querySelector('.canvas');
    if (canvas && !canvas.closest('.fold, .detail')) return Boolean(canvas.firstChild);
    return (
      Boolean(tab?.querySelector('.finding')) &&
      settingsIn(tab) === settingsIn(internals?.shadowRoot)
    );
  }
  // of Latency: a link's come after the first answer
  const settingsIn = (/** @type {ParentNode | null | undefined} */ place) =>
    place?.querySelector('.settings-said')?.textContent;
  let leaving = 0;
  const watch = new MutationObserver(() => {
    if (stage === 0 && find('#compare') && find('#text textarea') && tabNode()) built();
    if (stage === 1 && find('#words .canvas > *') && tabNode()?.getClientRects().length)
      onceReleased(uncover);
    if (stage < 2 || stage > 2 || page.classList.contains('linked')) return;
    if (isDrawn()) onceReleased(leave);
    // nothing is to be drawn there
    else leaving ||= setTimeout(() => onceReleased(leave), EMPTY_MS);
  });
  document.addEventListener(
    'click',
    event => {
      if (event.target instanceof Element && event.target.closest('#tabs [role=tab]')) leave();
    },
    true,
  );
})();
