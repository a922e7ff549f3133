"""Charts of the Predictions tab: masks, contrasts, fillings, every word masked in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NotRequired, TypedDict

import numpy as np

from explorer.analysis.digits import probability, signed
from explorer.analysis.predictions import (
    Contrast,
    Filling,
    MaskFillings,
    MaskPredictions,
    SpanScore,
    WordRank,
)
from explorer.analysis.records import Records, unrounded
from explorer.analysis.scoring import Attribution
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import Tokens, Word
from explorer.refusal import code_of
from explorer.views.markup import Markup, el, model_name, note, script_json, table


class WordScore(TypedDict):
    """One model's score of a masked word; without ``p`` for a word that it cannot write."""

    p: float | None
    nats: float
    rank: int | None
    pieces: list[str]
    answers: list[tuple[str, float]]


class WordTile(TypedDict):
    """A word of the text, masked in turn, with the scores that are there so far."""

    word: str
    breaks: bool
    models: dict[str, WordScore]


class WordsData(TypedDict):
    """Every word of a text with its scores."""

    words: list[WordTile]
    labels: dict[str, str]
    texts: dict[str, object]


class MaskContext(TypedDict):
    """Text around a mask, and the word that the reader hid there."""

    before: str
    after: str
    hidden: NotRequired[str]


class HiddenWord(TypedDict):
    """Hidden word as one model knows it: its tokens, and where it is one, its place."""

    pieces: int
    p: NotRequired[float]
    rank: NotRequired[int]
    row: NotRequired[int]


class MaskAnswers(TypedDict):
    """Words that one model predicts at a mask."""

    words: list[str]
    pieces: list[str]
    p: list[float]
    entropy: float
    choices: float
    yours: NotRequired[HiddenWord]


class ModelAnswers(TypedDict):
    """Predictions of one model."""

    label: str
    vocabulary: int
    masks: list[MaskAnswers]


class ModelCard(TypedDict):
    """Model that cannot answer, and why."""

    label: str
    card: str
    code: str


class GapsData(TypedDict):
    """Predictions of all models at all masks."""

    masks: list[MaskContext]
    models: dict[str, ModelAnswers | ModelCard]
    texts: dict[str, str]


def contrast_html(contrasts: Sequence[Contrast], texts: Mapping[str, str]) -> Markup:
    """Draw a block per alternative and a bar per model.

    A bar's length is the share among alternatives with the same number of masks.
    """
    n_alternatives = len(contrasts[0].scores)
    blocks = [_alternative(contrasts, place, texts) for place in range(n_alternatives)]
    return el("div", *blocks, class_="pr-contrast")


def contrast_records(contrasts: Sequence[Contrast], spans: Sequence[tuple[str, Word]]) -> Records:
    """Return every alternative's share among those with as many masks, and its probability.

    ``spans`` holds the text with each alternative inserted, and the inserted word.
    """
    columns = ("model", "alternative", "pieces", "share_among_equals", "probability")
    rows = [
        [contrast.label, score.word.text, " ".join(score.pieces), share, score.probability]
        for contrast in contrasts
        for score, share in zip(contrast.scores, contrast.shares, strict=True)
        if not score.is_unknown
    ]
    return Records(columns, rows, constants={"STRETCHES": span_constants(spans)})


def _alternative(contrasts: Sequence[Contrast], index: int, texts: Mapping[str, str]) -> Markup:
    word = contrasts[0].scores[index].word.text
    rows = [_bar(contrast, index, texts) for contrast in contrasts]
    return el("section", el("h3", word), *rows, class_="pr-alternative")


def _bar(contrast: Contrast, index: int, texts: Mapping[str, str]) -> Markup:
    score, share = contrast.scores[index], float(contrast.shares[index])
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
        el("span", contrast.label, class_="model-name", data_model=contrast.model),
        el(
            "span",
            el("i", style=f"width:{100 * share:.2f}%") if isfinite(share) else None,
            class_="pr-share",
        ),
        el("strong", probability(share) if isfinite(share) else "–"),
        el("span", detail, class_="pr-detail"),
        class_="pr-contrast-row" + (" preferred" if contrast.favourites == (index,) else ""),
        data_model=contrast.model,
    )


