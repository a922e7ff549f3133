"""Runs of the page's text, which every fold and picture gets from here."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from explorer.inference.runs import Runs, get_runs
from explorer.links.codec import from_page
from explorer.links.page_state import PageState
from explorer.ui.kit.validation import link_in

Drawn = TypeVar("Drawn")


def with_runs(show: Callable[..., Drawn]) -> Callable[..., Drawn]:
    """Wrap a handler of a state to get the state's runs as its second argument.

    A page that has no state yet has no runs.
    """

    @functools.wraps(show)
    def call(state: PageState | None, *rest: Any, **named: Any) -> Drawn:  # noqa: ANN401
        return show(state, get_runs(state.ask) if state else Runs(), *rest, **named)

    given, _, *others = inspect.signature(show).parameters.values()
    call.__signature__ = inspect.Signature([given, *others])  # type: ignore[attr-defined]
    return call


def asked_page(question: Mapping[str, Any]) -> tuple[PageState, Runs]:
    """Return the state in a picture's question, and its runs.

    Raises:
        Refusal: the question has no link, or the text cannot be run.
    """
    state, _ = from_page(link_in(question), PageState())
    return state, get_runs(state.ask)
