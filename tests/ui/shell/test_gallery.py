"""The gallery's views: each opens as its link says, and what it says holds for the shipped weights."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from safetensors.torch import load_file
from scipy.stats import binomtest

import explorer
from explorer.analysis.claims.ledger import claims_ledger
from explorer.analysis.parameters.shape import forward_flops
from explorer.assets import DATA
from explorer.links.codec import from_params
from explorer.links.tabs import TABS
from explorer.models.specs import BASE, BUNDLED, MINI
from explorer.ui.kit.strings import TOUR
from explorer.ui.parameters.folds import show_embedding
from explorer.ui.shell.routes import tour_html
from tests.endpoints import attention, depth, distillation, pair, parameters, predict
from tests.markup import every

GALLERY = json.loads((DATA / "gallery.json").read_text("utf-8"))
VIEWS = GALLERY["views"]
STOPS = [VIEWS[number - 1] for number in GALLERY["tour"]]
USAGE = (Path(__file__).parents[3] / "docs" / "usage.md").read_text("utf-8")


def counts(*names):
    return parameters(list(names))["models"]


def heads(text):
    """Each model's attention [layer, head, query, key] and its tokens, by the endpoint."""
    for key, spec in MINI.items():
        shape = spec.architecture
        found = [
            [attention(text, "mini", key, layer, head) for head in range(shape.n_heads)]
            for layer in range(shape.n_layers)
        ]
        yield np.array([[one["attention"] for one in row] for row in found]), found[0][0]["tokens"]


def stores_little_applies_much(link):
    bert, albert = counts("bert-base-uncased", "albert-base-v2")
    stored, applied = (albert[n] / bert[n] for n in ("total", "applied"))
    fewer = f"{1 / stored:.1f} times fewer weights"
    assert all(fewer in text for text in (VIEWS[0]["title"], VIEWS[4]["says"]))
    assert 0.78 < applied < 0.85
    assert albert["applied"] > 7 * albert["total"]


def fewer_stored_more_applied(link):
    large, xxlarge = counts("bert-large-uncased", "albert-xxlarge-v2")
    assert xxlarge["total"] < large["total"]
    assert xxlarge["applied"] > 3 * large["applied"]


def factorised_words(link):
    """What the fold prints of the family that the link names, by that model's own tensors."""
    tensors = load_file(BUNDLED / "mini-albert" / "model.safetensors")
    table, lift = (
        next(one for name, one in tensors.items() if name.endswith(end))
        for end in ("embeddings.word_embeddings.weight", "embedding_hidden_mapping_in.weight")
    )
    (v, e), (h, _) = table.shape, lift.shape
    state, _ = from_params(link)
    start = json.loads(show_embedding(state)[0])["start"]
    assert (start["v"], start["e"], start["h"]) == (v, e, h)
    said = next(view["says"] for view in VIEWS if view["holds"] == "factorised_words")
    assert f"{100 * (1 - (v * e + e * h) / (v * h)):.1f}% fewer" in said
    assert f"{e}-dimensional embeddings" in said
    assert f"projected to {h}" in said


def used_once_or_often(link):
    bert, distilbert, albert = counts(*(spec.name for spec in BASE.values()))
    assert [m["applied"] / m["total"] for m in (bert, distilbert)] == [1, 1]
    layer = albert["applied"] - albert["total"]
    assert layer % 11 == 0
    assert layer // 11 > albert["total"] / 2


def half_the_work(link):
    bert, distilbert, albert = (forward_flops(spec, 128) for spec in BASE.values())
    assert distilbert / bert == pytest.approx(0.5, abs=0.01)
    assert albert / bert == pytest.approx(1, abs=0.02)


def not_decided_at_once(link):
    for key in MINI:
        assert depth(link["text"], "mini", key)["masks"][0]["decided_at"] >= 1, key


def a_neighbour_head(link):
    for weights, _ in heads(link["text"]):
        beside = [
            np.diagonal(weights[:, :, 1:-1, 1:-1], step, 2, 3).mean(-1).max() for step in (-1, 1)
        ]
        assert max(beside) > 0.5
    weights, _ = next(iter(heads(link["text"])))
    shown = weights[int(link["layer"]), int(link["head"]), 1:-1, 1:-1]
    assert np.diagonal(shown, -1).mean() > 0.9, "and the link opens on one"


def marks_get_more(link):
    for weights, tokens in heads(link["text"]):
        marks = [0, len(tokens) - 1]
        assert weights[:, :, 1:-1][..., marks].sum(-1).mean() > 2 / len(tokens)
        assert len(tokens) == 12, "the even share that the tour names"


def softer_in_order(link):
    warm = float(link["temperature"])
    sharp, soft = (distillation(link["text"], "mini", t)["masks"][0] for t in (1.0, warm))
    for who in ("teacher", "student"):
        assert soft[f"entropy_{who}"] > sharp[f"entropy_{who}"]
        by_token = dict(zip(soft["tokens"], soft[who], strict=True))
        order = [t for _, t in sorted(zip(sharp[who], sharp["tokens"], strict=True), reverse=True)]
        values = [by_token[t] for t in order if t in by_token]
        assert values == sorted(values, reverse=True)


def nearer_when_softer(link):
    sharp, soft = (distillation(link["text"], "mini", t)["masks"][0] for t in (1.0, 10.0))
    assert soft["kl_teacher_student"] < sharp["kl_teacher_student"]
    said = next(view["says"] for view in VIEWS if view["holds"] == "nearer_when_softer")
    assert all(f"{one['kl_teacher_student']:.3f}" in said for one in (soft, sharp))


