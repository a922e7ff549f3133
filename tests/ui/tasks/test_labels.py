"""Heads of a user's own on the Tasks tab: numbers, sentences, and texts that are refused."""

import re
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
)

import explorer
from explorer.analysis.digits import signed
from explorer.analysis.spans import spans_of
from explorer.analysis.tasks.entities import Entity, WordTags
from explorer.analysis.tasks.labels import LabelAttribution, LabelValues
from explorer.library.tasks import tuned_family
from explorer.links.codec import from_params, to_params
from explorer.links.page_state import PageState
from explorer.models.specs import MINI
from explorer.models.tokens import Word
from explorer.serving.start import parse_flags
from explorer.ui.shell.tabs import values_of
from explorer.ui.tasks import strings, tab, tuned
from explorer.ui.tasks.labels import choice_of_label, show_labels, show_spans
from explorer.views.entities import entities_html
from explorer.views.labels import text_labels_html
from tests.markup import every, plain

TEXT = "the cat was not bad!"
NEWS = ("sports", "<b>world</b>", "other")
LONG = "the cat's mat was not bad, and the unbelievable dog was in paris."
TAGS = ("O", "B-<i>", "I-<i>", "B-X", "I-X")


@pytest.fixture
def page(tuned_family, own_models, tmp_path):
    """Return the page's state for a family with a BERT that has three labels of its own."""
    torch.manual_seed(3)
    network = AutoModelForSequenceClassification.from_pretrained(
        tuned_family.path / "mini-bert", num_labels=3, id2label=dict(enumerate(NEWS))
    )
    torch.nn.init.normal_(network.classifier.weight, std=0.5)
    network.save_pretrained(tmp_path / "news")
    for file in (tuned_family.path / "mini-bert").glob("tokenizer*"):
        (tmp_path / "news" / file.name).write_bytes(file.read_bytes())
    flags = parse_flags([f"--model=bert={tmp_path / 'news'}"])
    return SimpleNamespace(state=PageState(family=flags.family or ""), folder=tmp_path / "news")


@pytest.fixture
def tagged(tuned_family, own_models, tmp_path):
    """Return the page's state and the library's family of two random token classifiers."""
    folders = {}
    for kind, tags in (("bert", TAGS), ("albert", ("O", "X"))):
        folders[kind] = tmp_path / f"{kind}-tags"
        torch.manual_seed(len(tags))
        network = AutoModelForTokenClassification.from_pretrained(
            tuned_family.path / f"mini-{kind}", id2label=dict(enumerate(tags)), num_labels=len(tags)
        )
        torch.nn.init.normal_(network.classifier.weight, std=0.5)
        inputs = AutoTokenizer.from_pretrained(tuned_family.path / f"mini-{kind}")(
            LONG, return_tensors="pt"
        )
        with torch.no_grad():  # else the states are so alike that all words have one tag
            network.classifier.bias -= network.eval()(**inputs).logits[0].mean(0)
        network.save_pretrained(folders[kind])
        for file in (tuned_family.path / f"mini-{kind}").glob("tokenizer*"):
            (folders[kind] / file.name).write_bytes(file.read_bytes())
    flags = parse_flags([f"--model={kind}={folder}" for kind, folder in folders.items()])
    return SimpleNamespace(state=PageState(family=flags.family or ""), folders=folders)


@pytest.fixture
def state(page):
    return PageState(family="bert=news,distilbert=mini,albert=mini")


@pytest.mark.long
def test_the_page_shows_what_the_library_says(page, state):
    html = str(show_labels(state, TEXT))
    family = explorer.load({"bert": page.folder})
    values = explorer.classify(TEXT, family).models["bert"]
    found = explorer.attribute(TEXT, family, label="predicted").models["bert"]
    (column,) = every(html, "section", cls="tl-column")
    shown = [
        (li.every("span", cls="tl-label")[0].text(), li.every("span", cls="tl-value")[0].text())
        for li in column.every("li")
    ]
    assert shown == [(values.labels[i], f"{values.values[i]:.3f}") for i in values.order]
    assert "<b>" not in html
    cells = re.findall(r"</span>([+−]\d+\.\d\d)</td>", html)
    wanted = [found.baseline]
    for pair in zip(found.integrated_gradients, found.leave_one_out, strict=True):
        wanted += pair
    wanted.append(found.value)
    assert cells == [f"{v:+.2f}".replace("-0.00", "+0.00").replace("-", "−") for v in wanted]


