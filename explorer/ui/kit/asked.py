"""What the page or a program asks, read with care: whoever asks may write what they like."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_type_hints

from explorer.ui.kit import words as texts

KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    int: ((int, float), "a number"),
    float: ((int, float), "a number"),
    list[str]: ((list, str), "a list of names"),
}
"""What an argument's type takes, and what it is called."""


@contextmanager
def offered() -> Iterator[None]:
    """A question is read in here: what does not fit is refused in a sentence.

    Raises:
        ValueError: it holds what the page does not offer.
    """
    try:
        yield
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        raise ValueError(texts.NOT_OFFERED) from error


def link_in(question: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of a link that a question carries.

    Raises:
        ValueError: it carries none.
    """
    with offered():
        return {str(k): str(v) for k, v in question["params"].items() if v is not None}


def typed(endpoint: Callable[..., dict]) -> Callable[..., dict]:
    """An endpoint that refuses values of another kind than its arguments are of."""
    takes = get_type_hints(endpoint)

    @functools.wraps(endpoint)
    def asked(*values: Any, **named: Any) -> dict:  # noqa: ANN401
        for name, value in inspect.signature(endpoint).bind(*values, **named).arguments.items():
            of, kind = KINDS.get(takes[name], (object, ""))
            if not isinstance(value, of):
                raise ValueError(texts.WRONG_KIND.format(name=name, kind=kind))
        return endpoint(*values, **named)

    return asked
