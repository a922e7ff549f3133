"""``/depth``: the masked-LM head's predictions for each mask at every layer, as JSON."""

from typing import Any

from explorer.library import depth as library
from explorer.ui.depth import strings
from explorer.ui.kit.validation import check_masks, page_family

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
    check_masks(text, MAX_MASKS, strings.TOO_MANY_MASKS)
    return library.depth(text, page_family(family), model).to_dict()
