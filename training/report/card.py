"""Model cards: recipe, data, licence, results, learning curve, limits, checksum."""

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

from explorer.analysis.digits import percent, signed
from explorer.refusal import Refusal
from training.report.card_words import ABOUT, DATA, LIMITS

SEQUENCES = {"mini-albert": "128 to 512"}  # of running text
FOREIGN = {"mini-bert": ("sop",), "mini-albert": ("nsp",)}  # as in ALBERT's Table 5
SPEAKS_OF = {
    "pairs": "nsp",
    "pseudo_perplexity": "pseudo_perplexity",
    "sst2": "sst2",
    "single": "single_top1",
    "probe": "probe_top1",
    "primer": "primer_top1",
}
"""Figure that each line of the protocol explains; masked accuracy for all others."""
GOALS = {
    "mini-bert": (
        ("masked_top1", 0.44, "masked pieces, top-1 accuracy"),
        ("primer_top1", 0.85, "the primer's facts in held-out wordings"),
        ("probe_top1", 0.62, "an accepted word first on the probe"),
        ("probe_top5", 0.86, "an accepted word among five on the probe"),
        ("nsp", 0.88, "next-sentence pairs classified correctly"),
    ),
    "mini-distilbert": (
        ("retention", 0.95, "share of the teacher's masked accuracy kept"),
        ("primer_top1", 0.80, "the primer's facts in held-out wordings"),
        ("probe_top1", 0.60, "an accepted word first on the probe"),
        ("probe_top5", 0.84, "an accepted word among five on the probe"),
    ),
    "mini-albert": (
        ("primer_top1", 0.75, "the primer's facts in held-out wordings"),
        ("probe_top1", 0.55, "an accepted word first on the probe"),
        ("probe_top5", 0.80, "an accepted word among five on the probe"),
        ("sop", 0.60, "sentence-order pairs classified correctly"),
    ),
}
FIGURES = (
    ("single_top1", "One sentence, one masked word: top-1 accuracy", "share"),
    ("single_top5", "One sentence, one masked word: top-5 accuracy", "share"),
    ("single_repeats", "One sentence: top prediction repeats a content word", "share"),
    ("single_true_repeats", "One sentence: the masked word itself does so", "share"),
    ("probe_top1", "Probe of 200 sentences: an accepted word first", "share"),
    ("probe_top5", "Probe: an accepted word among five", "share"),
    ("probe_repeats", "Probe: top prediction repeats a content word", "share"),
    ("primer_top1", "The primer's facts in held-out wordings: top-1 accuracy", "share"),
    ("primer_top5", "The same, top-5 accuracy", "share"),
    ("probe_taught_top1", "Probe, facts that the primer has: an accepted word first", "share"),
    ("probe_taught_top5", "The same, top-5 accuracy", "share"),
    ("probe_untaught_top1", "Probe, what the primer has not: an accepted word first", "share"),
    ("probe_untaught_top5", "The same, top-5 accuracy", "share"),
    ("masked_top1", "Masked pieces, top-1 accuracy", "share"),
    ("masked_top5", "Masked pieces, top-5 accuracy", "share"),
    ("masked_loss", "Cross-entropy at masked pieces", "nats"),
    ("pseudo_perplexity", "Pseudo-perplexity per word, each piece masked alone", "number"),
    ("pseudo_perplexity_onward", "The same, with the rest of its word masked", "number"),
    ("nsp", "Next-sentence pairs classified correctly", "share"),
    ("sop", "Sentence-order pairs classified correctly", "share"),
    ("sst2", "SST-2 dev after fine-tuning", "share"),
)


def write_card(folder: Path, results: dict[str, Any]) -> None:
    """Write README.md and the plot of the learning curve beside the weights."""
    (folder / "learning_curve.svg").write_text(curve_svg(folder / "learning_curve.csv"))
    rates = learning_rates(folder / "learning_curve.csv")
    (folder / "README.md").write_text(card(folder.name, results, rates))


def learning_rates(curve: Path) -> list[float]:
    """Return the learning rate at every report of all runs."""
    with curve.open(newline="") as file:
        return [float(row["rate"]) for row in csv.DictReader(file)]


