"""The claims tab in a real browser: the picture filters, the search finds, nothing overflows."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.viewport import resize
from tests.browser.walked import walk

pytestmark = pytest.mark.browser


def open_claims(visit, path="/?tab=claims", **options):
    page = visit(path, **options)
    # The first page of a fresh server loads the models before it shows any tab.
    expect(page.locator(".cl-row").first).to_be_visible(timeout=180_000)
    return page


def test_claims_are_found_checked_read_from_the_keyboard_and_on_a_phone(visit):
    page = open_claims(visit)
    search_and_filters_find_claims_without_the_server(page)
    walk(page, "/?tab=claims&search=23+million+to+just")
    a_check_writes_what_it_measured_beside_the_claim(page)
    walk(page, "/?tab=claims")
    resize(page, 390, 800)
    the_shares_and_the_signs_of_the_key_can_be_read(page)
    published_tables_sort_and_the_calculator_answers(page)


LINES = """all => all.map(one => {
  const range = document.createRange();
  range.selectNodeContents(one);
  return range.getClientRects().length;
})"""


def the_shares_and_the_signs_of_the_key_can_be_read(page):
    assert page.locator(".cs-share").evaluate_all(LINES) == [1] * 5, "a share stays in one line"
    sign = page.locator(".cs-key [data-verdict=unsupported] span")
    assert sign.evaluate("e => getComputedStyle(e).backgroundColor") != "rgba(0, 0, 0, 0)"


def search_and_filters_find_claims_without_the_server(page):
    expect(page.locator(".finding").filter(visible=True)).to_contain_text("114 of 185")
    ends = page.locator(".cl-tools > *").evaluate_all(
        "all => all.map(e => Math.round(e.getBoundingClientRect().bottom))"
    )
    assert max(ends) - min(ends) <= 1, "all that narrows the list stands in one line"
    around = page.locator(".cl-source a").first.evaluate("e => getComputedStyle(e).padding")
    assert around == "0px", "a link is a part of its sentence"
    expect(page.get_by_role("button", name="14 wrong")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".cl-count")).to_have_text(
        "14 of 195 claims: only the wrong ones. Clear shows all."
    )
    verdicts = page.locator(".cl-row").evaluate_all("rows => rows.map(r => r.dataset.verdict)")
    assert set(verdicts) == {"wrong"}
    cells = page.locator(".cl-row").first.locator(".cl-cell")
    assert [c.get_attribute("class") for c in cells.all()][:2] == [
        "cl-cell cl-claim",
        "cl-cell cl-verdict",
    ]
    search = page.get_by_role("searchbox", name="Search the claims")
    found = {}
    for written in ("40%", "40 %", "40 percent"):
        search.fill(written)
        found[written] = page.locator(".cl-count").inner_text()
    assert set(found.values()) == {"5 of 195 claims"}, found
    assert page.locator("#tab-claims").inner_text().count("LC") == 0, "checks have names"
    page.get_by_role("button", name="14 wrong").click()
    page.get_by_role("searchbox", name="Search the claims").fill("race albert-large")
    expect(page.locator(".cl-row")).to_have_count(1)
    expect(page.locator(".cl-row")).to_contain_text("74.8")
    page.wait_for_url("**search=race*")
    the_search_is_in_this_tabs_link_alone(page)
    page.get_by_role("searchbox", name="Search the claims").fill("<script>alert(1)</script>")
    expect(page.locator(".cl-empty")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".cl-count")).to_have_text("195 of 195 claims")


def the_search_is_in_this_tabs_link_alone(page):
    page.locator("#tab-parameters-button").click()
    page.wait_for_url("**tab=parameters*")
    assert not {"search", "look"} & {*parse_qs(urlsplit(page.url).query)}
    page.reload()
    expect(page.locator("#tab-parameters .finding").first).to_be_visible()
    page.go_back()
    page.wait_for_url("**search=race*")
    expect(page.locator(".cl-row")).to_have_count(1)
    expect(page.get_by_role("searchbox", name="Search the claims")).to_have_value(
        "race albert-large"
    )


def a_check_writes_what_it_measured_beside_the_claim(page):
    search = page.get_by_role("searchbox", name="Search the claims")
    expect(search).to_have_value("23 million to just")
    expect(page.locator(".cl-row")).to_have_count(1)
    page.evaluate("window.kept = document.querySelector('.cc-line')")
    page.get_by_role("button", name="Run Factorised embedding").click()
    outcome = page.locator(".cl-row .cl-outcome.measured")
    expect(outcome).to_contain_text("3,938,304 parameters")
    expect(outcome).to_contain_text("does not hold")
    expect(outcome).to_contain_text("full-size shapes")
    page.get_by_role("searchbox", name="Search the claims").fill("glue score of 76.9")
    page.get_by_role("button", name="Run Published score").click()
    published = page.locator(".cl-row .cl-outcome.published")
    expect(published).to_contain_text("from the tables")
    assert page.locator(".cl-row .cl-outcome.measured").count() == 0
    expect(page.locator(".cc-line")).to_contain_text("Checks run here: 2 of 37")
    assert page.evaluate("kept.isConnected"), "a line that is replaced is not read aloud"


def published_tables_sort_and_the_calculator_answers(page):
    page.get_by_role("button", name="Published scores: how much").click()
    bars = page.locator(".bm-bars li")
    expect(bars.first).to_contain_text("BERT-base")
    page.locator('[data-kind="claims/benchmarks"] select').select_option("albert-2")
    expect(bars.first).to_contain_text("ALBERT-xxlarge")
    page.get_by_title("Sort by Parameters", exact=True).click()
    expect(bars.first).to_contain_text("ALBERT-base")
    expect(page.locator(".bm-kept")).to_contain_text("96.9%")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
