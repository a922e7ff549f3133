"""Any size in any column: plain transformers' numbers, and what only some sizes have in common."""

import json
import zlib
from base64 import b64decode

import pytest
import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

from explorer.analysis.claims.checks import check_result
from explorer.analysis.distillation.soft import NotAPair
from explorer.inference import runs
from explorer.links.codec import from_params
from explorer.links.page_state import PageState
from explorer.models import specs
from explorer.models.architectures import family_check_models
from explorer.models.choice.family import family_specs
from explorer.ui.distillation import folds
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.tabs import TABS, values_of
from explorer.views.attention.wall import aligned_rows
from tests.models.choice.seven_sizes import MIXTURES, SHAPES

pytestmark = pytest.mark.usefixtures("seven")
TEXT = "The [MASK] sat on the mat."


def state_of(family, text=TEXT, **chosen):
    return PageState(text=text, family=family, **chosen)


def transformers_own(spec, folder):
    path = folder / spec.name if spec.repo else specs.BUNDLED / spec.name
    network = AutoModelForPreTraining.from_pretrained(path, attn_implementation="eager")
    return AutoTokenizer.from_pretrained(path), network.eval()


@pytest.mark.long
@pytest.mark.parametrize("family", MIXTURES)
def test_each_columns_numbers_are_those_of_plain_transformers(family, seven):
    answer = ENDPOINTS["predict"](TEXT, family, 5)
    assert answer["family"] == family
    for spec, model in zip(family_specs(family), answer["models"], strict=True):
        tokenizer, network = transformers_own(spec, seven)
        inputs = tokenizer(TEXT, return_tensors="pt")
        with torch.no_grad():
            out = network(**inputs, output_attentions=True, output_hidden_states=True)
        logits = out.logits if "logits" in out else out.prediction_logits
        at = inputs["input_ids"][0] == tokenizer.mask_token_id
        wanted = logits[0, at].softmax(-1)[0]
        (mask,) = model["masks"]
        for said in mask["predictions"]:
            assert said["probability"] == pytest.approx(wanted[said["id"]].item(), abs=1e-5)
        run = runs.get_run(spec, state_of(family).ask)
        assert torch.allclose(torch.cat(out.attentions), torch.tensor(run.attention), atol=1e-5)
        states = torch.cat(out.hidden_states)
        assert torch.allclose(states, torch.tensor(run.hidden_states), atol=1e-5)
        if spec.repo:
            assert run.attention.shape[:2] == SHAPES[spec.name]


@pytest.mark.long
def test_the_wall_of_the_widest_mixture_stays_small():
    words = " ".join(["the cat sat on the mat and the dog was not good"] * 5)
    attention = next(tab for tab in TABS if tab.ID == "attention")
    family = "bert=large,distilbert=base,albert=xxlarge"
    _, wall = values_of(attention, state_of(family, f"{words} [MASK]."))
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
    assert "was distilled from mini-BERT, not from BERT-large." in str(values_of(tab, state)[0])
    losses = ENDPOINTS["distillation"](TEXT, UNLIKE, 2.0)["losses"]
    assert losses["cos"] is None
    assert losses["total_is_of"] == ["ce"]
    assert losses["total"] == pytest.approx(5 * losses["ce"])
    said = "mini-DistilBERT is not known to be distilled from BERT-large."
    with pytest.raises(NotAPair, match=said):
        folds.show_losses(state)


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
    data = json.loads(values_of(LAYER, state)[1])
    models = {model["key"]: model for model in data["models"]}
    places = {key: f"{key} {model['layer']} {model['head']}" for key, model in models.items()}
    assert set(shown.split(", ")) <= set(places.values())
    own = models[state.model]
    assert (own["layer"], own["head"]) == (layer, head)
    deepest, widest = (models[data["chosen"][name]] for name in ("deepest", "widest"))
    assert f"{deepest['n_layers']} {widest['n_heads']}" == menus
    for model in models.values():
        run = runs.get_run({s.key: s for s in family_specs(state.family)}[model["key"]], state.ask)
        weights = run.attention[model["layer"], model["head"], model["position"]]
        assert model["weights"] == pytest.approx(weights.tolist(), abs=1e-5)
        said = f"head {model['head'] + 1} of {model['n_heads']}"
        assert (said in model["note"]) is (model["n_heads"] < widest["n_heads"])


@pytest.mark.parametrize("check", ["LC17", "LC18", "LC19"])
def test_live_checks_of_a_student_wait_for_its_teacher(check):
    found = check_result(check, family_check_models(UNLIKE))
    said = "mini-DistilBERT was not distilled from BERT-large."
    assert (found.status, found.text) == ("waits", said)
