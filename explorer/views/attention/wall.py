"""JSON of the wall of heads: the tiles of all heads, and the exact weights of some."""

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import numpy as np

from explorer.analysis.alignment import Alignment, word_attention
from explorer.analysis.attention import KINDS, HeadStatistics, WordHeads
from explorer.analysis.records import unrounded
from explorer.models.choice.family import member, teacher_of
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.refusal import code_of
from explorer.views.markup import script_json

WALL_SIZE = 64
"""The most rows of a tile; larger matrices are pooled."""
MAX_CELLS = 1_500_000
"""The most cells of all heads together, so that the packed base64 stays under 2 MB."""
EXACT_BYTES = 200_000
"""Up to this size the exact floats of all heads are sent at once, else head by head."""
PIECES_LIMIT = 128
"""The most tokens for which a head's token-by-token matrix is sent to the browser."""


class WallModel(TypedDict):
    """Heads of one model; ``rows`` holds the row of each layer, ``shares`` five for each head."""

    key: str
    label: str
    layers: int
    heads: int
    shared: bool
    groups: list[list[int]]
    pieces: list[str]
    added: list[int]
    entropy: list[float]
    distance: list[float]
    shares: list[float]
    kind: list[int]
    rows: list[int]


class WallCard(TypedDict):
    """Model without heads on the wall, and why."""

    key: str
    label: str
    sentence: str
    code: str


class WallData(TypedDict):
    """Tiles of all heads, ``packed``, and the ``exact`` weights of a short text by model."""

    words: list[str]
    special: list[int]
    masks: list[int]
    pool: int
    models: list[WallModel]
    cards: list[WallCard]
    packed: str
    exact: list[str]
    kinds: list[str]
    pieces_limit: int
    texts: dict[str, Any]


class ExactHead(TypedDict):
    """Exact weights of one head as base64 of float32: between its pieces, or between words."""

    model: str
    layer: int
    head: int
    pieces: NotRequired[str]
    words: NotRequired[str]


class ExactData(TypedDict):
    """Exact weights of the heads that the browser asked for."""

    heads: list[ExactHead]


def attention_wall_canvas(
    runs: Mapping[str, Run],
    heads: WordHeads,
    statistics: Mapping[str, HeadStatistics],
    cards: Mapping[str, tuple[str, str]],
    texts: Mapping[str, Any],
) -> str:
    """Return the JSON of the tiles of all heads and of the selected head's view.

    ``cards`` holds (label, reason) by key of the unavailable models.
    """
    n_heads = sum(run.attention.shape[0] * run.attention.shape[1] for run in runs.values())
    factor = pool_factor(len(heads.alignment), n_heads)
    rows = aligned_rows([run.spec for run in runs.values()])
    tiles = [quantise(pool(heads.attention[key], factor)) for key in runs]
    data: WallData = {
        "words": [word.text for word in heads.alignment.words],
        "special": [int(word.special) for word in heads.alignment.words],
        "masks": [int(word.is_mask) for word in heads.alignment.words],
        "pool": factor,
        "models": [_model(run, heads, statistics[key], rows[key]) for key, run in runs.items()],
        "cards": [
            {"key": key, "label": label, "sentence": sentence, "code": code_of(sentence)}
            for key, (label, sentence) in cards.items()
        ],
        "packed": pack(tiles),
        "exact": _all_exact(runs),
        "kinds": list(KINDS),
        "pieces_limit": PIECES_LIMIT,
        "texts": dict(texts),
    }
    return script_json(data)


def exact_heads_canvas(
    runs: Mapping[str, Run], alignment: Alignment, heads: Iterable[tuple[str, int, int]]
) -> str:
    """Return the exact floats of some heads, ``(model, layer, head)``; skip unknown ones.

    Between tokens, from which the browser computes words; between words for a long text.
    """
    data: ExactData = {
        "heads": [
            _exact(runs[key], alignment, layer, head)
            for key, layer, head in heads
            if _exists(runs, key, layer, head)
        ]
    }
    return script_json(data)


