"""A link's preview: read as chats and slide tools read it, from tags alone."""

import struct
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import gradio
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.assets import ASSETS
from explorer.ui.kit.words import TAGLINE, TITLE
from explorer.ui.shell.preview import HEIGHT, LONGEST, PICTURE, WIDTH, Preview, picture_route

TEMPLATE = Path(gradio.__file__).parent / "templates/frontend/index.html"
REST = '<script>window.gradio_config = {"css":"<meta property=\\"og:x\\">"}</script></head></html>'
PAGE = TEMPLATE.read_text("utf-8").partition("<script>window.gradio_config")[0] + REST


class Head(HTMLParser):
    """The tags of a head, each as (name, content), in their order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts = [], 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.scripts += tag == "script"
        if tag == "meta" and (name := given.get("property") or given.get("name")):
            self.tags.append((name, given["content"]))
        if tag == "link" and given.get("rel") == "canonical":
            self.tags.append(("canonical", given["href"]))

    def __getitem__(self, name):
        found = [content for key, content in self.tags if key == name]
        assert len(found) == 1, f"{name} stands {len(found)} times"
        return found[0]


@pytest.fixture(scope="module")
def client():
    routes = [
        Route("/", lambda _: HTMLResponse(PAGE)),
        Route("/other", lambda _: HTMLResponse(PAGE)),
        Route("/plain", lambda _: PlainTextResponse("as it is")),
        picture_route(),
    ]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Preview)]))


def test_a_link_shows_its_text_once_and_nothing_of_gradio(client):
    reply = client.get(
        "/", params={"v": "1", "text": "Paris is [MASK].", "tab": "attention", "x": "1"}
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
    assert reply.text.endswith(REST), "what follows the head is not touched"
    assert int(reply.headers["content-length"]) == len(reply.content)


def test_the_bare_page_says_what_it_is_for(client):
    head = Head(client.get("/").text)
    assert head["og:description"] == TAGLINE
    assert head["canonical"] == "http://testserver/"


@pytest.mark.parametrize("text", ['"><script>alert(1)</script>', "</title><script>", "'\"<>&"])
def test_nothing_in_a_link_becomes_markup(client, text):
    head = Head(client.get("/", params={"text": text}, headers={"host": "a<script>b"}).text)
    assert head.scripts == Head(PAGE).scripts
    assert text in head["og:description"]


def test_a_long_text_is_cut(client):
    said = Head(client.get("/", params={"text": "a" * 500}).text)["og:description"]
    assert "a" * (LONGEST - 1) + "…" in said
    assert "a" * LONGEST not in said


def test_everything_else_passes_as_it_is(client):
    assert client.get("/other").text == PAGE
    assert client.get("/plain").text == "as it is"


def test_the_picture_has_the_size_its_tags_say(client):
    head = Head(client.get("/").text)
    assert head["og:image"] == f"http://testserver/{PICTURE}"
    png = client.get(f"/{PICTURE}").content
    assert png == (ASSETS / PICTURE).read_bytes()
    size = struct.unpack(">II", png[16:24])
    assert size == (WIDTH, HEIGHT) == (int(head["og:image:width"]), int(head["og:image:height"]))


def test_behind_a_proxy_the_address_is_the_public_one(client):
    proxied = {"x-forwarded-host": "explorer.example", "x-forwarded-proto": "https"}
    head = Head(client.get("/", headers=proxied).text)
    assert head["og:image"] == f"https://explorer.example/{PICTURE}"
