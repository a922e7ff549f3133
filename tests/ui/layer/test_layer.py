"""The layer tab: what it shows, what it refuses, and that its endpoints say plain numbers."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.analysis.layer import BEFORE
from explorer.inference.runs import Runs
from explorer.links.codec import from_params
from explorer.links.page_state import PageState
from explorer.models import loading, specs
from explorer.models.specs import MINI
from explorer.models.tokens import BadText
from explorer.refusal import Refusal
from explorer.ui.kit import asked
from explorer.ui.kit.jobs import handler
from explorer.ui.layer import folds, strings, tab
from explorer.ui.shell.tabs import values_of
from tests.endpoints import contexts as contexts_endpoint
from tests.endpoints import layer as layer_endpoint

TEXT = "The cat sat on the [MASK]."


def shown(state):
    said, canvas = values_of(tab, state)
    assert said == ""
    return json.loads(canvas)


def test_the_mask_is_followed_else_the_last_word_or_the_chosen_one(tiny_family):
    assert shown(PageState(text=TEXT))["models"][0]["position"] == 6
    assert shown(PageState(text="The cat sat."))["models"][0]["position"] == 3
    chosen = shown(PageState(text=TEXT, at=1))
    assert chosen["models"][2]["position"] == 2
    assert (chosen["chosen"]["at"], chosen["chosen"]["first"]) == (1, 5)
    assert shown(PageState(text=TEXT, at=60))["chosen"]["at"] == 5


def test_a_layer_of_another_model_opens_beside_it(tiny_family):
    specs = tiny_family.specs
    last = specs["distilbert"].architecture.n_layers - 1
    state, repaired = from_params({"text": TEXT, "model": "distilbert", "layer": str(last)})
    assert repaired == ()
    data = shown(state)
    assert data["models"][1]["layer"] == last
    assert data["models"][0]["layer"] == specs["distilbert"].initialised_from[last]
    notes = [model["note"] for model in data["models"]]
    assert "the same weights each time" in notes[2]
    assert "initialised from mini-BERT" in notes[1]


def test_a_word_of_several_pieces_is_followed_by_its_first(tiny_family):
    data = shown(PageState(text="Unbelievable cats."))
    for model in data["models"]:
        run = tiny_family.run(model["key"], "Unbelievable cats.")
        pieces = [i for i, word in enumerate(run.tokens.word_index) if word == 1]
        assert model["position"] == pieces[0]
        assert bool(model["pieces"]) is (len(pieces) > 1)
    assert any(model["pieces"] for model in data["models"])


def test_the_mark_that_begins_a_word_is_none_of_its_letters(tiny_family):
    """ALBERT's mark can be a piece of its own."""
    text = "The xyz sat on the mat with the cat."
    model = shown(PageState(text=text, at=1))["models"][2]
    run = tiny_family.run("albert", text)
    assert run.tokens.pieces[model["position"]] == "▁"
    n = sum(word == run.tokens.word_index[model["position"]] for word in run.tokens.word_index)
    assert model["pieces"] == f"␣ is the first of the {n} pieces of xyz."


def test_the_picture_asks_for_another_place(tiny_family):
    question = {"params": {"text": TEXT, "layer": "1", "head": "1", "at": "0", "model": "bert"}}
    data = json.loads(tab.look(question))
    model = data["models"][0]
    assert (model["layer"], model["head"], data["chosen"]["at"]) == (1, 1, 0)
    with pytest.raises(Refusal, match="does not offer"):
        tab.look({"params": None})


def test_the_picture_is_told_in_json_why_there_is_no_other_place(tiny_family, monkeypatch):
    question = {"params": {"text": "\u00ad\u00ad", "model": "bert"}}
    monkeypatch.setattr(tab, "followed_word", lambda *_: None)
    assert json.loads(tab.look(question)) == {"error": strings.NO_WORD}
    missing = {"bert": Refusal("The weights of BERT are missing.")}
    monkeypatch.setattr(asked, "get_runs", lambda _: Runs({}, missing))
    assert json.loads(tab.look(question)) == {"error": "The weights of BERT are missing."}


