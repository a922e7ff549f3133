"""A passage with the answer marked in it, below two strips: where it begins, where it ends."""

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.tasks.spans import AnswerSpans
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, el, model_name, note
from explorer.views.numbers import Numbers
from explorer.views.tasks.sentiment import adapters_said

FAINT = 1e-3
"""A bar lower than this share of its strip is not drawn."""


def answer_spans_html(
    found: Mapping[str, AnswerSpans],
    specs: Mapping[str, ModelSpec],
    passage: str,
    texts: Mapping[str, str],
) -> Markup:
    """One column a model."""
    columns = [_column(specs[key], one, passage, texts) for key, one in found.items()]
    return el("div", *columns, class_="columns tq")


def answer_spans_numbers(
    found: Mapping[str, AnswerSpans],
    specs: Mapping[str, ModelSpec],
    asked: tuple[str, str],
    adapters: Mapping[str, tuple[str, str]],
    windows: Mapping[str, tuple[int, int]],
) -> Numbers:
    """Every token of the passage; a span's score is the product of its two ends.

    Args:
        found: By model key.
        specs: By model key.
        asked: The question and the passage.
        adapters: Where each model's adapter lies and its checksum, by the model's label.
        windows: Tokens of a window and of what two share, by the model's label.
    """
    question, passage = asked
    columns = ("model", "from", "to", "token", "answer_begins_here", "answer_ends_here")
    rows = [
        [specs[key].label, first, last, passage[first:last], begins, ends]
        for key, one in found.items()
        for (first, last), begins, ends in zip(one.places, one.start, one.end, strict=True)
    ]
    said = {"text": None, "state": {"question": question}, "passage": passage}
    constants = {
        "QUESTION": question,
        "PASSAGE": passage,
        "ADAPTERS": {name: at for name, (at, _) in adapters.items()},
        "WINDOWS": {name: list(both) for name, both in windows.items()},
    }
    return Numbers(columns, rows, said | {"adapters": adapters_said(adapters)}, constants)


def _column(spec: ModelSpec, found: AnswerSpans, passage: str, texts: Mapping[str, str]) -> Markup:
    best, *others = found.best
    listed = ", ".join(f"“{passage[s.start : s.end]}” ({s.score:.3f})" for s in others)
    return el(
        "section",
        el(
            "header",
            el("h3", model_name(spec.key, spec.label)),
            el("p", el("strong", passage[best.start : best.end]), f" {best.score:.3f}"),
        ),
        _strip(spec, found.places, found.start, len(passage), (texts, "start")),
        _strip(spec, found.places, found.end, len(passage), (texts, "end")),
        el(
            "p",
            passage[: best.start],
            el("mark", passage[best.start : best.end]),
            passage[best.end :],
            class_="tq-passage",
            dir="auto",
        ),
        note(texts["other"].format(answers=listed)) if others else None,
        class_="tq-column",
        data_model=spec.key,
    )


def _strip(
    spec: ModelSpec,
    places: Sequence[tuple[int, int]],
    shares: np.ndarray,
    length: int,
    said: tuple[Mapping[str, str], str],
) -> Markup:
    """Bars where the tokens stand in the passage, the likeliest at full height."""
    (texts, side), top = said, float(shares.max())
    bars = [
        el(
            "i",
            style=f"left:{100 * first / length:.2f}%;width:{100 * (last - first) / length:.2f}%;"
            f"height:{100 * share / top:.1f}%",
        )
        for (first, last), share in zip(places, shares, strict=True)
        if share > FAINT * top
    ]
    label = texts["strip"].format(model=spec.label, side=texts[side])
    return el(
        "div",
        el("span", f"{texts[side]}, {texts['scale'].format(top=top)}", class_="tq-side"),
        el("span", *bars, class_="tq-strip", role="img", aria_label=label),
        class_="tq-line",
    )
