"""Sentences and labels of the Depth tab."""

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.depth.states import LayerSimilarity, SharedDrift, WeightLineage
from explorer.analysis.digits import cosine, enumerated, nats
from explorer.library import refusals
from explorer.library import strings as sentences
from explorer.library.vectors import ModelCloseness
from explorer.models.specs import ModelSpec
from explorer.ui.kit.strings import LINK
from explorer.views.glossary import places
from explorer.views.markup import (
    Markup,
    explained,
    finding,
    join,
    listed,
    model_name,
    note,
    word,
)

LABEL = "Depth"
QUESTION = "At which layer does the answer appear?"
CANVAS = {
    "finding": "{model} settles on {word} in layer {n} of {total}",
    "at_once": "{model} ranks {word} first from its embeddings on",
    "follow": "Follow",
    "own": "each its own answer",
    "followed": "Followed in all models: {word}. ",
    "followed_first": "{model} ranks it first from layer {n} of {total} on",
    "followed_at_once": "{model} ranks it first from its embeddings on",
    "followed_last": "{model} ends at rank {rank}",
    "followed_lost": "{model} ranks it first in layer {n} of {total} and ends at rank {rank}",
    "followed_none": "{model} does not have it as one piece at the start of a word: its own answer "
    "is shown",
    "place_of": "rank of followed",
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
    "kl_scale": "; KL line: 0 to {kl} nats in every model",
    "embeddings": "emb.",
    "layer": "layer {n}",
    "place": "rank of final",
    "scale": "Cell colour: probability 0",
    "kl": "KL(final ‖ layer)",
    "cell": "{model}, {layer}: {word} {p}",
    "place_cell": "{layer}: {word} has rank {rank}",
    "kl_cell": "{layer}: KL(final ‖ layer) {kl} nats",
    "strip": "{model}: what the MLM head predicts at each layer",
    "terms": places("KL", "nats", "logit lens"),
    "rows": "Rows are layers, read by the MLM head: early ones unreliably.\n"
    "Each model is read by its own head. A row shows each word's probability, the "
    "rank of the first word (the final answer, or the followed one) among all pieces, and "
    "KL(final ‖ layer) in nats. "
    "The line across stands above the layer at which a model settles: from there on no piece "
    "ranks above its final answer. Rows are aligned by "
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
    "needs_page": LINK["needs_page"],
    "dial": "{model}'s one layer, applied more or fewer times",
    "times": "times",
    "usual": "as usual",
    "same": "Same top prediction as usual.",
    "other": "The top prediction differs from the usual.",
    "distance": "KL(usual ‖ this) {kl} nats",
    "work": "{gflop} for the encoder, {share} the usual compute",
    "same_work": "{gflop} for the encoder, unchanged",
    "beyond": "Applying its layer up to {n} times",
    "dial_kl": "KL(usual ‖ this)",
    "dial_chart": "KL from the usual prediction, nats",
    "dial_note": "The same weights, no training.\nApplied k times it is a k-layer model. Lan et "
    "al. 2019 share the layer; Simoulin and Crabbé 2021 train it to choose its depth token by "
    "token.",
    "no_dial": "No model here shares its layer, so there is no depth to vary.",
}
NO_WORD = refusals.NO_WORD
CHANGED_FOLD = "Two checkpoints: what did training change?"
CHANGED_NO_PAIR = (
    "No two of the models shown have one shape, so their weights cannot be compared. Start the "
    "page with a checkpoint before and after its training: --model before=FOLDER --model "
    "after=FOLDER."
)
CHANGED_TEXTS = "Your own texts, one a line"
CHANGED_BUNDLED = "empty: the bundled English sentences"
CHANGED_MOST = "At most {n} texts are compared here; explorer.changed takes more."
CHANGED_HEAD = "Read the second model with the first one's head"
CHANGED_RUN = "Compare"
CHANGED_PROGRESS = "{done} of {n} texts, plain and masked"
CHANGED_NOTE = (
    "Grey is each chart's control, computed in the same way: rows of a matrix in another order, "
    "tokens in another order, two heads of one layer, the model before read one layer earlier.\n"
    "Weights: the distance of two matrices in lengths of the first; the table splits it into scale "
    "and turn, because weight decay alone shrinks rows. States: linear CKA of the tokens "
    "(Kornblith et al. 2019). Heads: mean Jensen-Shannon divergence of their rows. Masks: 15% of "
    "the tokens at random. A model without a masked-LM head is read with the head of the model "
    "before."
)
MEANING_FOLD = "Word vectors: how does the meaning of a word change from layer to layer?"
MEANING_SENTENCES = ("First sentence", "Second sentence")
MEANING_WORD = "Its word"
MEANING_EXAMPLE = (
    ("After ten years she finally got a promotion at work.", "promotion"),
    ("The shop had a promotion on summer shoes.", "promotion"),
)
"""Sentences and their words that are compared while the boxes are empty."""
MEANING_PROGRESS = "{done} of {n} sentences with unrelated words"
MEANING_REPEATED = "{sentence}: “{word}” occurs {n} times; the first is compared."
MEANING_NO_WORD = "{sentence}: no word is “{word}”. Its words are {words}."
MEANING = {
    "cosine": "cosine of the two words",
    "unrelated": "unrelated words, mean",
    "band": "unrelated words, 5th to 95th percentile",
    "layer": "layer",
    "embeddings": "emb.",
}
MEANING_NOTE = (
    "Dashes and band: words of unrelated sentences, compared in the same way.\n"
    "A word is the mean of its pieces. The control takes one random word from each of {n} bundled "
    "sentences, in all pairs. States of unrelated words often have a cosine well above 0 "
    "(Ethayarajh 2019), so compare with the band. A lower cosine need not mean another sense: try "
    "a second sentence with the same sense. The embeddings add the word's position, so that even "
    "one word in two sentences has a cosine below 1 there."
)
SIMILARITY_FOLD = "CKA: which layers have similar representations?"
SIMILARITY = {
    "cka": "CKA of every layer with every other",
    "chance": "With the words shuffled, CKA is {low} to {high}: the level of chance.",
    "layer": "{model} layer {n}",
    "embeddings": "{model} embeddings",
    "start": "emb.",
    "cell": "%{customdata[0]} and %{customdata[1]}<br>CKA %{z:.3f}<br>"
    "with the words shuffled %{customdata[2]:.3f}",
}
SIMILARITY_PROGRESS = "{done} of {n} sentences"
SIMILARITY_STOP = "Stop"
SIMILARITY_STOPPED = "Stopped. Open this fold again to continue."
SIMILARITY_NO_MODEL = "No model is available to compare."
SIMILARITY_NOTE = (
    "Linear CKA between hidden states: 1 means identical up to rotation and scale; compare with "
    "the shuffled words. {read}\n"
    "Kornblith et al. 2019, on the words of the bundled sentences, each word the mean of its "
    "pieces. With few words and wide states CKA is high even by chance. From the top left, each "
    "model's layers begin with its embeddings."
)
LINEAGE_NOTE = (
    "Outlined: the layer pairs in which {student} was initialised from {teacher}.\n"
    "A common misconception: that each student layer is trained to match every second teacher "
    "layer. The cosine loss compares the last hidden states only; any other similarity comes from"
    " the initialisation and the data. "
)
AS_COPIED = "By weights, every student layer is still closest to the layer it was copied from ({})."
NOT_AS_COPIED = "By weights, the student's layers are closest to teacher layers {}; they were "
COPIED_FROM = "copied from {}."
MOVES_FOLD = "Hidden states: how far does each word of this text move?"
MOVES = {
    "finding": "After each layer: cosine similarity of a word's state to its first and to its "
    "last state.",
    "word": "Word",
    "start": "cosine to the first state",
    "end": "cosine to the last state",
    "layer": "layer",
    "embeddings": "emb.",
    "note": "The state of a word (the mean of its pieces): 1 is the same direction, 0 is "
    "orthogonal.\n"
    "The states of a model may share a direction that has nothing to do with the word: look at "
    "the trend, not the level.",
}
OTHER_WIDTH = "Not drawn, as the states have another width: {models}."
CLOUD_TITLE = "The models' states in three dimensions"
PROJECTION = {
    "title": "Word states of the models in three dimensions",
    "finding": "The same words in {models}: their states after each layer, in three dimensions.",
    "axis": "PC",
    "embeddings": "emb.",
    "prefix": "Layer ",
    "note": "The first three principal components of all word states of this text show {share} of "
    "their variance.\nEach model's states were centred, scaled to the same mean square and rotated "
    "onto {first}'s (orthogonal Procrustes, layers of the same relative depth). The rotation is "
    "fitted to these words alone: on a short text it brings any two models close. A shallower "
    "model stands at its layer of the same relative depth. The lines follow “{word}” from the "
    "embeddings to the last layer.",
}
SHARED_TITLE = "How does one shared head change from layer to layer?"
SHARED = {
    "heads": "Head",
    "step": "JS {js}",
    "steps": "JS below a tile: to the previous application",
    "chart": "Jensen-Shannon divergence from the first application, one line per head",
    "head": "head {head}",
    "application": "Application of the shared layer",
    "nats": "JS, nats",
    "label": "Head {head}: its attention at each application of the shared layer",
}
SHARED_NOTE = (
    "The weights are the same in every picture, so what changes comes from the states they read.\n"
    "{model} has one set of attention weights and applies it in every layer. Rows are queries, "
    "columns the words they attend to; of a long text the first {n}."
)
NO_SHARED = "No model here applies one layer several times, so no heads are shared."


