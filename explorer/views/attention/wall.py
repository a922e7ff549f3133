"""The head wall's data: every head of every model as one byte per cell, sent once."""

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from explorer.analysis.alignment import Alignment, word_attention
from explorer.analysis.attention.heads import KINDS, HeadStatistics, WordHeads
from explorer.models.choice.family import teacher_of
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.views.markup import script_json

WALL_SIZE = 64
"""Larger matrices are pooled to this many rows: no tile on a screen has more."""
MOST_CELLS = 1_500_000
"""Cells of all heads together: their bytes, packed and in base64, stay under 2 MB."""
EXACT_BYTES = 200_000
"""Up to this size the exact floats of all heads travel with the wall; else head by head."""
PIECES_LIMIT = 128
"""Beyond this many tokens a head's piece matrix is not sent to the browser."""


def attention_wall_canvas(
    runs: Mapping[str, Run],
    heads: WordHeads,
    statistics: Mapping[str, HeadStatistics],
    cards: Mapping[str, tuple[str, str]],
    texts: Mapping[str, Any],
) -> str:
    """Everything the wall and the chosen head need, as one JSON string.

    ``cards`` says for each missing model its label and why it is not there.
    """
    n_heads = sum(run.attention.shape[0] * run.attention.shape[1] for run in runs.values())
    factor = pool_factor(len(heads.alignment), n_heads)
    rows = aligned_rows([run.spec for run in runs.values()])
    drawn = [quantise(pool(heads.attention[key], factor)) for key in runs]
    return script_json(
        {
            "words": [word.text for word in heads.alignment.words],
            "special": [int(word.special) for word in heads.alignment.words],
            "masks": [int(word.is_mask) for word in heads.alignment.words],
            "pool": factor,
            "models": [
                _model(run, heads, statistics[key]) | {"rows": rows[key]}
                for key, run in runs.items()
            ],
            "cards": [
                {"key": key, "label": label, "sentence": sentence}
                for key, (label, sentence) in cards.items()
            ],
            "packed": pack(drawn),
            "exact": _all_exact(runs),
            "kinds": list(KINDS),
            "pieces_limit": PIECES_LIMIT,
            "texts": dict(texts),
        }
    )


def exact_heads_canvas(
    runs: Mapping[str, Run], alignment: Alignment, asked: Iterable[tuple[str, int, int]]
) -> str:
    """The exact floats of a few heads, ``(model, layer, head)``; what is not there is left out.

    Between pieces, from which the browser makes words; between words for a long text.
    """
    return script_json(
        {
            "heads": [
                {"model": key, "layer": layer, "head": head}
                | _exact(runs[key], alignment, layer, head)
                for key, layer, head in asked
                if _exists(runs, key, layer, head)
            ]
        }
    )


def aligned_rows(specs: Sequence[ModelSpec]) -> dict[str, list[int]]:
    """The wall's row of each layer: by relative depth, a copied layer beside the one it was."""
    deepest = max(spec.architecture.n_layers for spec in specs)
    rows: dict[str, list[int]] = {}
    for spec in specs:
        n, teacher = spec.architecture.n_layers, teacher_of(spec)
        own = [round((layer + 1) * deepest / n) - 1 for layer in range(n)]
        copied = teacher in specs and teacher and rows.get(teacher.key)
        rows[spec.key] = [copied[origin] for origin in spec.initialised_from] if copied else own
    return rows


def pool_factor(n_words: int, n_heads: int = 0) -> int:
    """How many words share a row of the wall's tiles: more, the more heads there are."""
    size = min(WALL_SIZE, int((MOST_CELLS / n_heads) ** 0.5)) if n_heads else WALL_SIZE
    return -(-n_words // size)


def pool(attention: np.ndarray, factor: int) -> np.ndarray:
    """Blocks of words by their largest value, so that a single strong cell stays visible."""
    if factor == 1:
        return attention
    starts = np.arange(0, attention.shape[-1], factor)
    return np.maximum.reduceat(np.maximum.reduceat(attention, starts, axis=-1), starts, axis=-2)


def quantise(attention: np.ndarray) -> np.ndarray:
    """One byte a cell, ``round(255 sqrt(a))``: even steps to the eye, within 1/255 of the value."""
    return np.rint(255 * np.sqrt(np.clip(attention, 0, 1))).astype(np.uint8)


def pack(arrays: Iterable[np.ndarray]) -> str:
    """Bytes one after another, deflated (level 1: speed before size), as base64."""
    packer = zlib.compressobj(1)
    parts = [packer.compress(np.ascontiguousarray(array).tobytes()) for array in arrays]
    return base64.b64encode(b"".join([*parts, packer.flush()])).decode("ascii")


def floats(array: np.ndarray) -> str:
    """Little-endian float32 as base64: the very numbers, for what is printed."""
    return base64.b64encode(np.ascontiguousarray(array, "<f4").tobytes()).decode("ascii")


def _exists(runs: Mapping[str, Run], key: str, layer: int, head: int) -> bool:
    return (
        key in runs
        and 0 <= layer < runs[key].attention.shape[0]
        and 0 <= head < runs[key].attention.shape[1]
    )


def _exact(run: Run, alignment: Alignment, layer: int, head: int) -> dict[str, str]:
    attention = run.attention[layer, head]
    if len(run.tokens) <= PIECES_LIMIT:
        return {"pieces": floats(attention)}
    return {"words": floats(word_attention(attention, alignment.groups[run.spec.key]))}


def _all_exact(runs: Mapping[str, Run]) -> list[str]:
    if sum(run.attention.nbytes for run in runs.values()) > EXACT_BYTES:
        return []
    return [floats(run.attention) for run in runs.values()]


def _model(run: Run, heads: WordHeads, statistics: HeadStatistics) -> dict[str, Any]:
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
        "entropy": _rounded(statistics.entropy),
        "distance": _rounded(statistics.distance),
        "shares": _rounded(statistics.shares),
        "kind": statistics.kind.ravel().tolist(),
    }


def _rounded(values: np.ndarray) -> list[float]:
    """Six decimals, as many as a file needs; in float64, else all 17 digits are written."""
    return np.round(values.astype(np.float64), 6).ravel().tolist()
