"""Pictures of Attention: the wall of heads, summaries, switches, bertviz."""

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
from explorer.assets import ASSETS
from explorer.models.choice.family import teacher_of
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.models.tokens import Tokens, spelling_of
from explorer.views.markup import Markup, el, join, model_name, script_json
from explorer.views.numbers import Numbers


def head_switches(
    runs: Mapping[str, Run],
    missing: Mapping[str, tuple[str, str]],
    importance: Mapping[str, HeadImportance],
    texts: Mapping[str, object],
) -> str:
    """The switches' JSON: layers and heads of every model, and the nats that were measured.

    Args:
        runs: By model key.
        missing: (label, sentence) by key of the models that cannot be had.
        importance: What is swept so far; empty before the reader asks for it.
        texts: The words printed on the picture.
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
    return [[float(f"{nats:.7g}") for nats in layer] for layer in importance.kl]


def changed_answers(results: Sequence[HeadAblation], texts: Mapping[str, str]) -> Markup:
    """Before and after for every mask, one column a model, all bars on one scale."""
    top = max(
        max(word.before, word.after)
        for result in results
        for words in result.words
        for word in words
    )
    columns = el("div", *(_column(r, top, texts) for r in results), class_="columns ab-changes")
    return join(columns, el("p", texts["scale"].format(top=f"{top:.3f}"), class_="note scale"))


def changed_numbers(
    results: Sequence[HeadAblation], off: Mapping[str, Sequence[Sequence[int]]]
) -> Numbers:
    """Every bar, and what the whole answer of its gap has changed by.

    ``off`` has the heads that are off as (layer, head) by model key.
    """
    columns = ("model", "heads_off", "gap", "kl_nats", "id", "word", "before", "after")
    rows = [
        [one.label, one.n_off, gap + 1, one.kl[gap], word.id, word.word, word.before, word.after]
        for one in results
        for gap, words in enumerate(one.words)
        for word in words
    ]
    compared = {one.label: [[word.id for word in words] for words in one.words] for one in results}
    constants = {"OFF": {one.label: off[one.model] for one in results}, "IDS": compared}
    heads = {
        one.label: " ".join(f"{layer + 1}.{head + 1}" for layer, head in off[one.model])
        for one in results
    }
    return Numbers(columns, rows, {"state": {"heads_off": heads}}, constants)


def _column(result: HeadAblation, top: float, texts: Mapping[str, str]) -> Markup:
    n_masks = len(result.words)
    gaps = []
    for mask, words in enumerate(result.words):
        title = texts["gap"].format(i=mask + 1, n=n_masks) if n_masks > 1 else ""
        change = texts["change"].format(nats=f"{result.kl[mask]:.3f}")
        gaps += [
            el("p", join(f"{title}: " if title else "", change), class_="ab-change"),
            el("ul", *(_word(word, top, texts) for word in words), class_="ab-words"),
        ]
    off = texts["off_one" if result.n_off == 1 else "off"].format(n=result.n_off)
    head = el("h3", model_name(result.model, result.label), " ", el("span", off, class_="badge"))
    return el("section", head, *gaps, class_="ab-column", data_model=result.model)


def _word(word: ChangedWord, top: float, texts: Mapping[str, str]) -> Markup:
    values = texts["values"].format(before=f"{word.before:.3f}", after=f"{word.after:.3f}")
    bars = el(
        "span",
        el("i", class_="ab-before", style=f"width:{100 * word.before / top:.2f}%"),
        el("i", class_="ab-after", style=f"width:{100 * word.after / top:.2f}%"),
        class_="ab-bars",
        aria_hidden="true",
    )
    return el("li", el("b", word.word), bars, el("span", values, class_="ab-values"))


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


def attention_summary_canvas(
    matrices: Mapping[str, np.ndarray],
    specs: Mapping[str, ModelSpec],
    alignment: Alignment,
    details: Mapping[str, str],
    texts: Mapping[str, Any],
) -> str:
    """Square matrices between words by model key, with a line about each."""
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
