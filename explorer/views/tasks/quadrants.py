"""A sentence pair's quadrants as bars, and every head by how much it looks across."""

from collections.abc import Mapping, Sequence

from explorer.analysis.alignment import Alignment
from explorer.analysis.tasks.quadrants import PairQuadrants
from explorer.views.markup import Markup, el, model_name
from explorer.views.numbers import Numbers

STRONGEST = 3


def pair_quadrants_html(results: Sequence[PairQuadrants], texts: Mapping[str, str]) -> Markup:
    """One column a model: two stacked bars, a map of its heads, the heads that cross most."""
    top = max((float(result.crossing.max()) for result in results), default=0.0)
    columns = [_column(result, top, texts) for result in results]
    return el("div", *columns, class_="columns pq")


def pair_quadrants_numbers(results: Sequence[PairQuadrants], alignment: Alignment) -> Numbers:
    """Where every head looks from either sentence, and all heads of a model on average.

    Each three add up to one.
    """
    groups = {result.label: alignment.groups[result.model] for result in results}
    ways = [f"{a}_to_{b}" for a in ("a", "b") for b in ("a", "b", "added")]
    rows = [
        [result.label, layer + 1, head + 1, *mass.ravel()]
        for result in results
        for layer, heads in enumerate(result.mass)
        for head, mass in enumerate(heads)
    ]
    rows += [[result.label, None, None, *result.mean.ravel()] for result in results]
    return Numbers(("model", "layer", "head", *ways), rows, constants={"GROUPS": groups})


def _column(result: PairQuadrants, top: float, texts: Mapping[str, str]) -> Markup:
    return el(
        "section",
        el("h3", model_name(result.model, result.label)),
        *(_stack(result, sentence, texts) for sentence in (0, 1)),
        _map(result, top, texts),
        el("p", texts["strongest"].format(heads=_heads(result)), class_="note"),
        class_="pq-column",
        data_model=result.model,
    )


def _stack(result: PairQuadrants, sentence: int, texts: Mapping[str, str]) -> Markup:
    """Where one sentence looks: to A, to B, to the added tokens; the three make one bar."""
    names = ("to_a", "to_b", "to_added")
    shares = [float(share) for share in result.mean[sentence]]
    parts = [
        el("i", class_=f"pq-{name}", style=f"width:{100 * share:.2f}%")
        for name, share in zip(names, shares, strict=True)
    ]
    values = [
        el("span", f"{texts[name]} {share:.1%}", class_=f"pq-key pq-{name}-key")
        for name, share in zip(names, shares, strict=True)
    ]
    title = texts["from_b" if sentence else "from_a"]
    return el(
        "div",
        el("p", title, class_="pq-title"),
        el("div", *parts, class_="pq-bar", aria_hidden="true"),
        el("p", *values, class_="pq-values"),
        class_="pq-stack",
    )


def _map(result: PairQuadrants, top: float, texts: Mapping[str, str]) -> Markup:
    """Layers by heads, the darker the more a head looks across, on one scale for all models."""
    n_layers, n_heads = result.crossing.shape
    cells = []
    for layer in range(n_layers):
        cells.append(el("span", str(layer + 1), class_="pq-layer"))
        for head in range(n_heads):
            share = float(result.crossing[layer, head])
            title = texts["cell"].format(layer=layer + 1, head=head + 1, share=f"{share:.1%}")
            strength = round(100 * share / top) if top else 0
            cells.append(el("i", title=title, style=f"--share:{strength}"))
    label = texts["map"].format(model=result.label, top=f"{top:.0%}")
    return el(
        "div",
        *cells,
        class_="pq-map",
        role="img",
        aria_label=label,
        style=f"grid-template-columns:24px repeat({n_heads}, minmax(0, 1fr))",
    )


def _heads(result: PairQuadrants) -> str:
    found = result.strongest(STRONGEST)
    return ", ".join(f"{layer + 1}.{head + 1} ({share:.0%})" for layer, head, share in found)
