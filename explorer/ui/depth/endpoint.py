"""``/depth``: the masked-LM head's predictions for each mask at every layer, as JSON."""

from typing import TYPE_CHECKING, Any

from explorer.inference.runs import get_run
from explorer.refusal import Refusal
from explorer.ui.depth import strings
from explorer.ui.depth.tab import lens_of
from explorer.ui.kit.validation import checked_spec, checked_state

if TYPE_CHECKING:
    from explorer.analysis.depth.lens import MaskLens
    from explorer.models.run import Run

MAX_MASKS = 20
"""Upper limit: the head over all layers costs about one forward pass per dozen masks."""


def depth(text: str, family: str = "mini", model: str = "bert") -> dict[str, Any]:
    """Return a model's masked-LM head's predictions for each [MASK] at every layer.

    Args:
        text: The text, with 1 to 20 [MASK]s; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        model: "bert", "distilbert" or "albert".

    Returns:
        The model, its tokens, and per mask its layers: layer 0 is the embeddings, for ALBERT
        layer k the k-th application of its one layer. ``predictions`` are the five likeliest
        pieces, ``rank_of_final`` the place of the last layer's first choice (1: none is likelier),
        ``kl_to_final`` KL(final || layer) in nats. From layer ``decided_at`` on that place is 1.
    """
    state = checked_state(family, str(text))
    spec = checked_spec(state.family, model)
    run = get_run(spec, state)
    if not run.tokens.mask_positions:
        raise Refusal(strings.NO_MASK)
    n_masks = len(run.tokens.mask_positions)
    if n_masks > MAX_MASKS:
        raise Refusal(strings.TOO_MANY_MASKS.format(limit=MAX_MASKS, found=n_masks))
    masks = range(n_masks)
    lenses = [_as_json(run, lens_of(run, state, mask)) for mask in masks]
    return {"model": model, "tokens": list(run.tokens.pieces), "masks": lenses}


def _as_json(run: "Run", lens: "MaskLens") -> dict[str, Any]:
    layers = [
        {
            "layer": layer,
            "predictions": [
                {"token": run.vocabulary[i], "id": int(i), "probability": float(p)}
                for i, p in zip(lens.top_ids[layer], lens.top[layer], strict=True)
            ],
            "rank_of_final": int(lens.rank[layer]),
            "kl_to_final": float(lens.kl[layer]),
        }
        for layer in range(len(lens.rank))
    ]
    return {"position": lens.position, "layers": layers, "decided_at": lens.decided_at}
