"""Predictions at every layer, and similarity of all layers of all models."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from explorer import assets, limits
from explorer.inference.ask import Ask
from explorer.inference.cache import CACHE, key_of_family
from explorer.inference.runs import call_on_model, gather, get_run, get_runs, refuse_none
from explorer.library import refusals, strings
from explorer.library.family import Family, asked, checked_text, missing_reasons
from explorer.library.progress import result_of
from explorer.library.results import Result
from explorer.library.vectors import Closeness, closeness
from explorer.models.run import Run, length_batches
from explorer.models.specs import ModelSpec
from explorer.models.tokens import MASK, UNKNOWN, Tokens
from explorer.refusal import Refusal
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.analysis.alignment import Groups
    from explorer.analysis.depth.lens import MaskLens
    from explorer.analysis.depth.states import LayerSimilarity

MAX_WORDS = 1000
"""Upper limit of words: their square matrices of all layers stay under 150 MB."""
AT_ONCE = 8
"""Sentences that share a pass, between two steps of progress."""
SECONDS = limits.SIMILARITY.maximum
"""Seconds after which no further sentences are read."""
MAX_SECONDS = 600


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Depth(Result):
    """Predictions of one model's masked-LM head for each mask at every layer."""

    model: str
    pieces: tuple[str, ...]
    vocabulary: tuple[str, ...]
    masks: "tuple[MaskLens, ...]"
    """Per mask: top ids and probabilities, rank of the final answer, KL(final || layer)."""

    COLUMNS: ClassVar = (
        *("model", "mask", "layer", "rank", "token", "probability"),
        *("rank_of_final", "kl_to_final"),
    )
    SKETCH: ClassVar = Sketch("lines", "layer", "probability", panels="model mask token")
    BAR: ClassVar = "probability"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/depth``.

        The model, its tokens, and per mask its layers. Layer 0 is the embeddings; for ALBERT layer
        k is the k-th application of its one layer. ``predictions`` are the five likeliest pieces.
        ``rank_of_final`` is the place of the last layer's first choice (1: none is likelier).
        ``kl_to_final`` is KL(final || layer) in nats. From layer ``decided_at`` on that place is 1.
        """
        masks = [_as_json(self.vocabulary, lens) for lens in self.masks]
        return {"model": self.model, "tokens": list(self.pieces), "masks": masks}

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each mask, layer and listed token; layer 0 is the embeddings."""
        return [
            (
                *(self.model, mask, layer, rank, self.vocabulary[i], float(p)),
                *(int(lens.rank[layer]), float(lens.kl[layer])),
            )
            for mask, lens in enumerate(self.masks)
            for layer in range(len(lens.rank))
            for rank, (i, p) in enumerate(zip(lens.top_ids[layer], lens.top[layer], strict=True), 1)
        ]


def depth(text: str, family: Family | str = "mini", model: str = "") -> Depth:
    """Return a model's masked-LM head's predictions for each [MASK] at every layer.

    Args:
        text: The text, with at least one [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.
        model: "bert", "distilbert" or "albert", or a column's own name; empty: the first.

    Returns:
        ``masks``: by mask and layer the five likeliest tokens, the rank of the final answer, and
        KL(final || layer) in nats. Layer 0 is the embeddings; from ``decided_at`` on, the rank is
        1.

    Raises:
        Refusal: there is no mask, no such model, or the text is too long.

    Example:
        >>> explorer.depth("The capital of France is [MASK].").masks[0].decided_at
        6
    """
    with asked(family) as models:
        spec, ask = models.chosen(model), models.ask(text)
        run = get_run(spec, ask)
        if not run.tokens.mask_positions:
            raise Refusal(refusals.NO_MASK_TO_FOLLOW)
        masks = range(len(run.tokens.mask_positions))
        lenses = tuple(lens_of(run, ask, mask) for mask in masks)
        return Depth(spec.key, run.tokens.pieces, run.vocabulary, lenses)


def lens_of(
    run: Run, ask: Ask, mask: int, followed: Mapping[str, int] = MappingProxyType({})
) -> "MaskLens":
    """Compute the lens of one mask at every layer; its last row is the run's own answer.

    ``followed`` holds the ids of words to follow besides, by any key.
    """
    from explorer.analysis.depth.lens import mask_lens
    from explorer.models.forward import state_logits

    states = run.hidden_states[:-1, run.tokens.mask_positions[mask]]
    earlier = call_on_model(state_logits, run.spec, ask, states)
    logits = np.concatenate([earlier, run.mask_logits[mask, None]])
    return mask_lens(run, mask, logits, followed)


