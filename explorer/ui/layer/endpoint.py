"""``/layer`` and ``/contexts``: one word through one layer, and six readings of a text, as JSON."""

from typing import Any

from explorer.library import layer as library
from explorer.ui.kit.validation import check_masks, page_family
from explorer.ui.layer import strings

MAX_MASKS = 20


def layer(  # noqa: PLR0913 - the fields of a link
    text: str,
    family: str = "mini",
    model: str = "",
    layer: int = 0,
    head: int = 0,
    word: int = -1,
) -> dict[str, Any]:
    """Return every intermediate vector of one word in one layer of a model.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        model: "bert", "distilbert" or "albert", or a column's own name; empty: the first.
        layer: The layer, counted from 0; for ALBERT the application of its one layer.
        head: The head, counted from 0.
        word: The word, counted from 0; ``-1``: the first [MASK], else the last word.

    Returns:
        ``tokens``, and the ``position`` that is followed (the first piece of the word). The rows
        that its ``embedding`` is the sum of; where it is factorised, also their projection to
        d_model. The head's ``query``, ``keys`` and ``values``, and each token's score
        ``q . k / sqrt(d)``. Its ``exponentials`` are of the score minus the largest; its weights
        sum to 1. ``read`` is the sum of the values with these weights. What each of the ``heads``
        adds to the projection. The ``stations`` in their order: ``vector``, Euclidean ``norm``, and
        ``cosine`` with the vector it was made from. Those that a layer norm ends also have its
        ``mean``, ``deviation``, ``scale`` and ``shift``. The ``units`` of the feed-forward block
        that write most, each with its ``value`` after the activation and the norm of what it
        ``writes``. What the masked-LM head reads ``before`` the layer, ``between`` attention and
        feed-forward, and ``after`` the layer; null without such a head.
    """
    return library.layer(text, page_family(family), model, layer, head, word).to_dict()


def contexts(text: str, family: str = "mini") -> dict[str, Any]:
    """Return each model's predictions at the masks with six reduced or reordered contexts.

    Args:
        text: The text, with 1 to 20 [MASK]s; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per model and mask six ``readings``. "both" has both sides, as the model was trained. "left"
        and "right" have one side only, by the attention mask. In "no_order" all position embeddings
        are alike. In "shuffled" the other words are shuffled; it is null where there are no two to
        shuffle. In "alone" there is no attention between tokens. Each reading has its first
        ``word`` and that word's probability. It also has the probability and rank of ``wanted``,
        the model's own answer with both sides. ``missing`` says which models predict nothing, and
        why.
    """
    check_masks(text, MAX_MASKS, strings.TOO_MANY_MASKS)
    return library.contexts(text, page_family(family)).to_dict()
