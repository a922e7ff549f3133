"""One look for every picture: the models' colours."""

MODEL_COLOURS = {"bert": "#2f7fd0", "distilbert": "#d9691e", "albert": "#0f9b76"}
"""Colour-blind safe and at least 3:1 on both backgrounds; text uses the style sheet's shades."""
