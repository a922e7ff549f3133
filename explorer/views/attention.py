"""Charts of the Attention tab: all heads, summaries, head ablation, BertViz."""

import base64
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from explorer.analysis.alignment import Alignment, word_attention
from explorer.analysis.attention import (
    KINDS,
    ChangedWord,
    HeadAblation,
    HeadImportance,
    HeadStatistics,
    WordHeads,
)
from explorer.analysis.digits import probability
from explorer.analysis.records import Records, unrounded
from explorer.assets import ASSETS
from explorer.models.choice.family import member, teacher_of
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.models.tokens import spelling_of
from explorer.refusal import code_of
from explorer.views.markup import Markup, el, join, model_name, script_json


def head_switches(
    runs: Mapping[str, Run],
    missing: Mapping[str, tuple[str, str]],
    importance: Mapping[str, HeadImportance],
    texts: Mapping[str, object],
) -> str:
    """Return the JSON of the head switches: every model's heads, and their measured importance.

    Args:
        runs: Runs by model key.
        missing: (label, reason) by key of the unavailable models.
        importance: Importance by model key, as far as it is measured; empty before the reader
            starts the measurement.
        texts: The chart's texts.
    """
    models = [
        {
            "key": key,
            "label": run.spec.label,
            "layers": run.attention.shape[0],
            "heads": run.attention.shape[1],
            "nats": _nats(importance.get(key)),
        }
        for key, run in runs.items()
    ]
    cards = [{"key": key, "label": label, "card": why} for key, (label, why) in missing.items()]
    text = next(iter(runs.values())).tokens.text if runs else ""
    return script_json({"text": text, "models": models + cards, "texts": dict(texts)})


def _nats(importance: HeadImportance | None) -> list[list[float]]:
    if importance is None:
        return []
    return unrounded(importance.kl)


def changed_answers(results: Sequence[HeadAblation], texts: Mapping[str, str]) -> Markup:
    """Draw probabilities before and after ablation: a column per model, bars on a common scale."""
    top = max(
        max(word.before, word.after)
        for result in results
        for words in result.words
        for word in words
    )
    columns = el("div", *(_column(r, top, texts) for r in results), class_="columns ab-changes")
    return join(columns, el("p", texts["scale"].format(top=f"{top:.3f}"), class_="note scale"))


def changed_records(
    results: Sequence[HeadAblation], off: Mapping[str, Sequence[Sequence[int]]]
) -> Records:
    """Return the value of every bar, and the KL of the mask's whole distribution.

    ``off`` holds the ablated heads as (layer, head), by model key.
    """
    columns = ("model", "heads_off", "gap", "kl_nats", "id", "word", "before", "after")
    rows = [
        [
            result.label,
            result.n_off,
            gap + 1,
            result.kl[gap],
            word.id,
            word.word,
            word.before,
            word.after,
        ]
        for result in results
        for gap, words in enumerate(result.words)
        for word in words
    ]
    ids = {
        result.label: [[word.id for word in words] for words in result.words] for result in results
    }
    constants = {"OFF": {result.label: off[result.model] for result in results}, "IDS": ids}
    heads = {
        result.label: " ".join(f"{layer + 1}.{head + 1}" for layer, head in off[result.model])
        for result in results
    }
    return Records(columns, rows, {"state": {"heads_off": heads}}, constants)


def _column(result: HeadAblation, top: float, texts: Mapping[str, str]) -> Markup:
    n_masks = len(result.words)
    gaps = []
    for mask, words in enumerate(result.words):
        title = texts["gap"].format(i=mask + 1, n=n_masks) if n_masks > 1 else ""
        change = texts["change"].format(nats=probability(float(result.kl[mask])))
        gaps += [
            el("p", join(f"{title}: " if title else "", change), class_="ab-change"),
            el("ul", *(_word(word, top, texts) for word in words), class_="ab-words"),
        ]
    off = texts["off_one" if result.n_off == 1 else "off"].format(n=result.n_off)
    head = el("h3", model_name(result.model, result.label), " ", el("span", off, class_="badge"))
    return el("section", head, *gaps, class_="ab-column", data_model=result.model)


def _word(word: ChangedWord, top: float, texts: Mapping[str, str]) -> Markup:
    values = texts["values"].format(before=probability(word.before), after=probability(word.after))
    bars = el(
        "span",
        el("i", class_="ab-before", style=f"width:{100 * word.before / top:.2f}%"),
        el("i", class_="ab-after", style=f"width:{100 * word.after / top:.2f}%"),
        class_="ab-bars",
        aria_hidden="true",
    )
    return el("li", el("b", word.word), bars, el("span", values, class_="ab-values"))


FRAME, ADDRESS = ASSETS / "bertviz", "bertviz"
"""Folder of the iframe's own files, and their URL path, shared with BertViz's scripts."""
LIMITS = {"head": 64, "model": 32, "neuron": 32}
"""The most tokens of a view: above, drawing takes seconds and the lines are illegible."""
INT16 = 32_767


