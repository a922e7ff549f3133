"""Agreement over the bundled sentences, as data for the browser."""

from collections.abc import Mapping, Sequence

from explorer.analysis.distillation.agreement import AgreementAtLarge
from explorer.models.tokens import MASK, split_words
from explorer.views.distillation.soft import shown_word
from explorer.views.markup import script_json

WORST = 12


def agreement_canvas(
    found: AgreementAtLarge,
    sentences: Sequence[Mapping[str, str]],
    vocabulary: tuple[str, ...],
    texts: Mapping[str, object],
    note: str,
) -> str:
    """Shares over all sentences, and the sentences where the student is furthest off."""
    worst = [
        {
            "text": sentences[i]["text"],
            "answer": sentences[i]["answer"],
            "opens": opened_by(sentences[i]),
            "teacher": shown_word(vocabulary, int(found.teacher_first[i])),
            "student": shown_word(vocabulary, int(found.student_first[i])),
            "kl": float(found.kl[i]),
            "shared": int(found.shared_five[i]),
        }
        for i in found.worst[:WORST]
    ]
    return script_json(
        {
            "first": float(found.same_first.mean()),
            "five": float(found.shared_five.mean() / 5),
            "kl": float(found.kl.mean()),
            "teacher_right": float(found.teacher_right.mean()),
            "student_right": float(found.student_right.mean()),
            "worst": worst,
            "texts": dict(texts),
            "note": note,
        }
    )


def opened_by(sentence: Mapping[str, str]) -> dict[str, object]:
    """The text and the hidden word that show a sentence in the lab."""
    words = split_words(sentence["text"])
    return {
        "text": sentence["text"].replace(MASK, sentence["answer"]),
        "word": next(i for i, word in enumerate(words) if word.is_mask),
    }


def progress_canvas(done: int, n: int, sentence: str, stopped: str) -> str:
    """How far the run over the sentences has come, and what is said if it is stopped here."""
    return script_json({"done": done, "n": n, "sentence": sentence, "stopped": stopped})
