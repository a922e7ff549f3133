"""What each tokenizer made of a text, mapped back to the reader's words and characters."""

import re
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.models.forward import tokenize
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import (
    ATOM,
    MASK,
    BadText,
    clean_text,
    mask_word,
    spell_masks,
    split_words,
)

MASKS_AS_TYPED = [
    "The [MASK] sat.",
    "The [mask] sat.",
    "The [Mask] sat.",
    "The [ MASK ] sat.",
    "The [mask ] sat.",
    "The <mask> sat.",
    "The <MASK> sat.",
    "The < mask > sat.",
]
HARD_TEXTS = [
    "É naïve 日本 😀",
    "a\u0301b",
    "a\tb\nc",
    "don't <s>",
    "x_y",
    "---",
    "_",
    "½ cup",
    "ﬁne",
    "İstanbul",
    "[MASK][MASK]",
    "a[MASK]b",
    "[MASK].",
    "</script><b>",
    "a [SEP] b [SEP] c",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u2764\ufe0f a\u200cb",
]


@pytest.mark.parametrize("text", MASKS_AS_TYPED)
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_mask_typed_by_a_person_is_one_mask_for_every_model(tiny_family, key, text):
    tokens = tokenize(tiny_family.loaded(key), text)
    assert tokens.text == "The [MASK] sat."
    assert [tokens.text[slice(*tokens.spans[i])] for i in tokens.mask_positions] == [MASK]
    assert tokens.words[tokens.word_index[tokens.mask_positions[0]]].is_mask


@pytest.mark.parametrize(
    "text", ["[MASK]", "[MASK].", "a[MASK]b", "the[MASK][MASK]cat", "[MASK] [MASK]"]
)
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_masks_glued_to_words_are_still_masks(tiny_family, key, text):
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, text)
    assert len(tokens.mask_positions) == text.count(MASK)
    assert {tokens.ids[i] for i in tokens.mask_positions} == {loaded.tokenizer.mask_token_id}


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_ids_are_those_of_the_plain_tokenizer(tiny_family, key):
    loaded = tiny_family.loaded(key)
    for text in ("The cat sat on the [MASK].", "Paris is playing, not London!", *HARD_TEXTS[:5]):
        assert list(tokenize(loaded, text).ids) == loaded.tokenizer(clean_text(text))["input_ids"]


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_pair_is_two_sentences_with_segments(tiny_family, key):
    loaded = tiny_family.loaded(key)
    tokens = tokenize(loaded, "the cat sat [SEP] a dog [MASK]")
    plain = loaded.tokenizer("the cat sat ", " a dog [MASK]", return_token_type_ids=True)
    assert list(tokens.ids) == plain["input_ids"]
    assert list(tokens.segments) == plain["token_type_ids"]
    second = [i for i, s in enumerate(plain.sequence_ids()) if s == 1]
    assert {tokens.words[tokens.word_index[i]].text for i in second} == {"a", "dog", MASK}
    assert tokens.special[0]
    assert tokens.special[-1]
    assert sum(tokens.special) == 3


@pytest.mark.parametrize("text", ["a [SEP]", "[SEP] b", "[SEP]"])
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_half_a_pair_is_one_sentence(tiny_family, key, text):
    assert set(tokenize(tiny_family.loaded(key), text).segments) == {0}


@pytest.mark.parametrize("text", HARD_TEXTS)
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_every_token_lies_in_the_word_it_names(tiny_family, key, text):
    tokens = tokenize(tiny_family.loaded(key), text)
    for span, special, word in zip(tokens.spans, tokens.special, tokens.word_index, strict=True):
        assert (word == -1) == special
        if not special:
            start, end = tokens.words[word].start, tokens.words[word].end
            assert start <= span[0] < end, (tokens.text[slice(*span)], tokens.words[word])


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00\x07", "\u200b\u202e"])
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_nothing_to_read_is_one_plain_sentence(tiny_family, key, text):
    with pytest.raises(BadText, match="no text yet"):
        tokenize(tiny_family.loaded(key), text)


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_long_text_is_told_how_many_tokens_it_has_and_how_many_fit(tiny_family, key):
    loaded = tiny_family.loaded(key)
    fits = " ".join(["cat"] * (loaded.max_tokens - 2))
    assert len(tokenize(loaded, fits)) == loaded.max_tokens == 512
    with pytest.raises(BadText, match=r"513 tokens .* 512 fit"):
        tokenize(loaded, fits + " cat")


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_megabyte_of_text_is_refused_before_it_is_read(tiny_family, key):
    with pytest.raises(BadText, match="1,000,000 characters"):
        tokenize(tiny_family.loaded(key), "cat sat " * 124_999 + "cat sat.")


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_cleaning_is_idempotent_and_words_tile_the_text(text):
    text = clean_text(text)
    assert clean_text(text) == text
    words = split_words(text)
    assert [text[w.start : w.end] for w in words] == [w.text for w in words]
    rest = list(text)
    for word in words:
        rest[word.start : word.end] = " " * (word.end - word.start)
    assert not "".join(rest).strip()


