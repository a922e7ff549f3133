"""Spans that token classifiers find in a text: a column per model, the spans marked in the text."""

from collections.abc import Iterator, Mapping

from explorer.analysis.digits import probability
from explorer.analysis.records import Records
from explorer.analysis.tasks.entities import Entity, WordTags
from explorer.models.specs import ModelSpec
from explorer.views.markup import Markup, el, model_name, note


def entities_html(
    found: Mapping[str, WordTags],
    specs: Mapping[str, ModelSpec],
    text: str,
    texts: Mapping[str, str],
) -> Markup:
    """Draw a column per model: the text with its spans, their labels and mean probabilities."""
    columns = [_column(specs[key], tags, text, texts) for key, tags in found.items()]
    return el("div", *columns, class_="columns ts")


def entities_records(
    found: Mapping[str, WordTags], specs: Mapping[str, ModelSpec], text: str
) -> Records:
    """Return a row for each model and word: its tag, the tag's probability, the span it is in."""
    columns = ("model", "word", "tag", "probability", "span", "label")
    rows = []
    for key, tags in found.items():
        spans = {
            word: (number, entity.label)
            for number, entity in enumerate(tags.entities, 1)
            for word in range(entity.first, entity.last + 1)
        }
        for place, (word, tag) in enumerate(zip(tags.words, tags.tags, strict=True)):
            of_tag = [float(tags.probabilities[place]), *spans.get(place, (None, None))]
            rows.append([specs[key].label, word, tag, *(of_tag if tag else [None] * 3)])
    heads = {
        spec.label: list(spec.task_head.labels)
        for key, spec in specs.items()
        if key in found and spec.task_head
    }
    return Records(columns, rows, {"text": text}, {"TEXT": text, "HEADS": heads})


def _column(spec: ModelSpec, tags: WordTags, text: str, texts: Mapping[str, str]) -> Markup:
    broken = texts["broken"] if any(not entity.is_whole for entity in tags.entities) else ""
    return el(
        "section",
        el("header", el("h3", model_name(spec.key, spec.label))),
        el("p", *_marked(tags, text), class_="te-text", dir="auto"),
        note(broken) if broken else None,
        class_="ts-column te-column",
        data_model=spec.key,
    )


def _marked(tags: WordTags, text: str) -> Iterator[Markup | str]:
    """Yield the text in parts: what is outside the spans, and each span with its label."""
    done = 0
    for entity in tags.entities:
        yield text[done : entity.start]
        yield _span(entity, text)
        done = entity.end
    yield text[done:]


def _span(entity: Entity, text: str) -> Markup:
    class_ = "te-span" if entity.is_whole else "te-span te-broken"
    label = el("small", f"{entity.label} {probability(entity.score)}")
    return el("mark", text[entity.start : entity.end], " ", label, class_=class_)
