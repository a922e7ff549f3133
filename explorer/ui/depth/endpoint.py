"""``/depth``, ``/similarity``, ``/changed`` and ``/patch``: what the layers hold, as JSON."""

from typing import Any

from explorer import limits
from explorer.library import changed as changes
from explorer.library import depth as library
from explorer.library import patching
from explorer.library import vectors as library_of_vectors
from explorer.refusal import Refusal
from explorer.ui.depth import strings
from explorer.ui.kit.validation import check_masks, page_family

MAX_VECTORS = 32
"""Upper limit of words: of three base models they are some 10 MB of JSON."""
MAX_MASKS = 20
"""Upper limit: the head over all layers costs about one forward pass per dozen masks."""


def depth(text: str, family: str = "mini", model: str = "") -> dict[str, Any]:
    """Return a model's masked-LM head's predictions for each [MASK] at every layer.

    Args:
        text: The text, with 1 to 20 [MASK]s; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        model: "bert", "distilbert" or "albert", or a column's own name; empty: the first.

    Returns:
        The model, its tokens, and per mask its layers. Layer 0 is the embeddings; for ALBERT
        layer k is the k-th application of its one layer. ``predictions`` are the five likeliest
        pieces. ``rank_of_final`` is the place of the last layer's first choice (1: none is
        likelier). ``kl_to_final`` is KL(final || layer) in nats. From layer ``decided_at`` on that
        place is 1.
    """
    check_masks(text, MAX_MASKS, strings.TOO_MANY_MASKS)
    return library.depth(text, page_family(family), model).to_dict()


def similarity(
    family: str = "mini",
    texts: list[Any] | None = None,
    words: list[int] | None = None,
    pooling: str = "",
    seconds: float = library.SECONDS,
) -> dict[str, Any]:
    """Return how similar all layers of all models are, or two words or texts at each layer.

    Args:
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        texts: Texts to read in place of the bundled English sentences, at most 200; with ``words``
            or ``pooling``, the two texts to compare.
        words: The number of a word in each of the two texts, from 0.
        pooling: "mean" or "cls": the two texts as a whole, by the mean of their tokens or by their
            first token.
        seconds: Time after which no further texts are read, 1 to 60; what was read counts.

    Returns:
        The ``rows`` of both matrices: each is a model and a layer, and layer 0 is the embeddings.
        ``cka[row][row]`` is linear centered kernel alignment over ``words`` words: those of
        ``read`` of the ``texts``. It is 1 where two rows are equal up to a rotation and a scale.
        ``shuffled`` is the same with the words of one row in another order: the level of chance.
        ``unknown`` is by model the share of the texts' pieces that it reads as [UNK], and
        ``skipped`` that of the characters for which its tokenizer has no token.
        Of two words or texts: what was ``compared``, and by model the ``cosine`` by layer, with the
        mean (``unrelated``), the 5th and the 95th percentile of unrelated pairs.
    """
    if texts is not None and len(texts) > limits.TEXTS.maximum:
        most = limits.TEXTS.maximum
        raise Refusal(strings.TOO_MANY_TEXTS.format(n=f"{len(texts):,}", most=most))
    library.check_seconds(seconds, limits.TEXTS_TIME.maximum)
    return library.similarity(page_family(family), texts, words, pooling, seconds).to_dict()


def vectors(text: str, family: str = "mini", pooling: str = "words") -> dict[str, Any]:
    """Return the vectors of a text, or of its words, at every layer of each model.

    Args:
        text: The text; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        pooling: "words": each word by the mean of its pieces (32 at most); "mean" or "cls": the
            text by the mean of its tokens or by its first.

    Returns:
        Per model its ``words`` and ``vectors[word][layer]``, each a list of d_model numbers. Layer
        0 is the embeddings. A pooled text is one word.
    """
    answer = library_of_vectors.vectors(text, page_family(family), pooling)
    if any(len(found.words) > MAX_VECTORS for found in answer.models.values()):
        raise Refusal(strings.TOO_MANY_VECTORS.format(most=MAX_VECTORS))
    return answer.to_dict()


def changed(
    family: str = "mini", before: str = "", after: str = "", rows: list[str] | None = None
) -> dict[str, Any]:
    """Return how far two checkpoints of one shape differ, each quantity with its control.

    Args:
        family: Columns with models of one shape: "before=mini-bert,after=my-bert", by the names of
            the bundled and published models and of those that the page was started with.
        before: A column; empty: the first.
        after: A column; empty: the first other one.
        rows: Texts without masks, at most 200; by default the bundled English sentences.

    Returns:
        ``weights``: each matrix's ``distance`` in units of its length before. ``scale`` and
        ``cosine`` split it: ``distance^2 = of_scale^2 + of_turn^2``. ``shuffled`` is the distance
        with the rows after in another order. A ``layer`` counts from 0; null: the embeddings.
        ``states``: linear centered kernel alignment of the tokens by layer, from the embeddings on,
        and with the tokens after in another order. ``heads``: the mean Jensen-Shannon divergence
        in nats of each head's rows, ``js[layer][head]``, and of two heads of one layer before.
        ``masks``: KL(before || after) in nats at 15% of the tokens, masked at random, and how
        many each has right. ``one_layer_earlier`` is that of the model before to itself, read one
        layer earlier. ``head`` is the column whose masked-LM head reads the states after.
        ``masks`` is null where the model before has no such head.
    """
    if rows is not None and len(rows) > limits.TEXTS.maximum:
        most = limits.TEXTS.maximum
        raise Refusal(strings.TOO_MANY_TEXTS.format(n=f"{len(rows):,}", most=most))
    return changes.changed(page_family(family), before, after, rows).to_dict()


def patch(text: str, second: str = "", family: str = "mini") -> dict[str, Any]:
    """Return which states of a text bring its answer back inside the pass of a second text.

    Args:
        text: The text, with at least one [MASK], at most 48 words and signs; the answers at its
            first four masks are followed.
        second: The same text with words replaced in one place; empty: a proposed change.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Both texts, their ``words``, and per model and mask ``effect[layer][word]``. An effect is
        (d_patch - d_second) / (d_first - d_second). Here d is the logit of the first text's answer
        minus that of the second's. An effect of 1 brings the first text's difference back. Layer 0
        is the embeddings.
    """
    return patching.patch(text, second, page_family(family)).to_dict()
