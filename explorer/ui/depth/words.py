"""The sentences of the depth tab."""

from collections.abc import Sequence

from explorer.views.glossary import places

LABEL = "Depth"
QUESTION = "When does each model know?"

CANVAS = {
    "finding": "{model} decides on {word} in layer {n} of {total}",
    "at_once": "{model} has {word} first from its embeddings on",
    "nothing_hidden": "No word is hidden in this text.",
    "words_finding": "{model} ends with {first} of {n} in first place",
    "words_said": "Each word hidden in its turn: ",
    "hide_each": "Hide each word in its turn",
    "look": "Look at",
    "looks": {"mask": "a mask", "words": "every word"},
    "mask": "Mask",
    "embeddings": "emb.",
    "layer": "layer {n}",
    "place": "place",
    "kl": "KL",
    "cell": "{model}, {layer}: {word} {p}",
    "place_cell": "{layer}: {word} is in place {rank}",
    "kl_cell": "{layer}: KL(final ‖ layer) {kl} nats",
    "strip": "{model}: what the head reads in each layer",
    "terms": places("KL", "nats", "logit lens"),
    "rows": "Each row is a layer, read by the model's own masked-word head: each word's "
    "probability, the place of the final answer (the first word) among all pieces, and "
    "KL(final ‖ layer) in nats. The line across stands above the layer in which a model decides: "
    "from there on no piece is likelier than its final answer. Rows stand by their share of the "
    "whole depth.",
    "brittle": "The head was trained on the last layer alone. What it reads from early layers is "
    "brittle: they may hold more than it can read there (logit lens: nostalgebraist 2020; what a "
    "lens fitted to each layer reads: Belrose et al. 2023).",
    "first_masks": "The first {n} of {all} masks are read.",
    "words_strip": "{model}: the place of every hidden word in each layer",
    "words_note": "Each column is a text of its own, in which that word alone is hidden besides "
    "the masks. In its cells the place, among all pieces, that the head gives at each layer to "
    "what stood there: for a [MASK] the model's own final answer, for a word of several pieces the "
    "worst of their places. 1 has the fullest colour; a dash: no piece stands for it.",
    "first_words": "The first {n} of {all} words are read.",
    "waiting": "Each word is hidden in its turn",
    "lacking": "This cannot be computed now. Please press Compare and try again.",
    "dial": "What if {model} applied its one layer more or fewer times?",
    "times": "times",
    "usual": "as usual",
    "same": "The same first answer as after the usual {n}.",
    "other": "Another first answer than after the usual {n}.",
    "distance": "KL(usual ‖ this) {kl} nats",
    "work": "{gflop} GFLOP for the encoder, {share} of the usual",
    "beyond": "Running its layer up to {n} times",
    "dial_chart": "KL from the answer after the usual depth, nats",
    "dial_note": "The same weights, no training: after k times it is the model with k layers. "
    "Lan et al. 2019 share the layer; Simoulin and Crabbé 2021 train it to choose its depth "
    "token by token.",
    "no_dial": "No model here applies one layer again and again, so there is no depth to turn.",
}
NO_WORD = "There is no word in this text that all models read."
NO_MASK = "There is no [MASK] in this text: put one in place of a word."

TOO_MANY_MASKS = "The text has {found} masks; at most {limit} are read layer by layer."


def bad_model(keys: Sequence[str]) -> str:
    """Which models a family has."""
    return f"The model is one of {', '.join(keys[:-1])} and {keys[-1]}."
