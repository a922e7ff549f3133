"""Any result in a notebook: its rows as HTML for light and dark pages, and as a Plotly figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from explorer.analysis.records import Records
from explorer.models.specs import label_of
from explorer.views.chart import categories
from explorer.views.markup import Markup, el, join
from explorer.views.theme import COLOURS, PAGES, Colour, chart_template, colours_of, faint

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_ROWS = 12
"""Rows of a column that are shown."""
BEFORE, ADDED = "before any word: all [MASK]", "the words add"
"""Names of the two parts of an attributed value."""
LONGEST = 60
"""Characters of a cell that are shown."""
STYLE = (
    ".bfx{display:flex;flex-wrap:wrap;gap:1.5rem;font:13px system-ui,sans-serif;text-align:left}"
    ".bfx h4{margin:0 0 .3rem;color:var(--ink)}.bfx table{border-collapse:collapse}"
    ".bfx td,.bfx th{padding:.1rem .5rem .1rem 0;text-align:left;background:none}"
    ".bfx td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".bfx i{display:inline-block;height:.6em;background:var(--fill);border-radius:2px}"
    ".bfx p{max-width:46rem;line-height:1.9;margin:.2rem 0}.bfx p span{padding:.15em .1em}"
)
DARK = (
    '[data-jp-theme-light="false"] .bfx',
    ".vscode-dark .bfx",
    "html[theme=dark] .bfx",
    ".dark .bfx",
)
"""Selectors of a dark notebook: Jupyter, Visual Studio Code, Colab, and the page itself."""
LIGHT = ('[data-jp-theme-light="true"] .bfx', ".vscode-light .bfx", "html[theme=light] .bfx")


@dataclass(frozen=True, slots=True)
class Sketch:
    """Roles of a result's columns in its figure."""

    mark: str
    """``bars``, ``lines`` or ``heatmap``."""
    across: str
    """Column of the horizontal axis."""
    value: str
    """Column of the length, height or shade."""
    down: str = ""
    """Column of a heatmap's vertical axis."""
    panels: str = "model"
    """Columns whose values tell the panels or lines apart, separated by spaces; the first tells the
    colour."""


def sketch(records: Records, how: Sketch, columns: Sequence[str] = ()) -> "go.Figure":
    """Draw the rows; each panel of a heatmap, and each line or group of bars, is one model's.

    The models' places among a family's columns give the colours.
    """
    places = {name: records.columns.index(name) for name in records.columns}
    panels: dict[tuple[Any, ...], list[Sequence[Any]]] = {}
    for row in records.rows:
        panels.setdefault(tuple(row[places[name]] for name in how.panels.split()), []).append(row)
    values = {
        panel: [
            [_number(row[places[name]]) for row in part]
            for name in (how.across, how.down, how.value)
            if name
        ]
        for panel, part in panels.items()
    }
    figure = (
        _heatmaps(values, how)
        if how.mark == "heatmap"
        else _curves(values, how, colours_of(columns))
    )
    page = PAGES["light"]
    return figure.update_layout(
        template=chart_template("light"), paper_bgcolor=page.paper, plot_bgcolor=page.paper
    )


def _number(value: Any) -> Any:  # noqa: ANN401 - a cell of a row
    """Return a truth value as 0 or 1: Plotly takes it for a category."""
    return int(value) if isinstance(value, bool) else value


def _title(panel: tuple[Any, ...]) -> str:
    return " ".join([label_of(str(panel[0])), *map(str, panel[1:])])


def _curves(
    values: dict[tuple[Any, ...], list[list[Any]]], how: Sketch, colours: Mapping[Any, Colour]
) -> "go.Figure":
    import plotly.graph_objects as go

    figure = go.Figure(layout={"xaxis_title": how.across, "yaxis_title": how.value})
    for panel, (x, y) in values.items():
        colour = colours[panel[0]].fill if panel[0] in colours else None
        if how.mark == "bars":
            trace = go.Bar(x=categories(x), y=y, name=_title(panel), marker_color=colour)
        else:
            trace = go.Scatter(x=x, y=y, name=_title(panel), line_color=colour, mode="lines")
        figure.add_trace(trace)
    return figure


def _heatmaps(values: dict[tuple[Any, ...], list[list[Any]]], how: Sketch) -> "go.Figure":
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    titles = [_title(panel) for panel in values]
    figure = make_subplots(1, max(1, len(values)), subplot_titles=titles or None)
    for column, (x, y, z) in enumerate(values.values(), 1):
        figure.add_trace(go.Heatmap(x=x, y=y, z=z, coloraxis="coloraxis"), row=1, col=column)
    figure.update_xaxes(title_text=how.across)
    figure.update_yaxes(title_text=how.down, autorange="reversed", col=1)
    return figure.update_layout(coloraxis={"colorbar_title": how.value, "colorscale": "Blues"})


