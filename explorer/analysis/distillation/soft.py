"""Soft probabilities of teacher and student, their agreement, and similarity of hidden states."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from explorer.analysis.measures import (
    TEMPERATURES,
    entropy,
    js,
    kl_of_logs,
    log_softmax,
    softmax,
    top_ids,
)
from explorer.models.run import Run, named_only, read_only
from explorer.models.tokens import spelling_of, word_id
from explorer.refusal import Refusal, Sentence

Partners = dict[tuple[str, bool], int]
"""Token ids of a vocabulary, by (text, begins a word)."""


class NotAPair(Refusal):
    """Refusal of two runs that cannot be teacher and student; the message gives the reason."""


class BadTemperature(Refusal):
    """Refusal of a temperature outside ``TEMPERATURES``."""


def dark_knowledge(logits: np.ndarray, temperature: float) -> float:
    """Compute the probability mass outside the top-1 (Hinton et al. 2015).

    It grows with T up to ``1 - 1/n``.
    """
    p = softmax(logits, temperature)
    return float(np.delete(p, p.argmax()).sum())


@dataclass(frozen=True, slots=True, eq=False)
class SoftPair:
    """Distributions of teacher and student at one mask and temperature, and their divergences."""

    temperature: float
    ids: np.ndarray
    """int [word], token ids in the union of both top lists, the teacher's likeliest first."""
    tokens: tuple[str, ...]
    """The tokens of ``ids`` as the vocabulary writes them."""
    teacher: np.ndarray
    """float64 [word], probabilities over the full vocabulary."""
    student: np.ndarray
    """float64 [word], probabilities over the full vocabulary."""
    kl_teacher_student: float
    """Nats, over the full vocabulary, as all divergences and entropies here."""
    kl_student_teacher: float
    js: float
    entropy_teacher: float
    entropy_student: float
    dark_knowledge: float
    """The teacher's probability mass outside its top-1, which a hard label discards."""


@dataclass(frozen=True, slots=True, eq=False)
class SharedVocabulary:
    """Tokens of two vocabularies with the same text and the same position in a word."""

    partner: np.ndarray
    """int32 [token of the first], the id in the second vocabulary; -1 without a partner."""
    share_first: float
    """Share of the first vocabulary's tokens that have a partner in the second."""
    share_second: float


@dataclass(frozen=True, slots=True, eq=False)
class HiddenWord:
    """A mask with the runs of teacher, student and, if available, a third model."""

    teacher: Run
    student: Run
    third: Run | None
    mask: int
    """Index of the mask in the text."""
    answer: int
    """The hidden word's token id; -1 where it is unknown or more than one token."""

    def __post_init__(self) -> None:
        check_pair(self.teacher, self.student)

    @property
    def two(self) -> tuple[Run, Run]:
        """The runs of teacher and student."""
        return self.teacher, self.student

    def logits(self, run: Run) -> np.ndarray:
        """Return a run's logits at the mask, float32 [vocabulary]."""
        return run.mask_logits[self.mask]

    def pair(self, temperature: float = 1.0) -> SoftPair:
        """Return both distributions at one temperature; 1 leaves the logits unscaled."""
        return soft_pair(self.teacher, self.student, self.mask, temperature)

    def shared_words(self, count: int = 5) -> int:
        """Count the words in both top lists; temperature does not change the number."""
        teacher_top, student_top = (
            top_ids(named_only(self.logits(r), r.vocabulary), count)
            for r in (self.teacher, self.student)
        )
        return len(np.intersect1d(teacher_top, student_top))


def piece_id(run: Run, word: str) -> int:
    """Return the token id of a word in a run's vocabulary; -1 where it is not a single token."""
    return word_id(run.vocabulary, word, run.spec.lower_case)


def check_temperature(temperature: float) -> float:
    """Return the temperature as a float.

    Raises:
        BadTemperature: It is not a number from 0.05 to 20.
    """
    low, high = TEMPERATURES
    try:
        value = float(temperature)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not low <= value <= high:
        raise BadTemperature(
            Sentence(
                "bad-temperature", f"The temperature must be a number from {low:g} to {high:g}."
            )
        )
    return value


