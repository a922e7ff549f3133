"""Live checks of tuning: scores of tuned models, heads before it, names of people and places."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from explorer.analysis.claims.outcomes import (
    CLAIMED,
    CheckOutcome,
    Quantity,
    all_hold,
    family_name,
    lies_in,
    listed,
    percent,
)
from explorer.analysis.measures import share_interval
from explorer.assets import DATA, read_in, text_lists
from explorer.models.architectures import CheckModels
from explorer.models.choice.family import family_specs
from explorer.models.forward import run_model, tokenize
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import LoadedModel
from explorer.models.run import read_only
from explorer.models.specs import ModelSpec
from explorer.models.task_heads.adapters import NotTuned, fitting_card, tuned_of
from explorer.models.task_heads.classifiers import class_logits, tag_plans
from explorer.refusal import Sentence

NO_ADAPTER = Sentence("no-fitting-adapter", "it has no adapter for this task that fits")
NO_TOKEN = Sentence("no-token-of-names", "its tokenizer has no token for a word of these sentences")
HEADS = 20
"""Number of untrained heads, each drawn as transformers draws one: normal, with deviation 0.02."""
RIDGE = 300.0
"""Penalty on the weights of the tags' regression, over standardised states."""
FOLDS = 5
SPANS = ("P", "L")
"""Tags in ``names.txt``: of a person's and a place's words; other words have none."""
DRAWS = 500
"""Draws of sentences for an interval."""
Span = tuple[int, int, int]
"""Tag, first word and last word."""
Tagged = tuple[tuple[str, ...], np.ndarray]
"""Words of a sentence, and the tag of each: 0 for none, else 1 + its place in ``SPANS``."""


def sentiment_accuracy(models: CheckModels) -> CheckOutcome:
    """Check LC21: SST-2 accuracy of the tuned models, against the majority class."""
    return _tuned_check(models, "sst2", "accuracy", "SST-2 dev accuracy")


def answer_overlap(models: CheckModels) -> CheckOutcome:
    """Check LC29: SQuAD F1 of the tuned models, against always answering the first three words."""
    return _tuned_check(models, "squad", "f1", "SQuAD v1.1 dev F1")


def _tuned_check(models: CheckModels, task: str, score: str, name: str) -> CheckOutcome:
    """Check that each model's interval lies above the score of a guess that reads nothing."""
    scores = {spec.key: _score(models, spec.key, task, score) for spec in _specs(models)}
    texts = {
        key: f"{100 * row['value']:.1f}% [{100 * row['interval'][0]:.1f}, "
        f"{100 * row['interval'][1]:.1f}]"
        for key, row in scores.items()
    }
    guess = max(row["guess"] for row in scores.values())
    return CheckOutcome(
        f"{name} when they were tuned, with 95% intervals: {listed(texts)}; a guess that reads "
        f"nothing reaches {100 * guess:.1f}%",
        all_hold(lies_in((*row["interval"],), guess, 1) for row in scores.values()),
        family_name(models.family),
        {key: percent(100 * row["value"], f" ({name})") for key, row in scores.items()},
    )


def _specs(models: CheckModels) -> tuple:
    return tuple(spec for spec in family_specs(models.family) if spec.key in CLAIMED)


def _score(models: CheckModels, key: str, task: str, score: str) -> dict[str, Any]:
    """Return one score of a model's card.

    Raises:
        ModelUnavailable: the model has no adapter that fits.
    """
    spec = next(spec for spec in _specs(models) if spec.key == key)
    with _needs_adapter(spec):
        return fitting_card(spec, task)["scores"][score]


@contextmanager
def _needs_adapter(spec: ModelSpec) -> Iterator[None]:
    """A model without a fitting adapter is not available here, so that the check waits."""
    try:
        yield
    except NotTuned as error:
        raise ModelUnavailable(spec, NO_ADAPTER) from error


