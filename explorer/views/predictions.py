"""Pictures of Predictions: masked words, contrasts, fillings, every word masked in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from explorer.analysis.digits import probability
from explorer.analysis.predictions import (
    Contrast,
    Filling,
    MaskFillings,
    MaskPredictions,
    SpanScore,
    WordFound,
)
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import Tokens, Word
from explorer.views.markup import Markup, el, script_json, table
from explorer.views.numbers import Numbers


def contrast_html(contrasts: Sequence[Contrast], texts: Mapping[str, str]) -> Markup:
    """One block per alternative, one bar per model; the length is the share among equals."""
    n_alternatives = len(contrasts[0].scores)
    blocks = [_alternative(contrasts, place, texts) for place in range(n_alternatives)]
    return el("div", *blocks, class_="pr-contrast")


def contrast_numbers(
    contrasts: Sequence[Contrast], stretches: Sequence[tuple[str, Word]]
) -> Numbers:
    """Every alternative's share among those of as many masks, and its own probability.

    ``stretches`` has the text with each alternative in its place, and where it stands there.
    """
    columns = ("model", "alternative", "pieces", "share_among_equals", "probability")
    rows = [
        [found.label, score.word.text, " ".join(score.pieces), share, score.probability]
        for found in contrasts
        for score, share in zip(found.scores, found.shares, strict=True)
        if not score.is_unknown
    ]
    return Numbers(columns, rows, constants={"STRETCHES": placed(stretches)})


def _alternative(contrasts: Sequence[Contrast], place: int, texts: Mapping[str, str]) -> Markup:
    word = contrasts[0].scores[place].word.text
    rows = [_bar(found, place, texts) for found in contrasts]
    return el("section", el("h3", word), *rows, class_="pr-alternative")


def _bar(found: Contrast, place: int, texts: Mapping[str, str]) -> Markup:
    score, share = found.scores[place], float(found.shares[place])
    detail = (
        texts["unknown"]
        if score.is_unknown
        else texts["detail"].format(
            p=probability(score.probability),
            pieces=" + ".join(score.pieces),
            masks="1 mask" if len(score.pieces) == 1 else f"{len(score.pieces)} masks",
        )
    )
    return el(
        "div",
        el("span", found.label, class_="model-name", data_model=found.model),
        el(
            "span",
            el("i", style=f"width:{100 * share:.2f}%") if isfinite(share) else None,
            class_="pr-share",
        ),
        el("strong", probability(share) if isfinite(share) else "–"),
        el("span", detail, class_="pr-detail"),
        class_="pr-contrast-row" + (" preferred" if found.favourites == (place,) else ""),
        data_model=found.model,
    )


def words_canvas(
    words: Sequence[Word],
    text: str,
    scores: Mapping[str, Sequence[SpanScore]],
    labels: Mapping[str, str],
    texts: Mapping[str, object],
) -> str:
    """The strip's JSON: each word of the text with what every model made of it so far."""
    by_start = {key: {s.word.start: s for s in found} for key, found in scores.items()}
    tiles = [
        {
            "word": word.text,
            "breaks": "\n" in text[words[i - 1].end : word.start] if i else False,
            "models": {
                key: _tile(found[word.start])
                for key, found in by_start.items()
                if word.start in found
            },
        }
        for i, word in enumerate(words)
    ]
    return script_json({"words": tiles, "labels": dict(labels), "texts": dict(texts)})


def _tile(score: SpanScore) -> dict[str, object]:
    return {
        "p": None if score.is_unknown else float(f"{score.probability:.6g}"),
        "nats": float(f"{-score.log_probability:.6g}"),
        "rank": score.rank,
        "pieces": list(score.pieces),
        "answers": [[word, float(f"{p:.6g}")] for word, p in score.answers],
    }


def asked_table(
    rows: Sequence[tuple[str | Markup, Mapping[str, SpanScore | str]]],
    labels: Mapping[str, str],
    sizes: Mapping[str, int],
    texts: Mapping[str, str],
) -> Markup:
    """One line per word and gap, one column per model: probability, rank and pieces."""
    cells = [
        [title, *(_asked_cell(found[key], sizes[key], texts) for key in labels)]
        for title, found in rows
    ]
    return table([texts["head"], *labels.values()], cells, texts["caption"])


def asked_numbers(
    asked: Sequence[tuple[str, int]],
    found: Mapping[str, Sequence[SpanScore | str]],
    labels: Mapping[str, str],
    sizes: Mapping[str, int],
    stretches: Sequence[tuple[str, Word]],
) -> Numbers:
    """Return every asked word in every gap; empty where a vocabulary cannot write it.

    Args:
        asked: words, each with its gap, counted from 0.
        found: by model, what it says of each of them.
        labels: by model, its name.
        sizes: by model, the pieces of its vocabulary.
        stretches: the text with each of the words in its place, and where it stands there.
    """
    columns = ("word", "gap", "model", "probability", "surprisal_nats", "rank", "pieces")
    rows = [
        [word, gap + 1, labels[key], *_priced(scores[i]), sizes[key]]
        for i, (word, gap) in enumerate(asked)
        for key, scores in found.items()
    ]
    listed = [[word, gap + 1] for word, gap in asked]
    constants = {"ASKED": listed, "STRETCHES": placed(stretches)}
    state = {"asked": ", ".join(dict.fromkeys(word for word, _ in asked))}
    return Numbers((*columns, "vocabulary"), rows, {"state": state}, constants)