def words_canvas(
    words: Sequence[Word],
    text: str,
    scores: Mapping[str, Sequence[SpanScore]],
    labels: Mapping[str, str],
    texts: Mapping[str, object],
) -> str:
    """Return the JSON of every word with the scores that each model has so far."""
    by_start = {key: {s.word.start: s for s in spans} for key, spans in scores.items()}
    tiles: list[WordTile] = [
        {
            "word": word.text,
            "breaks": "\n" in text[words[i - 1].end : word.start] if i else False,
            "models": {
                key: _tile(spans[word.start])
                for key, spans in by_start.items()
                if word.start in spans
            },
        }
        for i, word in enumerate(words)
    ]
    data: WordsData = {"words": tiles, "labels": dict(labels), "texts": dict(texts)}
    return script_json(data)


def _tile(score: SpanScore) -> WordScore:
    return {
        "p": None if score.is_unknown else unrounded(score.probability),
        "nats": unrounded(-score.log_probability),
        "rank": score.rank,
        "pieces": list(score.pieces),
        "answers": [(word, unrounded(p)) for word, p in score.answers],
    }


def word_score_table(
    rows: Sequence[tuple[str | Markup, Mapping[str, SpanScore | str]]],
    labels: Mapping[str, str],
    sizes: Mapping[str, int],
    texts: Mapping[str, str],
) -> Markup:
    """Build a table with a row per word and gap, a column per model: probability, rank, tokens."""
    cells = [
        [title, *(_score_cell(by_model[key], sizes[key], texts) for key in labels)]
        for title, by_model in rows
    ]
    return table([texts["head"], *labels.values()], cells, texts["caption"])


def word_score_records(
    queries: Sequence[tuple[str, int]],
    by_model: Mapping[str, Sequence[SpanScore | str]],
    labels: Mapping[str, str],
    sizes: Mapping[str, int],
    spans: Sequence[tuple[str, Word]],
) -> Records:
    """Return the scores of every word in every gap; empty where a vocabulary lacks the word.

    Args:
        queries: (word, gap) pairs, gaps counted from 0.
        by_model: Scores of these pairs by model key; a string is a refusal.
        labels: Labels by model key.
        sizes: Vocabulary sizes by model key.
        spans: The text with each word inserted, and the inserted word.
    """
    columns = ("word", "gap", "model", "probability", "surprisal_nats", "rank", "pieces")
    rows = [
        [word, gap + 1, labels[key], *_score_cells(scores[i]), sizes[key]]
        for i, (word, gap) in enumerate(queries)
        for key, scores in by_model.items()
    ]
    pairs = [[word, gap + 1] for word, gap in queries]
    constants = {"ASKED": pairs, "STRETCHES": span_constants(spans)}
    state = {"asked": ", ".join(dict.fromkeys(word for word, _ in queries))}
    return Records((*columns, "vocabulary"), rows, {"state": state}, constants)


def span_constants(spans: Sequence[tuple[str, Word]]) -> list[tuple[str, int, int]]:
    """Return (text, start, end) of inserted words, as constants of the Python code."""
    return [(text, word.start, word.end) for text, word in spans]


def _score_cells(score: SpanScore | str) -> list[object]:
    if isinstance(score, str) or score.is_unknown:
        return [None] * 4
    return [score.probability, -score.log_probability, score.rank, " ".join(score.pieces)]


def _score_cell(score: SpanScore | str, size: int, texts: Mapping[str, str]) -> Markup:
    if isinstance(score, str):
        return el("span", score, class_="pr-none")
    if score.is_unknown:
        return el("span", texts["unknown"], class_="pr-none")
    n = len(score.pieces)
    place = texts["rank"].format(rank=score.rank, size=size) if score.rank else ""
    pieces = texts["several"].format(n=n, pieces=" + ".join(score.pieces))
    return el(
        "div",
        el("strong", probability(score.probability)),
        el("span", place, class_="pr-rank") if place else None,
        el("span", pieces, class_="pr-pieces") if n > 1 else None,
        class_="pr-asked",
    )


