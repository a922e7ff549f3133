"""What a file says of itself: every checkpoint by its revision or its own checksum."""

import hashlib

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.models import specs
from explorer.ui.shell.routes import LONGEST_LINK, provenance_route, qr_route, recipe_route


@pytest.fixture(scope="module")
def client():
    return TestClient(Starlette(routes=[provenance_route(), recipe_route(), qr_route()]))


def test_the_published_family_is_named_by_revision(client):
    found = client.get("/provenance/base").json()
    assert [(m["source"], m["revision"]) for m in found["models"]] == [
        (spec.repo, spec.revision) for spec in specs.BASE.values()
    ]
    assert "torch " in found["versions"]
    assert found["cite"].startswith("BERT family explorer, version ")


def test_the_bundled_family_is_named_by_its_weights_own_checksum(client):
    for model, spec in zip(
        client.get("/provenance/mini").json()["models"], specs.MINI.values(), strict=True
    ):
        path = spec.bundled_path / "model.safetensors"
        assert model["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert model["label"] == spec.label


@pytest.mark.parametrize(
    "address",
    ["provenance/none", "recipe/../app.json", "recipe/a/b.json", "recipe/%2e%2e/%2e%2e/app.json"],
)
def test_nothing_else_is_sent(client, address):
    assert client.get(f"/{address}").status_code == 404


def test_a_recipe_is_sent_as_it_is(client):
    parts = client.get("/recipe/depth/lens.json").json()
    assert list(parts) == ["computes", "finds", "prints", "draws", "writes"]
    text = "".join(parts.values())
    compile(text, "lens.py", "exec")
    assert "import explorer" not in text
    assert "from explorer" not in text


def test_a_code_is_drawn_of_a_link_up_to_its_limit(client):
    link = "https://page.test/?text="
    whole = client.get("/qr", params={"link": link + "a" * (LONGEST_LINK - len(link))})
    assert whole.status_code == 200
    assert whole.headers["content-type"] == "image/svg+xml"
    letters = link + "\u3042" * (LONGEST_LINK - len(link))  # three bytes each
    for wrong in (
        letters,
        link + "a" * (LONGEST_LINK - len(link) + 1),
        "ftp://page.test/",
        "",
        "page.test",
    ):
        assert client.get("/qr", params={"link": wrong}).status_code == 404
