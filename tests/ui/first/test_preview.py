"""A link's preview: read as chats and slide tools read it, from tags alone."""

import json
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import gradio
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.assets import ASSETS
from explorer.context import configure
from explorer.inference.cache import CACHE
from explorer.links.codec import pack
from explorer.links.page_state import PageState
from explorer.models.tokens import BadText
from explorer.ui.first import preview
from explorer.ui.first.preview import (
    HEIGHT,
    LONGEST,
    PICTURE,
    WIDTH,
    Preview,
    first_answers,
    picture_route,
)
from explorer.ui.first.sent import settings_route
from explorer.ui.kit.strings import TAGLINE, TITLE
from explorer.views.preview import FirstAnswer
from tests.markup import every, parsed

TEMPLATE = Path(gradio.__file__).parent / "templates/frontend/index.html"
LISTENS, PUBLIC = "http://127.0.0.1:7860", "https://explorer.example/bert"
REST = (
    '<script>window.gradio_config = {"css":"<meta property=\\"og:x\\">","root":"LISTENS"}</script>'
    '<script>window.gradio_api_info = {"code":"Client(\\"LISTENS\\")"};</script></head>'
    "<body><gradio-app></gradio-app></body></html>"
).replace("LISTENS", LISTENS)
FRAMED = "<script>(() => {const root = 1; 'iframeResizer'})();</script>"
PAGE = TEMPLATE.read_text("utf-8").partition("<script>window.gradio_config")[0] + REST.replace(
    "</head>", f"{FRAMED}</head>"
)


class Head(dict):
    """The content of each tag of a head, by its name; each stands once."""

    def __init__(self, page):
        tags = parsed(page)
        named = [
            (one.attributes.get("property") or one.attributes.get("name"), one)
            for one in tags.every("meta")
        ]
        self.tags = [(name, one["content"]) for name, one in named if name]
        self.tags += [("canonical", one["href"]) for one in tags.every("link", rel="canonical")]
        self.scripts = len(tags.every("script"))
        super().__init__(self.tags)
        assert len(self) == len(self.tags)


def path_of_settings(reply):
    scripts = every(reply.text, "link", rel="preload", **{"as": "script"})
    (link,) = [one for one in scripts if "crossorigin" not in one.attributes]
    return link["href"]


def settings(client, reply):
    """Gradio's configuration, which the page names."""
    return client.get(f"/{path_of_settings(reply)}").text


@pytest.fixture(scope="module")
def client():
    routes = [
        Route("/", lambda _: HTMLResponse(PAGE)),
        Route("/other", lambda _: HTMLResponse(PAGE)),
        Route("/plain", lambda _: PlainTextResponse("as it is")),
        picture_route(),
        settings_route(),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Preview)])
    app.get_blocks = lambda: SimpleNamespace(local_url=f"{LISTENS}/")
    return TestClient(app)


@pytest.fixture
def public(monkeypatch):
    configure(public_url=PUBLIC)


def test_a_link_shows_its_text_once_and_nothing_of_gradio(client):
    reply = client.get(
        "/",
        params={"v": "1", "text": "Paris is [MASK].", "tab": "attention", "x": "1"},
        headers={"accept-encoding": "identity"},
    )
    head = Head(reply.text)
    assert head["og:title"] == head["twitter:title"] == TITLE
    assert "“Paris is [MASK].”" in head["og:description"]
    assert head["og:description"] == head["twitter:description"]
    assert head["twitter:card"] == "summary_large_image"
    assert not [content for _, content in head.tags if "radio" in content]
    link = urlsplit(head["canonical"])
    assert head["og:url"] == head["canonical"]
    asked = {name: value for name, (value,) in parse_qs(link.query).items()}
    assert asked == {"v": "1", "family": "mini", "text": "Paris is [MASK].", "tab": "attention"}
    assert r'"css":"<meta property=\"og:x\">"' in settings(client, reply), (
        "what follows the head is not touched"
    )
    assert int(reply.headers["content-length"]) == len(reply.content)


def test_the_bare_page_says_what_it_is_for(client):
    head = Head(client.get("/").text)
    assert head["og:description"] == TAGLINE
    assert head["canonical"] == "./"


