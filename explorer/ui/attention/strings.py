"""Sentences and labels of the Attention tab."""

from collections.abc import Mapping, Sequence

import numpy as np

from explorer.analysis.attention import (
    BROAD_SHARE,
    DRAWS,
    KEPT_JS,
    KINDS,
    PLACE_SHARE,
    SPAN,
    HeadAblation,
    HeadImportance,
    HeadStatistics,
    KeptHeads,
    RowShares,
)
from explorer.analysis.digits import (
    counted,
    enumerated,
    none_or_all,
    repeated,
    side_by_side,
)
from explorer.library import refusals
from explorer.models.choice.family import known_columns, member, page_columns, teacher_of
from explorer.models.specs import Architecture, ModelSpec, label_of
from explorer.views.glossary import places
from explorer.views.markup import (
    Markup,
    el,
    explained,
    finding,
    join,
    listed,
    model_name,
    note,
    semicolons,
    table,
    word,
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
        "from": "attention from the chosen word",
        "to": "attention to the chosen word",
    },
    "show": "Heads by type",
    "kinds": KIND_LABELS,
    "rules": KIND_RULES,
    "terms": places("entropy", "nats", "JS"),
    "hint": "A tile is one head: rows attend to columns.\n"
    "Rows are queries, columns the words they attend to. Point at a tile to preview "
    "it, click to keep it, move with the arrow keys.",
    "pooled": "Tiles show the maximum over blocks of {n} words; the chosen head shows every word.",
    "words": "Point at a word to highlight its row and column in every head, click to keep it",
    "from": "{share} of the attention from “{word}” goes to other words",
    "to": "{share} of each other word's attention goes to “{word}”, on average",
    "wall": "Grid of attention heads. Arrow keys move from head to head, Enter keeps one.",
    "low": "0",
    "high": "1",
    "scale": "attention weight",
    "head": "{model} layer {layer}, head {head}",
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
    "not_copied": "Could not be copied",
    "cell": "{query} attends to {key}: {value}",
    "cell_hint": "Cells are in percent.\nPoint at one for its exact value, or move with the arrow "
    "keys. Of a long text, Ctrl and the wheel, two fingers, or + and − enlarge a part; drag to "
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
    "chosen_head": "Chosen head",
}
KEPT_LIST = "The {n} heads, each with its nearest and its near-copy"
KEPT_CAPTION = "layer.head; Jensen-Shannon divergence between their rows, averaged over {over}"
KEPT_RULE = (
    "One to one: each head is used once, in as many pairs of near-copies as possible. Control: "
    "{control}, matched in the same way {draws} times; their mean, and the range of {span:.0%} of "
    "them."
)
SHUFFLED = "{model}'s heads, each with its words in a random order"
UNRELATED = "{n} of {model}'s {heads} at random"
FIRST_HEAD = (
    "How the first head was chosen\n"
    "It is the {label} head that attends most to a word further off, from the mask if there is "
    "one; where no word is further off, a neighbour counts."
)
BESIDE = "A layer of {student} is next to the {teacher} layer that it was initialised from."
BY_DEPTH = "Rows are aligned by relative depth."


def wall_texts(specs: Sequence[ModelSpec]) -> Mapping[str, object]:
    """Return the wall's sentences, with how the rows of these models are aligned."""
    copied = [
        BESIDE.format(student=spec.label, teacher=teacher.label)
        for spec in specs
        if (teacher := member(teacher_of(spec), specs))
    ]
    shapes = {spec.key: _shape(spec.architecture) for spec in specs}
    return {**CANVAS, "rows": " ".join(copied) or BY_DEPTH, "shapes": shapes}


def _shape(shape: Architecture) -> str:
    """Return a model's number of layers and heads, and how often a shared layer runs."""
    heads = counted(shape.n_heads, "head")
    if shape.shares_layers:
        return f"one layer, applied {repeated(shape.n_layers)}, {heads}"
    return f"{counted(shape.n_layers, 'layer')} of {heads}"


def attention_sentences(
    statistics: Mapping[str, HeadStatistics],
    labels: Mapping[str, str],
    n_words: int,
    n_special: int,
) -> tuple[Markup, Markup | str]:
    """Return the share of attention to [CLS] and [SEP], and the count of neighbour heads."""
    even = f"; an even share: {n_special / (n_words + n_special):.0%}."
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
    return join("[CLS] and [SEP] get ", listed(rests), even), near if n_words > 1 else ""


def kept_finding(
    kept: KeptHeads, teacher: ModelSpec, student: ModelSpec, unrelated: ModelSpec | None
) -> Markup:
    """Return how many of a student's heads are near-copies of its teacher's, and of a control's."""
    names = [model_name(spec.key, spec.label) for spec in (student, teacher)]
    n, same = kept.js.shape[1], kept.matched.count
    are = "is a near-copy of a " if same == 1 else "are near-copies of "
    return finding(
        join("Of ", names[0], f"'s {counted(n, 'head')}, {none_or_all(same, n)} "),
        explained(are, "near-copy", "near-copies"),
        names[1],
        explained(" head, one to one" if same == 1 else " heads, one to one", "one to one"),
        explained(f" (JS up to {KEPT_JS:g} nats)", "JS", "nats"),
        _beside_control(kept, unrelated),
        ".",
    )


