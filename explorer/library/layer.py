"""One word through one layer, and predictions from reduced or reordered contexts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from explorer.inference.ask import Ask
from explorer.inference.cache import CACHE, key_of
from explorer.inference.runs import call_on_model, gather, get_runs
from explorer.library import refusals
from explorer.library.family import Family, asked, is_index, masked_runs, missing_reasons
from explorer.library.results import Result
from explorer.models.run import READINGS, Run, answer_id
from explorer.models.specs import ModelSpec
from explorer.models.tokens import spelling_of, word_id
from explorer.refusal import Refusal
from explorer.views.notebook import Sketch

if TYPE_CHECKING:
    from explorer.analysis.alignment import Alignment
    from explorer.analysis.layer import ContextAnswers
    from explorer.views.layer.stations import Reading, TracedLayer


@dataclass(frozen=True, slots=True, eq=False)
class FollowedWord:
    """The followed word, among the words that can be chosen."""

    alignment: "Alignment"
    shown: tuple[int, ...]
    """Indices in the alignment of the words that can be chosen."""
    at: int
    """Index in ``shown`` of the followed word."""
    first: int
    """Index in ``shown`` of the default."""

    @property
    def words(self) -> list[str]:
        """The words that can be chosen."""
        return [self.alignment.words[i].text for i in self.shown]

    def positions(self, key: str) -> tuple[int, ...]:
        """Return the token positions of the followed word in one model."""
        return self.alignment.groups[key][self.shown[self.at]]


def followed_word(runs: Mapping[str, Run], wanted: int) -> FollowedWord | None:
    """Return the state's word, else the first mask, else the last word; None without words."""
    from explorer.analysis.alignment import align, first_shown

    alignment = align({key: run.tokens for key, run in runs.items()})
    indices = alignment.readable
    if not indices:
        return None
    first = first_shown([alignment.words[i] for i in indices])
    return FollowedWord(alignment, indices, wanted if 0 <= wanted < len(indices) else first, first)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LayerSteps(Result):
    """Every intermediate vector of one word's first piece in one layer of a model."""

    walked: "TracedLayer"

    COLUMNS: ClassVar = ("model", "layer", "station", "norm", "cosine")
    SKETCH: ClassVar = Sketch("bars", "station", "norm")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/layer``.

        ``tokens``, and the ``position`` that is followed (the first piece of the word). The rows
        that its ``embedding`` is the sum of; where it is factorised, also their projection to
        d_model. The head's ``query``, ``keys`` and ``values``, and each token's score ``q . k /
        sqrt(d)``. Its ``exponentials`` are of the score minus the largest; its weights sum to 1.
        ``read`` is the sum of the values with these weights. What each of the ``heads`` adds to the
        projection. The ``stations`` in their order: ``vector``, Euclidean ``norm``, and ``cosine``
        with the vector it was made from. Those that a layer norm ends also have its ``mean``,
        ``deviation``, ``scale`` and ``shift``. The ``units`` of the feed-forward block that write
        most, each with its ``value`` after the activation and the norm of what it ``writes``. What
        the masked-LM head reads ``before`` the layer, ``between`` attention and feed-forward, and
        ``after`` the layer; null without such a head.
        """
        return _as_json(self.walked)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each station, with its norm and the cosine with its input."""
        walked = self.walked
        place = (walked.run.spec.key, walked.layer)
        return [
            (*place, name, float(np.linalg.norm(vector)), walked.trace.cosines.get(name))
            for name, vector in _vectors(walked).items()
        ]


def layer(  # noqa: PLR0913 - the fields of a link
    text: str,
    family: Family | str = "mini",
    model: str = "",
    layer: int = 0,
    head: int = 0,
    word: int = -1,
) -> LayerSteps:
    """Return every intermediate vector of one word's first piece in one layer of a model.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.
        model: "bert", "distilbert" or "albert", or a column's own name; empty: the first.
        layer: The layer, counted from 0; for ALBERT the application of its one layer.
        head: The head, counted from 0.
        word: The word, counted from 0; ``-1``: the first [MASK], else the last word.

    Returns:
        ``walked``, with the vectors of every station. The rows have each station's norm, and the
        cosine with its input where there is one.

    Raises:
        Refusal: there is no such model, layer, head or word, or the model is not available.

    Example:
        >>> explorer.layer("The cat sat.", layer=1).rows()[0][:3]
        ('bert', 1, 'embedding')
    """
    with asked(family) as models:
        spec, ask = models.chosen(model), models.ask(text)
        runs, missing = get_runs(ask)
        if spec.key in missing:
            raise missing[spec.key]
        followed = followed_word(runs, int(word) if isinstance(word, Integral) else -1)
        if followed is None:
            raise Refusal(refusals.NO_WORD)
        chosen = followed.at if word == -1 else word
        _check_place(spec, (layer, head, chosen), len(followed.shown))
        place = (int(layer), int(head), followed.positions(spec.key))
        return LayerSteps(traced(runs[spec.key], ask, place))


