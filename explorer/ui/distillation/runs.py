"""Runs of teacher, student and a third model for comparison, on the tab's text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.library.distillation import run_of
from explorer.links.page_state import PageState, hidden_words
from explorer.models.specs import KINDS, distilled_pair
from explorer.models.tokens import BadText, Word, clean_text, mask_word, split_words

if TYPE_CHECKING:
    from explorer.analysis.distillation.soft import HiddenWord
    from explorer.models.hub import ModelUnavailable
    from explorer.models.run import Run

TEACHER, STUDENT = distilled_pair()
BESIDE = next(key for key in KINDS if key not in (TEACHER, STUDENT))


@dataclass(frozen=True, slots=True)
class Focus:
    """The masked word the tab examines: a [MASK] of the page, or a word masked only here."""

    base: str
    """The page's text, whose words can be chosen."""
    word: int
    """Index of the masked word among the words of ``base``."""
    text: str
    """Input of the models: ``base`` with the word masked."""
    mask: int
    """Index among the masks in ``text``."""
    answer: str = ""
    """The masked word, if known."""


def focus_of(state: PageState) -> Focus:
    """Return the word to examine: the one the reader chose, else the first mask.

    Without a mask it is the text's last word, masked only here.

    Raises:
        BadText: the text has no word, or not the one that was chosen.
    """
    text = clean_text(state.text)
    words = split_words(text)
    masks = [i for i, word in enumerate(words) if word.is_mask]
    content = [i for i, word in enumerate(words) if is_content(word)]
    if not masks and not content:
        raise BadText("Nothing to mask yet: type a sentence.")
    chosen = state.word if state.word >= 0 else masks[0] if masks else content[-1]
    if chosen >= len(words):
        raise BadText("That word is not in the text any more.")
    word, mask = words[chosen], sum(w.is_mask for w in words[:chosen])
    if word.is_mask:
        hidden = hidden_words(state)
        return Focus(text, chosen, text, mask, hidden[mask] if mask < len(hidden) else "")
    return Focus(text, chosen, mask_word(text, word), mask, word.text)


def is_content(word: Word) -> bool:
    """Return whether a word can be masked: letters or digits, not punctuation or [SEP]."""
    return word.text[0].isalnum()


def hidden_word(state: PageState, focus: Focus) -> "tuple[HiddenWord, ModelUnavailable | None]":
    """Return the runs on the focus's text, and the error if ALBERT's run is missing.

    Raises:
        ModelUnavailable: teacher or student cannot be had. BadText: the text cannot be run.
    """
    from explorer.analysis.distillation.soft import HiddenWord, piece_id

    teacher, student = (run_of(key, state.ask, focus.text) for key in (TEACHER, STUDENT))
    beside, missing = run_beside(state, focus.text)
    answer = piece_id(teacher, focus.answer) if focus.answer else -1
    return HiddenWord(teacher, student, beside, focus.mask, answer), missing


def run_beside(state: PageState, text: str) -> "tuple[Run | None, ModelUnavailable | None]":
    """Return ALBERT's run or the error; the tab works without it, since it is no student."""
    from explorer.models.hub import ModelUnavailable

    try:
        return run_of(BESIDE, state.ask, text), None
    except ModelUnavailable as error:
        return None, error