def test_steps_follow_the_answer_or_the_typed_word(tiny_family):
    said, canvas = folds.show_steps(PageState(text=TEXT), "")
    rows = json.loads(canvas)["numbers"]["rows"]
    for key, spec in tiny_family.specs.items():
        run = tiny_family.run(key, TEXT)
        own = torch.tensor(run.mask_logits[0]).double().log_softmax(0).max().item()
        mine = [row for row in rows if row[0] == spec.label]
        assert mine[-1][3] == pytest.approx(own, abs=1e-5)
        assert mine[0][3] + sum(row[4] for row in mine[1:]) == pytest.approx(own, abs=1e-5)
    assert "Largest steps" in said
    _, other = folds.show_steps(PageState(text=TEXT), " dog ")
    last = [row for row in json.loads(other)["numbers"]["rows"] if row[0] == "mini-BERT"][-1]
    run = tiny_family.run("bert", TEXT)
    p = torch.tensor(run.mask_logits[0]).double().log_softmax(0)
    assert last[3] == pytest.approx(p[run.vocabulary.index("dog")].item(), abs=1e-5)
    with pytest.raises(BadText, match="of mini-BERT or mini-DistilBERT or mini-ALBERT"):
        folds.show_steps(PageState(text=TEXT), "quokkasaurus")


def test_a_vocabulary_that_lacks_the_typed_word_is_left_out_and_named(tiny_family):
    lacks = [key for key in MINI if "##ing" not in tiny_family.run(key, TEXT).vocabulary]
    assert lacks == ["albert"]
    said, canvas = folds.show_steps(PageState(text=TEXT), "##ing")
    assert "##ing is not one piece of the vocabulary of mini-ALBERT." in said
    labels = {row[0] for row in json.loads(canvas)["numbers"]["rows"]}
    assert labels == {"mini-BERT", "mini-DistilBERT"}


@pytest.fixture
def silent(tiny_family, monkeypatch):
    """DistilBERT brings no masked-LM head."""
    spec = replace(MINI["distilbert"], has_head=False)
    monkeypatch.setitem(specs.MINI, "distilbert", spec)
    loaded = tiny_family.loaded("distilbert")
    key = (spec.name, "cpu", "float32")
    monkeypatch.setitem(loading._loaded, key, replace(loaded, spec=spec))


def test_a_model_without_a_head_is_left_out_of_the_readings(silent, monkeypatch):
    found = contexts_endpoint(TEXT, "mini")
    assert [model["model"] for model in found["models"]] == ["bert", "albert"]
    (why,) = found["missing"]
    assert "no masked-LM head" in why
    monkeypatch.setattr(folds.assets, "sentences", lambda: ({"text": TEXT, "answer": "mat"},))
    said, chart, _ = list(handler(folds.HELD_OUT)(PageState()))[-1]
    assert "mini-DistilBERT" in said
    labels = {row[0] for row in json.loads(chart)["numbers"]["rows"]}
    assert labels == {"mini-BERT", "mini-ALBERT"}
    header = json.loads(chart)["numbers"]["said"]
    ran = {"family": "mini", "device": "cpu", "dtype": "float32"}
    assert header == {"text": None, "sentences": 1, **ran}


def test_without_weights_the_readings_say_why(no_files):
    with pytest.raises(Refusal, match="its bundled files are missing"):
        contexts_endpoint(TEXT, "mini")
    with pytest.raises(Refusal, match="its bundled files are missing"):
        list(handler(folds.HELD_OUT)(PageState()))
    assert "its bundled files are missing" in folds.show_steps(PageState(text=TEXT))[0]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("Paris [MASK]", False),
        ("paris paris [MASK]", False),
        ("cat. [SEP] [MASK].", True),
        ("cat [SEP] [MASK]", False),
        ("The cat [MASK]", True),
    ],
)
def test_where_there_is_nothing_to_shuffle_it_says_so(tiny_family, text, moves):
    shown = folds.show_contexts(PageState(text=text))
    assert shown.count("nothing to shuffle") == (0 if moves else 3)
    for model in contexts_endpoint(text, "mini")["models"]:
        readings = model["masks"][0]["readings"]
        assert (readings["shuffled"] is not None) is moves
        assert all(readings[name] for name in ("both", "left", "right", "no_order", "alone"))


