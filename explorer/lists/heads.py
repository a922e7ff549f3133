"""Each model's own classifier on the rows of a list: whose labels are whose, by name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SIGNS = re.compile(r"[\s_-]+")
UNNAMED = re.compile(r"LABEL_(\d+)")
"""The name that transformers gives to a label without one."""
NO_HEAD, OTHER_NAMES, ONE_NAME, OTHER_KIND, BROKEN = (
    "no head",
    "names",
    "one name",
    "kind",
    "broken",
)
"""Reasons why a model's own head is not scored."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnHead:
    """A model's own classifier, and its output for each label of the list."""

    labels: tuple[str, ...]
    """Of its outputs, in their order."""
    problem: str
    """Reading of its outputs, see ``TaskHead``."""
    places: Mapping[str, int] = field(default_factory=dict)
    """By label of the list the output of this name; labels that the head does not know are absent.
    """
    by_number: bool = False
    """True where the list has numbers and the head LABEL_n: the number n is read as LABEL_n."""
    adapter: str = ""
    """Path of a sentiment adapter next to the weights, whose encoder is another; empty for the
    checkpoint's own head."""


@dataclass(frozen=True, slots=True)
class NotScored:
    """Reason why a model's own head is not scored on a list."""

    reason: str
    """One of the constants of this module."""
    labels: tuple[str, ...] = ()
    """The labels of the head."""
    problem: str = ""
    """Reading of its outputs, see ``TaskHead``."""
    is_adapter: bool = False
    """True for a sentiment adapter next to the weights."""
    said: str = ""
    """The sentence of a checkpoint that cannot be used."""


@dataclass(frozen=True, slots=True, eq=False)
class AskedHeads:
    """The heads that are scored on a list, and why the others are not."""

    heads: Mapping[str, OwnHead] = field(default_factory=dict)
    """By model."""
    others: Mapping[str, NotScored] = field(default_factory=dict)
    """By model."""
    data: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By model with a head the data sets that its card names."""


def spelled(label: str) -> str:
    """Return a label without case, spaces, hyphens and underscores, in which names are compared."""
    return SIGNS.sub("", label).casefold()


def matched(head: Sequence[str], names: Sequence[str]) -> tuple[dict[str, int], bool]:
    """Return the output of each label of a list, and whether numbers decided.

    Names decide, whatever their case, spaces, hyphens and underscores; of several labels that are
    then alike only equal ones match. Where no name does, and the list has just whole numbers from
    0 on and the head just LABEL_n, the number n is LABEL_n.

    Example: ``matched(["Not_spam", "spam"], ["not spam", "ham"])`` is ({"not spam": 0}, False).
    """
    alike = [spelled(label) for label in head]
    asked = [spelled(name) for name in names]
    places = {name: head.index(name) for name in names if name in head}
    for name, of_name in zip(names, asked, strict=True):
        if name not in places and alike.count(of_name) == asked.count(of_name) == 1:
            places[name] = alike.index(of_name)
    if places:
        return places, False
    numbers = [UNNAMED.fullmatch(label) for label in head]
    if all(numbers) and "0" in names and all(name.isdecimal() for name in names):
        by_number = {int(number[1]): place for place, number in enumerate(numbers) if number}
        found = {name: by_number.get(int(name), -1) for name in names}
        if min(found.values()) >= 0 and len(set(found.values())) == len(names):
            return found, True
    return {}, False
