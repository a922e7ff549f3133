"""A page of columns with heads of their own: labels and spans in Tasks, lists, and a training."""

import re

import pytest
from playwright.sync_api import expect
from transformers import (
    BertForSequenceClassification,
    BertForTokenClassification,
    DistilBertForSequenceClassification,
)

from tests.browser import axe
from tests.browser.server import served
from tests.browser.viewport import resize
from tests.tiny_models import make_bert, make_distilbert, save, with_random_head

pytestmark = pytest.mark.browser
TEXT = "The good cat sat in Paris."
LISTED = "text,label\n" + "The good cat sat on the mat.,good\nA bad dog was in London.,bad\n" * 21
CONLL = "the O\ncat B-PER\nsat O\nin O\nparis B-LOC\n. O\n\nshe B-PER\nwas O\nin O\nlondon B-LOC\n"
COLUMNS = ("shop", "plain", "tagger")


@pytest.fixture(scope="module")
def app_url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heads")
    save(*make_bert(2, 4, 48), folder / "bert")
    save(*make_distilbert(2, 4, 48), folder / "distilbert")
    heads = {
        "shop": ("bert", BertForSequenceClassification, ("bad", "good")),
        "plain": ("distilbert", DistilBertForSequenceClassification, ("LABEL_0", "LABEL_1")),
        "tagger": ("bert", BertForTokenClassification, ("O", "B-PER", "B-LOC")),
    }
    flags = []
    for name, (encoder, kind, labels) in heads.items():
        with_random_head(folder / name, folder / encoder, kind, labels)
        flags.append(f"--model={name}={folder / name}")
    told = {"XDG_DATA_HOME": str(folder / "data")}
    with served(folder / "app.log", *flags, **told) as url:
        yield url


def test_labels_and_spans_are_shown_and_explained_and_named_by_the_reader(page_at):
    page = page_at(f"/?tab=tasks&fold=sentiment&sentiment={TEXT.replace(' ', '+')}")
    each_column_has_its_labels_with_probabilities(page)
    spans_are_coloured_and_the_chosen_one_is_explained(page)
    the_chosen_label_is_explained(page)
    the_reader_names_the_labels(page)
    nothing_is_wider_than_a_phone_and_axe_finds_nothing(page)


def option(page, text):
    """The option with this text of the dropdown that is open."""
    return page.locator("#tab-tasks [role=option]").filter(has_text=text)


def column(page, kind, key):
    return page.locator(f"#tab-tasks .{kind}[data-model={key}]")


def each_column_has_its_labels_with_probabilities(page):
    for key, labels in (("shop", {"bad", "good"}), ("plain", {"LABEL_0", "LABEL_1"})):
        rows = column(page, "tl-column", key).locator(".tl-labels li")
        expect(rows).to_have_count(2)
        said = [row.inner_text().split() for row in rows.all()]
        assert {label for label, *_ in said} == labels
        first, second = (float(value) for *_, value in said)
        assert first >= second
        assert first + second == pytest.approx(1, abs=0.002)
    expect(column(page, "tl-column", "tagger")).to_have_count(0)


def spans_are_coloured_and_the_chosen_one_is_explained(page):
    marks = column(page, "te-column", "tagger").locator("mark.te-span")
    expect(marks.first).to_be_visible()
    colour = marks.first.evaluate("node => getComputedStyle(node).backgroundColor")
    assert colour not in ("rgba(0, 0, 0, 0)", "transparent")
    expect(marks.first.locator("small")).to_have_text(re.compile(r"^(PER|LOC) [01]\.\d+$"))
    of = column(page, "te-why", "tagger").locator(".tl-of")
    before = of.inner_text()
    page.get_by_label("Why is this part labelled so?").click()
    option(page, re.compile("cat|sat|in|Paris|good|The")).last.click()
    expect(of).not_to_have_text(before)
    expect(page).to_have_url(re.compile(r"span=\d+%3A(PER|LOC)"))


def the_chosen_label_is_explained(page):
    of = column(page, "tl-column", "shop").locator(".tl-of")
    own = of.inner_text()
    other = "bad" if "good" in own else "good"
    page.get_by_label("Which label is explained?").click()
    option(page, other).click()
    expect(of).to_contain_text(other)
    expect(of).not_to_have_text(own)
    expect(page).to_have_url(re.compile(f"label={other}"))


