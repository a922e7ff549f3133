"""Several gaps at once: each filled as if alone, or one after the other, each seeing the last."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.analysis.measures import log_softmax, top_ids
from explorer.models.rows import MaskedRow
from explorer.models.run import Run
from explorer.models.spelling import spelling_of
from explorer.models.tokens import BadText

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
