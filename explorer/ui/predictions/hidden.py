"""Did it find my word? What each model's answer says of the word that the reader hid."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from explorer.models.run import Run
from explorer.models.tokens import BadText, Word
from explorer.page_state import PageState, hidden_words
from explorer.ui.predictions.masked_scores import loaded_models, plan_in

if TYPE_CHECKING:
    from explorer.analysis.predictions.masks import WordFound
    from explorer.models.loading import LoadedModel

Found = dict[str, "dict[int, WordFound]"]


def words_found(runs: Mapping[str, Run], state: PageState) -> Found:
    """Per model and mask, where its answer has the word that was hidden there."""
    hidden = {mask: word for mask, word in enumerate(hidden_words(state)) if word}
    if not hidden:
        return {}
    loaded = loaded_models(runs, state)
    return {
        key: {mask: _found(run, loaded[key], mask, word) for mask, word in hidden.items()}
        for key, run in runs.items()
    }


def _found(run: Run, loaded: "LoadedModel", mask: int, word: str) -> "WordFound":
    """The word put back and cut into pieces by the model's own tokenizer."""
    from explorer.analysis.predictions.masks import word_found

    text = run.tokens.text
    gap = [found for found in run.tokens.words if found.is_mask][mask]
    put_back = text[: gap.start] + word + text[gap.end :]
    try:
        plan = plan_in(loaded, put_back, Word(word, gap.start, gap.start + len(word)))
    except BadText:
        # Grown together with its neighbour, or nothing this model can read: no piece is its own.
        return word_found(run, mask, ())
    return word_found(run, mask, plan.targets)
