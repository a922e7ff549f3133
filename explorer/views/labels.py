"""Labels of a text, a column per model: sentiment or a head's own, and each word's part in one."""

from collections.abc import Mapping, Sequence

from explorer.analysis.digits import power, probability, signed
from explorer.analysis.records import Records
from explorer.analysis.tasks.labels import LabelAttribution, LabelValues
from explorer.analysis.tasks.tuned import WordSentiment
from explorer.models.specs import ONE_LABEL, SCORE, ModelSpec
from explorer.views.markup import Markup, el, model_name, note
from explorer.views.tasks import adapter_lines

SHOWN = 5
"""Labels of a model that have a bar."""


def text_labels_html(
    values: Mapping[str, LabelValues],
    found: Mapping[str, LabelAttribution],
    specs: Mapping[str, ModelSpec],
    texts: Mapping[str, str],
) -> Markup:
    """Draw a column per model: the values of its labels, and the words of the attributed one."""
    top = largest_part([(each, each.value) for each in found.values()])
    columns = [
        _column(specs[key], each, found.get(key), top, texts) for key, each in values.items()
    ]
    return el("div", *columns, class_="columns ts")


def text_labels_records(
    values: Mapping[str, LabelValues],
    found: Mapping[str, LabelAttribution],
    specs: Mapping[str, ModelSpec],
    text: str,
) -> Records:
    """Return a row for each label's value, then one for each word of the attributed label."""
    columns = (
        *("model", "label", "value", "attributed", "baseline"),
        *("word", "integrated_gradients", "leave_one_out"),
    )
    rows: list[list[object]] = []
    for key, each in values.items():
        name = specs[key].label
        rows += [[name, each.labels[i], each.values[i], *[None] * 5] for i in each.order]
        if (attribution := found.get(key)) is None:
            continue
        top = [name, attribution.label, each.values[each.labels.index(attribution.label)]]
        ends = [attribution.value, attribution.baseline]
        rows += [
            [*top, *ends, *word]
            for word in zip(
                attribution.words,
                attribution.integrated_gradients,
                attribution.leave_one_out,
                strict=True,
            )
        ]
    chosen = {key: attribution.label for key, attribution in found.items()}
    heads = {
        specs[key].label: [list(each.labels), each.problem, chosen.get(key, "")]
        for key, each in values.items()
    }
    return Records(columns, rows, {"text": text}, {"TEXT": text, "HEADS": heads})


def _column(
    spec: ModelSpec,
    values: LabelValues,
    found: LabelAttribution | None,
    top: float,
    texts: Mapping[str, str],
) -> Markup:
    bars = [_bar(values, place) for place in values.order[:SHOWN]]
    n_more = len(values.labels) - SHOWN
    of = texts["score_of" if values.problem == SCORE else "odds_of"]
    return el(
        "section",
        el("header", el("h3", model_name(spec.key, spec.label))),
        el("ol", *bars, class_="tl-labels"),
        note(texts["more"].format(n=n_more)) if n_more > 0 else None,
        *(_why(found, top, texts, of.format(label=found.label)) if found else ()),
        class_="ts-column tl-column",
        data_model=spec.key,
    )


def _why(
    found: LabelAttribution, top: float, texts: Mapping[str, str], of: str
) -> tuple[Markup, ...]:
    """Draw what is attributed, the words' parts in it, and how far they are from adding up."""
    sentence = texts["complete"].format(
        sum=signed(float(found.integrated_gradients.sum())),
        explained=signed(found.value - found.baseline),
        error=power(found.completeness_error),
    )
    table = attributed_table(found, found.value, top, texts)
    return el("p", of, class_="tl-of"), table, note(sentence)


def span_why_html(
    found: Mapping[str, LabelAttribution],
    specs: Mapping[str, ModelSpec],
    word: int,
    texts: Mapping[str, str],
) -> Markup:
    """Draw a column per model: the words' parts in the log-odds of a label at one word."""
    top = largest_part([(each, each.value) for each in found.values()])
    columns = [
        el(
            "section",
            el("header", el("h3", model_name(specs[key].key, specs[key].label))),
            *_why(each, top, texts, texts["odds_at"].format(label=each.label, at=each.words[word])),
            class_="ts-column te-why",
            data_model=specs[key].key,
        )
        for key, each in found.items()
    ]
    return el("div", *columns, class_="columns ts")


def span_why_records(
    found: Mapping[str, LabelAttribution],
    specs: Mapping[str, ModelSpec],
    word: int,
    text: str,
) -> Records:
    """Return a row for each model and word: both attributions of the label's log-odds."""
    columns = (
        *("model", "label", "attributed", "baseline"),
        *("word", "integrated_gradients", "leave_one_out"),
    )
    rows = [
        [specs[key].label, each.label, each.value, each.baseline, *values]
        for key, each in found.items()
        for values in zip(each.words, each.integrated_gradients, each.leave_one_out, strict=True)
    ]
    heads = {
        specs[key].label: [list(head.labels), each.label]
        for key, each in found.items()
        if (head := specs[key].task_head)
    }
    return Records(columns, rows, {"text": text}, {"TEXT": text, "AT": word, "HEADS": heads})