def _check_place(spec: ModelSpec, place: tuple[object, ...], n_words: int) -> None:
    shape = spec.architecture
    lengths = (shape.n_layers, shape.n_heads, n_words)
    if not all(is_index(*pair) for pair in zip(place, lengths, strict=True)):
        last = {"layers": shape.n_layers - 1, "heads": shape.n_heads - 1, "words": n_words - 1}
        raise Refusal(refusals.BAD_PLACE.format(label=spec.label, **last))


def traced(run: Run, ask: Ask, place: tuple[int, int, Sequence[int]]) -> "TracedLayer":
    """Compute one model's stations at a layer, a head and the word's first token position."""
    from explorer.analysis.layer import layer_trace
    from explorer.models.inside.activations import embedding_activations, layer_activations
    from explorer.views.layer.stations import TracedLayer

    layer, head, (position, *_) = place
    states = run.hidden_states[layer]
    activations = call_on_model(layer_activations, run.spec, ask, states, layer, head, position)
    embedding = call_on_model(embedding_activations, run.spec, ask, run.tokens, position)
    trace = layer_trace(states[position], activations)
    vectors = (
        states[position],
        activations.attention_norm.outputs,
        run.hidden_states[layer + 1, position],
    )
    readings = _mlm_readings(run, ask, (layer, position), vectors) if run.spec.has_head else None
    return TracedLayer(run, layer, head, position, "", "", activations, embedding, trace, readings)


def _mlm_readings(
    run: Run, ask: Ask, place: tuple[int, int], vectors: Sequence[np.ndarray]
) -> "tuple[Reading, Reading, Reading]":
    """Return the head's first word and its probability before, within and after the layer.

    Cached by run; the state after layer k has number 2 k.
    """
    from explorer.analysis.measures import log_softmax
    from explorer.models.forward import state_logits

    layer, position = place
    keys = [("reading", *key_of(run), 2 * layer + i, position) for i in range(3)]
    readings = [CACHE.get(key) for key in keys]
    missing = [i for i, reading in enumerate(readings) if reading is None]
    if missing:
        states = np.stack([vectors[i] for i in missing])
        logits, spelling = (
            call_on_model(state_logits, run.spec, ask, states),
            spelling_of(run.vocabulary),
        )
        for i, row in zip(missing, np.exp(log_softmax(logits)), strict=True):
            best = answer_id(row, run.vocabulary)
            reading = spelling.word(run.vocabulary[best]), float(row[best])
            readings[i] = CACHE.put(keys[i], reading)
    return cast("tuple[Reading, Reading, Reading]", tuple(readings))


def _vectors(walked: "TracedLayer") -> dict[str, np.ndarray]:
    return {"embedding": walked.embedding.norm.outputs, **walked.trace.vectors}


def _as_json(walked: "TracedLayer") -> dict[str, Any]:
    stations, way, rows = walked.activations, walked.trace, walked.embedding
    before, between, after = walked.readings or (None,) * 3
    return {
        "model": walked.run.spec.key,
        "layer": walked.layer,
        "head": walked.head,
        "tokens": list(walked.run.tokens.pieces),
        "position": walked.position,
        "embedding": {
            "word": rows.word.tolist(),
            "position": rows.position.tolist(),
            "segment": None if rows.segment is None else rows.segment.tolist(),
            "projected": rows.projected and rows.projected.result.tolist(),
        },
        "query": stations.query.tolist(),
        "keys": stations.keys.tolist(),
        "values": stations.values.tolist(),
        "scores": stations.scores.tolist(),
        "exponentials": way.exponentials.tolist(),
        "weights": way.weights.tolist(),
        "read": stations.head_output.tolist(),
        "heads": stations.heads.tolist(),
        "stations": [_station(walked, *pair) for pair in _vectors(walked).items()],
        "units": [
            {
                "unit": int(i),
                "value": float(stations.units[i]),
                "writes": float(stations.unit_lengths[i]),
            }
            for i in way.units
        ],
        "before": before and {"word": before[0], "probability": before[1]},
        "between": between and {"word": between[0], "probability": between[1]},
        "after": after and {"word": after[0], "probability": after[1]},
    }


