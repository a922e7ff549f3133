"""Sentiment and questions on the page and by their endpoints: numbers, cards, and bad input."""

import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.tasks.tuned import WordSentiment
from explorer.links.page_state import PageState
from explorer.models.specs import MINI
from explorer.models.task_heads import adapters
from explorer.models.task_heads.adapters import tuned_model
from explorer.models.task_heads.classifiers import log_odds, margins
from explorer.refusal import Refusal
from explorer.ui.shell.tabs import values_of
from explorer.ui.tasks import strings as texts
from explorer.ui.tasks import tab, tuned
from explorer.ui.tasks.tuned import FIRST_QUESTION
from explorer.views.labels import word_sentiment_html
from tests.endpoints import question, sentiment
from tests.markup import every

TEXT = "the cat was not bad!"
PASSAGE = "The cat sat on the mat. A dog was in Paris, and it was good."
ALL = ["bert", "distilbert", "albert"]


@pytest.mark.long
def test_sentiment_adds_up_and_leaving_out_is_recomputing(tuned_family):
    found = sentiment(TEXT)
    assert [m["model"] for m in found["models"]] == ALL
    for model in found["models"]:
        assert model["words"] == ["the", "cat", "was", "not", "bad", "!"]
        network = tuned_model(tuned_family.loaded(model["model"]), "sst2")
        left = ["cat was not bad!", "the was not bad!", "the cat not bad!"]
        left += ["the cat was bad!", "the cat was not !", "the cat was not bad"]
        scores = margins(network, [TEXT, *left, ""], log_odds(1))
        assert model["leave_one_out"] == pytest.approx(scores[0] - scores[1:7], abs=1e-4)
        assert model["positive"] == pytest.approx(1 / (1 + np.exp(-scores[0])), abs=1e-5)
        gap = sum(model["integrated_gradients"]) - scores[0]
        assert abs(gap + model["baseline"]) == pytest.approx(model["completeness_error"], abs=1e-3)
        masks = " ".join([network.loaded.tokenizer.mask_token] * 6)
        n_tokens = len(network.loaded.tokenizer(TEXT)["input_ids"])
        if n_tokens == len(network.loaded.tokenizer(masks)["input_ids"]):
            baseline = margins(network, [masks], log_odds(1))[0]
            assert abs(gap + baseline) == pytest.approx(model["completeness_error"], abs=1e-3)


@pytest.mark.long
def test_the_page_shows_what_the_endpoint_says_readable_without_colour(tuned_family):
    html = str(tuned.show_sentiment(PageState(), TEXT))
    assert [one["data-model"] for one in every(html, cls="ts-column")] == ALL
    shown = re.findall(r"</span>([+−]\d+\.\d\d)</td>", html)
    wanted = []
    for model in sentiment(TEXT)["models"]:
        pairs = zip(model["integrated_gradients"], model["leave_one_out"], strict=True)
        score = np.log(model["positive"] / (1 - model["positive"]))
        wanted += [model["baseline"], *(value for pair in pairs for value in pair), score]
    assert shown == [
        f"{value:+.2f}".replace("-0.00", "+0.00").replace("-", "−") for value in wanted
    ]
    widths = [
        float(w) for w in re.findall(r'class="ts-(?:left|right)" style="width:([\d.]+)%', html)
    ]
    assert max(widths) == pytest.approx(50)
    assert "Completeness error" in html
    assert ">&lt;<" in str(tuned.show_sentiment(PageState(), "the <b> cat"))


@pytest.mark.parametrize(
    ("score", "label"), [(2.0, "positive"), (0.1, "positive"), (-0.1, "negative")]
)
def test_a_column_is_headed_by_its_verdict(score, label):
    found = WordSentiment(("so",), score, np.array([score]), np.zeros(1), 0.0)
    drawn = str(word_sentiment_html({"bert": found}, MINI, texts.SENTIMENT))
    verdicts = [
        word for word in ("positive", "negative") if f"<strong>{texts.SENTIMENT[word]}<" in drawn
    ]
    assert verdicts == [label]
    share = 1 / (1 + np.exp(-abs(score)))
    assert f"<strong>{label}</strong> {share:.3f}" in drawn, "the probability of what is said"
    said = str(texts.sentiment_finding({"bert": found}, MINI))
    assert f"says {label} ({share:.3f})" in said


