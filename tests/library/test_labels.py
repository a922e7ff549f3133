"""Heads of any checkpoint that label a text: against plain transformers, torch and Captum."""

import json

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import explorer
from explorer.library.command import main
from explorer.models.choice.family import OWN
from explorer.models.gradients import MISS
from explorer.serving.start import parse_flags

TEXT, PAIR = "the cat was not bad, and the dog was good.", ("the cat sat.", "a dog was good.")
KINDS = ("bert", "distilbert", "albert")
NAMES = ("spam", "ham", "other")


def logits_of(folder, *sides):
    """The logits of the head by plain transformers, float64 [label]."""
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return network(**inputs_of(tokenizer, network, *sides)).logits[0].double()


def inputs_of(tokenizer, network, *sides):
    """The inputs of a network with segments where it has them: AlbertTokenizer gives none."""
    has_segments = network.config.model_type != "distilbert"
    return tokenizer(*sides, return_token_type_ids=has_segments, return_tensors="pt")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [NAMES, ("LABEL_0", "LABEL_1"), tuple(map(str, range(200)))])
def test_probabilities_are_those_of_plain_transformers(headed, kind, labels):
    folder = headed(kind, labels)
    family = explorer.load({"mine": folder})
    for text, sides in ((TEXT, (TEXT,)), (" [SEP] ".join(PAIR), PAIR)):
        found = explorer.classify(text, family).models["mine"]
        assert found.labels == labels
        assert found.values == pytest.approx(logits_of(folder, *sides).softmax(-1), abs=1e-5)
    assert explorer.classify(TEXT, family).rows()[0][:3] == ("mine", 1, found_top(folder, labels))


def found_top(folder, labels):
    return labels[int(logits_of(folder, TEXT).argmax())]


@pytest.mark.long
@pytest.mark.parametrize(
    ("labels", "problem", "read"),
    [
        (NAMES, "multi_label_classification", torch.sigmoid),
        (("LABEL_0",), None, lambda logits: logits),
        (("x", "y"), "regression", lambda logits: logits),
        (("x",), "multi_label_classification", torch.sigmoid),
        (NAMES, "single_label_classification", lambda logits: logits.softmax(-1)),
    ],
)
def test_problem_type_and_the_number_of_labels_say_how_outputs_are_read(
    headed, labels, problem, read
):
    folder = headed("bert", labels, problem)
    answer = explorer.classify(TEXT, explorer.load({"mine": folder})).to_dict()["models"][0]
    wanted = dict(zip(labels, read(logits_of(folder, TEXT)).tolist(), strict=True))
    assert {each["label"]: each["value"] for each in answer["labels"]} == pytest.approx(
        wanted, abs=1e-5
    )
    values = [each["value"] for each in answer["labels"]]
    assert values == sorted(values, reverse=True)
    is_score = answer["problem"] == "regression"
    assert is_score == (
        values == pytest.approx(sorted(logits_of(folder, TEXT).tolist(), reverse=True), abs=1e-5)
    )


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sides", [(TEXT,), PAIR])
def test_a_label_is_attributed_as_captum_does(headed, kind, sides, monkeypatch):
    folder = headed(kind, NAMES)
    text = " [SEP] ".join(sides)
    found = explorer.attribute(text, explorer.load({"mine": folder}), label="ham").models["mine"]
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = inputs_of(tokenizer, network, *sides)
    inputs.pop("attention_mask")
    ids = inputs.pop("input_ids")
    added = torch.isin(ids, torch.tensor([tokenizer.cls_token_id, tokenizer.sep_token_id]))
    words = network.get_input_embeddings()
    start = torch.where(added, ids, torch.full_like(ids, tokenizer.mask_token_id))

    def log_odds(embedded):
        segments = {name: row.expand(len(embedded), -1) for name, row in inputs.items()}
        p = network(inputs_embeds=embedded, **segments).logits.double().softmax(-1)[:, 1]
        return (p / (1 - p)).log()

    wanted = IntegratedGradients(log_odds).attribute(
        words(ids).detach(), words(start).detach(), n_steps=256, method="gausslegendre"
    )
    assert found.integrated_gradients.sum() == pytest.approx(float(wanted.sum()), abs=3 * MISS)
    first = tokenizer(*sides).word_ids().index(1)
    assert found.integrated_gradients[1] == pytest.approx(
        float(wanted[0, first].sum()), abs=2 * MISS
    )
    with torch.no_grad():
        assert found.value == pytest.approx(float(log_odds(words(ids))), abs=1e-4)
        assert found.baseline == pytest.approx(float(log_odds(words(start))), abs=1e-4)
    assert found.words[1] == "cat"
    shorter = (sides[0].replace(" cat", ""), *sides[1:])
    p = float(logits_of(folder, *shorter).softmax(-1)[1])
    left_out = found.value - float(np.log(p / (1 - p)))
    assert found.leave_one_out[1] == pytest.approx(left_out, abs=1e-4)


