"""The sentences of the attention tab."""

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.attention.heads import BROAD_SHARE, KINDS, PLACE_SHARE, HeadStatistics
from explorer.analysis.attention.kept import KEPT_JS, KeptHeads
from explorer.analysis.digits import counted, none_or_all, repeated
from explorer.models.choice.family import teacher_of
from explorer.models.specs import Architecture, ModelSpec
from explorer.views.glossary import places
from explorer.views.markup import (
    Markup,
    el,
    explained,
    finding,
    join,
    listed,
    model_name,
    table,
)

LABEL = "Attention"
QUESTION = "Where does every head attend, and which heads are alike?"

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
    "self": f"At least {_SHARE} of a word's attention goes to the word itself.",
    "cls": f"At least {_SHARE} of a word's attention goes to [CLS].",
    "sep": f"At least {_SHARE} of a word's attention goes to [SEP].",
    "broad": f"None of these, and the entropy is at least {BROAD_SHARE:.0%} of its maximum.",
    "mixed": "None of the above.",
}
ZOOM = {"in": "Enlarge (+)", "out": "Reduce (−)", "all": "Show the whole matrix (0)"}
CANVAS = {
    "order": "Sort by",
    "orders": {
        "place": "layer and head",
        "entropy": "lowest entropy first",
        "distance": "longest range first",
        "kind": "kind",
        "alike": "similar to the chosen head",
    },
    "show": "Heads by type: show",
    "kinds": KIND_LABELS,
    "rules": KIND_RULES,
    "terms": places("entropy", "nats", "JS", "layer.head"),
    "hint": "Each tile is one head, named layer.head: rows are queries, columns the words they "
    "attend to.\nPoint at a tile to preview it, click to keep it, move with the arrow keys.",
    "pooled": "Tiles show the maximum over blocks of {n} words; the chosen head shows every word.",
    "words": "Point at a word to highlight its row and column in every head",
    "wall": "Grid of attention heads. Arrow keys move from head to head, Enter keeps one.",
    "low": "0",
    "high": "1",
    "scale": "attention weight",
    "head": "{model} layer {layer}, head {head}",
    "short": "{model} {layer}.{head}",
    "summary": "{kind}, entropy {entropy} nats, mean distance {distance} words",
    "kind_share": "{kind} {share}",
    "chosen": "Chosen",
    "closest": "JS {js} nats from the chosen head",
    "view": "View",
    "views": {"matrix": "matrix", "lines": "lines", "difference": "difference"},
    "unit": "Between",
    "units": {"words": "words", "pieces": "pieces"},
    "added": "[CLS] and [SEP]",
    "addeds": {"shown": "shown", "hidden": "hidden", "rest": "hidden, rows renormalised"},
    "others": "Other models",
    "otherses": {"closest": "their most similar head", "same": "the same position"},
    "mass": "Lines that cover {mass} of each row",
    "copy": "Copy row",
    "copied": "Copied",
    "cell": "{query} attends to {key}: {value}",
    "cell_hint": "Cells are in percent; point at one for its exact value, or move with the arrow "
    "keys.\nOf a long text, Ctrl and the wheel, two fingers, or + and − enlarge a part; drag to "
    "move, double-click or press 0 to show all. JS is the Jensen-Shannon divergence between two "
    "heads' rows, averaged over the words of this text: 0 for identical heads, at most 0.693 nats.",
    "line_hint": "The thicker a line, the more the word on its left attends to the word on its "
    "right.\nPoint at a word for the numbers of its lines, or move with the arrow keys. JS is the "
    "Jensen-Shannon divergence between two heads' rows, averaged over the words of this text.",
    "zoom": ZOOM,
    "minus": "{a} minus {b}",
    "minus_note": "each cell has the colour of the model that attends more, {a} or {b}",
    "no_pieces": "Word pieces are available for texts of up to {n} tokens; this one is shown by "
    "words.",
    "waiting": "Loading the exact values",
    "lacking": "Exact values are not available now: cells are rounded to 1 of 255 steps.",
    "chosen_head": "Chosen head, side by side",
}


