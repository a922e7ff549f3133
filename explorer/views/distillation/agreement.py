"""JSON of the agreement of two models over the bundled sentences."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from explorer.analysis.distillation.soft import AgreementAtLarge
from explorer.models.tokens import MASK, split_words
from explorer.views.distillation.lab import shown_word
from explorer.views.markup import script_json

WORST = 12


class OpenedSentence(TypedDict):
    """Text and hidden word that open a sentence in the lab."""

    text: str
    word: int


class AgreementSentence(TypedDict):
    """Bundled sentence, and what each model answers in it."""

    text: str
    answer: str
    opens: OpenedSentence
    teacher: str
    student: str
    kl: float
    shared: int


class AgreementData(TypedDict):
    """Mean agreement over the bundled sentences, and those with the largest divergence."""

    first: float
    five: float
    kl: float
    teacher_right: float
    student_right: float
    worst: list[AgreementSentence]
    texts: dict[str, Any]
    ran: dict[str, str]


class AgreementProgress(TypedDict):
    """Progress over the bundled sentences; None is done of a run that was stopped."""

    done: int | None
    n: int
    sentence: str


def agreement_canvas(
    agreement: AgreementAtLarge,
    sentences: Sequence[Mapping[str, str]],
    vocabulary: tuple[str, ...],
    texts: Mapping[str, object],
    ran: Mapping[str, str],
) -> str:
    """Return the JSON of mean agreement and of the sentences with the largest divergence.

    ``ran`` has the models, device and precision, for files: the page may show others by then.
    """
    worst: list[AgreementSentence] = [
        {
            "text": sentences[i]["text"],
            "answer": sentences[i]["answer"],
            "opens": opened_by(sentences[i]),
            "teacher": shown_word(vocabulary, int(agreement.teacher_first[i])),
            "student": shown_word(vocabulary, int(agreement.student_first[i])),
            "kl": float(agreement.kl[i]),
            "shared": int(agreement.shared_five[i]),
        }
        for i in agreement.worst[:WORST]
    ]
    data: AgreementData = {
        "first": float(agreement.same_first.mean()),
        "five": float(agreement.shared_five.mean() / 5),
        "kl": float(agreement.kl.mean()),
        "teacher_right": float(agreement.teacher_right.mean()),
        "student_right": float(agreement.student_right.mean()),
        "worst": worst,
        "texts": dict(texts),
        "ran": dict(ran),
    }
    return script_json(data)


def opened_by(sentence: Mapping[str, str]) -> OpenedSentence:
    """Return the text and the index of the hidden word that open a sentence in the lab."""
    words = split_words(sentence["text"])
    return {
        "text": sentence["text"].replace(MASK, sentence["answer"]),
        "word": next(i for i, word in enumerate(words) if word.is_mask),
    }


def progress_canvas(done: int | None, n: int, sentence: str) -> str:
    """Return the progress over the sentences; None is done of a run that was stopped."""
    data: AgreementProgress = {"done": done, "n": n, "sentence": sentence}
    return script_json(data)