def check_pair(teacher: Run, student: Run) -> None:
    """Raise ``NotAPair`` unless both runs have the same vocabulary and token ids."""
    if teacher.vocabulary != student.vocabulary or teacher.tokens.ids != student.tokens.ids:
        raise NotAPair(
            Sentence(
                "different-vocabularies",
                f"{student.spec.label} and {teacher.spec.label} do not share a vocabulary, "
                "so their probabilities cannot be compared word by word.",
            )
        )


def union_ids(teacher_logits: np.ndarray, student_logits: np.ndarray, top_k: int) -> np.ndarray:
    """Return the token ids in either top list, the teacher's likeliest first.

    A temperature does not change the order of logits, so the list holds at every T.
    """
    ids = np.union1d(top_ids(teacher_logits, top_k), top_ids(student_logits, top_k))
    return ids[np.lexsort((ids, -student_logits[ids], -teacher_logits[ids]))]


def soft_pair(
    teacher: Run, student: Run, mask: int = 0, temperature: float = 2.0, top_k: int = 10
) -> SoftPair:
    """Compute both distributions at one mask, ``softmax(z / T)`` over the full vocabulary.

    Raises:
        NotAPair: The runs differ in vocabulary or tokens.
        BadTemperature: ``temperature`` is out of range.
    """
    check_pair(teacher, student)
    temperature = check_temperature(temperature)
    t_logits, s_logits = teacher.mask_logits[mask], student.mask_logits[mask]
    named = (named_only(t_logits, teacher.vocabulary), named_only(s_logits, student.vocabulary))
    ids = union_ids(*named, top_k)
    log_t, log_s = log_softmax(t_logits, temperature), log_softmax(s_logits, temperature)
    t, s = np.exp(log_t), np.exp(log_s)
    return SoftPair(
        temperature,
        read_only(ids),
        tuple(teacher.vocabulary[i] for i in ids),
        read_only(t[ids]),
        read_only(s[ids]),
        float(kl_of_logs(log_t, log_s)),
        float(kl_of_logs(log_s, log_t)),
        float(js(t, s)),
        float(entropy(t)),
        float(entropy(s)),
        dark_knowledge(t_logits, temperature),
    )


def centred(logits: np.ndarray) -> np.ndarray:
    """Return logits as float32 with their maximum at 0, for the browser.

    A softmax does not change when a constant is subtracted. Not float16: a divergence computed
    from it is off by 6e-3 nats at T = 0.05.
    """
    return read_only((logits - logits.max(-1, keepdims=True)).astype(np.float32))


@lru_cache(maxsize=8)
def shared_vocabulary(first: tuple[str, ...], second: tuple[str, ...]) -> SharedVocabulary:
    """Match tokens with the same text, both at the start of a word or both inside one.

    Punctuation at the start of a word also matches a token inside a word, because some
    vocabularies have no token for its start.
    """
    first_spelling, second_spelling = spelling_of(first), spelling_of(second)
    ids: Partners = {}
    for i, piece in enumerate(second):
        ids.setdefault((second_spelling.text(piece), second_spelling.begins(piece)), i)
    partner = np.array(
        [_partner(first_spelling.text(p), first_spelling.begins(p), ids) for p in first], np.int32
    )
    shared = partner >= 0
    return SharedVocabulary(
        read_only(partner),
        float(shared.mean()),
        len(set(partner[shared].tolist())) / len(second),
    )


def _partner(text: str, begins: bool, ids: Partners) -> int:
    if not begins:
        return ids.get((text, False), -1)
    if text.startswith("[") and text.endswith("]") and len(text) > 2:
        return -1
    inside = -1 if text.isalnum() else ids.get((text, False), -1)
    return ids.get((text, True), inside)


