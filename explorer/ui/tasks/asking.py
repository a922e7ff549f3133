"""The tuned models as the tab and the endpoints ask them: who is there, and what each says."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from explorer.models.specs import ModelSpec, family_specs
from explorer.models.tokens import SEPARATOR, BadText, plain_text
from explorer.page_state import PageState
from explorer.runs import get_tuned, in_workers
from explorer.timing.slot import SLOT
from explorer.ui.tasks import sentiment_words as texts

if TYPE_CHECKING:
    from explorer.analysis.tasks.sentiment import WordSentiment
    from explorer.analysis.tasks.spans import AnswerSpans
    from explorer.models.heads.adapters import TunedModel

Answer = TypeVar("Answer")
MOST_KEPT = 64
_KEPT: "WeakKeyDictionary[TunedModel, dict[tuple, object]]" = WeakKeyDictionary()
"""As long as a tuned network is kept, so are its last answers."""


def tuned_family(state: PageState, task: str) -> "tuple[dict[str, TunedModel], dict[str, str]]":
    """The models of a family that can do a task by key, and why the others cannot.

    Where any is missing its weights, that is the sentence; else how to make the adapter.
    """
    from explorer.models.heads.adapters import NotTuned
    from explorer.models.hub import ModelUnavailable

    found: dict[str, TunedModel] = {}
    lacking: dict[str, str] = {}
    for spec in family_specs(state.family):
        try:
            found[spec.key] = get_tuned(spec, state, task)
        except (NotTuned, ModelUnavailable) as error:
            lacking[spec.key] = str(error)
    return found, lacking


def ask_all(
    models: "Mapping[str, TunedModel]", ask: "Callable[..., Answer]", *question: object
) -> dict[str, Answer]:
    """What every model says of one question; an answer that is kept runs no network."""
    jobs = [partial(_kept, model, ask, question) for model in models.values()]
    return dict(zip(models, (future.result() for future in in_workers(jobs)), strict=True))


def _kept(model: "TunedModel", ask: "Callable[..., Answer]", question: tuple) -> Answer:
    kept, place = _KEPT.setdefault(model, {}), (ask.__name__, *question)
    if place not in kept:
        with SLOT.infer():
            answer = ask(model, *question)
        while len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[place] = answer
    return kept[place]  # type: ignore[return-value]


def readable(text: str) -> str:
    """A text as the sentiment heads read it: one stretch, without [SEP].

    Raises:
        BadText: there is no word in it.
    """
    found = " ".join(plain_text(text).replace(SEPARATOR, " ").split())
    if not any(map(str.isalnum, found)):
        raise BadText(texts.NO_TEXT)
    return found


def judge(tuned: "TunedModel", text: str) -> "WordSentiment":
    """One model's sentiment of a text, with both attributions of its words.

    Raises:
        BadText: the text has too many words.
    """
    from explorer.analysis.tasks.sentiment import MOST_WORDS, without, word_sentiment
    from explorer.models.heads.sentiment import differences, integrated_gradients
    from explorer.models.tokens import split_words

    words = split_words(text)
    if len(words) > MOST_WORDS:
        raise BadText(texts.TOO_LONG.format(n=len(words), most=MOST_WORDS))
    found = integrated_gradients(tuned, text)
    left_out = differences(tuned, [without(text, word) for word in words]).tolist()
    ends = (found.difference, found.baseline)
    return word_sentiment(found.tokens, found.attributions, ends, left_out)


def answer(tuned: "TunedModel", question: str, passage: str) -> "AnswerSpans":
    """One model's spans for a question to a passage."""
    from explorer.analysis.tasks.spans import answer_spans
    from explorer.models.heads.question import span_logits

    return answer_spans(*span_logits(tuned, question, passage))


def specs_of(state: PageState) -> dict[str, ModelSpec]:
    """The family's specs by key."""
    return {spec.key: spec for spec in family_specs(state.family)}
