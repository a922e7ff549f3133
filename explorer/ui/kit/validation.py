"""Validation of requests of pages and programs, which may contain anything."""

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any, get_type_hints

from explorer.context import context
from explorer.links.page_state import PageState
from explorer.models.choice.family import PRESETS, column, read_family, specs_by_key
from explorer.models.specs import MODEL_KEYS, ModelSpec
from explorer.refusal import Refusal
from explorer.ui.kit import strings

KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    int: ((int, float), "a number"),
    float: ((int, float), "a number"),
    list[str]: ((list, str), "a list of names"),
}
"""Accepted types of an argument's annotation, and the name of the type in messages."""


@contextmanager
def refuse_bad_input() -> Iterator[None]:
    """Refuse a request with a sentence if the code in the ``with`` block fails to read it.

    Raises:
        Refusal: the request holds a value that the page does not offer.
    """
    try:
        yield
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        raise Refusal(strings.NOT_OFFERED) from error


def whole_characters(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a request without lone surrogates in its strings, which UTF-8 cannot encode.

    Raises:
        Refusal: the request is nested too deeply to be read.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode()
    if not isinstance(value, list | dict):
        return value
    try:
        return json.loads(whole_characters(json.dumps(value, ensure_ascii=False)))
    except RecursionError as error:
        raise Refusal(strings.NOT_OFFERED) from error


def with_whole_characters(answer: Callable[[Any], str]) -> Callable[[Any], str]:
    """Wrap a picture's handler to remove lone surrogates from its request."""

    @functools.wraps(answer)
    def call(question: Any) -> str:  # noqa: ANN401 - any JSON
        return answer(whole_characters(question))

    return call


def checked_family(family: str) -> str:
    """Return a family in its canonical form: a preset's name, or the size in each column.

    Raises:
        Refusal: there is no such family.
    """
    known = read_family(family)
    if known is None:
        sizes = "; ".join(f"{key}: {', '.join(column(key))}" for key in MODEL_KEYS)
        raise Refusal(strings.BAD_FAMILY.format(presets=", ".join(PRESETS), sizes=sizes))
    return known


def checked_state(family: str, text: str = "") -> PageState:
    """Return the state of a program's request, with the device and precision of the page's start.

    Raises:
        Refusal: there is no such family.
    """
    start = context().start or PageState()
    return PageState(
        text=text, family=checked_family(family), device=start.device, dtype=start.dtype
    )


def checked_spec(family: str, model: str) -> ModelSpec:
    """Return the spec of a family's model, by its key.

    Raises:
        Refusal: the family has no model with that key.
    """
    specs = specs_by_key(family)
    if model not in specs:
        *keys, last = specs
        raise Refusal(strings.BAD_MODEL.format(keys=", ".join(keys), last=last))
    return specs[model]


def is_index(value: object, length: int) -> bool:
    """Return whether a value is an integer from 0 to length - 1; a bool is not."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < length


def missing_reasons(missing: Mapping[str, Refusal]) -> dict[str, list[str]]:
    """Return the reasons for missing models under the key ``missing``; empty if none is missing."""
    return {"missing": [str(error) for error in missing.values()]} if missing else {}


def link_in(question: Mapping[str, Any]) -> dict[str, str]:
    """Return the link parameters in a request.

    Raises:
        Refusal: the request has none.
    """
    with refuse_bad_input():
        return {str(k): str(v) for k, v in question["params"].items() if v is not None}


def check_argument_types(endpoint: Callable[..., dict]) -> Callable[..., dict]:
    """Wrap an endpoint to refuse arguments of another type than its annotations."""
    hints = get_type_hints(endpoint)

    @functools.wraps(endpoint)
    def call(*values: Any, **named: Any) -> dict:  # noqa: ANN401
        for name, value in inspect.signature(endpoint).bind(*values, **named).arguments.items():
            types, kind = KINDS.get(hints[name], (object, ""))
            is_finite = not isinstance(value, float) or isfinite(value)
            if not isinstance(value, types) or not is_finite:
                raise Refusal(strings.WRONG_KIND.format(name=name, kind=kind))
        return endpoint(*values, **named)

    return call
