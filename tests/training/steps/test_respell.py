"""A trained mini-albert in another vocabulary: what stays, what is carried over, what is a mean."""

import torch
from tokenizers import Tokenizer

from explorer.training.family import new_model
from explorer.training.recipe import TINY
from explorer.training.steps.respell import linear_map, respell, word_of
from explorer.training.text.vocabulary import ALBERT_SPECIALS, albert_tokenizer, load_pieces

OLD = [*ALBERT_SPECIALS, "▁the", "y", "n", "▁a", "▁cat", "▁do", "g"]
NEW = [*ALBERT_SPECIALS, "▁they", "▁the", "▁a", "▁cat", "▁dogg", "y"]


def write(path, pieces):
    scores = [(piece, -float(i)) for i, piece in enumerate(pieces)]
    albert_tokenizer(scores).backend_tokenizer.save(str(path))
    return path


def test_vectors_are_kept_carried_over_or_meant(tmp_path):
    torch.manual_seed(0)
    model = new_model("mini-albert", TINY)
    vectors = model.albert.embeddings.word_embeddings.weight
    before = vectors.detach().clone()
    words = {word: torch.randn(TINY.width) for word in ("the", "a", "cat", "they")}
    old, new = write(tmp_path / "old.json", OLD), write(tmp_path / "new.json", NEW)
    layer = {name: weight.clone() for name, weight in model.state_dict().items() if "layer" in name}
    assert respell(model, old, new, words) == ["▁they", "▁dogg"]
    after, places = vectors.detach(), {piece: i for i, piece in enumerate(NEW)}
    for piece in set(OLD) & set(NEW):
        assert torch.equal(after[places[piece]], before[OLD.index(piece)])
    spelt = [OLD.index("▁do"), OLD.index("g"), OLD.index("g")]
    torch.testing.assert_close(after[places["▁dogg"]], before[spelt].mean(0))
    shared = torch.stack([words[word] for word in ("the", "a", "cat")])
    carry = linear_map(shared, before[[OLD.index(f"▁{word}") for word in ("the", "a", "cat")]])
    torch.testing.assert_close(after[places["▁they"]], carry(words["they"]).detach())
    for name, weight in layer.items():
        assert torch.equal(model.state_dict()[name], weight)
    assert Tokenizer.from_file(str(new)).get_vocab_size() == len(load_pieces(new))


def test_the_map_finds_a_linear_relation_again():
    torch.manual_seed(1)
    source, weight, bias = torch.randn(400, 6) + 3, torch.randn(3, 6), torch.randn(3)
    found = linear_map(source, source @ weight.T + bias)
    probe = torch.randn(5, 6) + 3
    torch.testing.assert_close(found(probe).detach(), probe @ weight.T + bias, rtol=0.1, atol=0.15)


def test_only_pieces_that_begin_a_word_are_words():
    assert (word_of("▁cat"), word_of("cat"), word_of("▁")) == ("cat", "", "")