def _beside_control(kept: KeptHeads, unrelated: ModelSpec | None) -> Markup:
    """Return the control's count, and that the student's is no larger where it is not."""
    matched, n = kept.matched, kept.js.shape[1]
    mean = f"{matched.mean:.0f}"
    limits = f"{matched.low} to {matched.high}" if matched.low < matched.high else ""
    if matched.is_more:
        name = unrelated and model_name(unrelated.key, unrelated.label)
        who = join(f"; of {n} ", name, " heads, ") if name else "; with their words shuffled, "
        return join(who, f"{mean} {'is' if mean == '1' else 'are'}", limits and f" ({limits})")
    than = ": fewer than " if matched.is_fewer else ": no more than "
    amount = f"{mean}, {limits})" if limits else f"{mean})"
    if unrelated is None:
        return join(than, "with their words shuffled (", amount)
    name = model_name(unrelated.key, unrelated.label)
    return join(than, f"of {n} unrelated heads (", name, "'s: ", amount)


def kept_list(
    kept: KeptHeads, teacher: ModelSpec, student: ModelSpec, unrelated: ModelSpec | None
) -> Markup:
    """Return a collapsed table of every teacher head, its nearest head and its near-copy."""
    n, shape = kept.n_heads[1], unrelated and unrelated.architecture
    rows: list[list[str | Markup]] = [
        [
            _place(head, kept.n_heads[0]),
            _place(int(near), n),
            f"{kept.js[head, near]:.3f}",
            _place(int(partner), n) if partner >= 0 else "none",
        ]
        for head, (near, partner) in enumerate(zip(kept.nearest, kept.partner, strict=True))
    ]
    head = [f"{teacher.label} head", f"nearest in {student.label}", "JS, nats", "one to one"]
    few, all_words = kept.n_words
    of = f"{few} evenly spaced of {counted(all_words, 'word')}"
    over = counted(all_words, "word") if few == all_words else of
    control = SHUFFLED.format(model=student.label)
    if unrelated and shape:
        heads = counted(shape.n_layers * shape.n_heads, "head")
        control = UNRELATED.format(n=kept.js.shape[1], model=unrelated.label, heads=heads)
    return el(
        "details",
        el("summary", KEPT_LIST.format(n=len(rows))),
        note(KEPT_RULE.format(control=control, draws=DRAWS, span=SPAN)),
        table(head, rows, explained(KEPT_CAPTION.format(over=over), "layer.head")),
        class_="lines",
    )


def _place(head: int, n_heads: int) -> str:
    layer, place = divmod(head, n_heads)
    return f"{layer + 1}.{place + 1}"


SUMMARY_QUESTION = "Attention summed over all layers: which words count?"
SUMMARY_LABEL = "Method"
SUMMARIES = {
    "mean": "mean",
    "rollout": "rollout",
    "value": "value norms",
    "gradient": "gradient × attention",
}
FORMULA = "Formula"
SUMMARY_FORMULAS = {
    "mean": (
        "mean = (1 / L·H) Σ a(l, h)",
        "The average over all layers and heads. It shows where heads attend, not what they carry.",
    ),
    "rollout": (
        "R = Â(L) · … · Â(2) · Â(1), with Â(l) = (mean over heads of a(l) + I) / 2",
        "How much of each input word reaches each position if attention alone moved information.\n"
        "I is the residual connection and each new layer multiplies from the left (Abnar and "
        "Zuidema 2020).",
    ),
    "value": (
        "w(i, j) = mean over l, h of a(i, j) · |W_O (W_V x(j) + b_V)|, rows scaled to sum to 1",
        "Attention weighted by the norm of what it carries: attending to a word with a near-zero "
        "value vector moves nothing (Kobayashi et al. 2020).",
    ),
    "gradient": (
        "g(i, j) = Σ over l of mean over h of max(0, a(i, j) · ∂y/∂a(i, j)), all cells sum to 1",
        "y is the logit of the model's top prediction at the first [MASK]. A cell is strong where "
        "more attention would raise that logit (after Chefer et al. 2021).",
    ),
}
SUMMARY = {
    "cell": "{query} from {key}: {value}",
    "scale": "Colour: 0 to {top}",
    "hint": "Point at a cell, or move with the arrow keys.",
    "zoom": ZOOM,
    "added": "[CLS] and [SEP]",
    "addeds": {"hidden": "hidden", "shown": "shown"},
    "title": "{label}: {kind}",
}
NOTHING_DRAWN = "By {kind}, the chosen word attends to no other word in any model."
SUMMARY_NO_MASK = "Mask a word first: this summary explains a predicted word."
PREDICTED = "for its top prediction, {token}"


