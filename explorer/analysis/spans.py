"""Spans that tags of words make, by the rule of conlleval and seqeval."""

from collections.abc import Iterator, Sequence

OUTSIDE = "O"
BEGINS, ENDS, SINGLE = "B", "E", "S"
PREFIXES = {"B": "B", "I": "I", "E": "E", "L": "E", "S": "S", "U": "S"}
"""Prefixes of the schemes BIO, BIOES and BILOU, as those of BIOES."""


def parted(tag: str) -> tuple[str, str]:
    """Return the prefix of a tag as that of BIOES, empty without one, and its label."""
    prefix, dash, label = tag.partition("-")
    return (PREFIXES[prefix], label) if dash and prefix in PREFIXES else ("", tag)


def spans_of(tags: Sequence[str], labels: Sequence[str]) -> Iterator[tuple[str, int, int, bool]]:
    """Yield the spans of a sequence of tags: label, first and last place, and whether it is whole.

    The rule is that of conlleval and seqeval: a span goes on as long as the label is the same and
    no tag begins or ends one. Tags without prefixes are joined where there is a tag O (entities),
    and are spans of one word each where there is none (parts of speech).

    Args:
        tags: The tag of each place.
        labels: All tags of the head, which tell its scheme.
    """
    has_prefixes = any(parted(label)[0] for label in labels)
    one_each = not has_prefixes and OUTSIDE not in labels
    has_ends = any(parted(label)[0] in (ENDS, SINGLE) for label in labels)
    begun: int | None = None
    for place in range(len(tags) + 1):
        before = parted(tags[place - 1]) if place else ("", OUTSIDE)
        now = parted(tags[place]) if place < len(tags) else ("", OUTSIDE)
        goes_on = now[1] == before[1] and now[0] not in (BEGINS, SINGLE)
        if begun is not None and (one_each or not goes_on or before[0] in (ENDS, SINGLE)):
            first = parted(tags[begun])[0]
            opened = not has_prefixes or first in (BEGINS, SINGLE)
            closed = not has_ends or before[0] in (ENDS, SINGLE)
            yield before[1], begun, place - 1, opened and closed
            begun = None
        if begun is None and now[1] != OUTSIDE:
            begun = place


def label_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that a head's tags give to spans, in their order, and its tag O."""
    return tuple(dict.fromkeys(parted(tag)[1] for tag in labels))
