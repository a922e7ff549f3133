"""The first picture: what an address shows before any script, and what never gets into it."""

import json
import re
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.assets import ASSETS
from explorer.inference.cache import CACHE
from explorer.links.codec import pack
from explorer.links.page_state import PageState
from explorer.links.tabs import TABS
from explorer.ui.attention import tab as attention
from explorer.ui.first import panels
from explorer.ui.first import picture as first
from explorer.ui.first.picture import first_html, in_shadow
from explorer.ui.first.preview import Preview
from explorer.ui.first.sent import parts_of
from explorer.ui.predictions.opening import opening_values
from explorer.views.first.predictions import predictions_html
from explorer.views.markup import Markup, el, join
from tests.markup import every, parsed, plain
from tests.waiting import in_its_own_loop

BODY = "<html><head><style></style></head><body class='a'><gradio-app></gradio-app></body></html>"
EVIL = "</template><script>alert(1)</script><img src=x onerror=alert(1)>\"' [MASK]"


@pytest.fixture
def computed(monkeypatch):
    """The states whose panels were computed, on a machine that is idle until a test says other."""
    found = []

    class Every:
        """A tab that shows its text."""

        READS = ()

        def show(self, state, _runs):
            found.append(state)
            return [el("p", state.text)]

    monkeypatch.setattr(panels, "_tab", lambda _state: Every())
    monkeypatch.setattr(panels, "are_imported", lambda: True)
    monkeypatch.setattr(panels, "is_cheap_now", lambda _state: True)
    monkeypatch.setattr(panels, "_allowance", panels.Allowance(1000))
    CACHE.clear()
    yield found
    CACHE.clear()


@pytest.fixture
def client(computed):
    routes = [Route("/", lambda _: HTMLResponse(BODY))]
    app = Starlette(routes=routes, middleware=[Middleware(Preview)])
    app.get_blocks = lambda: type("Page", (), {"local_url": "http://127.0.0.1:7860/"})
    return TestClient(app)


def test_an_address_decides_what_is_in_its_page(client, computed):
    ours = client.get("/", params={"text": "our [MASK]"}).text
    theirs = client.get("/", params={"text": "their [MASK]"}).text
    assert "our" in plain(ours)
    assert "our [MASK]" not in theirs
    assert client.get("/", params={"text": "our [MASK]"}).text == ours
    assert [state.text for state in computed] == ["our [MASK]", "their [MASK]"]


def test_nothing_of_a_link_becomes_markup(client):
    usual, evil = (client.get("/", params={"text": text}) for text in ("a [MASK]", EVIL))
    assert EVIL in plain(evil.text)
    tags, usual_tags = (
        [one.tag for one in parsed(page.text) if one.tag != "span"] for page in (evil, usual)
    )
    assert tags == usual_tags
    attributes = {name for one in parsed(evil.text) for name in one.attributes}
    assert not {name for name in attributes if name.startswith("on")}


def test_the_text_that_only_the_browser_knows_is_not_guessed(client, computed):
    for params in ({"z": "0"}, {"z": "nonsense"}, {"projector": "1"}):
        assert first.HOST not in client.get("/", params=params).text
    page = client.get("/", params={"z": pack({"text": "packed [MASK]"})}).text
    assert "packed [MASK]" in plain(page)
    assert [state.text for state in computed] == ["packed [MASK]"]


def test_a_new_text_is_computed_only_while_nothing_else_is(client, computed, monkeypatch):
    monkeypatch.setattr(panels, "is_idle", lambda: False)
    assert first.HOST not in client.get("/", params={"text": "new [MASK]"}).text
    assert not computed
    monkeypatch.undo()


def test_one_new_text_is_computed_at_a_time(computed):
    assert panels._computing.acquire(blocking=False)
    try:
        state = replace(PageState(), text="new [MASK]")
        assert in_its_own_loop(panels.panel_of(state)) is None
    finally:
        panels._computing.release()
    assert not computed
    assert in_its_own_loop(panels.panel_of(state)) is not None