MOST_WORDS = 30
"""Upper limit of the words that a sentence lists."""


def no_such_word(word: str, sentence: str, words: Sequence[str]) -> str:
    """Return that a sentence lacks a word, and which words it has."""
    known = [one for one in words if any(map(str.isalnum, one))]
    shown = ", ".join(known[:MOST_WORDS]) + (" …" if len(known) > MOST_WORDS else "")
    return MEANING_NO_WORD.format(sentence=sentence, word=word, words=shown)


def closeness(label: str, found: ModelCloseness) -> str:
    """Return how close two words are at a model's last layer, next to unrelated pairs."""
    return sentences.closeness_said(label, found.cosine[-1], found.low[-1], found.high[-1])


def meaning_finding(
    words: tuple[str, str],
    compared: Mapping[str, Sequence[np.ndarray]],
    labels: Mapping[str, str],
) -> Markup:
    """Return at which layers each model has two words least alike, and unrelated ones there.

    Args:
        words: The two words.
        compared: By model the cosine of the two, and the mean of unrelated words, by layer.
        labels: The models' names.
    """
    least, constant = [], []
    for key, (values, unrelated, *_) in compared.items():
        name, printed = model_name(key, labels[key]), [cosine(value) for value in values]
        if len(set(printed)) == 1:
            constant.append(join(name, f" (cosine {printed[0]})"))
            continue
        lowest = printed[int(np.argmin(values))]
        layers = [layer for layer, value in enumerate(printed) if value == lowest]
        control = f", unrelated words {cosine(unrelated[layers[0]])}" if len(layers) == 1 else ""
        beside = f" (cosine {lowest}{control})"
        least.append(join(_named_layers(layers), " of ", name, beside))
    same = words[0].casefold() == words[1].casefold()
    two = (
        join("The two uses of ", word(words[0]))
        if same
        else join(word(words[0]), " and ", word(words[1]))
    )
    parts = [join(" are least alike in ", listed(least))] if least else []
    if constant:
        parts.append(join(" are equally alike in every layer of ", listed(constant)))
    return finding(two, join(parts[0], *(join(" and", part) for part in parts[1:])), ".")


