"""``/layer`` and ``/contexts``: one word through one layer, and six readings of a text, as JSON."""

from typing import Any

import gradio as gr

from explorer.models.rows import READINGS
from explorer.runs import get_answers, get_runs
from explorer.ui.kit.asked import asked_spec, asked_state, is_index
from explorer.ui.layer import words as texts
from explorer.ui.layer.contexts import contexts_of
from explorer.ui.layer.reading import followed_word, walked_in

MAX_MASKS = 20


def layer(  # noqa: PLR0913 - the fields of a link
    text: str,
    family: str = "mini",
    model: str = "bert",
    layer: int = 0,
    head: int = 0,
    word: int = -1,
) -> dict[str, Any]:
    """Every station of one word's way through one layer of a model.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        model: "bert", "distilbert" or "albert".
        layer: The layer, counted from 0; for ALBERT the application of its one layer.
        head: The head, counted from 0.
        word: The word, counted from 0; -1: the first [MASK], else the last word.

    Returns:
        ``tokens`` and the ``position`` that is followed (the first piece of the word); each token's
        score ``q . k / sqrt(d)`` and its weight after softmax; ``stations`` in their order, with
        ``vector``, Euclidean ``norm`` and the ``cosine`` with the vector it was made from; the norm
        of what each head adds; the ``units`` of the feed-forward block that write most; and what
        the masked-LM head reads ``before`` and ``after`` the layer (null without such a head).
    """
    state = asked_state(family, str(text))
    spec = asked_spec(state.family, model)
    runs, missing = get_runs(state)
    if model in missing:
        raise missing[model]
    found = followed_word(runs, word)
    if found is None:
        raise gr.Error(texts.NO_WORD)
    shape = spec.architecture
    lengths = (shape.n_layers, shape.n_heads, len(found.shown))
    if not all(is_index(*pair) for pair in zip((layer, head, max(word, 0)), lengths, strict=True)):
        last = {"layers": shape.n_layers - 1, "heads": shape.n_heads - 1}
        raise gr.Error(texts.BAD_PLACE.format(label=spec.label, words=len(found.shown) - 1, **last))
    return _as_json(walked_in(runs[model], state, (layer, head, found.positions(model)), ""))


def _as_json(one: Any) -> dict[str, Any]:  # noqa: ANN401 - a Walked
    stations, way = one.stations, one.way
    before, after = one.readings or (None, None)
    return {
        "model": one.run.spec.key,
        "layer": one.layer,
        "head": one.head,
        "tokens": list(one.run.tokens.pieces),
        "position": one.position,
        "scores": stations.scores.tolist(),
        "weights": way.weights.tolist(),
        "stations": [
            {
                "station": name,
                "vector": vector.tolist(),
                "norm": way.norms[name],
                "cosine": way.cosines.get(name),
            }
            for name, vector in way.vectors.items()
        ],
        "heads": way.head_lengths.tolist(),
        "units": [{"unit": int(i), "value": float(stations.units[i])} for i in way.units],
        "before": before and {"word": before[0], "probability": before[1]},
        "after": after and {"word": after[0], "probability": after[1]},
    }


def contexts(text: str, family: str = "mini") -> dict[str, Any]:
    """What each model predicts at the masks when it may read less, or another order, of the text.

    Args:
        text: The text, with 1 to 20 [MASK]s; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per model and mask six ``readings``: both (as trained), left, right (one side only, by the
        attention mask), no_order (all position embeddings alike), shuffled (the other words),
        alone (no attention between tokens). Each with its first ``word`` and that word's
        probability, and the probability and rank of ``wanted``, the model's own answer with both
        sides.
    """
    state = asked_state(family, str(text))
    runs, missing = get_answers(state)
    for error in missing.values():
        raise error
    n = max(len(run.tokens.mask_positions) for run in runs.values())
    if not n:
        raise gr.Error(texts.NO_MASK)
    if n > MAX_MASKS:
        raise gr.Error(texts.TOO_MANY_MASKS.format(limit=MAX_MASKS, found=n))
    return {
        "text": state.text,
        "family": state.family,
        "models": [
            {"model": key, "masks": [_readings(one) for one in masks]}
            for key, masks in contexts_of(runs, state).items()
        ],
    }


def _readings(one: Any) -> dict[str, Any]:  # noqa: ANN401 - ContextAnswers
    rows = zip(one.words, one.probabilities, one.of_wanted, one.ranks, strict=True)
    return {
        "wanted": one.wanted,
        "readings": {
            name: {
                "word": word,
                "probability": float(p),
                "probability_of_wanted": float(wanted),
                "rank_of_wanted": int(rank),
            }
            for name, (word, p, wanted, rank) in zip(READINGS, rows, strict=True)
        },
    }
