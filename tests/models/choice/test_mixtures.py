"""Any size in any column: every tab, fold and endpoint answers, with plain transformers' numbers."""

import json
import math
import re
import zlib
from base64 import b64decode

import gradio as gr
import pytest
import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

from explorer import runs
from explorer.analysis.claims.checks import check_result
from explorer.models import specs
from explorer.models.architectures import meta_network
from explorer.models.choice.family import family_specs
from explorer.models.specimens import family_specimens
from explorer.page_state import PageState, from_params
from explorer.refusal import Refusal
from explorer.ui.distillation import folds
from explorer.ui.predictions.words import origin_note
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.tabs import TABS
from explorer.views.attention.wall import aligned_rows
from tests.models.choice.seven_sizes import SHAPES, narrow, save_seven

MIXTURES = (
    "large",
    "bert=large,distilbert=base,albert=xlarge",
    "bert=base,distilbert=base,albert=xxlarge",
    "bert=mini,distilbert=base,albert=base",
    "bert=large,distilbert=mini,albert=mini",
)
OPENED = dict(zip((tab.ID for tab in TABS), (4, 3, 2, 3, 2, 3, 7, 0, 3), strict=True))
"""Folds that compute when they are opened; Latency's are opened by a measurement."""
TEXT = "The [MASK] sat on the mat."
TEXTS = (
    TEXT,
    "The [MASK] sat on the [MASK].",
    "He was not bad.",
    "The cat sat. [SEP] It was a [MASK].",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seven")
    save_seven(folder)
    return folder


@pytest.fixture(scope="module")
def networks():
    """Loaded once for the whole file."""
    return {}


@pytest.fixture(autouse=True)
def seven(folder, networks, tiny_family, monkeypatch):
    with narrow(monkeypatch, folder):
        monkeypatch.setattr("explorer.models.loading._loaded", networks)
        yield


def state_of(family, text=TEXT, **chosen):
    return PageState(text=text, family=family, **chosen)


def transformers_own(spec, folder):
    path = folder / spec.name if spec.repo else specs.BUNDLED / spec.name
    network = AutoModelForPreTraining.from_pretrained(path, attn_implementation="eager")
    return AutoTokenizer.from_pretrained(path), network.eval()


@pytest.mark.parametrize("family", MIXTURES)
def test_each_columns_numbers_are_those_of_plain_transformers(family, folder):
    answer = ENDPOINTS["predict"](TEXT, family, 5)
    assert answer["family"] == family
    for spec, model in zip(family_specs(family), answer["models"], strict=True):
        tokenizer, network = transformers_own(spec, folder)
        inputs = tokenizer(TEXT, return_tensors="pt")
        with torch.no_grad():
            out = network(**inputs, output_attentions=True, output_hidden_states=True)
        logits = out.logits if "logits" in out else out.prediction_logits
        at = inputs["input_ids"][0] == tokenizer.mask_token_id
        wanted = logits[0, at].softmax(-1)[0]
        (mask,) = model["masks"]
        for said in mask["predictions"]:
            assert said["probability"] == pytest.approx(wanted[said["id"]].item(), abs=1e-5)
        run = runs.get_run(spec, state_of(family))
        assert torch.allclose(torch.cat(out.attentions), torch.tensor(run.attention), atol=1e-5)
        states = torch.cat(out.hidden_states)
        assert torch.allclose(states, torch.tensor(run.hidden_states), atol=1e-5)
        if spec.repo:
            assert run.attention.shape[:2] == SHAPES[spec.name]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.ID)
@pytest.mark.parametrize("family", MIXTURES)
def test_every_tab_answers(family, tab, text):
    shown = "".join(map(str, tab.show(state_of(family, text))))
    lost = [spec.label for spec in family_specs(family) if spec.label not in shown]
    # Latency has measured nothing yet, and claims are about models whatever was chosen.
    assert lost == [] or tab.ID in ("latency", "claims")


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.ID)
@pytest.mark.parametrize("family", MIXTURES)
def test_every_fold_opens(family, tab):
    with gr.Blocks() as page:
        state = gr.State(None)
        with gr.Tab():
            tab.build(state)
    opened = 0
    for event in page.fns.values():
        if any(name == "expand" for _, name in event.targets):
            chosen = state_of(family)
            values = [chosen if c is state else getattr(c, "value", None) for c in event.inputs]
            found = event.fn(*values)
            opened += any(map(str, list(found) if hasattr(found, "__next__") else [found]))
    assert opened == OPENED[tab.ID]


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


def label_in(family, key):
    return next(spec.label for spec in family_specs(family) if spec.key == key)


OF_EACH = {"attention": is_attention, "layer": is_layer, "depth": is_depth}
OF_ALL = {
    "predict": lambda family, keys: names_of(ENDPOINTS["predict"](TEXT, family, 3)) == keys,
    "contexts": is_contexts,
    "parameters": is_parameters,
    "distillation": is_distillation,
    "pair": lambda family, keys: names_of(ENDPOINTS["pair"]("A cat.", "It sat.", family)) == keys,
    "sentiment": says_how("sentiment", "He was not bad."),
    "question": says_how("question", "Where was the cat?", "The cat sat on the mat."),
    "latency": lambda family, keys: names_of(ENDPOINTS["latency"](family, 8, 1, 2)) == keys,
}


