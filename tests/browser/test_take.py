"""What a reader takes away: every file of every picture, held against the endpoints and a fresh Python."""

import csv
import io
import json
import math
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from gradio_client import Client
from playwright.sync_api import expect

from explorer.models.specs import MINI

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
TEXT = "Paris is the =[MASK] of the unbelievable [MASK]."
LINK = "/?text=Paris+is+the+%3D[MASK]+of+the+unbelievable+[MASK]."
SVG = "{http://www.w3.org/2000/svg}"
RUN = "import json, runpy, sys; found = runpy.run_path(sys.argv[1]); sys.stderr.write(json.dumps([found['columns'], found['rows']]))"
HEADLINES = {
    "predictions": "predictions/gaps",
    "attention": "attention/wall",
    "depth": "depth/lens",
    "distillation": "distillation/lab",
    "parameters": "parameters/map",
}
LABELS = {spec.label: key for key, spec in MINI.items()}


def menus(page, tab):
    expect(page.locator("#link button").first).to_be_visible()
    expect(page.locator(f"#tab-{tab} .canvas > *").first).to_be_visible()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    return page.locator(f"#tab-{tab} .take:visible")


def taken(page, menu, folder):
    """Each file of one menu by its ending; its name is the one that the page gave it."""
    found = {}
    for button in menu.locator("button").all():
        menu.locator("summary").click()
        if not button.is_visible():
            continue
        with page.expect_download() as waiting:
            button.click()
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        found[path.suffix[1:]] = path
        expect(menu).not_to_have_attribute("open", "")
    return found


