"""From BERT to the smaller models in steps, and the exact table of components."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from explorer.views.markup import Markup, el, join, model_name, table

if TYPE_CHECKING:
    from explorer.analysis.parameters.family import FamilyMember
    from explorer.analysis.parameters.shape import Saving

ALL_PARTS = (
    "word_embeddings",
    "position_embeddings",
    "token_type_embeddings",
    "embedding_projection",
    "attention",
    "ffn",
    "layer_norm",
    "pooler",
)


def savings_html(members: "Sequence[FamilyMember]", changes: Mapping[str, str]) -> Markup:
    """Two waterfalls on one scale: each step takes away what one change saves."""
    first, *others = members
    return el("div", *(_waterfall(first, other, changes) for other in others), class_="pt-pair")


def _waterfall(first: "FamilyMember", last: "FamilyMember", changes: Mapping[str, str]) -> Markup:
    scale = first.counts.total
    steps = [_step(changes[step.change], step, scale) for step in last.savings]
    return el(
        "ol",
        _total(first, scale),
        *steps,
        _total(last, scale),
        class_="pt-fall",
        aria_label=f"From {first.spec.label} to {last.spec.label}",
    )


def _total(member: "FamilyMember", scale: int) -> Markup:
    width = 100 * member.counts.total / scale
    return el(
        "li",
        el("span", model_name(member.spec.key, member.spec.label), class_="what"),
        el("span", el("i", class_="kept", style=f"left:0;width:{width:.3f}%"), class_="track"),
        el("span", f"{member.counts.total:,}", class_="n"),
        data_model=member.spec.key,
    )


def _step(name: str, step: "Saving", scale: int) -> Markup:
    low, high = sorted((step.before, step.after))
    place = f"left:{100 * low / scale:.3f}%;width:{100 * (high - low) / scale:.3f}%"
    sign = "−" if step.saved >= 0 else "+"
    return el(
        "li",
        el("span", name, class_="what"),
        el("span", el("i", class_="gone", style=place), class_="track"),
        el("span", f"{sign}{abs(step.saved):,}", class_="n"),
    )


def components_table(
    families: "Sequence[Sequence[FamilyMember]]", parts: Mapping[str, str], rows: Mapping[str, str]
) -> Markup:
    """Every component of every model, exactly; the pre-training head under the total."""
    members = [member for family in families for member in family]
    body: list[list[str | Markup]] = [
        [parts[part], *(_count(m.counts.components[part]) for m in members)] for part in ALL_PARTS
    ]
    body += [
        [el("strong", rows["total"]), *(el("strong", f"{m.counts.total:,}") for m in members)],
        [rows["applied"], *(f"{m.counts.applied:,}" for m in members)],
        [rows["head"], *(f"{m.counts.head_total:,}" for m in members)],
        [rows["bytes"], *(f"{m.counts.stored_bytes:,}" for m in members)],
        [rows["tensors"], *(f"{len(m.counts.encoder):,}" for m in members)],
    ]
    return table([rows["component"], *(m.counts.name for m in members)], body, rows["caption"])


def _count(number: int) -> str:
    return f"{number:,}" if number else "–"


def notes(*sentences: str) -> Markup:
    """Quiet lines, one under another."""
    return join(*(el("p", sentence, class_="note") for sentence in sentences))
