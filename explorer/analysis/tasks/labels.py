"""Values that a classifier's head gives to its labels for a text, and why, by word."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.analysis.measures import softmax
from explorer.analysis.scoring import by_word
from explorer.analysis.tasks.tuned import shorter_texts
from explorer.models.run import read_only
from explorer.models.specs import ONE_LABEL, SCORE, TaskHead

if TYPE_CHECKING:
    from explorer.models.loading import LoadedModel

MAX_WORDS = 256
"""Most words of a text whose label is attributed; the page and its endpoint take fewer."""
PREDICTED = "predicted"
"""Name for the label that a model itself gives the largest value."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelValues:
    """One model's value of each of its labels for a text."""

    labels: tuple[str, ...]
    """In the order of the head's outputs."""
    values: np.ndarray
    """float64 [label]: probabilities, which add up to 1 where one label holds; scores as they are.
    """
    problem: str
    """``single_label_classification``, ``multi_label_classification`` or ``regression``."""

    @property
    def order(self) -> tuple[int, ...]:
        """The labels' indices by falling value; equal ones keep the head's order."""
        return tuple(np.argsort(-self.values, kind="stable").tolist())

    @property
    def top(self) -> str:
        """The label with the largest value."""
        return self.labels[self.order[0]]


@dataclass(frozen=True, slots=True, eq=False)
class LabelAttribution:
    """Attribution of one model's label to the words of a text, by two methods.

    The attributed number is the label's log-odds ln (p / (1 - p)), or the score of a head that
    gives one. With two labels, the log-odds are the logit of one minus that of the other.
    """

    label: str
    words: tuple[str, ...]
    value: float
    """The attributed number for the text."""
    baseline: float
    """The same for the text with every token masked, where the path of the integral begins."""
    integrated_gradients: np.ndarray
    """float64 [word]: parts of ``value - baseline``."""
    leave_one_out: np.ndarray
    """float64 [word]: decrease of the value when the word is left out of the text."""

    @property
    def completeness_error(self) -> float:
        """The error of the gradients' sum against ``value - baseline``; 0 is exact."""
        explained = self.value - self.baseline
        return float(abs(self.integrated_gradients.sum() - explained))


def label_values(logits: np.ndarray, head: TaskHead) -> LabelValues:
    """Return the values of a head's labels from its logits [label], computed in float64.

    A softmax over the labels where one of them holds, a sigmoid of each where several may, and the
    logits themselves where they are scores.
    """
    from scipy.special import expit

    logits = logits.astype(np.float64)
    if head.problem == ONE_LABEL:
        values = softmax(logits)
    else:
        values = logits if head.problem == SCORE else expit(logits)
    return LabelValues(head.labels, read_only(values), head.problem)


def text_labels(loaded: "LoadedModel", text: str) -> LabelValues:
    """Return a model's value of each of its labels for a text; ``A [SEP] B`` is a pair.

    Raises:
        BadText: the text is empty or too long. NotTuned: the model has no head for texts.
    """
    from explorer.models.task_heads.adapters import head_for, tuned_of
    from explorer.models.task_heads.classifiers import class_logits

    task, head = head_for(loaded.spec, "classes")
    return label_values(class_logits(tuned_of(loaded, task), text), head)


def label_attribution(loaded: "LoadedModel", text: str, label: str) -> LabelAttribution:
    """Return the attribution of a label to the words of a text, or of the model's own label.

    Args:
        loaded: The model.
        text: The text; ``A [SEP] B`` is a pair.
        label: The label's name; ``predicted`` for the label of the largest value.

    Raises:
        BadText: the text has too many words. NotTuned: there is no head for texts.
        KeyError: the head has no such label.
    """
    from explorer.models.task_heads.adapters import head_for, tuned_of
    from explorer.models.task_heads.classifiers import log_odds, margin_slopes, margins, own_logit

    task, head = head_for(loaded.spec, "classes")
    tuned = tuned_of(loaded, task)
    name = label if label in head.labels or label != PREDICTED else text_labels(loaded, text).top
    if name not in head.labels:
        raise KeyError(name)
    place = head.labels.index(name)
    margin = log_odds(place) if head.problem == ONE_LABEL else own_logit(place)
    shorter = shorter_texts(text, MAX_WORDS)
    slopes = margin_slopes(tuned, text, margin)
    left_out = margins(tuned, shorter, margin)
    return LabelAttribution(
        name,
        tuple(word.text for word in slopes.tokens.words),
        slopes.difference,
        slopes.baseline,
        by_word(slopes.tokens, slopes.attributions),
        read_only(slopes.difference - left_out),
    )
