"""Several gaps filled apart and together, three columns side by side."""

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.digits import probability
from explorer.analysis.predictions.joint import Filling, MaskFillings
from explorer.views.markup import Markup, el
from explorer.views.numbers import Numbers


def joint_html(fillings: Sequence[MaskFillings], texts: Mapping[str, str]) -> Markup:
    """Per model the filling of gaps on their own, then the best fillings from left to right."""
    return el("div", *(_column(found, texts) for found in fillings), class_="columns")


def joint_numbers(fillings: Sequence[MaskFillings]) -> Numbers:
    """Every filling of every model, in nats: below a certain size a probability prints as 0."""
    columns = ("model", "filled", "place", "words", "log_joint_nats", "log_independent_nats")
    shares = ("joint_probability", "independent_probability")
    rows = [
        [found.label, how, place, " ".join(one.words), one.joint, one.independent]
        + [float(np.exp(nats)) for nats in (one.joint, one.independent)]
        for found in fillings
        for how, listed in (("alone", [found.alone]), ("left to right", found.together))
        for place, one in enumerate(listed, 1)
    ]
    return Numbers(columns + shares, rows)


def _column(found: MaskFillings, texts: Mapping[str, str]) -> Markup:
    return el(
        "section",
        el("h3", found.label, class_="model-name", data_model=found.model),
        el("h4", texts["alone"]),
        _line(found.alone, found.alone, texts),
        el("h4", texts["together"]),
        el("ol", *(el("li", _line(filling, found.alone, texts)) for filling in found.together)),
        class_="pr-joint",
        data_model=found.model,
    )


def _line(filling: Filling, alone: Filling, texts: Mapping[str, str]) -> Markup:
    """The words, those that differ from the lone answers marked, and both probabilities."""
    words = [
        el("span", word, class_="pr-fill changed" if word != other else "pr-fill")
        for word, other in zip(filling.words, alone.words, strict=True)
    ]
    joint, apart = (probability(float(np.exp(v))) for v in (filling.joint, filling.independent))
    return el(
        "div",
        el("span", *words, class_="pr-fills"),
        el("span", texts["numbers"].format(joint=joint, apart=apart), class_="pr-numbers"),
        class_="pr-line",
    )
