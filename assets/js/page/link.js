// The link to this view: copied, as a QR code, inside another page; and the whole tab as a file.
import {copied} from '../kit/clipboard.js';
import {make, say, sayFor} from '../kit/dom.js';
import {linkNow, linkOf} from './here.js';

let watching = false;
const FRAME = 'bert-family-explorer'; // what a message about the height calls itself
const SAID_MS = 4000;

const LOCAL = /^(localhost|127(\.\d+){3}|\[::1\])$/; // every machine calls itself so

/** What a link to this machine's own address does not do. @param {Record<string, string>} texts */
const reach = texts =>
  LOCAL.test(linkNow().hostname)
    ? make('p', {class: 'note reach'}, say(texts.local, {host: linkNow().host}))
    : '';

/** Whether this page is shown inside another one, cut down to its picture. */
export const embedded = () => document.documentElement.classList.contains('embed');

/**
 * Lines for another page: a frame that is as high as what it shows.
 * @param {string} link
 * @param {string} title
 */
export function frameFor(link, title) {
  const url = new URL(link);
  url.searchParams.set('embed', '1');
  /** @param {string} text */
  const quoted = text =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  const named = `src="${quoted(url.href)}" title="${quoted(title)}"`,
    looks = 'width="100%" height="640" style="border:0" allow="clipboard-write" loading="lazy"',
    isItsOwn = `e.source === f.contentWindow && e.data?.type === '${FRAME}'`;
  return `<iframe ${named} ${looks}></iframe>
<script>addEventListener('message', e => { for (const f of document.getElementsByTagName('iframe'))
  if (${isItsOwn}) f.height = e.data.height; });</script>`;
}

/**
 * @param {HTMLElement} root
 * @param {import('./state.js').State} state
 * @param {Record<string, string>} texts
 * @param {(tab: string) => Promise<void>} saveTab
 */
export function drawLink(root, state, texts, saveTab) {
  root.classList.toggle('waiting', state.heard !== state.number);
  if (embedded()) {
    root.replaceChildren(
      make('a', {href: linkNow().href, target: '_blank', class: 'full-view'}, texts.full_view),
    );
    return;
  }
  const {fits, length} = linkOf(),
    note = () => (fits ? '' : say(texts.no_room, {length, longest: state.config.longest}));
  const field = make('input', {
    type: 'text',
    readonly: true,
    'aria-label': texts.label,
    value: linkNow().href,
  });
  const status = make('span', {role: 'status', class: 'hint', text: note()});
  /** @param {string} text */
  const tell = text => sayFor(status, text, SAID_MS, note());
  /** @param {string} text @param {() => void} press */
  const button = (text, press) => {
    const node = make('button', {type: 'button', class: 'chip', text});
    node.addEventListener('click', press);
    return node;
  };
  /** @param {() => string} what @param {string} done */
  const copy = (what, done) => async () => {
    field.value = linkNow().href;
    field.select();
    tell((await copied(what(), field)) ? done : texts.press);
  };
  const save = button(texts.save_tab, () =>
    saveTab(state.tab).catch(error => {
      tell(texts.not_taken);
      reportError(error);
    }),
  );
  if (!fits) {
    root.replaceChildren(status, save);
    return;
  }
  root.replaceChildren(
    button(
      texts.copy,
      copy(() => linkNow().href, texts.copied),
    ),
    field,
    code(texts),
    button(
      texts.embed,
      copy(() => frameFor(linkNow().href, texts.title), texts.embed_copied),
    ),
    save,
    status,
    reach(texts),
  );
}

/** The link as a QR code, drawn when it is asked for. @param {Record<string, string>} texts */
function code(texts) {
  const list = make('div', {class: 'take-list'}),
    menu = make('details', {class: 'take qr'}, make('summary', {class: 'chip'}, texts.qr), list);
  menu.addEventListener('toggle', () => {
    if (!menu.open) return;
    const src = `qr?${new URLSearchParams({link: linkNow().href})}`;
    list.replaceChildren(
      make('img', {src, alt: texts.qr_alt, width: 220, height: 220}),
      make('a', {href: src, download: 'link.svg'}, texts.qr_save),
      reach(texts),
    );
  });
  return menu;
}

/** Keeps a page around this one informed of how high this is. */
export function postHeight() {
  if (window.parent === window) return;
  if (watching) return;
  watching = true;
  let last = 0;
  const post = () => {
    const end = document.querySelector('#link'),
      height = end ? Math.ceil(end.getBoundingClientRect().bottom + scrollY) + 12 : 0;
    if (!height || height === last) return;
    last = height;
    window.parent.postMessage({type: FRAME, height}, '*');
  };
  const watch = new ResizeObserver(post);
  for (const part of document.querySelectorAll('main, #tabs, #status, #link')) watch.observe(part);
}

const NAME = /^[a-z_]+$/; // of a tab or a fold; a link may hold anything

/**
 * Only what was chosen stays in sight: the tab's headline, or its open folds.
 * @param {Record<string, string>} chosen
 */
export function cutDown({tab, fold}) {
  const sheet = new CSSStyleSheet(),
    names = fold?.split(',') ?? [],
    kept = `:is(${names.map(name => `#fold-${tab}-${name}, #part-${tab}-${name}`).join(', ')})`;
  sheet.replaceSync(
    names.length && [tab, ...names].every(name => NAME.test(name ?? ''))
      ? `.embed .fold:not(${kept}), .embed #tab-${tab} :is(.block, .row, button)` +
          `:not(${kept}):not(:has(${kept})):not(${kept} *) { display: none !important; }`
      : '.embed .fold { display: none !important; }',
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