def the_reader_names_the_labels(page):
    names = page.get_by_label("Names for the labels")
    names.fill("plain=bad,good")
    names.press("Enter")
    said = column(page, "tl-column", "plain").locator(".tl-labels")
    expect(said).to_contain_text("good")
    expect(said).not_to_contain_text("LABEL_")
    expect(page).to_have_url(re.compile("labels=plain%3Dbad%2Cgood"))


def nothing_is_wider_than_a_phone_and_axe_finds_nothing(page):
    page.emulate_media(reduced_motion="reduce")
    for width in (1440, 390):
        resize(page, width, 900)
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        for _ in range(2):
            assert axe.violations(page, "#tab-tasks") == []
            page.locator("#theme-switch").click()
    resize(page, 1440, 900)


def run(page, rows, n):
    page.locator(".tx-row textarea").fill(rows)
    expect(page.locator(".tx-said")).to_contain_text(f"{n} ")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".tx-count")).to_contain_text(f"of {n} rows")
    expect(page.locator("#texts-stop")).to_be_hidden()


def test_lists_are_scored_with_each_head_and_a_stopped_training_keeps_the_best(page_at):
    page = page_at("/?tab=texts&labels=plain%3Dbad%2Cgood")
    a_tagged_list_is_scored(page)
    few_rows_are_scored_with_the_heads_alone(page)
    a_labelled_list_is_scored(page)
    a_row_leads_to_its_explanation_and_back(page)
    a_training_is_stopped_and_its_best_model_is_kept(page)


def a_tagged_list_is_scored(page):
    run(page, CONLL, 2)
    table = page.locator("#tab-texts .tx-models").first
    expect(table.locator("[data-model=tagger]")).to_be_visible()
    expect(page.locator("#tab-texts")).to_contain_text("F1")
    why = page.locator(".tx-rows tbody tr").first.get_by_role("button", name="Why?")
    why.click()
    part = page.get_by_label("Why is this part labelled so?")
    expect(part).to_have_value(re.compile(r"^\w+: (PER|LOC) \("))
    word = part.input_value().partition(":")[0]
    expect(page).to_have_url(re.compile(r"span=\d+%3A(PER|LOC)"))
    expect(page.locator(".te-why").first).to_contain_text(word)
    page.go_back()
    expect(why).to_be_visible()


def a_labelled_list_is_scored(page):
    run(page, LISTED, 42)
    heads = page.locator("#tab-texts .tx-models").first
    for key in ("shop", "plain"):
        expect(heads.locator(f"[data-model={key}]")).to_be_visible()
    expect(heads.locator("[data-model=tagger]")).to_have_count(0)
    expect(page.locator("#tab-texts")).to_contain_text("Accuracy of the models' own heads")


def a_row_leads_to_its_explanation_and_back(page):
    row = page.locator(".tx-rows tbody tr").first
    text, why = row.locator(".tx-open-row").inner_text(), row.get_by_role("button", name="Why?")
    why.click()
    expect(column(page, "tl-column", "shop")).to_be_visible()
    expect(page.get_by_label("Text to classify")).to_have_value(text)
    expect(page).to_have_url(re.compile("fold=sentiment"))
    page.go_back()
    expect(why).to_be_visible()


def few_rows_are_scored_with_the_heads_alone(page):
    run(page, "".join(LISTED.splitlines(True)[:6]), 5)
    texts = page.locator("#tab-texts")
    expect(texts).to_contain_text("Nothing is learnt from these rows")
    expect(texts.locator(".tx-models")).to_have_count(1)
    expect(page.get_by_role("button", name="Fine-tune all models on these rows")).to_be_hidden()


def a_training_is_stopped_and_its_best_model_is_kept(page):
    part = page.locator("#texts-tuning")
    part.get_by_role("button", name="Fine-tune all models on these rows").click()
    expect(part).to_contain_text(re.compile(r"training \d+ of \d+: step \d+"))
    part.get_by_role("button", name="Stop", exact=True).click()
    expect(part).to_contain_text("Stopped")
    expect(part).to_contain_text("The best model of each column is saved in")
    expect(part.locator(".tx-command")).to_contain_text("--model ")
