"""The attribution fold: what it draws is what the endpoint says, and its sentence is true of it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.scoring import Attribution
from explorer.links.page_state import PageState
from explorer.models.run import typeable_answers
from explorer.models.specs import MINI
from explorer.ui.kit.validation import MAX_WORDS
from explorer.ui.predictions import attribution_strings as strings
from explorer.ui.predictions.folds import draw_attribution, show_attribution
from tests.endpoints import attribute
from tests.ui.kit.test_drawn import by_name, numbers_in
from tests.ui.sentences import law, places_named, read

TEXT = "the [MASK] sat on the [MASK]."


@pytest.mark.long
@pytest.mark.parametrize("mask", [0, 1, 7])
def test_the_numbers_are_those_of_the_endpoint(tiny_family, mask):
    html = show_attribution(PageState(text=TEXT, mask=mask))
    rows = by_name(numbers_in(html)["predictions/attribution"])
    models = attribute(TEXT, "mini", "", min(mask, 1))["models"]
    assert [row["word"] for row in rows] == [word for model in models for word in model["words"]]
    for name in ("integrated_gradients", "leave_one_out"):
        wanted = np.concatenate([model[name] for model in models])
        assert [row[name] for row in rows] == pytest.approx(wanted, rel=1e-6)
    assert html.count('class="pr-column"') == 3
    assert f"Mask {min(mask, 1) + 1} of 2." in html
    assert numbers_in(html)["predictions/attribution"]["said"]["state"] == {
        "mask": min(mask, 1) + 1
    }
    assert "Mask 1" not in show_attribution(PageState(text="the [MASK] sat.", mask=mask))
    assert html.count("--share:1.000") >= 3, "the largest of each model"


@pytest.mark.long
@pytest.mark.parametrize(("number", "mask"), [(None, 0), (1, 0), (2, 1), (9, 1)])
def test_the_mask_is_chosen_in_the_fold_where_there_are_several(tiny_family, number, mask):
    html, control, _ = draw_attribution(PageState(text=TEXT), "", number)
    assert control.visible is True
    assert html == show_attribution(PageState(text=TEXT, mask=mask))
    assert draw_attribution(PageState(text="[he|she] sat [MASK]."), "", None)[1].visible is True
    one = PageState(text="the [MASK] sat.")
    assert draw_attribution(one, "", number)[1].visible == "hidden"


def test_a_typed_answer_is_the_one_of_the_endpoint_and_of_the_saved_lines(tiny_family):
    word = "dog"
    html = show_attribution(PageState(text=TEXT), f" {word} ")
    drawn = numbers_in(html)["predictions/attribution"]
    rows = by_name(drawn)
    models = attribute(TEXT, "mini", word)["models"]
    for name in ("integrated_gradients", "leave_one_out"):
        wanted = np.concatenate([model[name] for model in models])
        assert [row[name] for row in rows] == pytest.approx(wanted, rel=1e-6)
    assert {row["answer"] for row in rows} == {word, f"▁{word}"}
    assert drawn["constants"]["ANSWERS"] == {row["model"]: row["answer"] for row in rows}
    said = show_attribution(PageState(text=TEXT), "zzzzqq")
    assert (
        "“zzzzqq” is not one piece of the vocabulary of mini-BERT, mini-DistilBERT and mini-ALBERT"
        in said
    )


@pytest.mark.long
def test_every_model_s_own_answer_can_be_asked_of_all(tiny_family):
    state = PageState(text=TEXT, mask=1)
    _, _, offers = draw_attribution(state, "", None)
    (_, own), *offered = offers.choices
    assert own == offers.value == strings.OWN
    answers = {m["model"]: m["target"] for m in attribute(TEXT, "mini", "", 1)["models"]}
    for name, word in offered:
        asked = attribute(TEXT, "mini", word, 1)["models"]
        targets = {model["model"]: model["target"] for model in asked}
        whose = [MINI[key].label for key in answers if targets.get(key) == answers[key]]
        assert name == f"{word}: answer of {' and '.join(', '.join(whose).rsplit(', ', 1))}"
        html, _, again = draw_attribution(state, word, None)
        assert again.value == word
        said = numbers_in(html)["predictions/attribution"]["said"]["state"]
        assert said == {"mask": 2, "answer": word}
        assert html == show_attribution(state, word)
    assert offers.visible == (True if len(offered) > 1 else "hidden")
    assert (strings.OWN_ANSWERS in show_attribution(state)) == (len(set(answers.values())) > 1)
    assert strings.OWN_ANSWERS not in show_attribution(state, offered[0][1])
    assert draw_attribution(PageState(text="no mask"), "", None)[2].visible == "hidden"
    assert draw_attribution(state, "zebra", None)[2].value is None


def test_what_nobody_can_type_is_not_offered(tiny_family):
    run = tiny_family.run("bert", "the [MASK] sat.")
    pieces = {"whole": run.vocabulary.index("cat"), "continues": first_continuing(run.vocabulary)}
    found = {}
    for name, token in pieces.items():
        logits = np.zeros_like(run.mask_logits)
        logits[:, token] = 9
        found[name] = typeable_answers({"bert": replace(run, mask_logits=logits)}, 0)
    assert found == {"whole": {"bert": "cat"}, "continues": {}}


def first_continuing(vocabulary):
    return next(i for i, piece in enumerate(vocabulary) if piece.startswith("##"))


def test_what_cannot_be_attributed_is_said(tiny_family):
    assert show_attribution(None) == show_attribution(None)
    assert strings.NO_MASK in show_attribution(PageState(text="no mask here"))
    text = "word " * MAX_WORDS + "[MASK]"
    assert f"The text has {MAX_WORDS + 1} words" in show_attribution(PageState(text=text))


def test_models_that_are_missing_are_said(no_files):
    assert "None of the models is available" in show_attribution(PageState(text=TEXT))


NATS = [-3.0, -0.004, 0.0, 0.004, 0.006, 1.25, 1.254, 2.0]
PLACED = st.tuples(
    st.sampled_from(["dog", "cat", "[MASK]"]), st.sampled_from(NATS), st.sampled_from(NATS)
)


@law
@given(st.lists(PLACED, max_size=6))
def test_a_word_is_named_only_where_it_is_the_largest_part_of_a_sum_above_0(drawn):
    words = (*(word for word, *_ in drawn), "[MASK]")
    gradients = np.array([0.0 if word == "[MASK]" else ig for word, ig, _ in drawn] + [0.0])
    left_out = np.array([0.0 if word == "[MASK]" else loo for word, _, loo in drawn] + [0.0])
    at = len(words) - 1
    result = Attribution("bert", "BERT", "x", "x", words, at, -1.0, -9.0, gradients, left_out)
    said = read(strings.attribution_finding({"bert": result}))
    printed = [round(float(value), 2) for value in gradients]
    total, largest = round(float(gradients.sum()), 2), max(printed)
    first = [i for i, value in enumerate(printed) if value == largest > 0]
    if set(words) == {"[MASK]"}:
        assert "no word that x could be read from" in said
    elif total <= 0:
        assert f"together make x no likelier ({total + 0.0:+.2f} nats)".replace("-", "−") in said
    elif not first:
        assert "no word adds as much as 0.01 nats to x" in said
    else:
        weaker = all(left_out[i] > 0 for i in first)
        assert ("reads x above all from" in said) == weaker
        assert ("makes x no less likely" in said) == (not weaker)
        assert f"(+{largest:.2f} nats{' each' if len(first) > 1 else ''})" in said
        named = re.search(r"from (.+?) \(\+", said)[1]
        assert places_named(named, words) == first


SHARES = st.lists(st.lists(st.sampled_from(NATS), min_size=3, max_size=3), min_size=1, max_size=3)


@law
@given(SHARES, st.booleans())
def test_the_word_named_last_is_the_one_at_which_two_models_differ_most(shares, is_one_answer):
    words, labels = ("dog", "cat", "dog"), ["BERT", "DistilBERT", "ALBERT"]
    results = {}
    for i, (label, row) in enumerate(zip(labels, shares, strict=False)):
        answer = "x" if is_one_answer else f"x{i}"
        values = np.array(row)
        results[label.lower()] = Attribution(
            label.lower(), label, answer, answer, words, 0, -1.0, -9.0, values, values
        )
    said = read(strings.attribution_finding(results))
    told = re.search(r"differ most at (.+?): (.+?) nats in (\w+), (.+?) nats in (\w+)\.$", said)
    spreads = [max(column) - min(column) for column in zip(*shares, strict=True)]
    first = spreads.index(max(spreads))
    column = [round(row[first], 2) + 0.0 for row in shares]
    assert bool(told) == (is_one_answer and len(shares) > 1 and len(set(column)) > 1)
    if told:
        (place,) = places_named(told[1], words)
        assert spreads[place] == max(spreads)
        by_label = dict(zip(labels, shares, strict=False))
        for printed, label, end in ((told[2], told[3], max), (told[4], told[5], min)):
            assert by_label[label][place] == end(row[place] for row in shares)
            assert printed == f"{round(by_label[label][place], 2) + 0.0:+.2f}".replace("-", "−")


def test_which_of_equal_words_is_meant_is_said():
    words = ("dog", "dog", "dog", "[MASK]", "dog", "dog")
    gradients = np.array([0.1, 2.0, 0.3, 0.0, 2.0, 0.2])
    result = Attribution("bert", "BERT", "x", "x", words, 3, -1.0, -3.0, gradients, gradients)
    said = read(strings.attribution_finding({"bert": result}))
    assert said.endswith("reads x above all from the 2nd and 4th dog (+2.00 nats each).")