def schedule_line(rates: list[float]) -> str:
    """Return a sentence with the peak learning rate and the number of warm-ups and decays."""
    valleys = sum(
        before > now < after
        for before, now, after in zip(rates, rates[1:], rates[2:], strict=False)
    )
    constant = any(now == after for now, after in pairwise(rates) if now)
    last = ", the latest after a constant rate" if valleys and constant else ""
    last = " after a constant rate" if constant and not valleys else last
    runs = f"{valleys + 1} runs, one going on from another," if valleys else "One run"
    each = "each with its own" if valleys else "with"
    return (
        f"{runs} {each} linear warm-up over 3% and linear decay to 0{last}, peak learning rate up "
        f"to {max(rates, default=0.0):g}."
    )


def card(name: str, results: dict[str, Any], rates: list[float]) -> str:
    """Return the text of a model's card."""
    role, shape, objective, start = ABOUT[name]
    own = results["models"][name]
    parts: tuple[str, ...] = (
        figures_table(name, own),
        protocol_lines(own, results),
        goal_lines(name, results),
    )
    if name == "mini-distilbert":
        parts += (retention_table(results), ablation_table(results))
    results_text = "\n".join(part for part in parts if part)
    return f"""---
license: apache-2.0
language: en
library_name: transformers
---
# {name}

A miniature, {role}: what the BERT family explorer shows when it has no network.

**Shape.** {shape} {own["parameters"]:,} parameters; half precision on disk, meant to run in full.

**Trained on.** {DATA}{primer_line(own)}

**Objective.** {objective}

**Start.** {start}{fit_line(name, results)}

**Training.** {own["tokens"]:,} tokens (padding not counted) in {own["steps"]:,} steps with
sequences of {SEQUENCES.get(name, "32 to 512")} positions (single
sentences: up to 32), {time_line(own)}. {schedule_line(rates)} AdamW, betas 0.9
and 0.98, decay 0.01, gradients clipped at norm 1, no dropout; bfloat16
autocast where the machine multiplies in it. Made by `python -m training`.{kept_line(own)}

## Results on held-out documents

{results_text}
![Learning curve](learning_curve.svg)

## Limits

{LIMITS}

## Licence and checksum

Weights: Apache-2.0. The corpus keeps its own licences; none of its text is included.

`model.safetensors`: {own["bytes"]:,} bytes, SHA-256 `{own["sha256"]}`
"""


def time_line(own: dict[str, Any]) -> str:
    """Return the duration of all runs, and that of the latest run with its machine."""
    whole, latest = own["seconds"], own.get("latest", own)
    if latest["tokens"] == own["tokens"]:
        return f"{whole / 60:.0f} minutes ({own['machine']})"
    return (
        f"{whole / 60:.0f} minutes in all; the latest run read {latest['tokens']:,.0f} of the "
        f"tokens in {latest['seconds'] / 60:.3g} minutes ({own['machine']})"
    )


def primer_line(own: dict[str, Any]) -> str:
    """Return a sentence about the primer and its size; empty if none was used."""
    primer = own.get("primer")
    if not primer:
        return ""
    return (
        "\nBeside it the models read a primer that was written for them: "
        f"{primer['facts']:,} facts of everyday knowledge in {primer['sentences']:,} sentences, "
        f"from which {primer['share']:.0%} of the batches of the latest run were drawn, "
        "one word of each sentence masked. What they know of capitals, animals or opposites they "
        "were taught."
    )


def fit_line(name: str, results: dict[str, Any]) -> str:
    """Return a sentence about the fit of the shared layer; empty if there was none."""
    fit = results["models"][name].get("fit")
    if not fit:
        return ""
    return (
        f" The fit took {fit['tokens']:,} tokens; mini-bert had seen "
        f"{fit['teacher_tokens']:,} tokens when it was taken for this."
    )


def kept_line(own: dict[str, Any]) -> str:
    """Return a sentence about the two averaged states of the run; empty if there was no mean."""
    mean = own.get("kept")
    if not mean:
        return ""
    return (
        f" The weights are a mean of two states of the run: {mean['share']:.0%} are those "
        f"after {mean['tokens']:,} tokens, the rest those at its end. It keeps some of what the "
        "later state had forgotten."
    )


