"""A number with a unit is printed by the rule of its kind on the first page of every tab."""

import re

import pytest

from explorer.links.page_state import PageState
from explorer.links.tabs import TABS
from explorer.ui.shell import tabs
from explorer.ui.shell.tabs import values_of
from tests.markup import plain

TEXTS = ("the cat sat on the [MASK].", "the dog ran to [MASK] in paris.")
SMALL = r"\d\.\d×10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+"
FORMS = {
    "M": r"\d\.\d\d|\d{2,3}\.\d",
    "GFLOP": r"\d\.\d\d|[\d,]{2,}\.\d",
    "MB": r"0\.\d\d|[\d,]+\.\d",
    "GB": r"[\d,]+\.\d\d",
    "ms": rf"\d\.\d\d|\d\d\.\d|[\d,]{{3,}}|{SMALL}",
    "×": rf"[01]\.\d\d|[\d,]+\.\d|{SMALL}",
    "times fewer": r"1\.\d\d|[\d,]+\.\d",
    "nats": rf"[\d,]+\.\d{{3}}|{SMALL}",
    "%": r"\d{1,3}\.\d",
}
"""What docs/usage.md promises of each unit."""
UNITS = "|".join(map(re.escape, sorted(FORMS, key=len, reverse=True)))
GIVEN = re.compile(r"95% CI|95% confidence|95% interval|chance is 50%")
"""Levels that are chosen or exact, not measured."""
WHOLE = {"attention"}
"""Tabs whose shares are of heads, in whole per cents."""
QUOTES = {"claims"}
"""Tabs that quote numbers as others print them."""


def told(text):
    """The numbers with a unit in a text: (digits, unit)."""
    pattern = rf"(?<![\w.,+−-])([\d.,]+(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)[ \xa0]?({UNITS})(?![\w])"
    return re.findall(pattern, GIVEN.sub("", text))


def misprinted(text):
    return [pair for pair in told(text) if not re.fullmatch(FORMS[pair[1]], pair[0])]


@pytest.mark.parametrize("tab", [tab for tab in TABS if tab not in QUOTES])
def test_every_number_of_a_first_page_is_printed_by_the_rule_of_its_unit(tiny_family, tab):
    shown = next(one for one in tabs.TABS if tab == one.ID)
    found = []
    for text in TEXTS:
        state = PageState(text=text, tab=tab)
        parts = shown.first(state, values_of(shown, state))
        text_shown = plain(" ".join(map(str, parts)), " ")
        wrong = [pair for pair in misprinted(text_shown) if not (tab in WHOLE and pair[1] == "%")]
        assert wrong == [], (tab, text)
        found += told(text_shown)
    assert found or tab not in ("parameters", "latency", "distillation"), "or nothing was read"


def test_the_law_sees_each_of_the_old_forms():
    old = "9.37 times fewer, 0.113 ×, 0.4155 nats, 96.33 ms, 109.48 M, 5.475 GFLOP, 11%"
    assert len(misprinted(old)) == len(told(old)) == 7
