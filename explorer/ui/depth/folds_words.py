"""The sentences of the depth tab's folds: layers that see alike, words that move, shared heads."""

from collections.abc import Mapping, Sequence

from explorer.analysis.depth.drift import SharedDrift
from explorer.analysis.depth.lineage import WeightLineage
from explorer.analysis.depth.similarity import LayerSimilarity
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, explained, finding, join, listed, model_name, note

SIMILARITY_FOLD = "CKA: which layers have similar representations?"
SIMILARITY = {
    "cka": "CKA of every layer with every other",
    "chance": "With the words shuffled, CKA is {low} to {high}: the level of chance.",
    "layer": "{model} layer {n}",
    "embeddings": "{model} embeddings",
    "cell": "%{customdata[0]} and %{customdata[1]}<br>CKA %{z:.3f}<br>"
    "with the words shuffled %{customdata[2]:.3f}",
}
PROGRESS = "{done} of {n} sentences"
STOP = "Stop"
STOPPED = "Stopped. Open this fold again to continue."
NO_MODEL = "No model is available to compare."
SIMILARITY_NOTE = (
    "Linear CKA between hidden states: 1 means identical up to rotation and scale; compare with "
    "the shuffled words.\n"
    "Kornblith et al. 2019, on {n} words of the bundled sentences, each word the mean of its "
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

MOVES_FOLD = "Hidden states: how does a word change from layer to layer?"
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
MORE_FOLD = "More: where do the models' states lie, in three dimensions?"
PROJECTION = {
    "title": "Word states of all models in three dimensions",
    "finding": "The same words in all models: their states after each layer, in three dimensions.",
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
NO_SHARED = "No model here shares its layer, so it has no shared heads."


def similarity_finding(found: LayerSimilarity, labels: Mapping[str, str]) -> Markup:
    """Which layer of the first model each other model's last layer is most like."""
    first, *others = labels
    if not others:
        return finding("Only ", model_name(first, labels[first]), " is available.")
    said: list[str | Markup] = []
    for key in others:
        layer, cka, chance = found.nearest(key, found.last(key), first)
        place = f"layer {layer}" if layer else "the embeddings"
        name = model_name(key, labels[key])
        numbers = f" (CKA {cka:.2f}, by chance {chance:.2f})"
        shown = numbers if said else explained(numbers, "CKA")
        said.append(join(place, " is most similar to the last layer of ", name, shown))
    return finding("In ", model_name(first, labels[first]), " ", listed(said), ".")


def lineage_note(lineage: WeightLineage, names: tuple[str, str]) -> Markup:
    """Where the student's layers began, and what the weights still show of it."""
    begin = LINEAGE_NOTE.format(teacher=names[0], student=names[1])
    origin = _layers(lineage.initialised_from)
    if lineage.is_as_initialised:
        return note(begin + AS_COPIED.format(origin))
    closest = NOT_AS_COPIED.format(_layers(lineage.nearest))
    return note(begin + closest + COPIED_FROM.format(origin))


def _layers(layers: Sequence[int]) -> str:
    return ", ".join(str(layer + 1) for layer in layers)


def shared_finding(drift: SharedDrift, spec: ModelSpec) -> Markup:
    """Between which applications the shared heads change most, and when they have settled."""
    steps = drift.step.mean(1)
    most, least = int(steps.argmax()), int(steps.argmin())
    much, little = f"{steps[most]:.2f}", f"{steps[least]:.2f}"
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