def asked_differently(link):
    first, second = link["text"].split("[SEP]")
    found = {m["model"]: m["objective"] for m in pair(first, second, "mini")["models"]}
    assert found == {"bert": "nsp", "distilbert": None, "albert": "sop"}


def two_ways_to_spell(link):
    found = predict(link["text"], "mini", 1)["models"]
    word = link["text"].split()[int(link["at"])]
    counts = {m["model"]: n_pieces(word, m["tokens"]) for m in found}
    assert counts["bert"] == counts["distilbert"] != counts["albert"]
    said = next(view["says"] for view in VIEWS if view["holds"] == "two_ways_to_spell")
    assert f"cut “{word}” into {counts['bert']} pieces, ALBERT into {counts['albert']}." in said


def too_few_to_tell(link):
    name = link["form"].removeprefix("list.name:")
    frame = explorer.texts(str(DATA / "texts" / f"{name}.csv")).to_frame()
    first = {
        key: set(rows[rows["answer_rank"] == 1]["row"]) for key, rows in frame.groupby("model")
    }
    said = next(view["says"] for view in VIEWS if view["holds"] == "too_few_to_tell")
    n = frame["row"].nunique()
    assert f"Of {n} facts" in said
    assert re.findall(r"[\d.]+%", said) == [
        f"{100 * len(rows) / n:.1f}%" for rows in map(first.get, MINI)
    ]
    for one, other in combinations(first.values(), 2):
        only, alone = len(one - other), len(other - one)
        assert binomtest(only, only + alone).pvalue > 0.05


def all_find_it(link):
    for model in predict(link["text"], "mini", 1)["models"]:
        assert model["masks"][0]["predictions"][0]["token"].lstrip("▁") == "paris"


def verdicts_are_counted(link):
    claims = claims_ledger().claims
    found = Counter(claim.verdict for claim in claims)
    said = next(view["says"] for view in VIEWS if view["holds"] == "verdicts_are_counted")
    right, imprecise, wrong, without = map(
        found.get, ("right", "imprecise", "wrong", "unsupported")
    )
    assert said == (
        f"Of {len(claims)} statements about these models {right} are right, {imprecise} imprecise "
        f"and {wrong} wrong; {without} have no source."
    )


def less_certain_in_order(link):
    softer_in_order(link)
    sharp, soft = (distillation(link["text"], "mini", t)["masks"][0] for t in (1.0, 2.0))
    for who in ("teacher", "student"):
        of_paris = [found[who][found["tokens"].index("paris")] for found in (sharp, soft)]
        assert of_paris[1] < of_paris[0]


def order_matters_to_albert(link):
    first, second = link["text"].split("[SEP]")
    found = {m["model"]: m for m in pair(first, second, "mini")["models"]}
    orders = ("probability_in_order", "probability_swapped")
    accepted = {key: [(m[name] or 0) > 0.5 for name in orders] for key, m in found.items()}
    assert (accepted["bert"], accepted["albert"]) == ([True, True], [True, False])
    assert found["distilbert"]["trained"] is False


def n_pieces(word, tokens):
    bare = [token.removeprefix("##").removeprefix("▁") for token in tokens]
    spans = ((start, end) for start in range(len(bare)) for end in range(start + 1, len(bare)))
    return next(end - start for start, end in spans if "".join(bare[start:end]) == word)


@pytest.mark.long
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view["title"])
def test_what_a_view_says_is_true_of_the_shipped_weights(view):
    globals()[view["holds"]](view["link"])


def test_the_tour_begins_with_a_mask_and_visits_each_tab_once():
    assert STOPS[0]["title"] == "What a mask is"
    assert sorted(stop["link"]["tab"] for stop in STOPS) == sorted(TABS)


def test_there_are_seventeen_and_each_opens_what_it_names():
    assert len({view["holds"] for view in VIEWS}) == len(VIEWS) == 17
    for view in VIEWS:
        state, repaired = from_params(view["link"])
        assert not repaired, view["title"]
        assert {name: str(getattr(state, name)) for name in view["link"]} == {
            name: value if name != "temperature" else f"{float(value)}"
            for name, value in view["link"].items()
        }


def test_a_sign_stands_where_its_button_leads_and_the_last_one_leaves_the_projector():
    buttons = every(tour_html(), "button")
    names = ("back", "next", "projector", "lessons", "end", "leave")
    back, on, projector, lessons, end, leave = map(TOUR.get, names)
    assert [one.text() for one in buttons] == [
        f"‹ {back}",
        f"{on} ›",
        projector,
        lessons,
        f"× {end}",
        leave,
    ]
    assert ["data-project" in button.attributes for button in buttons] == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]


def test_the_page_and_the_readme_show_all_of_them():
    page = str(tour_html())
    items = [" ".join(item.split()) for item in USAGE.split("\n- ")]
    for view in VIEWS:
        assert (view["title"] in page) == (view in STOPS)
        assert (view["says"].replace("'", "&#x27;") in page) == (view in STOPS)
        row = next(item for item in items if f"[{view['title']}](" in item)
        assert view["says"] in row
        query = urlsplit(row.split("](")[1].split(")")[0]).query
        assert dict(parse_qsl(query)) == {"v": "1", **view["link"]}
