"""The sentences of the fold on how the models were tuned and what they keep."""

from collections.abc import Mapping
from typing import Any

from explorer.analysis.digits import percent
from explorer.analysis.tasks.printed import printed_scores

FOLD = "Fine-tuning: how were they tuned, and how much of BERT's score do they keep?"
NAMES = {"sst2": "Sentiment, SST-2 dev: accuracy", "squad": "Questions, SQuAD v1.1 dev: F1"}
HEAD = ("Model", "Score, 95% CI", "Share of BERT's", "Trained parameters", "Minutes")
HOW = (
    "The same for each: LoRA of rank {rank} on queries and values, and the head; base weights "
    "frozen.\n"
    "Hu et al. 2021. {steps:,} steps of {rows} examples in the same order (seed {seed}), peak "
    "learning rate {rate:g}. {data}. Measured when the adapters were trained; another seed would "
    "shift each score, so differences near 100% do not rank the models."
)
FULL = (
    "{label} with all {n:,} weights tuned for as many steps: {score} [{low}, {high}], against "
    "{lora} with LoRA."
)
PRINTED = "Published: the papers' own tables, for the published sizes"
PRINTED_HEAD = ("Model and column", "Its score", "BERT-base", "Share", "Source")
PRINTED_NOTE = (
    "The shares above and the papers' here come from different models, data and schedules: do not"
    " compare them.\n"
    "The often quoted 97% is DistilBERT's share of BERT's GLUE score. The 102% claimed for ALBERT"
    " divides its average of five tasks by BERT's score on other tasks; like for like it is the "
    "share in the last line. The paper's ALBERT-base is version 1; version 2, which this page "
    "loads, is printed with {sst2} on SST-2 and {squad} on SQuAD 1.1: those scores stand under "
    "Latency, Model choice."
)


def printed_note() -> str:
    """What the printed shares are not, and which ALBERT they are of."""
    score = {task: percent(printed_scores(task)["albert"].value) for task in ("sst2", "squad")}
    return PRINTED_NOTE.format(**score)


def how_learned(card: Mapping[str, Any]) -> str:
    """The schedule that the models of a family share."""
    return HOW.format(**card)


def full_said(label: str, card: Mapping[str, Any], task: str) -> str:
    """All weights tuned, beside LoRA."""
    name = "accuracy" if task == "sst2" else "f1"
    full, lora = card["full"], card["scores"][name]["value"]
    low, high = full["scores"][name]["interval"]
    return FULL.format(
        label=label,
        n=full["trained_parameters"],
        score=percent(full["scores"][name]["value"]),
        low=percent(low),
        high=percent(high),
        lora=percent(lora),
    )
