"""Every endpoint, tab and fold answers, whichever sizes stand in the columns, and with a fourth model."""

import math

import numpy as np
import pytest

from explorer.links.page_state import PageState
from explorer.models.architectures import meta_network
from explorer.models.choice.family import family_specs
from explorer.refusal import Refusal
from explorer.ui.latency import served
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.tabs import TABS
from tests.models.choice.seven_sizes import MIXTURES
from tests.ui.shell.surfaces import OPENED, TEXTS, folds, paired, shown

FOUR = "mini, and RoBERTa"
TEXT = TEXTS[0]
QUIET = ("latency", "texts", "claims")
"""Nothing is measured or asked yet, and claims are about models whatever was chosen."""
SHAPED = (MIXTURES[0], MIXTURES[2], MIXTURES[4], FOUR)
"""Every number of layers and of heads once; narrow, the other sizes have the shapes of these."""
by_tab = pytest.mark.parametrize(
    ("tab", "family", "text"),
    paired(TABS, SHAPED, TEXTS),
    indirect=["family"],
    ids=lambda value: getattr(value, "ID", value),
)


@pytest.fixture(autouse=True)
def few_sentences(seven, three_sentences, monkeypatch):
    """Layers are compared over three sentences; a measurement ends by its rounds alone."""
    monkeypatch.setattr(served.library, "BUDGET_S", 600.0)


@pytest.fixture
def family(request):
    if request.param != FOUR:
        return request.param
    request.getfixturevalue("four")
    return "mini"


@pytest.mark.long
@by_tab
def test_every_tab_names_its_models_and_every_fold_shows_something(tab, family, text):
    state = PageState(text=text, family=family)
    found = shown(tab, state)
    assert found
    own = [s for s in family_specs(family) if tab.ID != "distillation" or s.key != "roberta"]
    assert [spec.label for spec in own if spec.label not in found] == [] or tab.ID in QUIET
    opened = folds(tab, state)
    assert len(opened) == OPENED[tab.ID]
    assert [name for name, values in opened if not any(map(str, values))] == []


def names_of(models):
    return [model["model"] for model in models["models"]]


def is_attention(family, shape, key):
    last = shape.n_layers - 1, shape.n_heads - 1
    rows = ENDPOINTS["attention"](TEXT, family, key, *last)["attention"]
    return [sum(row) for row in rows] == pytest.approx([1] * len(rows), abs=1e-5)


def is_layer(family, shape, key):
    found = ENDPOINTS["layer"](TEXT, family, key, shape.n_layers - 1, shape.n_heads - 1, 1)
    return sum(found["weights"]) == pytest.approx(1, abs=1e-5)


def is_depth(family, shape, key):
    (mask,) = ENDPOINTS["depth"](TEXT, family, key)["masks"]
    return len(mask["layers"]) == shape.n_layers + 1


def is_contexts(family, keys):
    found = ENDPOINTS["contexts"](TEXT, family)
    whole = {m["model"]: m["masks"][0]["readings"]["both"] for m in found["models"]}
    said = {m["model"]: m["masks"] for m in ENDPOINTS["predict"](TEXT, family, 1)["models"]}
    for key, reading in whole.items():
        first = said[key][0]["predictions"][0]["probability"]
        assert reading["probability"] == pytest.approx(first, abs=1e-5)
    return list(whole) == keys


def is_patch(family, keys):
    """A model that splits the two words unequally says so."""
    found = ENDPOINTS["patch"](TEXT, TEXT.replace("mat", "dog"), family)
    refused = [
        key for key in keys if any(label_in(family, key) in m for m in found.get("missing", ()))
    ]
    return sorted([*names_of(found), *refused]) == sorted(keys)


def is_parameters(family, keys):
    specs_ = family_specs(family)
    found = ENDPOINTS["parameters"]([spec.name for spec in specs_])["models"]
    counted = [sum(p.numel() for p in meta_network(s).base_model.parameters()) for s in specs_]
    return [model["total"] for model in found] == counted and len(found) == len(keys)


def is_distillation(family, _keys):
    (mask,) = ENDPOINTS["distillation"](TEXT, family, 2.0)["masks"]
    return 0 <= mask["js"] <= math.log(2)


def says_how(task, *asked):
    """These weights have no adapter: each model says how its own is made."""

    def refused(family, keys):
        with pytest.raises(Refusal) as said:
            ENDPOINTS[task](*asked, family)
        return [
            k for k in keys if f"{label_in(family, k)} has no adapter" in str(said.value)
        ] == keys

    return refused


def has_no_head(family, keys):
    """These weights bring no classifier, and each model says so."""
    with pytest.raises(Refusal) as said:
        ENDPOINTS["classify"]("He was not bad.", family)
    lacking = [
        k for k in keys if f"{label_in(family, k)} brings no head that classi" in str(said.value)
    ]
    return lacking == keys


def label_in(family, key):
    return next(spec.label for spec in family_specs(family) if spec.key == key)


def is_changed(family, keys):
    """Compare each model with itself: it has a value for each of its heads, and none changed."""
    for spec in family_specs(family):
        columns, rows = f"a={spec.name},b={spec.name}", [TEXT.replace("[MASK]", "was")] * 3
        js = np.array(ENDPOINTS["changed"](columns, rows=rows)["heads"]["js"])
        if js.shape != (spec.architecture.n_layers, spec.architecture.n_heads) or js.max() > 1e-9:
            return False
    return True


OF_EACH = {"attention": is_attention, "layer": is_layer, "depth": is_depth}
OF_ALL = {
    "predict": lambda family, keys: names_of(ENDPOINTS["predict"](TEXT, family, 3)) == keys,
    "contexts": is_contexts,
    "score": lambda family, keys: names_of(ENDPOINTS["score"]("He was here.", family)) == keys,
    "ablate": lambda family, keys: names_of(ENDPOINTS["ablate"]("a [MASK]", family)) == keys,
    "similarity": lambda family, keys: (
        [row["model"] for row in ENDPOINTS["similarity"](family)["rows"] if not row["layer"]]
        == keys
    ),
    "vectors": lambda family, keys: names_of(ENDPOINTS["vectors"](TEXT, family)) == keys,
    "changed": is_changed,
    "patch": is_patch,
    "attribute": lambda family, keys: names_of(ENDPOINTS["attribute"](TEXT, family)) == keys,
    "parameters": is_parameters,
    "distillation": is_distillation,
    "pair": lambda family, keys: names_of(ENDPOINTS["pair"]("A cat.", "It sat.", family)) == keys,
    "sentiment": says_how("sentiment", "He was not bad."),
    "classify": has_no_head,
    "entities": lambda family, keys: (
        [*(found := ENDPOINTS["entities"]("He was here.", family))["missing"]] == keys
        and found["models"] == []
    ),
    "question": says_how("question", "Where was the cat?", "The cat sat on the mat."),
    "texts": lambda family, keys: (
        [row["model"] for row in ENDPOINTS["texts"](["the cat sat."], family, "plain")["rows"]]
        == keys
    ),
    "latency": lambda family, keys: names_of(ENDPOINTS["latency"](family, 8, 1, 2)) == keys,
}


@pytest.mark.long
@pytest.mark.parametrize("name", ENDPOINTS)
@pytest.mark.parametrize("family", SHAPED, indirect=True)
def test_every_endpoint_answers(family, name):
    shapes = {spec.key: spec.architecture for spec in family_specs(family)}
    if name in OF_EACH:
        assert [key for key, shape in shapes.items() if not OF_EACH[name](family, shape, key)] == []
    else:
        assert OF_ALL[name](family, list(shapes))
