"""The sentences of the fold on sentence pairs."""

from collections.abc import Sequence

from explorer.analysis.tasks.quadrants import PairQuadrants
from explorer.views.markup import Markup, finding, join, listed, model_name

QUESTION = "How much do two sentences look at each other?"
NO_PAIR = "Write [SEP] between two sentences, and this shows how much each looks at the other."
HOW = (
    "Shares of the words' attention, averaged over the words of a sentence and over all heads; "
    "[CLS] and [SEP] are counted apart, so that each bar is 100 %. In the maps, rows are layers "
    "and columns are heads, stronger where a head looks across more, A to B and B to A averaged, "
    "on one scale for all models."
)
QUADRANTS = {
    "from_a": "Sentence A looks at",
    "from_b": "Sentence B looks at",
    "to_a": "A",
    "to_b": "B",
    "to_added": "[CLS], [SEP]",
    "map": "How much each head of {model} looks across; darkest is {top}.",
    "cell": "layer {layer}, head {head}: {share} of the attention goes to the other sentence",
    "strongest": "Heads that look across most, as layer.head: {heads}.",
}


def pairs_finding(results: Sequence[PairQuadrants]) -> Markup:
    """How much crosses in each model, and in which direction more."""
    parts = [
        join(f"{float(result.crossing.mean()):.0%} in ", model_name(result.model, result.label))
        for result in results
    ]
    return finding("Of its attention, a sentence gives the other one ", listed(parts), ".")
