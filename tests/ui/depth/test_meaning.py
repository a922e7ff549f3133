"""The fold on one word in two sentences: its charts, its sentence, and why there are none."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import explorer
from explorer.library import vectors as library
from explorer.links.page_state import PageState
from explorer.ui.depth import meaning, strings
from explorer.ui.kit.jobs import handler
from tests.markup import every, plain
from tests.ui.sentences import LABELS, law, names_in, read, some_models

STATE = PageState(text="Another [MASK] is on the page.")
FIRST, SECOND = "The unbelievable cat sat on the mat.", "A dog saw the cat."


@pytest.fixture(autouse=True)
def few_unrelated(request, monkeypatch):
    if "tiny_family" in request.fixturenames:
        monkeypatch.setattr(library, "UNRELATED", 6)


def shown(first="", word="", second="", other="", state=STATE):
    message, charts, below, stop = list(
        handler(meaning.MEANING)(state, first, word, second, other)
    )[-1]
    assert not stop.visible
    return message, charts and json.loads(charts), below


def test_a_chart_for_each_model_shows_both_words_next_to_unrelated_ones(tiny_family):
    message, charts, below = shown(FIRST, "cat", SECOND, "Dog")
    found = explorer.similarity("mini", [FIRST, SECOND], words=(2, 1))
    assert [mark.text() for mark in every(message, "mark")] == ["cat", "dog"]
    assert found.compared == ("cat", "dog")
    columns, rows = (charts["numbers"][name] for name in ("columns", "rows"))
    assert tuple(columns) == found.COLUMNS
    labels = {key: tiny_family.specs[key].label for key in found.models}
    for (label, *values), (key, *expected) in zip(rows, found.rows(), strict=True):
        assert (label, values) == (labels[key], pytest.approx(expected))
    for figure, model in zip(charts["figures"], found.models.values(), strict=True):
        drawn = {trace["name"]: trace for trace in figure["data"]}
        edges = [*model.low.tolist(), *model.high[::-1].tolist()]
        assert drawn[strings.MEANING["cosine"]]["y"] == pytest.approx(model.cosine.tolist())
        assert drawn[strings.MEANING["unrelated"]]["y"] == pytest.approx(model.unrelated.tolist())
        assert drawn[strings.MEANING["band"]]["y"] == pytest.approx(edges)
    assert plain(below).count("last layer") == len(labels)


def test_empty_boxes_compare_the_example_and_the_page_s_text_does_not_matter(tiny_family):
    (first, word), (second, other) = strings.MEANING_EXAMPLE
    empty, _, _ = shown()
    typed, _, _ = shown(first, word, second, other, state=PageState(text="A text."))
    assert empty == typed
    assert [item.text() for item in every(empty, "li")] == [first, second]


def test_columns_of_ones_own_have_a_chart_each_and_one_model_is_enough(tiny_family, own_models):
    explorer_start = pytest.importorskip("explorer.serving.start")
    explorer_start.parse_flags([*("--model", "mine=mini-bert"), *("--model", "copy=mini-bert")])
    for family, n in (("only,mine=mini-bert,copy=mini-bert", 2), ("only,copy=mini-bert", 1)):
        message, charts, _ = shown(state=PageState(family=family, model="copy"))
        assert len(charts["figures"]) == n
        assert plain(message).count("cosine") == n


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("It sat.", "cat"), "First sentence: no word is “cat”. Its words are It, sat."),
        (
            ("It sat.", "it", "A cat.", "ca"),
            "Second sentence: no word is “ca”. Its words are A, cat.",
        ),
        (("word " * 700, "word"), "tokens"),
        (("\u0301", "word"), "word"),
        (("[MASK]" * 3, "the"), "Its words are [MASK], [MASK], [MASK]."),
    ],
)
def test_what_cannot_be_compared_is_said_in_place_of_the_charts(tiny_family, typed, said):
    message, charts, below = shown(*typed)
    assert said in plain(message)
    assert (charts, below) == ("", "")


def test_of_a_long_sentence_some_words_are_listed():
    said = strings.no_such_word("x", "First sentence", [f"w{i}" for i in range(31)])
    assert said.endswith("w28, w29 ….")


def test_of_a_word_that_occurs_twice_the_first_is_compared(tiny_family):
    message, _, below = shown("The cat saw a cat.", "CAT", SECOND, "cat")
    assert str(message).index("<mark>cat</mark> saw") > 0
    assert "First sentence: “cat” occurs 2 times; the first is compared." in plain(below)
    assert "Second sentence: “" not in plain(below)


def test_without_a_model_nothing_is_compared(monkeypatch):
    monkeypatch.setattr(meaning, "get_runs", lambda ask: ({}, {}))
    assert plain(shown()[0]) == strings.SIMILARITY_NO_MODEL


COSINES = st.sampled_from([-0.0004, 0.4996, 0.4999, 0.5, 0.9999, 1.0])


@st.composite
def compared(draw):
    found = {}
    for key in draw(some_models()):
        n = draw(st.integers(2, 4))
        curves = draw(st.lists(COSINES, min_size=2 * n, max_size=2 * n))
        found[key] = np.array(curves).reshape(2, n)
    return found


def layers_of(named):
    return [0] * ("embeddings" in named) + [int(n) for n in re.findall(r"\d+", named)]


@law
@given(compared(), st.sampled_from([("bank", "Bank"), ("bank", "shore")]))
def test_the_layers_named_are_all_that_print_the_lowest_cosine(found, words):
    text = read(strings.meaning_finding(words, found, LABELS))
    subject = "The two uses of bank are" if words[1] == "Bank" else "bank and shore are"
    assert text.startswith(subject)
    least, _, constant = text.partition("equally alike in every layer of ")
    assert sorted(names_in(least) + names_in(constant)) == sorted(found)
    for key, (values, unrelated) in found.items():
        printed = [f"{value:.3f}".replace("-0.000", "0.000") for value in values]
        if len(set(printed)) == 1:
            assert f"{LABELS[key]} (cosine {printed[0]})" in constant
            continue
        part = re.search(
            rf"((?:the embeddings|layers? [\d, and]+)(?: and layers? [\d, and]+)?) of {LABELS[key]} "
            r"\(cosine (\d\.\d{3})(?:, unrelated words (\d\.\d{3}))?\)",
            least,
        )
        layers = [layer for layer, value in enumerate(printed) if value == part[2]]
        assert layers_of(part[1]) == layers
        assert float(part[2]) == min(map(float, printed))
        control = f"{unrelated[layers[0]]:.3f}".replace("-0.000", "0.000")
        assert part[3] == (control if len(layers) == 1 else None)
