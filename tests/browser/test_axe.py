"""Contrast is measured on a few words of each look, and no look is left out."""

import pytest

from tests.browser import axe

pytestmark = pytest.mark.browser
ALIKE = "<li class='word'>word</li>" * 40
PAGE = """<!doctype html><html lang="en"><title>Words</title><style>
  body {color: black; background: white} .pale {color: #ccc} .box {background: #333}
</style><main><h1>Words</h1><ul>ALIKE ONE ALIKE</ul></main>""".replace("ALIKE", ALIKE)
ODD = {
    "by its class": "<li class='word pale'>word</li>",
    "by a colour of its own": "<li class='word' style='left: 3px; color: #ddd'>word</li>",
    "by what it stands in": "<li class='box'><span class='word'>word</span></li>",
    "by its neighbours": "<li class='word'>word</li><style>li:nth-child(17) {color: #bbb}</style>",
}


def with_one(*words):
    return PAGE.replace("ONE", "".join(words))


@pytest.fixture
def page(chromium):
    page = chromium.new_page()
    yield page
    page.close()


def test_every_look_is_measured_on_a_few(page):
    page.set_content(with_one(*ODD.values()))
    looks = page.evaluate(
        f"few => ({axe.LOOKS})('main', few).map(([all, some]) => [all.length, some.length, new Set(some).size, "
        "some[0] === all[0], some.at(-1) === all.at(-1), some.every(one => all.includes(one))])",
        axe.FEW,
    )
    words = page.locator("main :is(h1, li, span, style)").count()
    assert sum(n for n, *_ in looks) == words - page.locator("main :is(.box, style)").count()
    assert max(looks)[0] > 70
    for n, *few, first, last, among in looks:
        assert few == [min(n, axe.FEW)] * 2
        assert first, "of each look"
        assert last
        assert among


@pytest.mark.parametrize("how", ODD)
def test_one_pale_word_among_many_is_found(page, how):
    page.set_content(with_one("<li class='word'>word</li>"))
    assert axe.violations(page) == []
    page.set_content(with_one(ODD[how]))
    assert [rule for rule, _ in axe.violations(page)] == ["color-contrast"]


def test_every_other_rule_looks_at_all(page):
    page.set_content(with_one("<li class='word'><button></button></li>"))
    assert [rule for rule, _ in axe.violations(page, "main")] == ["button-name"]


def test_what_another_width_shows_is_held_to_every_rule_and_what_scrolls_there_is_found(page):
    page.set_content(
        with_one("<li class='word'>word<button hidden></button><p id='long'>word word</p></li>")
    )
    assert axe.violations(page, "main") == []
    page.evaluate("document.querySelector('button').hidden = false")
    assert [rule for rule, _ in axe.violations(page, "main")] == ["button-name"]
    page.add_style_tag(content="#long {width: 30px; overflow: auto; white-space: nowrap}")
    assert [rule for rule, _ in axe.violations(page, "main")] == ["scrollable-region-focusable"]
