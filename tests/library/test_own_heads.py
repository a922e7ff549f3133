"""Heads that a checkpoint brings as its publishers save them: questions, and more heads than one."""

import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

import explorer
from explorer.library.command import main

QUESTION, PASSAGE = "where was the cat?", "The cat sat on the mat in Paris, and a dog was good."
LONGEST = 30
"""Tokens of an answer, as in BERT's own scripts for SQuAD."""
TEXT = "the cat was not bad!"


@pytest.fixture
def copied(tiny_family, tmp_path, own_models):
    """Return a function that copies a random model of a kind into a folder of its own."""

    def of_kind(kind):
        return shutil.copytree(tiny_family.path / f"mini-{kind}", tmp_path / f"my-{kind}")

    return of_kind


def answerer(folder):
    torch.manual_seed(5)
    network = AutoModelForQuestionAnswering.from_pretrained(folder)
    torch.nn.init.normal_(network.qa_outputs.weight, std=0.5)
    network.save_pretrained(folder)
    return network.eval()


def softmax(values):
    return np.exp(values - values.max()) / np.exp(values - values.max()).sum()


@pytest.mark.parametrize("passage", [PASSAGE, " ".join(4 * [PASSAGE])])
@pytest.mark.parametrize("kind", ["bert", "distilbert", "albert"])
def test_the_answers_are_the_best_spans_of_plain_transformers(copied, kind, passage):
    network = answerer(folder := copied(kind))
    found = explorer.question(QUESTION, passage, explorer.load({"mine": folder})).models["mine"]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    has_segments = network.config.model_type != "distilbert"
    inputs = tokenizer(QUESTION, passage, return_tensors="pt", return_token_type_ids=has_segments)
    with torch.no_grad():
        out = network(**inputs)
    inside = [i for i, side in enumerate(inputs.sequence_ids()) if side == 1]
    start, end = (
        softmax(logits[0, inside].double().numpy()) for logits in (out.start_logits, out.end_logits)
    )
    chars = [inputs.token_to_chars(i) for i in inside]
    begins = [
        c.start + len(passage[c.start : c.end]) - len(passage[c.start : c.end].lstrip())
        for c in chars
    ]
    scores = {}
    for i in range(len(inside)):
        for j in range(i, min(i + LONGEST, len(inside))):
            place, score = (begins[i], chars[j].end), start[i] * end[j]
            if begins[i] < chars[j].end:
                scores[place] = max(scores.get(place, 0.0), score)
    best = sorted(scores.items(), key=lambda item: -item[1])[:3]
    assert [(span.start, span.end) for span in found.best] == [place for place, _ in best]
    assert [span.score for span in found.best] == pytest.approx([p for _, p in best], abs=1e-5)


def with_more_heads(folder):
    """Add two heads that no class of transformers has, as AntiBERTy's; return their weights."""
    tensors = load_file(folder / "model.safetensors")
    width, generator = 72, torch.Generator().manual_seed(4)
    heads = {}
    for name, outputs in (("cls.species", 6), ("cls.chain", 2)):
        heads[f"{name}.weight"] = torch.randn(outputs, width, generator=generator) / 4
        heads[f"{name}.bias"] = torch.randn(outputs, generator=generator)
    save_file(tensors | heads, folder / "model.safetensors", {"format": "pt"})
    return heads


def test_a_checkpoint_with_more_heads_says_so_and_each_can_be_a_column(copied, tmp_path, capsys):
    folder = copied("bert")
    heads = with_more_heads(folder)
    family = explorer.load({"mine": folder})
    (said,) = (note for note in explorer.predict("a [MASK]", family).notes if "heads" in note)
    assert "cls.chain (2 outputs), cls.species (6 outputs): they are left out" in said
    assert f"convert {folder} TARGET --head cls.chain" in said
    asked = ["convert", str(folder), str(tmp_path / "species"), "--head", "cls.species"]
    assert main(asked) == 0
    verified = explorer.convert(folder, tmp_path / "chain", head="cls.chain")
    assert verified.agrees
    assert "The heads cls.species are left out." in verified.notes
    assert any("reads the pooled state of [CLS]" in note for note in verified.notes)
    columns = {"species": tmp_path / "species", "chain": tmp_path / "chain"}
    family = explorer.load(columns, labels={"chain": ["Heavy", "Light"]})
    found = explorer.classify(TEXT, family).models
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        pooled = network.bert(
            **AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
        ).pooler_output[0]
    for key, name in (("species", "cls.species"), ("chain", "cls.chain")):
        logits = heads[f"{name}.weight"] @ pooled + heads[f"{name}.bias"]
        assert found[key].values == pytest.approx(logits.double().softmax(-1), abs=1e-5)
    assert found["chain"].labels == ("Heavy", "Light")
    assert explorer.predict("a [MASK]", family).models.keys() == columns.keys()


@pytest.mark.parametrize(
    ("kind", "head", "said"),
    [
        ("bert", "cls.graft", "has no head cls.graft; its heads that no config describes are: cls"),
        ("distilbert", "cls.chain", "is of another architecture than bert, albert"),
    ],
)
def test_a_head_that_is_not_there_is_refused(copied, tmp_path, kind, head, said):
    folder = copied(kind)
    with_more_heads(folder)
    with pytest.raises(explorer.Refusal, match=said):
        explorer.convert(folder, tmp_path / "target", head=head)
    assert not (tmp_path / "target").exists()


def test_the_bundled_and_tuned_models_have_no_such_note(copied):
    for kind in ("bert", "distilbert", "albert"):
        notes = explorer.load({"mine": copied(kind)}).specs["mine"].notes
        assert not [note for note in notes if "heads" in note]
