"""The three losses of distillation on one sentence, and a simulation of BERT's masking."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.distillation.soft import check_pair
from explorer.analysis.measures import kl_of_logs, log_softmax
from explorer.models.run import Run, read_only
from explorer.models.tokens import spelling_of

if TYPE_CHECKING:
    from torch import Tensor


TEMPERATURE_STEPS = (
    0.05,
    0.1,
    0.2,
    0.3,
    0.5,
    0.7,
    1.0,
    1.25,
    1.5,
    1.75,
    2.0,
    2.5,
    3.0,
    4.0,
    5.0,
    6.0,
    8.0,
    10.0,
    14.0,
    20.0,
)
"""Temperatures of the slider at which the soft loss is computed."""


@dataclass(frozen=True, slots=True, eq=False)
class SentenceLosses:
    """The three parts of the loss on one sentence, unweighted."""

    temperatures: np.ndarray
    """float64 [temperature]."""
    ce: np.ndarray
    """float64 [temperature], ``T^2 * KL``, averaged over all tokens, in nats."""
    ce_hidden: np.ndarray | None
    """float64 [temperature], averaged over the masks alone, as with ``restrict_ce_to_mask``; None
    without a mask."""
    mlm: float | None
    """Mean cross-entropy in nats over the masks with a known original token; None without one."""
    cos: float | None
    """Mean of ``1 - cosine`` of the last hidden states, from 0 to 2; None for unlike widths."""
    kl: np.ndarray
    """float64 [temperature, position], ``KL(teacher || student)`` at each token, no ``T^2``."""
    cosine: np.ndarray | None
    """float64 [position], cosine of the last hidden states at each token; None like ``cos``."""

    def total(self, temperature: int, weights: dict[str, float]) -> float:
        """Return the weighted sum at one temperature, given by index; unknown parts count as 0."""
        parts = {"ce": float(self.ce[temperature]), "mlm": self.mlm or 0.0}
        parts["cos"] = self.cos or 0.0
        return sum(weights[name] * value for name, value in parts.items())


@dataclass(frozen=True, slots=True, eq=False)
class PairLogits:
    """The runs of teacher and student over one text, with logits at every token."""

    teacher: Run
    student: Run
    teacher_logits: np.ndarray
    """float32 [position, vocabulary]."""
    student_logits: np.ndarray

    def __post_init__(self) -> None:
        check_pair(self.teacher, self.student)
        if self.teacher_logits.shape != self.student_logits.shape:
            raise ValueError(
                f"logits of {self.teacher_logits.shape} and {self.student_logits.shape}"
            )


def sentence_losses(
    pair: PairLogits,
    answers: tuple[int | None, ...] = (),
    temperatures: tuple[float, ...] = TEMPERATURE_STEPS,
) -> SentenceLosses:
    """Compute DistilBERT's losses on one sentence (Sanh et al. 2019 and the authors' code).

    Args:
        pair: The two runs and their logits at every token.
        answers: The original token id of each mask, None where it is not known.
        temperatures: Temperatures at which the soft loss is computed.
    """
    import torch

    from explorer.analysis.distillation.triple_loss import hidden_cosine, mlm_loss

    teacher, student = torch.tensor(pair.teacher_logits), torch.tensor(pair.student_logits)
    t_last = torch.tensor(pair.teacher.hidden_states[-1])
    s_last = torch.tensor(pair.student.hidden_states[-1])
    labels = torch.tensor(mask_labels(pair.student, answers))
    masks = list(pair.student.tokens.mask_positions)
    has_label, same_width = bool((labels >= 0).any()), s_last.shape == t_last.shape
    cosine = torch.cosine_similarity(s_last, t_last, -1).numpy() if same_width else None
    kl = [
        kl_of_logs(log_softmax(pair.teacher_logits, t), log_softmax(pair.student_logits, t))
        for t in temperatures
    ]
    return SentenceLosses(
        read_only(np.array(temperatures)),
        _ce(student, teacher, temperatures),
        _ce(student[masks], teacher[masks], temperatures) if masks else None,
        float(mlm_loss(student, labels)) if has_label else None,
        float(hidden_cosine(s_last, t_last)) if same_width else None,
        read_only(np.stack(kl)),
        None if cosine is None else read_only(cosine.astype(np.float64)),
    )


def _ce(student: "Tensor", teacher: "Tensor", temperatures: tuple[float, ...]) -> np.ndarray:
    from explorer.analysis.distillation.triple_loss import distillation_ce

    return read_only(np.array([float(distillation_ce(student, teacher, t)) for t in temperatures]))


def mask_labels(run: Run, answers: tuple[int | None, ...]) -> np.ndarray:
    """Return labels [position]: the original token id at a mask with a known one, else -100."""
    labels = np.full(len(run.tokens), -100, np.int64)
    for position, answer in zip(run.tokens.mask_positions, answers, strict=False):
        if answer is not None:
            labels[position] = answer
    return labels


CHOSEN = 0.15
OUTCOME_SHARES = (0.8, 0.1, 0.1)
"""Shares of the chosen tokens: replaced by [MASK], by a random token, unchanged."""
LEFT, MASKED, SWAPPED, KEPT = range(4)
LABELS = ("not chosen", "masked", "swapped", "kept")


@dataclass(frozen=True, slots=True, eq=False)
class MaskingSimulation:
    """Fates of a text's tokens: totals over many rounds of masking, and the first round in full."""

    outcomes: np.ndarray
    """int8 [token], LEFT, MASKED, SWAPPED or KEPT in the first round."""
    swapped_ids: np.ndarray
    """int [token], the random token of the first round; -1 where the token was not swapped."""
    counts: np.ndarray
    """int [4], tokens of each fate over all rounds."""
    rounds: int
    seed: int

    @property
    def shares(self) -> np.ndarray:
        """float64 [4], shares of all tokens seen; expected 85, 12, 1.5 and 1.5%."""
        return self.counts / self.counts.sum()