def notebook_html(records: Records, bar: str = "", columns: Sequence[str] = ()) -> Markup:
    """Draw a column for each value of the first field, which is a model where there are several.

    Args:
        records: Rows of the result.
        bar: Field whose values from 0 to 1 are drawn as bars too; empty for none.
        columns: The family's columns in their order, which gives the colours.
    """
    groups: dict[Any, list[Sequence[Any]]] = {}
    for row in records.rows:
        groups.setdefault(row[0], []).append(row[1:])
    colours = colours_of(columns)
    return framed(
        colours,
        *(
            section(name, colours, _table(records.columns[1:], part, bar))
            for name, part in groups.items()
        ),
    )


def framed(colours: Mapping[str, Colour], *sections: Markup) -> Markup:
    """Put sections side by side, with the style sheet that they need."""
    return el("div", el("style", Markup(STYLE + _inks(colours))), *sections, class_="bfx")


def section(model: object, colours: Mapping[str, Colour], *parts: Markup) -> Markup:
    """Build one model's section: its name in its colour above its parts."""
    model = str(model)
    fill = colours[model].fill if model in colours else "#7b8496"
    style = f"--fill:{fill};--ink:var(--ink-{model},currentColor)"
    return el("section", el("h4", model), *parts, style=style)


def coloured_words(words: Sequence[str], values: Sequence[float]) -> Markup:
    """Draw a text whose words are blue where their value is positive, and orange where negative."""
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0) or 1.0
    spans = []
    for word, value in zip(words, values, strict=True):
        share = 0.0 if not isfinite(value) else min(1.0, abs(value) / largest)
        colour = faint(COLOURS["bert" if value >= 0 else "distilbert"].fill, round(0.7 * share, 3))
        spans += [el("span", word, style=f"background:{colour}", title=f"{value:+.3f}"), " "]
    return el("p", *spans)


def _inks(colours: Mapping[str, Colour]) -> str:
    """Return the rules of the models' colours, for a light and for a dark notebook."""
    light = "".join(f"--ink-{key}:{colour.ink};" for key, colour in colours.items())
    dark = "".join(f"--ink-{key}:{colour.ink_dark};" for key, colour in colours.items())
    system = f".bfx{{{light}}}@media(prefers-color-scheme:dark){{.bfx{{{dark}}}}}"
    return f"{system}{','.join(LIGHT)}{{{light}}}{','.join(DARK)}{{{dark}}}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]], bar: str) -> Markup:
    head = el("tr", *(el("th", name) for name in columns))
    place = columns.index(bar) if bar in columns else -1
    body = [el("tr", *(_cell(cell) for cell in row), _bar(row, place)) for row in rows[:MAX_ROWS]]
    hidden = len(rows) - MAX_ROWS
    more = el("div", f"{hidden:,} more in to_frame()") if hidden > 0 else None
    return join(el("table", head, *body), more)


def _bar(row: Sequence[Any], place: int) -> Markup | None:
    if place < 0 or not isinstance(row[place], float):
        return None
    return el("td", el("i", style=f"width:{max(0.0, min(1.0, row[place])) * 6:.2f}em"))


def _cell(cell: Any) -> Markup:  # noqa: ANN401 - any value of a row
    if isinstance(cell, float):
        return el("td", f"{cell:.4g}", class_="n")
    text = "" if cell is None else str(cell)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return el("td", text, class_="n" if isinstance(cell, int) else None)


Words = Mapping[str, tuple[Sequence[str], Sequence[float], float]]
"""By model the words of a text, their values, and the value before any word."""


def attributed_html(models: Words, columns: Sequence[str] = ()) -> Markup:
    """Draw each model's text with its words coloured by their values, below what they add to.

    Two bars on one scale for all models: the value before any word, and what the words add to it.
    """
    colours = colours_of(columns)
    parts = {key: (before, float(sum(values))) for key, (_, values, before) in models.items()}
    largest = max((abs(value) for pair in parts.values() for value in pair), default=0.0) or 1.0
    return framed(
        colours,
        *(
            section(model, colours, _two_bars(parts[model], largest), coloured_words(words, values))
            for model, (words, values, _) in models.items()
        ),
    )


def _two_bars(values: tuple[float, float], largest: float) -> Markup:
    """Build a row each for the value before any word and for what the words add, with its bar."""
    rows = [
        el(
            "tr",
            el("th", name),
            el("td", f"{value:+.3f}", class_="n"),
            el("td", el("i", style=f"width:{6 * abs(value) / largest:.2f}em;background:{colour}")),
        )
        for name, value in zip((BEFORE, ADDED), values, strict=True)
        for colour in [COLOURS["bert" if value >= 0 else "distilbert"].fill]
    ]
    return el("table", *rows)
