"""Which waiting texts share a pass: few, about as long, the first of the line among them."""

from hypothesis import given
from hypothesis import strategies as st

from explorer.inference.batcher import LONGEST, MOST, PendingText, length_bucket


@given(st.lists(st.integers(1, 2 * LONGEST), min_size=1, max_size=30))
def test_a_pass_is_no_larger_and_wastes_no_more_than_is_said(lengths):
    line = [PendingText("x" * length, None) for length in lengths]
    taken = length_bucket(line)
    found = [len(one.text) for one in taken]
    assert taken[0] is line[0]
    assert len(taken) <= MOST
    assert max(found) <= 1.25 * min(found) + 8
    assert len(taken) == 1 or len(taken) * max(found) <= LONGEST
