"""``python -m tests.journey``: how far data travels, in two counts for docs/architecture.md.

The calls of a Compare pass the question or its answer on, from the press to the picture.
``test_journey.py`` runs a Compare and fails if one of them is not called.
"""

import ast
import sys
from pathlib import Path

from tests.sources import tree_of

ROOT = Path(__file__).parents[1]
FETCHES = ("get_run", "get_runs", "runs_with_mlm_head")
"""Functions that get the runs of a text."""
BROWSER = (
    "assets/js/page/here.js:compare",
    "assets/js/page/state.js:compare",
    "assets/js/page/state.js:ask",
    "assets/js/page/state.js:answered",
    "assets/js/predictions/gaps.js:show",
)
BEFORE = (
    "explorer/middleware/request_filter.py:RequestFilter.__call__",
    "explorer/middleware/concurrency.py:ConcurrencyLimiter.__call__",
    "explorer/middleware/concurrency.py:StreamTracker.__call__",
    "explorer/middleware/waiting_room.py:WaitingRoom.push",
    "explorer/middleware/waiting_room.py:WaitingRoom.get_events",
    "explorer/middleware/waiting_room.py:WaitingRoom.process_events",
    "explorer/ui/kit/blocks.py:Page.process_api",
)
"""Calls from the request to the handler."""
HANDLED = (
    "explorer/ui/kit/errors.py:plain_errors.<locals>.call",
    "explorer/ui/kit/canvas.py:with_question.<locals>.call",
    "explorer/ui/shell/view.py:view",
    "explorer/links/codec.py:from_page",
    "explorer/ui/shell/view.py:run_models",
    "explorer/inference/runs.py:get_runs",
    "explorer/inference/runs.py:start_run",
    "explorer/inference/cache.py:ResultCache.claim",
    "explorer/inference/local.py:LocalBackend.run",
    "explorer/inference/worker_queues.py:Batcher.add",
    "explorer/inference/local.py:LocalBackend._submit",
    "explorer/inference/local.py:LocalBackend._run_next",
    "explorer/inference/local.py:LocalBackend._run_batch",
    "explorer/inference/local.py:_run_texts",
    "explorer/models/forward.py:run_together",
    "explorer/inference/local.py:settle",
    "explorer/ui/shell/view.py:draw_tab",
    "explorer/ui/predictions/tab.py:show",
    "explorer/views/predictions.py:predictions_canvas",
    "explorer/ui/kit/canvas.py:Canvas.postprocess",
)
"""Calls of the handler, its workers, and its answer."""
COMPARE = (*BROWSER[:3], *BEFORE, *HANDLED, *BROWSER[3:])


def fetches() -> list[str]:
    """Return where the page gets the runs of a text, as ``file:line``."""
    folders = (ROOT / "explorer" / "ui", ROOT / "explorer" / "lists" / "ui")
    return [
        f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in FETCHES
    ]


def main() -> None:
    """Print both counts, and what they count."""
    files = {call.partition(":")[0] for call in COMPARE}
    lines = [f"calls in a Compare: {len(COMPARE)} in {len(files)} files", *COMPARE]
    lines += [f"fetches of runs by the page: {len(fetches())}", *fetches()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