@pytest.mark.long
def test_sentiment_heads_and_others_are_side_by_side(state):
    html = str(tuned.show_sentiment(state, TEXT))
    columns = [each["data-model"] for each in every(html, "section", cls="ts-column")]
    assert columns == ["bert", "distilbert", "albert"]
    assert "brings a classifier with the labels" not in html
    assert "No label has the same name in all models" in html
    _, column, *_ = values_of(tab, state)
    assert column.visible


def test_a_family_of_the_page_s_own_has_no_such_part(tuned_family):
    assert show_labels(PageState(), TEXT) is None


def test_a_text_that_is_too_long_has_its_sentence(state):
    assert "tokens for" in plain(str(show_labels(state, "cat " * 600)))
    assert "There is no text to classify" in plain(str(show_labels(state, " ")))


def said_of(values, problem, label=0, baseline=0.0, ig=(1.0,)):
    labels = tuple("abcdefgh"[: len(values)])
    each = LabelValues(labels, np.array(values, float), problem)
    ig = np.array(ig)
    found = LabelAttribution(labels[label], ("so",), baseline + ig.sum(), baseline, ig, ig)
    return plain(str(strings.labels_finding({"bert": each}, {"bert": found}, MINI)))


ONE, MANY, SCORE = "single_label_classification", "multi_label_classification", "regression"


@pytest.mark.parametrize(
    ("said", "finding"),
    [
        (said_of([0.8, 0.2], ONE), "says a (0.800), mainly because of so (+1.00)."),
        (said_of([0.4, 0.3, 0.3], ONE, ig=(-0.4,)), "says a (0.400)."),
        (
            said_of([0.2, 0.4], MANY, label=1, ig=(-0.4,)),
            "none of its labels; the likeliest is b (0.400).",
        ),
        (said_of([0.7, 0.9], MANY, label=1), "says b (0.900) and a (0.700)."),
        (said_of([0.7, 0.1], MANY), "says a (0.700), mainly because of so (+1.00)."),
        (said_of([-2.5], SCORE, ig=(-2.5,)), "gives a the score −2.50"),
        (
            said_of([3.5], SCORE, baseline=2.5),
            "gives a the score +3.50, mainly because of its all-[MASK] baseline (+2.50)",
        ),
    ],
)
def test_a_sentence_says_what_a_head_says(said, finding):
    assert finding in said


def test_of_fifty_labels_five_have_bars_and_the_others_are_counted():
    labels = tuple(f"LABEL_{i}" for i in range(50))
    values = LabelValues(labels, np.linspace(0.04, 0, 50), ONE)
    found = LabelAttribution("LABEL_0", ("so",), 1.0, 0.0, np.ones(1), np.ones(1))
    html = str(text_labels_html({"bert": values}, {"bert": found}, MINI, strings.LABELS))
    assert len(every(html, "span", cls="tl-label")) == 5
    assert "And 45 more labels with smaller values." in html


def tags_of(*tags, labels=("O", "B-X", "I-X")):
    words = [Word(word, 2 * i, 2 * i + 1) for i, word in enumerate("abcdefgh"[: len(tags)])]
    spans = [
        Entity(label, words[a].start, words[b].end, a, b, 0.75, is_whole)
        for label, a, b, is_whole in spans_of(tags, labels)
    ]
    texts = tuple(word.text for word in words)
    return WordTags(texts, tags, np.full(len(tags), 0.75), tuple(spans))


def test_spans_are_marked_in_the_text_and_broken_ones_are_told():
    found = {"bert": tags_of("B-X", "I-X", "O", "I-X"), "albert": tags_of("O", "O")}
    html = str(entities_html(found, MINI, "a <i d", strings.ENTITIES))
    assert "&lt;i" in html
    assert [mark.text() for mark in every(html, "mark")] == ["a < X 0.750", " X 0.750"]
    assert [len(every(html, "mark", cls=cls)) for cls in ("te-span", "te-broken")] == [2, 1]
    assert html.count("A dashed span breaks the scheme") == 1
    said = plain(str(strings.entities_finding(found, MINI)))
    assert said == "mini-BERT finds 2 X; mini-ALBERT finds nothing."


