"""What training changed, against plain torch, transformers and scipy."""

import json
from math import hypot

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertModel

import explorer
from explorer.analysis.depth.changed import layer_distances, masked_at_random
from explorer.inference.runs import call_on_model
from explorer.models.forward import tokenize
from explorer.models.inside.changes import WORDS_READ, WORDS_UNREAD
from explorer.ui.shell.api import ENDPOINTS

ROWS = ["The cat sat on the mat and it was good.", "He was not here.", "A dog was in the park."]
MATRICES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "inner": "intermediate.dense",
    "outer": "output.dense",
}


@pytest.fixture
def trained(tiny_family, tmp_path):
    """The tiny BERT with turned matrices and, as after weight decay, smaller word embeddings."""
    network = AutoModelForMaskedLM.from_pretrained(tiny_family.path / "mini-bert")
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.ndim == 2 and "word_embeddings" not in name:
                weight += 0.2 * weight.std() * torch.randn(weight.shape, generator=random)
        network.get_input_embeddings().weight.mul_(0.9)
    path = tmp_path / "trained"
    network.save_pretrained(path)
    AutoTokenizer.from_pretrained(tiny_family.path / "mini-bert").save_pretrained(path)
    return path


@pytest.fixture
def family(trained):
    return explorer.load({"before": "mini-bert", "after": trained})


@pytest.fixture
def found(family):
    return explorer.changed(family, rows=ROWS)


@pytest.fixture
def both(tiny_family, trained):
    """Networks and outputs of plain transformers, before and after."""
    networks, outputs = [], []
    for path in (tiny_family.path / "mini-bert", trained):
        network = AutoModelForMaskedLM.from_pretrained(path, attn_implementation="eager").eval()
        tokenizer = AutoTokenizer.from_pretrained(path)
        asked = {"output_hidden_states": True, "output_attentions": True}
        with torch.no_grad():
            outputs.append([network(**tokenizer(r, return_tensors="pt"), **asked) for r in ROWS])
        networks.append(network)
    return networks, outputs


@pytest.mark.long
def test_weights_are_those_of_plain_torch(found, both):
    old, new = (dict(network.bert.named_parameters()) for network in both[0])
    at = {(c.layer, c.matrix): c for c in found.weights}
    for layer in (0, both[0][0].config.num_hidden_layers - 1):
        for name, module in MATRICES.items():
            key = f"encoder.layer.{layer}.{module}.weight"
            v, w = old[key].detach().double(), new[key].detach().double()
            change = at[layer, name]
            assert change.distance == pytest.approx(float((w - v).norm() / v.norm()))
            assert change.scale == pytest.approx(float(w.norm() / v.norm()))
            cosine = torch.cosine_similarity(v.flatten(), w.flatten(), 0)
            assert change.cosine == pytest.approx(float(cosine))
    first = [f"encoder.layer.0.{module}.weight" for module in MATRICES.values()]
    vector = [np.concatenate([n[key].detach().ravel() for key in first]) for n in (old, new)]
    expected = np.linalg.norm(vector[1] - vector[0]) / np.linalg.norm(vector[0])
    assert layer_distances(found.weights)[0] == pytest.approx(expected, rel=1e-5)


def test_distance_splits_into_scale_and_turn(found):
    for change in found.weights:
        assert change.distance == pytest.approx(hypot(change.of_scale, change.of_turn), abs=1e-7)
    for name in (WORDS_READ, WORDS_UNREAD):
        (words,) = [change for change in found.weights if change.matrix == name]
        assert (words.scale, words.cosine) == pytest.approx((0.9, 1.0))
        assert words.distance == pytest.approx(0.1)


def test_shuffled_rows_are_as_far_as_unrelated_ones(found):
    """About ``sqrt(1 + s^2)`` for the random matrices of the tiny models."""
    for change in found.weights:
        if change.layer is not None:
            assert change.shuffled == pytest.approx(hypot(1, change.scale), rel=0.1)
            assert change.distance < change.shuffled


