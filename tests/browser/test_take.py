"""What a reader takes away: every file of every picture, held against the endpoints and a fresh Python."""

import csv
import hashlib
import io
import json
import re
from base64 import b64decode
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
from gradio_client import Client
from PIL import Image
from playwright.sync_api import expect
from plotly.io import read_json

from explorer.assets import ROOT
from explorer.models.specs import MINI
from explorer.ui.distillation.strings import LAB
from explorer.ui.kit.canvas import has_recipe
from explorer.ui.shell.tabs import TABS
from tests.browser.modules import MODULE
from tests.browser.walked import walk
from tests.js.take.recomputed import agree, run_alone

pytestmark = pytest.mark.browser
TEXT = "Paris is the =[MASK] of the unbelievable [MASK]."
LINK = "/?text=Paris+is+the+%3D[MASK]+of+the+unbelievable+[MASK]."
SVG = "{http://www.w3.org/2000/svg}"
HEADLINES = {
    "predictions": "predictions/gaps",
    "attention": "attention/wall",
    "layer": "layer/stations",
    "depth": "depth/lens",
    "distillation": "distillation/lab",
    "tasks": "tasks/pairs",
    "parameters": "parameters/map",
    "latency": "latency/measure",
}
LABEL = {tab.ID: tab.LABEL for tab in TABS}
DIGESTS = [
    hashlib.sha256((spec.bundled_path / "model.safetensors").read_bytes()).hexdigest()
    for spec in MINI.values()
]
LABELS = {spec.label: key for key, spec in MINI.items()}


def menus(page, tab):
    expect(page.locator("#link button").first).to_be_visible()
    expect(page.locator(f"#tab-{tab} :is(.canvas, .drawn) > *").first).to_be_visible()
    expect(page.locator(".status")).to_contain_text("mini-albert")
    return page.locator(f"#tab-{tab} .take:visible")


def taken(page, menu, folder):
    """Each file of one menu by its ending; its name is the one that the page gave it."""
    found = {}
    for button in menu.locator("button").all():
        menu.locator("summary").click()
        # A tab is out of sight until its answer is there, and its menu with it.
        expect(menu.locator("button:visible").first).to_be_visible()
        if not button.is_visible():
            menu.locator("summary").click()
            continue
        with page.expect_download() as waiting:
            button.click()
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        found[path.name.partition(".")[2]] = path
        expect(menu).not_to_have_attribute("open", "")
    return found


def rows_of(path):
    """The rows of a CSV by name, and what stands above them."""
    cells = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))
    said = [row for row in cells if row[0].startswith("# ")]
    columns, *rows = cells[len(said) :]
    about = dict(row[0][2:].strip().split(": ", 1) for row in said)
    return [dict(zip(columns, row, strict=True)) for row in rows], about


def drawn_well(svg, png):
    tree = ElementTree.parse(svg).getroot()
    names = {node.tag for node in tree.iter()}
    assert not names & {f"{SVG}script", f"{SVG}foreignObject", f"{SVG}style"}
    assert not [a for node in tree.iter() for a in node.attrib if a.lower().startswith("on")]
    said = [t.text for t in tree.iter(f"{SVG}text") if t.text]
    assert any("version 0" in text for text in said)
    assert json.loads(tree.findtext(f"{SVG}metadata"))["picture"]
    about = json.loads(tree.findtext(f"{SVG}metadata"))
    picture = Image.open(png)
    assert picture.size == (2 * int(tree.get("width")), 2 * int(tree.get("height")))
    assert {name: picture.text[name] for name in about} == {
        name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        for name, value in about.items()
    }
    for image in tree.iter(f"{SVG}image"):
        drawn = Image.open(BytesIO(b64decode(image.get("href").partition(",")[2])))
        assert drawn.width >= 2 * float(image.get("width")) - 1
    return said


def test_every_file_of_every_headline_says_the_same_and_can_be_computed_again(
    visit, app_url, tmp_path
):
    page, rows, saved = visit(f"{LINK}&fold=words"), {}, {}
    for tab, kind in HEADLINES.items():
        page.get_by_role("tab", name=LABEL[tab], exact=True).click()
        saved[kind] = taken(page, menus(page, tab).first, tmp_path)
        rows[tab] = headline(tab, kind, saved[kind])
        if tab == "predictions":
            fold = page.locator("#fold-predictions-words")
            expect(fold.locator(".pw-panel td").first).to_be_visible()
            saved["predictions/words"] = one = taken(page, fold.locator(".take"), tmp_path)
            assert set(one) == {"svg", "png", "csv", "json", "py", "ipynb"}
            drawn_well(one["svg"], one["png"])
        if tab == "tasks":
            saved |= tuned_ones(page, tmp_path)
    as_the_endpoints_say(rows, Client(app_url, verbose=False))
    again({kind: saved[kind] for kind in AGAIN}, tmp_path / "empty")