def untrained_heads(models: CheckModels) -> CheckOutcome:
    """Check LC36: accuracy on the bundled reviews before tuning, with untrained heads, and after.

    An untrained head reads the last state of [CLS] in the network that no task has changed. The
    check holds where every tuned model is better than its untrained heads are on average.
    """
    texts, truth = _reviews()
    before, after = {}, {}
    for spec in _specs(models):
        with models.leased(spec.key) as loaded:
            before[spec.key] = _by_untrained(loaded, texts, truth)
            after[spec.key] = _by_tuned(loaded, spec, texts, truth)
    told = {
        key: f"{100 * after[key]:.0f}% after and {100 * shares.mean():.0f}% before "
        f"({100 * shares.min():.0f} to {100 * shares.max():.0f}%)"
        for key, shares in before.items()
    }
    intervals = {
        key: share_interval(share * len(texts), len(texts)) for key, share in after.items()
    }
    gains = {
        key: tuple(100 * (end - before[key].mean()) for end in (after[key], *intervals[key]))
        for key in after
    }
    return CheckOutcome(
        f"right of {len(texts)} reviews after tuning, and before it with {HEADS} untrained heads: "
        f"{listed(told)}",
        all_hold(lies_in((low, high), 0, 100) for _, low, high in gains.values()),
        family_name(models.family),
        {
            key: Quantity(gain, f"{gain:.0f} points more after tuning", low, high)
            for key, (gain, low, high) in gains.items()
        },
    )


def _reviews() -> tuple[tuple[str, ...], np.ndarray]:
    """Return the bundled reviews, and for each whether it is good."""
    content = next(each["content"] for each in text_lists() if each["name"] == "reviews")
    rows = list(csv.DictReader(content.splitlines()))
    return tuple(row["text"] for row in rows), np.array([row["label"] == "good" for row in rows])


def _by_untrained(loaded: LoadedModel, texts: Sequence[str], truth: np.ndarray) -> np.ndarray:
    """Return the accuracy of each untrained head: float64 [head]."""
    runs = (run_model(loaded, tokenize(loaded, text)) for text in texts)
    states = np.array([run.hidden_states[-1, 0] for run in runs])
    heads = np.random.default_rng(0).normal(0, 0.02, (HEADS, states.shape[1], 2))
    predicted = (states @ heads).argmax(-1).astype(bool)
    return (predicted == truth).mean(-1)


def _by_tuned(
    loaded: LoadedModel, spec: ModelSpec, texts: Sequence[str], truth: np.ndarray
) -> float:
    """Return the accuracy of the tuned model.

    Raises:
        ModelUnavailable: the model has no adapter that fits.
    """
    with _needs_adapter(spec):
        tuned = tuned_of(loaded, "sst2")
    predicted = [bool(class_logits(tuned, text).argmax()) for text in texts]
    return float(np.mean(predicted == truth))


def named_entities(models: CheckModels) -> CheckOutcome:
    """Check LC37: exact-span F1 of names that a linear head finds in the states of each model.

    The head is a ridge regression on the last states, as in the feature-based approach of Devlin
    et al. (2019, section 5.3). Every sentence is tagged by the head of a fold without it. The
    control is the same regression with the tags of the words shuffled.
    """
    data, scores, chance = tagged_sentences(), {}, {}
    for spec in _specs(models):
        with models.leased(spec.key) as loaded:
            states = [word_states(loaded, words) for words, _ in data]
        tags = [tag for _, tag in data]
        scores[spec.key] = _f1_interval(tags, by_folds(states, tags))
        shuffled = np.random.default_rng(0).permutation(np.concatenate(tags))
        ends = np.cumsum([len(tag) for tag in tags])[:-1]
        chance[spec.key] = span_f1(tags, by_folds(states, np.split(shuffled, ends)))
    told = {
        key: f"{100 * value:.0f}% [{100 * low:.0f}, {100 * high:.0f}]"
        for key, (value, low, high) in scores.items()
    }
    worst = max(chance.values())
    return CheckOutcome(
        f"F1 of the names in {len(data)} sentences by a linear head on the last states, with 95% "
        f"intervals: {listed(told)}; at most {100 * worst:.0f}% with shuffled tags",
        all_hold(
            lies_in((low, high), np.nextafter(chance[key], 1), 1)
            for key, (_, low, high) in scores.items()
        ),
        family_name(models.family),
        {
            key: Quantity(100 * f1, f"F1 {100 * f1:.0f}% of names", 100 * low, 100 * high)
            for key, (f1, low, high) in scores.items()
        },
    )


