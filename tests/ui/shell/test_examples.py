"""Every example makes its point with the bundled weights; asked of plain transformers."""

import json
import re

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from explorer.assets import ASSETS
from explorer.page_state import PageState
from explorer.ui.shell.input_bar import examples

NAMES = ("mini-bert", "mini-distilbert", "mini-albert")
PLACES = {"europe", "england", "france", "germany", "japan", "india", "china", "america", "italy"}
CHOICE = re.compile(r"\[(\w+)\|(\w+)\]")


class Reader:
    """One bundled model, as anybody would load it."""

    def __init__(self, name):
        folder = ASSETS / "models" / name
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model = AutoModelForMaskedLM.from_pretrained(folder, local_files_only=True).eval()
        self.pair = name != "mini-distilbert"

    def gaps(self, text):
        """Probabilities [gap, vocabulary] at the masks of a text."""
        inputs = self.tokenizer(
            *text.split(" [SEP] "), return_tensors="pt", return_token_type_ids=self.pair
        )
        with torch.no_grad():
            scores = self.model(**inputs).logits[0]
        return scores[inputs["input_ids"][0] == self.tokenizer.mask_token_id].softmax(-1)

    def pieces(self, word):
        """The ids of a word."""
        return self.tokenizer(word, add_special_tokens=False)["input_ids"]

    def p(self, text, *words, gap=0):
        """Probability of any of some words of one piece."""
        found = self.gaps(text)[gap]
        ids = [self.pieces(word) for word in words]
        return sum(found[one[0]].item() for one in ids if len(one) == 1)

    def first(self, text, n=1, gap=0):
        """The n best words."""
        return [self.tokenizer.decode([i]).strip() for i in self.gaps(text)[gap].topk(n).indices]


def without(text, word):
    """The text with one whole word hidden."""
    return re.sub(rf"\b{word}\b", "[MASK]", text, count=1)


PLURAL, SINGULAR = ("were", "are"), ("was", "is")
POINTS = {
    "A fact": lambda m, t: "germany" in m.first(t, 3),
    "A set phrase": lambda m, t: m.p(t, "states") > 0.5,
    "Agreement, plural": lambda m, t: m.p(t, *PLURAL) > m.p(t, *SINGULAR),
    "Agreement, singular": lambda m, t: m.p(t, *SINGULAR) > m.p(t, *PLURAL),
    "Agreement, a trap": lambda m, t: (
        m.p(t, *PLURAL) < m.p(t.replace(" on the table", ""), *PLURAL) - 0.1
    ),
    "Ambiguity": lambda m, t: (
        m.p(t, "river") > m.p(t.replace("watched the water", "counted money"), "river")
    ),
    "A rare word": lambda m, t: len(m.pieces("quokka")) > 1,
    "Negation": lambda m, t: m.first(t) == ["cold"],
    "An echo": lambda m, t: m.first(t)[0] in t.lower().split(),
    "He or she": lambda m, t: (
        m.p(t, "she") / m.p(t, "he")
        > m.p(t.replace("nurse", "soldier"), "she") / m.p(t.replace("nurse", "soldier"), "he")
    ),
    "Two gaps": lambda m, t: "president" in m.first(t, 2) and m.first(t, gap=1) == ["states"],
    "Two sentences": lambda m, t: m.p(t, "king") > m.p(t.split(" [SEP] ")[1], "king"),
    "Year or place": lambda m, t: m.first(t)[0].isdigit() or m.first(t)[0] in PLACES,
    "A small word": lambda m, t: m.first(t)[0] in {"at", "through", "out", "in", "into", "on"},
    "A passive": lambda m, t: m.first(t) == ["by"],
    "No gap": lambda m, t: m.p(without(t, "the"), "the") > m.p(without(t, "river"), "river"),
}


@pytest.fixture(scope="module")
def readers():
    return [Reader(name) for name in NAMES]


def test_at_least_fourteen_examples_make_their_point_in_two_of_the_three(readers):
    made = {}
    for one in examples():
        text = CHOICE.sub("[MASK]", one["text"])
        made[one["label"]] = sum(bool(POINTS[one["label"]](m, text)) for m in readers)
    assert set(made) == set(POINTS)
    assert sum(times >= 2 for times in made.values()) >= 14, made


def test_the_three_differ_on_the_opening_sentence(readers):
    answers = [m.first(PageState().text)[0] for m in readers]
    assert len(set(answers)) > 1, answers
    assert all(len(word) > 2 for word in answers)


def test_examples_are_plain_json():
    assert json.loads((ASSETS / "data/examples.json").read_text("utf-8"))["examples"] == examples()
