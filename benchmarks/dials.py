"""Redraw time of the page when a slider moves: temperature and depth."""

import statistics
from typing import TYPE_CHECKING

from benchmarks.start import PATIENCE_S, app, chromium, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Page

GOAL_MS = 100
SLIDERS = {
    "temperature": ("/?tab=distillation", "#ds-t", ".dc .fg .main-svg"),
    "depth": ("/?tab=depth", ".dd input[type=range]", ".dd .main-svg"),
}
"""For each slider: path of its tab, its selector, and its chart's selector."""
MOVE = """async ([selector, steps]) => {
  const slider = document.querySelector(selector), times = [];
  const [from, to] = [Number(slider.min), Number(slider.max)];
  for (let step = 0; step < steps; step++) {
    slider.value = from + (to - from) * step / (steps - 1);
    const started = performance.now();
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    await new Promise(requestAnimationFrame);
    document.body.getBoundingClientRect();
    times.push(performance.now() - started);
  }
  return times;
}"""
"""Script that returns the milliseconds from each move to the next frame after layout."""


def dials_report(steps: int = 20) -> str:
    """Time both sliders with their charts in view, on the page's opening text."""
    parts = []
    with app() as (url, _), chromium() as browser:
        wait_for(url)
        page = browser.new_page()
        for name, (path, slider, chart) in SLIDERS.items():
            page.goto(url + path)
            times = moved(page, slider, chart, steps)
            middle, worst = statistics.median(times), max(times)
            parts.append(f"{name} {middle:.0f} ms at the median, {worst:.0f} at most")
    return (
        f"drawn again after a slider's move ({steps} steps): {'; '.join(parts)}; goal {GOAL_MS}\n"
    )


def moved(page: "Page", slider: str, chart: str, steps: int) -> list[float]:
    """Return the milliseconds of each step of one slider."""
    page.wait_for_selector(slider, timeout=1e3 * PATIENCE_S)
    page.locator(chart).first.scroll_into_view_if_needed()
    page.wait_for_selector(chart, timeout=1e3 * PATIENCE_S)
    times: list[float] = page.evaluate(MOVE, [slider, steps])
    return times
