"""Weights beside activations on one scale, so that what shrinks and what does not is seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.views.markup import Markup, el, model_name

if TYPE_CHECKING:
    from explorer.analysis.parameters.memory import ForwardMemory


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """The memory of one network's forward pass and how it was had."""

    key: str
    label: str
    memory: "ForwardMemory"
    source: str


def memory_html(rows: Sequence[MemoryRow], texts: Mapping[str, str]) -> Markup:
    """Two bars per model in MB, all on one scale."""
    scale = max(max(r.memory.weight_bytes, r.memory.peak_bytes) for r in rows)
    return el("div", *(_row(row, scale, texts) for row in rows), class_="pt-memory")


def _row(row: MemoryRow, scale: int, texts: Mapping[str, str]) -> Markup:
    return el(
        "section",
        el("h4", model_name(row.key, row.label), " ", el("span", row.source, class_="badge")),
        _bar(texts["weights"], row.memory.weight_bytes, scale, "weights"),
        _bar(texts["activations"], row.memory.peak_bytes, scale, "activations"),
        data_model=row.key,
    )


def _bar(name: str, n_bytes: int, scale: int, kind: str) -> Markup:
    return el(
        "div",
        el("span", name, class_="what"),
        el(
            "span",
            el("i", class_=kind, style=f"width:{100 * n_bytes / scale:.3f}%"),
            class_="track",
        ),
        el("span", f"{n_bytes / 1e6:,.1f} MB", class_="n", title=f"{n_bytes / 2**20:,.1f} MiB"),
        class_="line",
    )
