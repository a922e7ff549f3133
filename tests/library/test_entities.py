"""Token classifiers of a user's own: tags against plain transformers, spans against seqeval."""

import json
import re

import numpy as np
import pytest
import torch
from captum.attr import LayerIntegratedGradients
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from transformers import AutoModelForTokenClassification, AutoTokenizer

import explorer
from explorer.analysis.spans import spans_of
from explorer.library.command import main
from explorer.models.gradients import MISS
from explorer.serving.start import parse_flags
from explorer.ui.shell.api import ENDPOINTS

TEXT = "the cat's mat was not bad, and the unbelievable dog was in paris."
BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
BIOES = ("O", *(f"{prefix}-{label}" for prefix in "BIES" for label in ("PER", "LOC")))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["bert", "distilbert", "albert"])
@pytest.mark.parametrize("labels", [BIO, BIOES, ("NOUN", "VERB", "PUNCT"), ("O", "PER")])
def test_the_tag_of_a_word_is_that_of_its_first_token_in_plain_transformers(tagger, kind, labels):
    folder = tagger(kind, labels)
    found = explorer.entities(TEXT, explorer.load({"mine": folder})).models["mine"]
    network = AutoModelForTokenClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(TEXT, return_offsets_mapping=True, return_tensors="pt")
    offsets = encoded.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        p = network(**encoded).logits[0].double().softmax(-1).numpy()
    assert found.words[:3] == ("the", "cat's", "mat")
    place, checked = 0, 0
    for word, tag, probability in zip(found.words, found.tags, found.probabilities, strict=True):
        start = TEXT.index(word, place)
        place = start + len(word)
        tokens = [i for i, (a, b) in enumerate(offsets) if a <= start < b and b > a]
        if tokens and TEXT[offsets[tokens[0]][0] : start].strip() == "":
            checked += 1
            assert tag == labels[int(p[tokens[0]].argmax())]
            assert probability == pytest.approx(p[tokens[0]].max(), abs=1e-5)
    assert checked == len(found.words)


@pytest.mark.parametrize("kind", ["bert", "albert"])
def test_spans_are_of_the_text_and_their_score_is_the_mean_of_their_tags(tagger, kind):
    family = explorer.load({"mine": tagger(kind, BIO)})
    result = explorer.entities(TEXT, family)
    found = result.models["mine"]
    assert found.entities
    assert {entity.label for entity in found.entities} <= {"PER", "LOC"}
    for entity, row in zip(found.entities, result.rows(), strict=True):
        assert row[2] == TEXT[entity.start : entity.end]
        inside = found.probabilities[entity.first : entity.last + 1]
        assert entity.score == pytest.approx(inside.mean())
    assert [e[:3] for e in get_entities(list(found.tags))] == [
        (entity.label, entity.first, entity.last) for entity in found.entities
    ]


@pytest.mark.parametrize("labels", [BIO, BIOES])
@given(data=st.data())
def test_spans_are_those_of_seqeval_for_every_sequence(labels, data):
    tags = data.draw(st.lists(st.sampled_from(labels), max_size=12))
    found = [(label, first, last) for label, first, last, _ in spans_of(tags, labels)]
    assert found == get_entities(tags)


@pytest.mark.parametrize(
    ("tags", "labels", "spans"),
    [
        (["B-PER", "I-PER", "O", "B-LOC"], BIO, [("PER", 0, 1, True), ("LOC", 3, 3, True)]),
        (["O", "I-PER", "I-PER"], BIO, [("PER", 1, 2, False)]),
        (["B-PER", "I-LOC"], BIO, [("PER", 0, 0, True), ("LOC", 1, 1, False)]),
        (["B-PER", "B-PER"], BIO, [("PER", 0, 0, True), ("PER", 1, 1, True)]),
        (["B-PER", "E-PER", "S-LOC"], BIOES, [("PER", 0, 1, True), ("LOC", 2, 2, True)]),
        (["B-PER", "I-PER", "O"], BIOES, [("PER", 0, 1, False)]),
        (["B-X", "L-X", "U-X"], ("O", "B-X", "L-X", "U-X"), [("X", 0, 1, True), ("X", 2, 2, True)]),
        (["PER", "PER", "O", "PER"], ("O", "PER"), [("PER", 0, 1, True), ("PER", 3, 3, True)]),
        (["NOUN", "NOUN"], ("NOUN", "VERB"), [("NOUN", 0, 0, True), ("NOUN", 1, 1, True)]),
        (["B-geo-loc", "I-geo-loc"], ("O", "B-geo-loc", "I-geo-loc"), [("geo-loc", 0, 1, True)]),
        ([], BIO, []),
    ],
)
def test_tags_are_joined_by_their_scheme_and_broken_ones_are_marked(tags, labels, spans):
    assert list(spans_of(tags, labels)) == spans


