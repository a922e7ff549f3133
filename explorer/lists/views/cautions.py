"""Sentences on what else a reader of a list's scores must know: rows not compared, copies, cuts."""

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.analysis.digits import counted, enumerated
from explorer.lists.comparison import mcnemar
from explorer.lists.judge import below_guessing
from explorer.lists.multilabel import LEAST, MultilabelList
from explorer.lists.results import (
    LabelledList,
    ListResult,
    MaskedList,
    PairList,
    ScoredList,
    SentenceList,
    UnjudgedList,
)
from explorer.lists.roles import MAX_CLASSES
from explorer.lists.tagged import TaggedList
from explorer.lists.views.head_strings import head_cautions
from explorer.lists.views.strings import (
    GUESS_ALPHA,
    first_of,
    groups_said,
    names_of,
    scored,
    unknown_said,
)
from explorer.lists.views.tag_strings import tag_cautions

NOT_COMPARED = (
    "{n} of {rows} {are} not compared: {unknown}. [UNK] stands for every word outside a "
    "vocabulary, so its probability is not that of the word."
)
OMITTED = (
    "Not judged: {labels}. A label must be on {least} rows, or groups, and be missing on {least}; "
    "the {most} most frequent are judged."
)
MANY = (
    "With {n} labels there are no curves by training rows and by layer: they are computed for up "
    "to {most}."
)
OMITTED_LABEL = "“{label}” ({rows})"
DISJOINT = (
    "{pairs} have no word of their vocabularies in common: how far they are apart has no value, "
    "and does not enter the order of the rows."
)
GUESSING = (
    "As far as {rows} can show, no better than guessing which sentence is the good one: {names} "
    "(exact binomial test, 1% after correction for {n})."
)
GUESSING_SIDES = (
    "As far as {rows} can show, neither sentence of a pair is the likelier one more often than by "
    "chance: {names} (exact binomial test, 1% after correction for {n})."
)
UNDER = (
    "{names} {find} the sentence in the column “{bad}” likelier in significantly more than half of "
    "the pairs: check which column is which."
)
COPIES = (
    "{n} of {rows} have a near-copy among the rows that their classifier learnt from (at least "
    "half of all words of the two are in both{other}). On texts that are less alike the {score} "
    "may be another. Rows with the same group are kept on one side of every split."
)
SCORED_COPIES = (
    "{n} of {rows} have a near-copy among the rows that their regression learnt from (at least "
    "half of all words of the two are in both). On texts that are less alike the correlation may "
    "be another. Rows with the same group are kept on one side of every split."
)
CUT = "{n} of {rows} {are} too long for the models: {part} is read, the same by all of them."
PARTS = {"head": "the beginning", "head_and_tail": "the beginning and the end"}
OTHER = "; for {n} of them one with another label"
LAYERS = "With the layer that each fold chooses on its training rows: {shares}."


def cautions(result: ListResult) -> tuple[str, ...]:
    """Return what else a reader of the scores must know.

    Labelled rows: the models' own heads, groups, near-copies and scores below guessing. Sentences
    and pairs: rows that are not compared. Pairs: models that do no better than guessing.
    """
    if isinstance(result, PairList):
        return tuple(filter(None, (not_compared(result, "pair"), *guessing(result))))
    if isinstance(result, SentenceList):
        return tuple(filter(None, (not_compared(result, "sentence"),)))
    if isinstance(result, MaskedList):
        return tuple(filter(None, (no_common_word(result),)))
    if isinstance(result, TaggedList):
        return tuple(tag_cautions(result))
    heads = head_cautions(result)
    if isinstance(result, ScoredList):
        return (*heads, *_dependences(result, result.result.truth.groups))
    if isinstance(result, MultilabelList):
        dependences = _dependences(result, result.result.sets.groups)
        return tuple(filter(None, (*heads, omitted_labels(result), *dependences)))
    if isinstance(result, UnjudgedList):
        return ()
    below = below_guessing(result.result, names_of(result))
    dependences = _dependences(result, result.result.labels.groups)
    lines = (*heads, below, *dependences, layers_said(result), many_labels(result))
    return tuple(filter(None, lines))


