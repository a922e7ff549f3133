"""All sentences on the result of a list, in the order in which they are read."""

from explorer.analysis.digits import enumerated, percent, told_apart
from explorer.lists.disagreement import has_truth, mean_distances
from explorer.lists.results import (
    LabelledList,
    ListResult,
    MaskedList,
    SentenceList,
    is_untrained,
)
from explorer.lists.tagged import TaggedList
from explorer.lists.views.cautions import cautions, layers_named
from explorer.lists.views.head_strings import head_verdict, not_scored
from explorer.lists.views.pair_strings import means_said
from explorer.lists.views.strings import headline, nats, scored, second_line
from explorer.lists.views.tag_strings import tag_lines

APART = (
    "{first} and {second} differ most on these {n:,} sentences: by {most} nats a word on average, "
    "against {others}. Each model is measured from its own mean."
)
BETTER = (
    "{label} has better features than those of layer {layer}: with the layer that each fold "
    "chooses on its training rows ({layers}) it is right in {accuracy} instead of {asked}, a "
    "difference of {gain}"
)
OTHER = "{value} ({first}, {second})"
FROM_FEATURES = "From frozen features: {said}"


def lines_said(result: ListResult) -> tuple[str, ...]:
    """Return every sentence on a result, the verdict first.

    It is that of the models' own heads, where these are scored. Of masked rows without answers it
    is the mean log-ratio of two words, where all rows offer the same two, and otherwise the
    headline.
    """
    if isinstance(result, TaggedList):
        return (*tag_lines(result), *cautions(result))
    heads = head_lines(result)
    means = tuple(means_said(result))
    is_ratio = isinstance(result, MaskedList) and not has_truth(result).any()
    first, later = (means, ()) if is_ratio else ((), means)
    first_said = headline(result)
    if heads and not is_untrained(result):
        first_said = FROM_FEATURES.format(said=first_said)
    verdict = (first_said, better_layers(result), most_apart(result))
    others = not_scored(result)
    lines = (*heads, *first, *verdict, second_line(result), *later, *others, *cautions(result))
    return tuple(filter(None, dict.fromkeys(lines)))


def head_lines(result: ListResult) -> tuple[str, ...]:
    """Return what the models' own heads achieve, and why others are not scored.

    It is empty where none is scored.
    """
    heads = head_verdict(result)
    return (*heads, *not_scored(result)) if heads else ()


def better_layers(result: ListResult) -> str:
    """Return for which models another layer than the asked one is clearly better.

    The layer is the one that each fold chooses on its training rows, and it is better where the
    paired interval of the two accuracies is above 0. Empty where it is for none.
    """
    if not isinstance(result, LabelledList):
        return ""
    said = []
    for key, best in result.best_layer.items():
        if best.gain.low > 0:
            asked = result.result.accuracy[key].value
            said.append(
                BETTER.format(
                    label=result.labels[key],
                    layer=result.layers[key],
                    accuracy=percent(best.accuracy.value),
                    layers=layers_named(best.layers),
                    asked=percent(asked),
                    gain=scored(best.gain),
                )
            )
    return "; ".join(said) + "." * bool(said)


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
