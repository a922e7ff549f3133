"""The tuned models as the tab and the endpoints ask them: who is there, and what each says."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from explorer.assets import ROOT
from explorer.inference.runs import call_on_model, gather
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.specs import ModelSpec
from explorer.models.tokens import SEPARATOR, BadText, plain_text
from explorer.ui.tasks import sentiment_words as texts

Answer = TypeVar("Answer")
Specs = dict[str, ModelSpec]


def tuned_family(state: PageState, task: str) -> tuple[Specs, dict[str, str]]:
    """The models of a family that can do a task by key, and why the others cannot.

    Where any is missing its weights, that is the sentence; else how to make the adapter.
    """
    from explorer.models.hub import ModelUnavailable
    from explorer.models.task_heads.adapters import NotTuned, card_of

    found: Specs = {}
    lacking: dict[str, str] = {}
    for spec in family_specs(state.family):
        try:
            call_on_model(card_of, spec, state, task)
            found[spec.key] = spec
        except (NotTuned, ModelUnavailable) as error:
            lacking[spec.key] = str(error)
    return found, lacking


def ask_all(
    specs: Mapping[str, ModelSpec],
    state: PageState,
    ask: Callable[..., Answer],
    *question: str,
) -> dict[str, Answer]:
    """What every model says of one question; an answer that is kept runs no network."""
    jobs = [partial(call_on_model, ask, spec, state, *question) for spec in specs.values()]
    return dict(zip(specs, gather(jobs), strict=True))


def readable(text: str) -> str:
    """A text as the sentiment heads read it: one stretch, without [SEP].

    Raises:
        BadText: there is no word in it.
    """
    found = " ".join(plain_text(text).replace(SEPARATOR, " ").split())
    if not any(map(str.isalnum, found)):
        raise BadText(texts.NO_TEXT)
    return found


def adapters_of(specs: Specs, task: str) -> dict[str, tuple[str, str]]:
    """Where each model's adapter lies, for who stands in the repository, and its checksum."""
    from explorer.models.task_heads.adapters import adapter_checksum, adapter_folder

    found = {}
    for spec in specs.values():
        if spec.tuned_for == task:  # the checkpoint is the tuned model
            found[spec.label] = "", ""
            continue
        folder = adapter_folder(spec, task)
        at = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
        found[spec.label] = at.as_posix(), adapter_checksum(spec, task)
    return found


def windows_of(specs: Specs) -> dict[str, tuple[int, int]]:
    """Tokens of the stretches in which each model reads a passage, and of what two share."""
    from explorer.models.task_heads.adapters import read_card

    cards = {spec.label: read_card(spec, "squad") or {} for spec in specs.values()}
    return {label: (card["window"], card["stride"]) for label, card in cards.items()}
