"""``/predict``: each model's predictions for the masks of a text, as JSON."""

from typing import Any

from explorer.analysis.predictions import mask_predictions
from explorer.inference.runs import runs_with_mlm_head
from explorer.library import predictions as library
from explorer.links.page_state import PageState
from explorer.ui.kit.validation import check_words, page_family
from explorer.views.preview import FirstAnswer

MAX_WORDS = 64
"""Most words of a text that is scored or attributed, because each takes a forward pass."""


def predict(text: str, family: str = "mini", top_k: int = 10) -> dict[str, Any]:
    """Return the predictions of BERT, DistilBERT and ALBERT for each [MASK] of a text.

    Args:
        text: The text, with at least one [MASK]; ``A [SEP] B`` makes a sentence pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        top_k: How many words per mask, 1 to 50.

    Returns:
        The text as it was run, the family, and per model its tokens and masks. ``position``
        counts tokens from 0. ``remaining`` is the mass outside the listed words. ``missing``, only
        where a model could not be asked, says which one and why.
    """
    return library.predict(text, page_family(family), top_k).to_dict()


def score(text: str, family: str = "mini") -> dict[str, Any]:
    """Return each model's pseudo-log-likelihood of a text, by two definitions, in nats.

    Args:
        text: The text, without [MASK], at most 64 words and signs; ``A [SEP] B`` makes a pair.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per model two sums over the ``tokens``. ``pll`` masks each token alone (Salazar et al.
        2020). ``pll_word_l2r`` also masks the later pieces of its word (Kauf and Ivanova 2023); a
        word is what the model's tokenizer takes for one.
        ``unknown`` is how many of the tokens the vocabulary does not know. Sums of two models do
        not compare.
    """
    check_words(text, MAX_WORDS)
    return library.score(text, page_family(family)).to_dict()


def attribute(  # noqa: PLR0913 - the endpoint's published arguments
    text: str,
    family: str = "mini",
    target: str = "",
    mask: int = 0,
    label: str = "",
    word: int = -1,
) -> dict[str, Any]:
    """Return which words of a text each model's answer at a mask, or its label, is read from.

    Args:
        text: The text, at most 64 words and signs; with at least one [MASK] unless a label or a
            word is given.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".
        target: The word, one piece of every vocabulary; empty: each model's own answer.
        mask: The mask, counted from 0.
        label: A label of the models' classifiers; "predicted": the label that each model predicts.
        word: Word whose label is attributed, from 0, such as the ``first`` of a span of
            ``/entities``; without one, the label is the text's.

    Returns:
        Per model the ``target``, its ``log_probability``, the ``words``, and two attributions of
        ln P in nats. ``integrated_gradients`` start from a text of masks, whose ln P is the
        ``baseline``. ``completeness_error`` is how far they are from adding up. ``leave_one_out``
        masks each word in turn. ``missing`` says which models could not be asked, and why. With a
        label, the attributed ``value`` is the ``label``'s log-odds, or a score, and
        ``leave_one_out`` removes each word in turn. With a word, it is the log-odds of that word's
        label at its first token, and ``leave_one_out`` masks each word in turn.
    """
    check_words(text, MAX_WORDS)
    return library.attribute(text, page_family(family), target, mask, label, word).to_dict()


def first_answers(state: PageState) -> list[FirstAnswer]:
    """Return each model's first answer at the first mask, as readers spell it; none without masks.

    Raises:
        BadText: the text cannot be run.
    """
    runs, _ = runs_with_mlm_head(state.ask)
    results = {key: mask_predictions(run, 1) for key, run in runs.items()}
    return [
        FirstAnswer(
            key, runs[key].spec.label, result.words[0][0], float(result.probabilities[0][0])
        )
        for key, result in results.items()
        if result.positions
    ]