@pytest.mark.long
def test_each_model_s_own_label_is_attributed_where_none_is_named(headed, tuned_family):
    folder = headed("bert", NAMES)
    family = explorer.load({"bert": folder})
    tops = {key: found.top for key, found in explorer.classify(TEXT, family).models.items()}
    found = explorer.attribute(TEXT, family, label="predicted")
    assert {key: result.label for key, result in found.models.items()} == tops
    assert found.to_dict()["models"][0]["words"][:2] == ["the", "cat"]
    of_one = explorer.attribute(TEXT, family, label="positive")
    assert list(of_one.models) == ["distilbert", "albert"]
    assert of_one.missing["bert"].endswith("has no label positive; it has spam, ham, other.")


@pytest.mark.long
def test_a_sentiment_head_gives_what_sentiment_gives(tuned_family):
    by_labels = explorer.attribute(TEXT, label="positive").models
    for key, found in explorer.sentiment(TEXT).models.items():
        assert by_labels[key].integrated_gradients.tolist() == found.integrated_gradients.tolist()
        assert by_labels[key].leave_one_out.tolist() == found.leave_one_out.tolist()
        values = explorer.classify(TEXT).models[key]
        assert values.values[values.labels.index("positive")] == pytest.approx(
            found.positive, abs=1e-6
        )


@pytest.mark.long
def test_the_reader_names_the_labels(headed):
    first, second = headed("bert", ("LABEL_0", "LABEL_1")), headed("albert", ("neg", "pos"))
    columns = {"a": first, "b": second}
    apart = explorer.classify(TEXT, explorer.load(columns))
    assert "No label has the same name in all models" in apart.sentences()[0]
    named = {"a": ["neg", "pos"]}
    for family, labels in (
        (explorer.load(columns), named),
        (explorer.load(columns, labels=named), None),
    ):
        found = explorer.classify(TEXT, family, labels)
        assert found.sentences() == ()
        assert found.models["a"].labels == ("neg", "pos")
        assert found.models["a"].values.tolist() == apart.models["a"].values.tolist()
    family = explorer.load(columns, labels=named)
    assert set(explorer.sentiment(TEXT, family).models) == {"a", "b"}
    swapped = explorer.load(columns, labels={"a": ["pos", "other"]})
    assert explorer.classify(TEXT, swapped).sentences() == (
        "Of the labels, all models have only pos.",
    )


@pytest.mark.long
def test_the_labels_of_a_sentiment_adapter_can_be_named_too(tuned_family):
    named = {"bert": ["schlecht", "gut"]}
    found = [
        explorer.classify(TEXT, labels=named).models["bert"],
        explorer.classify(TEXT, explorer.load("mini", labels=named)).models["bert"],
    ]
    usual = explorer.classify(TEXT).models["bert"]
    assert usual.labels == ("negative", "positive")
    for each in found:
        assert each.labels == ("schlecht", "gut")
        np.testing.assert_array_equal(each.values, usual.values)
    with pytest.raises(explorer.Refusal, match="head has 2 labels; 3 names are given"):
        explorer.classify(TEXT, labels={"bert": ["a", "b", "c"]})


@pytest.mark.long
def test_a_notebook_has_a_bar_of_what_the_masks_alone_are_worth(headed):
    family = explorer.load({"mine": headed("bert", NAMES)})
    result = explorer.attribute(TEXT, family, label="ham")
    found, html = result.models["mine"], result._repr_html_()
    words = float(found.integrated_gradients.sum())
    largest = max(abs(found.baseline), abs(words))
    for name, value in (("before any word: all [MASK]", found.baseline), ("the words add", words)):
        row = html.partition(f"<th>{name}</th>")[2].partition("</tr>")[0]
        assert f">{value:+.3f}<" in row
        assert f"width:{6 * abs(value) / largest:.2f}em" in row


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"mine": ["one"]}, "head has 3 labels; 1 names are given"),
        ({"mine": ["one", "one", "two"]}, "head has 3 labels; 2 names are given"),
        ({"mine": "abc"}, "must be a mapping such as"),
        ({"mine": [1, 2, 3]}, "must be a mapping such as"),
        (["a", "b", "c"], "must be a mapping such as"),
        (
            {"other": ["a", "b", "c"]},
            "named for 'other'; the columns that can have such names are mine",
        ),
    ],
)
def test_names_that_do_not_fit_are_refused(headed, labels, said):
    folder = headed("bert", NAMES)
    with pytest.raises(explorer.Refusal, match=said):
        explorer.load({"mine": folder}, labels=labels)
    with pytest.raises(explorer.Refusal, match=said):
        explorer.classify(TEXT, explorer.load({"mine": folder}), labels)