def joint_html(fillings: Sequence[MaskFillings], texts: Mapping[str, str]) -> Markup:
    """Draw per model the filling of each gap alone, then the best fillings from left to right."""
    return el("div", *(_joint_column(filling, texts) for filling in fillings), class_="columns")


def joint_records(fillings: Sequence[MaskFillings]) -> Records:
    """Return every filling with log probabilities, because small probabilities underflow to 0."""
    columns = ("model", "filled", "place", "words", "log_joint_nats", "log_independent_nats")
    shares = ("joint_probability", "independent_probability")
    rows = [
        [model.label, kind, place, " ".join(filling.words), filling.joint, filling.independent]
        + [float(np.exp(nats)) for nats in (filling.joint, filling.independent)]
        for model in fillings
        for kind, options in (("alone", [model.alone]), ("left to right", model.together))
        for place, filling in enumerate(options, 1)
    ]
    return Records(columns + shares, rows)


def _joint_column(fillings: MaskFillings, texts: Mapping[str, str]) -> Markup:
    return el(
        "section",
        el("h3", fillings.label, class_="model-name", data_model=fillings.model),
        el("h4", texts["alone"]),
        _line(fillings.alone, fillings.alone, texts),
        el("h4", texts["together"]),
        el(
            "ol",
            *(el("li", _line(filling, fillings.alone, texts)) for filling in fillings.together),
        ),
        class_="pr-joint",
        data_model=fillings.model,
    )


def _line(filling: Filling, alone: Filling, texts: Mapping[str, str]) -> Markup:
    """Draw a filling and its probabilities; words that differ from ``alone`` are marked."""
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
class PredictionTexts:
    """Texts and hidden words shown with the predictions."""

    texts: Mapping[str, str]
    """The chart's texts."""
    hidden: Sequence[str] = ()
    """The hidden word of each mask, in reading order; empty where it is unknown."""
    ranks: Mapping[str, Mapping[int, WordRank]] = field(default_factory=dict)
    """The hidden word's rank and probability, by model key and mask."""
    columns: Sequence[str] = tuple(MODEL_KEYS)
    """The columns in their order."""


def predictions_canvas(
    predictions: Mapping[str, MaskPredictions],
    missing: Mapping[str, tuple[str, str]],
    tokens: Tokens | None,
    extra: PredictionTexts,
) -> str:
    """Return the JSON of up to 50 words with probabilities per model and mask.

    Args:
        predictions: Results by model key, in the fixed order.
        missing: (label, reason) by key of the unavailable models.
        tokens: Any model's tokens, for the words around each mask; None if no model can run.
        extra: The chart's texts, and the words that the reader hid.
    """
    words, text = (tokens.words, tokens.text) if tokens else ((), "")
    masks = [mask_context(text, word) for word in words if word.is_mask]
    for mask, word in zip(masks, extra.hidden, strict=False):
        mask["hidden"] = word
    columns: dict[str, ModelAnswers | ModelCard] = {
        key: _masks_column(result, extra.ranks.get(key, {})) for key, result in predictions.items()
    }
    for key, (name, why) in missing.items():
        columns[key] = {"label": name, "card": why, "code": code_of(why)}
    ordered = {key: columns[key] for key in (*extra.columns, *columns) if key in columns}
    data: GapsData = {"masks": masks, "models": ordered, "texts": dict(extra.texts)}
    return script_json(data)


def mask_context(text: str, mask: Word) -> MaskContext:
    """Return the text before and after a mask, cut at a space when it is long."""
    before, after = text[: mask.start], text[mask.end :]
    if len(before) > CONTEXT_LETTERS:
        before = "… " + before[-CONTEXT_LETTERS:].partition(" ")[2]
    if len(after) > CONTEXT_LETTERS:
        after = after[:CONTEXT_LETTERS].rpartition(" ")[0] + " …"
    return {"before": before, "after": after}


