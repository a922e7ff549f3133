"""The sentences of the depth tab's folds: layers that see alike, words that move, shared heads."""

from collections.abc import Mapping, Sequence

from explorer.analysis.depth.drift import SharedDrift
from explorer.analysis.depth.lineage import WeightLineage
from explorer.analysis.depth.similarity import LayerSimilarity
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, explained, finding, join, listed, model_name, note

SIMILARITY_FOLD = "Which layers of the models see words alike?"
SIMILARITY = {
    "cka": "The same words",
    "shuffled": "Words shuffled: what chance alone gives",
    "layer": "{model} layer {n}",
    "embeddings": "{model} embeddings",
    "hint": "The fuller the colour, the more alike. Point at a cell, or walk with the arrow keys.",
    "cell": "{row} and {column}: CKA {cka}; with the words shuffled {shuffled}",
}
PROGRESS = "{done} of {n} sentences"
STOP = "Stop"
STOPPED = "Stopped. Open this question again to go on."
NO_MODEL = "No model is available, so there is nothing to compare."
SIMILARITY_NOTE = (
    "Linear CKA (Kornblith et al. 2019) between the states of {n} words of the bundled sentences, "
    "each word the mean of its pieces: 1 for states that are the same up to a rotation and one "
    "scale. Few words and wide states lift it also by chance: compare with the shuffled square. "
    "From the top left, each model's layers begin with its embeddings."
)
LINEAGE_NOTE = (
    "Outlined: the pairs of layers that began as copies, {student} from {teacher}. Often repeated "
    "and wrong: that each student layer is trained to match every second teacher layer. The "
    "cosine loss compares the last states only; what the other pairs share, they share through "
    "their start and through the data. "
)
AS_COPIED = (
    "By its weights every student layer is still nearest to the one it was copied from ({})."
)
NOT_AS_COPIED = "By their weights the student's layers lie nearest to teacher layers {}; they were "
COPIED_FROM = "copied from {}."

MOVES_FOLD = "How does a word move from layer to layer?"
MOVES = {
    "finding": "After every layer: how near a word's state still is to where it began, and how "
    "near already to where it ends.",
    "word": "Word",
    "start": "cosine to where it began",
    "end": "cosine to where it ends",
    "layer": "layer",
    "embeddings": "emb.",
    "note": "The state of one word after each layer (the mean of its pieces) beside its own first "
    "and last state: 1 is the same direction, 0 is none of it. States of one model may share a "
    "direction that has nothing to do with the word: read the course more than the height.",
}
SHARED_TITLE = "How does one shared head change from layer to layer?"
SHARED = {
    "heads": "Head",
    "step": "JS {js}",
    "chart": "JS in nats from the first application, head by head",
    "label": "Head {head}: its attention at each application of the shared layer",
}
SHARED_NOTE = (
    "{model} has one set of attention weights and applies it again in every layer. Whatever "
    "changes from picture to picture comes from the states it reads. Rows are the words that look, "
    "columns the words looked at; of a long text the first {n}."
)
NO_SHARED = "No model here shares its layer, so there is no shared head to show."


def similarity_finding(found: LayerSimilarity, labels: Mapping[str, str]) -> Markup:
    """Which layer of the first model each other model's last layer is most like."""
    first, *others = labels
    if not others:
        return finding("There is only ", model_name(first, labels[first]), " to look at.")
    said: list[str | Markup] = []
    for key in others:
        layer, cka, chance = found.nearest(key, found.last(key), first)
        place = f"layer {layer}" if layer else "the embeddings"
        name = model_name(key, labels[key])
        numbers = f" (CKA {cka:.2f}, by chance {chance:.2f})"
        shown = numbers if said else explained(numbers, "CKA")
        said.append(join(place, " is most like the last layer of ", name, shown))
    return finding("In ", model_name(first, labels[first]), " ", listed(said), ".")


def lineage_note(lineage: WeightLineage, names: tuple[str, str]) -> Markup:
    """Where the student's layers began, and what the weights still show of it."""
    begin = LINEAGE_NOTE.format(teacher=names[0], student=names[1])
    origin = _layers(lineage.initialised_from)
    if lineage.is_as_initialised:
        return note(begin, AS_COPIED.format(origin))
    return note(begin, NOT_AS_COPIED.format(_layers(lineage.nearest)), COPIED_FROM.format(origin))


def _layers(layers: Sequence[int]) -> str:
    return ", ".join(str(layer + 1) for layer in layers)


def shared_finding(drift: SharedDrift, spec: ModelSpec) -> Markup:
    """Between which applications the shared heads change most, and when they have settled."""
    steps = drift.step.mean(1)
    most, least = int(steps.argmax()), int(steps.argmin())
    return finding(
        "The same weights, applied again: ",
        model_name(spec.key, spec.label),
        f"'s heads change most between applications {most + 1} and {most + 2} ",
        explained(f"(JS {steps[most]:.2f} nats on average)", "JS"),
        f" and least between {least + 1} and {least + 2} ({steps[least]:.2f}).",
    )
