"""The sentences of the fold that holds BertViz."""

from explorer.models.kinds import KINDS
from explorer.views.markup import Markup, finding, join, model_name

QUESTION = "BertViz: how does the standard viewer draw these heads?"
MODEL_LABEL = "Model"
VIEW_LABEL = "View"
VIEWS = [("Head view", "head"), ("Model view", "model"), ("Neuron view", "neuron")]
MODELS = [(kind.label, key) for key, kind in KINDS.items()]
SAID = {
    "head": "all heads of one layer as lines; point at a token to follow it, double-click a "
    "colour to see one head",
    "model": "every head of every layer; click one to enlarge it",
    "neuron": "the query and key of one head; point at a token and press + to see the sum",
}
CREDIT = (
    "BertViz (Vig 2019, Apache-2.0) counts layers and heads from 0 and shows word pieces.\n"
    "It is drawn with D3 and jQuery, all served from here."
)
TOO_LONG = (
    "The text has {n} tokens for {label}; this view draws up to {limit}, beyond which its lines "
    "run together. The grid of heads above shows any length."
)
TITLE = "BertViz {view} of {label}"


def view_finding(model: str, label: str, view: str) -> Markup:
    """What is drawn, and what one can do with it."""
    return finding(join(model_name(model, label), ": ", SAID[view], "."))


def too_long(label: str, n: int, limit: int) -> Markup:
    """A text that the view cannot draw."""
    return finding(TOO_LONG.format(n=n, label=label, limit=limit))


def title(label: str, view: str) -> str:
    """The frame's name for those who hear the page."""
    names = {key: name.lower() for name, key in VIEWS}
    return TITLE.format(view=names[view], label=label)
