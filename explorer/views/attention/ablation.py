"""Heads as switches, drawn by the browser, and what the answer loses as two bars a word."""

from collections.abc import Mapping, Sequence

from explorer.analysis.attention.ablation import ChangedWord, HeadAblation, HeadImportance
from explorer.models.run import Run
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
