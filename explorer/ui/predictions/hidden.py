"""Did it find my word? What each model's answer says of the word that the reader hid."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from explorer.links.page_state import PageState, hidden_words
from explorer.models.run import Run
from explorer.models.tokens import put_into
from explorer.ui.predictions.masked_scores import plans_of

if TYPE_CHECKING:
    from explorer.analysis.predictions.masks import WordFound

Found = dict[str, "dict[int, WordFound]"]


def words_found(runs: Mapping[str, Run], state: PageState) -> Found:
    """Per model and mask, where its answer has the word that was hidden there."""
    hidden = {mask: word for mask, word in enumerate(hidden_words(state)) if word}
    if not hidden:
        return {}
    return {key: _found(run, state, hidden) for key, run in runs.items()}


def _found(run: Run, state: PageState, hidden: Mapping[int, str]) -> "dict[int, WordFound]":
    """Each word put back and cut into pieces by the model's own tokenizer.

    Grown together with its neighbour, or nothing this model can read: no piece is its own.
    """
    from explorer.analysis.predictions.masks import word_found

    text, gaps = run.tokens.text, [word for word in run.tokens.words if word.is_mask]
    stretches = [put_into(text, gaps[mask], word) for mask, word in hidden.items()]
    plans = zip(hidden, plans_of(run, state, stretches), strict=True)
    return {
        mask: word_found(run, mask, () if isinstance(plan, str) else plan.targets)
        for mask, plan in plans
    }
