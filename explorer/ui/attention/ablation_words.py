"""The sentences of the fold on switching heads off."""

from collections.abc import Sequence

from explorer.analysis.attention.ablation import HeadAblation, HeadImportance
from explorer.analysis.digits import side_by_side
from explorer.views.markup import Markup, finding, join, listed, model_name, word

QUESTION = "Head ablation: switch heads off and see what changes"
SWEEP = "Ablate every head on its own"
STOP = "Stop"
NO_MASK = "The text has no [MASK]: mask a word to see how its prediction changes."
ALL_ON = (
    "All heads are on. Click a head to switch it off, or a layer's number to switch the whole "
    "layer."
)
HOW = "Changes are KL(before ‖ after) over the whole vocabulary, in nats; 0 is no change."
OFF = "A head that is off has its output set to zero before the layer's output projection."
SWITCHES = {
    "layer": "Layer {layer}: switch all its heads",
    "head": "{model} layer {layer}, head {head}",
    "on": "on",
    "off": "off",
    "alone": "switched off alone, it changes the prediction by {nats} nats",
    "heads": "head",
    "layers": "layer",
    "count": "{off} of {all} heads off",
    "all_on": "All on",
    "all_off": "All off",
    "strongest": "Switch off the {n} most important",
    "weakest": "Switch off the less important half",
    "hint": "Arrow keys move, Space switches.",
    "scale": "Stronger colour = larger change without the head, {low} to {high} nats.",
    "grid": "Heads of {model}, rows are layers",
}
CHANGES = {
    "gap": "Mask {i} of {n}",
    "change": "changed by {nats} nats",
    "values": "{before} → {after}",
    "scale": "Outlined: all heads on. Filled: heads off. Bars end at {top}.",
    "off": "{n} heads off",
    "off_one": "1 head off",
}


def change_finding(results: Sequence[HeadAblation]) -> Markup:
    """What happens to each model's own first answer."""
    parts = []
    for result in results:
        if not result.n_off:
            continue
        first = max(result.words[0], key=lambda changed: changed.before)
        name = model_name(result.model, result.label)
        where = " at the first mask" if len(result.words) > 1 else ""
        before, after = side_by_side([first.before, first.after])
        move = f"{where} goes from {before} to {after}"
        parts.append(join("in ", name, " ", word(first.word), move))
    if not parts:
        return finding(ALL_ON)
    heads = sum(result.n_off for result in results)
    return finding(f"With {_heads(heads)} off, ", listed(parts), ".")


def sweep_finding(importance: Sequence[HeadImportance], waiting: str) -> Markup:
    """The head that matters most in each model, as far as they are measured."""
    if not importance:
        return finding(waiting)
    parts = []
    for result in importance:
        layer, head, nats = result.strongest(1)[0]
        name, amount = model_name(result.model, result.label), f"{nats:.3f}"
        which = f" layer {layer + 1}, head {head + 1} ({amount} nats)"
        parts.append(join(name, " none (under 0.0005 nats)" if float(amount) == 0 else which))
    text = "Most important head: "
    return finding(text, listed(parts), ".", f" {waiting}" if waiting else "")


def progress(label: str, layer: int, n_layers: int) -> str:
    """How far the sweep is."""
    return f"Measuring {label}, layer {layer} of {n_layers}."


STOPPED = "Stopped; what was measured so far is kept."


def _heads(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"
