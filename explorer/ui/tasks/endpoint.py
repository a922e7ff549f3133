"""``/pair``, ``/sentiment``, ``/classify``, ``/entities``, ``/question``: task heads, as JSON."""

from typing import Any

from explorer.library import labels as of_labels
from explorer.library import tasks as library
from explorer.ui.kit.validation import page_family


def pair(first: str, second: str, family: str = "mini") -> dict[str, Any]:
    """Return each model's sentence-pair prediction for two sentences, as given and swapped.

    Args:
        first: The first sentence.
        second: The second sentence.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per model its ``objective``: "nsp" (does the second follow?), "sop" (are they in order?) or
        null. ``trained`` says whether the checkpoint holds such a head. The probability of yes for
        both orders is null without it. A ``note`` says how good the head is, or why there is none.
    """
    return library.pair(first, second, page_family(family)).to_dict()


def sentiment(text: str, family: str = "mini") -> dict[str, Any]:
    """Return how positive each tuned model finds a text, and each word's attribution.

    Args:
        text: A sentence or a short review, at most 64 words and signs.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per tuned model the probability of ``positive``, the ``words``, and two attributions of
        positive minus negative in logits: ``integrated_gradients`` and ``leave_one_out``. The first
        are integrated from a text of masks to the text. ``baseline`` is positive minus negative of
        the text of masks. ``completeness_error`` is how far the integrated gradients are from
        adding up. ``missing`` says which models are not tuned, and why.
    """
    return library.sentiment(text, page_family(family)).to_dict()


def classify(
    text: str, family: str = "mini", labels: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    """Return the value that each model's classifier gives to each of its labels for a text.

    Args:
        text: The text; ``A [SEP] B`` is a pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        labels: Names for the labels of a head, in the order of its outputs, such as
            {"bert": ["negative", "positive"]}.

    Returns:
        Per model its ``labels`` by falling ``value``. ``problem`` says what a value is:
        "single_label_classification" (probabilities that add up to 1), "multi_label_classification"
        (a probability for each label) or "regression" (a score). ``missing`` says which models
        bring no such head.
    """
    return of_labels.classify(text, page_family(family), labels).to_dict()


def entities(
    text: str, family: str = "mini", labels: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    """Return the spans of a text that each model's token classifier labels, such as names.

    Args:
        text: The text.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge". None of these has such a
            head: name columns that the page was started with.
        labels: Names for the tags of a head, in the order of its outputs, such as
            {"bert": ["O", "B-PER", "I-PER"]}.

    Returns:
        Per model the ``words``, their ``tags`` (of the first token of each) and ``probabilities``,
        and the ``entities`` that the tags make. An entity has its ``label``, its ``text``,
        ``start`` and ``end`` in characters, and ``first`` and ``last`` in words from 0. ``score``
        is the mean probability of its tags, and ``is_whole`` is false where these break their
        scheme. ``missing`` says which models bring no such head.
    """
    return of_labels.entities(text, page_family(family), labels).to_dict()


def question(question: str, passage: str, family: str = "mini") -> dict[str, Any]:
    """Return each tuned model's answers to a question, as spans of a passage.

    Args:
        question: The question.
        passage: The text that holds the answer; a long one is read in overlapping windows.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per tuned model its three likeliest ``answers``: ``text``, ``start`` and ``end`` as
        characters of the passage, and ``score``, p(start) p(end). ``passage`` is the text as it was
        read; ``missing`` says which models are not tuned, and why.
    """
    return library.question(question, passage, page_family(family)).to_dict()
