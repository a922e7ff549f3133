"""Back and Forward, in any order with all else: address, page and a fresh browser show the same."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from tests.waiting import until

pytestmark = pytest.mark.browser
TEXTS = ("The sky is [MASK].", "He sat by the [MASK] and [MASK].", "A plain sentence.", "[MASK]")
FOLDS = {
    "predictions": ("words",),
    "attention": ("summary",),
    "layer": ("steps",),
    "depth": ("moves", "patching"),
    "distillation": ("losses",),
    "tasks": ("tuned", "pairs"),
    "parameters": ("sizes", "memory"),
    "claims": ("scores",),
}
CONTROLS = (
    ".ds-control :is(button, input), .ds-listed select, .pr-control input, .aw-bar :is(button, select, input),"
    ".dp-place-of input, .dp-place-of button:not(.modebar-btn), .ly-controls select, .pm-switch button"
)
SEEN = """() => {
  const inSight = selector => [...document.querySelectorAll(selector)].filter(one => one.getClientRects().length);
  const tab = document.querySelector('#tabs [role=tab][aria-selected=true]')?.dataset.tabId, place = `#tab-${tab} `;
  const opened = '.fold:has(> button.label-wrap.open) ', values = one => [one.getAttribute('aria-label') ?? one.id, one.value];
  return {
    tab,
    text: document.querySelector('#text textarea').value,
    boxes: inSight(place + 'textarea').map(one => one.value),
    folds: inSight('.fold').filter(one => one.querySelector('button.label-wrap.open')).map(one => one.id).sort(),
    part: inSight('.part-tab[aria-selected=true]').map(one => one.id),
    dials: inSight(place + ':is(input[type=range], select)').map(values),
    pressed: inSight(place + '[aria-pressed=true]:not(.aw-kind)').map(one => one.textContent),
    said: inSight(place + ':is(.finding, .canvas, .drawn)').map(one => {
      const copy = one.cloneNode(true);
      copy.querySelectorAll('svg, .fg, .take, [role=status], .sr-only').forEach(part => part.remove());
      return copy.textContent.replace(/\\s+/g, ' ');
    }),
    awaited: [
      ...document.querySelectorAll('[data-testid=status-tracker]:not(.hide)'),
      ...inSight(place + opened + ':is(.canvas, .drawn):not([data-empty], [data-kind="depth/patching"]):empty'),
      ...document.querySelectorAll('#standing p:not([hidden])'),
      ...[...document.querySelectorAll(place + '> *')].filter(one => getComputedStyle(one).visibility === 'hidden'),
    ].map(one => one.outerHTML.slice(0, 200)),
  };
}"""
"""Everything that a view decides, in words; `awaited`: what is not at rest yet."""
COUNT = """window.pushed = 0;
window.due = new Set();
const push = history.pushState, later = window.setTimeout, clear = window.clearTimeout, ask = window.fetch;
history.pushState = function (...given) { window.pushed += 1; return push.apply(this, given); };
window.setTimeout = (act, ms = 0, ...given) => {
  const id = later(() => { try { act(...given); } finally { window.due.delete(id); } }, ms);
  if (ms <= 500 && new Error().stack.includes('/js/')) window.due.add(id);
  return id;
};
window.clearTimeout = id => { window.due.delete(id); clear(id); };
window.fetch = (...given) => {
  const asked = ask(...given);
  window.due.add(asked);
  const end = () => window.due.delete(asked);
  asked.then(end, end);
  return asked;
};"""
"""Counts the places of the history, and keeps what is due: the page's timers and its requests."""
RESTS = """async () => {
  const once = () => new Promise(done => requestIdleCallback(() => requestAnimationFrame(() => done())));
  for (let n = 0; n < 3; n += 1) await once();
  return window.due.size === 0;
}"""
"""Whether nothing is due after the page has had nothing to do three times."""


def shown(page) -> dict[str, Any]:
    """Return what the page shows once it is at rest."""

    def at_rest():
        before = page.evaluate(SEEN)
        if not page.evaluate(RESTS):  # a dial asks, and its address is written, after a moment
            return None
        after = page.evaluate(SEEN)
        return after if before == after and not after["awaited"] and any(after["said"]) else None

    return until(at_rest, 300, lambda: f"{page.url}: {page.evaluate(SEEN)}")


def view(page) -> dict[str, Any]:
    """Return the fields of the address, and what is shown."""
    seen = shown(page)
    fields = dict(parse_qsl(urlsplit(page.url).query))
    return {**seen, "address": {name: fields[name] for name in fields if name != "__theme"}}


