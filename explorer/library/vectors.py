"""Vectors of words and texts at every layer, and how close two of them are."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from explorer import assets
from explorer.analysis.alignment import AlignedWord, align
from explorer.inference.ask import Ask
from explorer.inference.cache import key_of_family, memo
from explorer.inference.runs import call_on_model, gather, get_runs, refuse_none
from explorer.library import refusals, strings
from explorer.library.family import Family, asked, checked_text, is_index, missing_reasons
from explorer.library.progress import result_of
from explorer.library.results import Result
from explorer.models.run import Run, read_only
from explorer.models.tokens import Tokens
from explorer.refusal import Refusal
from explorer.views.notebook import Sketch

Places = tuple[tuple[AlignedWord, ...], tuple[tuple[int, ...], ...]]
"""Words, and the positions of each one's tokens."""
Place = tuple[str, int, int]
"""A sentence, and where its word begins and ends."""
POOLINGS: tuple[str, ...] = ("words", "mean", "cls")
"""Each word by the mean of its pieces; the text by the mean of its tokens, or by the first one."""
UNRELATED = 32
"""Sentences of which every two give a pair of unrelated words or texts."""
AT_ONCE = 8
"""Sentences between two steps of progress."""
SPREAD = (5, 95)
"""Percentiles of the unrelated pairs."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelVectors:
    """Vectors of one model."""

    words: tuple[str, ...]
    """The words; for a pooled text the text as the model reads it."""
    vectors: np.ndarray
    """float32 [word, layer + 1, d_model]; layer 0 is the embeddings."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Vectors(Result):
    """Vectors of a text's words, or of the whole text, at every layer of each model."""

    pooling: str
    models: Mapping[str, ModelVectors]
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = ("model", "at", "word", "layer", "norm", "cosine_to_embedding")
    SKETCH: ClassVar = Sketch("lines", "layer", "cosine_to_embedding", panels="model at")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/vectors``.

        Per model its ``words`` and ``vectors[word][layer]``, each a list of d_model numbers. Layer
        0 is the embeddings. A pooled text is one word.
        """
        models = [
            {"model": key, "words": list(of_model.words), "vectors": of_model.vectors.tolist()}
            for key, of_model in self.models.items()
        ]
        return {"pooling": self.pooling, "models": models} | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model, word and layer: length, and cosine with layer 0."""
        return [
            (key, at, word, layer, float(norm), float(similar))
            for key, of_model in self.models.items()
            for at, (word, states) in enumerate(zip(of_model.words, of_model.vectors, strict=True))
            for layer, (norm, similar) in enumerate(
                zip(np.linalg.norm(states, axis=-1), cosines(states, states[0]), strict=True)
            )
        ]


