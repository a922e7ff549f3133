"""Sentences on tagged rows, the same on the page and in a shell."""

from collections.abc import Iterator

from explorer.analysis.digits import counted, enumerated, percent
from explorer.lists.heads import NO_HEAD, OTHER_NAMES
from explorer.lists.tagged import TagDuel, TaggedList
from explorer.lists.views.head_strings import (
    ALPHA,
    HOW,
    NOT_NAMED,
    at_most,
    on_cards_said,
)
from explorer.lists.views.strings import first_of, groups_said, p_value, scored

NOUN = "sentence"
SOLE = (
    "{best}'s own head is the best of the models' heads for your tags: the others are "
    "significantly worse on {rows}."
)
ALIKE = "{rows} are too few to tell which head is best for your tags: {best}."
LEARNED = (
    "{names} {are} significantly better than giving each word the tag that it has most often in "
    "the other sentences."
)
NOTHING = (
    "No own head is significantly better than giving each word the tag that it has most often in "
    "the other sentences, as far as {rows} can show."
)
FEW = "With one sentence there is nothing to compare the heads with."
F1 = "F1 of exact spans: {shares}."
CONTROL = "the most frequent tag of each word"
BETTER = "{better}'s head has the higher F1 than {worse}'s, by {by}"
SURE = "{differences} (test of Yeh 2000, p {level}{holm})."
HOLM = " after Holm's correction for {n}"
UNSURE = "{rows} are too few to tell the heads apart (test of Yeh 2000, {p})."
SMALLEST, ONLY = "smallest p of {n} after Holm's correction: {p}", "p = {p}"
SAME = "The heads give the same spans."
NOT_KNOWN = (
    "{label}'s own head does not know {types}: {n} of {spans} of your list {have} {it} and count "
    "as missed."
)
NOT_YOURS = (
    "{label}'s own head also gives {types}, which no row of your list has: {n} of its spans count "
    "as wrong."
)
ONE_EACH = "Each word is a span here: F1 is the share of words with the right tag."
WITHOUT = "{names} {bring} no head that tags words."
SPAN = "{words} ({label})"


def tag_lines(result: TaggedList) -> tuple[str, ...]:
    """Return the verdict on the heads, their scores, and how they differ."""
    return (" ".join(_verdict(result)), " ".join((_f1(result), *_duels(result))))


def _verdict(result: TaggedList) -> Iterator[str]:
    found, rows = result.heads, counted(len(result.texts.rows), NOUN)
    if found.lexicon is None:
        yield FEW
        return
    best = enumerated(result.labels[key] for key in found.best)
    if len(found.scores) > 1:
        yield (SOLE if len(found.best) == 1 else ALIKE).format(best=best, rows=rows)
    names = [f"{result.labels[key]}'s head" for key in found.learned]
    are = "is" if len(names) == 1 else "are"
    yield (LEARNED if names else NOTHING).format(names=enumerated(names), are=are, rows=rows)


def _f1(result: TaggedList) -> str:
    found = result.heads
    shares = [f"{result.labels[key]} {scored(each.micro.f1)}" for key, each in found.scores.items()]
    if found.lexicon:
        shares.append(f"{CONTROL} {scored(found.lexicon.micro.f1)}")
    return F1.format(shares=enumerated(shares))


def _duels(result: TaggedList) -> Iterator[str]:
    duels = result.heads.duels
    if not duels:
        return
    sure, n = [duel for duel in duels if duel.corrected < ALPHA], counted(len(duels), "comparison")
    if sure:
        yield SURE.format(
            differences="; ".join(_better(duel, result) for duel in sure),
            level=at_most(max(duel.corrected for duel in sure)),
            holm=HOLM.format(n=n) if len(duels) > 1 else "",
        )
    elif len({each.spans for each in result.heads.scores.values()}) == 1:
        yield SAME
    else:
        p = p_value(min(duel.corrected for duel in duels))
        said = (SMALLEST if len(duels) > 1 else ONLY).format(n=n, p=p)
        yield UNSURE.format(rows=counted(len(result.texts.rows), NOUN), p=said)


def _better(duel: TagDuel, result: TaggedList) -> str:
    better, worse = (result.labels[key] for key in duel.better_and_worse)
    return BETTER.format(better=better, worse=worse, by=percent(abs(duel.difference.value)))


def tag_cautions(result: TaggedList) -> Iterator[str]:
    """Yield what else a reader of the heads' scores must know, and why others have none."""
    yield from on_cards_said(result)
    n_spans = sum(map(len, result.spans))
    for key, each in result.heads.scores.items():
        places, label = result.heads.asked.heads[key].places, result.labels[key]
        types = [name for name in result.types if name not in places]
        if types:
            n = sum(each.by_type[name].n_true for name in types)
            yield NOT_KNOWN.format(
                label=label,
                types=_quoted(types),
                n=f"{n:,}",
                spans=counted(n_spans, "span"),
                have="has" if n == 1 else "have",
                it="it" if len(types) == 1 else "one of them",
            )
        own = [name for name in each.by_type if name not in result.types]
        if own:
            n = sum(each.by_type[name].n_given for name in own)
            yield NOT_YOURS.format(label=label, types=_quoted(own), n=f"{n:,}")
    if n_spans == sum(len(row.tags) for row in result.texts.rows):
        yield ONE_EACH
    if any(row.group for row in result.texts.rows):
        groups = {row.group or row.number for row in result.texts.rows}
        yield groups_said(len(result.texts.rows), len(groups))
    yield from _others(result)


def _others(result: TaggedList) -> Iterator[str]:
    """Yield why the heads of some models are not scored."""
    others = result.heads.asked.others
    for key, why in others.items():
        if why.reason == OTHER_NAMES:
            yield NOT_NAMED.format(
                names=result.others[key],
                labels=enumerated(first_of(why.labels)),
                yours=enumerated(first_of(result.types)),
                how=HOW.format(key=key),
            )
        elif why.reason != NO_HEAD:
            yield why.said
    without = [result.others[key] for key, why in others.items() if why.reason == NO_HEAD]
    if without:
        bring = "brings" if len(without) == 1 else "bring"
        yield WITHOUT.format(names=enumerated(without), bring=bring)


def _quoted(names: list[str]) -> str:
    return enumerated(first_of([f"“{name}”" for name in names]))
