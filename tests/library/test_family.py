"""Families of notebooks: own checkpoints, model objects in memory, refusals, and what is left behind."""

import gc
import json
import subprocess
import sys
import threading

import numpy as np
import pandas
import pytest
import torch
from transformers import (
    AutoModelForMaskedLM,
    AutoModelForPreTraining,
    AutoTokenizer,
    BertConfig,
    BertForPreTraining,
    BertModel,
    CanineTokenizer,
)

import explorer
from explorer.inference.cache import CACHE
from explorer.library.latency import Latency
from explorer.models import loading
from explorer.models.choice.own import TAKEN

TEXT = "The cat sat on the [MASK]."
OF_TRANSFORMERS = "transformers.utils.output_capturing"
"""Where transformers' own hooks come from, which it sets when it is asked for attentions."""


@pytest.fixture
def folder(tiny_family, own_models):
    return tiny_family.path


def probabilities(model, tokenizer, text=TEXT):
    """What plain transformers gives at the first mask."""
    inputs = tokenizer(text.replace("[MASK]", tokenizer.mask_token), return_tensors="pt")
    place = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0]
    with torch.no_grad():
        return model(**inputs).logits[0, place].double().softmax(-1).numpy()


def own_hooks(model):
    return [
        hook
        for module in model.modules()
        for hook in (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
        if getattr(hook, "__module__", "") != OF_TRANSFORMERS
    ]


def test_importing_takes_none_of_the_large_libraries():
    code = (
        "import explorer, sys; dir(explorer);"
        "print([m for m in ('torch', 'gradio', 'plotly', 'pandas', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_function_starts_no_thread(folder):
    before = set(threading.enumerate())
    family = explorer.load("mini")
    explorer.predict(TEXT, family)
    explorer.contexts(TEXT, family)
    explorer.pair("A cat.", "A dog.", family)
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_a_model_in_memory_is_used_as_it_is(folder, key, implementation):
    path = folder / f"mini-{key}"
    model = AutoModelForMaskedLM.from_pretrained(path, attn_implementation=implementation).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    model.train()
    family = explorer.load({key: (model, tokenizer)})
    result = explorer.predict(TEXT, family, 5)
    assert model.training
    assert model.config._attn_implementation == implementation
    assert family.given[0].network is model
    expected = probabilities(model.eval(), tokenizer)
    ids = result.models[key].ids[0]
    np.testing.assert_allclose(result.models[key].probabilities[0], expected[ids], rtol=1e-4)
    weights = explorer.attention(TEXT, family, key).heads()
    shape = family.spec(key).architecture
    assert weights.shape[:2] == (shape.n_layers, shape.n_heads)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)
    assert not weights.flags.writeable


@pytest.mark.long
def test_a_model_that_takes_anothers_name_is_timed_itself(folder):
    tokenizer, n_bytes = AutoTokenizer.from_pretrained(folder / "mini-bert"), []
    for n_layers in (1, 2):
        config = BertConfig(vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=n_layers)
        config.update({"num_attention_heads": 2, "max_position_embeddings": 40})
        family = explorer.load({"bert": (BertForPreTraining(config), tokenizer)})
        n_bytes.append(explorer.latency(family, 8, 1, 1).to_dict()["models"][0]["weights_bytes"])
        with pytest.raises(explorer.Refusal, match="has positions for 40 tokens at most"):
            explorer.latency(family, 41, 1, 1)
        del family
        gc.collect()
    encoders = [
        BertModel(BertConfig(**config.to_dict() | {"num_hidden_layers": n})) for n in (1, 2)
    ]
    assert n_bytes == [4 * sum(p.numel() for p in one.parameters()) for one in encoders]


def test_what_a_model_cannot_read_has_no_score_and_no_layer():
    """BERT's normaliser drops a soft hyphen, ALBERT's keeps it."""
    scored = explorer.score("\u00ad").to_dict()
    assert [model["model"] for model in scored["models"]] == ["albert"]
    assert len(scored["missing"]) == 2
    with pytest.raises(explorer.Refusal, match="No word in this text can be read"):
        explorer.layer("\u00ad")
    pairs = [{"good": "the cat sat", "bad": "\u00ad"}, {"good": "it sat", "bad": "sat it"}]
    (left_out,) = explorer.texts(pairs).answers.texts.left_out
    assert left_out.number == 1
    assert "reads no part of it" in left_out.reason


def test_the_words_of_a_choice_are_attributed_as_one_mask(tuned_family):
    for model in explorer.sentiment("[He|She] was very good").models.values():
        assert len(model.words) == len(model.leave_one_out) == len(model.integrated_gradients) == 4


def test_a_patched_text_is_told_as_it_was_run(tiny_family):
    patched = explorer.patch("the  cat sat on the [MASK].", "the  dog sat on the <mask>.")
    assert (patched.text, patched.second) == (
        "the  cat sat on the [MASK].",
        "the  dog sat on the [MASK].",
    )
    assert "dog" in patched.words


def test_the_weights_of_a_folder_are_a_checkpoints(folder):
    family = explorer.load({"albert": folder / "mini-albert"})
    weights = [model["weights"] for model in explorer.latency(family, 8, 1, 1).to_dict()["models"]]
    assert weights == ["bundled", "bundled", "checkpoint"]


def test_an_answer_of_a_model_in_memory_follows_its_weights(folder):
    model = AutoModelForPreTraining.from_pretrained(folder / "mini-bert")
    family = explorer.load({"bert": model})
    first = explorer.predict(TEXT, family).models["bert"].probabilities
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.data.mul_(1.5)
    second = explorer.predict(TEXT, family).models["bert"].probabilities
    assert not np.allclose(first, second)


@pytest.mark.long
def test_hooks_and_memory_are_as_before_after_a_hundred_calls_and_an_error(folder, monkeypatch):
    from explorer.models.inside import interventions

    model = AutoModelForMaskedLM.from_pretrained(folder / "mini-bert")
    family = explorer.load({"bert": model})
    explorer.ablate(TEXT, family, {"bert": [(0, 0)]})
    networks, results = dict(loading._loaded), len(CACHE._values)
    for _ in range(100):
        explorer.ablate(TEXT, family, {"bert": [(0, 0)]})
    assert loading._loaded == networks
    assert len(CACHE._values) == results
    monkeypatch.setattr(interventions, "apply_head", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        explorer.ablate(TEXT, family, {"bert": [(0, 0)]})
    assert own_hooks(model) == []
    assert loading._loaded == networks
    assert not family.given[0].lock.locked()


def test_a_family_that_is_gone_leaves_nothing(folder):
    model = AutoModelForMaskedLM.from_pretrained(folder / "mini-bert")
    family = explorer.load({"bert": model, "albert": str(folder / "mini-albert")})
    explorer.predict(TEXT, family)
    names = set(TAKEN)
    assert len(names) == 2
    assert "on cpu in float32" in repr(family)
    del family
    gc.collect()
    assert not names & TAKEN
    assert not [key for key in loading._loaded if key[0] in names]
    assert not [key for key in CACHE._values if any(name in str(key) for name in names)]


def test_an_own_checkpoint_and_a_size_can_be_named_together(folder):
    family = explorer.load({"bert": folder / "mini-bert", "albert": "mini"})
    answers = explorer.predict(TEXT, family).models
    plain = explorer.predict(TEXT, "mini").models
    assert list(answers) == ["bert", "distilbert", "albert"]
    for key in answers:
        np.testing.assert_array_equal(answers[key].probabilities, plain[key].probabilities)


@pytest.mark.usefixtures("_roberta_pieces")
def test_a_roberta_gets_a_column(folder):
    family = explorer.load({"roberta": folder / "mini-roberta"})
    assert "roberta" in explorer.predict(TEXT, family).models


@pytest.mark.parametrize(
    ("models", "options", "sentence"),
    [
        ("huge", {}, "There is no such family."),
        ({"GPT-2": "x"}, {}, "A column cannot be called 'GPT-2'"),
        ({"bert": 3}, {}, "int is no model of transformers"),
        (["bert"], {}, 'Your own: explorer.load({"bert": FOLDER_OR_MODEL}).'),
        (None, {}, "There is no such family."),
        ("./my-bert", {}, 'Your own: explorer.load({"bert": FOLDER_OR_MODEL}).'),
        ("mini", {"device": "tpu"}, "There is no device 'tpu' here"),
        ("mini", {"dtype": "int8"}, "There is no precision 'int8'"),
        ("mini", {"dtype": torch.float64}, "There is no precision 'float64'"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_sentence(folder, models, options, sentence):
    with pytest.raises(explorer.Refusal) as refused:
        explorer.load(models, **options)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.long
def test_a_model_of_another_kind_and_one_without_a_tokenizer_are_refused(folder):
    albert = AutoModelForMaskedLM.from_pretrained(folder / "mini-albert")
    with pytest.raises(explorer.Refusal, match="is of type 'albert'"):
        explorer.load({"bert": albert})
    albert.config._name_or_path = ""
    for tokenizer, said in (("nowhere", "none is next to"), (CanineTokenizer(), "take a fast one")):
        with pytest.raises(explorer.Refusal, match=said):
            explorer.load({"albert": (albert, tokenizer)})
    with pytest.raises(explorer.Refusal, match="comes without a tokenizer"):
        explorer.load({"albert": albert})
    with pytest.raises(explorer.Refusal, match="float64"):
        explorer.load({"bert": AutoModelForMaskedLM.from_pretrained(folder / "mini-bert").double()})


def test_torch_s_own_names_are_taken(folder):
    family = explorer.load("mini", device=torch.device("cpu"), dtype=torch.bfloat16)
    assert (family.device, family.dtype) == ("cpu", "bfloat16")
    assert loading.is_loaded(family.spec("bert"), "cpu", "bfloat16")


def test_a_missing_checkpoint_is_refused_by_load(no_files):
    with pytest.raises(explorer.Refusal, match="is not available"):
        explorer.load("mini")


def test_a_model_that_the_family_has_not_is_refused(folder):
    with pytest.raises(explorer.Refusal, match="must be one of bert, distilbert and albert"):
        explorer.attention(TEXT, "mini", "gpt2")
    with pytest.raises(explorer.Refusal, match="layers 0 to"):
        explorer.ablate(TEXT, "mini", {"bert": [(99, 0)]})


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: explorer.predict([TEXT]), "must be a string, not list. Many texts go to"),
        (lambda: explorer.predict(np.array([TEXT])), "“text” must be a string, not ndarray."),
        (lambda: explorer.predict(TEXT.encode()), "“text” must be a string, not bytes."),
        (lambda: explorer.predict(None), "“text” must be a string, not NoneType."),
        (lambda: explorer.score([TEXT]), "“text” must be a string, not list."),
        (lambda: explorer.sentiment(3), "“text” must be a string, not int."),
        (lambda: explorer.pair(TEXT, None), "“second” must be a string, not NoneType."),
        (lambda: explorer.question(b"Who?", TEXT), "“question” must be a string, not bytes."),
        (lambda: explorer.patch(TEXT, explorer.load()), "“second” must be a string, not Family."),
        (lambda: explorer.attribute(TEXT, target=["cat"]), "“target” must be a string, not list."),
        (lambda: explorer.attribute(TEXT, mask=1), "The text has one [MASK]; its number is 0."),
        (lambda: explorer.predict(TEXT, {"bert": "mini"}), "Your own: explorer.load("),
        (lambda: explorer.ablate(TEXT, heads=[(0, 0)]), "“heads” must be a mapping such as"),
        (lambda: explorer.ablate(TEXT, heads={"bert": (0, 3)}), "“heads” must be a mapping"),
        (lambda: explorer.ablate(TEXT, heads={"bert": ["0.3"]}), "“heads” must be a mapping"),
        (lambda: explorer.ablate(TEXT, heads={"bert": [(0, 99)]}), "has layers 0 to 5 and heads"),
        (lambda: explorer.attention(TEXT, layer=1.5), "has layers 0 to 5 and heads 0 to 11"),
        (lambda: explorer.attention(TEXT, layer=True), "has layers 0 to 5 and heads 0 to 11"),
        (lambda: explorer.attention(TEXT, "mini", ["bert"]), "must be one of bert, distilbert"),
        (lambda: explorer.depth(TEXT, "mini", ["bert"]), "must be one of bert, distilbert"),
        (lambda: explorer.layer(TEXT, word="cat"), "the text, words 0 to"),
        (lambda: explorer.layer(TEXT, word=None), "the text, words 0 to"),
        (lambda: explorer.layer(TEXT, word=-7), "the text, words 0 to"),
        (lambda: explorer.predict(TEXT, top_k=5.0), "top_k must be a whole number from 1 to 50."),
        (lambda: explorer.parameters(5), "There is no architecture '5'"),
        (lambda: explorer.load({"bert": ()}), "NoneType"),
        (lambda: explorer.texts(None), "“rows” must be a list of texts"),
        (lambda: explorer.texts(5), "“rows” must be a list of texts"),
        (lambda: explorer.texts({"text": TEXT}), "“rows” must be a list of texts"),
        (lambda: explorer.texts(pandas.DataFrame({"text": [TEXT]})), 'to_dict("records")'),
        (lambda: explorer.texts([{"text": object()}]), "“rows” must be a list of texts"),
        (lambda: explorer.texts(LABELLED, layer="x"), "has the layers 0 (the embeddings) to"),
    ],
)
def test_an_argument_of_another_type_is_refused(tuned_family, ask, sentence):
    with pytest.raises(explorer.Refusal) as refused:
        ask()
    assert sentence in str(refused.value)


LABELLED = [{"text": f"{i} words", "label": np.int64(i % 2)} for i in range(40)]


def test_numpy_s_numbers_name_layers_and_heads(folder):
    layer, head = np.unravel_index(17, (6, 12))
    attention = explorer.attention(TEXT, "mini", "bert", layer, head).to_dict()
    assert json.dumps(attention) == json.dumps(
        explorer.attention(TEXT, "mini", "bert", 1, 5).to_dict()
    )
    named = explorer.ablate(TEXT, "mini", {"bert": [(layer, head)]}).to_dict()
    assert named == explorer.ablate(TEXT, "mini", {"bert": [(1, 5)]}).to_dict()
    five, first = np.int64(5), np.int64(0)
    assert explorer.predict(TEXT, top_k=five).rows() == explorer.predict(TEXT, top_k=5).rows()
    assert explorer.layer(TEXT, word=first).rows() == explorer.layer(TEXT, word=0).rows()
    assert explorer.layer(TEXT, word=np.int64(-1)).rows() == explorer.layer(TEXT).rows()


@pytest.mark.long
def test_a_ratio_without_an_interval_and_one_that_may_be_chance(folder):
    (said, *_) = explorer.latency("mini", 8, 1, 1).sentences()
    assert said.endswith("(no interval: 1 round).")
    ratio = {"of": "BERT", "over": "ALBERT", "ratio": 1.3, "ci_low": 1.02, "ci_high": 1.66}
    protocol = {"rounds": 50, "used_rounds": 50, "ended": "time"}
    times = Latency({"protocol": protocol, "ratios": [ratio | {"different": False}]})
    assert times.sentences() == (
        "BERT takes 1.30 times as long as ALBERT [1.02, 1.66]. This does not show a difference.",
    )


@pytest.mark.long
def test_what_a_caller_takes_out_of_an_answer_is_in_the_next_one(folder):
    texts = ("The cat [MASK] here.", "The dog [MASK] here.")
    patched = explorer.patch(*texts)
    rows = patched.rows()
    patched.models.clear()
    assert explorer.patch(*texts).rows() == rows
    times = explorer.latency("mini", 8, 1, 1)
    rows = times.rows()
    report = times.to_dict()
    report["models"][0]["samples_ms"].clear()
    report["models"].clear()
    assert times.rows() == rows
