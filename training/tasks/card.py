"""Card of an adapter: description, training and scores."""

from pathlib import Path
from typing import Any

NAMES = {"accuracy": "Accuracy", "em": "Exact match", "f1": "F1"}
SAYS = {"sst2": "whether a phrase is positive", "squad": "where in a passage an answer stands"}
CARD = """# {model}, tuned to say {says}

An adapter for [{model}](../../README.md), base weights frozen: LoRA (Hu et al. 2021) of rank
{rank} (alpha {alpha}) at the queries and values of every layer, and the head.
{trained_parameters:,} parameters were trained; they are stored here in half precision.

**Data.** {data}.

**Training.** {steps:,} steps of {rows} examples ({examples_seen:,} in all, drawn with seed {seed};
the same batches for each model of the family){went_on}, AdamW, peak learning rate {rate:g},
linear warm-up over {warm_up:.0%} and linear decay to 0, no dropout; {minutes:.1f} minutes
({machine}). The loss is in `curve.csv`.

| dev | {model} with LoRA |{full_head}
|---|---:|{full_line}
{lines}
{full_said}
Made by `python -m training tasks` on the weights with SHA-256
`{base_sha256}`; it fits no others.
"""
GOES_ON = "; it began with the adapter that was here before"
FULL = """
For comparison all {parameters:,} parameters were tuned with the same steps at a peak rate of
{rate:g} ({minutes:.1f} minutes); those weights are not kept.{cut}
"""
FULL_CUT = " They were scored on the first 64 tokens of each sentence."
"""Note for full tuning that was scored on truncated sentences."""


def write_card(path: Path, report: dict[str, Any]) -> None:
    """Write the card as Markdown."""
    full = report["full"]
    lines = [
        f"| {NAMES[name]} | {_cell(score)} |"
        + (f" {_cell(full['scores'][name])} |" if full else "")
        for name, score in report["scores"].items()
    ]
    comparison = (
        FULL.format(
            parameters=full["trained_parameters"],
            rate=full["rate"],
            minutes=full["seconds"] / 60,
            cut="" if all("tokens" in score for score in full["scores"].values()) else FULL_CUT,
        )
        if full
        else ""
    )
    path.write_text(
        CARD.format(
            **report,
            says=SAYS[report["task"]],
            minutes=report["seconds"] / 60,
            lines="\n".join(lines),
            went_on=went_on(report),
            full_head=" all weights tuned |" if full else "",
            full_line="---:|" if full else "",
            full_said=comparison,
        ),
        "utf-8",
    )


def went_on(report: dict[str, Any]) -> str:
    """Return what the training continued from: nothing, or an adapter with the runs behind it."""
    runs = [f"{run['steps']:,} steps at {run['rate']:g}" for run in report.get("earlier", ())]
    known = f" ({', then '.join(runs)})" if runs else ""
    return f"{GOES_ON}{known}" if report.get("goes_on") else ""


def _cell(score: dict[str, Any]) -> str:
    low, high = (100 * end for end in score["interval"])
    return f"{100 * score['value']:.1f}% [{low:.1f}, {high:.1f}] of {score['count']:,}"