def masking_simulation(
    n_tokens: int, candidates: np.ndarray, seed: int = 0, rounds: int = 1
) -> MaskingSimulation:
    """Mask tokens at random as in BERT's pre-training (Devlin et al. 2019, section 3.1).

    Every round draws anew (dynamic masking, as in RoBERTa and DistilBERT). DistilBERT's training
    also favoured rare words, which is left out here. The same seed gives the same rounds.

    Args:
        n_tokens: Tokens of the text, without [CLS] and [SEP].
        candidates: Ids that a swapped token may become.
        seed: Seed of the random generator.
        rounds: Number of rounds, at least 1.

    Raises:
        ValueError: ``n_tokens`` or ``rounds`` is below 1.
    """
    if n_tokens < 1 or rounds < 1:
        raise ValueError("Masking needs at least one word and one round.")
    rng = np.random.default_rng(seed)
    fate = _draw_outcomes(rng.random(n_tokens))
    swapped = np.where(fate == SWAPPED, rng.choice(candidates, n_tokens), -1)
    counts = np.bincount(fate, minlength=4)
    for _ in range(rounds - 1):
        counts = counts + np.bincount(_draw_outcomes(rng.random(n_tokens)), minlength=4)
    return MaskingSimulation(read_only(fate), read_only(swapped), read_only(counts), rounds, seed)


@dataclass(frozen=True, slots=True, eq=False)
class MaskedText:
    """Tokens of a text, and what masking made of those that are no mask yet."""

    simulation: MaskingSimulation
    pieces: tuple[tuple[str, bool], ...]
    """Each token in readable spelling, and whether it is a typed mask, which is left out."""
    replacements: tuple[str, ...]
    """For each of the other tokens the random token of the first round; empty without one."""
    n_candidates: int
    """Tokens of the vocabulary that can be a random token: those of letters."""


def masked_text(run: Run, seed: int = 0, rounds: int = 1) -> MaskedText | None:
    """Mask the tokens of a text as in pre-training; None where all of them are masks already."""
    own_masks = run.tokens.mask_positions
    indices = [i for i, special in enumerate(run.tokens.special) if not special]
    n_tokens = sum(i not in own_masks for i in indices)
    if not n_tokens:
        return None
    spelling = spelling_of(run.vocabulary)
    pool = [i for i, piece in enumerate(run.vocabulary) if spelling.text(piece).isalpha()]
    simulation = masking_simulation(n_tokens, np.array(pool), seed, rounds)
    return MaskedText(
        simulation,
        tuple((spelling.word(run.tokens.pieces[i]), i in own_masks) for i in indices),
        tuple(spelling.word(run.vocabulary[i]) if i >= 0 else "" for i in simulation.swapped_ids),
        len(pool),
    )


def _draw_outcomes(draws: np.ndarray) -> np.ndarray:
    """Return each token's fate from one uniform draw: below 0.12 masked, below 0.135 swapped ..."""
    masked, swapped, _ = np.cumsum(OUTCOME_SHARES) * CHOSEN
    fates = np.select([draws < masked, draws < swapped, draws < CHOSEN], [MASKED, SWAPPED, KEPT])
    return fates.astype(np.int8)
