"""Predictions for masks, scores of whole texts, and the words that an answer is read from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from explorer.analysis.predictions import TOP_K, MaskPredictions, mask_predictions
from explorer.analysis.scoring import (
    Attribution,
    Masked,
    TextScore,
    by_word,
    masked_row,
    masked_sets,
    scored_positions,
    text_score,
    words_masked,
)
from explorer.inference.ask import Ask
from explorer.inference.runs import call_on_model, round_robin, runs_with_mlm_head
from explorer.library import refusals
from explorer.library.family import (
    Family,
    asked,
    checked_text,
    is_index,
    masked_runs,
    missing_reasons,
)
from explorer.library.labels import LabelAttributions, attribute_label
from explorer.library.progress import each
from explorer.library.results import AttributionResult, Result, attribution_fields
from explorer.models.run import Run, answer_id, batches, read_only
from explorer.models.tokens import MASK, clean_text, spelling_of, word_id
from explorer.refusal import Refusal, joined
from explorer.views.notebook import Sketch

Scored = dict[Masked, float]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictions(Result):
    """Top predictions of each model for each mask of a text."""

    text: str
    """The text as it was run."""
    family: str
    models: Mapping[str, MaskPredictions]
    """By model key: ids, tokens and probabilities [mask, k], over the whole vocabulary."""
    pieces: Mapping[str, tuple[str, ...]]
    """By model key: the tokens of the text in vocabulary spelling."""
    missing: Mapping[str, Refusal]
    """By model key: the reason of a model that could not be asked."""

    COLUMNS: ClassVar = ("model", "mask", "rank", "token", "probability", "word")
    SKETCH: ClassVar = Sketch("bars", "word", "probability", panels="model mask")
    BAR: ClassVar = "probability"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/predict``.

        The text as it was run, the family, and per model its tokens and masks. ``position`` counts
        tokens from 0. ``remaining`` is the mass outside the listed words. ``missing``, only where a
        model could not be asked, says which one and why.
        """
        models = [_model(self.pieces[key], result) for key, result in self.models.items()]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model, mask and token; masks count from 0, ranks from 1.

        ``word`` is the token as readers spell it, the same for every vocabulary.
        """
        return [
            (key, mask, rank, token, float(p), word)
            for key, result in self.models.items()
            for mask, tokens in enumerate(result.tokens)
            for rank, (token, p, word) in enumerate(
                zip(tokens, result.probabilities[mask], result.words[mask], strict=True), 1
            )
        ]


def predict(text: str, family: Family | str = "mini", top_k: int = 10) -> Predictions:
    """Return the predictions of BERT, DistilBERT and ALBERT for each [MASK] of a text.

    Probabilities are a softmax over the whole vocabulary, in float64.

    Args:
        text: The text, with at least one [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.
        top_k: How many tokens per mask, 1 to 50.

    Returns:
        Each model's ``ids``, ``tokens``, ``words`` and ``probabilities`` [mask, k], likeliest
        first, and ``entropy`` [mask] in nats.

    Raises:
        Refusal: there is no mask, the text is too long, or no model is available.

    Example:
        >>> answer = explorer.predict("The capital of France is [MASK].", top_k=3)
        >>> answer.models["bert"].words[0][0]
        'paris'
    """
    low, high = TOP_K
    if not is_index(top_k, high + 1) or top_k < low:
        raise Refusal(refusals.BAD_TOP_K.format(low=low, high=high))
    with asked(family) as models:
        runs, missing = masked_runs(models, text, refusals.NO_MASK_TO_PREDICT)
        return Predictions(
            next(iter(runs.values())).tokens.text,
            models.name,
            {key: mask_predictions(run, int(top_k)) for key, run in runs.items()},
            {key: run.tokens.pieces for key, run in runs.items()},
            missing,
        )


def _model(pieces: tuple[str, ...], result: MaskPredictions) -> dict[str, Any]:
    masks = [
        {
            "position": position,
            "predictions": [
                {"token": token, "id": int(i), "probability": float(p)}
                for token, i, p in zip(tokens, ids, probabilities, strict=True)
            ],
            "remaining": float(rest),
        }
        for position, tokens, ids, probabilities, rest in zip(
            result.positions,
            result.tokens,
            result.ids,
            result.probabilities,
            result.remaining,
            strict=True,
        )
    ]
    return {"model": result.model, "tokens": list(pieces), "masks": masks}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Score(Result):
    """Pseudo-log-likelihoods of a text, by two definitions, in nats."""

    text: str
    family: str
    models: Mapping[str, TextScore]
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = ("model", "tokens", "unknown", "pll", "pll_word_l2r")
    SKETCH: ClassVar = Sketch("bars", "model", "pll")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/score``.

        Per model two sums over the ``tokens``. ``pll`` masks each token alone (Salazar et al.
        2020). ``pll_word_l2r`` also masks the later pieces of its word (Kauf and Ivanova 2023); a
        word is what the model's tokenizer takes for one. ``unknown`` is how many of the tokens the
        vocabulary does not know. Sums of two models do not compare.
        """
        models = [
            {
                "model": key,
                "pll": score.pll,
                "pll_word_l2r": score.pll_word_l2r,
                "unknown": score.n_unknown,
                "tokens": _parts(score),
            }
            for key, score in self.models.items()
        ]
        answer = {"text": self.text, "family": self.family, "models": models}
        return answer | missing_reasons(self.missing)

    def rows(self) -> list[tuple[Any, ...]]:
        """Return a row for each model; ``models`` holds the parts by token."""
        return [
            (key, len(score.pieces), score.n_unknown, score.pll, score.pll_word_l2r)
            for key, score in self.models.items()
        ]


def _parts(score: TextScore) -> list[dict[str, Any]]:
    values = score.alone.tolist(), score.within_word.tolist()
    return [
        {"token": token, "pll": alone, "pll_word_l2r": within}
        for token, alone, within in zip(score.pieces, *values, strict=True)
    ]


def score(text: str, family: Family | str = "mini") -> Score:
    """Return each model's pseudo-log-likelihood of a text, by two definitions, in nats.

    ``pll`` (Salazar et al. 2020) masks each token separately. It overestimates words of several
    pieces, because their other pieces stay visible. ``pll_word_l2r`` (Kauf and Ivanova 2023) also
    masks the later pieces of the token's word. The model's tokenizer decides what a word is
    (``word_ids()``), as in the reference implementation minicons: BERT's splits ``dog's`` into
    three words; ALBERT's splits only at spaces, so that ``well-known`` and ``sings.`` are one word
    each. Both are sums of ln P in nats over the tokens of the text, without [CLS] and [SEP]: the
    models' vocabularies differ, so that sums of two models do not compare. A batch holds rows of
    one length and about 1,000 tokens, so that memory is bounded and no padding changes a score.

    Args:
        text: The text, without [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: What ``load`` returned, or the name of a family.

    Returns:
        Each model's ``pll`` and ``pll_word_l2r`` in nats, and their parts by token.

    Raises:
        Refusal: there is a mask, the text is empty or too long, or no model is available.

    Example:
        >>> good = explorer.score("The keys are here.").models["bert"].pll
        >>> bad = explorer.score("The keys is here.").models["bert"].pll
        >>> good > bad
        True
    """
    with asked(family) as models:
        ask = models.ask(text)
        if MASK in clean_text(ask.text):
            raise Refusal(refusals.MASK_TO_SCORE)
        runs, missing = runs_with_mlm_head(ask)
        unread = {
            key: Refusal(refusals.NO_PIECE.format(label=run.spec.label))
            for key, run in runs.items()
            if not scored_positions(run.tokens)
        }
        runs = {key: run for key, run in runs.items() if key not in unread}
        refused: dict[str, Refusal] = {**missing, **unread}
        if not runs:
            raise Refusal(joined(map(str, refused.values())))
        by_mask = log_probabilities(runs, ask, {key: _own(run) for key, run in runs.items()})
        scores = {k: text_score(k, r.spec.label, r.tokens, by_mask[k]) for k, r in runs.items()}
        return Score(next(iter(runs.values())).tokens.text, models.name, scores, refused)


def _own(run: Run) -> list[tuple[Masked, int]]:
    """Return what is masked for each token of a text, by both definitions, and the token."""
    alone, within = masked_sets(run.tokens)
    return [(masked, run.tokens.ids[masked[0]]) for masked in (*alone, *within)]


Wanted = Mapping[str, list[tuple[Masked, int]]]
"""By model key: what is masked, and the token whose probability is wanted."""


def log_probabilities(runs: Mapping[str, Run], ask: Ask, wanted: Wanted) -> dict[str, Scored]:
    """Compute ln P of every wanted token, in rounds of one batch of every model."""
    scores: dict[str, Scored] = {key: {} for key in runs}
    jobs = {key: list(_batches(run, ask, dict(wanted[key]))) for key, run in runs.items()}
    n_rounds = max(map(len, jobs.values()), default=0)
    for answers in each(round_robin(jobs), n_rounds, "batches"):
        for key, values in answers.items():
            scores[key] |= values
    return scores


def _batches(run: Run, ask: Ask, wanted: Mapping[Masked, int]) -> Iterator[Callable[[], Scored]]:
    """Yield one model's masked rows as jobs of one batch each."""
    waiting = iter(wanted.items())
    rows = [masked_row(run.tokens, masked, run.mask_id) for masked in wanted]
    for batch in batches(rows):
        part = [next(waiting) for _ in batch]
        yield partial(_score_batch, run, ask, batch, dict(part))


def _score_batch(run: Run, ask: Ask, rows: Any, wanted: Mapping[Masked, int]) -> Scored:  # noqa: ANN401
    from explorer.models.read_at import masked_targets

    targets = tuple(wanted.values())
    values = call_on_model(masked_targets, run.spec, ask, rows, targets)[:, 0]
    return dict(zip(wanted, values.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attributions(AttributionResult):
    """The words that each model's answer at a mask is read from, by two methods, in nats."""

    text: str
    family: str
    mask: int
    models: Mapping[str, Attribution]
    missing: Mapping[str, Refusal]

    COLUMNS: ClassVar = (
        *("model", "target", "word", "integrated_gradients", "leave_one_out", "baseline"),
    )
    SKETCH: ClassVar = Sketch("bars", "word", "integrated_gradients")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``/attribute``.

        Per model the ``target``, its ``log_probability``, the ``words``, and two attributions of ln
        P in nats. ``integrated_gradients`` start from a text of masks, whose ln P is the
        ``baseline``. ``completeness_error`` is how far they are from adding up. ``leave_one_out``
        masks each word in turn. ``missing`` says which models could not be asked, and why.
        """
        models = [
            {
                "model": key,
                "target": result.target,
                "log_probability": result.log_probability,
                **attribution_fields(result),
            }
            for key, result in self.models.items()
        ]
        answer = {"text": self.text, "family": self.family, "mask": self.mask, "models": models}
        return answer | missing_reasons(self.missing)


def attribute(  # noqa: PLR0913 - the endpoint's published arguments
    text: str,
    family: Family | str = "mini",
    target: str | None = "",
    mask: int = 0,
    label: str = "",
    word: int = -1,
) -> Attributions | LabelAttributions:
    """Attribute each model's answer at a mask, or its label, to the words of a text.

    Integrated gradients of ln P(target) (Sundararajan et al. 2017) lead from the text with every
    word masked to the text, and add up to the difference of the two within ``completeness_error``.
    Leave-one-out masks each word in turn, all of its pieces together. For a label, both attribute
    its log-odds (or the value of a score), and leave-one-out removes each word.

    The label of a word is that of a token classifier, as for the first word of a span of
    ``entities``. Its log-odds are ln (p / (1 - p)) at the word's first token; p is the sum over the
    label's tags (for PER: B-PER, I-PER). Leave-one-out masks each word in turn.

    Args:
        text: The text, with at least one [MASK] unless a label or a word is given.
        family: What ``load`` returned, or the name of a family.
        target: The word, one piece of every vocabulary; empty: each model's own answer.
        mask: The mask, counted from 0.
        label: A label of the models' classifiers; "predicted": the label that each model predicts.
        word: Word whose label is attributed, from 0, such as the ``first`` of a span of
            ``entities``; without a ``label`` the one predicted; ``-1``: the label is the text's.

    Returns:
        Each model's ``integrated_gradients`` and ``leave_one_out``, float64 [word], in nats.

    Raises:
        Refusal: there is no such mask, label or word, or no vocabulary has the word as one piece.

    Example:
        >>> why = explorer.attribute("The capital of France is [MASK].", target="paris")
        >>> why.models["bert"].words[why.models["bert"].integrated_gradients.argmax()]
        'France'
    """
    if label or word != -1:
        return attribute_label(text, family, label, word)
    with asked(family) as models:
        return _attribute_target(text, models, target, mask)


def _attribute_target(text: str, models: Family, target: str | None, mask: int) -> Attributions:
    """Return the attributions of a word at a mask, or of each model's own answer."""
    ask = models.ask(text)
    runs, missing = masked_runs(models, text, refusals.NO_MASK_TO_ATTRIBUTE)
    n_masks = min(len(run.tokens.mask_positions) for run in runs.values())
    if not is_index(mask, n_masks):
        sentence = refusals.ONE_MASK if n_masks == 1 else refusals.BAD_MASK
        raise Refusal(sentence.format(last=n_masks - 1))
    target = checked_text(target or "", "target").strip()
    targets, unknown = targets_of(runs, int(mask), target)
    if not targets:
        labels = [run.spec.label for run in runs.values()]
        raise Refusal(refusals.not_one_piece(target, labels))
    runs = {key: runs[key] for key in targets}
    results = attributions(runs, ask, int(mask), targets)
    text = next(iter(runs.values())).tokens.text
    return Attributions(text, models.name, int(mask), results, {**missing, **unknown})


def targets_of(
    runs: Mapping[str, Run], mask: int, word: str
) -> tuple[dict[str, int], dict[str, Refusal]]:
    """Return each model's token of a word, or its own answer, and why others have none."""
    targets: dict[str, int] = {}
    unknown: dict[str, Refusal] = {}
    for key, run in runs.items():
        own = answer_id(run.mask_logits[mask], run.vocabulary)
        token = word_id(run.vocabulary, word, run.spec.lower_case) if word else own
        if token < 0:
            unknown[key] = Refusal(refusals.not_one_piece(word, [run.spec.label]))
        else:
            targets[key] = token
    return targets, unknown


def attributions(
    runs: Mapping[str, Run], ask: Ask, mask: int, targets: Mapping[str, int]
) -> dict[str, Attribution]:
    """Compute both attributions of every model's answer."""
    left = {k: words_masked(r.tokens, r.tokens.mask_positions[mask]) for k, r in runs.items()}
    wanted = {k: [(where, targets[k]) for _, where in places] for k, places in left.items()}
    left_out = log_probabilities(runs, ask, wanted)
    results = {}
    for key, run in each(runs.items(), len(runs), "gradients"):
        decrease = {word: left_out[key][where] for word, where in left[key]}
        results[key] = _attribution(run, ask, (mask, targets[key]), decrease)
    return results


def _attribution(
    run: Run, ask: Ask, answer: tuple[int, int], left_out: Mapping[int, float]
) -> Attribution:
    from explorer.models.gradients import answer_slopes

    (mask, target), tokens = answer, run.tokens
    position = tokens.mask_positions[mask]
    slopes = call_on_model(answer_slopes, run.spec, ask, tokens, position, target)
    decrease = np.zeros(len(tokens.words))
    for word, log_probability in left_out.items():
        decrease[word] = slopes.difference - log_probability
    return Attribution(
        run.spec.key,
        run.spec.label,
        run.vocabulary[target],
        spelling_of(run.vocabulary).word(run.vocabulary[target]),
        tuple(word.text for word in tokens.words),
        tokens.word_index[position],
        slopes.difference,
        slopes.baseline,
        by_word(tokens, slopes.attributions),
        read_only(decrease),
        slopes.n_points,
    )