def summary_finding(
    drawn: Mapping[str, RowShares | None], labels: Mapping[str, str], kind: str
) -> Markup:
    """Return per model the share outside other words, then the word with the largest share."""
    given = {key: row for key, row in drawn.items() if row is not None}
    if not given:
        return note(NOTHING_DRAWN.format(kind=SUMMARIES[kind]))
    parts = [
        join("in ", model_name(key, labels[key]), ", ", _drawn(row)) for key, row in given.items()
    ]
    query = next(iter(given.values())).query
    by = explained(f"By {SUMMARIES[kind]}, ", "rollout")
    return finding(by, "for ", word(query), ": ", semicolons(parts), ".")


def _drawn(row: RowShares) -> Markup:
    rest = join(f"{row.rest_share:.0%} comes from ", listed(row.rest))
    if not row.best:
        even = ", and no other word stands out" if row.n_others > 1 else ""
        return join(rest, even)
    return join(rest, ", then most from ", word(row.best), f" ({row.best_share:.0%})")


def formula_html(kind: str) -> Markup:
    """Return what a summary means, and its formula in a collapsed element."""
    formula, meaning = SUMMARY_FORMULAS[kind]
    first, _, rest = meaning.partition("\n")
    return join(
        note(explained(first, "logit")),
        el(
            "details",
            el("summary", FORMULA),
            el("p", formula, class_="aw-formula"),
            el("p", rest) if rest else None,
            class_="note",
        ),
    )


ABLATION_QUESTION = "Head ablation: what changes without some heads?"
SWEEP = "Ablate every head on its own"
STOP = "Stop"
NO_MASK = refusals.NO_MASK_TO_ABLATE
ALL_ON = "All heads are on."
SWITCH_SOME = " Click a head to switch it off, or a layer's number to switch the whole layer."
HOW = "Changes are KL(all heads ‖ without them) over the whole vocabulary, in nats; 0: no change."
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


def nothing_off() -> Markup:
    """Return that all heads are on, and how to switch some off."""
    return finding(ALL_ON, el("span", SWITCH_SOME, class_="how"))


def change_finding(results: Sequence[HeadAblation]) -> Markup:
    """Return how the probability of each model's own first answer changes."""
    parts = []
    for result in results:
        if not result.n_off:
            continue
        first = max(result.words[0], key=lambda changed: changed.before)
        name = model_name(result.model, result.label)
        where = " at the first mask" if len(result.words) > 1 else ""
        before, after = side_by_side([first.before, first.after])
        move = f"{where} goes from {before} to {after}"
        parts.append(join("in ", name, _which(result.off), " ", word(first.word), move))
    if not parts:
        return nothing_off()
    heads = sum(result.n_off for result in results)
    return finding(f"With {_heads(heads)} off, ", listed(parts), ".")


NAMED = 2
"""Most heads of a model that a sentence names."""


def _which(off: Sequence[tuple[int, int]]) -> str:
    """Return the heads that are off, in brackets, where they are few."""
    if len(off) > NAMED:
        return ""
    names = enumerated(head_name(layer, head) for layer, head in off)
    return f" ({names})"


def head_name(layer: int, head: int) -> str:
    """Return a head's name in sentences, from its layer and its place, both counted from 0."""
    return f"layer {layer + 1}, head {head + 1}"


def sweep_finding(importance: Sequence[HeadImportance], waiting: str) -> Markup:
    """Return the most important head of each model measured so far."""
    if not importance:
        return finding(waiting)
    parts = []
    for result in importance:
        layer, head, nats = result.strongest(1)[0]
        name, amount = model_name(result.model, result.label), f"{nats:.3f}"
        place = f" {head_name(layer, head)} ({amount} nats)"
        parts.append(join(name, " none (under 0.0005 nats)" if float(amount) == 0 else place))
    text = "Most important head: "
    return finding(text, listed(parts), ".", f" {waiting}" if waiting else "")


def progress(label: str, layer: int, n_layers: int) -> str:
    """Return the sweep's progress: model, layer, number of layers."""
    return f"Measuring {label}, layer {layer} of {n_layers}."


STOPPED = "Stopped; what was measured so far is kept."


def _heads(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"


BERTVIZ_QUESTION = "BertViz: how does the standard viewer draw these heads?"
MODEL_LABEL = "Model"
VIEW_LABEL = "View"
VIEWS = [("Head view", "head"), ("Model view", "model"), ("Neuron view", "neuron")]
NOT_SHOWN = "{model} is not among the models that the page shows now: choose another one."


def models() -> list[tuple[str, str]]:
    """Return the choices of a column: the page's own first."""
    keys = dict.fromkeys((*page_columns(), *known_columns()))
    return [(label_of(key), key) for key in keys]


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
    """Return what the view draws and how to use it."""
    return finding(join(model_name(model, label), ": ", SAID[view], "."))


def too_long(label: str, n: int, limit: int) -> Markup:
    """Return the message for a text with more tokens than the view can draw."""
    return finding(TOO_LONG.format(n=n, label=label, limit=limit))


def title(label: str, view: str) -> str:
    """Return the frame's title for screen readers."""
    names = {key: name.lower() for name, key in VIEWS}
    return TITLE.format(view=names[view], label=label)
