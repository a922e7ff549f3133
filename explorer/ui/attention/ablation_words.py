"""The sentences of the fold on switching heads off."""

from collections.abc import Sequence

from explorer.analysis.attention.ablation import HeadAblation, HeadImportance
from explorer.views.markup import Markup, finding, join, listed, model_name, word

QUESTION = "Which heads can be switched off?"
SWEEP = "Measure every head by itself"
STOP = "Stop"
NO_MASK = "There is no [MASK] in the text: mask a word, and the answer to it can change."
ALL_ON = (
    "All heads are on. Click a head to switch it off; a layer's number switches the whole layer."
)
HOW = (
    "A head that is off adds nothing: its output is set to zero before the layer mixes its heads. "
    "The change is KL(before || after) over the whole vocabulary, in nats; 0 is no change."
)
SWITCHES = {
    "layer": "Layer {layer}: switch all its heads",
    "head": "{model} layer {layer}, head {head}",
    "on": "on",
    "off": "off",
    "alone": "alone it changes the answer by {nats} nats",
    "heads": "head",
    "layers": "layer",
    "count": "{off} of {all} heads off",
    "all_on": "All on",
    "all_off": "All off",
    "strongest": "Off: the {n} that matter most",
    "weakest": "Off: the half that matters least",
    "hint": "Arrow keys walk, Space switches.",
    "scale": "A stronger colour: the answer changes more without it, {low} to {high} nats.",
    "grid": "Heads of {model}, rows are layers",
}
CHANGES = {
    "gap": "Gap {i} of {n}",
    "change": "changed by {nats} nats",
    "values": "{before} → {after}",
    "scale": "Outlined: with all heads. Filled: with heads off. Full bar: {top}.",
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
        move = f" goes from {first.before:.3f} to {first.after:.3f}"
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
        name = model_name(result.model, result.label)
        parts.append(join(name, f" layer {layer + 1}, head {head + 1} ({nats:.3f} nats)"))
    text = "The head that matters most here: "
    return finding(text, listed(parts), ".", f" {waiting}" if waiting else "")


def progress(label: str, layer: int, n_layers: int) -> str:
    """How far the sweep is."""
    return f"Measuring {label}, layer {layer} of {n_layers}."


STOPPED = "Stopped; what was measured so far stays."


def _heads(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"
