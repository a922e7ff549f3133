"""Validation of requests of pages and programs, which may contain anything."""

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import Any, TypeAlias, get_type_hints

from gradio.context import LocalContext

from explorer.library.family import Family, named_family
from explorer.models.tokens import MASK, clean_text, split_words
from explorer.refusal import Refusal, Sentence
from explorer.ui.kit import strings
from explorer.ui.kit.running import opens_on

KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    int: ((int, float), "a number"),
    float: ((int, float), "a number"),
    list[str]: ((list, str), "a list of names"),
}
"""Accepted types of an argument's annotation, and the name of the type in messages."""
Given: TypeAlias = Mapping[str, Any]
"""Arguments of a request, defaults included."""
MAX_WORDS = 64
"""Most words of a text each of which takes a forward pass."""


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
    """Wrap a picture's handler to refuse anything but an object, and to remove lone surrogates."""

    @functools.wraps(answer)
    def call(question: Any) -> str:  # noqa: ANN401 - any JSON
        if not isinstance(question, dict):
            raise Refusal(strings.NOT_OFFERED)
        return answer(whole_characters(question))

    return call


def page_family(family: str) -> Family:
    """Return the models that a program asks, on the device and in the precision of its page.

    Raises:
        Refusal: there is no such family.
    """
    start = opens_on(LocalContext.blocks.get(None))
    return named_family(family, start.device, start.dtype, is_inline=False)


def check_masks(text: str, maximum: int, sentence: Sentence) -> None:
    """Refuse a text with too many masks, before any model runs.

    Raises:
        Refusal: it has more than ``maximum``.
    """
    n_masks = clean_text(text).count(MASK)
    if n_masks > maximum:
        raise Refusal(sentence.format(limit=maximum, found=n_masks))


def check_words(text: str, maximum: int) -> None:
    """Refuse a text of too many words, before any model runs.

    Raises:
        Refusal: it has more than ``maximum``.
    """
    n_words = len(split_words(clean_text(text)))
    if n_words > maximum:
        raise Refusal(strings.TOO_MANY_WORDS.format(found=n_words, limit=maximum))


@dataclass(frozen=True, slots=True)
class ArgumentLimit:
    """ArgumentLimit of an endpoint that the public function does not have."""

    argument: str
    note: str
    """Sentence that follows the note on the argument."""
    check: Callable[[Given], None]
    """Refuse a request beyond the limit, before any model runs."""


def at_most_masks(maximum: int, sentence: Sentence) -> ArgumentLimit:
    """Return a limit of the masks of a text."""
    note = strings.AT_MOST_MASKS.format(limit=maximum)
    return ArgumentLimit("text", note, lambda given: check_masks(given["text"], maximum, sentence))


def at_most_words(maximum: int, unless: str = "") -> ArgumentLimit:
    """Return a limit of the words of a text, for requests without the argument ``unless``."""

    def check(given: Given) -> None:
        if not unless or given[unless] is None:
            check_words(given["text"], maximum)

    note = strings.AT_MOST_WORDS_WITHOUT if unless else strings.AT_MOST_WORDS
    return ArgumentLimit("text", note.format(limit=maximum, name=unless), check)


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
            is_number = is_finite and not isinstance(value, bool)
            if not isinstance(value, types) or (hints[name] in (int, float) and not is_number):
                raise Refusal(strings.WRONG_KIND.format(name=name, kind=kind))
        return endpoint(*values, **named)

    return call
