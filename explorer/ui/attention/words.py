"""The sentences of the attention tab."""

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.attention.heads import BROAD_SHARE, KINDS, PLACE_SHARE, HeadStatistics
from explorer.views.glossary import places
from explorer.views.markup import Markup, explained, finding, join, listed, model_name

LABEL = "Attention"
QUESTION = "Where does every head look, and who looks alike?"

_SHARE = f"{PLACE_SHARE:.0%}"
KIND_LABELS = {
    "previous": "previous word",
    "next": "next word",
    "self": "itself",
    "cls": "[CLS]",
    "sep": "[SEP]",
    "broad": "broad",
    "mixed": "mixed",
}
KIND_RULES = {
    "previous": f"At least {_SHARE} of a word's attention goes to the word before it.",
    "next": f"At least {_SHARE} of a word's attention goes to the word after it.",
    "self": f"At least {_SHARE} of a word's attention stays on the word itself.",
    "cls": f"At least {_SHARE} of a word's attention goes to [CLS].",
    "sep": f"At least {_SHARE} of a word's attention goes to [SEP].",
    "broad": f"No such place, and the entropy is at least {BROAD_SHARE:.0%} of the most possible.",
    "mixed": "None of the others.",
}
CANVAS = {
    "order": "Order",
    "orders": {
        "place": "layer and head",
        "entropy": "sharpest first",
        "distance": "farthest first",
        "kind": "kind",
        "alike": "like the chosen head",
    },
    "show": "Show",
    "kinds": KIND_LABELS,
    "rules": KIND_RULES,
    "terms": places("entropy", "nats", "JS", "layer.head"),
    "hint": "Each tile is one head, named layer.head: rows are the words that look, columns the "
    "words looked at. Point at a tile to preview it, click to keep it, use the arrow keys to walk.",
    "rows": "A layer of DistilBERT stands beside the BERT layer it was copied from.",
    "pooled": "The tiles show blocks of {n} words by their largest value; the chosen head, all.",
    "words": "Point at a word: its row and column light up in every head",
    "wall": "Wall of attention heads. Arrow keys walk from head to head, Enter keeps one.",
    "layers": "{layers} layers of {heads} heads",
    "shared": "one layer, {layers} times, {heads} heads",
    "low": "0",
    "high": "1",
    "scale": "share of a word's attention",
    "head": "{model} layer {layer}, head {head}",
    "short": "{model} {layer}.{head}",
    "summary": "{kind}, entropy {entropy} nats, {distance} words away",
    "kind_share": "{kind} {share}",
    "chosen": "Chosen",
    "closest": "JS {js} nats from the chosen head",
    "view": "View",
    "views": {"matrix": "matrix", "lines": "lines", "difference": "difference"},
    "unit": "Between",
    "units": {"words": "words", "pieces": "pieces"},
    "added": "[CLS] and [SEP]",
    "addeds": {"shown": "shown", "hidden": "hidden", "rest": "hidden, rest to 100 %"},
    "others": "Other models",
    "otherses": {"closest": "their most similar head", "same": "the same place"},
    "mass": "Lines until {mass} of each row",
    "copy": "Copy row",
    "copied": "Copied",
    "cell": "{query} looks at {key}: {value}",
    "cell_hint": "A number in a cell is per cent. Point at a cell for its exact value, or walk "
    "with the arrow keys. JS is the Jensen-Shannon divergence between two heads' rows, averaged "
    "over the words of this text: 0 for the same, 0.693 nats at most.",
    "minus": "{a} minus {b}",
    "minus_note": "{a} in its colour where it looks more, {b} where that one does",
    "no_pieces": "Pieces are sent for texts of up to {n} tokens; this one is shown between words.",
    "waiting": "Fetching the exact numbers",
    "lacking": "The exact numbers cannot be had now: the cells are rounded to 1 of 255 steps.",
    "chosen_head": "Chosen head, side by side",
}


def attention_finding(
    statistics: Mapping[str, HeadStatistics], labels: Mapping[str, str]
) -> Markup:
    """How much of the attention rests on the added tokens, and who watches the neighbours."""
    rests, counts = [], []
    neighbours = [KINDS.index("previous"), KINDS.index("next")]
    for key, result in statistics.items():
        name = model_name(key, labels[key])
        rests.append(join(f"{result.shares[..., 3:].sum(-1).mean():.0%} in ", name))
        close = int(np.isin(result.kind, neighbours).sum())
        counts.append(join(f"{close} of {result.kind.size}"))
    return finding(
        "A word spends ",
        listed(rests),
        explained(" of its attention on [CLS] and [SEP]; ", "[CLS]"),
        listed(counts),
        " heads watch a neighbouring word.",
    )


def bad_model(keys: Sequence[str]) -> str:
    """Which models a family has."""
    return f"The model is one of {', '.join(keys[:-1])} and {keys[-1]}."


BAD_HEAD = "{label} has layers 0 to {layers} and heads 0 to {heads}."