def _named_layers(layers: Sequence[int]) -> str:
    numbers = [str(layer) for layer in layers if layer]
    names = ["the embeddings"] if 0 in layers else []
    if numbers:
        names.append(f"layer{'s' if len(numbers) > 1 else ''} {enumerated(numbers)}")
    return " and ".join(names)


def similarity_finding(similarity: LayerSimilarity, labels: Mapping[str, str]) -> Markup:
    """Return the first model's layer that is most similar to each other model's last."""
    first, *others = labels
    if not others:
        return finding("Only ", model_name(first, labels[first]), " is available.")
    parts: list[str | Markup] = []
    for key in others:
        layer, cka, chance = similarity.nearest(key, similarity.last(key), first)
        place = f"layer {layer}" if layer else "the embeddings"
        name = model_name(key, labels[key])
        numbers = f" (CKA {cosine(cka)}, by chance {cosine(chance)})"
        numbers_html = numbers if parts else explained(numbers, "CKA")
        parts.append(join(place, " is most similar to the last layer of ", name, numbers_html))
    return finding("In ", model_name(first, labels[first]), " ", listed(parts), ".")


def lineage_note(lineage: WeightLineage, names: tuple[str, str]) -> Markup:
    """Return from which layers the student was initialised, and if its weights still show it."""
    begin = LINEAGE_NOTE.format(teacher=names[0], student=names[1])
    origin = _layers(lineage.initialised_from)
    if lineage.is_as_initialised:
        return note(begin + AS_COPIED.format(origin))
    closest = NOT_AS_COPIED.format(_layers(lineage.nearest))
    return note(begin + closest + COPIED_FROM.format(origin))