@pytest.mark.parametrize("key", MODEL_KEYS)
@given(text=st.text(alphabet="ab é́日'-_[]<>MASKSEP \n😀ß", max_size=40))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_gives_parallel_tuples_or_one_sentence(tiny_family, key, text):
    try:
        tokens = tokenize(tiny_family.loaded(key), text)
    except BadText:
        return
    lengths = {
        len(t)
        for t in (tokens.pieces, tokens.spans, tokens.special, tokens.segments, tokens.word_index)
    }
    assert lengths == {len(tokens.ids)}
    assert all(-1 <= i < len(tokens.words) for i in tokens.word_index)
    assert sorted(tokens.segments) == list(tokens.segments)


def test_masking_a_word_replaces_that_word_only():
    text = "The cat sat on the cat."
    words = split_words(text)
    assert mask_word(text, words[5]) == "The cat sat on the [MASK]."
    assert mask_word(text, words[1]) == "The [MASK] sat on the cat."


@pytest.mark.parametrize("mask", ["[MASK]", "<mask>", "<m>", "a longer mask"])
@pytest.mark.parametrize(
    "text", ["[MASK]", "The [MASK] sat on[MASK].", "no mask", "", "[MASK][MASK]"]
)
def test_a_mask_in_another_spelling_keeps_every_place_of_the_text(text, mask):
    spelled, places = spell_masks(text, mask)
    assert spelled == text.replace(MASK, mask)
    assert len(places) == len(spelled) + 1
    assert places[-1] == len(text)
    assert list(places) == sorted(places)
    for at, place in enumerate(places[:-1]):
        inside = any(
            spelled[i : i + len(mask)] == mask for i in range(max(0, at - len(mask) + 1), at + 1)
        )
        assert text[place] == spelled[at] or inside


ATTACHED = {
    "an accent": "cafe\u0301",
    "vowel signs of Hindi": "\u0939\u093f\u0928\u094d\u0926\u0940",
    "points of Hebrew": "\u05d1\u05bc\u05b0\u05e8\u05b5\u05d0",
    "a tone of Thai": "\u0e19\u0e49\u0e33",
    "a space without width within a Persian word": "\u0645\u06cc\u200c\u062e\u0648",
    "a sign shown in colour": "\u2764\ufe0f",
    "a mark outside the first plane": "\U00011013\U00011038",
}


@pytest.mark.parametrize("word", ATTACHED.values(), ids=ATTACHED)
def test_what_is_attached_to_a_character_stays_in_its_word(word):
    assert [w.text for w in split_words(f"{word} noir.")] == [word, "noir", "."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CC(=O)OCC>>[MASK]C", "C C ( = O ) O C C >> [MASK] C"),
        ("An ester, ClCC(=O)OC, smells.", "An ester , ClCC ( = O ) OC , smells ."),
        ("An ester ClCC(=O)OC smells.", "An ester Cl C C ( = O ) O C smells ."),
        ("c1ccccc1", "c 1 c c c c c 1"),
        ("[Na+].[Cl-]>>[MASK]", "[Na+] . [Cl-] >> [MASK]"),
        ("北京[MASK]是中国的首都。", "北 京 [MASK] 是 中 国 的 首 都 。"),
        ("東京は日本の首都です", "東 京 は 日 本 の 首 都 です"),
        ("soon F1 (soon) CO2 cos(0) f=x", "soon F1 ( soon ) CO2 cos ( 0 ) f = x"),
    ],
)
def test_where_a_text_has_no_spaces_its_characters_or_atoms_are_words(text, words):
    assert [word.text for word in split_words(text)] == words.split()


def test_an_atom_can_be_read_in_one_way_only():
    """With two ways, a search in a text that is no formula would try all of them in turn."""
    parts = [re.compile(part) for part in ATOM.pattern.split("|")]

    def n_readings(text, start=0):
        ends = [found.end() for part in parts if (found := part.match(text, start))]
        return sum(n_readings(text, end) for end in ends) if start < len(text) else 1

    texts = map("".join, product("BrClnoH>%12[]+-=(x", repeat=3))
    assert [text for text in texts if n_readings(text) > 1] == []


@pytest.mark.parametrize("typed", ["[sep]", "[Sep]", "[ SEP ]", "[SEP]"])
def test_a_separator_is_read_however_it_is_typed(typed):
    assert clean_text(f"a cat {typed} a dog") == "a cat [SEP] a dog"
