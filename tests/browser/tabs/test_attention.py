"""The head wall in a real Chromium: exact, keyboard-driven, silent towards the server, narrow."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from explorer.analysis.attention import word_heads
from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from tests.browser.clipboard import copied
from tests.browser.modules import MODULE
from tests.browser.walked import walk

pytestmark = pytest.mark.browser
TEXT = "The capital of France is [MASK]."
PATH = f"/?family=mini&tab=attention&text={quote(TEXT)}"
WALL = f"(await {MODULE}('attention/heads.js')).onPage.wall"
LOCK = f"(async () => {{ const w = {WALL}; return [w.lock.m, w.lock.layer, w.lock.head]; }})()"


def opened(page):
    # The first page of a fresh server loads the models before it shows any tab.
    expect(page.locator(".aw-panels canvas").first).to_be_visible(timeout=180_000)
    return page


def tile(page, model, layer, head):
    """The middle of a tile within the wall."""
    return page.evaluate(
        f"async ([m, i]) => {{ const w = {WALL}, {{x, y}} = w.places[m][i];"
        " return {x: w.base.offsetLeft + x + w.tile / 2, y: w.base.offsetTop + y + w.tile / 2}; }",
        [model, layer * 12 + head],
    )


def test_the_wall_is_exact_saved_as_it_is_drawn_and_asks_nobody(visit):
    page = opened(visit(PATH))
    the_head_that_looks_from_the_mask_at_a_word_of_the_text_is_chosen_first(page)
    wall_matrices_and_comparison_are_saved_each_with_the_numbers_drawn(page)
    page.get_by_role("button", name="matrix", exact=True).click()
    hover_previews_click_keeps_and_the_numbers_are_exact(page)
    walk(page, PATH)
    folds_compute_when_opened(page)
    walk(page, f"{PATH}&model=bert&layer=2&head=7")
    # This link has no method: the fold is computed with the usual one before the rest is watched.
    expect(page.locator('[data-kind="attention/summary"]')).to_contain_text("rollout")
    arrow_keys_walk_and_no_switch_asks_the_server(page)


def hover_previews_click_keeps_and_the_numbers_are_exact(page):
    a_word_pointed_at_keeps_its_row_in_every_tile_and_the_others_fade(page)
    stage = page.locator(".aw-stage")
    stage.hover(position=tile(page, 1, 1, 4))
    expect(page.locator(".aw-card")).to_be_visible()
    expect(page.locator(".aw-card")).to_contain_text("DistilBERT layer 2, head 5")
    expect(page.locator(".aw-card figure")).to_have_count(3)
    stage.click(position=tile(page, 1, 1, 4))
    expect(page).to_have_url(re.compile(r"model=distilbert.*layer=1.*head=4"))
    expect(page.locator(".aw-panels figure b").nth(1)).to_have_text(
        "mini-DistilBERT layer 2, head 5"
    )
    expect(page.locator(".aw-panels figure").nth(1)).to_contain_text("Chosen")
    heads = word_heads(get_runs(PageState(text=TEXT).ask)[0])
    assert page.evaluate(LOCK) == [1, 1, 4]
    matrix = page.locator(".aw-panels canvas").nth(1)
    matrix.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        matrix.press(key)
    words = [word.text for word in heads.alignment.words]
    row, column = 2, 1 + 1
    value = heads.attention["distilbert"][1, 4][row, column]
    expect(page.locator(".aw-panels .aw-reading").nth(1)).to_have_text(
        f"{words[row]} attends to {words[column]}: {value:.4f}"
    )
    lines = copied(page, page.locator(".aw-panels .chip").nth(1)).split("\n")
    cells = [line.split("\t") for line in lines]
    assert [line[:2] for line in cells] == [[words[row], key] for key in words]
    expected = heads.attention["distilbert"][1, 4][row]
    assert [float(line[2]) for line in cells] == pytest.approx(expected, abs=1e-6)


def the_head_that_looks_from_the_mask_at_a_word_of_the_text_is_chosen_first(page):
    heads = word_heads(get_runs(PageState(text=TEXT).ask)[0])
    words = heads.alignment.words
    (mask,) = [i for i, word in enumerate(words) if word.is_mask]
    far = [i for i, word in enumerate(words) if word.text.isalpha() and abs(i - mask) > 1]
    assert [words[i].text for i in far] == ["The", "capital", "of", "France"]
    best = heads.attention["bert"][:, :, mask, far].max(axis=-1)
    model, layer, head = page.evaluate(LOCK)
    assert model == 0
    assert best[layer, head] == pytest.approx(best.max(), abs=1e-2)


def saved(page, menu, ending):
    """One file of a menu, as text."""
    menu.locator("summary").click()
    with page.expect_download() as waiting:
        menu.locator(f"[data-take={ending}]").click()
    return waiting.value.suggested_filename, waiting.value.path().read_text("utf-8")


def wall_matrices_and_comparison_are_saved_each_with_the_numbers_drawn(page):
    expect(page.locator(".aw-lens .note")).to_contain_text("percent")
    heads = word_heads(get_runs(PageState(text=TEXT).ask)[0])
    _, layer, head = page.evaluate(LOCK)
    wall, lens = page.locator("#tab-attention .take:visible").all()[:2]
    name, rows = saved(page, wall, "csv")
    assert "attention-wall" in name
    assert "model,layer,head,kind" in rows
    name, rows = saved(page, lens, "csv")
    assert "attention-matrices" in name
    data = [line for line in rows.splitlines() if not line.lstrip('"').startswith("#")]
    cells = [line.rsplit(",", 1) for line in data if "mini-BERT layer" in line]
    drawn = heads.attention["bert"][layer, head].ravel()
    assert [float(value) for _, value in cells] == pytest.approx(drawn, abs=1e-6)
    for menu in (wall, lens):
        _, picture = saved(page, menu, "svg")
        assert ("Cells are in percent." in picture) == (menu is lens)
        assert "Point at" not in picture
    page.get_by_role("button", name="difference", exact=True).click()
    name, rows = saved(page, lens, "csv")
    assert "attention-difference" in name
    assert "heads,query,key,difference" in rows
    assert len(rows.split("heads,query,key,difference")[1].split()) >= 3 * drawn.size
    tops = [one.bounding_box()["y"] for one in page.locator(".aw-panels canvas").all()]
    assert max(tops) - min(tops) < 1, "three matrices begin at one height"


def arrow_keys_walk_and_no_switch_asks_the_server(page):
    expect(page.locator(".aw-lens .note")).to_contain_text("percent")
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    stage = page.locator(".aw-stage")
    assert page.evaluate(LOCK) == [0, 2, 7]
    stage.focus()
    for key in ("ArrowDown", "ArrowLeft", "Enter"):
        stage.press(key)
    assert page.evaluate(LOCK) == [0, 3, 6]
    for _ in range(6):
        stage.press("ArrowRight")
    stage.press(" ")
    assert page.evaluate(LOCK)[0] == 1
    for order in ("entropy", "distance", "kind", "alike", "from", "to", "place"):
        page.get_by_label("Sort by", exact=True).select_option(order)
    page.get_by_label("[CLS] and [SEP]", exact=True).first.select_option("rest")
    page.get_by_label("Other models", exact=True).select_option("same")
    for name in ("pieces", "lines", "difference", "matrix"):
        page.get_by_role("button", name=name, exact=True).click()
        if name in ("pieces", "difference", "matrix"):
            pieces = page.get_by_role("button", name="pieces", exact=True)
            expect(pieces).to_have_attribute("aria-pressed", str(name != "difference").lower())
    page.locator(".aw-word").nth(3).hover()
    page.locator(".aw-kind").first.click()
    expect(page.locator(".aw-kind").first).to_have_attribute("aria-pressed", "false")
    assert requests == []
    with page.expect_request("**/queue/join*"):
        page.get_by_role("tab", name="Parameters").click()
    assert len([url for url in requests if "/queue/join" in url]) == 1, "only the next tab asks"


LIT = f"""async () => {{
  const w = {WALL}, p = w.places[0][0], r = w.base.width / w.baseWidth, {{n}} = w.wall;
  const row = word => {{
    const at = [p.x + 2, p.y + (word + .5) * w.tile / n, w.tile - 4].map(v => Math.round(v * r));
    return [...w.base.getContext('2d').getImageData(...at, 1).data].join();
  }};
  const words = [...Array(n).keys()], plain = words.map(row);
  const stay = words.map(word => (w.lightWord(word), words.filter(other => row(other) === plain[other])));
  w.lightWord(null);
  return stay;
}}"""


def a_word_pointed_at_keeps_its_row_in_every_tile_and_the_others_fade(page):
    expect(page.locator(".aw-lens .note")).to_contain_text("percent")
    stay = page.evaluate(LIT)
    assert len(stay) > 5
    assert stay == [[word] for word in range(len(stay))]


def test_heads_sorted_by_a_word_are_in_the_link_and_come_back_with_it(visit):
    """The chosen word in the address, by Back and Forward, a reload, and in a fresh page."""
    page = opened(visit(PATH))
    shared = word_heads(get_runs(PageState(text=TEXT).ask)[0])
    words, heads = shared.alignment, shared.attention["bert"]
    france = [word.text for word in words.words].index("France")
    others = [i for i in words.content if i != france]
    pressed = page.locator(".aw-word[aria-pressed=true]")

    def first_in_the_wall():
        return page.evaluate(
            f"async () => {{ const w = {WALL}, p = w.places[0], least = Math.min(...p.map(t => t.y));"
            " return p.findIndex(t => t.y === least && t.x === Math.min(...p.filter(o => o.y === least).map(o => o.x))); }"
        )

    def is_first(shares):
        expect(pressed).to_have_text(["France"])
        assert shares.ravel()[first_in_the_wall()] == pytest.approx(shares.max(), abs=1e-6)

    page.locator(".aw-word", has_text="France").click()
    expect(pressed).to_have_text(["France"])
    expect(page).to_have_url(re.compile(rf"lit={france}\b"))
    page.get_by_label("Sort by", exact=True).select_option("to")
    to_france = heads[:, :, others, france].mean(-1)
    is_first(to_france)
    page.get_by_label("Sort by", exact=True).select_option("from")
    is_first(heads[:, :, france][..., others].sum(-1))
    page.get_by_label("Sort by", exact=True).select_option("to")
    page.locator(".aw-stage").hover(position=tile(page, 0, *divmod(int(to_france.argmax()), 12)))
    share = f"{to_france.max():.0%} of each other word's attention goes to “France”, on average"
    expect(page.locator(".aw-card")).to_contain_text(share)
    expect(page).to_have_url(
        re.compile("order=to")
    )  # many changes are written only half a second later
    link = page.url
    page.get_by_role("tab", name="Parameters").click()
    expect(page).to_have_url(re.compile("tab=parameters"))
    assert "lit=" not in page.url, "no other tab has the word"
    page.go_back()
    expect(page).to_have_url(link)
    is_first(to_france)
    page.reload()
    opened(page)
    is_first(to_france)
    walk(page, PATH)
    opened(page)
    expect(pressed).to_have_count(0)
    walk(page, link[link.index("/?") :])
    opened(page)
    is_first(to_france)


def test_a_phone_in_the_dark_fetches_a_long_texts_numbers(visit):
    long = f"/?family=mini&tab=attention&text={quote('the old man and the sea ' * 6)}"
    page = opened(visit(long, width=390, height=800, theme="dark"))
    expect(page.locator(".aw-lens .note")).to_contain_text("percent")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".aw-stage canvas").first.bounding_box()["width"] <= 390
    colour = page.evaluate(
        f"(async () => {{ const w = {WALL}, p = w.places[0][0], c = w.base, r = c.width / w.baseWidth;"
        " return [...c.getContext('2d').getImageData((p.x + w.tile - 2) * r, (p.y + 2) * r, 1, 1).data]; })()"
    )
    assert sum(colour[:3]) < 500, "tiles of weak attention are dark on a dark page"


def folds_compute_when_opened(page):
    page.get_by_role("button", name="Attention summed over all layers").click()
    rollout = page.locator('[data-kind="attention/summary"]')
    expect(rollout.locator("canvas")).to_have_count(3)
    small = rollout.locator("canvas").first.bounding_box()["width"]
    rollout.get_by_role("button", name="shown", exact=True).click()
    assert rollout.locator("canvas").first.bounding_box()["width"] != small, "[CLS] was left out"
    page.get_by_label("gradient × attention").click()
    expect(page.locator('[data-kind="attention/summary"]')).to_contain_text(
        "for its top prediction"
    )
    assert page.evaluate(HUNDREDS, 18) == 15, "a cell of 18 pixels has its number, 100 too"


HUNDREDS = (
    f"""async step => {{
  const {{Matrix}} = await {MODULE}('attention/matrix.js');"""
    """
  const matrix = new Matrix(() => {}), pen = CanvasRenderingContext2D.prototype, fill = pen.fillText, n = 15;
  let found = 0;
  pen.fillText = function (text, ...at) { found += text === '100' && at[2] < step; fill.call(this, text, ...at); };
  const values = Float64Array.from({length: n * n}, (_, i) => Number(i % (n + 1) === 0));
  matrix.draw({labels: Array(n).fill('a'), values, n, ramp: new Uint32Array(256), palette: {}, label: ''}, 32 + step * n);
  matrix.mark(null);
  pen.fillText = fill;
  return matrix.step === step ? found : matrix.step;
}"""
)