def test_the_page_shows_why_a_chosen_span_is_labelled_as_the_library_says(tagged):
    family = explorer.load(tagged.folders)
    spans, choice, chosen, why = show_spans(tagged.state, LONG, "")
    found = explorer.entities(LONG, family).models
    offered = [value for _, value in choice.choices]
    assert sorted(offered) == sorted(
        {f"{e.first}:{e.label}" for tags in found.values() for e in tags.entities}
    )
    assert chosen == choice.value == offered[0]
    assert len(offered) > 2
    assert "<i>" not in f"{spans}{why}"
    for span in offered:
        drawn = str(show_spans(tagged.state, LONG, span)[-1])
        word, _, label = span.partition(":")
        result = explorer.attribute(LONG, family, label=label, word=int(word))
        columns = every(drawn, "section", cls="te-why")
        assert [column["data-model"] for column in columns] == list(result.models)
        for column, each in zip(columns, result.models.values(), strict=True):
            numbers = [td.text() for td in column.every("td") if td.text()]
            wanted = [each.baseline]
            for pair in zip(each.integrated_gradients, each.leave_one_out, strict=True):
                wanted += pair
            assert numbers == [signed(value) for value in (*wanted, each.value)]
            assert [th.text() for th in column.every("th")][3] == "before any word: all [MASK]"
        for reason in result.missing.values():
            assert reason.partition(" has")[2] in plain(drawn)


def test_a_span_that_no_model_gives_is_explained_where_a_link_names_it(tagged):
    family = explorer.load(tagged.folders)
    given = {value for _, value in show_spans(tagged.state, LONG, "")[1].choices}
    words = len(explorer.entities(LONG, family).models["bert"].words)
    missed = next(f"{n}:X" for n in range(words) if f"{n}:X" not in given)
    _, choice, chosen, why = show_spans(tagged.state, LONG, missed)
    assert chosen == choice.value == missed
    shown = {value: label for label, value in choice.choices}
    assert set(shown) == {*given, missed}
    assert shown[missed].endswith(": X (given by no model)")
    result = explorer.attribute(LONG, family, label="X", word=int(missed.partition(":")[0]))
    for column, each in zip(
        every(str(why), "section", cls="te-why"), result.models.values(), strict=True
    ):
        numbers = [td.text() for td in column.every("td") if td.text()]
        assert numbers[-1] == signed(each.value)


def test_what_is_no_span_of_the_text_is_the_first_one(tagged):
    first = show_spans(tagged.state, LONG, "")
    for wrong in ("99:X", "x", "0:<b>", ":", "-1:X"):
        again = show_spans(tagged.state, LONG, wrong)
        assert again[2] == first[2]
        assert str(again[-1]) == str(first[-1])
    assert show_spans(PageState(), LONG, "0:X")[0] == ""
    assert "There is no text to classify" in plain(str(show_spans(tagged.state, " ", "")[0]))


def test_what_a_text_of_masks_decides_is_said_of_a_span():
    found = LabelAttribution("X", ("so", "it"), 3.5, 2.5, np.array([0.75, 0.25]), np.zeros(2))
    said = plain(str(strings.why_finding({"bert": found}, MINI, 1)))
    assert said == (
        "mini-BERT gives X a probability of 0.971 at it, mainly because of its all-[MASK] baseline "
        "(+2.50); its words add +1.00."
    )
    low = LabelAttribution("X", ("so", "it"), -2.0, 0.0, np.array([-1.5, -0.5]), -np.ones(2))
    said = plain(str(strings.why_finding({"bert": low}, MINI, 1)))
    assert said.endswith("a probability of 0.119 at it, mainly because of so (−1.50).")


def test_names_that_the_reader_types_are_those_of_the_labels_and_match_two_columns(state):
    html = drawn_of(state, "")
    assert "No label has the same name in all models" in html
    named = drawn_of(state, "bert=positive,<script>,negative")
    assert "<script>" not in named
    assert "&lt;script&gt;" in named
    assert "Of the labels, all models have only positive, negative." in named
    two = drawn_of(PageState(family=state.family), "bert = a, b, c ; albert=good,bad")
    assert 'class="tl-label" dir="auto">a<' in two
    values = [found_in(drawn, "bert") for drawn in (html, named, two)]
    assert values[0] == values[1] == values[2]


@pytest.mark.long
def test_names_of_one_reader_are_none_of_another_reader(own_models, headed):
    flags = parse_flags([f"--model=bert={headed('bert', ('LABEL_0', 'LABEL_1'))}"])
    plain_state = PageState(family=flags.family or "")
    named = replace(plain_state, labels="bert=negative,positive")
    before = str(tuned.show_sentiment(plain_state, TEXT))
    assert "LABEL_0" in before
    of_sentiment, _ = tuned_family(named.ask, "sst2")
    assert "bert" in of_sentiment
    assert "negative" in plain(str(tuned.show_sentiment(named, TEXT)))
    assert "bert" not in tuned_family(plain_state.ask, "sst2")[0]
    assert str(tuned.show_sentiment(plain_state, TEXT)) == before


