"""Run the base family in a fresh process, round after round, and print the outcome as JSON.

A separate process, because the hub's client reads its address and its cache folder once, at
import. Each argument is a round: the mood that the hub takes first (``-`` keeps it), ``wipe`` for
an empty cache, ``damage`` to corrupt ALBERT's cached weights before.
"""

import json
import os
import sys
import tempfile
import urllib.request
from pathlib import Path

from huggingface_hub import constants

from explorer.inference.runs import CACHE, default_family, get_runs
from explorer.links.page_state import PageState
from explorer.models import forward, loading  # noqa: F401 - imported before anything is asked

CHECKPOINTS = Path(os.environ["HF_HOME"]) / "hub"


def prepare(mood: str, *steps: str) -> None:
    if mood != "-":
        urllib.request.urlopen(f"{os.environ['HF_ENDPOINT']}/mood/{mood}", timeout=300).close()
    if "wipe" in steps:
        # The client also caches a folder's content in memory, so an empty cache is a new folder.
        constants.HF_HUB_CACHE = tempfile.mkdtemp(dir=os.environ["HF_HOME"])
    if "damage" in steps:
        weights = next(CHECKPOINTS.glob("models--albert--*/snapshots/*/model.safetensors"))
        weights.resolve().write_bytes(b"half a file")
    loading._loaded.clear()
    CACHE.clear()


def ask() -> dict:
    family, reports = default_family(), []
    state = PageState(text="The capital of France is [MASK].", family="base")
    runs, missing = get_runs(state.ask, lambda sentence, share: reports.append([sentence, share]))
    return {
        "family": family,
        "shapes": {key: run.mask_logits.shape for key, run in runs.items()},
        "missing": {key: str(error) for key, error in missing.items()},
        "reports": reports,
    }


def main() -> None:
    answers = []
    for argument in sys.argv[1:]:
        prepare(*argument.split(","))
        answers.append(ask())
    sys.stdout.write("\n" + json.dumps(answers))


if __name__ == "__main__":
    main()
