"""Measure the head wall at full size: ``python tests/benchmarks/measure_attention_wall.py [--tokens 64]``.

Random attention in the shapes of the base family (12 + 6 + 12 layers of 12 heads) is drawn in a real
Chromium from a page without a server. Prints payload bytes and milliseconds; a busy machine inflates
the median, so the limit is held against the best of the repeats.
"""

import argparse
import json
import shutil
import statistics
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from explorer.analysis.attention import WordHeads, head_statistics, word_heads  # noqa: E402
from explorer.models.run import Run  # noqa: E402
from explorer.models.specs import BASE  # noqa: E402
from explorer.models.tokens import Tokens, split_words  # noqa: E402
from explorer.ui.attention import strings  # noqa: E402
from explorer.views.attention import attention_wall_canvas, exact_heads_canvas  # noqa: E402
from explorer.views.markup import script_json  # noqa: E402

HOME = "http://wall.test/"
LIMIT_BYTES, LIMIT_MS, REPEATS = 2_000_000, 100, 15
DRAW = """async data => {
  const root = document.querySelector('.canvas'), view = await import('/attention/wall.js');
  await view.show(root, JSON.parse(data), {dark: false, ask() {}, asks: () => Promise.reject()});
  const wall = (await import('/attention/heads.js')).onPage.wall, ms = {};
  const pixel = () => wall.base.getContext('2d').getImageData(40, 60, 1, 1).data[0];  // waits for the drawing
  const time = (name, act) => {
    const all = [];
    for (let i = 0; i < REPEATS; i++) { const t = performance.now(); act(i); pixel(); all.push(performance.now() - t); }
    all.sort((a, b) => a - b); ms[name] = {median: all[REPEATS >> 1], best: all[0]};
  };
  const head = (i, m = 0) => ({m, i, layer: Math.floor(i / 12), head: i % 12});
  time('redraw', () => wall.drawBase());
  time('theme', () => { wall.colour(); wall.drawBase(); });
  time('word', i => wall.lightWord(i + 1));
  wall.lightWord(null);
  time('hover', i => wall.preview(head(i + 20)));
  time('lock', i => wall.keep(head(i + 40, 2)));
  for (const order of ['entropy', 'kind', 'alike', 'place']) time(order, () => { wall.order = order; wall.layout(); });
  return ms;
}""".replace("REPEATS", str(REPEATS))


def random_run(key: str, n_tokens: int, seed: int) -> Run:
    """Return a run with softmax attention of normal scores, without a network."""
    rng, spec = np.random.default_rng(seed), BASE[key]
    shape = spec.architecture
    scores = rng.normal(0, 2, (shape.n_layers, shape.n_heads, n_tokens, n_tokens))
    attention = np.exp(scores)
    attention = (attention / attention.sum(-1, keepdims=True)).astype(np.float32)
    text = " ".join(f"w{i:02}" for i in range(n_tokens - 2))
    words = split_words(text)
    ends = ((0, 0),)
    tokens = Tokens(
        text,
        tuple(range(n_tokens)),
        ("[CLS]", *(w.text for w in words), "[SEP]"),
        ends + tuple((w.start, w.end) for w in words) + ends,
        (True, *(False for _ in words), True),
        (0,) * n_tokens,
        words,
        (-1, *range(len(words)), -1),
        (),
        (-1, *range(len(words)), -1),
    )
    hidden = np.zeros((shape.n_layers + 1, n_tokens, 1), np.float32)
    return Run(
        spec, tokens, hidden, attention, np.zeros((0, 1), np.float32), (), 0, "cpu", "float32"
    )


def payload(runs: dict[str, Run]) -> tuple[str, float]:
    """Return the wall's JSON and the milliseconds to build it from the runs."""
    start = time.perf_counter()
    heads: WordHeads = word_heads(runs)
    statistics_ = {k: head_statistics(a, heads.alignment) for k, a in heads.attention.items()}
    data = attention_wall_canvas(runs, heads, statistics_, {}, strings.CANVAS)
    return data, 1000 * (time.perf_counter() - start)


def page_html() -> str:
    """Return a page with the explorer's styles around one empty canvas."""
    styles = sorted((ROOT / "assets" / "css").glob("*.css"))
    css = "\n".join(p.read_text("utf-8") for p in styles)
    return f"<!doctype html><style>{css}</style><body><div class='canvas'></div>"


def answer(route) -> None:
    """Answer a request with the page or one of its modules, in place of a server."""
    path = route.request.url.removeprefix(HOME)
    if path.endswith(".js"):
        route.fulfill(path=ROOT / "assets" / "js" / path, content_type="text/javascript")
    else:
        route.fulfill(body=page_html(), content_type="text/html")


def measure(data: str) -> dict[str, dict[str, float]]:
    """Return milliseconds per action, median and best, in a headless Chromium of 1440 x 900."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.route("**/*", answer)
        page.goto(HOME)
        page.evaluate("window.explorer = {waiting: []}")
        times = page.evaluate(DRAW, data)
        browser.close()
    return times


def main() -> int:
    """Print the measurements; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=64)
    n_tokens = parser.parse_args().tokens
    runs = {key: random_run(key, n_tokens, seed) for seed, key in enumerate(BASE)}
    payloads = [payload(runs) for _ in range(5)]
    data, size = payloads[0][0], len(payloads[0][0].encode())
    exact = exact_heads_canvas(runs, word_heads(runs).alignment, [(key, 0, 0) for key in runs])
    times = measure(data)
    report = {
        "tokens": n_tokens,
        "heads": sum(r.attention.shape[0] * 12 for r in runs.values()),
        "payload_bytes": size,
        "exact_bytes_per_choice": len(script_json(json.loads(exact))),
        "python_ms": round(statistics.median(ms for _, ms in payloads), 1),
        "browser_ms": {
            name: f"{ms['median']:.1f} (best {ms['best']:.1f})" for name, ms in times.items()
        },
    }
    sys.stdout.write(json.dumps(report, indent=2) + "\n")
    slow = [name for name, ms in times.items() if ms["best"] > LIMIT_MS]
    return int(size > LIMIT_BYTES or bool(slow))


if __name__ == "__main__":
    raise SystemExit(main())
