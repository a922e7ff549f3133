"""The models' colours and the Plotly template of the light and the dark theme."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.models.choice.family import page_columns

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, slots=True)
class Colour:
    """Three shades of a model's colour."""

    fill: str
    """For bars and lines: contrast of at least 3:1 on both backgrounds."""
    ink: str
    """For text on the light page: contrast of at least 4.5:1."""
    ink_dark: str
    """For text on the dark page: contrast of at least 4.5:1."""


COLOURS: dict[str, Colour] = {
    "bert": Colour("#2f7fd0", "#1f5fa8", "#7db8f5"),
    "distilbert": Colour("#d9691e", "#a84808", "#f7a668"),
    "albert": Colour("#0f9b76", "#0b6b53", "#58cfae"),
    "roberta": Colour("#9161c6", "#6b3fa0", "#c9a6f0"),
}
"""Colour-blind safe colours by architecture; in CSS ``--column-bert``, ``--column-bert-fill``."""


def colours_of(columns: Iterable[str]) -> dict[str, Colour]:
    """Return the colour of each column, and those of the architectures.

    A column that is named after an architecture has its colour. The others have, in their order,
    the first of the four that no column has.
    """
    named = list(dict.fromkeys(columns))
    others = [column for column in named if column not in COLOURS]
    free = [colour for key, colour in COLOURS.items() if key not in named]
    return {**COLOURS, **dict(zip(others, free, strict=False))}


def page_colours() -> dict[str, Colour]:
    """Return the colour of each of the page's columns, and those of the architectures."""
    return colours_of(page_columns())


def colour_of(column: str) -> Colour:
    """Return the colour of one of the page's columns."""
    return page_colours()[column]


def colour_rules() -> str:
    """Return CSS rules with two variables per column, and ``--model`` for each ``data-model``."""
    colours = {f"--column-{key}": c for key, c in page_colours().items()}
    light = "".join(f"{name}:{c.ink};{name}-fill:{c.fill};" for name, c in colours.items())
    dark = "".join(f"{name}:{colour.ink_dark};" for name, colour in colours.items())
    chosen = "".join(
        f'[data-model="{name.removeprefix("--column-")}"]'
        f"{{--model:var({name});--model-fill:var({name}-fill);}}"
        for name in colours
    )
    return f":root,.gradio-container{{{light}}}.dark,.dark .gradio-container{{{dark}}}{chosen}"


@dataclass(frozen=True, slots=True)
class PageColours:
    """Colours of the light or dark page, equal to those in ``assets/css/page.css``."""

    paper: str
    ink: str
    ink_soft: str
    line: str
    accent: str


PAGES: dict[str, PageColours] = {
    "light": PageColours("#faf9f6", "#1c2230", "#565f73", "#dedbd3", "#26365c"),
    "dark": PageColours("#14171f", "#e9e7e1", "#a9b0c0", "#333a4b", "#c9d6f5"),
}
SERIF = '"Iowan Old Style", Charter, "Source Serif 4", Georgia, "DejaVu Serif", serif'
SANS = "system-ui, sans-serif"
PARTS: dict[str, str] = {"attention": "#c2507f", "ffn": "#d99a2b"}
"""Colours of a layer's parts in charts, equal to those in ``assets/css/parameters.css``."""
LOSSES: dict[str, str] = {"ce": "#6a5acd", "mlm": "#b07d12", "cos": "#7b8496"}
"""Colours of the parts of the loss, equal to those in ``assets/css/distillation.css``."""
DASHES = ("solid", "dash", "dot", "dashdot")
"""Line styles for several lines of one model, distinguishable in print."""


def chart_template(theme: str) -> "go.layout.Template":
    """Return the Plotly template of the light or the dark page: axes, fonts and colours.

    A trace without a colour is drawn in the page's text colour.
    """
    import plotly.graph_objects as go

    page = PAGES[theme]
    axis = {
        "gridcolor": page.line,
        "linecolor": page.line,
        "zerolinecolor": page.line,
        "zerolinewidth": 1,
        "ticks": "",
        "automargin": True,
        "title": {"standoff": 8, "font": {"size": 13}},
        "exponentformat": "power",
        "minexponent": 5,
    }
    solid = {"gridcolor": page.line, "zerolinecolor": page.line, "showbackground": False}
    layout = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": SANS, "size": 12, "color": page.ink_soft},
        "title": {
            "font": {"family": SERIF, "size": 16, "color": page.ink},
            "x": 0,
            "xref": "container",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 2},
            "automargin": True,
        },
        "colorway": [page.ink, page.ink_soft],
        "colorscale": {"sequential": [[0, page.paper], [1, page.accent]]},
        "hoverlabel": {"bgcolor": page.paper, "font": {"family": SANS, "color": page.ink}},
        "hovermode": "closest",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font_size": 13},
        "margin": {"l": 8, "r": 16, "t": 36, "b": 8},
        "xaxis": axis,
        "yaxis": axis,
        "scene": dict.fromkeys(("xaxis", "yaxis", "zaxis"), solid),
        "shapedefaults": {"line": {"color": page.ink_soft}},
        "separators": ".,",
    }
    # Plotly takes a see-through box for one on white, and writes in it for white.
    ink = {"color": page.ink}
    data = {"heatmap": [{"textfont": ink}], "treemap": [{"insidetextfont": ink}]}
    return go.layout.Template(layout=layout, data=data)


def faint(colour: str, alpha: float) -> str:
    """Return a hex colour with an alpha value, as ``rgba(47,127,208,0.2)``."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
