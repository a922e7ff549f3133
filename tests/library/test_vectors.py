"""Vectors of words and texts, and the closeness of two, against plain transformers and torch."""

import itertools
import json
import re

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoModel, AutoTokenizer

import explorer
from explorer import assets
from explorer.library import depth
from explorer.library import vectors as module
from explorer.library.command import main
from explorer.library.vectors import ModelCloseness
from explorer.refusal import Refusal
from explorer.ui.shell.api import ENDPOINTS

TEXT, OTHER = "The cat sat unhappily on the mat.", "A dog saw the cat."
AT, THERE = 1, 4


@pytest.fixture(autouse=True)
def six_sentences(monkeypatch, tiny_family):
    monkeypatch.setattr(module, "UNRELATED", 6)


def states_by_hand(path, text):
    """Return hidden states [layer + 1, token, d_model], offsets, and which tokens are added."""
    tokenizer, model = AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()
    inputs = tokenizer(
        text, return_tensors="pt", return_offsets_mapping=True, return_special_tokens_mask=True
    )
    offsets, added = inputs.pop("offset_mapping")[0], inputs.pop("special_tokens_mask")[0].bool()
    with torch.no_grad():
        states = model(**inputs, output_hidden_states=True).hidden_states
    return torch.cat(states), offsets, added


def of_word(path, text, word):
    """Return the mean [layer + 1, d_model] of the pieces of a word, found by its characters."""
    start = text.index(word)
    return of_span(path, text, start, start + len(word))


def of_span(path, text, start, end):
    """Return the mean [layer + 1, d_model] of the pieces between two characters."""
    states, offsets, added = states_by_hand(path, text)
    inside = (offsets[:, 1] > start) & (offsets[:, 0] < end) & ~added
    assert inside.any()
    return states[:, inside].mean(1)


@pytest.mark.long
def test_a_word_is_the_mean_of_its_pieces_at_every_layer(tiny_family):
    for key, found in explorer.vectors(TEXT).models.items():
        path = tiny_family.specs[key].bundled_path
        assert found.words == ("The", "cat", "sat", "unhappily", "on", "the", "mat", ".")
        assert found.vectors.dtype == np.float32
        assert not found.vectors.flags.writeable
        for at, word in enumerate(("The", "cat", "sat", "unhappily", "on")):
            expected = of_word(path, TEXT, word)
            assert found.vectors[at] == pytest.approx(expected.numpy(), abs=1e-5)


def test_the_json_has_the_words_and_vectors_of_every_model(tiny_family):
    found = explorer.vectors(TEXT)
    answer = json.loads(json.dumps(found.to_dict()))
    assert answer["pooling"] == found.pooling
    assert [each["model"] for each in answer["models"]] == list(tiny_family.specs)
    for each in answer["models"]:
        assert tuple(each["words"]) == found.models[each["model"]].words
        np.testing.assert_array_equal(each["vectors"], found.models[each["model"]].vectors)


def test_a_text_is_the_mean_of_its_own_tokens_or_its_first_token(tiny_family):
    mean, cls = (explorer.vectors(TEXT, "mini", pooling).models for pooling in ("mean", "cls"))
    for key, spec in tiny_family.specs.items():
        states, _, added = states_by_hand(spec.bundled_path, TEXT)
        assert mean[key].words == (TEXT,)
        assert mean[key].vectors[0] == pytest.approx(states[:, ~added].mean(1).numpy(), abs=1e-5)
        assert cls[key].vectors[0] == pytest.approx(states[:, 0].numpy(), abs=1e-5)


@pytest.mark.long
def test_two_words_have_the_cosine_of_torch_at_every_layer(tiny_family):
    found = explorer.similarity("mini", [TEXT, OTHER], words=(AT, THERE))
    assert found.compared == ("cat", "cat")
    for key, spec in tiny_family.specs.items():
        pair = [of_word(spec.bundled_path, text, "cat") for text in (TEXT, OTHER)]
        expected = cosine_similarity(*pair, dim=-1).numpy()
        assert found.models[key].cosine == pytest.approx(expected, abs=1e-5)


@pytest.mark.long
def test_unrelated_texts_go_through_the_same_procedure(tiny_family):
    found = explorer.similarity("mini", [TEXT, OTHER], pooling="mean")
    for key, spec in tiny_family.specs.items():
        texts = []
        for text in assets.plain_sentences()[:6]:
            states, _, added = states_by_hand(spec.bundled_path, text)
            texts.append(states[:, ~added].mean(1))
        pairs = itertools.combinations(texts, 2)
        cosines = torch.stack([cosine_similarity(*pair, dim=-1) for pair in pairs]).numpy()
        control = found.models[key]
        assert control.unrelated == pytest.approx(cosines.mean(0), abs=1e-5)
        for share, values in ((5, control.low), (95, control.high)):
            assert values == pytest.approx(np.percentile(cosines, share, axis=0), abs=1e-5)


def test_of_each_unrelated_sentence_one_drawn_word_is_taken():
    found = explorer.similarity("mini", [TEXT, OTHER], words=(AT, THERE))
    draws = np.random.default_rng(0).random(6)
    read = [explorer.vectors(text).models for text in assets.plain_sentences()[:6]]
    places = [int(d * len(one["bert"].words)) for d, one in zip(draws, read, strict=True)]
    assert len(set(places)) > 1
    for key, control in found.models.items():
        drawn = [torch.tensor(one[key].vectors[at]) for one, at in zip(read, places, strict=True)]
        pairs = itertools.combinations(drawn, 2)
        cosines = torch.stack([cosine_similarity(*pair, dim=-1) for pair in pairs])
        assert control.unrelated == pytest.approx(cosines.mean(0).numpy(), abs=1e-5)


