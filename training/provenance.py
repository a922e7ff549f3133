"""History of a run that starts from exported weights, so that totals span all runs."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import torch

from training.recipe import Place

COUNTED = ("steps", "tokens", "seconds")
COLUMNS = {"steps": "step", "tokens": "tokens", "seconds": "seconds"}


def remember_origin(place: Place, exported: Path) -> dict[str, Any]:
    """Store, once, the history of the exported weights that a new run starts from; return it."""
    path = place.root / f"{exported.name}.origin.json"
    if not path.exists():
        figures = json.loads((exported.parent / "results.json").read_text())["models"]
        origin = {key: figures[exported.name][key] for key in COUNTED}
        origin["fit"] = figures[exported.name].get("fit")
        origin["curve"] = (exported / "learning_curve.csv").read_text()
        path.write_text(json.dumps(origin))
    return json.loads(path.read_text())


def whole_history(place: Place, name: str) -> tuple[str, dict[str, Any]]:
    """Return a model's learning curve over all its runs, and their totals with the latest run's."""
    log = list(csv.DictReader(io.StringIO(place.log(name).read_text())))
    path = place.root / f"{name}.origin.json"
    before = json.loads(path.read_text()) if path.exists() else dict.fromkeys(COUNTED, 0)
    total = {key: before[key] + float(log[-1][COLUMNS[key]]) for key in COUNTED}
    curve = io.StringIO()
    writer = csv.DictWriter(curve, fieldnames=list(log[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(csv.DictReader(io.StringIO(str(before.get("curve", "")))))
    for row in log:
        for key in COUNTED:
            shifted = float(row[COLUMNS[key]]) + before[key]
            row[COLUMNS[key]] = f"{shifted:.1f}" if key == "seconds" else f"{shifted:.0f}"
        writer.writerow(row)
    figures = {"steps": int(total["steps"]), "tokens": int(total["tokens"])}
    latest = {key: round(total[key] - before[key], 1) for key in ("tokens", "seconds")}
    return curve.getvalue(), {**figures, "seconds": round(total["seconds"], 1), "latest": latest}


def tokens_seen(place: Place, name: str) -> int:
    """Return the tokens a model was trained on up to its last checkpoint, over all runs."""
    checkpoint = place.checkpoint(name)
    current = torch.load(checkpoint, weights_only=True)["progress"][1] if checkpoint.exists() else 0
    return int(current + tokens_before(place, name))


def tokens_before(place: Place, name: str) -> int:
    """Return the tokens the initial exported weights were trained on; 0 for a fresh start."""
    origin = place.root / f"{name}.origin.json"
    return int(json.loads(origin.read_text())["tokens"]) if origin.exists() else 0


def fit_history(place: Place, run: str) -> dict[str, int] | None:
    """Return the tokens of mini-albert's fit and of its teacher then; None without a fit."""
    if not (place.log(run).exists() and place.fitted_to.exists()):
        origin = place.root / "mini-albert.origin.json"
        return json.loads(origin.read_text()).get("fit") if origin.exists() else None
    figures = whole_history(place, run)[1]
    return {"tokens": figures["tokens"], "teacher_tokens": int(place.fitted_to.read_text())}


def adopt_tokenizers(place: Place, exported: Path) -> None:
    """Copy the vocabularies of exported models that a run continues from."""
    for kind in ("bert", "albert"):
        if not place.vocabulary(kind).exists():
            shutil.copy(exported / f"mini-{kind}" / "tokenizer.json", place.vocabulary(kind))