AGAIN = ("predictions/gaps", "predictions/words", "depth/lens", "distillation/lab")
"""With one text and with groups of words; the lines of all are run in ``js/take/test_recipes``."""


def again(saved, empty):
    """Every script computes the rows of the CSV that was saved with it."""
    empty.mkdir()
    printed = run_alone([files["py"] for files in saved.values()], empty, ROOT)
    for (kind, files), text in zip(saved.items(), printed, strict=True):
        agree(files["csv"].read_bytes().decode("utf-8"), text, kind)


def tuned_ones(page, folder):
    """What the tuned models say, whose lines use peft and the adapters that are here."""
    saved = {}
    for kind in ("sentiment", "question"):
        page.locator(f"#fold-tasks-{kind}").click()
        menu = page.locator(f"#tab-tasks .drawn[data-kind='tasks/{kind}'] .take")
        saved[f"tasks/{kind}"] = files = taken(page, menu, folder)
        assert len(json.loads(rows_of(files["csv"])[1]["adapters"])) == 3
    return saved


def headline(tab, kind, files):
    """The rows of one headline's files, which are held against each other."""
    lines = {"py", "ipynb"} if has_recipe(kind) else set()
    assert set(files) - {"plotly.json"} == {"svg", "png", "csv", "json"} | lines
    assert all(kind.replace("/", "-") in path.name for path in files.values())
    said = drawn_well(files["svg"], files["png"])
    rows, about = rows_of(files["csv"])
    document = json.loads(files["json"].read_text("utf-8"))
    assert [
        [read(cell, value) for cell, value in zip(row.values(), values, strict=True)]
        for row, values in zip(rows, document["rows"], strict=True)
    ] == document["rows"]
    assert about == metadata_of(files["svg"]) == written(document["about"])
    assert {"versions", "date", "link", "cite"} <= set(about)
    if tab in {"parameters", "latency"}:
        assert "text" not in about
    else:
        assert (about["text"] == TEXT) is (tab != "tasks"), "a text without [SEP] is no pair"
        assert {"text", "family", "device", "dtype"} <= set(about)
        assert [digest_in(model) for model in json.loads(about["models"])] == DIGESTS
        assert any(text == f"“{about['text']}”" for text in said)
    if tab == "distillation":
        drawing = " ".join(said)
        assert f"temperature: {about['temperature']}; words per model: 8" in drawing
        assert str(LAB["scale"]).partition("{")[0] in drawing, "what its bars are drawn to"
        controls = [LAB["listed"], LAB["pick"], *(label for _, label in LAB["presets"])]
        assert not [label for label in controls if str(label) in drawing]
        assert f"temperature-{about['temperature']}_" in files["csv"].name
    if "py" in files:
        lines = files["py"].read_text("utf-8").splitlines()
        said = [f"# {name}: {value}" for name, value in about.items()]
        assert lines[: 1 + len(about)] == ["# -*- coding: utf-8 -*-", *said]
    return rows


def metadata_of(svg):
    """What a drawing says of itself, each value as a CSV has it."""
    return written(json.loads(ElementTree.parse(svg).getroot().findtext(f"{SVG}metadata")))


def written(about):
    plain = {"separators": (",", ":"), "ensure_ascii": False}
    return {k: v if isinstance(v, str) else json.dumps(v, **plain) for k, v in about.items()}


def digest_in(model):
    return re.search(r"sha256 ([0-9a-f]{64})", model)[1]


def read(cell, value):
    """A cell as what the other file has in its place."""
    if value is None or isinstance(value, bool):
        return {"": None, "true": True, "false": False}[cell]
    if isinstance(value, str):
        return cell[1:] if cell[:2] in {"'=", "'+", "'-", "'@"} else cell
    return type(value)(float(cell))


