"""Words with two signed bars each: towards positive to the right, towards negative to the left."""

from collections.abc import Mapping, Sequence

from explorer.analysis.digits import power, signed
from explorer.analysis.tasks.sentiment import WordSentiment
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, el, model_name, note
from explorer.views.numbers import Numbers


def word_sentiment_html(
    found: Mapping[str, WordSentiment], specs: Mapping[str, ModelSpec], texts: Mapping[str, str]
) -> Markup:
    """One column a model: its probability, the score before any word, every word, and the sum."""
    values = [
        value
        for one in found.values()
        for value in (*one.integrated_gradients, *one.leave_one_out, one.baseline, one.difference)
    ]
    top = max(1e-9, *(abs(float(value)) for value in values))
    columns = [_column(specs[key], one, top, texts) for key, one in found.items()]
    return el("div", *columns, class_="columns ts")


def word_sentiment_numbers(
    found: Mapping[str, WordSentiment],
    specs: Mapping[str, ModelSpec],
    text: str,
    adapters: Mapping[str, tuple[str, str]],
) -> Numbers:
    """Both attributions of every word, beside the text's probability and both ends of the path.

    ``adapters`` says of each model, by its label, where its adapter lies and its checksum.
    """
    columns = (
        *("model", "positive", "baseline", "difference"),
        *("word", "integrated_gradients", "leave_one_out"),
    )
    rows = [
        [specs[key].label, one.positive, one.baseline, one.difference, *values]
        for key, one in found.items()
        for values in zip(one.words, one.integrated_gradients, one.leave_one_out, strict=True)
    ]
    constants = {"TEXT": text, "ADAPTERS": {name: at for name, (at, _) in adapters.items()}}
    return Numbers(columns, rows, {"text": text, "adapters": adapters_said(adapters)}, constants)


def adapters_said(adapters: Mapping[str, tuple[str, str]]) -> list[str]:
    """What a file says of the adapters, as it says it of the models."""
    return [f"{name}: {at} (sha256 {digest})" for name, (at, digest) in adapters.items()]


def _column(spec: ModelSpec, found: WordSentiment, top: float, texts: Mapping[str, str]) -> Markup:
    label, share = found.verdict
    head = [el("th", texts[name], scope="col") for name in ("word", "ig", "loo")]
    rows = [
        el("tr", el("th", word, scope="row"), _cell(float(ig), top), _cell(float(loo), top))
        for word, ig, loo in zip(
            found.words, found.integrated_gradients, found.leave_one_out, strict=True
        )
    ]
    first = [texts["baseline"], _cell(found.baseline, top), el("td")]
    last = [texts["total"], _cell(found.difference, top), el("td")]
    said = texts["complete"].format(
        sum=signed(float(found.integrated_gradients.sum())),
        explained=signed(found.difference - found.baseline),
        error=power(found.completeness_error),
    )
    return el(
        "section",
        el(
            "header",
            el("h3", model_name(spec.key, spec.label)),
            el("p", el("strong", texts[label]), f" {share:.3f}"),
        ),
        el(
            "table",
            el("thead", el("tr", *head)),
            el("tbody", _end(first, "ts-base"), *rows),
            el("tfoot", _end(last, "ts-total")),
        ),
        note(said),
        class_="ts-column",
        data_model=spec.key,
    )


def _end(row: Sequence[str | Markup], kind: str) -> Markup:
    """Build a row that is no word's."""
    title, *cells = row
    return el("tr", el("th", title, scope="row"), *cells, class_=kind)


def _cell(value: float, top: float) -> Markup:
    """A bar from the middle, and the number with its sign."""
    side = "ts-right" if value >= 0 else "ts-left"
    bar = el("i", class_=side, style=f"width:{50 * abs(value) / top:.2f}%")
    return el("td", el("span", bar, class_="ts-track", aria_hidden="true"), signed(value))
