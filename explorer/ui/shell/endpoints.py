"""Endpoint of a public function: its signature, docstring and check of requests are derived."""

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import NoneType
from typing import Any, get_args, get_origin

import explorer
from explorer.library.description import Description, described, example_of
from explorer.library.family import Family
from explorer.ui.kit import strings
from explorer.ui.kit.validation import ArgumentLimit, Given, page_family


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool for MCP clients, made of an endpoint: it answers with JSON text and has typed choices.

    Gradio can offer endpoints as tools itself, but formats results as Python reprs, cuts
    descriptions at the end of a line and has no choices. ``/latency`` is no tool because it would
    block all others.
    """

    name: str
    required: tuple[str, ...] = ()
    """Arguments without a default, besides the endpoint's own."""


@dataclass(frozen=True)
class Endpoint:
    """Typed function that programs call by its name; it returns one JSON object."""

    name: str
    """Name of the endpoint and of the public function that it is made of."""
    limits: tuple[ArgumentLimit, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    """Notes on arguments that only Python takes in other forms, in place of the docstring's."""
    run: Callable[..., Any] | None = None
    """Function that answers in place of the public one, with the same arguments."""
    called_with: Given | None = None
    """Example in place of the docstring's."""
    is_long: bool = False
    """True if it takes many forward passes, for which programs have a budget."""
    tool: Tool | None = None
    """Tool that a language model's client is offered, if any."""

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The public function."""
        return getattr(explorer, self.name)

    @cached_property
    def example(self) -> Given:
        """Arguments of a request that is answered; the fuzzer varies them."""
        if self.called_with is not None:
            return self.called_with
        return json.loads(json.dumps(example_of(self.function)))  # a head is a list in JSON

    @cached_property
    def description(self) -> Description:
        """The function's description, for programs, which send the name of a family."""
        said = described(self.function)
        notes = {name: _for_programs(note) for name, note in said.arguments.items()}
        notes |= self.notes
        for limit in self.limits:
            notes[limit.argument] = f"{notes.get(limit.argument, '')} {limit.note}"
        return Description(said.summary, notes, said.json)

    @cached_property
    def answer(self) -> Callable[..., dict[str, Any]]:
        """The function that Gradio calls: with the types of JSON, and a dict as its result."""
        run = self.run or self.function
        parameters = inspect.signature(self.function).parameters.values()
        hints = inspect.get_annotations(self.function, eval_str=True, locals={"Family": Family})
        kinds = {p.name: _sent(p, hints[p.name]) for p in parameters}
        signature = inspect.Signature(
            [p.replace(annotation=kinds[p.name]) for p in parameters],
            return_annotation=dict[str, Any],
        )

        @functools.wraps(self.function)
        def call(*values: Any, **named: Any) -> dict[str, Any]:  # noqa: ANN401
            bound = signature.bind(*values, **named)
            bound.apply_defaults()
            given = bound.arguments
            for limit in self.limits:
                limit.check(given)
            if "family" in given:
                given["family"] = page_family(given["family"])
            return run(**given).to_dict()

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = kinds | {"return": dict[str, Any]}
        call.__doc__ = self.description.summary
        return call

    def values(self) -> list[Any]:
        """Return the example's arguments in their order, defaults included."""
        bound = inspect.signature(self.answer).bind(**self.example)
        bound.apply_defaults()
        return list(bound.args)


def _for_programs(note: str) -> str:
    """Return a docstring's note on an argument without what only Python can give."""
    return note.replace(strings.IN_PYTHON, strings.NAMED_FAMILY).replace(strings.OR_LOADED, "")


def _sent(parameter: inspect.Parameter, kind: Any) -> Any:  # noqa: ANN401 - a type
    """Return the type of JSON that a program sends for a parameter."""
    return str if isinstance(parameter.default, str) else _json(kind)


def _json(kind: Any) -> Any:  # noqa: ANN401 - a type
    """Return the type of JSON for a type of Python."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is not None and issubclass(origin, Mapping):
        return dict[_json(inner[0]), _json(inner[1])]  # type: ignore[misc]
    if origin is not None and issubclass(origin, Iterable):
        return list[_json(inner[0])]  # type: ignore[misc]
    if not inner:
        return kind if kind in (str, int, float, bool) else Any
    kinds = [one for one in inner if one not in (Family, NoneType)]
    lists = [one for one in kinds if get_origin(one) in (Sequence, Iterable)]
    chosen = _json((lists or kinds)[0]) if lists or len(kinds) == 1 else Any
    return chosen | None if NoneType in inner else chosen
