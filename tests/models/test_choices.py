"""``[he|she]`` in a text: a mask for every tab, and alternatives for the contrast."""

import pytest

from explorer.models.tokens import choose, clean_text, find_choices, plain_text


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