@cache
def tagged_sentences() -> tuple[Tagged, ...]:
    """Return the bundled sentences with names of people and places."""
    path = DATA / "names.txt"
    with read_in(path):
        found = []
        for line in path.read_text("utf-8").splitlines():
            parts = [word.partition("/") for word in line.split()]
            tags = [SPANS.index(tag) + 1 if tag else 0 for _, _, tag in parts]
            found.append((tuple(word for word, *_ in parts), read_only(np.array(tags))))
        return tuple(found)


def word_states(loaded: LoadedModel, words: Sequence[str]) -> np.ndarray:
    """Return the last state at the first token of each word: float32 [word, d_model].

    Raises:
        ModelUnavailable: the model's tokenizer reads a word as no token of its own.
    """
    (plan,) = tag_plans(loaded, [words], loaded.max_tokens)
    if isinstance(plan, str):
        raise ModelUnavailable(loaded.spec, NO_TOKEN)
    return run_model(loaded, tokenize(loaded, " ".join(words))).hidden_states[-1][list(plan.firsts)]


def by_folds(states: Sequence[np.ndarray], tags: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the tags of each sentence's words, by a regression on the sentences of other folds."""
    found: list[np.ndarray] = [np.array([])] * len(tags)
    for held in range(FOLDS):
        learnt = [place for place in range(len(tags)) if place % FOLDS != held]
        x = np.concatenate([states[place] for place in learnt]).astype(np.float64)
        y = np.eye(1 + len(SPANS))[np.concatenate([tags[place] for place in learnt])]
        middle, spread = x.mean(0), x.std(0) + 1e-6
        x = (x - middle) / spread
        weights = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ (y - y.mean(0)))
        for place in range(held, len(tags), FOLDS):
            found[place] = ((states[place] - middle) / spread @ weights + y.mean(0)).argmax(1)
    return found


def spans_of(tags: np.ndarray) -> set[Span]:
    """Return the spans of words that have the same tag and are next to each other."""
    starts = [0, *(np.flatnonzero(np.diff(tags)) + 1), len(tags)]
    return {
        (int(tags[first]), first, end - 1) for first, end in pairwise(starts) if tags[first] > 0
    }


def span_f1(truth: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> float:
    """Return F1 = 2 hits / (true spans + found spans) of exact spans, 0 without any."""
    return _f1(_counts(truth, found))


def _counts(truth: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> np.ndarray:
    """Return by sentence the hits, the true spans and the found spans: int64 [sentence, 3]."""
    spans = zip(map(spans_of, truth), map(spans_of, found), strict=True)
    return np.array([(len(ours & theirs), len(ours), len(theirs)) for ours, theirs in spans])


def _f1(counts: np.ndarray) -> float:
    hits, n_true, n_found = counts.sum(0)
    return float(2 * hits / max(1, n_true + n_found))


def _f1_interval(
    truth: Sequence[np.ndarray], found: Sequence[np.ndarray]
) -> tuple[float, float, float]:
    """Return F1 and the ends of its 95% interval, by a bootstrap over the sentences."""
    counts = _counts(truth, found)
    draws = np.random.default_rng(0).integers(len(counts), size=(DRAWS, len(counts)))
    low, high = np.quantile([_f1(counts[draw]) for draw in draws], (0.025, 0.975))
    return _f1(counts), float(low), float(high)
