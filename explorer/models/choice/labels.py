"""Names that a reader gives to the labels of a fine-tuned model's head."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from explorer.models.choice.family import OWN
from explorer.models.hub import has_adapter
from explorer.models.specs import SENTIMENT, ModelSpec, TaskHead
from explorer.refusal import Refusal, Sentence, brief

LabelNames = Mapping[str, Sequence[str]]
"""By column: the names of the labels of its head, in the order of the head's outputs."""
BAD_LABELS = Sentence(
    "bad-labels", '“labels” must be a mapping such as {"bert": ["negative", "positive"]}.'
)
NO_COLUMN = Sentence(
    "no-column-of-labels",
    "Labels are named for {key!r}; the columns that can have such names are {known}.",
)
NO_LABELS = Sentence("no-labels-to-name", "{label} brings no head with labels that could be named.")
OTHER_NUMBER = Sentence(
    "number-of-labels", "{label}'s head has {n} labels; {given} names are given for them."
)
TOO_LONG = Sentence(
    "label-too-long", "The name of a label has at most {most} characters; one for {label} has {n}."
)
NOT_WRITTEN_SO = Sentence(
    "labels-not-written-so",
    "Write the names of labels as bert=negative,positive; a semicolon ends a column.",
)
KNOWN_PARTS = (
    *("embeddings", "encoder", "transformer", "layer", "pooler", "predictions", "lm_head"),
    *("seq_relationship", "classifier", "qa_outputs", "vocab_", "dense"),
)
"""Parts of the names of an encoder's tensors, and of the heads that transformers has."""
LEFT_OUT = (
    "Its file also holds heads that its config.json does not describe, {heads}: they are left out. "
    "python -m explorer convert {source} TARGET --head {first} makes one the head of a column."
)
NONE = "none"
MAX_NAME = 60
"""Characters of a label's name."""


def with_labels(specs: Mapping[str, ModelSpec], labels: LabelNames | None) -> dict[str, ModelSpec]:
    """Return the models of a family, with the given names for the labels of their heads.

    A model without a head of its own has the sentiment adapter next to its weights.

    Raises:
        Refusal: a column is none of these, has no head, or has another number of labels.
    """
    if labels is not None and not isinstance(labels, Mapping):
        raise Refusal(BAD_LABELS)
    return {**specs, **{key: _named(specs, key, names) for key, names in (labels or {}).items()}}


def _named(specs: Mapping[str, ModelSpec], key: str, names: Sequence[str]) -> ModelSpec:
    if key not in specs:
        raise Refusal(NO_COLUMN.format(key=brief(key), known=", ".join(specs) or NONE))
    spec = specs[key]
    head = spec.task_head
    if head is None and has_adapter(spec, "sst2"):
        head = TaskHead("sst2", SENTIMENT[0])
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise Refusal(BAD_LABELS)
    if head is None or not head.labels:
        raise Refusal(NO_LABELS.format(label=spec.label))
    if not len(set(names)) == len(names) == len(head.labels):
        n, given = len(head.labels), len(set(names))
        raise Refusal(OTHER_NUMBER.format(label=spec.label, n=n, given=given))
    if (longest := max(map(len, names))) > MAX_NAME:
        raise Refusal(TOO_LONG.format(label=spec.label, most=MAX_NAME, n=longest))
    return replace(spec, task_head=replace(head, labels=tuple(names)))


def further_heads(tensors: Mapping[str, Sequence[int]], width: int) -> dict[str, int]:
    """Return the outputs of heads in a file that no class of transformers has, by their names.

    A head is a linear layer from the states' width, with a bias, that is no part of the encoder.

    Args:
        tensors: The shapes in the file, by name.
        width: The number of dimensions of the encoder's states.
    """
    heads = {}
    for name, size in sorted(tensors.items()):
        head = name.removesuffix(".weight")
        is_known = any(known in part for part in head.split(".") for known in KNOWN_PARTS)
        is_linear = len(size) == 2 and size[1] == width
        if head != name and is_linear and not is_known and f"{head}.bias" in tensors:
            heads[head] = int(size[0])
    return heads


def further_heads_note(
    tensors: Mapping[str, Sequence[int]], width: int, source: str
) -> tuple[str, ...]:
    """Return a note on the heads of a file that are left out; none without such heads."""
    heads = further_heads(tensors, width)
    written = ", ".join(f"{brief(name)} ({outputs} outputs)" for name, outputs in heads.items())
    first = next(iter(heads), "")
    return (LEFT_OUT.format(heads=written, source=source, first=brief(first)),) if heads else ()


def name_labels(labels: LabelNames) -> None:
    """Give other names to the labels of the last checkpoint that was added to each column.

    Raises:
        Refusal: no checkpoint was added to such a column, or the names do not fit its head.
    """
    added = {spec.key: spec for spec in OWN.values()}
    for spec in with_labels(added, labels).values():
        OWN[spec.name] = spec


def with_written_labels(
    specs: Mapping[str, ModelSpec], written: str
) -> tuple[dict[str, ModelSpec], str]:
    """Return the models of a page with the names that its reader wrote, for as many as fit.

    Args:
        specs: The models of the columns.
        written: The names, as ``bert=negative,positive; albert=no,yes``; empty for none.

    Returns:
        The models, and the sentence on the first column whose names do not fit; empty without one.
    """
    named, refused = dict(specs), ""
    for part in filter(str.strip, re.split(r"[;\n]", written)):
        try:
            named = with_labels(named, label_names(part.strip()))
        except Refusal as refusal:
            is_of_form = "=" in part and refusal.code != BAD_LABELS.code
            refused = refused or (str(refusal) if is_of_form else NOT_WRITTEN_SO)
    return named, refused


def label_names(written: str) -> dict[str, list[str]]:
    """Return the labels written as ``bert=negative,positive``.

    Raises:
        Refusal: the text is not of this form.
    """
    key, _, names = written.partition("=")
    labels = [name.strip() for name in names.split(",")]
    if not key.strip() or not all(labels):
        raise Refusal(BAD_LABELS)
    return {key.strip(): labels}