def test_two_outputs_of_one_name_are_told_apart(headed):
    folder = headed("bert", ("same", "other", "same"))
    found = explorer.classify(TEXT, explorer.load({"mine": folder})).models["mine"]
    assert found.labels == ("same", "other", "same (2)")
    assert found.values == pytest.approx(logits_of(folder, TEXT).softmax(-1), abs=1e-5)


def test_a_model_without_a_head_says_so(tiny_family, own_models):
    with pytest.raises(explorer.Refusal, match="mini-BERT brings no head that classifies texts"):
        explorer.classify(TEXT)
    with pytest.raises(explorer.Refusal, match="brings no head with labels"):
        explorer.classify(TEXT, labels={"bert": ["a", "b"]})


def test_a_head_that_contradicts_its_config_is_refused(headed):
    folder = headed("bert", NAMES)
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {str(i): f"class {i}" for i in range(4)}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(explorer.Refusal, match=r"is 3 x 72 in its file, 4 x 72 by the 4 labels"):
        explorer.classify(TEXT, explorer.load({"mine": folder}))


def test_a_head_that_the_file_lacks_is_never_random(headed):
    folder = headed("bert", NAMES)
    tensors = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in tensors.items() if "classifier" not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(explorer.Refusal, match=r"lacks classifier\.weight"):
        explorer.classify(TEXT, explorer.load({"mine": folder}))


@pytest.mark.long
def test_wrapped_names_are_read(headed):
    folder = headed("bert", NAMES)
    wanted = explorer.classify(TEXT, explorer.load({"mine": folder})).models["mine"].values
    tensors = load_file(folder / "model.safetensors")
    wrapped = {f"module.{name}": value for name, value in tensors.items()}
    save_file(wrapped, folder / "model.safetensors", {"format": "pt"})
    found = explorer.classify(TEXT, explorer.load({"mine": folder})).models["mine"].values
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_in_memory_answers_with_its_own_head_as_it_is_now(headed, kind):
    folder = headed(kind, NAMES)
    network = AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    family = explorer.load({"mine": (network, tokenizer)})
    before = explorer.classify(TEXT, family).models["mine"]
    assert before.values == pytest.approx(logits_of(folder, TEXT).softmax(-1), abs=1e-5)
    with torch.no_grad():
        network.classifier.bias += torch.tensor([5.0, 0.0, 0.0])
    after = explorer.classify(TEXT, family).models["mine"]
    wanted = (logits_of(folder, TEXT) + torch.tensor([5.0, 0.0, 0.0])).softmax(-1)
    assert after.values == pytest.approx(wanted, abs=1e-5)


def test_a_text_that_is_too_long_has_its_sentence(headed):
    family = explorer.load({"mine": headed("bert", NAMES)})
    with pytest.raises(explorer.Refusal, match=r"has 602 tokens for .*; 512 fit"):
        explorer.classify("cat " * 600, family)
    with pytest.raises(explorer.Refusal, match="There is no text yet"):
        explorer.classify("  ", family)
    with pytest.raises(explorer.Refusal, match="257 words and punctuation marks; 256 fit"):
        explorer.attribute("cat " * 257, family, label="ham")


@pytest.mark.long
def test_a_shell_and_a_start_name_labels(headed, capsys):
    folder = headed("bert", ("LABEL_0", "LABEL_1"))
    asked = ["classify", TEXT, "--family", f"only,mine={folder}"]
    assert main([*asked, "--labels", "mine=bad,good", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {each["label"] for each in answer["models"][0]["labels"]} == {"bad", "good"}
    with pytest.raises(SystemExit):
        main([*asked, "--labels", "good"])
    assert "names no labels; write them as" in capsys.readouterr().err
    parse_flags(["--model", f"mine={folder}", "--labels", "mine=negative,positive"])
    (spec,) = OWN.values()
    assert spec.task_head.labels == ("negative", "positive")
    assert spec.tuned_for == "sst2"
    with pytest.raises(SystemExit):
        parse_flags(["--model", f"mine={folder}", "--labels", "mine=one"])
    assert "head has 2 labels; 1 names are given" in capsys.readouterr().err
