"""The /distillation endpoint: its shape, its numbers against plain torch, and what it refuses."""

import json

import pytest
import torch

from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.refusal import Refusal
from explorer.ui.distillation.runs import Focus, focus_of
from tests.endpoints import distillation

TEXT = "the [MASK] sat on the [MASK]."


def test_shape_and_numbers(tiny_family):
    found = distillation(TEXT, "mini", 2.0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found) == ["temperature", "masks", "losses", "weights"]
    assert found["weights"] == {"ce": 5.0, "mlm": 2.0, "cos": 1.0}
    assert found["losses"]["mlm"] is None
    total = 5 * found["losses"]["ce"] + found["losses"]["cos"]
    assert found["losses"]["total"] == pytest.approx(total)
    assert found["losses"]["total_is_of"] == ["ce", "cos"]
    tokens = tiny_family.run("bert", TEXT).tokens
    assert [mask["position"] for mask in found["masks"]] == list(tokens.mask_positions)
    assert set(found["masks"][0]) == {
        "position",
        "tokens",
        "teacher",
        "student",
        "kl_teacher_student",
        "kl_student_teacher",
        "js",
        "entropy_teacher",
        "entropy_student",
    }
    loaded = tiny_family.loaded("distilbert")
    logits = loaded.network(torch.tensor([tokens.ids])).logits[0, tokens.mask_positions[1]]
    p = (logits / 2).softmax(-1)
    mask = found["masks"][1]
    for token, q in zip(mask["tokens"], mask["student"], strict=True):
        assert float(p[loaded.tokenizer.convert_tokens_to_ids(token)]) == pytest.approx(q, abs=1e-4)


@pytest.mark.parametrize("temperature", [0, float("nan"), float("inf"), -3, 21])
def test_a_bad_temperature_is_refused(tiny_family, temperature):
    with pytest.raises(Refusal, match="temperature must be a number"):
        distillation(TEXT, "mini", temperature)


@pytest.mark.parametrize(
    ("text", "family", "sentence"),
    [
        ("", "mini", "no text"),
        (TEXT, "huge", "no such family"),
        ("[MASK] " * 21, "mini", "21 masks"),
        ("the cat sat.", "mini", r"no \[MASK\]"),
    ],
)
def test_bad_input_is_one_sentence(tiny_family, text, family, sentence):
    with pytest.raises(Refusal, match=sentence):
        distillation(text, family)


def test_focus_is_the_texts_own_mask_or_its_last_word():
    text = "a [MASK] b"
    assert focus_of(PageState(text=text)) == Focus(text, 1, text, 0)
    hidden = focus_of(PageState(text="the cat sat."))
    assert (hidden.text, hidden.answer) == ("the cat [MASK].", "sat")


def test_a_text_of_marks_has_nothing_to_hide():
    with pytest.raises(Refusal, match="Nothing to mask yet"):
        focus_of(PageState(text="?!"))


def test_the_words_are_the_ten_likeliest_of_each(tiny_family):
    found = distillation(TEXT, "mini", 2.0)
    likeliest = set()
    for key in ("bert", "distilbert"):
        run = tiny_family.run(key, TEXT)
        likeliest |= {run.vocabulary[i] for i in (-run.mask_logits[0]).argsort()[:10]}
    assert set(found["masks"][0]["tokens"]) == likeliest


def test_the_family_asked_for_is_the_one_that_runs(monkeypatch):
    asked = []

    def pair_logits(ask, keys):
        asked.append((ask.text, tuple(spec.name for spec in ask.specs.values())))
        raise Refusal("seen")

    monkeypatch.setattr("explorer.library.distillation.pair_logits", pair_logits)
    for family in ("mini", "base"):
        with pytest.raises(Refusal, match="seen"):
            distillation(TEXT, family, 2.0)
    assert asked == [
        (TEXT, tuple(spec.name for spec in family_specs(family))) for family in ("mini", "base")
    ]
