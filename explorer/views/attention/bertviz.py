"""BertViz on the page: its own drawing code, fed once with packed numbers, in a closed frame.

BertViz (Vig 2019) ships three scripts; they are read from the installed package and nothing of
them is copied. ``assets/bertviz`` holds the frame they draw in and the two libraries they ask for.
"""

import base64
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from explorer.assets import ASSETS
from explorer.models.run import Run
from explorer.models.spelling import spelling_of
from explorer.models.tokens import Tokens
from explorer.views.markup import script_json

FRAME, ADDRESS = ASSETS / "bertviz", "bertviz"
"""Where the frame's own files lie, and where the page has them with BertViz's scripts beside."""
LIMITS = {"head": 64, "model": 32, "neuron": 32}
"""The most tokens a view draws: beyond, its lines take seconds and melt into one another."""
INT16 = 32_767


def bertviz_files() -> dict[str, Path]:
    """What the frame needs, by name: its own files and BertViz's (which is not imported)."""
    spec = find_spec("bertviz")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("bertviz is not installed")
    folder = Path(spec.submodule_search_locations[0])
    scripts = [folder / f"{view}_view.js" for view in LIMITS]
    return {path.name: path for path in (*sorted(FRAME.iterdir()), *scripts)}


def bertviz_payload(
    run: Run, view: str, title: str, vectors: tuple[np.ndarray, np.ndarray] | None = None
) -> str:
    """All heads of one model for one view, as JSON.

    Attention is one byte a cell (steps of 1/255, as fine as a line can be drawn); ``vectors``,
    the queries and keys [layer, head, position, d_head] of the neuron view, are two bytes a number.
    """
    drawn = np.round(run.attention * 255).astype(np.uint8)
    data: dict[str, object] = {
        "view": view,
        "title": title,
        "tokens": shown_pieces(run),
        "second": second_sentence(run.tokens),
        "shape": list(drawn.shape),
        "attention": base64.b64encode(drawn.tobytes()).decode(),
        "frame": f"{ADDRESS}/viewer.html",
        "script": f"{view}_view.js",
    }
    if vectors is not None:
        data |= _packed(vectors)
    return script_json(data)


def shown_pieces(run: Run) -> list[str]:
    """The pieces as BertViz has them: the mark of a word's start goes, that of its inside stays."""
    spelling = spelling_of(run.vocabulary)
    return [piece if spelling.continues else spelling.text(piece) for piece in run.tokens.pieces]


def second_sentence(tokens: Tokens) -> int | None:
    """The position at which the second sentence of a pair starts."""
    return tokens.segments.index(1) if 1 in tokens.segments else None


def _packed(vectors: tuple[np.ndarray, np.ndarray]) -> dict[str, object]:
    scales = [float(np.abs(v).max()) / INT16 or 1.0 for v in vectors]
    packed = [np.round(v / s).astype("<i2") for v, s in zip(vectors, scales, strict=True)]
    return {
        "width": vectors[0].shape[-1],
        "scales": scales,
        "queries": base64.b64encode(packed[0].tobytes()).decode(),
        "keys": base64.b64encode(packed[1].tobytes()).decode(),
    }
