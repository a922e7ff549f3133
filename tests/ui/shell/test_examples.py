"""The examples in sight are answered rightly by the bundled weights, says plain transformers."""

import re

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from explorer.assets import ASSETS, examples
from explorer.links.page_state import PageState
from explorer.ui.shell.input_bar import IN_THE_ROW

NAMES = ("mini-bert", "mini-distilbert", "mini-albert")
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
    "Set phrase": lambda m, t: m.p(t, "states") > 0.5,
    "Agreement": lambda m, t: m.p(t, *PLURAL) > m.p(t, *SINGULAR),
    "Singular": lambda m, t: m.p(t, *SINGULAR) > m.p(t, *PLURAL),
    "Context": lambda m, t: m.p(t, "head") > m.p("He shook his [MASK].", "head"),
    "Distractor": lambda m, t: m.p(t, *PLURAL) < m.p(t.replace(" on the table", ""), *PLURAL) - 0.1,
    "Word sense": lambda m, t: m.p(t, "money") > m.p("He sat on the bank of the [MASK].", "money"),
    "Rare word": lambda m, t: len(m.pieces("quokka")) > 1,
    "Repetition": lambda m, t: m.first(t)[0] in t.lower().split(),
    "He or she": lambda m, t: (
        m.p(t, "she") / m.p(t, "he")
        > m.p(t.replace("nurse", "soldier"), "she") / m.p(t.replace("nurse", "soldier"), "he")
    ),
    "Sentence pair": lambda m, t: m.p(t, "king") > m.p(t.split(" [SEP] ")[1], "king"),
    "Passive": lambda m, t: m.first(t) == ["by"],
    "Every word": lambda m, t: m.p(without(t, "the"), "the") > m.p(without(t, "river"), "river"),
}
"""What an example is about beyond its accepted answers, where it is a comparison."""


@pytest.fixture(scope="module")
def readers():
    return [Reader(name) for name in NAMES]


def firsts(readers, example):
    """Per model, whether its first answer in every gap is an accepted one."""
    text, accepted = CHOICE.sub("[MASK]", example["text"]), example["accepted"]
    gaps = range(len(accepted))
    return [
        bool(gaps) and all(m.first(text, gap=g)[0] in accepted[g] for g in gaps) for m in readers
    ]


@pytest.mark.long
def test_six_of_the_examples_in_sight_are_answered_rightly_by_all_three(readers):
    right = {one["label"]: all(firsts(readers, one)) for one in examples()[:IN_THE_ROW]}
    assert sum(right.values()) >= 6, right


def test_the_page_opens_on_an_example_that_all_answer_rightly_and_not_alike(readers):
    answers = [m.first(PageState().text)[0] for m in readers]
    assert all(firsts(readers, examples()[0]))
    assert len(set(answers)) > 1, answers


@pytest.mark.long
def test_ten_examples_make_their_point_in_two_of_the_three(readers):
    texts = {one["label"]: CHOICE.sub("[MASK]", one["text"]) for one in examples()}
    made = {
        label: sum(bool(says(m, texts[label])) for m in readers) for label, says in POINTS.items()
    }
    assert sum(times >= 2 for times in made.values()) >= 10, made


def test_every_gap_of_an_example_has_its_answers_or_none_has():
    for one in examples():
        gaps = one["text"].count("[MASK]") + len(CHOICE.findall(one["text"]))
        assert len(one["accepted"]) in (0, gaps), one