def test_a_page_does_not_wait_longer_than_its_patience(computed):
    state = replace(PageState(), text="slow [MASK]")
    assert in_its_own_loop(panels.panel_of(state, patience_s=0)) is None
    panels._worker.submit(lambda: None).result()
    assert panels.kept(state) == panels.drawn(panels._tab(state), state, [el("p", state.text)])
    assert len(computed) == 1


@pytest.mark.long
def test_so_many_new_texts_a_minute_are_computed(computed, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(panels, "_allowance", panels.Allowance(3, lambda: now[0]))
    states = [replace(PageState(), text=f"{n} [MASK]") for n in range(200)]
    found = [in_its_own_loop(panels.panel_of(state)) for state in states]
    assert len(computed) == 3
    assert [panel is not None for panel in found] == [True] * 3 + [False] * 197
    assert in_its_own_loop(panels.panel_of(states[0])) is not None, "what is kept costs nothing"
    now[0] = 60.0
    assert in_its_own_loop(panels.panel_of(states[9])) is not None


def test_a_failing_picture_costs_only_itself(client, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("broken")

    monkeypatch.setattr(panels, "drawn", broken)
    assert client.get("/", params={"text": "a [MASK]"}).status_code == 200
    assert "broken" in caplog.text


def test_what_is_in_sight_comes_before_what_only_scripts_read():
    page = (
        "<html><head><style></style><script>window.gradio_config = {}</script>"
        '<script type="module" crossorigin src="./assets/index.js"></script>'
        '<link rel="stylesheet" crossorigin href="./assets/index.css"></head>'
        "<body><gradio-app></gradio-app></body></html>"
    )
    before, between, after = (part.decode() for part in parts_of(page.encode(), "http://a", ""))
    assert "assets/index.js" in between, "asked for at once"
    assert between.endswith("</script>"), "the early scripts are the last before the picture"
    assert 'media="print" onload="this.media=\'all\'"' in between, (
        "in the head, yet no paint waits for it"
    )
    assert "<gradio-app>" in after
    assert "<gradio-app>" not in before + between


def test_the_page_keeps_its_theme_and_frame_in_every_link():
    params = {"embed": "0", "__theme": "dark"}
    html = first_html(PageState(), params, Markup("<p>panel</p>"))
    host = every(html, first.HOST)[0].attributes
    assert host["data-theme"] == "dark"
    links = [a["href"] for a in every(html, "a", data_tab_id=...)]
    assert len(links) == len(TABS)
    assert all("__theme=dark" in link for link in links)
    alone = first_html(PageState(), {"embed": "1"}, Markup("<p>panel</p>"))
    assert "panel" in plain(alone)
    assert not [one.tag for one in parsed(alone) if one.tag in ("a", "form", "header")]


@pytest.mark.parametrize("path", sorted((ASSETS / "css").glob("*.css")), ids=lambda p: p.stem)
def test_both_themes_hold_in_a_shadow_root(path):
    css = path.read_text("utf-8")
    shadow = in_shadow(css)
    assert ".dark" not in re.sub(r"\.ds-dark|--dark", "", shadow)
    for rule in re.findall(r"\.dark[ ,{][^{]*\{([^}]*)\}", css):
        assert shadow.count(re.sub(r"\s*\n\s*", "", rule)) == 2
    assert shadow.count("{") == shadow.count("}")


def test_the_columns_hold_the_probabilities_and_shares_of_their_data():
    _, canvas = opening_values(PageState())
    data = json.loads(canvas)
    html = predictions_html(data, shown=5)
    bars = [bar["style"] for bar in every(html, cls="pr-bar")]
    assert len(bars) == 5 * len(data["models"])
    text = plain(html)
    for model in data["models"].values():
        for word, p in zip(model["masks"][0]["words"][:5], model["masks"][0]["p"], strict=False):
            assert word in text
            assert f"{p:.3f}" in text or p < 0.001


def test_the_first_attention_says_when_a_tile_shows_blocks_of_words(tiny_family):
    for text, n_words in (("the cat .", 1), ("the cat . " * 50, 3)):
        runs = tiny_family.runs(text)
        picture = attention.first(PageState(), attention.show(PageState(), (runs, {})))
        blocks = f"Tiles show the maximum over blocks of {n_words} words"
        assert (blocks in plain(str(join(*picture)))) == (n_words > 1)
