"""Types of the data of pictures, for the browser code: from what Python sends.

They are made from each ``TypedDict``, and from each dataclass in it.

``python -m tests.js.typedefs`` writes them into ``assets/js/data.d.ts``.
"""

import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from explorer.lists.ui.tab import ListFormData
from explorer.ui.shell.input_bar import BoxData
from explorer.ui.shell.view import ViewConfig, ViewData
from explorer.views.attention.folds import BertvizData, SummaryData, SwitchesData
from explorer.views.attention.wall import ExactData, WallData
from explorer.views.chart import ChartData
from explorer.views.claims import BenchmarksData, ChecksData, LedgerData, ResultsData, SharesData
from explorer.views.depth.lens import LensData
from explorer.views.depth.patching import PatchingFound, PatchingOffer
from explorer.views.distillation.agreement import AgreementData, AgreementProgress
from explorer.views.distillation.lab import LabData
from explorer.views.distillation.live import LiveData, WaitingData
from explorer.views.distillation.losses import LossesData
from explorer.views.layer.stations import LayerData
from explorer.views.parameters.counts import MapData
from explorer.views.parameters.shapes import BuildData, SharingRow, SizesData
from explorer.views.predictions import GapsData, WordsData

DOCUMENT = Path(__file__).parents[2] / "assets" / "js" / "data.d.ts"
SENT = (
    *(ViewData, ViewConfig, BoxData, ChartData, GapsData, WordsData, ListFormData),
    *(BenchmarksData, ChecksData, LedgerData, ResultsData, SharesData),
    *(BuildData, MapData, SharingRow, SizesData),
    *(LensData, PatchingFound, PatchingOffer),
    *(WallData, ExactData, SummaryData, SwitchesData, BertvizData),
    *(LayerData, AgreementData, AgreementProgress, LabData, LiveData, WaitingData, LossesData),
)
"""The data that the modules of ``assets/js`` read."""
HEAD = "// Data of the page and of pictures as Python sends it: written by python -m tests.js.typedefs."
NAMES = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    object: "any",
    Any: "any",
    type(None): "null",
}
LISTS = (list, tuple, Sequence, Iterable)


def is_object(hint: Any) -> bool:
    """Return whether a type is an object with named fields in JSON."""
    return is_typeddict(hint) or is_dataclass(hint)


def typescript(hint: Any) -> str:
    """Return the type of TypeScript that JSON of a Python type has.

    Raises:
        TypeError: no type of TypeScript is known for it.
    """
    if hint in NAMES:
        return NAMES[hint]
    if is_object(hint):
        return str(hint.__name__)
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " | ".join(map(typescript, parts))
    if origin in (dict, Mapping):
        return f"Record<string, {typescript(parts[1])}>"
    if origin is tuple and Ellipsis not in parts:
        return f"[{', '.join(map(typescript, parts))}]"
    if origin in LISTS:
        part = typescript(parts[0])
        return f"({part})[]" if part.count("|") and not part.endswith("[]") else f"{part}[]"
    raise TypeError(f"{hint} has no type of TypeScript")


def interface(sent: type) -> str:
    """Return the interface of one object."""
    lines = []
    for name, hint in get_type_hints(sent, include_extras=True).items():
        is_optional = get_origin(hint) is NotRequired
        inner = get_args(hint)[0] if is_optional else hint
        lines.append(f"  {name}{'?' * is_optional}: {typescript(inner)};\n")
    said = (sent.__doc__ or "").strip().splitlines()[0]
    return f"/** {said} */\nexport interface {sent.__name__} {{\n{''.join(lines)}}}\n"


def objects_in(hint: Any) -> list[type]:
    """Return the objects that a type has in it, after those that they have in them."""
    if is_object(hint):
        inner = get_type_hints(hint).values()
        return [*(held for part in inner for held in objects_in(part)), hint]
    return [held for part in get_args(hint) for held in objects_in(part)]


def document() -> str:
    """Return the text of ``data.d.ts``."""
    found = dict.fromkeys(held for sent in SENT for held in objects_in(sent))
    return "\n".join([HEAD + "\n", *map(interface, found)])


if __name__ == "__main__":
    DOCUMENT.write_text(document(), "utf-8")
    sys.stdout.write(f"{DOCUMENT}\n")