@pytest.mark.parametrize("text", ['"><script>alert(1)</script>', "</title><script>", "'\"<>&"])
def test_nothing_in_a_link_becomes_markup(client, text):
    usual, head = (
        Head(client.get("/", params={"text": one}, headers={"host": "a<script>b"}).text)
        for one in ("plain", text)
    )
    assert head.scripts == usual.scripts
    assert text in head["og:description"]


@pytest.mark.long
def test_a_long_text_is_cut(client):
    said = Head(client.get("/", params={"text": "a" * 500}).text)["og:description"]
    assert "a" * (LONGEST - 1) + "…" in said
    assert "a" * LONGEST not in said


def test_everything_else_passes_as_it_is(client):
    assert client.get("/other").text == PAGE
    assert client.get("/plain").text == "as it is"


def test_the_picture_has_the_size_its_tags_say(client):
    head = Head(client.get("/").text)
    assert head["og:image"] == f"./{PICTURE}"
    png = client.get(f"/{PICTURE}").content
    assert png == (ASSETS / PICTURE).read_bytes()
    size = struct.unpack(">II", png[16:24])
    assert size == (WIDTH, HEIGHT) == (int(head["og:image:width"]), int(head["og:image:height"]))


ANSWERS = [FirstAnswer("bert", "mini-BERT", "cat", 0.5), FirstAnswer("albert", "a", "dog", 0.25)]


@pytest.fixture
def asked(monkeypatch):
    """What is predicted for pictures; nothing is kept from one test to the next."""
    found = []

    def answers(state):
        found.append(state.text)
        return ANSWERS

    monkeypatch.setattr(preview, "first_answers", answers)
    monkeypatch.setattr(preview, "is_cheap_now", lambda _state: True)
    monkeypatch.setattr(preview, "is_free", lambda: True)
    CACHE.clear()
    yield found
    CACHE.clear()


def test_a_link_points_to_the_picture_of_its_own_text_wherever_its_tab_is(client):
    link = {"v": "1", "text": "A [MASK] & more.", "tab": "depth", "layer": "2"}
    picture = urlsplit(Head(client.get("/", params=link).text)["og:image"])
    asked = {name: value for name, (value,) in parse_qs(picture.query).items()}
    assert asked == {"v": "1", "family": "mini", "text": "A [MASK] & more."}
    long = " ".join(f"word{n}" for n in range(400)) + " [MASK]"
    packed = pack({"text": long})
    head = Head(client.get("/", params={"z": packed}).text)
    assert parse_qs(urlsplit(head["og:image"]).query)["z"] == [packed]
    assert "word0 word1" in head["og:description"]
    unreadable = Head(client.get("/", params={"z": "none"}).text)
    assert unreadable["og:image"] == f"./{PICTURE}"


def test_the_picture_of_a_text_is_drawn_once(client, asked):
    replies = [client.get(f"/{PICTURE}", params={"text": "A [MASK]."}) for _ in range(3)]
    assert asked == ["A [MASK]."]
    first, *others = (reply.content for reply in replies)
    assert others == [first, first]
    assert struct.unpack(">II", first[16:24]) == (WIDTH, HEIGHT)
    assert first != (ASSETS / PICTURE).read_bytes()
    assert "max-age" in replies[0].headers["cache-control"]


@pytest.mark.parametrize("why", ["is_cheap_now", "is_free"])
def test_while_somebody_waits_or_measures_the_standing_picture_is_sent_and_nothing_is_run(
    client, asked, monkeypatch, why
):
    with monkeypatch.context() as patch:
        patch.setattr(preview, why, lambda *_: False)
        reply = client.get(f"/{PICTURE}", params={"text": "A [MASK]."})
    assert reply.content == (ASSETS / PICTURE).read_bytes()
    assert reply.headers["cache-control"] == "no-cache"
    assert asked == []
    assert client.get(f"/{PICTURE}", params={"text": "A [MASK]."}).content != reply.content


