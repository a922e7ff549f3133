"""How likely a model finds words that are really there: hidden, then filled from left to right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import log_softmax, top_ids
from explorer.models.rows import MaskedRow
from explorer.models.spelling import UNKNOWN, spelling_of
from explorer.models.tokens import BadText, Tokens, Word
from explorer.refusal import brief

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

N_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class SpanPlan:
    """The rows that price one stretch of text, and the piece wanted in each.

    All pieces of the stretch are masked; they are filled one by one from left to right, so that
    P(stretch) = P(piece 1) P(piece 2 | piece 1) ...: one row per piece.
    """

    word: Word
    rows: tuple[MaskedRow, ...]
    targets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpanScore:
    """How likely a stretch of text is in its place, by one model."""

    word: Word
    pieces: tuple[str, ...]
    log_probability: float
    """Nats, summed over the pieces from left to right."""
    rank: int | None
    """1 = no piece of the vocabulary is likelier; None for a stretch of several pieces, whose
    product over several masks does not compare with them."""
    answers: tuple[tuple[str, float], ...]
    """The likeliest pieces for the first hidden place, as a reader writes them."""

    @property
    def probability(self) -> float:
        """The product over the pieces."""
        return float(np.exp(self.log_probability))

    @property
    def is_unknown(self) -> bool:
        """Whether the vocabulary lacks the word, so that no probability is its own."""
        return any(piece in UNKNOWN for piece in self.pieces)

    @property
    def is_first(self) -> bool:
        """Whether the model would have answered this itself."""
        return self.rank == 1


def span_plan(tokens: Tokens, word: Word, mask_id: int) -> SpanPlan:
    """How to price the stretch ``word.start`` to ``word.end`` of a text.

    Raises:
        BadText: a piece of the vocabulary reaches over the stretch's edge, or nothing is in it.
    """
    inside = [
        pos
        for pos, (start, end) in enumerate(tokens.spans)
        if start < word.end and end > word.start and not tokens.special[pos]
    ]
    if not inside:
        raise BadText(f"This model cannot read “{brief(word.text)}”.")
    if min(tokens.spans[pos][0] for pos in inside) < word.start or (
        max(tokens.spans[pos][1] for pos in inside) > word.end
    ):
        raise BadText(f"“{brief(word.text)}” is merged with its neighbour: put a space around it.")
    hidden = list(tokens.ids)
    for pos in inside:
        hidden[pos] = mask_id
    rows = []
    for pos in inside:
        rows.append(MaskedRow(tuple(hidden), tokens.segments, pos))
        hidden[pos] = tokens.ids[pos]
    return SpanPlan(word, tuple(rows), tuple(tokens.ids[pos] for pos in inside))


def loaded_plans(
    loaded: "LoadedModel", stretches: Sequence[tuple[str, Word]]
) -> list[SpanPlan | str]:
    """How a model prices stretches of texts; where it cannot, the sentence that says why."""
    return [_plan_or_why(loaded, *stretch) for stretch in stretches]


def _plan_or_why(loaded: "LoadedModel", text: str, word: Word) -> SpanPlan | str:
    from explorer.models.forward import tokenize

    try:
        return span_plan(tokenize(loaded, text), word, int(loaded.tokenizer.mask_token_id))
    except BadText as error:
        return str(error)


def word_plans(tokens: Tokens, mask_id: int) -> tuple[SpanPlan, ...]:
    """Every word of a text masked in turn; a piece that spans two words leaves both out."""
    plans = []
    for word in tokens.words:
        if word.text.startswith("[") and len(word.text) > 1:
            continue
        try:
            plans.append(span_plan(tokens, word, mask_id))
        except BadText:
            # A piece that spans two words belongs to neither alone; the strip leaves both blank.
            continue
    return tuple(plans)


def span_score(plan: SpanPlan, logits: np.ndarray, vocabulary: tuple[str, ...]) -> SpanScore:
    """How likely a stretch is in its place, from its rows' logits [piece, vocabulary]."""
    log_probs = log_softmax(logits)
    total = float(log_probs[np.arange(len(plan.targets)), plan.targets].sum())
    spelling = spelling_of(vocabulary)
    first = top_ids(log_probs[0], N_ANSWERS)
    # The margin keeps the wanted piece from counting as likelier than itself.
    n_likelier = int((log_probs[0] > total + 1e-12).sum())
    return SpanScore(
        plan.word,
        tuple(vocabulary[i] for i in plan.targets),
        total,
        n_likelier + 1 if len(plan.targets) == 1 else None,
        tuple((spelling.word(vocabulary[i]), float(np.exp(log_probs[0, i]))) for i in first),
    )


def shared_scores(scores: Mapping[str, Sequence[SpanScore]]) -> dict[str, tuple[SpanScore, ...]]:
    """Each model's scores of the words that all of them can read, by the same words."""
    read = [{s.word for s in found if not s.is_unknown} for found in scores.values()]
    common = set.intersection(*read) if read else set()
    return {key: tuple(s for s in found if s.word in common) for key, found in scores.items()}


def mean_surprisal(scores: Sequence[SpanScore]) -> float:
    """How surprised a model is per word, in nats: the mean of -log P."""
    if not scores:
        return float("nan")
    return 0.0 - float(np.mean([score.log_probability for score in scores]))
