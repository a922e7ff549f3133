"""Predictions for masked words, agreement, joint fillings, contrasts, every word masked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import entropy, log_softmax, softmax, top_ids
from explorer.models.run import MaskedRow, Run, read_only
from explorer.models.tokens import UNKNOWN, BadText, Tokens, Word, spelling_of
from explorer.refusal import brief

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel


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


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """One model's preference among the alternatives of ``[he|she]``."""

    model: str
    label: str
    scores: tuple[SpanScore, ...]
    """One per alternative, in the reader's order."""
    shares: np.ndarray
    """float64 [alternative]: P(alternative) divided by the sum over those that take as many
    masks; nan where no other does, and where the vocabulary lacks a part of it."""

    @property
    def known(self) -> tuple[int, ...]:
        """The places of the alternatives that the vocabulary can write."""
        return tuple(i for i, score in enumerate(self.scores) if not score.is_unknown)

    @property
    def preferred(self) -> int | None:
        """The place of the likeliest alternative; None where they cannot all be ranked."""
        if not self.is_equal or not np.isfinite(self.shares).any():
            return None
        return int(np.nanargmax(self.shares))

    @property
    def favourites(self) -> tuple[int, ...]:
        """The places whose share prints as the largest, to three decimals; none unranked."""
        if self.preferred is None:
            return ()
        most = f"{np.nanmax(self.shares):.3f}"
        return tuple(i for i, share in enumerate(self.shares) if f"{share:.3f}" == most)

    @property
    def is_equal(self) -> bool:
        """Whether all alternatives that it knows take the same number of masks."""
        return len({len(self.scores[i].pieces) for i in self.known}) == 1

    @property
    def equals(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """(number of masks, places, likeliest first) wherever several alternatives share one."""
        return tuple(
            (n, tuple(sorted(places, key=lambda place: -self.shares[place])))
            for n, places in sorted(_by_masks(self.scores).items())
            if len(places) > 1
        )


def contrast(model: str, label: str, scores: Sequence[SpanScore]) -> Contrast:
    """How a model shares its belief among alternatives, whatever else it might have said.

    The shares are softmax(log P) over the alternatives of one number of masks, so that even two
    unlikely words compare; a product over more masks is smaller whatever the word is, so shares
    across them would say little about the words.
    """
    shares = np.full(len(scores), np.nan)
    for places in _by_masks(scores).values():
        if len(places) > 1:
            shares[places] = softmax(np.array([scores[i].log_probability for i in places]))
    return Contrast(model, label, tuple(scores), read_only(shares))


def _by_masks(scores: Sequence[SpanScore]) -> dict[int, list[int]]:
    """The places of the known alternatives by their number of masks."""
    places: dict[int, list[int]] = {}
    for place, score in enumerate(scores):
        if not score.is_unknown:
            places.setdefault(len(score.pieces), []).append(place)
    return places


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


MAX_MASKS = 8
BEAM = 5
Logits = Callable[[Sequence[MaskedRow]], np.ndarray]
"""From rows of one length to logits [row, vocabulary]."""


@dataclass(frozen=True, slots=True)
class Filling:
    """Words for all gaps, and how likely the model finds them under both readings."""

    words: tuple[str, ...]
    joint: float
    """Nats: log of P(w1) P(w2 | w1) P(w3 | w1, w2) ..., filled from left to right."""
    independent: float
    """Nats: log of P(w1) P(w2) P(w3) ..., every gap filled while the others stay hidden."""


@dataclass(frozen=True, slots=True)
class MaskFillings:
    """What changes when gaps know of each other, for one model."""

    model: str
    label: str
    alone: Filling
    """The likeliest word of each gap on its own."""
    together: tuple[Filling, ...]
    """The likeliest fillings from left to right, best first (beam search: not exhaustive)."""

    @property
    def is_changed(self) -> bool:
        """Whether filling one after the other leads to other words."""
        return self.alone.words != self.together[0].words


@dataclass(frozen=True, slots=True)
class _Beam:
    ids: tuple[int, ...]
    chosen: tuple[int, ...]
    joint: float


def mask_fillings(run: Run, logits: Logits, width: int = BEAM) -> MaskFillings:
    """The words a model gives several gaps, independently and from left to right.

    Raises:
        BadText: fewer than two masks, or more than eight.
    """
    positions = run.tokens.mask_positions
    if not 2 <= len(positions) <= MAX_MASKS:
        raise BadText(
            f"The text has {len(positions)} masks; filling them together takes 2 to {MAX_MASKS}."
        )
    apart = log_softmax(run.mask_logits)
    alone = tuple(int(i) for i in apart.argmax(-1))
    together = _search(run, logits, width)
    priced = _replay(run, alone, logits)
    return MaskFillings(
        run.spec.key,
        run.spec.label,
        _filling(run, apart, alone, priced),
        tuple(_filling(run, apart, beam.chosen, beam.joint) for beam in together),
    )


def _search(run: Run, logits: Logits, width: int) -> tuple[_Beam, ...]:
    beams: tuple[_Beam, ...] = (_Beam(run.tokens.ids, (), 0.0),)
    for pos in run.tokens.mask_positions:
        log_probs = log_softmax(logits([_row(run, beam.ids, pos) for beam in beams]))
        grown = [
            _fill(beam, pos, int(i), float(row[i]))
            for beam, row in zip(beams, log_probs, strict=True)
            for i in top_ids(row, width)
        ]
        beams = tuple(sorted(grown, key=lambda beam: -beam.joint)[:width])
    return beams


def _replay(run: Run, chosen: tuple[int, ...], logits: Logits) -> float:
    """The joint log-probability of given words, in the same left-to-right order."""
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


def _filling(run: Run, apart: np.ndarray, chosen: tuple[int, ...], joint: float) -> Filling:
    spelling = spelling_of(run.vocabulary)
    words = tuple(spelling.word(run.vocabulary[i]) for i in chosen)
    return Filling(words, joint, float(apart[np.arange(len(chosen)), list(chosen)].sum()))


TOP_K = (1, 50)
"""The fewest and the most words listed for a mask."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskPredictions:
    """What one model puts in each mask: the ``k`` likeliest pieces and the mass outside them."""

    model: str
    label: str
    positions: tuple[int, ...]
    """Token positions of the masks, in reading order."""
    ids: np.ndarray
    """int64 [mask, k], likeliest first."""
    tokens: tuple[tuple[str, ...], ...]
    """As the vocabulary writes them: ``##ing``, ``▁the``."""
    words: tuple[tuple[str, ...], ...]
    """As a reader writes them; equal words are equal here, whatever the vocabulary."""
    probabilities: np.ndarray
    """float64 [mask, k], shares of the whole vocabulary."""
    remaining: np.ndarray
    """float64 [mask], the mass outside the ``k``."""
    entropy: np.ndarray
    """float64 [mask], nats, over the whole vocabulary."""
    d_vocab: int


@dataclass(frozen=True, slots=True)
class WordFound:
    """Where one model's answer for a mask has a word; numbers only where it is one known piece."""

    n_pieces: int
    """0 where no piece is the word's own."""
    is_unknown: bool
    """Whether the vocabulary lacks the word or a part of it."""
    id: int = -1
    probability: float = float("nan")
    rank: int = 0
    """1 = no piece of the vocabulary is likelier."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Who answers what in one mask: models by their first answer, largest group first."""

    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """(word, model keys) pairs."""
    probabilities: Mapping[str, float]
    """Each model's probability of its own first answer."""

    @property
    def is_unanimous(self) -> bool:
        """Whether every model gives the same first answer."""
        return len(self.groups) == 1


def mask_predictions(run: Run, top_k: int = 10) -> MaskPredictions:
    """What a model puts in each mask: softmax over the whole vocabulary, likeliest first.

    ``top_k`` is brought into 1 to 50 (and under the size of the vocabulary).
    """
    log_probs = log_softmax(run.mask_logits)
    probs = np.exp(log_probs)
    k = min(max(int(top_k), TOP_K[0]), TOP_K[1], probs.shape[-1])
    ids = top_ids(log_probs, k)
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


def word_found(run: Run, mask: int, pieces: tuple[int, ...]) -> WordFound:
    """Where a model's answer for a mask has the word that its tokenizer writes as these pieces."""
    unknown = not pieces or any(run.vocabulary[i] in UNKNOWN for i in pieces)
    if unknown or len(pieces) > 1:
        return WordFound(len(pieces), unknown)
    log_probs = log_softmax(run.mask_logits[mask])
    of_word = log_probs[pieces[0]]
    rank = 1 + int((log_probs > of_word).sum())
    return WordFound(1, False, pieces[0], float(np.exp(of_word)), rank)


def agreement(predictions: Mapping[str, MaskPredictions], mask: int) -> Agreement:
    """Where the models agree on one mask: the same first answer, compared as readers' words."""
    groups: dict[str, list[str]] = {}
    for key, result in predictions.items():
        groups.setdefault(result.words[mask][0], []).append(key)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return Agreement(
        tuple((word, tuple(keys)) for word, keys in ordered),
        {key: float(result.probabilities[mask, 0]) for key, result in predictions.items()},
    )
