"""Which texts are taken for English: what comes with the page and foreign names are, other
languages are not."""

import json
from pathlib import Path

import pytest

from explorer import assets
from explorer.models.language import english_score, is_english
from training.text.primer import primer_sentences

HERE = Path(__file__).parent
NAMES = (HERE / "english_with_names.txt").read_text("utf-8").splitlines()
OTHERS = [
    line.split("\t") for line in (HERE / "other_languages.tsv").read_text("utf-8").splitlines()
]


def test_no_english_sentence_is_flagged_for_its_foreign_names():
    assert len(set(NAMES)) >= 200
    assert [text for text in NAMES if not is_english(text)] == []


def test_every_sentence_of_another_language_is_flagged():
    assert len({language for language, _ in OTHERS}) >= 20
    assert [one for one in OTHERS if is_english(one[1])] == []


def test_of_sentences_that_set_no_constant_few_are_judged_wrong():
    """Lists written after the constants of the detector, except the cost of two letters.

    Flagged of the English ones: "I had a croissant and café au lait for [MASK]." Not flagged:
    sentences whose words are nearly all English words too ("Le village a un grand [MASK].").
    """
    english = (HERE / "unseen_english.txt").read_text("utf-8").splitlines()
    others = [
        line.split("\t")
        for line in (HERE / "unseen_other_languages.tsv").read_text("utf-8").splitlines()
    ]
    assert len({language for language, _ in others}) >= 20
    flagged = [text for text in english if not is_english(text)]
    missed = [text for _, text in others if is_english(text)]
    assert (len(flagged), len(english)) == (1, 206), flagged
    assert (len(missed), len(others)) == (5, 65), missed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[MASK]",
        "Paris",
        "bonjour",
        "1, 2, [MASK]",
        "i am [MASK]",
        "Unbelievable cats.",
        "I can't [MASK].",
        "THE DOG IS [MASK].",
        "los angeles, las vegas, san [MASK]",
        "Mitochondria produce adenosine triphosphate via oxidative [MASK].",
        "The letter α is [MASK].",
    ],
)
def test_what_says_nothing_or_is_typed_carelessly_passes_for_english(text):
    assert is_english(text)


def test_a_text_in_capitals_is_read_like_any_other():
    assert not is_english("DER HUND IST [MASK].")


def test_every_sentence_that_comes_with_the_page_is_english():
    examples = json.loads((assets.DATA / "examples.json").read_text("utf-8"))["examples"]
    probe = json.loads((assets.DATA / "probe.json").read_text("utf-8"))["sentences"]
    sentences = [
        *assets.plain_sentences(),
        *(one["text"] for one in (*examples, *probe, *assets.sentences())),
    ]
    assert len(sentences) > 400
    assert [one for one in sentences if not is_english(one)] == []


@pytest.mark.long
def test_hardly_a_sentence_of_the_primer_is_flagged():
    """Its rare verbs (purr, moo, bray) are in no vocabulary of this size."""
    sentences = [one.text for one in primer_sentences()[::20]]
    assert sum(not is_english(one) for one in sentences) < 0.005 * len(sentences)


@pytest.mark.parametrize("text", ["word " * 200_000, "a" * 1_000_000, "ab." * 300_000])
def test_a_very_long_text_is_judged_by_its_beginning(text):
    assert english_score(text) == english_score(text[:2000])


def test_the_same_word_speaks_against_english_once():
    assert english_score("It is brut brut brut.") == english_score("It is brut.")


def test_a_capitalised_word_counts_at_the_start_of_a_sentence_alone():
    """The same words once as a name in a sentence, once as the beginning of the next."""
    name, beginning = "Edvard Munch painted The [MASK].", "Edvard Munch painted. The [MASK]."
    assert english_score(beginning) > english_score(name)
    assert english_score(name) == english_score("Edvard Munch painted [MASK].")
