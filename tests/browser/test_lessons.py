"""The lessons: a whole one as a student does it, with both files, a reload, Back and the list."""

import csv
import re

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.conftest import WAIT_MS
from tests.browser.viewport import resize
from tests.ui.shell.test_gallery import STOPS
from tests.ui.shell.test_lessons import BY_NAME, section
from tests.waiting import until

pytestmark = pytest.mark.browser
NASTY = '<img src=x onerror="alert(1)"> sees "both" sides'


def go_on(lesson):
    lesson.get_by_role("button", name="Next").click()


def guess_is_locked_and_a_reload_keeps_it(page, lesson):
    expect(lesson.get_by_role("button", name="Next")).to_be_disabled()
    lesson.get_by_label("How does a language model").fill("=1+1, by the words before")
    go_on(lesson)
    lesson.get_by_label("Your own word").fill("lock")
    lesson.get_by_label("mini-BERT:").check()
    expect(lesson).not_to_contain_text("0.833")
    lesson.get_by_role("button", name="Lock my guess").click()
    page.reload()
    expect(lesson).to_contain_text("Your guess is locked.")
    expect(lesson.get_by_label("mini-BERT:")).to_be_checked()
    expect(lesson.get_by_label("mini-ALBERT:")).to_be_disabled()
    expect(lesson.get_by_label("Your own word")).not_to_be_editable()
    go_on(lesson)


def the_answer_is_what_the_page_shows(page, lesson):
    take = lesson.get_by_role("button", name="Take the answer from the page")
    take.click()
    expect(lesson.get_by_role("status")).to_contain_text("The page does not show this yet")
    lesson.get_by_role("button", name="Open it on the page").click()
    page.locator("#words .word", has_text="lock").click()
    first = page.locator("#tab-predictions .finding")
    expect(first).to_contain_text("mini-ALBERT is most confident")
    take.click()
    expect(lesson).to_contain_text("You guessed: mini-BERT")
    expect(lesson).to_contain_text("The page says: mini-ALBERT")
    for word, probability in re.findall(r"(\w+) \((0\.\d+)\)", first.inner_text()):
        expect(lesson.locator(".ls-numbers")).to_contain_text(f"“{word}” {probability}")
    lesson.get_by_label("Write one sentence").fill("The smallest is the surest.")
    go_on(lesson)


def another_text_contradicts_it(page, lesson):
    take = lesson.get_by_role("button", name="Take the text on the page")
    take.click()
    expect(lesson.get_by_role("status")).to_contain_text("no other text")
    box = page.locator("#text textarea")
    page.locator(".pencil").first.click()
    box.fill("The capital of Italy is [MASK].")
    box.press("Enter")
    expect(page.locator("#tab-predictions .finding")).to_contain_text("All three answer rome")
    take.click()
    expect(lesson.locator(".ls-verdict")).to_contain_text("another one: mini-")
    go_on(lesson)
    lesson.get_by_label("How does a language model").fill(NASTY)
    go_on(lesson)


def both_files_hold_the_finding(page, lesson, chromium, tmp_path):
    lesson.get_by_label("Your name").fill("Ada")
    files = {}
    for ending in ("HTML", "CSV"):
        with page.expect_download() as download:
            lesson.get_by_role("button", name=ending).click()
        files[ending] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[ending])
    with files["CSV"].open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["lesson"], row["student"], row["guess_was_right"]) == ("mask", "Ada", "false")
    assert (row["before"], row["after"]) == ("'=1+1, by the words before", NASTY)
    assert row["contrary_text"] == "The capital of Italy is [MASK]."
    saved = chromium.new_page()
    asked = []
    saved.on("request", lambda request: asked.append(request.url))
    saved.goto(files["HTML"].as_uri())
    expect(saved.locator("h1")).to_have_text("The smallest is the surest.")
    expect(saved.locator("body")).to_contain_text(NASTY)
    expect(saved.locator("img, script")).to_have_count(0)
    assert len(asked) == 1, "nothing but the file"
    assert axe.violations(saved) == []
    links = saved.locator("a").evaluate_all("all => all.map(one => one.href)")
    assert links == [row["link"], row["contrary_link"]]
    saved.close()
    return links[0]