KEPT_LIST = "The {n} heads, each with its nearest"
KEPT_CAPTION = "layer.head; Jensen-Shannon divergence between their rows, averaged over {over}"
FIRST_HEAD = (
    "Chosen at first: the {label} head that attends most to a word further off.\n"
    "It is looked for from the mask if there is one; where no word is further off, a neighbour "
    "counts."
)
BESIDE = "A layer of {student} stands beside the {teacher} layer that it was initialised from."
BY_DEPTH = "Rows are aligned by relative depth."


def wall_texts(specs: Sequence[ModelSpec]) -> Mapping[str, object]:
    """The wall's sentences, with how the rows of these models are aligned."""
    copied = [
        BESIDE.format(student=spec.label, teacher=teacher.label)
        for spec in specs
        if (teacher := teacher_of(spec)) in specs and teacher
    ]
    shapes = {spec.key: _shape(spec.architecture) for spec in specs}
    return {**CANVAS, "rows": " ".join(copied) or BY_DEPTH, "shapes": shapes}


def _shape(shape: Architecture) -> str:
    """Say what a model is made of: its layers, how often they run, its heads."""
    heads = counted(shape.n_heads, "head")
    if shape.shares_layers:
        return f"one layer, applied {repeated(shape.n_layers)}, {heads}"
    return f"{counted(shape.n_layers, 'layer')} of {heads}"


def attention_sentences(
    statistics: Mapping[str, HeadStatistics],
    labels: Mapping[str, str],
    n_words: int,
) -> tuple[Markup, Markup | str]:
    """Say how much attention goes to the added tokens, and how many heads attend to neighbours."""
    rests: list[Markup] = []
    counts: list[Markup] = []
    neighbours = [KINDS.index("previous"), KINDS.index("next")]
    for key, result in statistics.items():
        name = model_name(key, labels[key])
        share = f"{result.shares[..., 3:].sum(-1).mean():.0%}"
        rests.append(join(share, " in " if rests else " of attention in ", name))
        close = int(np.isin(result.kind, neighbours).sum())
        counts.append(join(f"{close} of {result.kind.size}"))
    near = join("Heads that attend mainly to a neighbouring word: ", listed(counts), ".")
    return join("[CLS] and [SEP] receive ", listed(rests), "."), near if n_words > 1 else ""


def kept_finding(kept: KeptHeads, teacher: ModelSpec, student: ModelSpec) -> Markup:
    """Say how many heads have a near one in the student, and how many chance would give."""
    names = [model_name(spec.key, spec.label) for spec in (student, teacher)]
    n, same = len(kept.js), int(kept.is_kept.sum())
    return finding(
        *(
            names[0],
            f" has a match for {none_or_all(same, n)} of ",
            names[1],
            f"'s {counted(n, 'head')}",
        ),
        explained(f" (JS of the nearest head at most {KEPT_JS:g} nats", "JS", "nats"),
        f"); random pairing would give {kept.by_chance:.1f}.",
    )


def kept_list(kept: KeptHeads, teacher: ModelSpec, student: ModelSpec) -> Markup:
    """List every head of the teacher with its nearest head of the student, opened by a click."""
    rows: list[list[str | Markup]] = [
        [
            _place(head, kept.n_heads[0]),
            _place(int(near), kept.n_heads[1]),
            f"{kept.js[head, near]:.3f}",
            "yes" if kept.is_kept[head] else "no",
        ]
        for head, near in enumerate(kept.nearest)
    ]
    head = [f"{teacher.label} head", f"nearest in {student.label}", "JS, nats", "kept"]
    few, all_words = kept.n_words
    of = f"{few} evenly spaced of {counted(all_words, 'word')}"
    over = counted(all_words, "word") if few == all_words else of
    return el(
        "details",
        el("summary", KEPT_LIST.format(n=len(rows))),
        table(head, rows, KEPT_CAPTION.format(over=over)),
        class_="lines",
    )


def _place(head: int, n_heads: int) -> str:
    layer, place = divmod(head, n_heads)
    return f"{layer + 1}.{place + 1}"


BAD_HEAD = "{label} has layers 0 to {layers} and heads 0 to {heads}."