@dataclass(frozen=True, slots=True, eq=False)
class AgreementAtLarge:
    """Agreement of teacher and student over sentences with one mask each."""

    same_first: np.ndarray
    """bool [sentence], the same top-1 prediction."""
    shared_five: np.ndarray
    """int [sentence], number of words in both top-5 lists."""
    kl: np.ndarray
    """float64 [sentence], ``KL(teacher || student)`` at temperature 1, in nats."""
    teacher_first: np.ndarray
    """int [sentence], ids of the teacher's top-1 prediction."""
    student_first: np.ndarray
    teacher_right: np.ndarray
    """bool [sentence], top-1 is the hidden word; False where that is not a single token."""
    student_right: np.ndarray

    @property
    def worst(self) -> np.ndarray:
        """Indices of the sentences, the largest divergence first."""
        return np.argsort(-self.kl, kind="stable")

    def __len__(self) -> int:
        return len(self.kl)


def agreement_at_large(
    teacher_logits: np.ndarray, student_logits: np.ndarray, answers: np.ndarray
) -> AgreementAtLarge:
    """Compute top-1 and top-5 agreement and divergence from logits [sentence, vocabulary].

    ``answers`` holds the token id of each hidden word, -1 where it is not a single token.

    Raises:
        ValueError: The arrays differ in shape.
    """
    if teacher_logits.shape != student_logits.shape or len(answers) != len(teacher_logits):
        raise ValueError("Teacher, student and answers must cover the same sentences and words.")
    t_top, s_top = top_ids(teacher_logits, 5), top_ids(student_logits, 5)
    shared = (t_top[:, :, None] == s_top[:, None, :]).any(-1).sum(-1)
    kl = kl_of_logs(log_softmax(teacher_logits), log_softmax(student_logits))
    t_first, s_first = t_top[:, 0], s_top[:, 0]
    columns = (
        t_first == s_first,
        shared,
        kl,
        t_first,
        s_first,
        t_first == answers,
        s_first == answers,
    )
    return AgreementAtLarge(*(read_only(np.array(column)) for column in columns))


@dataclass(frozen=True, slots=True, eq=False)
class StateAlignment:
    """Cosine of hidden states of every student layer with every teacher layer, for one text."""

    cosine: np.ndarray
    """float64 [student layer + 1, teacher layer + 1], mean over tokens; index 0 = embeddings."""
    initialised: tuple[tuple[int, int], ...]
    """(student, teacher) indices initialised as copies: embeddings, then the copied layers."""

    @property
    def trained(self) -> tuple[int, int]:
        """The (student, teacher) indices of the cosine loss: the last layer of both."""
        return self.cosine.shape[0] - 1, self.cosine.shape[1] - 1

    @property
    def nearest(self) -> tuple[int, ...]:
        """The teacher layer with the highest cosine, for each student layer."""
        return tuple(int(i) for i in self.cosine.argmax(axis=1))


def state_alignment(teacher: Run, student: Run) -> StateAlignment:
    """Compute the mean cosine of hidden states over tokens for every pair of layers.

    Raises:
        NotAPair: The runs differ in tokens or in width.
    """
    if teacher.tokens.ids != student.tokens.ids or (
        teacher.hidden_states.shape[-1] != student.hidden_states.shape[-1]
    ):
        raise NotAPair(
            Sentence(
                "different-states",
                "The two models' hidden states stand for different tokens or widths.",
            )
        )
    t, s = _unit(teacher.hidden_states), _unit(student.hidden_states)
    cosine = np.einsum("spd,tpd->st", s, t) / t.shape[1]
    return StateAlignment(read_only(cosine), _copied_pairs(student.spec.initialised_from))


def _unit(states: np.ndarray) -> np.ndarray:
    states = states.astype(np.float64)
    return states / np.linalg.norm(states, axis=-1, keepdims=True)


def _copied_pairs(initialised_from: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    layers = tuple((i + 1, origin + 1) for i, origin in enumerate(initialised_from))
    return ((0, 0), *layers) if layers else ()