def placed(stretches: Sequence[tuple[str, Word]]) -> list[tuple[str, int, int]]:
    """Texts with a word in its place, and where that stands, for lines of Python."""
    return [(text, word.start, word.end) for text, word in stretches]


def _priced(score: SpanScore | str) -> list[object]:
    if isinstance(score, str) or score.is_unknown:
        return [None] * 4
    return [score.probability, -score.log_probability, score.rank, " ".join(score.pieces)]


def _asked_cell(found: SpanScore | str, size: int, texts: Mapping[str, str]) -> Markup:
    if isinstance(found, str):
        return el("span", found, class_="pr-none")
    if found.is_unknown:
        return el("span", texts["unknown"], class_="pr-none")
    n = len(found.pieces)
    place = texts["rank"].format(rank=found.rank, size=size) if found.rank else ""
    pieces = texts["several"].format(n=n, pieces=" + ".join(found.pieces))
    return el(
        "div",
        el("strong", probability(found.probability)),
        el("span", place, class_="pr-rank") if place else None,
        el("span", pieces, class_="pr-pieces") if n > 1 else None,
        class_="pr-asked",
    )


def joint_html(fillings: Sequence[MaskFillings], texts: Mapping[str, str]) -> Markup:
    """Per model the filling of gaps on their own, then the best fillings from left to right."""
    return el("div", *(_joint_column(found, texts) for found in fillings), class_="columns")


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


def _joint_column(found: MaskFillings, texts: Mapping[str, str]) -> Markup:
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


CONTEXT_LETTERS = 60


@dataclass(frozen=True, slots=True)
class Extra:
    """What the picture says besides the predictions."""

    texts: Mapping[str, str]
    """The sentences printed in it."""
    hidden: Sequence[str] = ()
    """The word behind each mask, the first ones first; empty where none is known."""
    found: Mapping[str, Mapping[int, WordFound]] = field(default_factory=dict)
    """Where each model's answer has it, by model key and mask."""


def predictions_canvas(
    predictions: Mapping[str, MaskPredictions],
    missing: Mapping[str, tuple[str, str]],
    tokens: Tokens | None,
    extra: Extra,
) -> str:
    """The picture's JSON: per model and mask up to 50 words with their probabilities.

    Args:
        predictions: Results by model key, in the fixed order.
        missing: (label, sentence) by key of the models that cannot be had.
        tokens: Any model's tokens, for the words around each mask; None where none can be run.
        extra: The sentences of the picture, and the words that the reader hid.
    """
    words, text = (tokens.words, tokens.text) if tokens else ((), "")
    masks = [mask_context(text, word) for word in words if word.is_mask]
    for mask, word in zip(masks, extra.hidden, strict=False):
        mask["hidden"] = word
    columns = {
        key: _masks_column(result, extra.found.get(key, {})) for key, result in predictions.items()
    }
    for key, (name, why) in missing.items():
        columns[key] = {"label": name, "card": why}
    ordered = {key: columns[key] for key in MODEL_KEYS if key in columns}
    return script_json({"masks": masks, "models": ordered, "texts": dict(extra.texts)})


def mask_context(text: str, mask: Word) -> dict[str, str]:
    """The words before and after a mask, cut at a space when they are long."""
    before, after = text[: mask.start], text[mask.end :]
    if len(before) > CONTEXT_LETTERS:
        before = "… " + before[-CONTEXT_LETTERS:].partition(" ")[2]
    if len(after) > CONTEXT_LETTERS:
        after = after[:CONTEXT_LETTERS].rpartition(" ")[0] + " …"
    return {"before": before, "after": after}


def _hidden(result: MaskPredictions, mask: int, found: WordFound) -> dict[str, object]:
    """The reader's word in one column: its row where it is listed, its numbers where it has any."""
    if not found.rank:
        return {"pieces": 0 if found.is_unknown else found.n_pieces}
    row = np.flatnonzero(result.ids[mask] == found.id)
    p = float(f"{found.probability:.7g}")
    return {"pieces": 1, "p": p, "rank": found.rank, "row": int(row[0]) if row.size else -1}


def _masks_column(result: MaskPredictions, found: Mapping[int, WordFound]) -> dict[str, object]:
    return {
        "label": result.label,
        "vocabulary": result.d_vocab,
        "masks": [
            {
                "words": list(result.words[mask]),
                "pieces": list(result.tokens[mask]),
                "p": [float(f"{p:.7g}") for p in result.probabilities[mask]],
                "entropy": round(float(result.entropy[mask]), 4),
                "choices": float(f"{np.exp(result.entropy[mask]):.7g}"),
                **({"yours": _hidden(result, mask, found[mask])} if mask in found else {}),
            }
            for mask in range(len(result.positions))
        ],
    }
