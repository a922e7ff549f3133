"""The sentences of the fold on how the models were tuned and what they keep."""

from collections.abc import Mapping
from typing import Any

from explorer.views.markup import percent

FOLD = "How were they tuned, and what do they keep of BERT's score?"
NAMES = {"sst2": "Sentiment, SST-2 dev: accuracy", "squad": "Questions, SQuAD v1.1 dev: F1"}
HEAD = ("Model", "Score, 95 % interval", "Share of BERT's", "Trained parameters", "Minutes")
HOW = (
    "The same for each: LoRA (Hu et al. 2021) of rank {rank} at queries and values, and the head; "
    "the model's own weights rest. {steps:,} steps of {rows} examples in the same order (seed "
    "{seed}), peak learning rate {rate:g}. {data}. Measured when the adapters were made; another "
    "seed would move each score, so that shares near 100 % are no order."
)
FULL = (
    "{label} with all {n:,} weights tuned in as many steps: {score} [{low}, {high}], against "
    "{lora} with LoRA."
)
PRINTED = "Published: the papers' own tables, for the published sizes"
PRINTED_HEAD = ("Model and column", "Its score", "BERT-base", "Share", "Source")
PRINTED_NOTE = (
    "The miniatures' shares above and the papers' here are of different models, data and "
    "schedules: they are not to be mixed. The often quoted 97 % is DistilBERT's share of the GLUE "
    "score. The 102 % told of ALBERT divides its average of five tasks by BERT's score on other "
    "ones; like for like it is the share in the last line."
)


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