def words_of(outputs, layer):
    return np.concatenate([out.hidden_states[layer][0, 1:-1].double() for out in outputs])


def test_states_have_the_cka_of_its_definition(found, both):
    for layer in range(len(found.cka)):
        x, y = (words_of(outputs, layer) for outputs in both[1])
        x, y = x - x.mean(0), y - y.mean(0)
        norm = np.linalg.norm
        expected = norm(y.T @ x) ** 2 / norm(x.T @ x) / norm(y.T @ y)
        assert found.cka[layer] == pytest.approx(expected, abs=1e-4)
    assert found.cka_tokens == len(x)
    assert found.shuffled_cka[-1] < found.cka[-1]


def test_heads_differ_by_the_js_of_scipy(found, both):
    sums, control, n = 0.0, 0.0, 0
    for old, new in zip(*both[1], strict=True):
        p, q = (np.stack(out.attentions)[:, 0, :, 1:-1].astype(float) for out in (old, new))
        sums += (jensenshannon(p, q, axis=-1) ** 2).sum(-1)
        control += (jensenshannon(p, np.roll(p, -1, axis=1), axis=-1) ** 2).sum(-1)
        n += p.shape[2]
    np.testing.assert_allclose(found.heads.js, sums / n, atol=1e-5)
    np.testing.assert_allclose(found.heads.control, control / n, atol=1e-5)


def test_predictions_move_by_the_kl_of_scipy(found, family, both, tiny_family):
    mask_id = AutoTokenizer.from_pretrained(tiny_family.path / "mini-bert").mask_token_id
    spec, ask = family.specs["before"], family.ask()
    kl, earlier, right = [], [], []
    for i, row in enumerate(ROWS):
        tokens = call_on_model(tokenize, spec, ask, row)
        hidden, ids = masked_at_random(tokens, mask_id, np.random.default_rng((0, i)))
        assert [tokens.ids[place] for place in hidden.mask_positions] == list(ids)
        assert len(ids) == max(1, round(0.15 * (len(tokens) - 2)))
        places = list(hidden.mask_positions)
        old, new = both[0]
        with torch.no_grad():
            given = torch.tensor([hidden.ids])
            out = old(given, output_hidden_states=True)
            p, q = (z[0, places].double().softmax(-1) for z in (out.logits, new(given).logits))
            e = old.cls(out.hidden_states[-2])[0, places].double().softmax(-1)
        kl += [entropy(a, b) for a, b in zip(p, q, strict=True)]
        earlier += [entropy(a, b) for a, b in zip(p, e, strict=True)]
        right += [int(a.argmax()) == one for a, one in zip(p, ids, strict=True)]
    # In the order of the rows, although the batches go from short ones to long ones.
    np.testing.assert_allclose(found.masks.kl, kl, atol=1e-4)
    np.testing.assert_allclose(found.masks.one_earlier, earlier, atol=1e-4)
    assert int(found.masks.right_before.sum()) == sum(right)
    assert found.masks.head == "after"


@pytest.mark.long
def test_an_encoder_without_a_head_is_read_with_the_one_before(found, trained, tmp_path):
    BertModel.from_pretrained(trained).save_pretrained(tmp_path / "encoder")
    AutoTokenizer.from_pretrained(trained).save_pretrained(tmp_path / "encoder")
    family = explorer.load({"before": "mini-bert", "after": tmp_path / "encoder"})
    read = explorer.changed(family, rows=ROWS)
    assert read.masks.head == "before"
    assert "The states of after are read with the masked-LM head of before" in " ".join(
        read.sentences()
    )
    assert not np.allclose(read.masks.kl, found.masks.kl), "the head was trained too"
    np.testing.assert_allclose(read.masks.one_earlier, found.masks.one_earlier, atol=1e-6)
    turned = explorer.changed(family, "after", "before", ROWS)
    assert turned.masks is None
    assert turned.to_dict()["masks"] is None
    assert "after has no masked-LM head, so no predictions are compared." in turned.sentences()