def drawn_of(state, names):
    return "".join(map(str, tuned.show_classification(state, TEXT, names)))


def found_in(html, key):
    (column,) = (c for c in every(html, "section", cls="tl-column") if c["data-model"] == key)
    return [value.text() for value in column.every("span", cls="tl-value")]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("bert=a,b", "news's head has 3 labels; 2 names are given for them."),
        ("bert=a,a,b", "news's head has 3 labels; 2 names are given for them."),
        (f"bert=a,b,{61 * 'c'}", "has at most 60 characters; one for news has 61."),
        ("nobody=a,b", "Labels are named for 'nobody'; the columns that can have such names are"),
        ("a,b,c", "Write the names of labels as bert=negative,positive"),
        ("bert=a,,c", "Write the names of labels as bert=negative,positive"),
        ("<b>=a,b,c", "Labels are named for '<b>'"),
        (" ; \n", ""),
    ],
)
def test_names_that_do_not_fit_have_one_sentence_and_change_nothing(state, names, said):
    html = drawn_of(state, names)
    messages = [plain(str(p)) for p in every(html, role="alert")]
    assert len(messages) == bool(said)
    assert said in plain(html)
    assert "<b>" not in html
    assert found_in(html, "bert") == found_in(drawn_of(state, ""), "bert")
    assert "sports" in html


def test_names_and_the_span_are_in_the_link_and_an_older_link_has_neither(state):
    left = PageState(labels="bert=a,b,c; albert=x,y", span="3:X", tab="tasks")
    params = to_params(left)
    assert from_params(params) == (left, ())
    older, repaired = from_params({"v": "1", "tab": "tasks", "sentiment": TEXT})
    assert (older.labels, older.span, repaired) == ("", "", ())
    read, repaired = from_params({"labels": 4001 * "a", "span": 201 * "1"})
    assert (read.labels, read.span, set(repaired)) == ("", "", {"labels", "span"})
    opened = values_of(tab, PageState(family=state.family, labels="bert=a,b,c", sentiment=TEXT))
    assert opened[3].value == "bert=a,b,c"
    assert opened[3].visible is True
    assert 'dir="auto">a<' in str(opened[10])
    assert values_of(tab, PageState())[3].visible == "hidden"


def test_the_reader_chooses_the_label_that_is_explained(page, state):
    chosen = PageState(family=state.family, label="other")
    html = str(show_labels(chosen, TEXT))
    found = explorer.attribute(TEXT, explorer.load({"bert": page.folder}), label="other")
    each = found.models["bert"]
    cells = re.findall(r"</span>([+−]\d+\.\d\d)</td>", html)
    assert cells[0] == signed(each.baseline)
    assert cells[1::2][: len(each.words)] == [signed(v) for v in each.integrated_gradients]
    assert cells[-1] == signed(each.value)
    p = 1 / (1 + np.exp(-each.value))
    assert f"news gives other a probability of {p:.3f}" in plain(html)
    which = choice_of_label(chosen)
    assert [value for _, value in which.choices] == [strings.OWN_LABEL, *NEWS]
    assert which.value == "other"
    for gone in ("nothing", "", "positive"):
        again = PageState(family=state.family, label=gone)
        assert str(show_labels(again, TEXT)) == str(show_labels(state, TEXT))
        assert choice_of_label(again).value == strings.OWN_LABEL
    assert choice_of_label(PageState()).visible == "hidden"


def test_a_column_without_the_label_keeps_its_values(page, state, tmp_path):
    other = tmp_path / "two"
    shutil.copytree(page.folder, other)
    flags = parse_flags([f"--model=a={page.folder}", f"--model=b={other}"])
    labels = "b=sports,x,y"
    html = str(show_labels(PageState(family=flags.family, labels=labels, label="x"), TEXT))
    columns = every(html, "section", cls="tl-column")
    assert [len(column.every("table")) for column in columns] == [0, 1]
    assert [len(column.every("span", cls="tl-value")) for column in columns] == [3, 3]
    assert "a has no label x; it has sports, <b>world</b>, other." in plain(html)
