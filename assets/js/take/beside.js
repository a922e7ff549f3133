// What stands beside a picture on the page: its question, its finding, and the notes that say what
// its signs mean.
const PLACES = '.fold, .part, .taken-fold, [id^="tab-"]',
  PICTURES = '.canvas, .drawn',
  ENDS = `${PICTURES}, h3`;
const FINDINGS = '.finding, .fold-finding, .settings-said',
  AROUND = `${FINDINGS}, .note, ${ENDS}`,
  UNSAID = '.live-only, .how, .sr-only, [hidden], details > :not(summary)';

/** @typedef {{title: string, above: string[], below: string[]}} Beside */

/** The words of a sentence without what only the page can do. @param {Element} node */
function wordsOf(node) {
  const copy = /** @type {Element} */ (node.cloneNode(true));
  copy.querySelectorAll(UNSAID).forEach(node => node.remove());
  return copy.textContent.replace(/\s+/g, ' ').trim();
}

/** @param {Element[]} nodes @param {string} kind */
const sentencesOf = (nodes, kind) =>
  nodes
    .filter(node => node.matches(kind))
    .map(wordsOf)
    .filter(Boolean);

/**
 * Notes: what only names something that can be opened has no full stop.
 * @param {Element[]} nodes
 */
const notesOf = nodes => sentencesOf(nodes, '.note').filter(sentence => sentence.endsWith('.'));

/** The title of a fold or of a part, else the question of the tab. @param {Element} place */
function questionOf(place) {
  const parts = [...document.querySelectorAll('.part-tab')];
  const named =
    place.querySelector(':scope > button.label-wrap > span:first-child') ??
    parts.find(tab => tab.getAttribute('aria-controls') === place.id);
  return (
    (
      named ??
      place.querySelector('.question h2') ??
      document.querySelector('body.taken h1')
    )?.textContent.trim() ?? ''
  );
}

/**
 * What is said around a picture, in the order of the page; of what links elsewhere nothing.
 * @param {Element} place
 * @param {Element} picture
 */
function saidIn(place, picture) {
  const all = [...place.querySelectorAll(AROUND)].filter(
    node =>
      node === picture ||
      (node.closest(PLACES) === place &&
        node.getClientRects().length &&
        !node.parentElement?.closest(PICTURES) &&
        !node.matches(UNSAID) &&
        !node.querySelector('a[data-fold]')),
  );
  const at = all.indexOf(picture);
  return {before: all.slice(0, at), after: all.slice(at + 1)};
}

/** @param {Element} root @returns {Beside} */
export function beside(root) {
  const place = root.closest(PLACES),
    picture = root.closest(PICTURES) ?? root;
  if (!place) return {title: '', above: [], below: []};
  // of a picture: what stands beside it there
  const part = picture !== root && root.parentElement?.querySelector(':scope > h3');
  if (part)
    return {
      title: wordsOf(part),
      above: [],
      below: notesOf([
        ...(root.parentElement?.querySelectorAll(':scope > .note, :scope > div > .note') ?? []),
      ]),
    };
  const {before, after} = saidIn(place, picture),
    heading = before.findLast(node => node.matches('h3'));
  const own = before.slice(before.findLastIndex(node => node.matches(ENDS)) + 1),
    end = after.findIndex(node => node.matches(ENDS));
  return {
    title: heading ? wordsOf(heading) : questionOf(place),
    above: sentencesOf(own, FINDINGS),
    below: notesOf([...own, ...(end < 0 ? after : after.slice(0, end))]),
  };
}