def test_one_picture_is_drawn_at_a_time(client, asked, monkeypatch):
    begun, go_on = Event(), Event()

    def slow(state):
        asked.append(state.text)
        begun.set()
        assert go_on.wait(300)
        return ANSWERS

    monkeypatch.setattr(preview, "first_answers", slow)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(preview.picture_of, PageState(text="One [MASK]."))
        assert begun.wait(300)
        assert preview.picture_of(PageState(text="Two [MASK].")) is None
        go_on.set()
        assert first.result(300)
    assert asked == ["One [MASK]."]


def test_a_text_that_has_no_answer_has_the_standing_picture(client, asked, monkeypatch):
    def refuse(_state):
        raise BadText("too long")

    for nothing in (refuse, lambda _state: []):
        monkeypatch.setattr(preview, "first_answers", nothing)
        reply = client.get(f"/{PICTURE}", params={"text": "A cat."})
        assert reply.content == (ASSETS / PICTURE).read_bytes()


def test_the_answers_are_those_that_an_independent_softmax_puts_first(tiny_family):
    state = PageState(text="The [MASK] sat on the [MASK].")
    found = first_answers(state)
    for answer in found:
        run = tiny_family.run(answer.key, state.text)
        logits = np.asarray(run.mask_logits[0], dtype=np.float64)
        shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        assert answer.probability == pytest.approx(shares.max(), abs=1e-5)
        piece = run.vocabulary[int(shares.argmax())]
        assert answer.word.strip("…") == piece.replace("##", "").replace("▁", "").strip()
    assert [one.key for one in found] == ["bert", "distilbert", "albert"]
    assert first_answers(PageState(text="No gap.")) == []


@pytest.mark.parametrize("name", ["host", "x-forwarded-host", "x-gradio-server"])
def test_no_request_says_where_the_page_is(client, name):
    said = {name: "elsewhere.example", "x-forwarded-proto": "https"}
    reply = client.get("/", params={"text": "a"}, headers=said)
    assert "elsewhere" not in reply.text
    assert Head(reply.text)["og:url"].startswith("./?")
    assert '"root":"/"' in settings(client, reply), "its own addresses are paths"


def test_gradios_configuration_is_a_script_of_its_own_before_the_modules(client):
    reply = client.get("/")
    assert "window.gradio_" not in reply.text.replace("window.gradio_config?.", "")
    assert reply.text.count("<script src") == 0, "they run after the first paint"
    code = settings(client, reply)
    assert f"src: {json.dumps(path_of_settings(reply))}, onload: modules" in reply.text
    assert code.startswith("window.gradio_config = {")
    assert "window.gradio_api_info = {" in code
    assert code.endswith("'iframeResizer'})();")
    assert "iframeResizer" not in reply.text
    assert client.get("/settings/0123456789abcdef.js").status_code == 404


def test_lines_of_code_get_the_address_in_the_visitors_browser(client):
    assert f'replaceAll("{LISTENS}", new URL' in settings(client, client.get("/"))


def test_the_address_that_was_said_at_the_start_stands_in_previews(client, public):
    reply = client.get("/", params={"text": "a"}, headers={"host": "elsewhere.example"})
    head = Head(reply.text)
    assert head["og:image"].startswith(f"{PUBLIC}/{PICTURE}?")
    assert head["canonical"].startswith(f"{PUBLIC}/?v=1")
    assert "replaceAll" not in reply.text


def test_the_page_is_the_same_packed_and_not(client):
    plain, packed = (
        client.get("/", params={"text": "a b"}, headers={"accept-encoding": coding})
        for coding in ("identity", "br, gzip")
    )
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(packed.content)
    assert packed.content == plain.content
    assert "accept-encoding" in packed.headers["vary"].lower()


def test_the_tags_name_the_models_that_the_page_opens_with(client, monkeypatch):
    page = SimpleNamespace(local_url=f"{LISTENS}/", opens_on=PageState(family="base"))
    monkeypatch.setattr(client.app, "get_blocks", lambda: page)
    head = Head(client.get("/", params={"v": "1", "text": "A [MASK]."}).text)
    for name in ("canonical", "og:url", "og:image"):
        assert parse_qs(urlsplit(head[name]).query)["family"] == ["base"]