def omitted_labels(result: MultilabelList) -> str:
    """Return which labels are not judged, and why; empty if all are."""
    omitted = result.result.sets.omitted
    if not omitted:
        return ""
    said = [OMITTED_LABEL.format(label=label, rows=counted(n, "row")) for label, n in omitted]
    return OMITTED.format(labels=enumerated(first_of(said)), least=LEAST, most=MAX_CLASSES)


def _dependences(
    result: LabelledList | MultilabelList | ScoredList, groups: np.ndarray | None
) -> Iterator[str]:
    """Yield which rows are cut, and which not independent: those of a group, and near-copies."""
    rows, copies, n_cut = counted(len(result.texts.rows), "row"), result.copies, result.texts.n_cut
    if n_cut:
        are, part = "is" if n_cut == 1 else "are", PARTS[result.texts.way]
        yield CUT.format(n=f"{n_cut:,}", rows=rows, are=are, part=part)
    if groups is not None:
        yield groups_said(len(result.texts.rows), len(set(groups.tolist())))
    if copies.n and isinstance(result, ScoredList):
        yield SCORED_COPIES.format(n=f"{copies.n:,}", rows=rows)
    elif copies.n:
        score = "F1" if isinstance(result, MultilabelList) else "accuracy"
        other = OTHER.format(n=f"{copies.n_other_label:,}") if copies.n_other_label else ""
        yield COPIES.format(n=f"{copies.n:,}", rows=rows, other=other, score=score)


def not_compared(result: SentenceList | PairList, noun: str) -> str:
    """Return how many rows a model cannot read; empty if all can read all, or none is left."""
    n_rows, n = len(result.texts.rows), len(result.texts.rows) - result.summary.n_compared
    if n in (0, n_rows):
        return ""
    return NOT_COMPARED.format(
        n=f"{n:,}",
        rows=counted(n_rows, noun),
        are="is" if n == 1 else "are",
        unknown=unknown_said(result),
    )


def no_common_word(result: MaskedList) -> str:
    """Return which models' vocabularies have no word in common; empty if all have."""
    pairs = [pair for pair, apart in result.divergence.items() if np.isnan(apart).any()]
    named = [f"{result.labels[a]} and {result.labels[b]}" for a, b in pairs]
    return DISJOINT.format(pairs="; ".join(named)) if named else ""


def guessing(result: PairList) -> Iterator[str]:
    """Yield which models do no better than guessing, and which significantly worse."""
    shares = result.summary.good_first
    p_values = {key: mcnemar(share.hits, share.n - share.hits) for key, share in shares.items()}
    is_sure = {key: p * len(shares) < GUESS_ALPHA for key, p in p_values.items()}
    if not result.summary.n_compared:
        return
    unsure = [result.labels[key] for key in shares if not is_sure[key]]
    if unsure:
        n = counted(len(shares), "model")
        rows = counted(result.summary.n_compared, "pair")
        template = GUESSING if result.sides.is_judged else GUESSING_SIDES
        yield template.format(rows=rows, names=enumerated(unsure), n=n)
    under = [
        result.labels[key] for key, share in shares.items() if is_sure[key] and share.value < 0.5
    ]
    if under and result.sides.is_judged:
        bad = result.texts.columns.get("bad", "bad")
        find = "finds" if len(under) == 1 else "find"
        yield UNDER.format(names=enumerated(under), find=find, bad=bad)


def many_labels(result: LabelledList) -> str:
    """Return that no curves are drawn where there are many labels; empty where there are few."""
    n = len(result.result.labels.names)
    is_many = n > MAX_CLASSES and not result.untrained
    return MANY.format(n=n, most=MAX_CLASSES) if is_many else ""


def layers_said(result: LabelledList) -> str:
    """Return what the layers reach that the folds chose; empty without curves."""
    shares = [
        f"{result.labels[key]} {scored(best.accuracy)} ({layers_named(best.layers)})"
        for key, best in result.best_layer.items()
    ]
    return LAYERS.format(shares=enumerated(shares)) if shares else ""


def layers_named(layers: Sequence[int]) -> str:
    """Format the layers of five folds, each once: ``layers 3 and 5``."""
    each = sorted(set(layers))
    return f"layer{'s' * (len(each) > 1)} {enumerated(map(str, each))}"
