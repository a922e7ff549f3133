"""``/layer`` and ``/contexts``: one word through one layer, and six readings of a text, as JSON."""

from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.inference.runs import get_runs, runs_with_mlm_head
from explorer.models.run import READINGS
from explorer.refusal import Refusal
from explorer.ui.kit.validation import checked_spec, checked_state, is_index, missing_reasons
from explorer.ui.layer import strings
from explorer.ui.layer.folds import contexts_of
from explorer.ui.layer.reading import followed_word, walked_in

if TYPE_CHECKING:
    from explorer.views.layer import TracedLayer

MAX_MASKS = 20


def layer(  # noqa: PLR0913 - the fields of a link
    text: str,
    family: str = "mini",
    model: str = "bert",
    layer: int = 0,
    head: int = 0,
    word: int = -1,
) -> dict[str, Any]:
    """Return every intermediate vector of one word in one layer of a model.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        model: "bert", "distilbert" or "albert".
        layer: The layer, counted from 0; for ALBERT the application of its one layer.
        head: The head, counted from 0.
        word: The word, counted from 0; -1: the first [MASK], else the last word.

    Returns:
        ``tokens`` and the ``position`` that is followed (the first piece of the word); the rows
        that its ``embedding`` is the sum of, and that projected to d_model where it is factorised;
        the head's ``query``, ``keys`` and ``values``, each token's score ``q . k / sqrt(d)``, its
        ``exponentials`` (of the score minus the largest) and its weight, their sum being 1; the
        values so weighted as ``read``; what each of the ``heads`` adds to the projection. In their
        order the ``stations``, with ``vector``, Euclidean ``norm`` and the ``cosine`` with the
        vector it was made from; those that a layer norm ends with its ``mean``, ``deviation``,
        ``scale`` and ``shift``. The ``units`` of the feed-forward block that write most, each with
        its ``value`` after the activation and the norm of what it ``writes``; and what the
        masked-LM head reads ``before`` the layer, ``between`` attention and feed-forward, and
        ``after`` the layer (null without such a head).
    """
    state = checked_state(family, str(text))
    spec = checked_spec(state.family, model)
    runs, missing = get_runs(state)
    if model in missing:
        raise missing[model]
    followed = followed_word(runs, word)
    if followed is None:
        raise Refusal(strings.NO_WORD)
    shape = spec.architecture
    lengths = (shape.n_layers, shape.n_heads, len(followed.shown))
    if not all(is_index(*pair) for pair in zip((layer, head, max(word, 0)), lengths, strict=True)):
        last = {"layers": shape.n_layers - 1, "heads": shape.n_heads - 1}
        raise Refusal(
            strings.BAD_PLACE.format(label=spec.label, words=len(followed.shown) - 1, **last)
        )
    return _as_json(walked_in(runs[model], state, (layer, head, followed.positions(model)), ""))


def _as_json(walked: "TracedLayer") -> dict[str, Any]:
    stations, way, rows = walked.activations, walked.trace, walked.embedding
    vectors = {"embedding": rows.norm.outputs, **way.vectors}
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
        "stations": [_station(walked, name, vector) for name, vector in vectors.items()],
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


def contexts(text: str, family: str = "mini") -> dict[str, Any]:
    """Return each model's predictions at the masks with six reduced or reordered contexts.

    Args:
        text: The text, with 1 to 20 [MASK]s; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per model and mask six ``readings``: both (as trained), left, right (one side only, by the
        attention mask), no_order (all position embeddings alike), shuffled (the other words; null
        where there are no two to shuffle), alone (no attention between tokens). Each with its first
        ``word`` and that word's probability, and the probability and rank of ``wanted``, the
        model's own answer with both sides. ``missing``: which models predict nothing, and why.
    """
    state = checked_state(family, str(text))
    runs, missing = runs_with_mlm_head(state)
    if not runs:
        raise Refusal(" ".join(str(error) for error in missing.values()))
    n = max(len(run.tokens.mask_positions) for run in runs.values())
    if not n:
        raise Refusal(strings.NO_MASK)
    if n > MAX_MASKS:
        raise Refusal(strings.TOO_MANY_MASKS.format(limit=MAX_MASKS, found=n))
    return {
        "text": state.text,
        "family": state.family,
        "models": [
            {"model": key, "masks": [_readings(answers) for answers in masks]}
            for key, masks in contexts_of(runs, state).items()
        ],
    } | missing_reasons(missing)


def _readings(answers: Any) -> dict[str, Any]:  # noqa: ANN401 - ContextAnswers
    rows = zip(answers.words, answers.probabilities, answers.of_wanted, answers.ranks, strict=True)
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
            for name, (word, p, wanted, rank) in zip(answers.readings, rows, strict=True)
        },
    }