def _as_json(vocabulary: tuple[str, ...], lens: "MaskLens") -> dict[str, Any]:
    layers = [
        {
            "layer": layer,
            "predictions": [
                {"token": vocabulary[i], "id": int(i), "probability": float(p)}
                for i, p in zip(lens.top_ids[layer], lens.top[layer], strict=True)
            ],
            "rank_of_final": int(lens.rank[layer]),
            "kl_to_final": float(lens.kl[layer]),
        }
        for layer in range(len(lens.rank))
    ]
    return {"position": lens.position, "layers": layers, "decided_at": lens.decided_at}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Similarity(Result):
    """CKA of every layer of every model with every other, over the bundled sentences."""

    family: str
    layers: "LayerSimilarity"
    """``cka`` and ``shuffled``, float64 [row, row]; ``nearest`` finds a layer's likest."""
    unknown: Mapping[str, float]
    """By model key: the share of the texts' pieces that it reads as [UNK]."""
    missing: Mapping[str, Refusal]
    skipped: Mapping[str, float] = field(default_factory=dict)
    """By model key: the share of the texts' characters for which its tokenizer has no token."""
    seconds: float = SECONDS
    """Seconds after which no further texts were read."""

    COLUMNS: ClassVar = ("model", "layer", "other_model", "other_layer", "cka", "shuffled")
    SKETCH: ClassVar = Sketch(
        "heatmap", "other_layer", "cka", down="layer", panels="model other_model"
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/similarity``.

        The ``rows`` of both matrices: each is a model and a layer, and layer 0 is the embeddings.
        ``cka[row][row]`` is linear centered kernel alignment over ``words`` words: those of
        ``read`` of the ``texts``. It is 1 where two rows are equal up to a rotation and a scale.
        ``shuffled`` is the same with the words of one row in another order: the level of chance.
        ``unknown`` is by model the share of the texts' pieces that it reads as [UNK], and
        ``skipped`` that of the characters for which its tokenizer has no token.
        """
        rows = [{"model": key, "layer": layer} for key, layer in self.layers.rows]
        matrices = {"cka": self.layers.cka.tolist(), "shuffled": self.layers.shuffled.tolist()}
        counts = {"words": self.layers.n_words, "read": self.layers.n_read}
        counts["texts"] = self.layers.n_texts
        answer = {"family": self.family, **counts, "rows": rows, **matrices}
        answer |= {"unknown": dict(self.unknown), "skipped": dict(self.skipped)}
        return answer | missing_reasons(self.missing)

    def sentences(self) -> tuple[str, ...]:
        """Return how many texts were read, and what share of them each model does not read."""
        unread = strings.unknown_shares(self.unknown) + strings.skipped_shares(self.skipped)
        return (strings.texts_read(self.layers, MAX_WORDS, self.seconds), *unread)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each two layers; layer 0 is the embeddings."""
        layers = self.layers
        return [
            (*first, *second, float(layers.cka[i, j]), float(layers.shuffled[i, j]))
            for i, first in enumerate(layers.rows)
            for j, second in enumerate(layers.rows)
        ]


def similarity(
    family: Family | str = "mini",
    texts: Sequence[str] | None = None,
    words: Sequence[int] | None = None,
    pooling: str = "",
    seconds: float = SECONDS,
) -> "Similarity | Closeness":
    """Compare the layers of all models by centered kernel alignment, or two words or texts.

    Without ``words`` and ``pooling``, the representations of all layers of all models are compared.
    The states are those of the first 1,000 words of the texts; 1 is equal up to a rotation and a
    scale, and ``shuffled`` is the level of chance. The bundled sentences are English: a model of
    another language or of formulas needs texts of its own, and ``unknown`` says what share of a
    model's pieces is [UNK].

    Args:
        family: What ``load`` returned, or the name of a family.
        texts: Texts to read in place of the bundled English sentences. With ``words`` or
            ``pooling``, the two texts to compare.
        words: The number of a word in each of the two texts, from 0: their cosine at every layer.
        pooling: "mean" or "cls": the cosine of the two texts at every layer, each by the mean of
            its tokens or by its first token.
        seconds: Time after which no further texts are read, 1 to 600; what was read counts.

    Returns:
        A ``Similarity``, whose ``layers`` say how many texts were read (``n_read``). Of two words
        or texts, a ``Closeness``: each model's ``cosine`` [layer + 1], next to that of unrelated
        words or texts by the same procedure (Ethayarajh 2019, arXiv 1909.00512), of which 5% are
        below ``low`` and 5% above ``high``.

    Raises:
        Refusal: no model is available, a text is empty or too long, there is no such word, or
            ``seconds`` is out of range.

    Example:
        >>> texts = ["The cat sat.", "A cat ran."]
        >>> explorer.similarity(texts=texts, words=[1, 1]).compared
        ('cat', 'cat')
    """
    check_seconds(seconds, MAX_SECONDS)
    with asked(family) as models:
        if words is not None or pooling:
            return closeness(models, texts or (), words, pooling or "words")
        own = tuple(checked_text(text, "texts") for text in texts or ())
        return _similarity_of_layers(models, own, seconds)


def _similarity_of_layers(models: Family, own: tuple[str, ...], seconds: float) -> Similarity:
    """Return the similarity of all layers over the reader's texts, or the bundled sentences."""
    read = own or sentences()
    ask = models.ask(read[0])
    runs, missing = get_runs(ask)
    refuse_none(runs, missing)
    specs = {key: run.spec for key, run in runs.items()}
    family_key = key_of_family("similarity", specs, ask)
    key = (*family_key, own) if own else family_key
    layers = CACHE.get(key)
    if layers is None:
        layers = result_of(compared(specs, ask, read, seconds), len(read), "sentences")
        if is_complete(layers):
            CACHE.put(key, layers)
    unknown, skipped = unread_shares(specs, ask, read[: layers.n_read])
    return Similarity(models.name, layers, unknown, missing, skipped, seconds)


def check_seconds(seconds: object, most: int) -> None:
    """Refuse a time that is no number from 1 to ``most`` seconds.

    Raises:
        Refusal: it is not.
    """
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 1 <= float(cast(float, seconds)) <= most:
        raise Refusal(refusals.BAD_SECONDS.format(high=most))


def is_complete(layers: "LayerSimilarity") -> bool:
    """Return whether all texts were read, or as many words as are compared; then it is kept."""
    return layers.n_read == layers.n_texts or layers.n_words >= MAX_WORDS


def unread_shares(
    specs: Mapping[str, ModelSpec], ask: Ask, texts: Sequence[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return by model the shares of the texts' pieces that are [UNK], and of skipped characters."""
    from explorer.models.forward import tokenize

    unknown, skipped = {}, {}
    for key, spec in specs.items():
        read = [call_on_model(tokenize, spec, ask, text) for text in texts]
        unknown[key], skipped[key] = unread_share(read)
    return unknown, skipped


def unread_share(read: Sequence[Tokens]) -> tuple[float, float]:
    """Return what shares of texts one model does not read: pieces as [UNK], skipped characters."""
    from explorer.models.unknown import skipped_characters, visible_places

    unknown = sum(piece in UNKNOWN for tokens in read for piece in tokens.pieces)
    n_pieces = sum(len(tokens) - sum(tokens.special) for tokens in read)
    skipped = sum(len(skipped_characters(tokens)) for tokens in read)
    visible = sum(len(visible_places(tokens)) for tokens in read)
    return unknown / max(1, n_pieces), skipped / max(1, visible)


@cache
def sentences() -> tuple[str, ...]:
    """Return the bundled sentences with their masked words filled in."""
    return tuple(
        sentence["text"].replace(MASK, sentence["answer"]) for sentence in assets.sentences()
    )


def compared(
    specs: Mapping[str, ModelSpec],
    ask: Ask,
    texts: Sequence[str] = (),
    seconds: float = SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> "Generator[int, None, LayerSimilarity]":
    """Run the sentences; yield how many are done before each batch, and return the similarity.

    No batch begins after ``seconds``, but for the first.
    """
    from explorer.analysis.depth.states import layer_similarity

    parts: dict[str, list[np.ndarray]] = {key: [] for key in specs}
    texts, ends, n_read = texts or sentences(), clock() + seconds, 0
    while n_read < len(texts):
        yield n_read
        batch = texts[n_read : n_read + AT_ONCE]
        for key, states in states_of(specs, ask, batch).items():
            parts[key] += states
        n_read += len(batch)
        n_words = sum(states.shape[1] for states in next(iter(parts.values())))
        if n_words >= MAX_WORDS or clock() >= ends:
            break
    yield n_read
    states_by_key = {key: np.concatenate(part, 1)[:, :MAX_WORDS] for key, part in parts.items()}
    return replace(layer_similarity(states_by_key), n_read=n_read, n_texts=len(texts))


def states_of(
    specs: Mapping[str, ModelSpec], ask: Ask, texts: Sequence[str]
) -> dict[str, list[np.ndarray]]:
    """Compute the word states of sentences in every model, without caching the runs."""
    inputs = [_aligned(specs, ask, text) for text in texts]
    jobs = [
        partial(_states_of_model, spec, ask, [text[key] for text in inputs])
        for key, spec in specs.items()
    ]
    return dict(zip(specs, gather(jobs), strict=True))


def _aligned(
    specs: Mapping[str, ModelSpec], ask: Ask, text: str
) -> "dict[str, tuple[Tokens, Groups]]":
    """Return each model's tokens of a text, and those of each word that all models read."""
    from explorer.analysis.alignment import align
    from explorer.models.forward import tokenize

    tokens = {key: call_on_model(tokenize, spec, ask, text) for key, spec in specs.items()}
    alignment = align(tokens)
    return {
        key: (tokens[key], tuple(alignment.groups[key][i] for i in alignment.readable))
        for key in specs
    }


def _states_of_model(
    spec: ModelSpec, ask: Ask, texts: "Sequence[tuple[Tokens, Groups]]"
) -> list[np.ndarray]:
    """Return one model's word states of texts, those of like length in one pass."""
    from explorer.analysis.depth.lens import states_together

    states: list[np.ndarray] = [np.empty(0)] * len(texts)
    for batch in length_batches([len(tokens) for tokens, _ in texts]):
        found = call_on_model(states_together, spec, ask, [texts[place] for place in batch])
        for place, own in zip(batch, found, strict=True):
            states[place] = own
    return states
