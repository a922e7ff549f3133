"""Stop in a real browser: a job ends where it stands, and its button goes."""

import pytest
from playwright.sync_api import expect

from explorer.ui.claims import strings as claims
from explorer.ui.distillation import strings as distillation
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
PATIENT_MS = 180_000
"""The first page of a fresh server loads the models before it shows any tab."""


def stop_of(place):
    return place.get_by_role("button", name="Stop", exact=True)


def stopped(place, start):
    """Start a job by its button, stop it, and wait until the button is gone."""
    place.get_by_role("button", name=start, exact=True).click()
    expect(stop_of(place)).to_be_visible(timeout=PATIENT_MS)
    stop_of(place).click()
    expect(stop_of(place)).to_have_count(0)


def test_a_job_ends_where_it_stands_and_runs_again(visit):
    page = visit("/?tab=claims")
    live_checks_are_stopped_where_they_are_and_run_again(page)
    walk(page, "/?tab=distillation&fold=live")
    a_students_training_is_stopped_and_a_reset_leaves_nothing_of_it(page)
    walk(page, "/?tab=latency&fold=sweep")
    a_measurement_waits_for_its_end_and_says_how_it_ended(page)


def live_checks_are_stopped_where_they_are_and_run_again(page):
    place = page.locator("#claims-run")
    expect(page.locator(".cl-row").first).to_be_visible(timeout=PATIENT_MS)
    for _ in range(2):
        stopped(place, claims.RUN_ALL)
        expect(place.locator(".cc-line")).to_contain_text("Stopped after")
        expect(place.locator(".cc-bar")).to_be_hidden()


def a_students_training_is_stopped_and_a_reset_leaves_nothing_of_it(page):
    place = page.locator("#fold-distillation-live")
    expect(place.get_by_role("button", name=distillation.RUN, exact=True)).to_be_visible(
        timeout=PATIENT_MS
    )
    place.get_by_label("Steps").first.fill("400")
    stopped(place, distillation.RUN)
    expect(place.locator(".ds-sentence")).to_contain_text("Stopped after step")
    before = places_of_buttons(place)
    place.get_by_role("button", name=distillation.RUN, exact=True).click()
    expect(stop_of(place)).to_be_visible()
    after = places_of_buttons(place)
    assert {name: after[name] for name in before} == before
    assert after[distillation.STOP][1] == after[distillation.RUN][1], "in one row"
    expect(place.locator(".ds-sentence")).to_contain_text("of 400: loss", timeout=PATIENT_MS)
    place.get_by_role("button", name=distillation.RESET, exact=True).click()
    expect(stop_of(place)).to_have_count(0)
    expect(place.locator(".ds-sentence")).to_have_count(0)
    expect(place.get_by_label("Steps").first).to_have_value("120")


def places_of_buttons(place):
    """Where each button stands in the fold, by its words."""
    return place.locator(".dv-buttons").evaluate_all(
        """rows => Object.fromEntries(rows.flatMap(row => [...row.querySelectorAll('button')]).map(
          button => [button.textContent.trim(), [button.offsetLeft, button.offsetTop]]))"""
    )


def a_measurement_waits_for_its_end_and_says_how_it_ended(page):
    place = page.locator("#fold-latency-sweep")
    start = place.get_by_role("button", name="Batch sizes 1 to 32", exact=True)
    expect(start).to_be_visible(timeout=PATIENT_MS)
    start.click()
    expect(stop_of(place)).to_be_visible(timeout=PATIENT_MS)
    stop_of(place).click()
    expect(stop_of(place)).to_have_count(0, timeout=PATIENT_MS)
    expect(place).to_contain_text("Stopped before")
