"""Where in a passage an answer stands: probabilities of its first and last word, the best spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import softmax
from explorer.models.run import read_only
from explorer.models.task_heads.windows import Window
from explorer.refusal import Refusal

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

LONGEST = 30
"""An answer has at most this many tokens."""


@dataclass(frozen=True, slots=True)
class Span:
    """One answer: characters of the passage, and the product of both probabilities."""

    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSpans:
    """What a span head says of every token of a passage."""

    places: tuple[tuple[int, int], ...]
    """Where each token stands in the passage, in reading order; a place that a vocabulary writes in
    several tokens stands there for each of them."""
    start: np.ndarray
    """float64 [token]: the probability that the answer begins here; they sum to 1."""
    end: np.ndarray
    """float64 [token]: that it ends here."""
    best: tuple[Span, ...]
    """The likeliest spans, best first."""


def answer_spans(
    parts: Sequence[Window], logits: Sequence[np.ndarray], n_best: int = 3
) -> AnswerSpans:
    """The spans of a passage from the head's logits [token, 2] of each of its windows.

    A token that lies in several windows is read in the one in which it has most company on its
    poorer side (Devlin's "max context"). Softmax is over all tokens of the passage and over them
    alone, those too that share their characters; a span's score is p(start) p(end), its end not
    before its start and fewer than ``LONGEST`` tokens on.
    """
    chosen: dict[int, tuple[int, tuple[int, int], np.ndarray]] = {}
    for part, scores in zip(parts, logits, strict=True):
        inside = [(i, span) for i, span in enumerate(part.spans) if span is not None]
        for n, (i, place) in enumerate(inside):
            company, known = min(n, len(inside) - 1 - n), chosen.get(part.first + n)
            if known is None or company > known[0]:
                chosen[part.first + n] = (company, place, scores[i])
    places = tuple(chosen[n][1] for n in sorted(chosen))
    if not any(first < last for first, last in places):
        raise Refusal("No word of the passage can be read by this model.")
    read = np.stack([chosen[n][2] for n in sorted(chosen)]).astype(np.float64)
    start, end = softmax(read[:, 0]), softmax(read[:, 1])
    return AnswerSpans(places, read_only(start), read_only(end), _best(places, start, end, n_best))


def _best(
    places: Sequence[tuple[int, int]], start: np.ndarray, end: np.ndarray, n_best: int
) -> tuple[Span, ...]:
    """The likeliest stretches of characters, each once, by its likeliest pair of tokens."""
    begins, ends = np.asarray(places).T
    reach = np.triu(np.ones((len(places), len(places)), bool)) & (begins[:, None] < ends)
    reach &= ~np.triu(np.ones_like(reach), LONGEST)
    scores = np.where(reach, start[:, None] * end[None, :], -1.0)
    found: dict[tuple[int, int], Span] = {}
    for flat in np.argsort(-scores, axis=None, kind="stable"):
        i, j = divmod(int(flat), len(places))
        if len(found) == n_best or not reach[i, j]:
            break
        place = (places[i][0], places[j][1])
        found.setdefault(place, Span(*place, float(scores[i, j])))
    return tuple(found.values())


def answered(loaded: "LoadedModel", question: str, passage: str) -> AnswerSpans:
    """What a network with its question adapter finds in a passage; asked again, it does not run.

    Raises:
        BadText: the question or the passage cannot be read. NotTuned: no adapter fits.
    """
    from explorer.models.task_heads.adapters import once, tuned_of
    from explorer.models.task_heads.question import span_logits

    tuned = tuned_of(loaded, "squad")
    asked = ("question", question, passage)
    return once(tuned, asked, lambda: answer_spans(*span_logits(tuned, question, passage)))