def test_a_text_is_as_close_to_itself_as_can_be_and_a_sentence_says_how_close():
    found = explorer.similarity("mini", [TEXT, TEXT], words=(AT, AT))
    for model in found.models.values():
        assert model.cosine == pytest.approx(1)
        assert (model.low <= model.unrelated).all()
        assert (model.unrelated <= model.high).all()
    assert all("closer than 19 of 20 unrelated pairs" in line for line in found.sentences())


@pytest.mark.parametrize(
    ("value", "said"), [(0.9, "closer than"), (-0.9, "further apart than"), (0.1, "among")]
)
def test_the_sentence_says_where_the_two_are_among_unrelated_pairs(value, said):
    low, high = np.array([-0.5]), np.array([0.5])
    model = ModelCloseness(np.array([value]), np.array([0.0]), low, high)
    (sentence,) = module.Closeness("mean", ("a", "b"), {"bert": model}, {}).sentences()
    assert said in sentence


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"texts": [TEXT], "pooling": "mean"}, "two texts"),
        ({"texts": [TEXT, OTHER, TEXT], "words": (0, 0)}, "two texts"),
        ({"texts": [TEXT, OTHER], "pooling": "words"}, "number of a word in each"),
        ({"texts": [TEXT, OTHER], "words": (0, 0), "pooling": "mean"}, "number of a word in each"),
        ({"texts": [TEXT, OTHER], "words": (0, 6)}, "words 0 to 7, the second 0 to 5"),
        ({"texts": [TEXT, OTHER], "words": (0,)}, "give one of each"),
        ({"texts": [TEXT, OTHER], "pooling": "max"}, "words, mean, cls"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, said):
    with pytest.raises(explorer.Refusal, match=said):
        explorer.similarity("mini", **arguments)


def test_the_endpoints_and_the_shell_say_what_the_library_says(capsys):
    assert ENDPOINTS["vectors"](TEXT) == explorer.vectors(TEXT).to_dict()
    expected = explorer.similarity("mini", [TEXT, OTHER], words=(AT, THERE))
    assert ENDPOINTS["similarity"]("mini", [TEXT, OTHER], [AT, THERE]) == expected.to_dict()
    assert main(["similarity", "--texts", TEXT, OTHER, "--words", "1", "4"]) == 0
    assert expected.sentences()[0] in capsys.readouterr().out
    with pytest.raises(explorer.Refusal, match="more than 32 words"):
        ENDPOINTS["vectors"]("one " * 40)


def cka_of(x, y):
    """Linear CKA of states [word, d_model] between features, in float64."""
    x, y = (states - states.mean(0) for states in (x.double(), y.double()))
    return float((y.T @ x).norm() ** 2 / ((x.T @ x).norm() * (y.T @ y).norm()))


def test_texts_that_share_a_pass_have_the_similarity_of_each_text_alone(tiny_family):
    """By plain transformers, one text at a time; the texts have one, two and many lengths."""
    texts = ["The cat sat.", "A dog ran.", TEXT, "It was not here, and he was not there.", OTHER]
    found = explorer.similarity("mini", texts).layers
    states = {}
    for key, spec in tiny_family.specs.items():
        words = [
            of_span(spec.bundled_path, text, *span)
            for text in texts
            for span in (match.span() for match in re.finditer(r"\w+|[^\w\s]", text))
        ]
        states[key] = torch.stack(words, 1)
    assert found.n_words == states["bert"].shape[1]
    assert (found.n_read, found.n_texts) == (5, 5)
    layers = [states[key][layer] for key, layer in found.rows]
    expected = [[cka_of(one, other) for other in layers] for one in layers]
    assert found.cka == pytest.approx(np.array(expected), abs=1e-4)


@pytest.mark.parametrize("seconds", [0, 0.9, 601, float("nan"), "5", None, True, [1]])
def test_a_time_that_is_no_number_of_seconds_is_refused(tiny_family, seconds):
    with pytest.raises(Refusal, match="seconds must be a number from 1 to 600"):
        explorer.similarity("mini", [TEXT], seconds=seconds)
    with pytest.raises(Refusal, match="seconds must be a number from 1 to 60"):
        ENDPOINTS["similarity"]("mini", [TEXT], seconds=seconds)


def test_what_was_read_is_said_wherever_layers_are_compared(tiny_family, capsys):
    said = "All 2 texts were read, 14 words."
    found = explorer.similarity("mini", [TEXT, OTHER])
    assert found.sentences()[0] == said
    answer = ENDPOINTS["similarity"]("mini", [TEXT, OTHER])
    assert (answer["words"], answer["read"], answer["texts"]) == (14, 2, 2)
    assert main(["similarity", "--texts", TEXT, OTHER, "--seconds", "5"]) == 0
    assert said in "".join(capsys.readouterr())


def test_no_text_after_a_thousand_words_is_read_and_that_is_said(tiny_family, monkeypatch):
    monkeypatch.setattr(depth, "MAX_WORDS", 20)
    found = explorer.similarity("mini", [TEXT] * 20)
    assert (found.layers.n_words, found.layers.n_read) == (20, 8)
    assert found.sentences()[0] == (
        "Of 20 texts, 8 were read, 20 words: no more than 20 words are compared."
    )
