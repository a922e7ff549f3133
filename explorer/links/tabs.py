"""Declaration of each tab for links: its folds, and the fields that only it shows."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TabFields:
    """Part of a link that belongs to one tab: the links of other tabs leave it out."""

    folds: tuple[str, ...] = ()
    """Sections below the headline, by their names in links, in reading order."""
    parts: tuple[str, ...] = ()
    """Parts of which one is visible at a time; a link names it like a fold."""
    fields: tuple[str, ...] = ()
    """Fields of ``PageState`` that not every tab shows, and this one does."""
    forms: tuple[str, ...] = ()
    """Names of ``form`` up to their dot."""
    looks: tuple[str, ...] = ()
    """Names of ``look``."""


_OF_HEADS = ("model", "layer", "head")
_PAIR = ("teacher", "student")
DECLARED: dict[str, TabFields] = {
    "predictions": TabFields(
        folds=("ask", "words", "joint", "attribution"),
        fields=("mask",),
        forms=("ask", "attribution"),
        looks=("shown",),
    ),
    "attention": TabFields(
        folds=("summary", "ablation", "advanced"),
        fields=(*_OF_HEADS, "order", "view", "lit", *_PAIR),
        forms=("summary", "bertviz"),
        looks=("unit", "added", "others", "mass", "off", "summary", "zoom", "zoomsum"),
    ),
    "layer": TabFields(
        folds=("steps", "contexts"),
        fields=(*_OF_HEADS, "mask", "at"),
        forms=("steps",),
        looks=("stages", "sums", "tokens"),
    ),
    "depth": TabFields(
        folds=("meaning", "similarity", "changed", "patching", "moves"),
        fields=(*_PAIR, "mask", "at", "times", "lens", "other", "first", "second"),
        forms=("changed", "meaning"),
        looks=("shared", "follow"),
    ),
    "distillation": TabFields(
        folds=("losses", "agreement", "live"),
        fields=("temperature", "word", *_PAIR),
        forms=("masking", "live"),
        looks=("scale", "listed", "loss"),
    ),
    "texts": TabFields(fields=("labels", "list"), forms=("list",), looks=("only", "group", "rows")),
    "tasks": TabFields(
        folds=("pairs", "tuned"),
        parts=("pair", "sentiment", "question"),
        fields=("sentiment", "question", "passage", "label", "span", "labels"),
    ),
    "parameters": TabFields(
        folds=("sizes", "embedding", "sharing", "memory"),
        forms=("memory",),
        looks=(
            *("mode", "counts", "length", "bytes", "sizes", "sort", "tensors", "parts", "shape"),
            *("widths", "e", "depth"),
        ),
    ),
    "latency": TabFields(
        folds=("choose", "sweep", "faster", "advanced"), fields=("timed",), forms=("choose",)
    ),
    "claims": TabFields(
        folds=("checks", "scores"),
        fields=("search",),
        forms=("retention",),
        looks=("claimmodel", "claimtopic", "claimverdict", "claimreport", "claimlive"),
    ),
}
"""Declaration of each tab, in the order of the page."""
TABS: tuple[str, ...] = tuple(DECLARED)
FOLDS: dict[str, tuple[str, ...]] = {tab: its.folds for tab, its in DECLARED.items()}
PARTS: dict[str, tuple[str, ...]] = {tab: its.parts for tab, its in DECLARED.items() if its.parts}
ORDERS: tuple[str, ...] = ("place", "entropy", "distance", "kind", "alike", "from", "to")
"""Orders of the wall of Attention."""
VIEWS: tuple[str, ...] = ("matrix", "lines", "difference")
"""Views of a head in Attention."""
LENSES: tuple[str, ...] = ("mask", "words")
"""Subjects of Depth."""
MAX_DEPTHS = 2
"""Maximum applications of a shared layer in Depth, as a multiple of the usual number."""


def shown_by() -> dict[str, tuple[str, ...]]:
    """Return the tabs that show a field, or a name of ``form`` or ``look``; all show the others."""
    shown: dict[str, tuple[str, ...]] = {}
    for tab, its in DECLARED.items():
        forms, looks = (f"form.{name}" for name in its.forms), (f"look.{n}" for n in its.looks)
        for name in (*its.fields, *forms, *looks):
            shown[name] = (*shown.get(name, ()), tab)
    return shown