def _station(walked: "TracedLayer", name: str, vector: np.ndarray) -> dict[str, Any]:
    from explorer.analysis.layer import normalised

    length, cosine = float(np.linalg.norm(vector)), walked.trace.cosines.get(name)
    fields = {"station": name, "vector": vector.tolist(), "norm": length, "cosine": cosine}
    if name not in walked.norms:
        return fields
    norm, sums = walked.norms[name], normalised(walked.norms[name])
    parts = {"scale": norm.scale.tolist(), "shift": norm.shift.tolist()}
    return fields | {"mean": sums.mean, "deviation": sums.deviation} | parts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contexts(Result):
    """Predictions at the masks from six readings of the context."""

    text: str
    family: str
    models: "Mapping[str, tuple[ContextAnswers, ...]]"
    """By model key, per mask: words, probabilities and ranks of each reading."""
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = (
        *("model", "mask", "reading", "word", "probability"),
        *("wanted", "probability_of_wanted", "rank_of_wanted"),
    )
    SKETCH: ClassVar = Sketch("bars", "reading", "probability_of_wanted", panels="model mask")
    BAR: ClassVar = "probability_of_wanted"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/contexts``.

        Per model and mask six ``readings``. "both" has both sides, as the model was trained. "left"
        and "right" have one side only, by the attention mask. In "no_order" all position embeddings
        are alike. In "shuffled" the other words are shuffled; it is null where there are no two to
        shuffle. In "alone" there is no attention between tokens. Each reading has its first
        ``word`` and that word's probability. It also has the probability and rank of ``wanted``,
        the model's own answer with both sides. ``missing`` says which models predict nothing, and
        why.
        """
        models = [
            {"model": key, "masks": [_readings(answers) for answers in masks]}
            for key, masks in self.models.items()
        ]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model, mask and reading."""
        return [
            (key, mask, name, word, float(p), answers.wanted, float(wanted), int(rank))
            for key, masks in self.models.items()
            for mask, answers in enumerate(masks)
            for name, (word, p, wanted, rank) in zip(
                answers.readings, _rows_of(answers), strict=True
            )
        ]


def contexts(text: str, family: Family | str = "mini") -> Contexts:
    """Return each model's predictions at the masks with six reduced or reordered contexts.

    Args:
        text: The text, with at least one [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.

    Returns:
        By model and mask the ``words`` and ``probabilities`` of the six readings (both sides, left,
        right, no order, shuffled, no other token), and the probability of the word ``wanted``.

    Raises:
        Refusal: there is no mask, or no model predicts words.

    Example:
        >>> explorer.contexts("The capital of France is [MASK].").models["bert"][0].readings
        ('both', 'left', 'right', 'no_order', 'shuffled', 'alone')
    """
    with asked(family) as models:
        ask = models.ask(text)
        runs, missing = masked_runs(models, text, refusals.NO_MASK_TO_READ)
        text = next(iter(runs.values())).tokens.text
        return Contexts(text, models.name, contexts_of(runs, ask), missing)


def contexts_of(
    runs: Mapping[str, Run], ask: Ask, hidden: Sequence[str] = ()
) -> "dict[str, tuple[ContextAnswers, ...]]":
    """Compute every model's readings at every mask: one forward pass of six rows each.

    ``hidden`` holds the words behind the masks, where they are known.
    """
    jobs = [partial(_contexts, run, ask, hidden) for run in runs.values()]
    return dict(zip(runs, gather(jobs), strict=True))


def _contexts(run: Run, ask: Ask, hidden: Sequence[str]) -> "tuple[ContextAnswers, ...]":
    from explorer.analysis.layer import context_answers
    from explorer.models.inside.interventions import context_logits, is_shuffled

    logits = call_on_model(context_logits, run.spec, ask, run.tokens)
    can_shuffle = is_shuffled(run.tokens)
    indices = [i for i, name in enumerate(READINGS) if can_shuffle or name != "shuffled"]
    readings = tuple(READINGS[i] for i in indices)
    n = logits.shape[1]
    ids = [_id_of(run, word) for word in hidden[:n]]
    wanted = [*ids, *[-1] * n][:n]
    return tuple(
        context_answers(
            logits[indices, mask], run.vocabulary, token_id if token_id >= 0 else None, readings
        )
        for mask, token_id in enumerate(wanted)
    )


def _id_of(run: Run, word: str) -> int:
    """Return the token id of a masked word; -1 if it is unknown or several tokens."""
    return word_id(run.vocabulary, word, run.spec.lower_case) if word else -1


def _rows_of(answers: "ContextAnswers") -> "zip[tuple[str, Any, Any, Any]]":
    parts = answers.words, answers.probabilities, answers.of_wanted, answers.ranks
    return zip(*parts, strict=True)


def _readings(answers: "ContextAnswers") -> dict[str, Any]:
    return {
        "wanted": answers.wanted,
        "readings": dict.fromkeys(READINGS)
        | {
            name: {
                "word": word,
                "probability": float(p),
                "probability_of_wanted": float(wanted),
                "rank_of_wanted": int(rank),
            }
            for name, (word, p, wanted, rank) in zip(
                answers.readings, _rows_of(answers), strict=True
            )
        },
    }
