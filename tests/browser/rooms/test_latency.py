"""Latency tab in a real browser: a link times nothing, Measure does, Stop stops it."""

import pytest
from playwright.sync_api import expect

PATIENT_MS = 240_000
"""The first page of a session waits for imports and models on whatever machine this is."""
pytestmark = pytest.mark.browser


def test_a_link_never_starts_a_measurement_and_the_buttons_do_what_they_say(page_at):
    page = page_at("/?v=1&tab=latency")
    card = page.locator(".lt-paradox")
    expect(card).to_be_visible(timeout=PATIENT_MS)
    expect(card.get_by_text("not measured yet", exact=True)).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    button, times = (
        page.locator("#measure").bounding_box(),
        card.locator(".lt-group").nth(2).bounding_box(),
    )
    assert 0 <= times["y"] - button["y"] - button["height"] < 40, (
        "the button stands at the empty card"
    )
    assert button["x"] + button["width"] == pytest.approx(times["x"] + times["width"], abs=2)
    expect(page.locator(".lt-said p")).to_contain_text(
        "Published base size, 32 tokens, batch size 1"
    )
    page.locator("#latency-settings .label-wrap").click()
    page.get_by_label("Sizes").click()
    page.get_by_role("option", name="Bundled miniatures").click()
    page.get_by_label("Tokens", exact=True).click()
    page.get_by_role("option", name="256", exact=True).click()
    expect(card.get_by_text("stores 4.4 times fewer weights").first).to_be_visible()
    expect(page.locator(".lt-said p")).to_contain_text("Bundled miniatures, 256 tokens")
    expect(card.get_by_text("not measured yet", exact=True)).to_have_count(3)

    page.get_by_role("button", name="Measure here").click()
    expect(page.get_by_text("rounds in").or_(page.get_by_text("1 round in")).first).to_be_visible(
        timeout=PATIENT_MS
    )
    page.locator("#measure-stop").click()
    expect(page.get_by_text("you stopped it").first).to_be_visible()
    expect(card.get_by_text("not measured yet", exact=True)).to_have_count(0)

    expect(
        page.get_by_role("heading", name="Confidence intervals: how sure is this result?")
    ).to_be_visible()
    expect(page.locator("[data-kind='latency/samples'] .fg svg").first).to_be_visible()
    expect(page.get_by_role("link", name="latency.json")).to_be_visible()


def test_it_fits_a_phone_in_the_dark(page_at):
    page = page_at("/?v=1&tab=latency", width=360, theme="dark")
    expect(page.locator(".lt-paradox")).to_be_visible(timeout=PATIENT_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