def test_a_student_does_a_lesson_from_guess_to_hand_in(page_at, chromium, tmp_path):
    page = page_at("/?lesson=mask")
    lesson = page.locator(".lesson")
    guess_is_locked_and_a_reload_keeps_it(page, lesson)
    the_answer_is_what_the_page_shows(page, lesson)
    another_text_contradicts_it(page, lesson)
    link = both_files_hold_the_finding(page, lesson, chromium, tmp_path)
    for width, height in ((1440, 900), (390, 844)):
        resize(page, width, height)
        assert axe.violations(page, ".lesson") == []
    seen = page.locator("#tab-predictions .finding").bounding_box()
    assert seen["y"] + seen["height"] < lesson.bounding_box()["y"], "the tab is in sight above it"
    lesson.get_by_role("button", name="Start again").click()
    lesson.get_by_role("button", name="Delete all that I wrote").click()
    expect(lesson.get_by_label("How does a language model")).to_have_value("")
    lesson.get_by_role("button", name="Close the lesson").click()
    expect(lesson).to_be_hidden()
    page.goto(link)
    expect(page.locator("#tab-predictions .finding")).to_contain_text("door (0.833)")


def test_the_tour_leads_to_the_list_and_back_closes_it(page_at):
    page = page_at("/")
    lesson = page.locator(".lesson")
    page.get_by_role("button", name="Tour", exact=True).click()
    first = STOPS[0]["link"]["text"]
    page.wait_for_function("text => new URL(location).searchParams.get('text') === text", arg=first)
    page.get_by_role("button", name="Lessons").click()
    expect(page.locator(".tour")).to_be_hidden()
    expect(lesson.locator("h2")).to_be_focused()
    lesson.get_by_role("button", name="What a mask is").press("Enter")
    expect(lesson.get_by_role("heading", name="Before you start")).to_be_focused()
    assert "lesson=mask" in page.url
    page.go_back()
    expect(lesson.locator("h2")).to_have_text("Lessons")
    page.go_back()
    expect(lesson).to_be_hidden()
    assert "lesson" not in page.url
    page.go_forward()
    expect(lesson.locator("h2")).to_have_text("Lessons")
    page.keyboard.press("Escape")
    expect(lesson).to_be_hidden()


def test_a_page_with_other_models_says_whose_numbers_the_lesson_is_about(page_at):
    page = page_at("/?lesson=mask&bert=mini&distilbert=mini&albert=base")
    lesson, other = page.locator(".lesson"), "the page shows other models now"
    expect(lesson).to_contain_text(other)
    lesson.get_by_role("textbox").fill("I cannot say.")
    go_on(lesson)
    lesson.get_by_label("Your own word").fill("lock")
    lesson.get_by_role("radio").first.check()
    lesson.get_by_role("button", name="Lock my guess").click()
    go_on(lesson)
    lesson.get_by_role("button", name="Open it on the page").click()
    page.locator("#words .word", has_text="lock").click()
    expect(page.locator("#tab-predictions .finding")).to_contain_text("mini-ALBERT")
    taken(page, "The page says: mini-ALBERT")
    expect(lesson).not_to_contain_text(other)


HEAD = "&tab=attention&text=He+lived+in+the+old+house.&model=bert&layer=3&head=1&family=mini"
"""A head that fits the first sentence, as a student finds it by clicks."""


WHOLE = re.compile(r"(?<![\d.])\d+(?:\.\d+)?(?![\d%]|\.\d)")
"""A number, but no percentage."""


def views_taken(page, lesson, name):
    """Open each view of a lesson and take it, until the answer is shown."""
    n_views = len(BY_NAME[name].acts)
    for i in range(1, n_views + 1):
        if n_views > 1:
            expect(lesson).to_contain_text(f"View {i} of {n_views}")
        lesson.get_by_role("button", name="Open it on the page").click()
        if name == "head" and i == 1:
            taken(page, "Click another tile")
            page.goto(page.url.partition("?")[0] + "?lesson=head" + HEAD)
        on = f"View {i + 1} of" if i < n_views else "Your guess and the answer"
        taken(page, on)


PRESS = "panel => panel.querySelector('[data-take-answer]')?.click()"
"""The button may be gone by now, which a click of Playwright would wait for."""


def taken(page, said):
    """Press until the panel says this: the page may still be drawing what is taken."""
    lesson = page.locator(".lesson")

    def has_come():
        if said in lesson.inner_text():
            return True
        lesson.evaluate(PRESS)
        return False

    until(has_come, WAIT_MS / 1000, lambda: lesson.inner_text())


def test_every_answer_that_a_student_takes_is_on_the_page_of_the_teacher(page_at):
    for name in BY_NAME:
        if name == "mask":
            continue
        page = page_at(f"/?lesson={name}")
        lesson = page.locator(".lesson")
        lesson.get_by_role("textbox").fill("I cannot say.")
        go_on(lesson)
        lesson.get_by_role("radio").first.check()
        lesson.get_by_role("button", name="Lock my guess").click()
        go_on(lesson)
        views_taken(page, lesson, name)
        said = WHOLE.findall(section(name))
        shown = WHOLE.findall(lesson.locator(".ls-numbers").inner_text())
        assert shown
        assert set(shown) <= set(said), name