def test_sentences_say_which_layer_moved_most(found):
    distances = layer_distances(found.weights)
    most, least = 1 + int(distances.argmax()), 1 + int(distances.argmin())
    weights = found.sentences()[0]
    assert f"layer {most} moved most, by {distances.max():.3f} of their length" in weights
    assert f"layer {least} least, by {distances.min():.3f}" in weights
    assert "do not hold are 0.900 times as long as before, at a cosine of 1.000 to them" in weights


def test_a_model_does_not_differ_from_itself(tiny_family):
    same = explorer.changed(explorer.load({"x": "mini-albert", "y": "mini-albert"}), rows=ROWS)
    assert same.sentences()[0] == "All matrices of x and y are equal."
    assert {change.distance for change in same.weights} == {0.0}
    assert {change.layer for change in same.weights} == {None, 0}, "ALBERT has one layer of weights"
    np.testing.assert_allclose(same.cka, 1, atol=1e-6)
    assert np.abs(same.heads.js).max() < 1e-9
    assert np.abs(same.masks.kl).max() < 1e-9


def test_rows_do_not_depend_on_one_another(family, found):
    """A row's masks and numbers are its own, whichever rows share its batch."""
    turned = explorer.changed(family, rows=[*ROWS, *ROWS[:1]])
    assert turned.heads.js.shape == found.heads.js.shape
    assert set(np.round(found.masks.kl, 5)) <= set(np.round(turned.masks.kl, 5))


def test_what_the_shell_and_the_endpoint_say(tiny_family):
    columns = "before=mini-bert,after=mini-bert"
    answer = ENDPOINTS["changed"](columns, rows=ROWS)
    assert answer == json.loads(json.dumps(explorer.changed(columns, rows=ROWS).to_dict()))
    assert answer["heads"]["js"] == [[0.0] * 12] * 6


def test_four_charts_have_their_controls(found):
    figure = found.figure()
    names = [trace.name for trace in figure.data]
    assert names.count("shuffled") == 2
    assert "two heads of one layer" in names
    assert "before, one layer earlier" in names
    kl = next(trace for trace in figure.data if trace.name == "after" and trace.type == "box")
    np.testing.assert_allclose(kl.y, found.masks.kl)


@pytest.mark.parametrize(
    ("family", "arguments", "sentence"),
    [
        ("mini", {}, "mini-BERT and mini-DistilBERT differ in shape: their numbers of layers"),
        ("a=huge", {}, "There is no such family."),
        ("a=mini-bert", {}, "A change is between two columns, and a is one."),
        ("a=mini-bert,b=mini-bert", {"after": "a"}, "A change is between two columns, and a is"),
        ("a=mini-bert,b=mini-bert", {"before": "c"}, "The model must be one of a and b."),
        ("a=mini-bert,b=mini-bert", {"rows": ["a [MASK]"]}, "words are masked at random"),
        ("a=mini-bert,b=mini-bert", {"rows": ["a [cat|dog] sat"]}, "words are masked at random"),
        ("a=mini-bert,b=mini-bert", {"rows": ["a cat"]}, "at least 10"),
    ],
)
def test_what_cannot_be_compared_is_refused(tiny_family, family, arguments, sentence):
    with pytest.raises(explorer.Refusal) as refused:
        explorer.changed(family, **arguments)
    assert sentence in str(refused.value)


def test_texts_that_are_read_as_different_tokens_are_refused(tiny_family, tmp_path):
    network = AutoModelForMaskedLM.from_pretrained(tiny_family.path / "mini-bert")
    network.save_pretrained(tmp_path / "other")
    tokenizer = AutoTokenizer.from_pretrained(tiny_family.path / "mini-bert")
    tokenizer.save_pretrained(tmp_path / "other")
    path = tmp_path / "other" / "tokenizer.json"
    path.write_text(path.read_text("utf-8").replace('"cat"', '"kat"'), "utf-8")
    family = explorer.load({"before": "mini-bert", "after": tmp_path / "other"})
    with pytest.raises(explorer.Refusal, match="read this text as different tokens"):
        explorer.changed(family, rows=ROWS)
