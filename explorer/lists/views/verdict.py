"""All sentences on the result of a list, in the order in which they are read."""

from explorer.analysis.digits import enumerated, told_apart
from explorer.lists.results import ListResult, MaskedList, SentenceList, has_truth, mean_distances
from explorer.lists.views.cautions import cautions
from explorer.lists.views.pair_strings import means_said
from explorer.lists.views.strings import headline, nats, second_line

APART = (
    "{first} and {second} differ most on these {n:,} sentences: by {most} nats a word on average, "
    "against {others}. Each model is measured from its own mean."
)
OTHER = "{value} ({first}, {second})"


def lines_said(result: ListResult) -> tuple[str, ...]:
    """Return every sentence on a result, the verdict first.

    Of masked rows without answers it is the mean log-ratio of two words, where all rows offer the
    same two, and otherwise the headline.
    """
    means = tuple(means_said(result))
    is_ratio = isinstance(result, MaskedList) and not has_truth(result).any()
    first, later = (means, ()) if is_ratio else ((), means)
    lines = (*first, headline(result), most_apart(result), second_line(result), *later)
    return tuple(filter(None, (*lines, *cautions(result))))


def most_apart(result: ListResult) -> str:
    """Return which two of three or more models differ most on sentences; empty where none do."""
    if not isinstance(result, SentenceList) or result.summary.n_compared < 2:
        return ""
    apart = mean_distances(result)
    values = told_apart([*apart.values()], nats, 2) if len(apart) > 1 else []
    printed = dict(zip(apart, values, strict=False))
    pair = max(printed, key=lambda each: apart[each], default=None)
    if pair is None or values.count(printed[pair]) > 1:
        return ""
    others = [
        OTHER.format(value=printed[a, b], first=result.labels[a], second=result.labels[b])
        for a, b in printed
        if (a, b) != pair
    ]
    first, second = (result.labels[key] for key in pair)
    n, most = result.summary.n_compared, printed[pair]
    return APART.format(first=first, second=second, n=n, most=most, others=enumerated(others))