@dataclass(frozen=True, slots=True, eq=False)
class ModelCloseness:
    """Cosines of one model by layer, each float64 [layer + 1]; layer 0 is the embeddings."""

    cosine: np.ndarray
    """Of the two words or texts."""
    unrelated: np.ndarray
    """Mean over pairs of unrelated words or texts, by the same procedure."""
    low: np.ndarray
    """5th percentile of the unrelated pairs."""
    high: np.ndarray
    """95th percentile of the unrelated pairs."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Closeness(Result):
    """Cosine similarity of two words or texts by layer, next to that of unrelated ones."""

    pooling: str
    compared: tuple[str, str]
    """The two words, or the two texts."""
    models: Mapping[str, ModelCloseness]
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = ("model", "layer", "cosine", "unrelated", "low", "high")
    SKETCH: ClassVar = Sketch("lines", "layer", "cosine")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/similarity`` where it compares two words or texts.

        Of two words or texts: what was ``compared``, and by model the ``cosine`` by layer, with the
        mean (``unrelated``), the 5th and the 95th percentile of unrelated pairs.
        """
        models = [
            {
                "model": key,
                "cosine": measured.cosine.tolist(),
                "unrelated": measured.unrelated.tolist(),
                "low": measured.low.tolist(),
                "high": measured.high.tolist(),
            }
            for key, measured in self.models.items()
        ]
        answer = {"pooling": self.pooling, "compared": list(self.compared), "models": models}
        return answer | missing_reasons(self.missing)

    def sentences(self) -> tuple[str, ...]:
        """Return for each model how close the two are at the last layer, next to unrelated ones."""
        return tuple(
            strings.closeness_said(key, measured.cosine[-1], measured.low[-1], measured.high[-1])
            for key, measured in self.models.items()
        )

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model and layer."""
        return [
            (key, layer, *map(float, values))
            for key, measured in self.models.items()
            for layer, values in enumerate(
                zip(
                    measured.cosine,
                    measured.unrelated,
                    measured.low,
                    measured.high,
                    strict=True,
                )
            )
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Unrelated:
    """Cosines of unrelated words or texts: the control of a comparison."""

    models: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
    """By model the mean, the 5th and the 95th percentile, each float64 [layer + 1]."""
    places: tuple[Place, ...]
    """The sentences, each with the word that was drawn; the whole text where that is pooled."""


def vectors(text: str, family: "Family | str" = "mini", pooling: str = "words") -> Vectors:
    """Return the vectors of a text's words, or of the whole text, at every layer of each model.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.
        pooling: "words": each word by the mean of its pieces. "mean": the text by the mean of all
            tokens that the tokenizer did not add. "cls": the text by its first token.

    Returns:
        Each model's ``words`` and ``vectors``, float32 [word, layer + 1, d_model]. Layer 0 is the
        embeddings. Words are those that every model can read, counted from 0.

    Raises:
        Refusal: no model is available, no word can be read, or there is no such pooling.

    Example:
        >>> explorer.vectors("The cat sat.").models["bert"].vectors.shape
        (4, 7, 384)
    """
    check_pooling(pooling)
    with asked(family) as models:
        ask = models.ask(text)
        runs, missing = get_runs(ask)
        refuse_none(runs, missing)
        return Vectors(pooling, pooled(runs, pooling), missing)


def check_pooling(pooling: object) -> None:
    """Raise a refusal unless there is such a pooling."""
    if pooling not in POOLINGS:
        raise Refusal(refusals.BAD_POOLING.format(known=", ".join(POOLINGS)))


def pooled(runs: Mapping[str, Run], pooling: str) -> dict[str, ModelVectors]:
    """Return each model's vectors of a text's words or of the text.

    Raises:
        Refusal: no word of the text can be read by all models.
    """
    from explorer.analysis.depth.lens import word_states

    places = places_of({key: run.tokens for key, run in runs.items()}, pooling)
    by_model = {}
    for key, (words, groups) in places.items():
        states = word_states(runs[key].hidden_states, groups).swapaxes(0, 1)
        spelled = tuple(word.text for word in words)
        by_model[key] = ModelVectors(spelled, read_only(np.ascontiguousarray(states)))
    return by_model


def places_of(tokens: Mapping[str, Tokens], pooling: str) -> "dict[str, Places]":
    """Return by model what is pooled: words that all models read, or the text.

    Raises:
        Refusal: no word of the text can be read by all models.
    """
    alignment = align(tokens)
    if not alignment.readable:
        raise Refusal(refusals.NO_WORD)
    words = tuple(alignment.words[i] for i in alignment.readable)
    places: dict[str, Places] = {}
    for key, read in tokens.items():
        if pooling == "words":
            places[key] = words, tuple(alignment.groups[key][i] for i in alignment.readable)
        else:
            own = tuple(at for at, is_added in enumerate(read.special) if not is_added)
            whole = AlignedWord(read.text, 0, len(read.text))
            places[key] = (whole,), (own if pooling == "mean" else (0,),)
    return places


def closeness(
    models: Family, texts: Sequence[str], words: Sequence[int] | None, pooling: str
) -> Closeness:
    """Return how close two words or two texts are at every layer of each model.

    Raises:
        Refusal: there are not two texts, or a text has no word of such a number.
    """
    check_pooling(pooling)
    if len(texts) != 2 or ((pooling == "words") != (words is not None)):
        raise Refusal(refusals.NOT_TWO)
    asks = [models.ask(checked_text(text, "texts")) for text in texts]
    (first, missing), (second, _) = map(get_runs, asks)
    refuse_none(first, missing)
    sides = [pooled(runs, pooling) for runs in (first, second)]
    places = _checked(words, sides) if words is not None else (0, 0)
    specs = {key: run.spec for key, run in first.items()}
    ask = Ask(asks[0].text, specs, asks[0].device, asks[0].dtype)
    control = memo(
        key_of_control(ask, pooling),
        lambda: result_of(unrelated(ask, pooling), UNRELATED, "sentences"),
    )
    by_model = beside_unrelated(sides, places, control)
    model = next(iter(by_model))
    said = [side[model].words[at] for side, at in zip(sides, places, strict=True)]
    return Closeness(pooling, (said[0], said[1]), by_model, missing)


def key_of_control(ask: Ask, pooling: str) -> tuple:
    """Return the key in the cache of the unrelated words or texts, whatever is compared."""
    return (*key_of_family("unrelated", ask.specs, ask), pooling)


def beside_unrelated(
    sides: Sequence[Mapping[str, ModelVectors]], places: tuple[int, int], control: Unrelated
) -> dict[str, ModelCloseness]:
    """Return by model the cosines of the words at ``places`` of two texts, and the control."""
    by_model = {}
    for key, values in control.models.items():
        pair = [side[key].vectors[at] for side, at in zip(sides, places, strict=True)]
        by_model[key] = ModelCloseness(read_only(cosines(*pair)), *values)
    return by_model


def _checked(words: Sequence[int], sides: Sequence[Mapping[str, ModelVectors]]) -> tuple[int, int]:
    """Return the numbers of the two words.

    Raises:
        Refusal: they are not two, or a text has no such word.
    """
    counts = [len(next(iter(side.values())).words) for side in sides]
    if len(words) != 2 or not all(map(is_index, words, counts)):
        last = [count - 1 for count in counts]
        raise Refusal(refusals.BAD_WORDS.format(first=last[0], second=last[1]))
    return int(words[0]), int(words[1])


def unrelated(ask: Ask, pooling: str) -> "Generator[int, None, Unrelated]":
    """Compute the cosines of unrelated words or texts; yield how many sentences are done.

    Returns the cosines over all pairs of the sentences. Of each sentence a random word is taken,
    the same one in every model and each time.
    """
    generator = np.random.default_rng(0)
    sentences = assets.plain_sentences()[:UNRELATED]
    kept: dict[str, list[np.ndarray]] = {key: [] for key in ask.specs}
    places: list[Place] = []
    for start in range(0, len(sentences), AT_ONCE):
        yield start
        batch = sentences[start : start + AT_ONCE]
        draws = generator.random(len(batch))
        jobs = [partial(_one_of, ask, *one, pooling) for one in zip(batch, draws, strict=True)]
        for text, (word, states) in zip(batch, gather(jobs), strict=True):
            places.append((text, word.start, word.end))
            for key, vectors_by_layer in states.items():
                kept[key].append(vectors_by_layer)
    yield len(sentences)
    models = {key: _of_pairs(np.stack(states)) for key, states in kept.items()}
    return Unrelated(models, tuple(places))


def _one_of(
    ask: Ask, text: str, draw: float, pooling: str
) -> tuple[AlignedWord, dict[str, np.ndarray]]:
    """Compute by model the vectors [layer + 1, d_model] of a sentence or of its drawn word.

    The draw is a number from 0 to 1. Returns the word too; no run is kept.
    """
    from explorer.analysis.depth.lens import sentence_states
    from explorer.models.forward import tokenize

    tokens = {key: call_on_model(tokenize, spec, ask, text) for key, spec in ask.specs.items()}
    states = {}
    for key, (words, groups) in places_of(tokens, pooling).items():
        at = int(draw * len(words))
        read_states = call_on_model(
            sentence_states, ask.specs[key], ask, tokens[key], (groups[at],)
        )
        word, states[key] = words[at], read_states[:, 0]
    return word, states


def _of_pairs(states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean and percentiles of the cosines of all pairs of [sentence, layer + 1, d_model]."""
    pairs = np.triu_indices(len(states), 1)
    similarities = cosines(states[pairs[0]], states[pairs[1]])
    low, high = np.percentile(similarities, SPREAD, axis=0)
    return read_only(similarities.mean(0)), read_only(low), read_only(high)


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cosines of vectors along the last axis, in float64."""
    first, second = first.astype(np.float64), second.astype(np.float64)
    norms = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    return np.asarray((first * second).sum(-1) / norms)