def test_a_word_alone_and_a_pair_are_judged(tuned_family):
    assert sentiment("bad")["models"][0]["words"] == ["bad"]
    assert sentiment("good [SEP] dog")["models"][0]["words"] == ["good", "dog"]


def test_the_three_answers_of_the_page_are_those_of_the_endpoint(tuned_family):
    found = question("where was the dog?", PASSAGE)
    html = tuned.show_question(PageState(), "where was the dog?", PASSAGE)
    columns = every(html, "section", cls="tq-column")
    assert len(columns) == len(found["models"]) == 3
    for column, model in zip(columns, found["models"], strict=True):
        first = model["answers"][0]
        assert PASSAGE[first["start"] : first["end"]] == first["text"]
        assert [mark.text() for mark in column.every("mark")] == [first["text"]]
        assert [p.text() for p in column.every("p", cls="tq-passage")] == [PASSAGE]
        assert len(model["answers"]) == 3
        scores = [a["score"] for a in model["answers"]]
        assert scores == sorted(scores, reverse=True)
        strips = column.every(cls="tq-strip")
        assert len(strips) == 2
        assert any("height:100" in bar["style"] for bar in column.every(style=...))


@pytest.mark.long
def test_a_second_look_runs_no_network(tuned_family):
    state = PageState(text=TEXT)
    first = values_of(tab, state)
    ran = []
    handles = [
        tuned_model_of(tuned_family, key, task).network.register_forward_hook(
            lambda *_: ran.append(1)
        )
        for key in ALL
        for task in ("sst2", "squad")
    ]
    again = values_of(tab, state)
    for handle in handles:
        handle.remove()
    assert ran == []
    assert [str(v) for v in again if isinstance(v, str)] == [
        str(v) for v in first if isinstance(v, str)
    ]
    assert TEXT in again
    assert texts.SENTIMENT_EXAMPLES[0][1] in values_of(tab, PageState(text="the [MASK] sat."))


def tuned_model_of(family, key, task):
    from explorer.models.task_heads.adapters import tuned_of

    return tuned_of(family.loaded(key), task)


def test_without_adapters_there_are_cards_with_the_command_and_no_boxes(tiny_family):
    _, asks, *_, judged, asks_too, _, _, answered = values_of(tab, PageState(text=TEXT))
    for html, task in ((judged, "sst2"), (answered, "squad")):
        assert html.count('class="card plain"') == 3
        assert html.count(f"python -m training tasks --family mini --task {task}") == 3
    assert not asks.visible
    assert not asks_too.visible
    with pytest.raises(Refusal, match="has no adapter"):
        sentiment(TEXT)


def test_the_boxes_hold_what_the_link_asks_and_else_an_example(tiny_family):
    texts = {"sentiment": "It is warm.", "question": "Who?", "passage": "Anna."}
    asked = values_of(tab, PageState(text="A [MASK].", **texts))
    assert [asked[2], *asked[12:14]] == list(texts.values())
    assert values_of(tab, PageState(text="A [MASK]."))[12:14] == list(FIRST_QUESTION)
    assert values_of(tab, PageState(text="A plain text."))[2] == "A plain text."


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        (lambda: sentiment(" \x00 "), "no text to classify"),
        (lambda: sentiment("cat " * 65), "65 words and punctuation marks; 64 fit"),
        (lambda: sentiment(TEXT, "huge"), "no such family"),
        (lambda: question("where?", ""), "There is no passage"),
        (lambda: question("", PASSAGE), "There is no question"),
        (lambda: question("the cat " * 60, PASSAGE), "The question has"),
        (lambda: question("where?", PASSAGE, "huge"), "no such family"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(tuned_family, ask, refusal):
    with pytest.raises(Refusal, match=refusal):
        ask()


def test_the_page_refuses_in_the_section_itself(tuned_family):
    assert 'role="alert"' in str(tuned.show_sentiment(PageState(), "  "))
    assert "There is no passage" in str(tuned.show_question(PageState(), "where?", ""))


def test_the_place_of_an_owners_folder_is_in_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(adapters, "adapter_checksum", lambda *_: "c")
    folder = tmp_path / "home" / "alice" / "my-bert"
    spec = replace(MINI["bert"], name="my-bert", folder=folder, is_own=True)
    assert tuned.adapters_of({"bert": spec}, "sst2") == {spec.label: ("my-bert/tasks/sst2", "c")}