def _layers(layers: Sequence[int]) -> str:
    return ", ".join(str(layer + 1) for layer in layers)


def shared_finding(drift: SharedDrift, spec: ModelSpec) -> Markup:
    """Return between which applications a shared layer's heads change most and least."""
    steps = drift.step.mean(1)
    most, least = int(steps.argmax()), int(steps.argmin())
    much, little = nats(steps[most]), nats(steps[least])
    name = model_name(spec.key, spec.label)
    lead = "With the same weights at every application, "
    if much == little:
        amount = explained(f"(JS {much} nats on average)", "JS")
        return finding(
            lead, name, "'s heads change equally from each application to the next ", amount, "."
        )
    return finding(
        lead,
        name,
        f"'s heads change most between applications {most + 1} and {most + 2} ",
        explained(f"(JS {much} nats on average)", "JS"),
        f" and least between {least + 1} and {least + 2} ({little}).",
    )


FOLD = "Activation patching: where does a difference travel?"
SECOND = "Second text: the first with one change"
START = "Patch every state"
STOP = "Stop"
STOPPED = "Stopped. “Patch every state” starts again."
READING = "Reading the second text."
PROGRESS = "{done} of {n} states patched."
PICTURE = {
    "finding": "{was} or {becomes}: at first that word's state carries all of the difference. The "
    "[MASK] carries more than that word ",
    "from": "in {model} from layer {n} of {total} on",
    "others": " Another word carries more than both: ",
    "other": "{word} in {n} of {total} layers of {model}",
    "no_partner": "In no model does {was} have as many pieces as {becomes}, so their states "
    "cannot be paired.",
    "no_finding": "In no patched model do {was} and {becomes} change the scores enough to be "
    "followed.",
    "offers": "Suggested changes",
    "kinds": {
        "number": "number",
        "gender": "gender",
        "negation": "negation",
        "name": "name",
    },
    "offer": "{kind}: {was} → {becomes}",
    "mask": "Mask",
    "first_masks": "The first {n} of {all} masks are shown.",
    "embeddings": "emb.",
    "layer": "layer {n}",
    "layers": "layer",
    "map": "{model}: the share of the difference that each word's state restores, by layer",
    "cell": "{model}, {word}, {layer}: {share}",
    "answers": "{first} (first text) against {second} (second text)",
    "same": "Both texts have the same top word, so the words with the largest terms of KL are "
    "compared: {first} (likelier in the first text) and {second} (in the second)",
    "gaps": "; logit differences: {d_first} and {d_second}.",
    "little": "The scores of the two texts differ by only {gap} logits, too little to divide by: "
    "nothing is drawn.",
    "how": "A cell: the share of the difference that the first text's state restores there.\n"
    "One pass over the second text, in which that word's state at that layer is replaced by the "
    "first text's: (d_patch − d_second) / (d_first − d_second), where d is the difference of the "
    "two scores. 1: as in the first text; 0: as in the second; below 0 (dashed): moved the other "
    "way. The shares of a layer need not add up to 1, because states interact. "
    "Where both texts have the same top prediction, the two words are those with the largest terms "
    "of the KL divergence, one likelier in each text.",
    "frame": "Between lines: the changed word and the [MASK]. Layers are aligned by relative "
    "depth.\n"
    "Activation patching: Vig et al. 2020; Meng et al. 2022.",
    "terms": places("logits", "KL"),
}
