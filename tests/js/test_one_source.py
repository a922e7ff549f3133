"""What stands in both languages: the browser reads it, or is held against Python."""

import random
import re

import pytest

from explorer.models.tokens import hide_choices, split_words
from explorer.ui.first.scripts import modules
from explorer.ui.kit.canvas import RECIPES
from tests.js.test_maths import in_the_browser
from tests.needs import needs_node

pytestmark = needs_node
PARTS = [
    *"aZé7_ßñ漢字кш", "don't", "l’eau", "e\u0301", "[MASK]", "[SEP]", "[", "]", "'", "’", "-", ".", ",",
    "🙂", "½", "²", "…", "¿", "—", " ", "\n", "ʼ", "ـ", "ก", "ि", "Ⅷ",
    "\u200c", "\u200d", "\ufe0f", "\U000e0100", "\u05bc", "\u20e3", "\U00011038",
]  # fmt: skip
FORMULAS = [
    "C",
    "C",
    "c1",
    "Cl",
    "N",
    "O",
    "(",
    ")",
    "=",
    ">>",
    ">",
    ".",
    "[Na+]",
    "[MASK]",
    " ",
    "[O|N]",
    "漢",
    "x",
]
BOTH = (PARTS, FORMULAS)
ARROWS = f"C{60 * '>'}x"
"""No formula, for its last letter; a pattern that reads its signs in two ways never says so."""
OWN_COPIES = {
    "attention/lens.js": r"\b128\b",
    "attention/heads.js": r"\b128\b",
    "distillation/temperature.js": r"\d",
    "distillation/losses.js": r"(ce|mlm|cos|t): ?\d",
}


def test_both_languages_find_the_same_words():
    rng = random.Random(0)
    texts = [
        "".join(rng.choices(parts, k=rng.randint(1, 12))) for _ in range(2000) for parts in BOTH
    ]
    texts = [text for text in texts if "|" not in text]  # a choice is one word in the browser
    texts.append(ARROWS)
    found = in_the_browser(*(("splitWords", text) for text in texts))
    for text, words in zip(texts, found, strict=True):
        assert words == [word.text for word in split_words(text)], repr(text)


def test_saved_scripts_find_the_same_words():
    rng, names = random.Random(0), {}
    exec((RECIPES / "word.py").read_text("utf-8"), names)
    for _ in range(2000):
        for parts in BOTH:
            text = "".join(rng.choices(parts, k=rng.randint(1, 12)))
            found = [match.group() for match in names["words_of"](text)]
            assert found == [word.text for word in split_words(text)], repr(text)
    assert [match.group() for match in names["words_of"](ARROWS)] == ["C", *60 * ">", "x"]


CHOICES = [*PARTS, "|", "|", "[", "]", "[ |x]", "[a|b]", "\x85", "\u2028", 400 * "a", 399 * "🙂"]


def test_both_languages_find_the_same_choices():
    """What is no choice for the models is none for a saved script, nor for a click."""
    rng = random.Random(0)
    texts = ["".join(rng.choices(CHOICES, k=rng.randint(1, 12))) for _ in range(2000)]
    texts += [f"[{''.join(rng.choices('a |b', k=rng.randint(1, 6)))}]" for _ in range(300)]
    found = in_the_browser(*(("hideChoices", text) for text in texts))
    for text, hidden in zip(texts, found, strict=True):
        assert hidden == hide_choices(text), repr(text)


@pytest.mark.parametrize("path", OWN_COPIES)
def test_the_browser_has_no_copy_of_a_limit(path):
    code = re.sub(r"//.*|/\*.*?\*/", "", modules()[path].decode())
    assert not re.search(OWN_COPIES[path], code)


def test_no_selector_is_made_of_what_a_link_or_the_data_hold():
    """``named`` and ``marked`` find an id or a value whatever signs it holds."""
    made = re.compile(r"(?:\b(?:querySelector(?:All)?|closest|matches)|\bfind)\([^()`]*`[^`]*\$\{")
    assert made.search("find(document, `#tab-${tab}`)")
    found = {path for path, code in modules().items() if made.search(code.decode())}
    assert found == {"kit/dom.js"}, "which looks for an attribute, and compares its value itself"
