"""A trained model in another vocabulary: what stays, what is carried over, what is a mean."""

import numpy as np
import pytest
import torch

from training.family import load_model, new_model
from training.recipe import TINY, Place
from training.steps import pretrain
from training.steps.loop import TrainingBudget
from training.steps.pretrain import Setting
from training.steps.vocab_transfer import Respelling, linear_map, respell
from training.text.corpus import Shard
from training.text.vocabulary import (
    ALBERT_SPECIALS,
    BERT_SPECIALS,
    albert_tokenizer,
    bert_tokenizer,
    load_pieces,
)

PIECES = {
    "mini-bert": (
        [*BERT_SPECIALS, "the", "##y", "##n", "a", "cat", "do", "##g"],
        [*BERT_SPECIALS, "they", "the", "##n", "cat", "a", "dog", "##y"],
    ),
    "mini-albert": (
        [*ALBERT_SPECIALS, "▁the", "y", "n", "▁a", "▁cat", "▁do", "g"],
        [*ALBERT_SPECIALS, "▁they", "▁the", "n", "▁cat", "▁a", "▁dog", "y"],
    ),
}
PIECES["mini-distilbert"] = PIECES["mini-bert"]


def write(path, pieces):
    if pieces[0] == BERT_SPECIALS[0]:
        tokenizer = bert_tokenizer(pieces)
    else:
        tokenizer = albert_tokenizer([(piece, -float(i)) for i, piece in enumerate(pieces)])
    tokenizer.backend_tokenizer.save(str(path))
    return path


@pytest.fixture(params=PIECES)
def case(request, tmp_path):
    """A model of each kind, its two vocabularies, and the table, which lacks *dog*."""
    torch.manual_seed(0)
    name = request.param
    old, new = PIECES[name]
    files = write(tmp_path / "old.json", old), write(tmp_path / "new.json", new)
    table = {word: torch.randn(TINY.width) for word in ("the", "##y", "a", "cat", "they")}
    frequencies = -torch.arange(1.0, TINY.vocabulary + 1).numpy()
    model, target = new_model(name, TINY), new_model(name, TINY)
    head(model).data.normal_()
    before = model.get_input_embeddings().weight.detach().clone(), head(model).detach().clone()
    marked = name == "mini-albert"
    respell(model, target, Respelling(*files, table, frequencies, marked))
    return name, target, before, table, frequencies


def head(model):
    return model.get_output_embeddings().bias


def test_vectors_are_kept_carried_over_or_meant(case):
    name, model, (before, _), table, _ = case
    old, new = PIECES[name]
    after, places = model.get_input_embeddings().weight.detach(), {p: i for i, p in enumerate(new)}
    for piece in set(old) & set(new):
        assert torch.equal(after[places[piece]], before[old.index(piece)])
    torch.testing.assert_close(after[10], before[10:12].mean(0))  # dog: do and g
    shared = torch.stack([table[word] for word in ("the", "##y", "a", "cat")])
    carry = linear_map(shared, before[[5, 6, 8, 9]])
    torch.testing.assert_close(after[5], carry(table["they"]).detach())
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_biases_are_kept_or_frequencies_on_their_scale(case):
    name, model, (_, before), _, frequencies = case
    old, new = PIECES[name]
    after, kept = head(model).detach(), [i for i, piece in enumerate(new) if piece in old]
    origin = [old.index(new[i]) for i in kept]
    assert torch.equal(after[kept], before[origin])
    shift = (before[origin] - torch.from_numpy(frequencies)[kept]).mean()
    torch.testing.assert_close(after[5], torch.tensor(frequencies[5]) + shift)


def test_everything_but_the_words_is_as_it_was(tmp_path):
    torch.manual_seed(1)
    model, target = new_model("mini-bert", TINY), new_model("mini-bert", TINY)
    files = [write(tmp_path / f"{i}.json", PIECES["mini-bert"][i]) for i in range(2)]
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    respell(model, target, Respelling(*files, {}, np.arange(float(TINY.vocabulary)), False))
    moved = {n for n, weight in target.state_dict().items() if not torch.equal(weight, before[n])}
    words = {"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"}
    assert moved == words | {"cls.predictions.bias", "cls.predictions.decoder.bias"}


def test_a_run_that_goes_on_in_another_vocabulary_begins_with_the_respelt_model(
    tmp_path, monkeypatch
):
    torch.manual_seed(2)
    old, new = PIECES["mini-bert"]
    folder = tmp_path / "models/mini-bert"
    new_model("mini-bert", TINY).save_pretrained(folder)
    write(folder / "tokenizer.json", old)
    place = Place(tmp_path / "run")
    place.root.mkdir()
    write(place.vocabulary("bert"), new)
    ids = np.array([5, 6, 6], dtype=np.uint16)
    ends = np.array([0, 3])
    Shard(ids, ends, np.array([0, 1]), np.array([3], np.uint16)).save(place.shard("bert", "train"))
    monkeypatch.setattr(pretrain, "warm_table", dict)
    setting = Setting(place, TINY, TrainingBudget(tokens=1), str(tmp_path / "models"))
    model = pretrain.in_vocabulary(setting, load_model(folder), folder)
    began = load_model(folder).get_input_embeddings().weight
    after = model.get_input_embeddings().weight
    assert torch.equal(after[load_pieces(place.vocabulary("bert")).index("cat")], began[9])
    write(place.vocabulary("bert"), old)
    model = load_model(folder)
    assert pretrain.in_vocabulary(setting, model, folder) is model


def test_the_map_finds_a_linear_relation_again():
    torch.manual_seed(1)
    source, weight, bias = torch.randn(400, 6) + 3, torch.randn(3, 6), torch.randn(3)
    found = linear_map(source, source @ weight.T + bias)
    probe = torch.randn(5, 6) + 3
    torch.testing.assert_close(found(probe).detach(), probe @ weight.T + bias, rtol=0.1, atol=0.15)
