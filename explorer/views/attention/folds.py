"""Charts of the folds of Attention: summaries, head ablation, BertViz."""

import base64
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from explorer.analysis.alignment import Alignment, Groups
from explorer.analysis.attention import ChangedWord, HeadAblation, HeadImportance
from explorer.analysis.digits import probability
from explorer.analysis.records import Records, unrounded
from explorer.assets import ASSETS
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.models.tokens import spelling_of
from explorer.views.attention.wall import floats
from explorer.views.markup import Markup, el, join, model_name, script_json


class SwitchesModel(TypedDict):
    """Heads of one model, and the nats that each costs without it: [layer][head], or empty."""

    key: str
    label: str
    layers: int
    heads: int
    nats: list[list[float]]


class SwitchesCard(TypedDict):
    """Model without switches, and why."""

    key: str
    label: str
    card: str


class SwitchesData(TypedDict):
    """Head switches of all models for one text."""

    text: str
    models: list[SwitchesModel | SwitchesCard]
    texts: dict[str, Any]


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
    models: list[SwitchesModel | SwitchesCard] = [
        {
            "key": key,
            "label": run.spec.label,
            "layers": run.attention.shape[0],
            "heads": run.attention.shape[1],
            "nats": _nats(importance.get(key)),
        }
        for key, run in runs.items()
    ]
    models += [{"key": key, "label": label, "card": why} for key, (label, why) in missing.items()]
    text = next(iter(runs.values())).tokens.text if runs else ""
    data: SwitchesData = {"text": text, "models": models, "texts": dict(texts)}
    return script_json(data)


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


class Vectors(TypedDict):
    """Queries and keys of all heads as base64 of int16, each times its scale."""

    width: int
    scales: list[float]
    queries: str
    keys: str


class BertvizData(TypedDict):
    """Attention of all heads of one model, as base64 of a byte a cell, for one view."""

    view: str
    title: str
    tokens: list[str]
    second: int | None
    shape: list[int]
    attention: str
    frame: str
    script: str
    width: NotRequired[int]
    scales: NotRequired[list[float]]
    queries: NotRequired[str]
    keys: NotRequired[str]


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
    data: BertvizData = {
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
    return script_json(data if vectors is None else {**data, **_packed(vectors)})


def shown_pieces(run: Run) -> list[str]:
    """Return the tokens as BertViz shows them: with ``##``, without a mark of a word's start."""
    spelling = spelling_of(run.vocabulary)
    return [piece if spelling.continues else spelling.text(piece) for piece in run.tokens.pieces]


def _packed(vectors: tuple[np.ndarray, np.ndarray]) -> Vectors:
    scales = [float(np.abs(v).max()) / INT16 or 1.0 for v in vectors]
    packed = [np.round(v / s).astype("<i2") for v, s in zip(vectors, scales, strict=True)]
    return {
        "width": vectors[0].shape[-1],
        "scales": scales,
        "queries": base64.b64encode(packed[0].tobytes()).decode(),
        "keys": base64.b64encode(packed[1].tobytes()).decode(),
    }


class SummaryModel(TypedDict):
    """One model's matrix between words, as base64 of float32, and the pieces of each word."""

    key: str
    label: str
    detail: str
    values: str
    groups: Groups


class SummaryData(TypedDict):
    """One summary of each model's attention; 1 in ``special`` where the model added the word."""

    words: list[str]
    special: list[int]
    models: list[SummaryModel]
    texts: dict[str, Any]


def attention_summary_canvas(
    matrices: Mapping[str, np.ndarray],
    specs: Mapping[str, ModelSpec],
    alignment: Alignment,
    details: Mapping[str, str],
    texts: Mapping[str, Any],
) -> str:
    """Return the JSON of word-by-word matrices by model key, each with a line of detail."""
    models: list[SummaryModel] = [
        {
            "key": key,
            "label": specs[key].label,
            "detail": details.get(key, ""),
            "values": floats(matrix),
            "groups": alignment.groups[key],
        }
        for key, matrix in matrices.items()
    ]
    data: SummaryData = {
        "words": [word.text for word in alignment.words],
        "special": [int(word.special) for word in alignment.words],
        "models": models,
        "texts": dict(texts),
    }
    return script_json(data)
