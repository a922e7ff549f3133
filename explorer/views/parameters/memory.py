"""Weights beside one pass on one scale, so that what shrinks and what does not is seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.views.markup import Markup, el, model_name
from explorer.views.numbers import NO_RUN, Numbers

if TYPE_CHECKING:
    from explorer.analysis.parameters.memory import ForwardMemory


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """The memory of one network's forward pass, estimated and, where it was, measured."""

    key: str
    label: str
    memory: "ForwardMemory"
    measured: int | None = None


def memory_html(rows: Sequence[MemoryRow], texts: Mapping[str, str]) -> Markup:
    """Three bars per model in MB, all on one scale."""
    scale = max(max(r.memory.weight_bytes, r.memory.peak_bytes, r.measured or 0) for r in rows)
    return el("div", *(_row(row, scale, texts) for row in rows), class_="pt-memory")


def memory_numbers(
    rows: Sequence[MemoryRow], configs: Mapping[str, object], keeps: bool
) -> Numbers:
    """Every bar in bytes; what was not measured is empty.

    Args:
        rows: The bars.
        configs: What each network's config says, by its name.
        keeps: Whether the pass hands out all that goes on inside.
    """
    columns = ("model", "weight_bytes", "peak_bytes_estimated", "peak_bytes_measured")
    body = [[r.label, r.memory.weight_bytes, r.memory.peak_bytes, r.measured] for r in rows]
    work = {"length": rows[0].memory.length, "batch": rows[0].memory.batch, "keeps": keeps}
    constants = {name.upper(): value for name, value in work.items()} | {"CONFIGS": configs}
    return Numbers(columns, body, {**NO_RUN, **work}, constants)


def _row(row: MemoryRow, scale: int, texts: Mapping[str, str]) -> Markup:
    return el(
        "section",
        el("h3", model_name(row.key, row.label)),
        _bar(texts["weights"], row.memory.weight_bytes, scale, "weights"),
        _bar(texts["estimated"], row.memory.peak_bytes, scale, "estimated"),
        _bar(texts["measured"], row.measured, scale, "measured", texts["not_yet"]),
        data_model=row.key,
    )


def _bar(name: str, n_bytes: int | None, scale: int, kind: str, missing: str = "") -> Markup:
    width = 0 if n_bytes is None else 100 * n_bytes / scale
    number = missing if n_bytes is None else f"{n_bytes / 1e6:,.1f} MB"
    return el(
        "div",
        el("span", name, class_="what"),
        el(
            "span",
            None if n_bytes is None else el("i", class_=kind, style=f"width:{width:.3f}%"),
            class_="track",
        ),
        el("span", number, class_="n", title=n_bytes and f"{n_bytes / 2**20:,.1f} MiB"),
        class_="line",
    )