def as_the_endpoints_say(rows, client):
    for model in client.predict(TEXT, "mini", 50, api_name="/predict")["models"]:
        for gap, mask in enumerate(model["masks"], 1):
            mine = [
                (row["token"].removeprefix("'"), float(row["probability"]))
                for row in rows["predictions"]
                if LABELS[row["model"]] == model["model"] and row["gap"] == str(gap)
            ]
            assert [token for token, _ in mine] == [p["token"] for p in mask["predictions"]]
            shares = [p["probability"] for p in mask["predictions"]]
            assert [p for _, p in mine] == pytest.approx(shares, rel=1e-5)
    answer = client.predict(TEXT, "mini", "albert", api_name="/depth")
    for mask, found in enumerate(answer["masks"], 1):
        mine = {
            int(row["layer"]): row
            for row in rows["depth"]
            if (LABELS[row["model"]], row["mask"], row["part"]) == ("albert", str(mask), "lens")
        }
        for layer in found["layers"]:
            row = mine[layer["layer"]]
            assert int(row["place_of_final_answer"]) == layer["rank_of_final"]
            kl = float(row["kl_final_to_layer_nats"])
            assert kl == pytest.approx(layer["kl_to_final"], rel=1e-4, abs=1e-6)


def a_charts_figure_opens_in_plotly_and_holds_the_numbers_of_its_csv(page, tmp_path):
    expect(page.locator(".canvas[data-kind='parameters/spectrum'] .fg svg").first).to_be_visible()
    menu = page.locator(".canvas[data-kind='parameters/spectrum'] + .take")
    files = taken(page, menu, tmp_path)
    drawn_well(files["svg"], files["png"])
    assert int(ElementTree.parse(files["svg"]).getroot().get("height")) < 700
    figure = read_json(files["plotly.json"])
    rows, about = rows_of(files["csv"])
    drawn = {
        (trace.name.partition(":")[0], x): y
        for trace in figure.data
        for x, y in zip(*map(np.ravel, (trace.x, trace.y)), strict=True)
    }
    name, index, value = rows[0]
    assert drawn == {(row[name], float(row[index])): float(row[value]) for row in rows}
    assert figure.layout.meta["link"] == about["link"]
    assert figure.layout.template.layout.colorway


def test_a_menu_takes_its_options_closes_and_says_what_it_cannot_do(visit, tmp_path):
    page = visit("/")
    an_image_takes_a_width_a_theme_and_no_caption(page, tmp_path)
    assert page.evaluate(CUT) == [400 + 2 * 16, 100 + 3 * 16], "what is cut off adds nothing"
    walk(page, "/?tab=parameters&fold=embedding")
    a_charts_figure_opens_in_plotly_and_holds_the_numbers_of_its_csv(page, tmp_path)
    walk(page, "/")
    escape_and_a_click_elsewhere_close_a_menu_and_a_lost_server_is_said(page)


def an_image_takes_a_width_a_theme_and_no_caption(page, tmp_path):
    menu = menus(page, "predictions").first
    before = ElementTree.parse(taken(page, menu, tmp_path)["svg"]).getroot()
    menu.locator("summary").click()
    menu.locator("[name=width]").select_option("800")
    menu.locator("[name=theme]").select_option("dark")
    menu.locator("[name=caption]").uncheck()
    with page.expect_download() as waiting:
        menu.locator("[data-take=svg]").click()
    after = ElementTree.parse(waiting.value.path()).getroot()
    assert int(before.get("width")) > 900
    assert 800 <= int(after.get("width")) <= 800 + 2 * 16
    paper = [tree.find(f"{SVG}rect").get("fill") for tree in (before, after)]
    assert paper[0] != paper[1]
    said = [[t.text for t in tree.iter(f"{SVG}text")] for tree in (before, after)]
    assert any("1810.04805" in text for text in said[0])
    assert not any("1810.04805" in text for text in said[1])
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    with page.expect_download():
        menu.locator("[data-take=csv]").press("Enter")
    expect(menu.locator(".take-list")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    expect(page.locator("body.dark")).to_have_count(0)
    assert page.evaluate("[...document.querySelectorAll('.canvas')].every(c => !c.style.width)")


CUT = (
    f"""async () => {{
  const {{drawing}} = await {MODULE}('take/drawing.js');"""
    """
  const boxes = ['width: 400px; height: 100px', 'width: 600px; height: 300px; margin: -50px', 'height: 300px'];
  const [outer, inner, filling] = boxes.map(style => Object.assign(document.createElement('div'), {style}));
  for (const frame of [outer, inner]) frame.style.overflow = 'hidden';
  for (const box of [outer, filling]) box.style.background = 'red';
  outer.append(inner);
  inner.append(filling);
  document.body.append(outer);
  const {width, height} = drawing(outer, {title: '', caption: [], about: {}});
  outer.remove();
  return [width, height];
}"""
)
"""How large a drawing is of which a frame within a frame cuts off a part."""


def escape_and_a_click_elsewhere_close_a_menu_and_a_lost_server_is_said(page):
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
    expect(menu.locator("[role=status]")).to_have_text("The file could not be created.")
    page.guard.problems.clear()
