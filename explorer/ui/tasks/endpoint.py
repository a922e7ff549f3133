"""``/pair``, ``/sentiment`` and ``/question``: the answers of three task heads, as JSON."""

from typing import Any

from explorer.analysis.tasks.pairs import SentencePair
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.specs import ModelSpec
from explorer.models.tokens import SEPARATOR, plain_text
from explorer.refusal import Refusal
from explorer.ui.kit.validation import checked_state
from explorer.ui.tasks import strings
from explorer.ui.tasks.pairs import ask_heads, head_is_there, skill_of
from explorer.ui.tasks.tuned import Specs, ask_all, readable, tuned_family


def pair(first: str, second: str, family: str = "mini") -> dict[str, Any]:
    """Return each model's sentence-pair prediction for two sentences, as given and swapped.

    Args:
        first: The first sentence.
        second: The second sentence.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per model its ``objective``: "nsp" (does the second follow?), "sop" (are they in order?) or
        null; whether the checkpoint holds a ``trained`` head; the probability of yes for both
        orders, null without such a head; and a ``note`` on how good the head is, or why there is
        none.
    """
    state = checked_state(family)
    sentences = [
        " ".join(plain_text(str(sentence)).replace(SEPARATOR, " ").split())
        for sentence in (first, second)
    ]
    if not all(any(map(str.isalnum, sentence)) for sentence in sentences):
        raise Refusal(strings.BAD_PAIR)
    sentence_pair = SentencePair(sentences[0], sentences[1], sentences[1])
    return {"models": [_as_json(spec, sentence_pair, state) for spec in family_specs(state.family)]}


def sentiment(text: str, family: str = "mini") -> dict[str, Any]:
    """Return how positive each tuned model finds a text, and each word's attribution.

    Args:
        text: A sentence or a short review, at most 64 words and signs.
        family: "mini" (bundled weights), "base" or "large" (the published checkpoints), or a size
            for each model: "bert=large,distilbert=base,albert=xlarge".

    Returns:
        Per tuned model the probability of ``positive``, the ``words``, and two attributions of
        positive minus negative in logits: ``integrated_gradients`` (from a text of masks) and
        ``leave_one_out``; ``completeness_error``: how far the first are from adding up;
        ``baseline``: positive minus negative of the text of masks, from which they lead to that of
        the text. ``missing`` says which models are not tuned, and why.
    """
    from explorer.analysis.tasks.tuned import tuned_sentiment

    state = checked_state(family)
    specs, missing = _tuned(state, "sst2")
    results = ask_all(specs, state, tuned_sentiment, readable(str(text)))
    return {
        "models": [
            {
                "model": key,
                "positive": result.positive,
                "words": list(result.words),
                "integrated_gradients": result.integrated_gradients.tolist(),
                "leave_one_out": result.leave_one_out.tolist(),
                "completeness_error": result.completeness_error,
                "baseline": result.baseline,
            }
            for key, result in results.items()
        ],
        "missing": missing,
    }


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
    from explorer.analysis.tasks.tuned import tuned_answer
    from explorer.models.task_heads.classifiers import read_passage

    state = checked_state(family)
    specs, missing = _tuned(state, "squad")
    read_text = read_passage(str(passage))
    results = ask_all(specs, state, tuned_answer, str(question), read_text)
    return {
        "passage": read_text,
        "models": [
            {
                "model": key,
                "answers": [
                    {
                        "text": read_text[span.start : span.end],
                        "start": span.start,
                        "end": span.end,
                        "score": span.score,
                    }
                    for span in result.best
                ],
            }
            for key, result in results.items()
        ],
        "missing": missing,
    }


def _tuned(state: PageState, task: str) -> tuple[Specs, dict[str, str]]:
    specs, missing = tuned_family(state, task)
    if not specs:
        raise Refusal(" ".join(missing.values()))
    return specs, missing


def _as_json(spec: ModelSpec, sentence_pair: SentencePair, state: PageState) -> dict[str, Any]:
    from explorer.models.hub import ModelUnavailable

    written: float | None = None
    swapped: float | None = None
    try:
        trained = head_is_there(spec, state)
        note = strings.head_said(spec, trained, skill_of(spec)).replace("\n", " ")
        if trained:
            answers = ask_heads({spec.key: spec}, sentence_pair, state)
            written, swapped, _ = answers[spec.key].in_order.tolist()
    except ModelUnavailable as error:
        trained, note = False, str(error)
    return {
        "model": spec.key,
        "objective": spec.kind.pair.objective if spec.kind.pair else None,
        "trained": trained,
        "probability_in_order": written,
        "probability_swapped": swapped,
        "note": note,
    }
