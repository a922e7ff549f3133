"""The exact table of components."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.views.markup import Markup, el, table
from explorer.views.numbers import NO_RUN, Numbers

if TYPE_CHECKING:
    from explorer.analysis.parameters.family import FamilyMember


def components_table(
    families: "Sequence[Sequence[FamilyMember]]", parts: Mapping[str, str], rows: Mapping[str, str]
) -> Markup:
    """Every component of every model, exactly; the pre-training head under the total."""
    members = [member for family in families for member in family]
    body: list[list[str | Markup]] = [
        [parts[part], *(_count(m.counts.components[part]) for m in members)]
        for part in members[0].counts.components
    ]
    body += [
        [el("strong", rows["total"]), *(el("strong", f"{m.counts.total:,}") for m in members)],
        [rows["applied"], *(f"{m.counts.applied:,}" for m in members)],
        [rows["head"], *(f"{m.counts.head_total:,}" for m in members)],
        [rows["bytes"], *(f"{m.counts.stored_bytes:,}" for m in members)],
        [rows["tensors"], *(f"{len(m.counts.encoder):,}" for m in members)],
    ]
    return table([rows["component"], *(m.counts.name for m in members)], body, rows["caption"])


def components_numbers(families: "Sequence[Sequence[FamilyMember]]") -> Numbers:
    """One row a model, one column a component."""
    members = [member for family in families for member in family]
    parts = tuple(members[0].counts.components)
    more = ("total", "applied", "head", "stored_bytes_fp32", "tensors")
    rows = [
        [m.counts.name, *(m.counts.components[part] for part in parts), *_below(m)] for m in members
    ]
    constants = {"CONFIGS": {m.counts.name: m.spec.config for m in members}}
    return Numbers(("model", *parts, *more), rows, NO_RUN, constants)


def _below(member: "FamilyMember") -> list[int]:
    counts = member.counts
    tensors = len(counts.encoder)
    return [counts.total, counts.applied, counts.head_total, counts.stored_bytes, tensors]


def _count(number: int) -> str:
    return f"{number:,}" if number else "–"
