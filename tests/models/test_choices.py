"""``[he|she]`` in a text: a mask for every tab, and alternatives for the contrast."""

import pytest

from explorer.models.tokens import choose, clean_text, find_choices, plain_text, trim_span


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("The nurse said [he|she] left.", "The nurse said [MASK] left."),
        ("[a | b|c] and [MASK]", "[MASK] and [MASK]"),
        ("[new york|paris] is big", "[MASK] is big"),
        ("array[i] stays", "array[i] stays"),
        ("[|] [a|] [|b] [a||b] [ | ]", "[|] [a|] [|b] [a||b] [ | ]"),
        ("[a\n|b]", "[a\n|b]"),
        ("[[a|b]]", "[[MASK]]"),
        ("[" * 5000 + "a|b", "[" * 5000 + "a|b"),
    ],
)
def test_a_choice_is_run_as_a_mask(typed, run):
    assert clean_text(typed) == run
    assert clean_text(run) == run


def test_an_alternative_is_put_in_its_place_and_other_choices_are_hidden():
    text = plain_text("  [he|she] met [him|her] and [MASK]")
    first, second = find_choices(text)
    assert (first.alternatives, second.alternatives) == (("he", "she"), ("him", "her"))
    filled, word = choose(text, second, "her")
    assert filled == "[MASK] met her and [MASK]"
    assert filled[word.start : word.end] == word.text == "her"


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_choice_is_written_out_and_every_other_one_is_hidden(which):
    text = "[He|She] met [a|one] cat on [Monday|my way]."
    choice = find_choices(text)[which]
    for alternative in choice.alternatives:
        written, word = choose(text, choice, alternative)
        parts = ["[MASK]"] * 3
        parts[which] = alternative
        assert written == "{} met {} cat on {}.".format(*parts)
        assert written[word.start : word.end] == word.text == alternative


@pytest.mark.parametrize("text", ["ab", "  ab", "ab \n", " a b ", "   ", ""])
def test_a_trimmed_span_is_the_stripped_text(text):
    whole = f"x{text}y"
    start, end = trim_span(whole, 1, 1 + len(text))
    assert whole[start:end] == text.strip()
    assert 1 <= start <= end <= 1 + len(text)
