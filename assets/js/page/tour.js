// The tour: one view after another, a sentence for each, and the place lit that it speaks of.
import {closest, say, the} from '../kit/dom.js';
import {opened} from './parts.js';
import {config, listen, withState} from './here.js';
import {address, light, openView} from './stop.js';

let at = -1; // the stop that is shown, counted from 0; none

const bar = () => the(document, '#tour .tour');
const stops = () => /** @type {HTMLElement[]} */ ([...bar().querySelectorAll('li')]);

/**
 * The fields of the view that a stop is a link to.
 * @param {HTMLElement} stop
 * @returns {Record<string, string>}
 */
function viewOf(stop) {
  const {
    tour: _tour,
    v: _v,
    ...view
  } = Object.fromEntries(
    new URL(the(stop, 'a').getAttribute('href') ?? '', location.href).searchParams,
  );
  return view;
}

/**
 * Show a stop.
 * @param {number} to counted from 0
 * @param {boolean} isThere whether the page has opened on its link
 */
export function show(to, isThere = false) {
  const all = stops();
  at = Math.min(all.length - 1, Math.max(0, to));
  all.forEach((stop, i) => {
    stop.hidden = i !== at;
  });
  the(bar(), '.tour-count').textContent = say(bar().dataset.count ?? '', {
    i: at + 1,
    n: all.length,
  });
  /** @type {HTMLButtonElement} */ (the(bar(), '[data-step="-1"]')).disabled = at === 0;
  /** @type {HTMLButtonElement} */ (the(bar(), '[data-step="1"]')).disabled = at === all.length - 1;
  bar().hidden = false;
  document.documentElement.classList.add('touring');
  address({tour: all[at].dataset.number ?? null});
  if (!isThere) openView(viewOf(all[at]));
  light(all[at].dataset.lit ?? '', () => bar().offsetHeight);
}

// A reader who opens another tab has left the tour: its sentence would speak of what is not there.
listen(state => {
  if (at >= 0 && state.tab !== viewOf(stops()[at]).tab) leave();
});

/**
 * Whether a view is the one that a stop is a link to.
 * @param {Record<string, string>} view
 * @param {HTMLElement} stop
 */
function isOf(view, stop) {
  const {defaults} = config();
  return Object.entries({text: defaults.text, ...viewOf(stop)}).every(
    ([name, value]) => (view[name] ?? defaults[name] ?? '') === value,
  );
}

// Back within the tour: before the page follows, which would leave a tour that is still at another
// tab's stop.
window.addEventListener(
  'popstate',
  event => {
    const view = event.state?.view,
      all = at < 0 || !view ? [] : stops();
    const near = [...all.keys()]
      .toSorted((a, b) => Math.abs(a - at) - Math.abs(b - at))
      .find(i => isOf(view, all[i]));
    if (near !== undefined && near !== at) show(near, true);
  },
  {capture: true},
);

function leave() {
  at = -1;
  light('');
  bar().hidden = true;
  document.documentElement.classList.remove('touring');
  address({tour: null});
}

/** Larger type, and nothing but the box, the tab and its picture. */
function project(isOn = document.documentElement.classList.toggle('projector')) {
  document.documentElement.classList.toggle('projector', isOn);
  for (const button of document.querySelectorAll('[data-project]'))
    button.setAttribute('aria-pressed', String(isOn));
  address({projector: isOn ? '1' : null});
}

/** What a click on the page asks of the tour. @param {Event} event */
function hear(event) {
  const step = closest(event, '#tour [data-step]'),
    link = closest(event, '#tour a');
  if (step) show(at + Number(step.dataset.step));
  if (closest(event, '#tour-start')) {
    show(Math.max(0, at));
    the(bar(), '[data-step="1"]').focus();
  }
  if (closest(event, '#tour-end, [data-lessons]')) leave();
  if (closest(event, '[data-project]')) project();
  if (
    link &&
    !(/** @type {MouseEvent} */ (event).ctrlKey || /** @type {MouseEvent} */ (event).metaKey)
  ) {
    event.preventDefault();
    show(at);
  }
}

/** @param {Event | null} event the click that asked for this module; none where the address did */
export function begin(event) {
  document.addEventListener('click', hear);
  if (event) hear(event);
  const {tour, tab, fold = ''} = Object.fromEntries(new URL(location.href).searchParams);
  /** Whether the link names the tab and the fold of a stop. @param {HTMLElement} stop */
  const names = stop =>
    viewOf(stop).tab === tab && (!viewOf(stop).fold || fold.split(',').includes(viewOf(stop).fold));
  /**
   * Show the stop of the link's number; a number that the tour no longer has is that of a view,
   * which the link opens.
   */
  const start = () => {
    const i = stops().findIndex(stop => stop.dataset.number === tour);
    if (i >= 0) show(i, names(stops()[i]));
  };
  // After the page has opened on its link, which waits for both as well: where this module came
  // from the cache it was first.
  if (tour && !event) new Promise(withState).then(() => opened).then(start);
}
document.addEventListener('keydown', event => {
  if (at < 0 && event.key === 'Escape' && document.documentElement.classList.contains('projector'))
    project(false);
  if (
    at < 0 ||
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    event.defaultPrevented ||
    closest(event, 'input, textarea, select, [role=tablist], [data-rove], canvas, [popover]')
  )
    return;
  const step = {ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1}[event.key];
  if (event.key === 'Escape') leave();
  else if (step) {
    event.preventDefault();
    show(at + step);
  }
});
