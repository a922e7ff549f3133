"""Which of the models' own heads can be asked about the rows of a list, and why others cannot."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from explorer.inference.runs import call_on_model
from explorer.lists.batches import Prepared
from explorer.lists.heads import (
    BROKEN,
    NO_HEAD,
    ONE_NAME,
    OTHER_KIND,
    OTHER_NAMES,
    AskedHeads,
    NotScored,
    OwnHead,
    matched,
)
from explorer.lists.roles import MIN_CLASSES
from explorer.lists.seen import named_data
from explorer.lists.tagged import span_names
from explorer.models.choice.labels import NO_COLUMN, NONE, LabelNames, with_labels
from explorer.models.specs import ONE_LABEL, SCORE, SEVERAL_LABELS, ModelSpec, TaskHead
from explorer.refusal import Refusal, brief


def asked_heads(
    ready: Prepared[object],
    names: Sequence[str],
    given: LabelNames | None = None,
    task: str = "classes",
) -> AskedHeads:
    """Return the models' own heads that can be scored on the rows of a list.

    Args:
        ready: The rows and the models.
        names: The labels of the list, or of its spans; none of rows with a score.
        given: By column names for the labels of its head, in the order of the outputs.
        task: What the heads do: ``classes`` or ``tokens``.

    Raises:
        Refusal: names are given for a column that has no head, or not as many as it has labels.
    """
    for key in given or {}:
        if key not in ready.specs:
            raise Refusal(NO_COLUMN.format(key=brief(key), known=", ".join(ready.specs) or NONE))
    heads: dict[str, OwnHead] = {}
    others: dict[str, NotScored] = {}
    for key, spec in ready.specs.items():
        found = _own_head(spec, names, (given or {}).get(key), task)
        if isinstance(found, OwnHead) and task == "classes":
            found = _fitting(found, ready.texts.kind, names)
        if isinstance(found, OwnHead):
            found = _usable(found, spec, ready, task)
        if isinstance(found, OwnHead):
            heads[key] = found
        else:
            others[key] = found
    data = {key: named_data(ready.specs[key], bool(head.adapter)) for key, head in heads.items()}
    return AskedHeads(heads, others, data)


def has_head_for(specs: Iterable[ModelSpec], names: Sequence[str]) -> bool:
    """Return whether the own head of any model knows the labels of a list with one label a row.

    No weights are read.
    """
    found = [_own_head(spec, names, None, "classes") for spec in specs]
    return any(
        isinstance(head, OwnHead) and isinstance(_fitting(head, "labelled", names), OwnHead)
        for head in found
    )


def _own_head(
    spec: ModelSpec, names: Sequence[str], given: Sequence[str] | None, task: str
) -> OwnHead | NotScored:
    """Return a model's head with the outputs of a list's labels, or that it has none.

    The outputs of a head for tokens are the labels of its spans, see ``label_names``.
    """
    from explorer.models.task_heads.adapters import NotTuned, adapter_path, head_for

    try:
        asked, head = head_for(spec, task)
    except NotTuned:
        asked, head = task, TaskHead(task)
    if given is not None:
        named = with_labels({spec.key: replace(spec, task_head=head)}, {spec.key: given})
        head = named[spec.key].task_head or head
    if not head.labels:
        return NotScored(NO_HEAD)
    if task == "tokens":
        types = span_names(head.labels)
        places, _ = matched(types, names)
        own = OwnHead(head.labels, head.problem, places)
        return own if places else NotScored(OTHER_NAMES, types, head.problem)
    places, by_number = matched(head.labels, names)
    adapter = "" if asked == task else adapter_path(spec)
    return OwnHead(head.labels, head.problem, places, by_number, adapter)


def _fitting(head: OwnHead, kind: str, names: Sequence[str]) -> OwnHead | NotScored:
    """Return a head whose outputs are what a list of a kind has, or why it cannot be scored.

    It knows at least two labels of the list, unless all rows have the same one.
    """
    wanted = {"scored": (SCORE,), "multilabel": (SEVERAL_LABELS,)}
    if head.problem not in wanted.get(kind, (ONE_LABEL, SEVERAL_LABELS)):
        return _not_scored(head, OTHER_KIND)
    if kind == "scored":
        return head if len(head.labels) == 1 else _not_scored(head, OTHER_KIND)
    least = min(MIN_CLASSES, len(names)) if kind == "labelled" else 1
    if len(head.places) >= least:
        return head
    return _not_scored(head, ONE_NAME if head.places else OTHER_NAMES)


def _not_scored(head: OwnHead, reason: str, said: str = "") -> NotScored:
    return NotScored(reason, head.labels, head.problem, bool(head.adapter), said)


def _usable(
    head: OwnHead, spec: ModelSpec, ready: Prepared[object], task: str
) -> OwnHead | NotScored:
    """Return a head whose weights are there and fit, or the sentence why they cannot be used."""
    from explorer.models.task_heads.adapters import card_of

    try:
        call_on_model(card_of, spec, ready.ask, "sst2" if head.adapter else task)
    except Refusal as refusal:
        return _not_scored(head, BROKEN, str(refusal))
    return head


def with_classified(ready: Prepared[object], asked: AskedHeads) -> Prepared[object]:
    """Return prepared rows whose passes ask these heads too."""
    return replace(ready, classified=frozenset(asked.heads))
