"""What a visitor does: one sentence, one word hidden; answers, and words that are said again."""

import json
from collections import Counter

import numpy as np
import pytest
import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

from explorer.assets import ASSETS
from training.family import load_model
from training.report.cloze_eval import (
    PROBE,
    ClozeQuestion,
    Reading,
    answers,
    probe_questions,
    read_probe,
    repeats,
    single_sentences,
    whole_words,
)
from training.text.batch import CLS, MASK, SEP
from training.text.corpus import Shard
from training.text.pieces import Pieces

MODELS = ASSETS / "models"
KINDS = {"fact", "category", "opposite", "object", "place"}
KINDS |= {"grammar", "function word", "collocation"}


def test_the_probe_holds_two_hundred_sentences_of_eight_kinds():
    sentences = read_probe()
    assert len({one["text"] for one in sentences}) == 200
    assert Counter(one["kind"] for one in sentences) == dict.fromkeys(KINDS, 25)
    for one in sentences:
        assert one["text"].count("[MASK]") == 1
        assert all(word.isalnum() and word == word.lower() for word in one["accepted"])
        said = set(one["text"].lower().replace(".", "").replace(",", "").split())
        assert not said & set(one["accepted"])


@pytest.mark.parametrize("name", ["mini-bert", "mini-albert"])
def test_every_question_of_the_probe_can_be_answered_in_one_piece(name):
    tokenizer = AutoTokenizer.from_pretrained(MODELS / name, local_files_only=True)
    for one in read_probe():
        pieces = [
            tokenizer(word, add_special_tokens=False)["input_ids"] for word in one["accepted"]
        ]
        assert min(map(len, pieces)) == 1, one["text"]


@pytest.mark.parametrize("name", ["mini-bert", "mini-albert"])
def test_answers_are_those_of_plain_transformers(name):
    tokenizer = AutoTokenizer.from_pretrained(MODELS / name, local_files_only=True)
    plain = AutoModelForPreTraining.from_pretrained(MODELS / name, local_files_only=True).eval()
    sentences = read_probe()[::20]
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    found = answers(load_model(MODELS / name).eval(), probe_questions(tokenizer, sentences), names)
    first, five = [], []
    for one in sentences:
        inputs = tokenizer(one["text"], return_tensors="pt")
        with torch.no_grad():
            scores = plain(**inputs).prediction_logits[inputs["input_ids"] == MASK][0]
        words = [tokenizer.decode([i]).strip() for i in scores.topk(5).indices.tolist()]
        first.append(words[0] in one["accepted"])
        five.append(bool(set(words) & set(one["accepted"])))
    assert found.right == tuple(five)
    assert found.top1 == pytest.approx(np.mean(first))
    assert found.top5 == pytest.approx(np.mean(five))


class Stub(torch.nn.Module):
    """Guesses the same pieces everywhere."""


def test_a_repeat_is_a_content_word_of_the_sentence(monkeypatch):
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "river", "##s", "town", "a", "b"]
    scores = torch.zeros(3, len(names))
    for row, best in enumerate((6, 5, 8)):
        scores[row, best] = 2.0
    made = type("Made", (), {"words": scores})
    monkeypatch.setattr("training.report.cloze_eval.run_batch", lambda model, batch: made)
    asked = [
        ClozeQuestion((CLS, 5, MASK, SEP), 2, frozenset(["town"]), frozenset(["the", "river"]))
    ] * 3
    found = answers(Stub(), asked, names)
    assert found.repeats == pytest.approx(1 / 3)
    assert found.top1 == pytest.approx(1 / 3)
    assert repeats("river", frozenset(["river"]))
    assert not repeats("the", frozenset(["the"]))
    assert not repeats("sea", frozenset(["river"]))


def test_only_pieces_that_are_whole_words_are_answers():
    assert whole_words(["[MASK]", "town", "##s"]) == ["", "town", ""]
    assert whole_words(["[MASK]", "▁town", "s"]) == ["", "town", ""]


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "we", "saw", "town", "##s", "a"]
UNITS = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", ".", "▁we", "▁sa", "w", "▁towns", "▁a"]


@pytest.fixture
def readings():
    """Two sentences in two vocabularies; *saw* is two pieces in one, *towns* in the other."""
    both = []
    texts = {
        0: ["we saw a town ##s .", "a we a we a ."],
        1: ["▁we ▁sa w ▁a ▁towns .", "▁a ▁we ▁a ▁we ▁a ."],
    }
    for which, names in enumerate((WORDS, UNITS)):
        ids = [[names.index(piece) for piece in text.split()] for text in texts[which]]
        offsets = np.cumsum([0, *map(len, ids)]).astype(np.int64)
        shard = Shard(np.concatenate(ids).astype(np.uint16), offsets, np.array([0, 2]), np.ones(2))
        both.append(Reading(shard, Pieces.of(names, np.zeros(len(names))), names))
    return both


def test_the_same_word_of_the_same_sentence_is_hidden_in_both_vocabularies(readings):
    chosen = single_sentences(readings, 10)
    assert sorted(sentence for sentence, _, _ in chosen) == [0, 1]
    for sentence, word, occurrence in chosen:
        assert word in {"we", "a"}
        texts = []
        for reading in readings:
            one = reading.asked(sentence, word, occurrence)
            assert one.accepted == {word}
            assert one.ids[one.mask_position] == MASK
            spelt = [reading.names[i].replace("▁", "") for i in one.ids[1:-1]]
            texts.append(" ".join(spelt).replace(" ##", "").replace("sa w", "saw"))
        assert texts[0] == texts[1]
        assert (word in readings[0].asked(sentence, word, occurrence).other_words) == (
            sentence == 1
        )


def test_the_probe_is_plain_json():
    assert json.loads(PROBE.read_text())["about"]