def test_contexts_follow_the_hidden_word_where_it_is_known(tiny_family):
    run = tiny_family.run("bert", TEXT)
    state = PageState(text=TEXT, hidden="dog")
    found = folds.contexts_of({"bert": run}, state.ask, ["dog"])["bert"][0]
    p = torch.tensor(run.mask_logits[0]).double().softmax(0)
    assert found.wanted == "dog"
    assert found.of_wanted[0] == pytest.approx(p[run.vocabulary.index("dog")].item(), abs=1e-6)
    assert "dog" in folds.show_contexts(state)
    assert "Mask a word first" in folds.show_contexts(PageState(text="The cat sat."))
    two = folds.show_contexts(PageState(text="The [MASK] sat on the [MASK].", mask=1))
    assert "Mask 2 of 2" in two


def test_held_out_scores_are_kept_for_the_family(tiny_family, monkeypatch):
    sentences = ({"text": TEXT, "answer": "mat"}, {"text": "The [MASK] ran.", "answer": "qqqq"})
    monkeypatch.setattr(folds.assets, "sentences", lambda: sentences)
    shots = list(handler(folds.HELD_OUT)(PageState()))
    assert "sentences" in shots[0][0]
    rows = json.loads(shots[-1][1])["numbers"]["rows"]
    assert len(rows) == 3 * 6 * 2
    run = tiny_family.run("bert", TEXT)
    rank = 1 + (run.mask_logits[0] > run.mask_logits[0, run.vocabulary.index("mat")]).sum()
    assert rows[0][3] == (rank == 1) / 2
    assert rows[1][3] == (rank <= 5) / 2
    assert len(list(handler(folds.HELD_OUT)(PageState()))) == 1


@pytest.mark.long
def test_what_is_timed_says_how_far_it_is(tiny_family, monkeypatch):
    from explorer.analysis import layer as timed
    from explorer.analysis.latency.measure import RoundsPlan

    monkeypatch.setattr(timed, "LENGTHS", (8, 16))
    defaults = ((8, 16), RoundsPlan(600.0, 8, 8, 0.0, 1))
    monkeypatch.setattr(timed.measure_recurrent, "__defaults__", defaults)
    *_, (said, canvas, _) = handler(folds.RECURRENT)(PageState())
    assert "At 8 tokens" in said
    assert "at 16 tokens" in said
    assert len(json.loads(canvas)["numbers"]["rows"]) == 4


@pytest.mark.parametrize("key", list(MINI))
def test_layer_says_what_the_network_computes(tiny_family, key):
    run = tiny_family.run(key, TEXT)
    layer, head, word = run.spec.architecture.n_layers - 1, 1, 1
    found = layer_endpoint(TEXT, "mini", key, layer, head, word)
    assert found["tokens"] == list(run.tokens.pieces)
    at = found["position"]
    assert run.tokens.word_index[at] == word
    assert found["weights"] == pytest.approx(run.attention[layer, head, at].tolist(), abs=1e-5)
    stations = {one["station"]: one for one in found["stations"]}
    after = run.hidden_states[layer + 1, at]
    np.testing.assert_allclose(stations["output"]["vector"], after, atol=1e-5)
    assert stations["input"]["cosine"] is None
    assert stations["output"]["norm"] == pytest.approx(np.linalg.norm(after), rel=1e-5)
    loaded = tiny_family.loaded(key)
    with torch.inference_mode():
        logits = loaded.spec.kind.head(loaded.network, torch.tensor(after)).double()
    best = logits.softmax(0).max().item()
    assert found["after"]["probability"] == pytest.approx(best, abs=1e-5)
    with torch.inference_mode():
        state = torch.tensor(stations["attention_norm"]["vector"], dtype=torch.float32)
        logits = loaded.spec.kind.head(loaded.network, state).double()
    best = logits.softmax(0).max().item()
    assert found["between"]["probability"] == pytest.approx(best, abs=1e-5)
    assert list(stations) == ["embedding", "input", *BEFORE]
    the_numbers_make_one_another(found, stations, run, loaded)


