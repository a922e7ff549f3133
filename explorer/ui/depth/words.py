"""The sentences of the depth tab."""

from explorer.views.glossary import places

LABEL = "Depth"
QUESTION = "At which layer does the answer appear?"

CANVAS = {
    "finding": "{model} settles on {word} in layer {n} of {total}",
    "at_once": "{model} ranks {word} first from its embeddings on",
    "nothing_hidden": "No word is masked in this text.",
    "words_finding": "{model} ranks {first} of {n} first at its last layer",
    "words_said": "Each word masked in turn: ",
    "words_counted": "Counted: the {n} of {all} words that all models can read; a typed [MASK] is "
    "not counted.",
    "words_none": "No word of this text can be masked and read by all models.",
    "hide_each": "Mask each word in turn",
    "look": "Show",
    "looks": {"mask": "a mask", "words": "every word"},
    "mask": "Mask",
    "numbered": "Mask {i} of {n}: ",
    "mask_name": "{i}: {near}",
    "kl_scale": "; the KL line runs from 0 (left) to {kl} nats (right) in every model",
    "embeddings": "emb.",
    "layer": "layer {n}",
    "place": "rank",
    "scale": "Cell colour: probability 0",
    "kl": "KL",
    "cell": "{model}, {layer}: {word} {p}",
    "place_cell": "{layer}: {word} has rank {rank}",
    "kl_cell": "{layer}: KL(final ‖ layer) {kl} nats",
    "strip": "{model}: what the MLM head predicts at each layer",
    "terms": places("KL", "nats", "logit lens"),
    "rows": "Each row is a layer, read by the model's own MLM head; early layers are read "
    "unreliably.\n"
    "A row shows each word's probability, the rank of the final answer (the first word) among all "
    "pieces, and KL(final ‖ layer) in nats. The line across stands above the layer at which a "
    "model settles: from there on no piece ranks above its final answer. Rows are aligned by "
    "relative depth. The head was trained on the last layer only: early layers may hold more than "
    "it can read there (logit lens: nostalgebraist 2020; a lens fitted to each layer: Belrose et "
    "al. 2023).",
    "first_masks": "The first {n} of {all} masks are shown.",
    "words_strip": "{model}: the rank of every masked word at each layer",
    "words_note": "Each column is a text of its own in which only that word is masked, besides "
    "the [MASK]s. Its cells show the rank, among all pieces, of the original word at each layer: "
    "for a [MASK] of the model's own final answer, for a word of several pieces the worst "
    "of their ranks. The strongest colour is rank 1; a dash: not in the vocabulary.",
    "first_words": "The first {n} of {all} words are shown.",
    "waiting": "Masking each word in turn",
    "lacking": "This cannot be computed right now. Please press Compare and try again.",
    "dial": "What if {model} applied its one layer more or fewer times?",
    "times": "times",
    "usual": "as usual",
    "same": "Same top prediction as after the usual {n}.",
    "other": "Different top prediction from the usual {n}.",
    "distance": "KL(usual ‖ this) {kl} nats",
    "work": "{gflop} GFLOP for the encoder, {share} the usual compute",
    "same_work": "{gflop} GFLOP for the encoder, unchanged",
    "beyond": "Applying its layer up to {n} times",
    "dial_chart": "KL from the prediction at the usual depth, nats",
    "dial_note": "The same weights, no training: applied k times it is a k-layer model.\nLan et "
    "al. 2019 share the layer; Simoulin and Crabbé 2021 train it to choose its depth token by "
    "token.",
    "no_dial": "No model here shares its layer, so there is no depth to vary.",
}
NO_WORD = "No word in this text can be read by all models."
NO_MASK = "The text has no [MASK]: mask a word first."

TOO_MANY_MASKS = "The text has {found} masks; at most {limit} can be read layer by layer."
