"""Which models a reader looks at: a miniature is never called by a published model's name."""

import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from explorer.assets import ASSETS
from explorer.links.page_state import PageState
from explorer.links.tabs import FOLDS
from explorer.models.specs import BASE, MINI
from explorer.ui.kit import strings as kit
from explorer.ui.latency import strings as latency_words
from explorer.ui.latency.tab import MeasurementSettings, draw_card
from explorer.ui.parameters.strings import MAP
from explorer.ui.shell.input_bar import miniatures_note
from explorer.ui.shell.page import header_html, launch_options
from explorer.ui.shell.routes import card_route
from explorer.ui.shell.tabs import TABS, values_of
from tests.markup import every, plain

NAMED = re.compile(r"(?<![\w-])(?:BERT|DistilBERT|ALBERT)(?![\w-])")
"""A published model's name that is not part of ``mini-BERT``."""


def test_labels_say_which_family_it_is():
    assert [spec.label for spec in BASE.values()] == ["BERT", "DistilBERT", "ALBERT"]
    assert [spec.label for spec in MINI.values()] == ["mini-BERT", "mini-DistilBERT", "mini-ALBERT"]


@pytest.mark.parametrize("tab", ["predictions", "attention", "distillation"])
def test_findings_and_column_heads_name_the_miniatures(tiny_family, tab):
    shown = {one.ID: one for one in TABS}[tab]
    sentence, picture = values_of(shown, PageState(text="the cat sat on the [MASK].", tab=tab))
    assert NAMED.findall(str(sentence)) == []
    labels = re.findall(r'"label":"([^"]*(?:BERT)[^"]*)"', str(picture))
    assert len(labels) >= 2
    assert [label for label in labels if NAMED.search(label)] == []


@pytest.mark.parametrize("family", kit.BADGES)
def test_the_badge_beside_the_title_names_the_models_in_use(family):
    start = PageState(family=family or "bert=large,distilbert=mini,albert=mini")
    badges = every(header_html(start), data_family=...)
    seen = [(one["data-family"], one.text()) for one in badges if "hidden" not in one.attributes]
    assert seen == [(family, kit.BADGES[family])]


def test_what_the_badge_opens_names_the_miniatures_and_leads_to_the_card():
    said = miniatures_note()
    assert all(spec.label in plain(said) for spec in MINI.values())
    (address,) = [one["href"] for one in every(said, href=...) if "#" not in one["href"]]
    routes = launch_options()["app_kwargs"]["routes"]
    answer = TestClient(Starlette(routes=routes)).get(f"/{address}")
    assert answer.status_code == 200
    assert answer.text == (ASSETS / "models" / "README.md").read_text("utf-8")
    assert card_route().path == f"/{address}"


def test_parameters_and_latency_call_the_sizes_by_the_same_words():
    offered = {key: name for name, key in latency_words.SHAPES}
    sizes = {key: kit.SIZES[key] for key in ("base", "mini")}
    assert {key: offered[key] for key in sizes} == sizes
    assert MAP["families"] == sizes | {"chosen": kit.MIXED}
    assert dict(map(reversed, kit.FAMILIES)) == kit.SIZES


@pytest.mark.parametrize("shapes", ["base", "mini", "larger"])
def test_the_latency_finding_begins_with_the_sizes_it_is_about(shapes):
    sentence = plain(draw_card(MeasurementSettings(shapes=shapes))[0])
    assert sentence.startswith(kit.AT_SIZE[shapes])
    assert bool(NAMED.search(sentence)) == (shapes == "base")


def test_every_fold_names_its_term_and_then_its_question(page):
    parts = page.blocks.values()
    titles = [one.label for one in parts if (getattr(one, "elem_id", "") or "").startswith("fold-")]
    assert len(titles) >= sum(map(len, FOLDS.values()))
    assert [title for title in titles if title.count(": ") != 1 or len(title.split()) < 4] == []
