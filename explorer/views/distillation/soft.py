"""Teacher and student over one hidden word, as data for the lab that the browser draws."""

import base64
from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.distillation.soft import HiddenWord, centred, shared_vocabulary
from explorer.analysis.measures import top_ids
from explorer.models.run import Run
from explorer.models.spelling import spelling_of
from explorer.models.tokens import Word
from explorer.views.markup import script_json

LISTED = 20
"""The longest list the reader can ask for."""


def distillation_lab(
    hidden: HiddenWord, words: Sequence[Word], selected: int, texts: Mapping[str, object]
) -> str:
    """The lab's JSON: float32 logits of every model once, and the words of both top lists.

    Args:
        hidden: The runs and the mask.
        words: The words of the sentence, offered for hiding.
        selected: Which of them is hidden.
        texts: The sentences printed in the lab and what the page adds to them.
    """
    teacher, student = hidden.teacher, hidden.student
    tops = {run.spec.key: top_ids(hidden.logits(run), LISTED) for run in (teacher, student)}
    listed = np.unique(np.concatenate([*tops.values(), _answer(hidden)]))
    models = [
        _model(hidden, run, role) | {"top": tops[run.spec.key].tolist()}
        for run, role in ((teacher, "teacher"), (student, "student"))
    ]
    if hidden.beside is not None:
        models.append(_model(hidden, hidden.beside, "beside") | _beside(hidden, hidden.beside))
    return script_json(
        {
            "words": strip_words(words),
            "selected": selected,
            "models": models,
            "names": {int(i): shown_word(teacher.vocabulary, int(i)) for i in listed},
            "answer": {"id": hidden.answer},
            **texts,
        }
    )


def strip_words(words: Sequence[Word]) -> list[dict[str, object]]:
    """The words of a sentence; those with letters or digits, and masks, can be clicked."""
    return [
        {"text": "▢" if w.is_mask else w.text, "clickable": w.is_mask or w.text[0].isalnum()}
        for w in words
    ]


def shown_word(vocabulary: tuple[str, ...], i: int) -> str:
    """A piece as a reader writes it."""
    return spelling_of(vocabulary).word(vocabulary[i])


def packed(array: np.ndarray) -> str:
    """Numbers as base64 of their little-endian bytes."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def rounded(values: np.ndarray) -> list[float]:
    """Six significant digits: more than any chart shows."""
    return [float(f"{value:.6g}") for value in values]


def _answer(hidden: HiddenWord) -> np.ndarray:
    return np.array([hidden.answer] if hidden.answer >= 0 else [], np.int64)


def _model(hidden: HiddenWord, run: Run, role: str) -> dict[str, object]:
    roles = {"teacher": "teacher", "student": "student", "beside": "for comparison"}
    return {
        "key": run.spec.key,
        "label": run.spec.label,
        "role_key": role,
        "role": f"{run.spec.label}, {roles[role]}",
        "beside": role == "beside",
        "logits": packed(centred(hidden.logits(run))),
    }


def _beside(hidden: HiddenWord, run: Run) -> dict[str, object]:
    shared = shared_vocabulary(hidden.teacher.vocabulary, run.vocabulary)
    first = int(hidden.logits(run).argmax())
    return {
        "partner": packed(shared.partner),
        "share_first": shared.share_first,
        "share_second": shared.share_second,
        "first_id": first,
        "first": shown_word(run.vocabulary, first),
    }