def bertviz_files() -> dict[str, Path]:
    """Return the iframe's files by name: its own and BertViz's, without importing BertViz."""
    spec = find_spec("bertviz")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("bertviz is not installed")
    folder = Path(spec.submodule_search_locations[0])
    scripts = [folder / f"{view}_view.js" for view in LIMITS]
    return {path.name: path for path in (*sorted(FRAME.iterdir()), *scripts)}


def bertviz_payload(
    run: Run, view: str, title: str, vectors: tuple[np.ndarray, np.ndarray] | None = None
) -> str:
    """Return the attention of all heads of one model for one view, as JSON.

    Attention has one byte a cell (steps of 1/255, as fine as a line can be drawn); ``vectors``,
    the queries and keys [layer, head, position, d_head] of the neuron view, two bytes a number.
    """
    quantised = np.round(run.attention * 255).astype(np.uint8)
    data: dict[str, object] = {
        "view": view,
        "title": title,
        "tokens": shown_pieces(run),
        # The position at which the second sentence of a pair starts; None without one.
        "second": run.tokens.segments.index(1) if 1 in run.tokens.segments else None,
        "shape": list(quantised.shape),
        "attention": base64.b64encode(quantised.tobytes()).decode(),
        "frame": f"{ADDRESS}/viewer.html",
        "script": f"{view}_view.js",
    }
    if vectors is not None:
        data |= _packed(vectors)
    return script_json(data)


def shown_pieces(run: Run) -> list[str]:
    """Return the tokens as BertViz shows them: with ``##``, without a mark of a word's start."""
    spelling = spelling_of(run.vocabulary)
    return [piece if spelling.continues else spelling.text(piece) for piece in run.tokens.pieces]


def _packed(vectors: tuple[np.ndarray, np.ndarray]) -> dict[str, object]:
    scales = [float(np.abs(v).max()) / INT16 or 1.0 for v in vectors]
    packed = [np.round(v / s).astype("<i2") for v, s in zip(vectors, scales, strict=True)]
    return {
        "width": vectors[0].shape[-1],
        "scales": scales,
        "queries": base64.b64encode(packed[0].tobytes()).decode(),
        "keys": base64.b64encode(packed[1].tobytes()).decode(),
    }


def attention_summary_canvas(
    matrices: Mapping[str, np.ndarray],
    specs: Mapping[str, ModelSpec],
    alignment: Alignment,
    details: Mapping[str, str],
    texts: Mapping[str, Any],
) -> str:
    """Return the JSON of word-by-word matrices by model key, each with a line of detail."""
    return script_json(
        {
            "words": [word.text for word in alignment.words],
            "special": [int(word.special) for word in alignment.words],
            "models": [
                {
                    "key": key,
                    "label": specs[key].label,
                    "detail": details.get(key, ""),
                    "values": floats(matrix),
                    "groups": alignment.groups[key],
                }
                for key, matrix in matrices.items()
            ],
            "texts": dict(texts),
        }
    )


WALL_SIZE = 64
"""The most rows of a tile; larger matrices are pooled."""
MAX_CELLS = 1_500_000
"""The most cells of all heads together, so that the packed base64 stays under 2 MB."""
EXACT_BYTES = 200_000
"""Up to this size the exact floats of all heads are sent at once, else head by head."""
PIECES_LIMIT = 128
"""The most tokens for which a head's token-by-token matrix is sent to the browser."""


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
                {"key": key, "label": label, "sentence": sentence, "code": code_of(sentence)}
                for key, (label, sentence) in cards.items()
            ],
            "packed": pack(tiles),
            "exact": _all_exact(runs),
            "kinds": list(KINDS),
            "pieces_limit": PIECES_LIMIT,
            "texts": dict(texts),
        }
    )


def exact_heads_canvas(
    runs: Mapping[str, Run], alignment: Alignment, heads: Iterable[tuple[str, int, int]]
) -> str:
    """Return the exact floats of some heads, ``(model, layer, head)``; skip unknown ones.

    Between tokens, from which the browser computes words; between words for a long text.
    """
    return script_json(
        {
            "heads": [
                {"model": key, "layer": layer, "head": head}
                | _exact(runs[key], alignment, layer, head)
                for key, layer, head in heads
                if _exists(runs, key, layer, head)
            ]
        }
    )


def aligned_rows(specs: Sequence[ModelSpec]) -> dict[str, list[int]]:
    """Return the row of each layer: by relative depth, or that of the layer it was copied from."""
    deepest = max(spec.architecture.n_layers for spec in specs)
    rows: dict[str, list[int]] = {}
    teachers = {spec.key: member(teacher_of(spec), specs) for spec in specs}
    for spec in sorted(specs, key=lambda one: teachers[one.key] is not None):
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
        "entropy": unrounded(statistics.entropy.ravel()),
        "distance": unrounded(statistics.distance.ravel()),
        "shares": unrounded(statistics.shares.ravel()),
        "kind": statistics.kind.ravel().tolist(),
    }
