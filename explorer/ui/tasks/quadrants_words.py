"""The sentences of the fold on sentence pairs."""

from collections.abc import Sequence

from explorer.analysis.tasks.quadrants import PairQuadrants
from explorer.views.markup import Markup, finding, join, listed, model_name

QUESTION = "Attention across sentences: how much do two sentences attend to each other?"
NO_PAIR = "Write [SEP] between two sentences to see how much each attends to the other."
HOW = (
    "Shares of attention, averaged over the words of a sentence and over all heads; [CLS] and "
    "[SEP] are counted apart, so that each bar is 100%. In the maps, rows are layers and columns "
    "heads; stronger colour = more attention across, A to B and B to A averaged, on one scale for "
    "all models."
)
QUADRANTS = {
    "from_a": "Sentence A attends to",
    "from_b": "Sentence B attends to",
    "to_a": "A",
    "to_b": "B",
    "to_added": "[CLS], [SEP]",
    "map": "How much each head of {model} attends across; the strongest colour is {top}.",
    "cell": "layer {layer}, head {head}: {share} of the attention goes to the other sentence",
    "strongest": "Heads that attend across most, as layer.head: {heads}.",
}


def pairs_finding(results: Sequence[PairQuadrants]) -> Markup:
    """How much crosses in each model, and in which direction more."""
    parts = [
        join(f"{float(result.crossing.mean()):.0%} in ", model_name(result.model, result.label))
        for result in results
    ]
    return finding("Share of attention that goes to the other sentence: ", listed(parts), ".")
