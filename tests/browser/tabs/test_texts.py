"""Your texts in a real browser: lists to try, pasted lines and files; rows that open, and Back."""

import re

import pytest
from playwright.sync_api import expect

from explorer.lists.batches import BLOCK_SENTENCES
from tests.browser import axe
from tests.browser.short_jobs import FEW_PAIRS, HELD
from tests.browser.viewport import resize

pytestmark = pytest.mark.browser
PASTED = (
    "text,answer,group\nThe capital of France is [MASK].,paris,x\nThe moon moves [MASK] the earth.,"
    "around,y\n=1+1 is [MASK].,two,y\nno mask here,x,x\n"
)
LABELS = "The film was good.\tgood\nThe film was bad.\tbad\n" * 21


def finished(page, n_rows):
    """Wait until all rows are done, and the charts that are drawn of them sent."""
    expect(page.locator(".tx-count")).to_contain_text(f"of {n_rows} rows", timeout=180_000)
    expect(page.locator("#tab-texts .tx-models")).to_be_visible()
    expect(page.locator("#texts-stop")).to_be_hidden()


def test_pasted_rows_are_read_run_filtered_opened_and_come_back_to(visit):
    page = visit("/?tab=texts")
    expect(page.locator("#tab-texts .card")).to_have_count(7)
    expect(page.locator("#text textarea")).to_be_hidden()
    page.get_by_role("tab", name="Depth", exact=True).click()
    expect(page.locator("#words .strip")).to_be_visible()
    expect(page.locator("#text textarea")).to_have_css("opacity", "0")  # one of both is seen
    page.get_by_role("tab", name="Your texts", exact=True).click()
    page.locator(".tx-row textarea").fill(PASTED)
    said = page.locator(".tx-said")
    expect(said).to_contain_text(
        "3 masked rows: “text” is the text, “answer” the answer and “group” the group"
    )
    expect(said).to_contain_text("Row 4: It has 0 masks")
    page.keyboard.press("Control+Enter")
    finished(page, 3)
    expect(page.locator("#tab-texts .finding").first).to_contain_text("Of 3 rows")
    expect(page.locator(".tx-left-out li")).to_have_count(1)
    the_link_holds_the_list(page)
    a_filter_leaves_the_rows_that_are_like_that(page)
    a_row_opens_by_enter_and_back_returns_to_it(page)
    nothing_is_wider_than_a_phone_and_axe_finds_nothing(page)
    the_kind_can_be_changed(page)
    a_list_in_its_place_is_read_anew(page)


def the_link_holds_the_list(page):
    page.wait_for_function("location.search.includes('list=text')")
    expect(page).not_to_have_url(re.compile("list.rows"))


def a_filter_leaves_the_rows_that_are_like_that(page):
    group = page.locator(".tx-tools").get_by_label("Group", exact=True)
    group.select_option("x")
    expect(page.locator(".tx-rows tbody tr")).to_have_count(1)
    page.wait_for_function("location.search.includes('group%3A0')")
    group.select_option("all rows")
    expect(page.locator(".tx-rows tbody tr")).to_have_count(3)


def a_row_opens_by_enter_and_back_returns_to_it(page):
    row = page.locator("[data-row='2'] button")
    row.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#tab-predictions .finding").first).to_be_visible()
    expect(page.locator("#text textarea")).to_have_value("The moon moves [MASK] the earth.")
    page.wait_for_function("location.search.includes('hidden=around')")
    page.go_back()
    expect(row).to_be_focused()
    expect(row).to_be_in_viewport()
    expect(page.locator(".tx-rows tbody tr")).to_have_count(3)


def nothing_is_wider_than_a_phone_and_axe_finds_nothing(page):
    page.emulate_media(reduced_motion="reduce")  # colours do not fade from one theme to the other
    for width in (1440, 390):
        resize(page, width, 844)
        for _ in range(2):
            assert axe.violations(page, "main") == []
            page.locator("#theme-switch").click()
    page.emulate_media(reduced_motion="no-preference")


def the_kind_can_be_changed(page):
    page.locator(".tx-row textarea").fill("The cat sat.\nThe dog ran.\n")
    expect(page.locator(".tx-said")).to_contain_text("2 sentences")
    page.locator(".tx-change summary").click()
    page.get_by_label("Read as", exact=True).select_option("pairs")
    expect(page.locator(".tx-said")).to_contain_text("Pairs need two columns")


def a_list_in_its_place_is_read_anew(page):
    page.locator(".tx-row textarea").press("Control+a")
    page.keyboard.insert_text("She put the [MASK], still warm, on the table.")
    expect(page.locator(".tx-said")).to_contain_text("1 masked row")


def test_a_list_to_try_a_file_a_link_and_a_stop(visit):
    page = visit("/?tab=texts&form=list.name:agreement&list=", width=390, height=844)
    finished(page, FEW_PAIRS)
    expect(page.locator("#tab-texts .finding").first).to_contain_text(f"Of {FEW_PAIRS} pairs")
    a_file_is_read_by_the_browser(page)
    a_long_list_is_not_in_the_link(page)


def a_file_is_read_by_the_browser(page):
    content = f"text\tlabel\n{LABELS}".encode("utf-16")
    file = {"name": "rows.tsv", "mimeType": "text/plain", "buffer": content}
    page.locator(".tx-row ~ .tries input[type=file]").set_input_files(file)
    expect(page.locator(".tx-said")).to_contain_text("42 labelled texts")
    broken = {"name": "photo.csv", "mimeType": "text/csv", "buffer": b"\x89PNG\x00\x01\x02"}
    page.locator(".tx-row ~ .tries input[type=file]").set_input_files(broken)
    expect(page.locator(".tx-said.message")).to_contain_text("This file holds no text")


def a_long_list_is_not_in_the_link(page):
    # The server waits after the first part, which has the shortest rows, until Stop is pressed.
    lines = "".join(f"The cat sat on mat {number}.\n" for number in range(120))
    page.locator(".tx-row textarea").fill(f"{HELD}\n{lines}")
    expect(page.locator(".tx-said")).to_contain_text("121 sentences")
    page.get_by_role("button", name="Run", exact=True).click()
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(page.locator(".tx-rows tbody")).to_contain_text(HELD)
    stop.click()
    expect(page.locator("#tab-texts")).to_contain_text(
        f"Stopped after {BLOCK_SENTENCES} of 121 rows"
    )
    expect(page.locator(".tx-unlinked")).to_contain_text("more than 2,000 characters")
    page.wait_for_function("location.search.includes('list.rows%3A121')")
    page.reload()
    expect(page.locator(".tx-said.message")).to_contain_text("does not contain its list (121 rows")
