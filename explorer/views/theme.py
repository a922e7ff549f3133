"""One look for every picture: the models' colours in both themes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colour:
    """One model's colour in its three shades."""

    fill: str
    """Bars and lines: at least 3:1 on both backgrounds."""
    ink: str
    """Its name on the light page: at least 4.5:1."""
    ink_dark: str
    """The same on the dark page."""


COLOURS: dict[str, Colour] = {
    "bert": Colour("#2f7fd0", "#1f5fa8", "#7db8f5"),
    "distilbert": Colour("#d9691e", "#a84808", "#f7a668"),
    "albert": Colour("#0f9b76", "#0b6b53", "#58cfae"),
}
"""By model key, colour-blind safe; the style sheets read them as ``--bert``, ``--bert-fill``."""


def colour_rules() -> str:
    """The colours as style rules: two variables per model, and what ``data-model`` stands for."""
    light = "".join(f"--{key}:{c.ink};--{key}-fill:{c.fill};" for key, c in COLOURS.items())
    dark = "".join(f"--{key}:{colour.ink_dark};" for key, colour in COLOURS.items())
    chosen = "".join(
        f'[data-model="{key}"]{{--model:var(--{key});--model-fill:var(--{key}-fill);}}'
        for key in COLOURS
    )
    return f":root,.gradio-container{{{light}}}.dark,.dark .gradio-container{{{dark}}}{chosen}"
