"""The tables of what each tab shows name every field, every control and every look of the code."""

import re
from pathlib import Path

from explorer.assets import ASSETS, ROOT
from explorer.links.codec import LINKED, TEXTS
from explorer.links.tabs import DECLARED, TABS, shown_by

EVERYWHERE = {"text", "hidden", "family", "tab", "fold", "form", "look"}
LOOK = re.compile(r"\b(?:look|openOnes|new Zoom)\((?:texts\.zoom, |data\.texts\.zoom, )?'([a-z]+)'")
FORM = re.compile(r"\.keep\(\s*\"([a-z]+)\"")


def found(pattern: re.Pattern[str], folder: Path, ending: str) -> dict[str, set[str]]:
    names = {
        tab: set().union(
            *(pattern.findall(path.read_text("utf-8")) for path in (folder / tab).rglob(ending))
        )
        for tab in TABS
    }
    return {tab: some for tab, some in names.items() if some}


def test_every_field_is_of_some_tabs_or_of_all():
    fields = {name for name in shown_by() if "." not in name}
    assert fields | EVERYWHERE == {*LINKED}
    assert {tab for tabs in shown_by().values() for tab in tabs} <= {*TABS}
    assert {*TEXTS} - fields == {"text", "hidden"}


def test_every_look_is_that_of_its_tab():
    looks = found(LOOK, ASSETS / "js", "*.js")
    looks["claims"] = {"claimmodel", "claimtopic", "claimverdict", "claimreport", "claimlive"}
    assert looks == {tab: {*its.looks} for tab, its in DECLARED.items() if its.looks}


def test_every_control_in_a_link_is_that_of_its_tab():
    forms = found(FORM, ROOT / "explorer" / "ui", "*.py")
    assert forms | {"texts": {"list"}} == {
        tab: {*its.forms} for tab, its in DECLARED.items() if its.forms
    }
