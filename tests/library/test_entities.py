"""Token classifiers of a user's own: tags against plain transformers, spans against seqeval."""

import json
import shutil

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from transformers import AutoModelForTokenClassification, AutoTokenizer

import explorer
from explorer.analysis.tasks.entities import spans_of
from explorer.library.command import main

TEXT = "the cat's mat was not bad, and the unbelievable dog was in paris."
BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
BIOES = ("O", *(f"{prefix}-{label}" for prefix in "BIES" for label in ("PER", "LOC")))


@pytest.fixture
def tagger(tiny_family, tmp_path, own_models):
    """Save a random token classifier of a kind on its encoder; return the folder."""

    def saved(kind, labels):
        folder = tmp_path / f"{kind}-{len(labels)}"
        shutil.copytree(tiny_family.path / f"mini-{kind}", folder)
        torch.manual_seed(len(labels))
        network = AutoModelForTokenClassification.from_pretrained(
            folder, id2label=dict(enumerate(labels)), num_labels=len(labels)
        )
        torch.nn.init.normal_(network.classifier.weight, std=0.5)
        network.save_pretrained(folder)
        return folder

    return saved


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
    with pytest.raises(explorer.Refusal, match="mini-BERT brings no head that labels tokens"):
        explorer.entities(TEXT)
    with pytest.raises(explorer.Refusal, match="mine brings no head that classifies texts"):
        explorer.classify(TEXT, explorer.load({"mine": folder}))
