"""Predictions for masked words: top words, agreement, several masks, contrasts, surprisal."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import entropy, log_softmax, softmax, top_ids
from explorer.models.run import MaskedRow, Run, named_only, nameless_ids, read_only
from explorer.models.tokens import UNKNOWN, BadText, Tokens, Word, spelling_of
from explorer.refusal import Sentence, brief

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


@dataclass(frozen=True, slots=True)
class SpanScore:
    """One model's probability of a span of text in its context."""

    word: Word
    pieces: tuple[str, ...]
    log_probability: float
    """Nats, the sum over the pieces from left to right."""
    rank: int | None
    """1 = no piece of the vocabulary is likelier; None for a span of several pieces, because a
    product over several masks does not compare with single pieces."""
    answers: tuple[tuple[str, float], ...]
    """The top predictions for the first masked piece, spelled as words, and their probabilities."""

    @property
    def probability(self) -> float:
        """The probability of the span: the product over its pieces."""
        return float(np.exp(self.log_probability))

    @property
    def is_unknown(self) -> bool:
        """Return whether the vocabulary lacks the word or a part of it: it then has no score."""
        return any(piece in UNKNOWN for piece in self.pieces)

    @property
    def is_first(self) -> bool:
        """Return whether the span is the model's top prediction."""
        return self.rank == 1


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """One model's preference among alternatives such as ``[he|she]``."""

    model: str
    label: str
    scores: tuple[SpanScore, ...]
    """One per alternative, in the order of the text."""
    shares: np.ndarray
    """float64 [alternative]: P(alternative) divided by the sum over alternatives with the same
    number of masks; nan where there is no other, or where the vocabulary lacks a part of it."""

    @property
    def known(self) -> tuple[int, ...]:
        """The indices of the alternatives that are in the vocabulary."""
        return tuple(i for i, score in enumerate(self.scores) if not score.is_unknown)

    @property
    def preferred(self) -> int | None:
        """The index of the likeliest alternative; None where not all can be ranked."""
        if not self.is_equal or not np.isfinite(self.shares).any():
            return None
        return int(np.nanargmax(self.shares))

    @property
    def favourites(self) -> tuple[int, ...]:
        """The indices with the largest share to three decimals; empty if not all can be ranked."""
        if self.preferred is None:
            return ()
        largest = f"{np.nanmax(self.shares):.3f}"
        return tuple(i for i, share in enumerate(self.shares) if f"{share:.3f}" == largest)

    @property
    def is_equal(self) -> bool:
        """Return whether all known alternatives take the same number of masks."""
        return len({len(self.scores[i].pieces) for i in self.known}) == 1

    @property
    def equals(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The (number of masks, indices), likeliest first, of alternatives with equal numbers."""
        return tuple(
            (n, tuple(sorted(places, key=lambda place: -self.shares[place])))
            for n, places in sorted(_by_masks(self.scores).items())
            if len(places) > 1
        )


def contrast(model: str, label: str, scores: Sequence[SpanScore]) -> Contrast:
    """Compute each alternative's share of the probability of all alternatives.

    The shares are softmax(log P) over the alternatives with the same number of masks, so that even
    two unlikely words compare. A product over more masks is smaller whatever the word is, so
    shares across different numbers would say little about the words.
    """
    shares = np.full(len(scores), np.nan)
    for places in _by_masks(scores).values():
        if len(places) > 1:
            shares[places] = softmax(np.array([scores[i].log_probability for i in places]))
    return Contrast(model, label, tuple(scores), read_only(shares))


def _by_masks(scores: Sequence[SpanScore]) -> dict[int, list[int]]:
    """Return the indices of the known alternatives by their number of masks."""
    places: dict[int, list[int]] = {}
    for place, score in enumerate(scores):
        if not score.is_unknown:
            places.setdefault(len(score.pieces), []).append(place)
    return places


N_ANSWERS = 3


@dataclass(frozen=True, slots=True)
class SpanPlan:
    """Rows of input that score one span of text, and the target piece of each.

    All pieces of the span are masked, then filled one by one from left to right, so that
    P(span) = P(piece 1) P(piece 2 | piece 1) ...: one row per piece.
    """

    word: Word
    rows: tuple[MaskedRow, ...]
    targets: tuple[int, ...]


def span_plan(tokens: Tokens, word: Word, mask_id: int) -> SpanPlan:
    """Build the plan that scores the span ``word.start`` to ``word.end`` of a text.

    Raises:
        BadText: a token crosses the span's edge, or the span has no token.
    """
    inside = [
        pos
        for pos, (start, end) in enumerate(tokens.spans)
        if start < word.end and end > word.start and not tokens.special[pos]
    ]
    if not inside:
        raise BadText(Sentence("unreadable-word", f"This model cannot read “{brief(word.text)}”."))
    if min(tokens.spans[pos][0] for pos in inside) < word.start or (
        max(tokens.spans[pos][1] for pos in inside) > word.end
    ):
        raise BadText(
            Sentence(
                "merged-word",
                f"“{brief(word.text)}” is merged with its neighbour: put a space around it.",
            )
        )
    masked = list(tokens.ids)
    for pos in inside:
        masked[pos] = mask_id
    rows = []
    for pos in inside:
        rows.append(MaskedRow(tuple(masked), tokens.segments, pos))
        masked[pos] = tokens.ids[pos]
    return SpanPlan(word, tuple(rows), tuple(tokens.ids[pos] for pos in inside))


def loaded_plans(
    loaded: "LoadedModel", spans: Sequence[tuple[str, Word]]
) -> list[SpanPlan | Sentence]:
    """Build a model's plan for each (text, span), or the error message where it has none."""
    return [_plan_or_refusal(loaded, *span) for span in spans]


def _plan_or_refusal(loaded: "LoadedModel", text: str, word: Word) -> SpanPlan | Sentence:
    from explorer.models.forward import tokenize

    try:
        return span_plan(tokenize(loaded, text), word, int(loaded.tokenizer.mask_token_id))
    except BadText as error:
        return error.sentence


def word_plans(tokens: Tokens, mask_id: int) -> tuple[SpanPlan, ...]:
    """Build a plan for every word of a text, without words that share a token with another."""
    plans = []
    for word in tokens.words:
        if word.text.startswith("[") and len(word.text) > 1:
            continue
        try:
            plans.append(span_plan(tokens, word, mask_id))
        except BadText:
            # A token that spans two words belongs to neither alone: the page leaves both blank.
            continue
    return tuple(plans)


def span_score(plan: SpanPlan, logits: np.ndarray, vocabulary: tuple[str, ...]) -> SpanScore:
    """Compute a span's score from the logits [piece, vocabulary] of its plan's rows."""
    log_probs = log_softmax(logits)
    total = float(log_probs[np.arange(len(plan.targets)), plan.targets].sum())
    spelling = spelling_of(vocabulary)
    first = top_ids(log_probs[0], N_ANSWERS)
    # The margin keeps the target piece from counting as likelier than itself after rounding.
    n_likelier = int((log_probs[0] > total + 1e-12).sum())
    return SpanScore(
        plan.word,
        tuple(vocabulary[i] for i in plan.targets),
        total,
        n_likelier + 1 if len(plan.targets) == 1 else None,
        tuple((spelling.word(vocabulary[i]), float(np.exp(log_probs[0, i]))) for i in first),
    )


def shared_scores(scores: Mapping[str, Sequence[SpanScore]]) -> dict[str, tuple[SpanScore, ...]]:
    """Return each model's scores of the words that are known to all models."""
    known = [{s.word for s in model_scores if not s.is_unknown} for model_scores in scores.values()]
    common = set.intersection(*known) if known else set()
    return {
        key: tuple(s for s in model_scores if s.word in common)
        for key, model_scores in scores.items()
    }


def mean_surprisal(scores: Sequence[SpanScore]) -> float:
    """Compute a model's mean surprisal per word, -log P, in nats; nan without words."""
    if not scores:
        return float("nan")
    return 0.0 - float(np.mean([score.log_probability for score in scores]))


MAX_MASKS = 8
BEAM = 5
Logits = Callable[[Sequence[MaskedRow]], np.ndarray]
"""A function from rows of equal length to logits [row, vocabulary]."""


@dataclass(frozen=True, slots=True)
class Filling:
    """Words for all masks, with their joint and their independent log-probability."""

    words: tuple[str, ...]
    joint: float
    """Nats: log of P(w1) P(w2 | w1) P(w3 | w1, w2) ..., filled from left to right."""
    independent: float
    """Nats: log of P(w1) P(w2) P(w3) ..., each while all others stay masked."""


@dataclass(frozen=True, slots=True)
class MaskFillings:
    """One model's words for several masks, filled independently and from left to right."""

    model: str
    label: str
    alone: Filling
    """The likeliest word of each mask while all others stay masked."""
    together: tuple[Filling, ...]
    """The likeliest fillings from left to right, best first (beam search: not exhaustive)."""

    @property
    def is_changed(self) -> bool:
        """Return whether filling from left to right and independently give different words."""
        return self.alone.words != self.together[0].words


@dataclass(frozen=True, slots=True)
class _Beam:
    ids: tuple[int, ...]
    chosen: tuple[int, ...]
    joint: float


def mask_fillings(run: Run, logits: Logits, width: int = BEAM) -> MaskFillings:
    """Fill several masks, independently and from left to right by beam search.

    Raises:
        BadText: fewer than two masks, or more than eight.
    """
    positions = run.tokens.mask_positions
    if not 2 <= len(positions) <= MAX_MASKS:
        raise BadText(
            Sentence(
                "masks-to-fill",
                f"The text has {len(positions)} masks; filling them together takes 2 to "
                f"{MAX_MASKS}.",
            )
        )
    log_probs = log_softmax(run.mask_logits)
    alone = tuple(int(i) for i in named_only(log_probs, run.vocabulary).argmax(-1))
    together = _search(run, logits, width)
    joint = _replay(run, alone, logits)
    return MaskFillings(
        run.spec.key,
        run.spec.label,
        _filling(run, log_probs, alone, joint),
        tuple(_filling(run, log_probs, beam.chosen, beam.joint) for beam in together),
    )


def _search(run: Run, logits: Logits, width: int) -> tuple[_Beam, ...]:
    beams: tuple[_Beam, ...] = (_Beam(run.tokens.ids, (), 0.0),)
    for pos in run.tokens.mask_positions:
        log_probs = log_softmax(logits([_row(run, beam.ids, pos) for beam in beams]))
        candidates = [
            _fill(beam, pos, int(i), float(row[i]))
            for beam, row in zip(beams, log_probs, strict=True)
            for i in top_ids(row, width)
        ]
        beams = tuple(sorted(candidates, key=lambda beam: -beam.joint)[:width])
    return beams


def _replay(run: Run, chosen: tuple[int, ...], logits: Logits) -> float:
    """Compute the joint log-probability of the chosen words, filled from left to right."""
    rows, beam = [], _Beam(run.tokens.ids, (), 0.0)
    for pos, i in zip(run.tokens.mask_positions, chosen, strict=True):
        rows.append(_row(run, beam.ids, pos))
        beam = _fill(beam, pos, i, 0.0)
    log_probs = log_softmax(logits(rows))
    return float(log_probs[np.arange(len(chosen)), list(chosen)].sum())


def _row(run: Run, ids: tuple[int, ...], pos: int) -> MaskedRow:
    return MaskedRow(ids, run.tokens.segments, pos)


def _fill(beam: _Beam, pos: int, i: int, log_probability: float) -> _Beam:
    ids = (*beam.ids[:pos], i, *beam.ids[pos + 1 :])
    return _Beam(ids, (*beam.chosen, i), beam.joint + log_probability)


def _filling(run: Run, log_probs: np.ndarray, chosen: tuple[int, ...], joint: float) -> Filling:
    spelling = spelling_of(run.vocabulary)
    words = tuple(spelling.word(run.vocabulary[i]) for i in chosen)
    return Filling(words, joint, float(log_probs[np.arange(len(chosen)), list(chosen)].sum()))


TOP_K = (1, 50)
"""The smallest and the largest number of predictions listed for a mask."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskPredictions:
    """One model's top ``k`` predictions for each mask, and the probability outside them."""

    model: str
    label: str
    positions: tuple[int, ...]
    """Token positions of the masks, in reading order."""
    ids: np.ndarray
    """int64 [mask, k], likeliest first."""
    tokens: tuple[tuple[str, ...], ...]
    """Spelled as in the vocabulary: ``##ing``, ``▁the``."""
    words: tuple[tuple[str, ...], ...]
    """Spelled as words, so that equal words of different vocabularies are equal."""
    probabilities: np.ndarray
    """float64 [mask, k], softmax over the whole vocabulary."""
    remaining: np.ndarray
    """float64 [mask], the probability outside the top ``k``."""
    entropy: np.ndarray
    """float64 [mask], nats, over the whole vocabulary."""
    d_vocab: int


@dataclass(frozen=True, slots=True)
class WordRank:
    """One model's probability and rank of a word at a mask, if the word is a single known piece."""

    n_pieces: int
    """Number of pieces; 0 where the word has none."""
    is_unknown: bool
    """True where the vocabulary lacks the word or a part of it."""
    id: int = -1
    probability: float = float("nan")
    rank: int = 0
    """1 = no piece of the vocabulary is likelier."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Models grouped by their top prediction for one mask, largest group first."""

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """(word, model keys) pairs."""
    probabilities: Mapping[str, float]
    """Each model's probability of its own top prediction."""

    @property
    def is_unanimous(self) -> bool:
        """Return whether all models have the same top prediction."""
        return len(self.groups) == 1


def mask_predictions(run: Run, top_k: int = 10) -> MaskPredictions:
    """Return a model's top predictions for each mask: softmax over the whole vocabulary.

    ``top_k`` is clipped to 1 to 50, and to the size of the vocabulary.
    """
    log_probs = log_softmax(run.mask_logits)
    probs = np.exp(log_probs)
    n_named = probs.shape[-1] - len(nameless_ids(run.vocabulary))
    k = min(max(int(top_k), TOP_K[0]), TOP_K[1], n_named)
    ids = top_ids(named_only(log_probs, run.vocabulary), k)
    outside = probs.copy()
    np.put_along_axis(outside, ids, 0.0, -1)
    pieces = tuple(tuple(run.vocabulary[i] for i in row) for row in ids)
    spelling = spelling_of(run.vocabulary)
    return MaskPredictions(
        run.spec.key,
        run.spec.label,
        run.tokens.mask_positions,
        read_only(ids),
        pieces,
        tuple(tuple(spelling.word(piece) for piece in row) for row in pieces),
        read_only(np.take_along_axis(probs, ids, -1)),
        read_only(outside.sum(-1)),
        read_only(entropy(probs)),
        probs.shape[-1],
    )


def word_rank(run: Run, mask: int, pieces: tuple[int, ...]) -> WordRank:
    """Find the probability and rank at a mask of the word that is tokenized as these pieces."""
    unknown = not pieces or any(run.vocabulary[i] in UNKNOWN for i in pieces)
    if unknown or len(pieces) > 1:
        return WordRank(len(pieces), unknown)
    log_probs = log_softmax(run.mask_logits[mask])
    log_prob = log_probs[pieces[0]]
    rank = 1 + int((log_probs > log_prob).sum())
    return WordRank(1, False, pieces[0], float(np.exp(log_prob)), rank)


def agreement(predictions: Mapping[str, MaskPredictions], mask: int) -> Agreement:
    """Group the models by their top prediction for one mask, compared as words."""
    groups: dict[str, list[str]] = {}
    for key, result in predictions.items():
        groups.setdefault(result.words[mask][0], []).append(key)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return Agreement(
        tuple((word, tuple(keys)) for word, keys in ordered),
        {key: float(result.probabilities[mask, 0]) for key, result in predictions.items()},
    )