def _hidden(result: MaskPredictions, mask: int, hidden: WordRank) -> HiddenWord:
    """Return the hidden word's rank, probability and row in the list (-1 if not listed)."""
    if not hidden.rank:
        return {"pieces": 0 if hidden.is_unknown else hidden.n_pieces}
    row = np.flatnonzero(result.ids[mask] == hidden.id)
    p = unrounded(hidden.probability)
    return {"pieces": 1, "p": p, "rank": hidden.rank, "row": int(row[0]) if row.size else -1}


def _masks_column(result: MaskPredictions, hidden: Mapping[int, WordRank]) -> ModelAnswers:
    masks: list[MaskAnswers] = [
        {
            "words": list(result.words[mask]),
            "pieces": list(result.tokens[mask]),
            "p": unrounded(result.probabilities[mask]),
            "entropy": unrounded(result.entropy[mask]),
            "choices": unrounded(np.exp(result.entropy[mask])),
        }
        for mask in range(len(result.positions))
    ]
    for mask, answers in enumerate(masks):
        if mask in hidden:
            answers["yours"] = _hidden(result, mask, hidden[mask])
    return {"label": result.label, "vocabulary": result.d_vocab, "masks": masks}


def attribution_html(results: Mapping[str, Attribution], texts: Mapping[str, str]) -> Markup:
    """Draw a column per model: its answer, and the text coloured by either attribution."""
    return el("div", *(_attributed(r, texts) for r in results.values()), class_="columns pr-read")


def attribution_records(results: Mapping[str, Attribution], mask: int, typed: str = "") -> Records:
    """Return both attributions of every word, and the two ends of the path of the gradients.

    A word that all models were asked about is named in the file, and is a constant of the Python
    code.
    """
    columns = ("model", "answer", "probability", "log_probability", "baseline")
    rows = [
        [result.label, result.target, *_ends(result), *values]
        for result in results.values()
        for values in zip(
            result.words, result.integrated_gradients, result.leave_one_out, strict=True
        )
    ]
    names = (*columns, "word", "integrated_gradients", "leave_one_out")
    pieces = {result.label: result.target for result in results.values() if typed}
    header = {"state": {"mask": mask + 1} | ({"answer": typed} if typed else {})}
    return Records(names, rows, header, {"GAP": mask, "ANSWERS": pieces})


def _ends(result: Attribution) -> tuple[float, float, float]:
    """Return P(answer) and ln P(answer) of the text, and ln P(answer) of the text of masks."""
    return float(np.exp(result.log_probability)), result.log_probability, result.baseline


def _attributed(result: Attribution, texts: Mapping[str, str]) -> Markup:
    sentence = texts["complete"].format(
        sum=signed(float(result.integrated_gradients.sum())),
        explained=signed(result.log_probability - result.baseline),
        error=f"{result.completeness_error:.2f}",
        points=result.n_points,
    )
    p = probability(_ends(result)[0])
    both = np.concatenate([result.integrated_gradients, result.leave_one_out])
    top = max(1e-9, float(np.abs(both).max(initial=0.0)))
    return el(
        "section",
        el("header", el("h3", model_name(result.model, result.label))),
        el("p", el("strong", result.answer), " ", texts["probability"].format(p=p)),
        el("h4", texts["gradients"]),
        _coloured(result.words, result.integrated_gradients, top),
        el("h4", texts["left_out"]),
        _coloured(result.words, result.leave_one_out, top),
        note(sentence),
        class_="pr-column",
        data_model=result.model,
    )


def _coloured(words: Sequence[str], values: np.ndarray, top: float) -> Markup:
    """Draw a text with the value of each word below it, coloured by its share of the largest."""
    return el("p", *(_read_word(*pair, top) for pair in zip(words, values, strict=True)))


def _read_word(text: str, value: float, top: float) -> Markup:
    side = "pr-for" if value >= 0 else "pr-against"
    inner = el("b", text), el("small", signed(float(value)))
    return el("span", *inner, class_=side, style=f"--share:{abs(value) / top:.3f}")