def rows_of(path):
    """The rows of a CSV by name, and what stands above them."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    said = [line for line in lines if line.startswith("# ")]
    about = dict(line[2:].strip().split(": ", 1) for line in said)
    return list(csv.DictReader(io.StringIO("".join(lines[len(said) :]), newline=""))), about


def recomputed(path):
    done = subprocess.run(
        [sys.executable, "-c", RUN, path], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    columns, rows = json.loads(done.stderr.splitlines()[-1])
    return [dict(zip(columns, row, strict=True)) for row in rows]


def same(found, wanted):
    if isinstance(wanted, float):
        return math.isclose(float(found), wanted, rel_tol=1e-4, abs_tol=1e-5)
    return str(found) == str("" if wanted is None else wanted)


def agree(rows, fresh):
    """Every recomputed row stands in the file, in the columns that both have."""
    both = set(fresh[0]) & set(rows[0])
    keys = sorted(name for name in both if not isinstance(fresh[0][name], float))
    by_key = {}
    for row in rows:  # the first of several is the final answer's
        by_key.setdefault(tuple(row[k] for k in keys), row)
    for row in fresh:
        mine = by_key[tuple(str("" if row[k] is None else row[k]) for k in keys)]
        assert all(same(mine[name], row[name]) for name in both), (mine, row)


def drawn_well(svg, png):
    tree = ElementTree.parse(svg).getroot()
    names = {node.tag for node in tree.iter()}
    assert not names & {f"{SVG}script", f"{SVG}foreignObject", f"{SVG}style"}
    assert not [a for node in tree.iter() for a in node.attrib if a.lower().startswith("on")]
    said = [t.text for t in tree.iter(f"{SVG}text") if t.text]
    assert any("version 0" in text for text in said)
    assert json.loads(tree.findtext(f"{SVG}metadata"))["picture"]
    width, height = (int.from_bytes(png.read_bytes()[i : i + 4], "big") for i in (16, 20))
    assert (width, height) == (2 * int(tree.get("width")), 2 * int(tree.get("height")))
    return said


@pytest.mark.parametrize("tab", HEADLINES)
def test_every_file_of_a_headline_says_the_same_and_can_be_computed_again(page_at, tmp_path, tab):
    page = page_at(f"{LINK}&tab={tab}")
    files = taken(page, menus(page, tab).first, tmp_path)
    assert set(files) == {"svg", "png", "csv", "json", "py"}
    assert all(HEADLINES[tab].replace("/", "-") in path.name for path in files.values())
    said = drawn_well(files["svg"], files["png"])
    rows, about = rows_of(files["csv"])
    document = json.loads(files["json"].read_text("utf-8"))
    assert [
        [read(cell, value) for cell, value in zip(row.values(), values, strict=True)]
        for row, values in zip(rows, document["rows"], strict=True)
    ] == document["rows"]
    assert set(document["about"]) == set(about)
    if tab != "parameters":
        assert about["text"] == TEXT
        assert len(json.loads(about["models"])) == 3
        assert any("Paris" in text for text in said)
    agree(rows, recomputed(files["py"]))


def read(cell, value):
    """A cell as what the other file has in its place."""
    if value is None or isinstance(value, bool):
        return {"": None, "true": True, "false": False}[cell]
    if isinstance(value, str):
        return cell[1:] if cell[:2] in {"'=", "'+", "'-", "'@"} else cell
    return type(value)(float(cell))


def test_the_rows_are_the_endpoints_numbers(page_at, app_url, tmp_path):
    client = Client(app_url, verbose=False)
    rows, _ = csv_at(page_at, "predictions", tmp_path)
    for model in client.predict(TEXT, "mini", 50, api_name="/predict")["models"]:
        for gap, mask in enumerate(model["masks"], 1):
            mine = [
                (row["token"].removeprefix("'"), float(row["probability"]))
                for row in rows
                if LABELS[row["model"]] == model["model"] and row["gap"] == str(gap)
            ]
            assert [token for token, _ in mine] == [p["token"] for p in mask["predictions"]]
            shares = [p["probability"] for p in mask["predictions"]]
            assert [p for _, p in mine] == pytest.approx(shares, rel=1e-5)
    rows, _ = csv_at(page_at, "depth", tmp_path)
    answer = client.predict(TEXT, "mini", "albert", api_name="/depth")
    for mask, found in enumerate(answer["masks"], 1):
        mine = {
            int(row["layer"]): row
            for row in rows
            if LABELS[row["model"]] == "albert" and row["mask"] == str(mask)
        }
        for layer in found["layers"]:
            row = mine[layer["layer"]]
            assert int(row["place_of_final_answer"]) == layer["rank_of_final"]
            kl = float(row["kl_final_to_layer_nats"])
            assert kl == pytest.approx(layer["kl_to_final"], rel=1e-4, abs=1e-6)


def csv_at(page_at, tab, folder):
    page = page_at(f"{LINK}&tab={tab}")
    menu = menus(page, tab).first
    menu.locator("summary").click()
    with page.expect_download() as waiting:
        menu.locator("[data-take=csv]").click()
    waiting.value.save_as(folder / f"{tab}.csv")
    return rows_of(folder / f"{tab}.csv")


def test_the_words_of_a_fold_are_computed_again(page_at, tmp_path):
    page = page_at("/?text=The+unbelievable+cat's+mat.+[SEP]+It+sat.&fold=words")
    expect(page.locator("#fold-predictions-words .pw-tile").last).to_be_visible()
    expect(page.locator("#fold-predictions-words .pw-panel td").first).to_be_visible()
    menu = page.locator("#fold-predictions-words .take")
    expect(menu).to_be_visible()
    files = taken(page, menu, tmp_path)
    drawn_well(files["svg"], files["png"])
    agree(rows_of(files["csv"])[0], recomputed(files["py"]))


def test_escape_and_a_click_elsewhere_close_a_menu_and_a_lost_server_is_said(page_at):
    page = page_at("/")
    menu = menus(page, "predictions").first
    menu.locator("summary").click()
    page.keyboard.press("Escape")
    expect(menu.locator("summary")).to_be_focused()
    expect(menu.locator("button").first).to_be_hidden()
    menu.locator("summary").click()
    page.locator("h1").click()
    expect(menu.locator("button").first).to_be_hidden()
    page.context.route("**/provenance/*", lambda route: route.abort())
    menu.locator("summary").click()
    menu.locator("[data-take=csv]").click()
    expect(menu.locator("[role=status]")).to_have_text("That file could not be made.")
    page.guard.problems.clear()
