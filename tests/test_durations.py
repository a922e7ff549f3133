"""The table of where the tests' time goes."""

from tests import durations
from tests.durations import BEGIN, DOCUMENT, END, PURPOSES, table, with_table

REPORT = """<testsuites><testsuite>
<testcase classname="tests.browser.tabs.test_depth" name="a" time="2.25" />
<testcase classname="tests.browser.test_gone" name="b[c.d]" time="{page}" />
<testcase classname="tests.browser.test_gone" name="f" time="4" />
<testcase classname="tests.test_docs" name="e" time="0.5" />
</testsuite></testsuites>"""


def test_seconds_are_added_up_by_folder_and_by_file(tmp_path, monkeypatch):
    monkeypatch.setattr(durations, "N_LONGEST", 2)
    for name, page in (("now", 1000.0), ("before", 3.0)):
        (tmp_path / name).write_text(REPORT.format(page=page))
    folders, files = table(tmp_path / "now", tmp_path / "before").split("\n\n")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (folders + "\n" + files).splitlines()
    ]
    assert [row[2:] for row in rows if row[0] in PURPOSES] == [["1,006", "3", "9", "3"]]
    assert [row[1:] for row in rows if row[0] == "browser/test_gone"] == [
        ["", "1,004", "2", "7", "2"]
    ]
    assert ["**all**", "", "1,007", "4", "10", "4"] in rows
    assert [row[0] for row in rows][-2:] == ["browser/test_gone", "browser/tabs/test_depth"]
    assert rows[-1][1].startswith("The depth tab in a real Chromium: a link's mask")


def test_every_folder_has_a_purpose_and_the_document_a_place_for_the_table():
    found = {p.name for p in DOCUMENT.parents[1].glob("tests/*") if [*p.rglob("test_*.py")]}
    assert set(PURPOSES) - {""} == found
    document = DOCUMENT.read_text("utf-8")
    assert document.count(BEGIN) == document.count(END) == 1
    assert with_table(with_table(document, "a\n"), "b\n") == with_table(document, "b\n")
