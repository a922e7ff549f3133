"""``--model`` and ``--any-model`` on the page: a fourth column, and a repository that is typed."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.server import served
from tests.browser.viewport import resize
from tests.stand_in_hub import stand_in_hub
from tests.tiny_models import make_bert, save
from tests.tiny_roberta import save_roberta

pytestmark = pytest.mark.browser
TYPED = f"someone/tiny-bert@{'7' * 40}"


@pytest.fixture(scope="module")
def app_url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    save_roberta(folder / "my-roberta")
    save(*make_bert(4, 12, 48), folder / "hub" / "someone" / "tiny-bert")
    with stand_in_hub(folder / "hub") as hub:
        flags = ["--model", f"roberta={folder / 'my-roberta'}", "--any-model"]
        told = {"HF_ENDPOINT": hub.url, "HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "0"}
        with served(folder / "app.log", *flags, **told) as url:
            yield url


def test_a_fourth_column_is_read_and_a_phone_shows_it_whole(visit):
    page = visit("/")
    for tab in ("predictions", "layer"):
        resize(page, 1440, 900)
        page.locator(f"#tab-{tab}-button").click()
        a_fourth_column_is_read(page, tab)


def a_fourth_column_is_read(page, tab):
    told = []
    for width in (1440, 390):
        resize(page, width, 900)
        for label in ("mini-BERT", "mini-DistilBERT", "mini-ALBERT", "my-roberta"):
            expect(page.locator(f"#tab-{tab}").get_by_text(label).first).to_be_visible()
        page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        told += [(width, rule, nodes[:4]) for rule, nodes in axe.violations(page, f"#tab-{tab}")]
    assert not told, "\n".join(map(str, told))


def open_settings(page):
    expect(page.locator("#settings")).to_have_attribute("popover", "auto")  # the page is up
    page.locator(".badge-chip").click()


def test_a_repository_that_is_typed_becomes_a_choice_and_a_second_tab_knows_it(page_at):
    page = page_at()
    open_settings(page)
    column = page.locator("#settings input[aria-label='BERT']")
    column.fill(TYPED)
    column.press("Enter")
    expect(page).to_have_url(re.compile(r"bert=tiny-bert&"))
    expect(page.locator("#tab-predictions").get_by_text("tiny-bert").first).to_be_visible()
    name = page.locator("#tab-predictions [data-model=bert]").first
    assert name.evaluate("node => getComputedStyle(node).getPropertyValue('--layers')") == "none"
    second = page.context.new_page()
    second.goto(page.url)
    expect(second.locator("#tab-predictions").get_by_text("tiny-bert").first).to_be_visible()
    expect(second.locator("html")).to_have_attribute("data-column-bert", "tiny-bert")
    open_settings(second)
    chosen = second.locator("#settings input[aria-label='BERT']")
    expect(chosen).to_have_value(re.compile("^tiny-bert"))
    column.fill("someone/nobody")
    column.press("Enter")
    said = page.get_by_text(
        "someone/nobody could not be downloaded from the hub: no such repository"
    )
    said.click()  # it is in sight, and nothing lies over it
    page.guard.expect("no such repository")
