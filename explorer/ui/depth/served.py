"""Limits of the endpoints on layers and vectors."""

from typing import Any

from explorer import limits
from explorer.library.depth import check_seconds
from explorer.library.vectors import Vectors, vectors
from explorer.refusal import Refusal
from explorer.ui.kit import strings
from explorer.ui.kit.validation import ArgumentLimit, Given

MAX_VECTORS = 32
"""Most words whose vectors are sent: of three base models they are some 10 MB of JSON."""


def few_texts(argument: str) -> ArgumentLimit:
    """Return the limit of a list of texts over which layers are compared."""
    most = limits.TEXTS.maximum

    def check(given: Given) -> None:
        n = len(given[argument] or ())
        if n > most:
            raise Refusal(strings.TOO_MANY_TEXTS.format(n=f"{n:,}", most=most))

    return ArgumentLimit(argument, strings.AT_MOST_TEXTS.format(limit=most), check)


def few_vectors(**given: Any) -> Vectors:  # noqa: ANN401 - the public function's arguments
    """Return what ``explorer.vectors`` returns of few words; only the models tell how many.

    Raises:
        Refusal: there are more than ``MAX_VECTORS``.
    """
    answer = vectors(**given)
    if any(len(found.words) > MAX_VECTORS for found in answer.models.values()):
        raise Refusal(strings.TOO_MANY_VECTORS.format(most=MAX_VECTORS))
    return answer


SECONDS = ArgumentLimit(
    "seconds",
    strings.AT_MOST_SECONDS.format(limit=limits.TEXTS_TIME.maximum),
    lambda given: check_seconds(given["seconds"], limits.TEXTS_TIME.maximum),
)
