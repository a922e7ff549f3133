"""PageState: everything the reader chose, as one frozen value."""

from dataclasses import dataclass

from explorer.assets import examples

FOLDS: dict[str, tuple[str, ...]] = {
    "predictions": ("ask", "words", "joint"),
    "attention": ("summary", "ablation", "advanced"),
    "layer": ("steps", "contexts"),
    "depth": ("similarity", "patching", "moves", "more"),
    "distillation": ("losses", "agreement", "live"),
    "tasks": ("pairs", "tuned"),
    "parameters": ("sizes", "embedding", "sharing", "memory"),
    "latency": ("choose", "sweep", "faster", "advanced"),
    "claims": ("checks", "scores"),
}
"""What lies below each tab's headline, by the name that a link gives it, in reading order."""
TABS: tuple[str, ...] = tuple(FOLDS)
PARTS: dict[str, tuple[str, ...]] = {"tasks": ("pair", "sentiment", "question")}
"""Tabs of which one part is in sight at a time; a link names it as it names a fold."""
ORDERS: tuple[str, ...] = ("place", "entropy", "distance", "kind", "alike")
VIEWS: tuple[str, ...] = ("matrix", "lines", "difference")
LENSES: tuple[str, ...] = ("mask", "words")
MAX_DEPTHS = 2
"""A shared layer is applied up to this many times as often as usual."""
DTYPES: tuple[str, ...] = ("float32", "bfloat16", "float16")
RUN_FIELDS: tuple[str, ...] = ("text", "family", "device", "dtype")
"""What a run depends on: a change of another field needs no model."""
DEFAULT_TEXT: str = examples()[0]["text"]


@dataclass(frozen=True, slots=True)
class PageState:
    """One view of the explorer; equal states show equal pages."""

    text: str = DEFAULT_TEXT
    family: str = "mini"
    """A preset, or the size in each column, as ``family_name`` writes it."""
    tab: str = "predictions"
    model: str = "bert"
    layer: int = 0
    """Counted from 0, like ``head``; the page prints layer 1 for 0."""
    head: int = 0
    order: str = "place"
    """How the wall orders the heads."""
    view: str = "matrix"
    """How the chosen head is drawn."""
    temperature: float = 2.0
    word: int = -1
    """The word that Distillation alone hides, counted from 0; -1: the text's own mask."""
    mask: int = 0
    """The mask that Depth looks at, and Predictions where there are many; from 0."""
    times: int = 0
    """How often Depth applies a shared layer; 0: as often as usual."""
    lens: str = "mask"
    """What Depth looks at: one mask, or every word."""
    at: int = -1
    """The word that Layer and Depth follow, counted from 0; -1: their own choice."""
    other: str = ""
    """The second text whose difference Depth follows; empty: the one that the page proposes."""
    hidden: str = ""
    """The words behind the masks, in reading order with a bar between; empty where unknown."""
    sentiment: str = ""
    """The text that Tasks judges; empty: the page's own, or an example where that has a gap."""
    question: str = ""
    """What Tasks asks of the passage; empty: an example's."""
    passage: str = ""
    """Like ``question``."""
    fold: str = ""
    """The tab's open folds and its part in sight, commas between, in the order of opening."""
    timed: str = ""
    """What Latency times: sizes, tokens, texts, part, clock, precision and seconds, by dashes."""
    search: str = ""
    """What is searched for in the list of claims."""
    look: str = ""
    """How pictures are looked at (words shown, units ...): `name:value` pairs for the browser."""
    device: str = "cpu"
    """Never part of a link: the reader's machine is not the sender's."""
    dtype: str = "float32"
    """Like ``device``."""


def hidden_words(state: PageState) -> tuple[str, ...]:
    """The word behind each mask, the first ones first; empty where none is known."""
    return tuple(state.hidden.split("|")) if state.hidden else ()


def open_folds(state: PageState) -> tuple[str, ...]:
    """Return the names of the open folds and of the part in sight, in the order of opening."""
    return tuple(state.fold.split(",")) if state.fold else ()
