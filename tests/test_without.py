"""Every tab and fold answers where no model is available, none has a token, or one has no head."""

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.depth.states import layer_similarity
from explorer.inference import runs
from explorer.library.model_choice import UNCOUNTED, work_of
from explorer.links.page_state import PageState
from explorer.models.choice import own
from explorer.models.hub import ModelUnavailable
from explorer.models.tokens import MASK
from explorer.refusal import Refusal
from explorer.ui.attention.folds import show_summary
from explorer.ui.depth.folds import draw_similarity
from explorer.ui.depth.tab import read_deeper
from explorer.ui.shell.status import status_html
from explorer.ui.shell.tabs import TABS
from tests.tiny_models import make_bert, save
from tests.ui.shell.surfaces import folds, shown

TEXTS = {
    "a mask": "The [MASK] sat on the mat.",
    "a pair": "The cat sat. [SEP] It was a [MASK].",
    "no token": "\ufffd",
    "no token, with a mask": "\u00ad [MASK]",
}
GONE = "it is not in the cache and the model hub does not answer"
by_tab = pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.ID)


@pytest.fixture(autouse=True)
def few_sentences(three_sentences, tiny_family):
    pass


def answers(tab, state):
    """Return what the tab and each of its folds shows; a refusal is shown too."""
    try:
        found = {"tab": shown(tab, state)}
    except Refusal as refusal:
        found = {"tab": str(refusal)}
    return found | {name: "".join(map(str, values)) for name, values in folds(tab, state)}


@pytest.mark.long
@by_tab
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_fold_fails_on_what_models_drop(tab, text):
    assert all(answers(tab, PageState(text=text)).values())


@pytest.mark.long
@by_tab
def test_where_no_model_is_available_its_reason_is_said_and_no_mask_is_asked_for(tab, monkeypatch):
    def load_none(ask, *_):
        return {key: ModelUnavailable(spec, GONE) for key, spec in ask.specs.items()}

    monkeypatch.setattr(runs, "_load_all", load_none)
    for text in (TEXTS["a mask"], TEXTS["a pair"]):
        for name, said in answers(tab, PageState(text=text)).items():
            assert said, name
            assert "has no [MASK]" not in said, name
            assert "Write [SEP]" not in said, name
            assert not re.search(r"does not answer\.\w", said), name


@pytest.fixture
def headless(tmp_path, own_models):
    network, tokenizer = make_bert(4, 12, 48)
    save(network.bert, tokenizer, tmp_path / "encoder")
    own.add_models([f"bert={tmp_path / 'encoder'}"])
    return "bert=encoder,distilbert=mini,albert=mini"


@pytest.mark.long
@by_tab
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_model_without_a_head_keeps_nobody_from_an_answer(tab, dtype, headless):
    state = PageState(text=f"the {MASK} sat", family=headless, dtype=dtype)
    assert all(answers(tab, state).values())


def test_half_precision_of_a_model_without_a_head_is_its_attention_alone(headless):
    state = PageState(text=f"the {MASK} sat", family=headless, dtype="bfloat16")
    said = str(status_html(state, runs.get_runs(state.ask)[0]))
    assert "encoder: attention weights differ by up to" in said
    assert "mini-ALBERT: printed probabilities that differ" in said


def test_the_gradient_of_a_prediction_is_shown_of_the_models_that_have_one(headless):
    _, canvas, _ = show_summary(PageState(text=f"the {MASK} sat", family=headless), "gradient")
    assert "mini-ALBERT" in canvas
    assert "encoder" not in canvas


@pytest.mark.parametrize("text", ["\ufffd", "\u00ad", "\ue000"])
def test_every_word_of_a_text_without_a_word_is_refused(text):
    with pytest.raises(Refusal, match="No word in this text"):
        read_deeper({"want": "words", "params": {"text": text}})


def test_layers_are_compared_where_the_teacher_is_missing(tiny_family):
    words = {key: np.random.default_rng(0).random((5, 9, 4)) for key in ("distilbert", "albert")}
    specs = {key: tiny_family.specs[key] for key in words}
    specs["distilbert"] = replace(specs["distilbert"], initialised_from=(), is_own=True)
    said, canvas, _ = draw_similarity(layer_similarity(words), specs, PageState())
    assert said
    assert canvas


def test_passes_are_timed_where_no_model_is_here_to_count_tokens():
    assert work_of(PageState().ask, "right", ()).workload.length == UNCOUNTED