def aligned_rows(specs: Sequence[ModelSpec]) -> dict[str, list[int]]:
    """Return the row of each layer: by relative depth, or that of the layer it was copied from."""
    deepest = max(spec.architecture.n_layers for spec in specs)
    rows: dict[str, list[int]] = {}
    teachers = {spec.key: member(teacher_of(spec), specs) for spec in specs}
    for spec in sorted(specs, key=lambda spec: teachers[spec.key] is not None):
        n, teacher = spec.architecture.n_layers, teachers[spec.key]
        by_depth = [round((layer + 1) * deepest / n) - 1 for layer in range(n)]
        copied = teacher and rows.get(teacher.key)
        rows[spec.key] = (
            [copied[origin] for origin in spec.initialised_from] if copied else by_depth
        )
    return {spec.key: rows[spec.key] for spec in specs}


def pool_factor(n_words: int, n_heads: int = 0) -> int:
    """Return the number of words per row of a tile, which grows with the number of heads."""
    size = min(WALL_SIZE, int((MAX_CELLS / n_heads) ** 0.5)) if n_heads else WALL_SIZE
    return -(-n_words // size)


def pool(attention: np.ndarray, factor: int) -> np.ndarray:
    """Max-pool blocks of words, so that a single strong cell stays visible."""
    if factor == 1:
        return attention
    starts = np.arange(0, attention.shape[-1], factor)
    return np.maximum.reduceat(np.maximum.reduceat(attention, starts, axis=-1), starts, axis=-2)


def quantise(attention: np.ndarray) -> np.ndarray:
    """Quantise to a byte a cell, ``round(255 sqrt(a))``: even steps to the eye, within 1/255."""
    return np.rint(255 * np.sqrt(np.clip(attention, 0, 1))).astype(np.uint8)


def pack(arrays: Iterable[np.ndarray]) -> str:
    """Concatenate arrays' bytes, deflated (level 1 for speed), as base64."""
    packer = zlib.compressobj(1)
    parts = [packer.compress(np.ascontiguousarray(array).tobytes()) for array in arrays]
    return base64.b64encode(b"".join([*parts, packer.flush()])).decode("ascii")


def floats(array: np.ndarray) -> str:
    """Return an array as base64 of its little-endian float32 values."""
    return base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode("ascii")


def _exists(runs: Mapping[str, Run], key: str, layer: int, head: int) -> bool:
    return (
        key in runs
        and 0 <= layer < runs[key].attention.shape[0]
        and 0 <= head < runs[key].attention.shape[1]
    )


def _exact(run: Run, alignment: Alignment, layer: int, head: int) -> ExactHead:
    key, attention = run.spec.key, run.attention[layer, head]
    exact: ExactHead = {"model": key, "layer": layer, "head": head}
    if len(run.tokens) <= PIECES_LIMIT:
        exact["pieces"] = floats(attention)
    else:
        exact["words"] = floats(word_attention(attention, alignment.groups[key]))
    return exact


def _all_exact(runs: Mapping[str, Run]) -> list[str]:
    if sum(run.attention.nbytes for run in runs.values()) > EXACT_BYTES:
        return []
    return [floats(run.attention) for run in runs.values()]


def _model(
    run: Run, heads: WordHeads, statistics: HeadStatistics, rows: Sequence[int]
) -> WallModel:
    spec, key = run.spec, run.spec.key
    n_layers, n_heads = run.attention.shape[:2]
    return {
        "key": key,
        "label": spec.label,
        "layers": n_layers,
        "heads": n_heads,
        "shared": spec.architecture.shares_layers,
        "groups": [list(group) for group in heads.alignment.groups[key]],
        "pieces": list(run.tokens.pieces),
        "added": [int(s) for s in run.tokens.special],
        "entropy": unrounded(statistics.entropy.ravel()),
        "distance": unrounded(statistics.distance.ravel()),
        "shares": unrounded(statistics.shares.ravel()),
        "kind": statistics.kind.ravel().tolist(),
        "rows": list(rows),
    }
