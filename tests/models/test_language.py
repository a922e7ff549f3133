"""Which texts are taken for English: every sentence of the page is, other languages are not."""

import json

import pytest

from explorer import assets
from explorer.models.language import is_english


@pytest.mark.parametrize(
    "text",
    [
        "La capitale de la France est [MASK].",
        "Der Hund lief über die Straße und [MASK] nicht.",
        "El perro de la casa es [MASK].",
        "Il gatto è [MASK] della casa.",
        "A menina não foi para a [MASK] do pai.",
        "De hond is niet van het [MASK].",
        "法国的首都是[MASK]。",
        "Столица Франции [MASK].",
        "عاصمة فرنسا هي [MASK]",
    ],
)
def test_another_language_is_told(text):
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[MASK]",
        "Paris",
        "1, 2, [MASK]",
        "He lives in the Rue de la [MASK].",
        "She said that au revoir is a word of French.",
        "Los Angeles is in [MASK].",
        "The café in São Paulo was [MASK].",
        "The letter α is [MASK].",
    ],
)
def test_names_quotations_and_what_says_nothing_pass_for_english(text):
    assert is_english(text)


def test_every_sentence_that_comes_with_the_page_is_english():
    examples = json.loads((assets.DATA / "examples.json").read_text("utf-8"))["examples"]
    sentences = [
        *assets.plain_sentences(),
        *(one["text"] for one in (*examples, *assets.sentences())),
    ]
    assert len(sentences) > 50
    assert [one for one in sentences if not is_english(one)] == []
