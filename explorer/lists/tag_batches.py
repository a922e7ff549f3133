"""Tagged rows through the models that have a head for tokens, part by part."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, gather
from explorer.lists.batches import BLOCK_ROWS, Part, Prepared, in_batches, prepared
from explorer.lists.head_questions import asked_heads
from explorer.lists.heads import NO_HEAD, OTHER_NAMES, AskedHeads, NotScored
from explorer.lists.roles import BadRows
from explorer.lists.rows import MAX_TOKENS, TextList
from explorer.lists.tagged import types_of
from explorer.models.choice.labels import LabelNames
from explorer.models.run import length_batches
from explorer.models.specs import ModelSpec
from explorer.refusal import Sentence, joined
from explorer.scheduling.cancel import CancelToken

if TYPE_CHECKING:
    from explorer.models.task_heads.classifiers import TagPlan

NO_TAGGER = Sentence(
    "no-tagger",
    "None of these models brings a head that tags words: open a fine-tuned checkpoint as a column "
    "(--model bert=FOLDER).",
)
OTHER_TYPES = Sentence(
    "other-tags",
    "No head can be scored: the tags of your list are {yours}, and those of {label}'s head {its}. "
    'Name the tags of a head in the order of its outputs (labels={{"{key}": [...]}}).',
)


def prepare_tags(
    texts: TextList, ask: Ask, given: LabelNames, cancel: CancelToken
) -> "tuple[Prepared[TagPlan], AskedHeads]":
    """Return the input of tagged rows for each model whose head can be scored, and the heads.

    Raises:
        BadRows: no model has such a head. Refusal: names are given for a column that has none.
    """
    from explorer.models.task_heads.classifiers import tag_plans

    able = {
        key: spec
        for key, spec in ask.specs.items()
        if spec.task_head is not None and spec.task_head.task == "tokens"
    }
    if not able:
        raise BadRows(NO_TAGGER)
    words, types = [row.tokens for row in texts.rows], types_of(texts)
    ready = prepared(texts, replace(ask, specs=able), tag_plans, words, cancel)
    found = asked_heads(ready, types, given, "tokens")
    if not found.heads:
        raise BadRows(_not_scored_said(ready, found, types))
    without = {key: NotScored(NO_HEAD) for key in ask.specs if key not in able}
    return _of_models(ready, found), replace(found, others={**found.others, **without})


def _not_scored_said(ready: Prepared[Any], found: AskedHeads, types: Sequence[str]) -> Sentence:
    """Return why the first head is not scored."""
    key, why = next(iter(found.others.items()))
    if why.reason != OTHER_NAMES:
        return joined([why.said])
    label, its = ready.specs[key].label, ", ".join(why.labels)
    return OTHER_TYPES.format(yours=", ".join(types), label=label, its=its, key=key)


def _of_models(ready: "Prepared[TagPlan]", asked: AskedHeads) -> "Prepared[TagPlan]":
    """Return prepared rows of the models whose heads are scored."""
    specs = {key: ready.specs[key] for key in asked.heads}
    return replace(ready, specs=specs, plans={key: ready.plans[key] for key in specs})


def tag_parts(
    ready: "Prepared[TagPlan]", cancel: CancelToken
) -> "Iterator[Part[dict[str, list[np.ndarray]]]]":
    """Yield by model the logits of the tags of some rows, each float32 [word, label].

    Raises:
        Cancelled: between two batches.
    """
    lengths = [len(plan.text.ids) for plan in next(iter(ready.plans.values()))]
    for rows in length_batches(lengths, BLOCK_ROWS, BLOCK_ROWS * MAX_TOKENS):
        jobs = [
            partial(_logits, spec, ready.ask, [ready.plans[key][row] for row in rows], cancel)
            for key, spec in ready.specs.items()
        ]
        yield Part(rows, dict(zip(ready.specs, gather(jobs), strict=True)))


def _logits(
    spec: ModelSpec, ask: Ask, plans: "Sequence[TagPlan]", cancel: CancelToken
) -> list[np.ndarray]:
    """Return one model's logits of some rows."""
    from explorer.models.task_heads.classifiers import tag_logits

    logits: list[Any] = [None] * len(plans)

    def compute(places: list[int]) -> np.ndarray:
        found = call_on_model(tag_logits, spec, ask, [plans[place] for place in places])
        for place, of_row in zip(places, found, strict=True):
            logits[place] = of_row
        return np.zeros((len(places), 0))

    in_batches(compute, range(len(plans)), [len(plan.text.ids) for plan in plans], ask, cancel)
    return logits