def the_numbers_make_one_another(found, stations, run, loaded):
    """Every station follows from the numbers of the one before, as they were sent."""
    sent = json.loads(json.dumps(found))
    arrays = {name: np.array(sent[name]) for name in ("query", "keys", "values", "heads")}
    scores = arrays["keys"] @ arrays["query"] / len(arrays["query"]) ** 0.5
    np.testing.assert_allclose(found["scores"], scores, atol=1e-5)
    exponentials = np.exp(scores - scores.max())
    np.testing.assert_allclose(found["exponentials"], exponentials, atol=1e-5)
    np.testing.assert_allclose(found["weights"], exponentials / exponentials.sum(), atol=1e-5)
    np.testing.assert_allclose(found["read"], found["weights"] @ arrays["values"], atol=1e-5)
    modules = dict(loaded.network.base_model.named_modules())
    outputs = [m for n, m in modules.items() if re.search(loaded.spec.kind.output, n)]
    projection = arrays["heads"].sum(0) + outputs[-1].bias.numpy()
    np.testing.assert_allclose(stations["projection"]["vector"], projection, atol=1e-5)
    rows = [row for name in ("word", "position", "segment") if (row := sent["embedding"][name])]
    given = {"embedding": np.sum(rows, axis=0)}
    given |= {
        "attention_norm": stations["attended"]["vector"],
        "output": stations["summed"]["vector"],
    }
    for name, before in given.items():
        norm = stations[name]
        made = (np.array(before) - norm["mean"]) / norm["deviation"] * norm["scale"] + norm["shift"]
        np.testing.assert_allclose(norm["vector"], made, atol=1e-5)
    state = sent["embedding"]["projected"] or stations["embedding"]["vector"]
    np.testing.assert_allclose(state, run.hidden_states[0, found["position"]], atol=1e-5)
    outer = [m for n, m in modules.items() if n.endswith(loaded.spec.kind.outer)][-1]
    for unit in found["units"]:
        writes = outer.weight[:, unit["unit"]].norm().item() * abs(unit["value"])
        assert unit["writes"] == pytest.approx(writes, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mini", "gpt", 0, 0), "must be one of"),
        (("mini", "bert", 99, 0), "has layers 0 to"),
        (("mini", "bert", 0, -1), "has layers 0 to"),
        (("mini", "bert", True, 0), "has layers 0 to"),
        (("mini", "bert", 0, 0, 40), "words 0 to 6"),
        (("nano",), "no such family"),
    ],
)
def test_layer_refuses_in_a_sentence(tiny_family, arguments, said):
    with pytest.raises(Refusal, match=said):
        layer_endpoint(TEXT, *arguments)


def test_contexts_give_all_readings_of_all_masks(tiny_family):
    found = contexts_endpoint("The [MASK] sat on the [MASK].", "mini")
    assert [model["model"] for model in found["models"]] == list(MINI)
    for model in found["models"]:
        run = tiny_family.run(model["model"], found["text"])
        for mask, logits in zip(model["masks"], run.mask_logits, strict=True):
            p = torch.tensor(logits).double().softmax(0)
            both = mask["readings"]["both"]
            assert both["probability"] == pytest.approx(p.max().item(), abs=1e-5)
            assert both["rank_of_wanted"] == 1
            assert len(mask["readings"]) == 6
    with pytest.raises(Refusal, match="Mask a word first"):
        contexts_endpoint("The cat sat.", "mini")
    with pytest.raises(Refusal, match="at most 20"):
        contexts_endpoint("[MASK] " * 21, "mini")