@pytest.mark.parametrize("name", ENDPOINTS)
@pytest.mark.parametrize("family", MIXTURES)
def test_every_endpoint_answers(family, name):
    shapes = {spec.key: spec.architecture for spec in family_specs(family)}
    if name in OF_EACH:
        assert [key for key, shape in shapes.items() if not OF_EACH[name](family, shape, key)] == []
    else:
        assert OF_ALL[name](family, list(shapes))


def test_the_wall_of_the_widest_mixture_stays_small():
    words = " ".join(["the cat sat on the mat and the dog was not good"] * 5)
    attention = next(tab for tab in TABS if tab.ID == "attention")
    family = "bert=large,distilbert=base,albert=xxlarge"
    _, wall = attention.show(state_of(family, f"{words} [MASK]."))
    assert len(wall) < 2_000_000
    shown = json.loads(wall)
    assert [(m["layers"], m["heads"]) for m in shown["models"]] == [(24, 16), (6, 12), (12, 64)]
    drawn = zlib.decompress(b64decode(shown["packed"]))
    n = -(-len(shown["words"]) // shown["pool"])
    assert len(drawn) == (24 * 16 + 6 * 12 + 12 * 64) * n * n


UNLIKE = MIXTURES[-1]


def test_what_a_student_of_another_teacher_has_not_is_said():
    """BERT-large never taught mini-DistilBERT, and its states are wider."""
    state = state_of(UNLIKE)
    tab = next(tab for tab in TABS if tab.ID == "distillation")
    assert "was distilled from mini-BERT, not from BERT-large." in str(tab.show(state)[0])
    losses = ENDPOINTS["distillation"](TEXT, UNLIKE, 2.0)["losses"]
    assert losses["cos"] is None
    assert losses["total_is_of"] == ["ce"]
    assert losses["total"] == pytest.approx(5 * losses["ce"])
    shown = json.loads(folds.show_losses(state))
    assert shown["cosine"] is None
    said = "BERT-large's hidden states have 64 dimensions, mini-DistilBERT's 384."
    assert said in shown["texts"]["notes"][-1]


def test_a_layer_is_copied_only_beside_the_layers_it_was_copied_from():
    rows = {f: aligned_rows(family_specs(f)) for f in ("base", "large", UNLIKE)}
    assert rows["base"]["distilbert"] == [0, 2, 4, 7, 9, 11]
    assert rows["large"]["distilbert"] == [3, 7, 11, 15, 19, 23]
    assert rows["large"]["albert"] == rows["large"]["bert"] == list(range(24))
    assert rows[UNLIKE]["distilbert"] == [7, 15, 23]
    assert rows[UNLIKE]["albert"] == [3, 7, 11, 15, 19, 23]


LAYER = next(tab for tab in TABS if tab.ID == "layer")


@pytest.mark.parametrize(
    ("sizes", "layer", "head", "shown", "menus"),
    [
        ("bert=base,albert=xxlarge,model=albert", 11, 40, "bert 11 11, albert 11 40", "12 64"),
        ("bert=base,albert=xxlarge,model=bert", 4, 7, "bert 4 7, albert 4 7", "12 64"),
        ("bert=base,albert=large,model=albert", 4, 15, "bert 1 11, albert 4 15", "24 16"),
        ("bert=large,albert=base,model=bert", 20, 15, "bert 20 15, albert 9 11", "24 16"),
        ("bert=large,albert=base,model=distilbert", 2, 9, "bert 11 9, albert 5 9", "24 16"),
        ("bert=large,albert=xxlarge,model=bert", 23, 15, "bert 23 15, albert 11 15", "24 64"),
    ],
)
def test_the_layer_and_head_that_were_asked_for_are_shown(sizes, layer, head, shown, menus):
    asked = {"layer": str(layer), "head": str(head), "distilbert": "base", "text": TEXT}
    state, repaired = from_params(asked | dict(one.split("=") for one in sizes.split(",")))
    assert repaired == ()
    data = json.loads(LAYER.show(state)[1])
    models = {model["key"]: model for model in data["models"]}
    places = {key: f"{key} {model['layer']} {model['head']}" for key, model in models.items()}
    assert set(shown.split(", ")) <= set(places.values())
    own = models[state.model]
    assert (own["layer"], own["head"]) == (layer, head)
    deepest, widest = (models[data["chosen"][name]] for name in ("deepest", "widest"))
    assert f"{deepest['n_layers']} {widest['n_heads']}" == menus
    for model in models.values():
        run = runs.get_run({s.key: s for s in family_specs(state.family)}[model["key"]], state)
        weights = run.attention[model["layer"], model["head"], model["position"]]
        assert model["weights"] == pytest.approx(weights.tolist(), abs=1e-5)
        said = f"head {model['head'] + 1} of {model['n_heads']}"
        assert (said in model["note"]) is (model["n_heads"] < widest["n_heads"])


@pytest.mark.parametrize("check", ["LC17", "LC18", "LC19"])
def test_live_checks_of_a_student_wait_for_its_teacher(check):
    found = check_result(check, family_specimens(UNLIKE))
    said = "mini-DistilBERT was not distilled from BERT-large."
    assert (found.status, found.text) == ("waits", said)


def test_families_of_one_origin_alone_are_said_to_agree_by_it():
    said = re.sub("<[^>]*>", "", str(origin_note(family_specs("mini"))))
    assert "mini-DistilBERT was distilled from mini-BERT and mini-ALBERT" in said
    assert origin_note(family_specs(UNLIKE)) is None
