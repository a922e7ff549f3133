"""One model in columns by different names: what is kept of one column is never shown as another's."""

import pytest

from explorer.context import configure
from explorer.links.page_state import PageState
from explorer.ui.attention import folds as attention
from explorer.ui.depth import patching
from explorer.ui.distillation import folds as distillation
from explorer.ui.kit.jobs import handler
from explorer.ui.layer import folds as layer
from explorer.ui.shell.tabs import TABS, values_of
from tests.js.page_values import SENTENCES
from tests.ui.shell.surfaces import folds

TEXTS = ("the cat sat on the [MASK].", "the cat sat. [SEP] it was [MASK].")
NAMES = ("qaa", "qbb")
JOBS = {
    "attention": (attention.SWEEP,),
    "layer": (layer.HELD_OUT,),
    "depth": (patching.PATCHING, "the dog sat on the [MASK]."),
    "distillation": (distillation.AGREEMENT,),
}
"""Jobs behind a button, with what they are asked besides the state."""


def state_of(name, text):
    """Return the page of a model in a column by this name, before two others."""
    family = f"only,{name}=mini-bert,other=mini-albert,twin=mini-bert"
    return PageState(text=text, family=family, model=name)


def everything(tab, state):
    """Return all that a tab shows of a text, its folds and jobs included."""
    found = [values_of(tab, state), *(values for _, values in folds(tab, state))]
    if tab.ID in JOBS and "[SEP]" not in state.text:
        job, *rest = JOBS[tab.ID]
        found.append(list(handler(job)(state, *rest))[-1])
    return "\n".join(value for values in found for value in values if isinstance(value, str))


@pytest.mark.long
@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.ID)
def test_a_column_never_shows_the_name_under_which_its_model_was_kept(
    tab, tuned_family, three_sentences, monkeypatch
):
    for module in (distillation, layer.assets):
        monkeypatch.setattr(module, "sentences", lambda: SENTENCES)
    for text in TEXTS:
        answers = []
        for name, other in (NAMES, NAMES[::-1], NAMES):
            configure(columns=(name, "other", "twin"))
            answer = everything(tab, state_of(name, text))
            assert other not in answer
            answers.append(answer.replace(name, "X"))
        assert name in answer or tab.ID in {"texts", "latency", "claims"}
        assert answers[0] == answers[1] == answers[2]
