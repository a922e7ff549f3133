"""No sentence around the tabs is false: what half precision changes, what cannot be read, how models are made."""

import re
from dataclasses import replace
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.precision import PrecisionDifference
from explorer.models.specs import BASE, MINI
from explorer.models.tokens import Tokens
from explorer.ui.attention.strings import wall_texts
from explorer.ui.kit import strings as kit
from explorer.ui.shell import status
from explorer.ui.shell.family import sentence
from tests.ui.sentences import LABELS, law, read, some_models


@law
@given(
    st.integers(0, 3), st.integers(0, 12), st.integers(0, 6), st.sampled_from([0.0, 0.0004, 0.2])
)
def test_half_precision_is_said_to_change_what_it_changes(weights, words, others, size):
    changed = min(words, 3)
    firsts = tuple((mask, "paris", "lyon") for mask in range(1, min(others, words) + 1))
    found = PrecisionDifference(words, changed, size, firsts, size, weights)
    text = read("".join(status._differences("BERT", found)))
    nothing = not (changed or weights or firsts)
    assert ("no printed probability or attention weight differs" in text) == nothing
    if words and not nothing:
        assert f"printed probabilities that differ: {changed} of {words}, by up to" in text
        assert text.count("Top prediction at mask") == min(len(firsts), status.MAX_FIRST)
        left = len(firsts) - status.MAX_FIRST
        assert (f"other top predictions besides: {left}." in text) == (left > 0)


def tokens_of(pieces):
    special = tuple(piece in ("[CLS]", "[SEP]") for piece in pieces)
    n, none = len(pieces), (0,) * len(pieces)
    return Tokens(
        "the cat sat on the mat", none, pieces, ((0, 0),) * n, special, none, (), none, (), none
    )


@law
@given(some_models(most=3), st.data())
def test_pieces_that_a_model_cannot_read_are_counted_and_half_of_them_is_half(keys, data):
    read_by = {}
    vocabulary = ("[CLS]", "[SEP]", "[UNK]", "the", "cat", "sat")
    for key in keys:
        pieces = data.draw(
            st.lists(st.sampled_from(["the", "cat", "[UNK]"]), min_size=1, max_size=6)
        )
        read_by[LABELS[key]] = tokens_of(("[CLS]", *pieces, "[SEP]"))
    runs = [
        SimpleNamespace(
            spec=SimpleNamespace(label=LABELS[key], lower_case=True, origin="bundled"),
            tokens=read_by[LABELS[key]],
            vocabulary=vocabulary,
        )
        for key in keys
    ]
    note = kit.reading_note(runs)
    text = read(note) if note else ""
    counts = {k: (one.pieces.count("[UNK]"), len(one.pieces) - 2) for k, one in read_by.items()}
    assert re.findall(r"(\w+) reads (\d+) of (\d+) pieces?", text) == [
        (label, str(n), str(size)) for label, (n, size) in counts.items() if n
    ]
    assert kit.unreadable(read_by) == [k for k, (n, size) in counts.items() if n / size >= 0.5]


@law
@given(st.sampled_from([*BASE.values(), *MINI.values()]), st.integers(1, 3), st.integers(1, 3))
def test_what_a_model_is_made_of_is_counted_in_singular_and_plural(spec, layers, heads):
    shape = replace(spec.architecture, n_layers=layers, n_heads=heads)
    stand_in = replace(spec, architecture=shape, initialised_from=spec.initialised_from[:layers])
    text = read(sentence(stand_in))
    times = "once" if layers == 1 else f"{layers} times"
    if shape.shares_layers:
        assert f"one layer, applied {times}" in text
    else:
        assert text.startswith(f"{layers} layer{'s' * (layers > 1)}, ")
    said = read(wall_texts([stand_in])["shapes"][spec.key])
    assert f"{heads} head{'s' * (heads > 1)}" in said