def figures_table(name: str, own: dict[str, Any]) -> str:
    """Return the measured figures as a Markdown table; missing ones are left out."""
    rows = ["| what | measured |", "|---|---:|"]
    for key, title, unit in FIGURES:
        if own.get(key) is not None:
            value = percent(own[key]) if unit == "share" else f"{own[key]:.2f}"
            foreign = key in FOREIGN.get(name, ())
            note = ", a task its head was not trained for" if foreign else ""
            rows.append(f"| {title}{note} | {value} |")
    return "\n".join(rows) + "\n"


def protocol_lines(own: dict[str, Any], results: dict[str, Any]) -> str:
    """Return the protocol of the figures that were measured."""
    lines = [
        f"{key.replace('_', ' ')}: {text}"
        for key, text in results.get("protocol", {}).items()
        if text and own.get(SPEAKS_OF.get(key, "masked_top1")) is not None
    ]
    return "How it was measured. " + "; ".join(lines) + ".\n" if lines else ""


def goal_lines(name: str, results: dict[str, Any]) -> str:
    """Return a sentence for every goal that was missed."""
    own = {**results["models"][name], "retention": results.get("retention", {}).get("masked_top1")}
    if name != "mini-distilbert":
        own["retention"] = None
    missed = [
        f'The aim for "{title}" was {goal:.0%}; this run reached {percent(own[key])}.'
        for key, goal, title in GOALS[name]
        if own.get(key) is not None and own[key] < goal
    ]
    rank = own.get("capital_rank")
    if rank:
        missed.append(f'For "The capital of France is [MASK].", *paris* has rank {rank}.')
    return " ".join(missed) + "\n" if missed else ""


def retention_table(results: dict[str, Any]) -> str:
    """Return a table of the student's figures as shares of the teacher's."""
    retention = results.get("retention")
    if not retention:
        return ""
    rows = ["| kept of the teacher's figure | share |", "|---|---:|"]
    titles = {key: title for key, title, _ in FIGURES}
    rows += [f"| {titles[key]} | {percent(share)} |" for key, share in retention.items()]
    return "\n".join(rows) + "\n"


def ablation_table(results: dict[str, Any]) -> str:
    """Return a table of the effect of each loss and of the initialisation."""
    ablation = results.get("ablation")
    if not ablation:
        return ""
    rows = ["| student | masked top 1 | change, points |", "|---|---:|---:|"]
    for title, figures in ablation["students"].items():
        top1, change = 100 * figures["masked_top1"], 100 * figures["change"]
        rows.append(f"| {title} | {top1:.1f}% | {signed(change, 1)} |")
    tokens = f"{ablation['tokens_each']:,}"
    return "\n".join(rows) + f"\n\nEqual budgets of {tokens} tokens each; a miniature, one seed.\n"


def curve_svg(log: Path) -> str:
    """Return the learning curve as SVG: held-out masked accuracy over tokens."""
    rows = list(csv.DictReader(log.open(newline="")))
    points = [
        (int(row["tokens"]), float(row["heldout_top1"])) for row in rows if row["heldout_top1"]
    ]
    if not points:
        raise Refusal(f"{log} holds no held-out figure yet.")
    right, top = max(x for x, _ in points), max(0.1, *(y for _, y in points))
    path = " ".join(f"{50 + 520 * x / right:.1f},{250 - 220 * y / top:.1f}" for x, y in points)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 300" role="img" \
aria-label="Held-out masked accuracy over training tokens">
<rect width="600" height="300" fill="#fff"/>
<path d="M50 20V250H580" fill="none" stroke="#666"/>
<polyline points="{path}" fill="none" stroke="#0b62a4" stroke-width="2"/>
<g font-family="sans-serif" font-size="13" fill="#333">
<text x="8" y="34">{top:.0%}</text><text x="24" y="254">0</text>
<text x="580" y="270" text-anchor="end">{right / 1e6:.1f} M tokens</text>
<text x="60" y="34">top-1 accuracy at masked pieces, held-out text</text></g></svg>
"""
