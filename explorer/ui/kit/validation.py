"""What the page or a program asks, read with care: whoever asks may write what they like."""

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import Any, get_type_hints

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
"""What an argument's type takes, and what it is called."""
START_STATE = [PageState()]
"""The last one is the state that the page opens on."""


@contextmanager
def refuse_bad_input() -> Iterator[None]:
    """A question is read in here: what does not fit is refused in a sentence.

    Raises:
        Refusal: it holds what the page does not offer.
    """
    try:
        yield
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
        raise Refusal(strings.NOT_OFFERED) from error


def whole_characters(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Drop halves of characters from the texts of a question: no answer can say them back.

    Raises:
        Refusal: it is nested too deep to be read.
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
    """Clean what a picture asks by itself before it is answered."""

    @functools.wraps(answer)
    def call(question: Any) -> str:  # noqa: ANN401 - any JSON
        return answer(whole_characters(question))

    return call


def checked_family(family: str) -> str:
    """A family as the page writes it: a preset's name, or the size in each column.

    Raises:
        Refusal: there is none of that name.
    """
    known = read_family(family)
    if known is None:
        sizes = "; ".join(f"{key}: {', '.join(column(key))}" for key in MODEL_KEYS)
        raise Refusal(strings.BAD_FAMILY.format(presets=", ".join(PRESETS), sizes=sizes))
    return known


def checked_state(family: str, text: str = "") -> PageState:
    """What a program asks for, on the device and in the precision that the page was started with.

    Raises:
        Refusal: there is no such family.
    """
    start = START_STATE[-1]
    return PageState(
        text=text, family=checked_family(family), device=start.device, dtype=start.dtype
    )


def checked_spec(family: str, model: str) -> ModelSpec:
    """A model of a family, by its key.

    Raises:
        Refusal: the family has none of that key.
    """
    specs = specs_by_key(family)
    if model not in specs:
        *keys, last = specs
        raise Refusal(strings.BAD_MODEL.format(keys=", ".join(keys), last=last))
    return specs[model]


def is_index(value: object, length: int) -> bool:
    """Whether a value is a whole number from 0 that is less than a length; True is none."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < length


def missing_reasons(missing: Mapping[str, Refusal]) -> dict[str, list[str]]:
    """Why a model is not in an answer's list; the key is there only when one is not."""
    return {"missing": [str(error) for error in missing.values()]} if missing else {}


def link_in(question: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of a link that a question carries.

    Raises:
        Refusal: it carries none.
    """
    with refuse_bad_input():
        return {str(k): str(v) for k, v in question["params"].items() if v is not None}


def check_argument_types(endpoint: Callable[..., dict]) -> Callable[..., dict]:
    """An endpoint that refuses values of another kind than its arguments are of."""
    takes = get_type_hints(endpoint)

    @functools.wraps(endpoint)
    def asked(*values: Any, **named: Any) -> dict:  # noqa: ANN401
        for name, value in inspect.signature(endpoint).bind(*values, **named).arguments.items():
            of, kind = KINDS.get(takes[name], (object, ""))
            is_finite = not isinstance(value, float) or isfinite(value)
            if not isinstance(value, of) or not is_finite:
                raise Refusal(strings.WRONG_KIND.format(name=name, kind=kind))
        return endpoint(*values, **named)

    return asked
