"""What is said of a word table's rank, on drawn spectra, and its rows."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.parameters.count import EmbeddingSpectrum
from explorer.ui.parameters.strings import SPECTRUM_TEXTS
from explorer.views.parameters.counts import spectrum_canvas
from tests.ui.sentences import LABELS, check_grammar, law


@st.composite
def spectra(draw):
    width = draw(st.sampled_from([2, 8]))
    above = draw(st.integers(1, width))
    values = [2.0**-i if i < above else 1e-17 for i in range(width)]
    return EmbeddingSpectrum(np.array(values), 100, width), above


@pytest.mark.long
@law
@given(st.dictionaries(st.sampled_from([*LABELS]), spectra(), min_size=1, max_size=3))
def test_a_table_is_said_to_be_of_full_rank_where_no_value_is_rounding(found):
    drawn = {key: (LABELS[key], one) for key, (one, _) in found.items()}
    canvas = json.loads(spectrum_canvas(drawn, SPECTRUM_TEXTS))
    text = canvas["finding"]
    check_grammar(text)
    short = re.findall(r"(\S+)'s table has rank (\d+) of (\d+) dimensions: (\d+) unused", text)
    full = re.findall(r"(\S+)'s table uses all (\d+) dimensions", text)
    assert sorted(short) == sorted(
        (LABELS[key], str(rank), str(one.d_model), str(one.d_model - rank))
        for key, (one, rank) in found.items()
        if rank < one.d_model
    )
    assert len(short) + len(full) == len(found)
    assert [row[2] for row in canvas["numbers"]["rows"]] == [
        float(value / one.values[0]) for one, _ in found.values() for value in one.values
    ]