@dataclass
class Walk:
    """A reader who presses things, and what each place of the browser's history showed last."""

    page: Any
    fresh: Any
    places: list[dict[str, Any]] = field(default_factory=list)
    at: int = 0
    steps: list[str] = field(default_factory=list)

    def begin(self):
        expect(self.page.locator(".status")).to_contain_text("mini-albert")
        self.places = [view(self.page)]

    def take(self, step, n):
        """Take one step; a place that is come back to shows what it showed when it was left."""
        told = getattr(self, step)(n)
        if told is None:
            return
        self.steps.append(f"{step} {told}")
        self.page.mouse.move(2, 2)  # what the pointer rests on is looked at
        now = view(self.page)
        if step in ("back", "forward", "reload"):
            self.compare_views(now, self.places[self.at])
            return
        pushed = self.page.evaluate(
            "() => { const n = window.pushed; window.pushed = 0; return n; }"
        )
        assert pushed < 2, f"{pushed} places for one step: {self.steps[-8:]}"
        self.at += pushed
        self.places[self.at :] = [now] if pushed else [now, *self.places[self.at + 1 :]]

    def compare_fresh(self):
        """A browser that knows nothing but the address shows the same."""
        self.fresh.goto(self.page.url, wait_until="domcontentloaded")
        expect(self.fresh.locator(".status")).to_contain_text("mini-albert")
        self.steps.append("fresh")
        self.compare_views(view(self.fresh), self.places[self.at])

    def compare_views(self, now, then):
        for name in now:
            assert now[name] == then[name], f"{name} after {self.steps[-12:]}"

    def in_sight(self, selector):
        return [one for one in self.page.locator(selector).all() if one.is_visible()]

    @property
    def tab_now(self):
        return self.page.evaluate(SEEN)["tab"]

    def tab(self, n):
        tab = list(FOLDS)[n % len(FOLDS)]
        self.page.locator(f"#tab-{tab}-button").click()
        return tab

    def fold(self, n):
        names = FOLDS[self.tab_now]
        selector = f"#fold-{self.tab_now}-{names[n % len(names)]} > button.label-wrap"
        for header in self.in_sight(selector):
            header.click()
            return names[n % len(names)]
        return None

    def part(self, n):
        if not (parts := self.in_sight(".part-tab")):
            return None
        parts[n % len(parts)].click()
        return n % len(parts)

    def control(self, n):
        if not (controls := self.in_sight(f"#tab-{self.tab_now} :is({CONTROLS})")):
            return None
        one = controls[n % len(controls)]
        if one.is_disabled():
            return None
        name = one.evaluate("e => `${e.tagName} ${e.ariaLabel || e.id || e.textContent}`")
        if name.startswith("INPUT"):
            one.focus()
            for _ in range(1 + n % 4):
                self.page.keyboard.press("ArrowRight" if n % 2 else "ArrowLeft")
        elif name.startswith("SELECT"):
            one.select_option(index=n % one.locator("option").count())
        else:
            one.click()
        return name

    def compare(self, n):
        text = TEXTS[n % len(TEXTS)]
        self.page.locator("#text textarea").fill(text)
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            "text => new URLSearchParams(location.search).get('text') === text", arg=text
        )
        return text

    def back(self, _n):
        return self.walked(-1) if self.at else None

    def forward(self, _n):
        return self.walked(1) if self.at + 1 < len(self.places) else None

    def walked(self, step):
        """Wait for the browser, whose Back comes later, and not for the page."""
        self.at += step
        self.page.evaluate(
            "step => new Promise(done => { addEventListener('popstate', () => done(), {once: true}); history.go(step); })",
            step,
        )
        return ""

    def reload(self, _n):
        self.page.reload(wait_until="domcontentloaded")
        expect(self.page.locator(".status")).to_contain_text("mini-albert")
        return ""


STEPS = [*["tab", "fold", "control", "back"] * 4, *["forward", "part", "compare"] * 3, "reload"]


def walk(page_at, **chosen):
    page, fresh = page_at(None), page_at(None)
    for one in (page, fresh):
        one.add_init_script(COUNT)
    page.goto(f"{page.guard.home}/?v=1&family=mini", wait_until="domcontentloaded")
    reader = Walk(page, fresh)
    reader.begin()

    @settings(
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        **chosen,
    )
    @given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 99)), min_size=8, max_size=8))
    def go(steps):
        for step, n in steps:
            reader.take(step, n)
        reader.compare_fresh()

    go()


def test_back_forward_and_a_fresh_browser_show_what_was(page_at):
    walk(page_at, max_examples=4, derandomize=True)


@pytest.mark.slow
def test_any_other_walk_is_found_again_too(page_at):
    walk(page_at, max_examples=40)
