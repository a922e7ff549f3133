"""The predictions tab's handlers, called as the page calls them."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.links.page_state import PageState
from explorer.models.specs import BASE, MINI
from explorer.models.tokens import BadText
from explorer.ui.kit.jobs import handler
from explorer.ui.predictions import strings
from explorer.ui.predictions import strings as texts
from explorer.ui.predictions import tab as predictions
from explorer.ui.predictions.folds import (
    WORDS,
    show_asked,
    show_contrast,
    show_joint,
    split_asked,
)
from explorer.ui.predictions.strings import CONTRAST_HINT
from explorer.ui.shell.tabs import values_of
from tests.markup import plain

LABELS = {"bert": "BERT", "distilbert": "DistilBERT", "albert": "ALBERT"}


def predictions_of(answers):
    """Stand-ins for what each model puts first into each mask."""
    return {
        key: SimpleNamespace(
            positions=tuple(range(len(words))),
            words=tuple((word,) for word in words),
            probabilities=np.full((len(words), 1), 0.5),
        )
        for key, words in answers.items()
    }


def test_the_headline_holds_up_to_fifty_words_per_model_and_gap(tiny_family):
    finding, canvas = values_of(predictions, PageState(text="the [MASK] sat on [he|she]"))
    data = json.loads(canvas)
    assert finding.startswith('<p class="finding">')
    assert [mask["before"] for mask in data["masks"]] == ["the ", "the [MASK] sat on "]
    assert list(data["models"]) == list(LABELS)
    for model in data["models"].values():
        for mask in model["masks"]:
            assert len(mask["words"]) == len(mask["p"]) == min(50, model["vocabulary"])
            assert sum(mask["p"]) <= 1 + 1e-6


def test_models_that_read_half_of_a_text_as_unknown_are_named_before_their_answers(tiny_family):
    said = plain(values_of(predictions, PageState(text="法国的首都是 [MASK] 。"))[0])
    read = " read half of this text or more as [UNK], so their answers are guesses. "
    assert said.startswith(f"mini-BERT and mini-DistilBERT{read}")
    assert "pieces as [UNK]: it does not know 法" in said
    german = plain(values_of(predictions, PageState(text="der hund ist [MASK]."))[0])
    assert "guesses" not in german


def test_a_text_without_a_gap_says_what_to_do(tiny_family):
    finding, canvas = values_of(predictions, PageState(text="the cat sat"))
    assert "No word is masked yet" in finding
    assert json.loads(canvas)["masks"] == []


def test_a_model_that_cannot_be_had_gets_a_card_and_the_others_go_on(tiny_family, monkeypatch):
    from explorer.inference import local
    from explorer.models.hub import ModelUnavailable

    real = local.leased

    def without_bert(where, *rest):
        if where.spec.key == "bert":
            raise ModelUnavailable(where.spec, "it is <b>gone</b>")
        return real(where, *rest)

    monkeypatch.setattr(local, "leased", without_bert)
    _, canvas = values_of(predictions, PageState(text="the [MASK] is here"))
    data = json.loads(canvas)
    assert "gone" in data["models"]["bert"]["card"]
    assert list(data["models"]) == list(LABELS)
    assert "masks" in data["models"]["distilbert"]
    assert "<b>" not in canvas


def test_markup_in_a_text_stays_text(tiny_family):
    asked = show_asked(PageState(text="the [MASK] sat"), "<img src=x onerror=alert(1)>")
    assert "<img" not in asked
    assert "&lt;img" in asked
    *_, (line, strip, _) = handler(WORDS)(PageState(text="<script> the cat </script>"))
    assert "<script" not in line + strip


def test_asking_answers_for_every_gap_and_refuses_too_much(tiny_family):
    table = show_asked(PageState(text="[MASK] sat on [MASK]"), "cat, the dog")
    assert table.count("<tr>") == 1 + 2 * 2
    assert split_asked(" a , ,a,b c ") == ["a", "b c"]
    assert strings.ASK_HINT in show_asked(PageState(text="[MASK] sat"), " ")
    for bad in (",".join("abcdefghi"), "x" * 61, "[SEP]", "[MASK]"):
        with pytest.raises(BadText):
            split_asked(bad)


def test_the_strip_starts_empty_and_ends_with_every_word(tiny_family):
    steps = list(handler(WORDS)(PageState(text="the cat sat on the [MASK] mat")))
    first, last = (json.loads(step[1])["words"] for step in (steps[0], steps[-1]))
    assert all(not word["models"] for word in first)
    assert [sorted(word["models"]) == sorted(LABELS) for word in last] == [True] * 5 + [False, True]
    assert "0 of 6 words" in steps[0][0]
    assert "words first, with a mean surprisal" in steps[-1][0]


def test_contrast_and_joint_say_what_they_need_first(tiny_family):
    assert CONTRAST_HINT in show_contrast(PageState(text="the [MASK] sat"))
    assert "Masks in the text: 1" in show_joint(PageState(text="the [MASK] sat"))
    assert "at most" in show_contrast(PageState(text="[a|b]" * 5))
    assert CONTRAST_HINT in show_contrast(PageState(text="the [cat|cat] sat")), "nothing differs"
    assert "is merged" in show_contrast(PageState(text="the cat s[at|the]"))


def test_contrast_and_joint_answer(tiny_family):
    shown = show_contrast(PageState(text="the [cat|dog] sat on [he|she]"))
    assert shown.count("pr-alternative") == 4
    assert shown.count("pr-contrast-row preferred") == 6
    joint = show_joint(PageState(text="the [MASK] sat on [MASK]"))
    assert joint.count('class="pr-line"') == 3 * 6


def test_asking_says_why_a_word_cannot_be_priced_and_prices_the_others(tiny_family):
    """“s” and “at” are one piece of both vocabularies, so the gap between them is gone."""
    html = show_asked(PageState(text="the cat s[MASK]"), "at, the")
    assert html.count("is merged") == 3
    assert len(re.findall(r"rank \d|\d masks: ", html)) == 3


def test_pieces_that_a_vocabulary_cannot_write_are_counted_and_origins_are_said(tiny_family):
    """Against the tokenizers themselves, special tokens left out."""
    text = "the 🦜 and 猫 sat on the [MASK]."
    finding, _ = values_of(predictions, PageState(text=text))
    shown = plain(finding)
    for key in LABELS:
        loaded = tiny_family.loaded(key)
        ids = loaded.tokenizer(text, add_special_tokens=False)["input_ids"]
        n = ids.count(loaded.tokenizer.unk_token_id)
        said = f"{loaded.spec.label} reads {n} of {len(ids)} pieces as"
        assert (said in shown) == (n > 0)
    assert "it does not know 🦜 and 猫" in shown
    assert (
        "does not know"
        not in values_of(predictions, PageState(text="the cat sat on the [MASK]."))[0]
    )
    alike = predictions_of({key: ["cat"] for key in LABELS})
    said = plain(texts.origin_note([*MINI.values()], alike))
    assert said == (
        "mini-DistilBERT was distilled from mini-BERT and mini-ALBERT's shared layer was initialised "
        "from one of mini-BERT's layers, then fitted to all of them and to its predictions, so their agreement is "
        "not independent evidence."
    )
    assert texts.origin_note([*BASE.values()], alike) is None
    unlike = predictions_of({key: [key] for key in LABELS})
    assert texts.origin_note([*MINI.values()], unlike) is None
    assert texts.origin_note([*MINI.values()], predictions_of({key: [] for key in LABELS})) is None
    twins = [BASE["bert"].in_column(name, name) for name in ("x", "y")]
    said = plain(texts.origin_note(twins, predictions_of({"x": ["a"], "y": ["a"]})))
    assert said == "y is the same model as x, so their agreement is not independent evidence."


def test_asking_at_many_masks_says_that_the_first_are_answered(tiny_family):
    six, four = (PageState(text=" [MASK] sat" * n) for n in (6, 4))
    assert "The first 4 of 6 masks are answered." in show_asked(six, "cat")
    assert "are answered" not in show_asked(four, "cat")