def test_a_shell_and_a_family_without_such_heads(tagger, capsys):
    folder = tagger("bert", BIO)
    assert main(["entities", TEXT, "--family", f"only,mine={folder}", "--json"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert len(model["tags"]) == len(model["words"]) == len(model["probabilities"])
    assert [entity["text"] for entity in model["entities"]] == [
        TEXT[entity["start"] : entity["end"]] for entity in model["entities"]
    ]
    with pytest.raises(explorer.Refusal, match="mine brings no head that classifies texts"):
        explorer.classify(TEXT, explorer.load({"mine": folder}))


def test_an_answer_without_such_heads_says_why_for_each_model(tiny_family, capsys):
    labels = {"bert": "mini-BERT", "distilbert": "mini-DistilBERT", "albert": "mini-ALBERT"}
    found = ENDPOINTS["entities"](TEXT)
    assert found["models"] == []
    assert found["missing"] == {
        key: f"{label} brings no head that labels tokens." for key, label in labels.items()
    }
    assert main(["entities", TEXT]) == 0
    assert capsys.readouterr().err.splitlines() == [*found["missing"].values()]
    with pytest.raises(explorer.Refusal, match="There is no text yet"):
        explorer.entities("  ")
    with pytest.raises(explorer.Refusal, match=r"602 tokens for mini-BERT; 512 fit"):
        explorer.entities("cat " * 600)


@pytest.mark.parametrize("kind", ["bert", "distilbert", "albert"])
def test_the_endpoint_gives_the_tags_of_plain_transformers(tagger, kind):
    folder = tagger(kind, BIO)
    family = parse_flags([f"--model=mine={folder}"]).family
    (model,) = ENDPOINTS["entities"](TEXT, family)["models"]
    logits, spans = read_plainly(folder)
    first = {word: place for place, word in reversed([*enumerate(spans)]) if word is not None}
    assert model["tags"] == [BIO[int(logits[place].argmax())] for _, place in sorted(first.items())]
    for entity in model["entities"]:
        assert entity["text"].startswith(model["words"][entity["first"]])
        assert entity["text"].endswith(model["words"][entity["last"]])
        assert entity["text"] == TEXT[entity["start"] : entity["end"]]
    named = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    answer = ENDPOINTS["entities"](TEXT, family, {"mine": named})
    assert answer["models"][0]["tags"] == [named[BIO.index(tag)] for tag in model["tags"]]


def read_plainly(folder, text=TEXT):
    """Return the head's logits float64 [token, label], and the number of each token's word."""
    network = AutoModelForTokenClassification.from_pretrained(folder).eval()
    encoded, words = encode(folder, text)
    with torch.no_grad():
        return network(**encoded).logits[0].double(), words


def encode(folder, text=TEXT):
    """Return the inputs of a network, and the number of each token's word; None for added ones.

    A token is part of the first word that ends after its first letter.
    """
    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoded = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    ends = [word.end() for word in re.finditer(r"[\w']+|[^\w\s]", text)]
    words = []
    for (start, end), is_added in zip(
        encoded.pop("offset_mapping")[0].tolist(),
        tokenizer.get_special_tokens_mask(encoded["input_ids"][0].tolist(), None, True),
        strict=True,
    ):
        start += len(text[start:end]) - len(text[start:end].lstrip())
        words.append(None if is_added else next(i for i, last in enumerate(ends) if last > start))
    return encoded, words


@pytest.mark.parametrize("labels", [BIO, BIOES])
@pytest.mark.parametrize("kind", ["bert", "distilbert", "albert"])
def test_a_span_is_attributed_as_captum_does(tagger, kind, labels):
    folder = tagger(kind, labels)
    family = explorer.load({"mine": folder})
    span = explorer.entities(TEXT, family).models["mine"].entities[0]
    found = explorer.attribute(TEXT, family, word=span.first).models["mine"]
    network = AutoModelForTokenClassification.from_pretrained(folder).eval()
    inputs, words = encode(folder)
    ids, position = inputs.pop("input_ids"), words.index(span.first)
    tags = [i for i, tag in enumerate(labels) if tag.endswith(f"-{span.label}")]

    def log_odds(ids):
        given = {name: rows.expand(len(ids), -1) for name, rows in inputs.items()}
        p = network(input_ids=ids, **given).logits[:, position].double().softmax(-1)
        p = p[:, tags].sum(-1)
        return (p / (1 - p)).log()

    def masked(*left_out):
        masks = torch.tensor([[word in left_out for word in words]])
        return torch.where(masks, AutoTokenizer.from_pretrained(folder).mask_token_id, ids)

    start = masked(*range(len(found.words)))
    wanted = LayerIntegratedGradients(log_odds, network.get_input_embeddings()).attribute(
        ids, start, n_steps=128, method="gausslegendre", internal_batch_size=32
    )[0]
    of_words = np.zeros(len(found.words))
    for word, share in zip(words, wanted.sum(-1).tolist(), strict=True):
        of_words[word or 0] += share if word is not None else 0.0
    assert found.label == span.label
    assert found.integrated_gradients == pytest.approx(of_words, abs=2 * MISS)
    with torch.no_grad():
        value, base = float(log_odds(ids)), float(log_odds(start))
        left_out = [value - float(log_odds(masked(word))) for word in range(len(found.words))]
    assert (found.value, found.baseline) == pytest.approx((value, base), abs=1e-4)
    assert found.leave_one_out == pytest.approx(left_out, abs=1e-4)
    gap = abs(of_words.sum() - (value - base))
    assert found.completeness_error == pytest.approx(gap, abs=2 * MISS)


def test_a_span_is_explained_side_by_side_where_the_labels_are_there(tagger, capsys):
    folders = {"a": tagger("bert", BIO), "b": tagger("albert", ("O", "PER")), "c": "mini-bert"}
    family = explorer.load(folders)
    found = explorer.attribute(TEXT, family, label="PER", word=3)
    assert found.to_dict()["word"] == 3
    assert [each["model"] for each in found.to_dict()["models"]] == ["a", "b"]
    assert found.missing == {"c": "c brings no head that labels tokens."}
    of_one = explorer.attribute(TEXT, family, label="LOC", word=3)
    assert of_one.missing["b"] == "b has no label LOC; it has O, PER."
    own = explorer.attribute(TEXT, family, word=3)
    tags = {key: each.tags[3] for key, each in explorer.entities(TEXT, family).models.items()}
    assert {key: each.label for key, each in own.models.items()} == {
        key: tag.partition("-")[2] or tag for key, tag in tags.items()
    }
    asked = ["attribute", TEXT, "--word", "3", "--label", "LOC", "--json"]
    assert main([*asked, "--family", f"only,a={folders['a']}"]) == 0
    (model,) = json.loads(capsys.readouterr().out)["models"]
    assert model["value"] == pytest.approx(of_one.models["a"].value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"word": 99}, "must be the number of a word of the text, from 0 to 14"),
        ({"word": -2}, "must be the number of a word"),
        ({"word": True}, "must be the number of a word"),
        ({"word": 0, "label": "ORG"}, r"a has no label ORG; it has O, PER, LOC"),
    ],
)
def test_a_span_that_cannot_be_explained_has_its_sentence(tagger, asked, said):
    with pytest.raises(explorer.Refusal, match=said):
        explorer.attribute(TEXT, explorer.load({"a": tagger("bert", BIO)}), **asked)


def test_heads_and_words_without_an_answer_are_refused(tagger):
    one = explorer.load({"a": tagger("bert", ("B-X", "I-X"))})
    with pytest.raises(explorer.Refusal, match="a's head has no other label than X"):
        explorer.attribute(TEXT, one, word=0)
    family = explorer.load({"a": tagger("bert", BIO)})
    with pytest.raises(explorer.Refusal, match=r"257 words and punctuation marks; 256 fit"):
        explorer.attribute("cat " * 257, family, word=0)
    with pytest.raises(explorer.Refusal, match="has no token of its own for “\\[SEP\\]”"):
        explorer.attribute("the cat [SEP] a dog", family, word=2)
