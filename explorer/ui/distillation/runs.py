"""Runs of the two models that the tab compares and of a third one, on the tab's text."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.inference.runs import get_runs
from explorer.library.distillation import run_of
from explorer.links.page_state import PageState, hidden_words
from explorer.models.choice.family import is_parent, pair_of
from explorer.models.specs import distilled_pair
from explorer.models.tokens import BadText, Word, clean_text, mask_word, split_words
from explorer.refusal import Sentence

if TYPE_CHECKING:
    from explorer.analysis.distillation.soft import HiddenWord
    from explorer.models.hub import ModelUnavailable
    from explorer.models.run import Run

TEACHER, STUDENT = distilled_pair()
"""Columns of the bundled family that a student trained here has its teacher and its colour from."""


def pair_in(state: PageState) -> tuple[str, str] | None:
    """Return the columns of the tab's teacher and student; None where there is no such pair.

    They are those of the link, else those of the architectures that were distilled, else two that
    share a vocabulary.
    """
    specs = state.ask.specs
    is_usual = {TEACHER, STUDENT} <= specs.keys()
    if state.teacher or state.student or is_usual:
        return pair_of(specs, state.teacher, state.student)
    return pair_of({key: specs[key] for key in comparable(state)})


def knows_lineage(state: PageState, pair: tuple[str, str]) -> bool:
    """Return whether the second column of a pair is known to be distilled from the first."""
    specs = state.ask.specs
    return pair[0] in specs and pair[1] in specs and is_parent(specs[pair[0]], specs[pair[1]])


def comparable(state: PageState) -> tuple[str, ...]:
    """Return the columns with a masked-LM head and a vocabulary that another such column has."""
    runs, _ = get_runs(state.ask)
    read = {key: run.vocabulary for key, run in runs.items() if run.spec.has_head}
    return tuple(
        key
        for key, words in read.items()
        if any(words == others for other, others in read.items() if other != key)
    )


def beside_of(state: PageState, pair: tuple[str, str]) -> str:
    """Return the first column besides a pair; empty if there is none."""
    return next((key for key in state.ask.specs if key not in pair), "")


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
        raise BadText(Sentence("nothing-to-mask", "Nothing to mask yet: type a sentence."))
    chosen = state.word if state.word >= 0 else masks[0] if masks else content[-1]
    if chosen >= len(words):
        raise BadText(Sentence("word-not-in-text", "That word is not in the text any more."))
    word, mask = words[chosen], sum(w.is_mask for w in words[:chosen])
    if word.is_mask:
        hidden = hidden_words(state)
        return Focus(text, chosen, text, mask, hidden[mask] if mask < len(hidden) else "")
    return Focus(text, chosen, mask_word(text, word), mask, word.text)


def is_content(word: Word) -> bool:
    """Return whether a word can be masked: letters or digits, not punctuation or [SEP]."""
    return word.text[0].isalnum()


def hidden_word(
    state: PageState, focus: Focus, pair: tuple[str, str]
) -> "tuple[HiddenWord, ModelUnavailable | None]":
    """Return the runs on the focus's text, and the error if the third model's run is missing.

    Raises:
        ModelUnavailable: one of the pair cannot be had. BadText: the text cannot be run.
    """
    from explorer.analysis.distillation.soft import HiddenWord, piece_id

    teacher, student = (run_of(key, state.ask, focus.text) for key in pair)
    beside, missing = run_beside(beside_of(state, pair), state, focus.text)
    answer = piece_id(teacher, focus.answer) if focus.answer else -1
    return HiddenWord(teacher, student, beside, focus.mask, answer), missing


def run_beside(
    key: str, state: PageState, text: str
) -> "tuple[Run | None, ModelUnavailable | None]":
    """Return the third model's run or the error; the tab works without it."""
    from explorer.models.hub import ModelUnavailable

    if not key:
        return None, None
    try:
        return run_of(key, state.ask, text), None
    except ModelUnavailable as error:
        return None, error