def _bar(values: LabelValues, place: int) -> Markup:
    """Draw a label's probability as a bar; a score is a number only."""
    value = float(values.values[place])
    shown = signed(value) if values.problem == SCORE else probability(value)
    track = el("i", style=f"width:{100 * value:.2f}%") if values.problem != SCORE else None
    class_ = "tl-track tl-each" if values.problem != ONE_LABEL else "tl-track"
    return el(
        "li",
        el("span", values.labels[place], class_="tl-label", dir="auto"),
        el("span", track, class_=class_, aria_hidden="true") if track is not None else None,
        el("span", shown, class_="tl-value"),
    )


def word_sentiment_html(
    by_model: Mapping[str, WordSentiment], specs: Mapping[str, ModelSpec], texts: Mapping[str, str]
) -> Markup:
    """Draw a column per model: its probability, the baseline, every word, and the sum."""
    top = largest_part([(each, each.difference) for each in by_model.values()])
    columns = [
        _sentiment_column(specs[key], sentiment, top, texts) for key, sentiment in by_model.items()
    ]
    return el("div", *columns, class_="columns ts")


def word_sentiment_records(
    by_model: Mapping[str, WordSentiment],
    specs: Mapping[str, ModelSpec],
    text: str,
    adapters: Mapping[str, tuple[str, str]],
) -> Records:
    """Return both attributions of every word, the text's probability and both ends of the path.

    ``adapters`` holds path and checksum of each model's adapter, by the model's label.
    """
    columns = (
        *("model", "positive", "baseline", "difference"),
        *("word", "integrated_gradients", "leave_one_out"),
    )
    rows = [
        [specs[key].label, sentiment.positive, sentiment.baseline, sentiment.difference, *values]
        for key, sentiment in by_model.items()
        for values in zip(
            sentiment.words, sentiment.integrated_gradients, sentiment.leave_one_out, strict=True
        )
    ]
    constants = {"TEXT": text, "ADAPTERS": {name: path for name, (path, _) in adapters.items()}}
    return Records(columns, rows, {"text": text, "adapters": adapter_lines(adapters)}, constants)


def _sentiment_column(
    spec: ModelSpec, sentiment: WordSentiment, top: float, texts: Mapping[str, str]
) -> Markup:
    label, share = sentiment.verdict
    sentence = texts["complete"].format(
        sum=signed(float(sentiment.integrated_gradients.sum())),
        explained=signed(sentiment.difference - sentiment.baseline),
        error=power(sentiment.completeness_error),
    )
    return el(
        "section",
        el(
            "header",
            el("h3", model_name(spec.key, spec.label)),
            el("p", el("strong", texts[label]), f" {share:.3f}"),
        ),
        attributed_table(sentiment, sentiment.difference, top, texts),
        note(sentence),
        class_="ts-column",
        data_model=spec.key,
    )


Attributed = WordSentiment | LabelAttribution
"""Words with two attributions of one number."""


def largest_part(results: Sequence[tuple[Attributed, float]]) -> float:
    """Return the largest part of all results and of their totals, at which a bar is full."""
    values = [
        value
        for each, total in results
        for value in (*each.integrated_gradients, *each.leave_one_out, each.baseline, total)
    ]
    return max([1e-9, *(abs(float(value)) for value in values)])


def attributed_table(
    found: Attributed, total: float, top: float, texts: Mapping[str, str]
) -> Markup:
    """Draw the baseline, both attributions of every word, and their sum."""
    head = [el("th", texts[name], scope="col") for name in ("word", "ig", "loo")]
    rows = [
        el("tr", el("th", word, scope="row"), _cell(float(ig), top), _cell(float(loo), top))
        for word, ig, loo in zip(
            found.words, found.integrated_gradients, found.leave_one_out, strict=True
        )
    ]
    first = [texts["baseline"], _cell(found.baseline, top), el("td")]
    last = [texts["total"], _cell(total, top), el("td")]
    return el(
        "table",
        el("thead", el("tr", *head)),
        el("tbody", _end(first, "ts-base"), *rows),
        el("tfoot", _end(last, "ts-total")),
    )


def _end(row: Sequence[str | Markup], kind: str) -> Markup:
    """Build the first or last row of a table, which is not a word's."""
    title, *cells = row
    return el("tr", el("th", title, scope="row"), *cells, class_=kind)


def _cell(value: float, top: float) -> Markup:
    """Build a cell with a bar from the middle, and the number with its sign."""
    side = "ts-right" if value >= 0 else "ts-left"
    bar = el("i", class_=side, style=f"width:{50 * abs(value) / top:.2f}%")
    return el("td", el("span", bar, class_="ts-track", aria_hidden="true"), signed(value))
