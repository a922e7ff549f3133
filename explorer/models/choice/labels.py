"""Names that a reader gives to the labels of a fine-tuned model's head."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from explorer.models.choice.family import OWN
from explorer.models.specs import ModelSpec
from explorer.refusal import Refusal, brief

LabelNames = Mapping[str, Sequence[str]]
"""By column: the names of the labels of its head, in the order of the head's outputs."""
BAD_LABELS = '“labels” must be a mapping such as {"bert": ["negative", "positive"]}.'
NO_COLUMN = "Labels are named for {key!r}; the columns that can have such names are {known}."
NO_LABELS = "{label} brings no head with labels that could be named."
OTHER_NUMBER = "{label}'s head has {n} labels; {given} names are given for them."
NONE = "none"


def with_labels(specs: Mapping[str, ModelSpec], labels: LabelNames | None) -> dict[str, ModelSpec]:
    """Return the models of a family, with the given names for the labels of their heads.

    Raises:
        Refusal: a column is none of these, has no head, or has another number of labels.
    """
    if labels is not None and not isinstance(labels, Mapping):
        raise Refusal(BAD_LABELS)
    return {**specs, **{key: _named(specs, key, names) for key, names in (labels or {}).items()}}


def _named(specs: Mapping[str, ModelSpec], key: str, names: Sequence[str]) -> ModelSpec:
    if key not in specs:
        raise Refusal(NO_COLUMN.format(key=brief(key), known=", ".join(specs) or NONE))
    spec, head = specs[key], specs[key].task_head
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise Refusal(BAD_LABELS)
    if head is None or not head.labels:
        raise Refusal(NO_LABELS.format(label=spec.label))
    if not len(set(names)) == len(names) == len(head.labels):
        n, given = len(head.labels), len(set(names))
        raise Refusal(OTHER_NUMBER.format(label=spec.label, n=n, given=given))
    return replace(spec, task_head=replace(head, labels=tuple(map(brief, names))))


def name_labels(labels: LabelNames) -> None:
    """Give other names to the labels of the last checkpoint that was added to each column.

    Raises:
        Refusal: no checkpoint was added to such a column, or the names do not fit its head.
    """
    added = {spec.key: spec for spec in OWN.values()}
    for spec in with_labels(added, labels).values():
        OWN[spec.name] = spec


def label_names(written: str) -> dict[str, list[str]]:
    """Return the labels written as ``bert=negative,positive``.

    Raises:
        Refusal: the text is not of this form.
    """
    key, _, names = written.partition("=")
    labels = [name.strip() for name in names.split(",")]
    if not key or not all(labels):
        raise Refusal(BAD_LABELS)
    return {key: labels}
