"""One look for every picture: model colours, scales and the Plotly layout for both themes."""

from typing import Any

MODEL_COLOURS = {"bert": "#2f7fd0", "distilbert": "#d9691e", "albert": "#0f9b76"}
"""Colour-blind safe and at least 3:1 on both backgrounds; text uses the style sheet's shades."""
NEUTRAL = "#8089a0"


def figure_layout(height: int = 320, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Layout arguments that sit right on light and dark pages without drawing again."""
    axis = {
        "gridcolor": "rgba(128,137,160,.25)",
        "zerolinecolor": "rgba(128,137,160,.45)",
        "automargin": True,
    }
    return {
        "autosize": True,
        "height": height,
        "margin": {"l": 48, "r": 12, "t": 28, "b": 40},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": NEUTRAL, "family": "system-ui, sans-serif", "size": 13},
        "colorway": [*MODEL_COLOURS.values(), NEUTRAL],
        "xaxis": axis,
        "yaxis": axis,
        "legend": {"orientation": "h", "y": 1.12, "x": 0},
        "hoverlabel": {"namelength": -1},
    } | more
