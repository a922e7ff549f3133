"""Limits on work: whatever a client sends, one sentence and no work."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.parameters.shapes import shape_memory
from explorer.models.specs import BASE, LARGER
from explorer.timing.workload import (
    MAX_BATCH,
    MAX_LENGTH,
    BadWorkload,
    Workload,
    check_size,
    pass_bytes,
    whole_number,
)


@pytest.mark.parametrize(
    "asked",
    [
        {"length": 513},
        {"length": 1},
        {"length": -5},
        {"length": 10**30},
        {"length": 10**400},
        {"batch": -(10**400)},
        {"length": math.nan},
        {"length": math.inf},
        {"length": "32"},
        {"length": None},
        {"length": True},
        {"length": 2.5},
        {"batch": 0},
        {"batch": 33},
        {"batch": [1]},
        {"device": "tpu"},
        {"device": None},
        {"dtype": "int4"},
        {"clock": "sundial"},
        {"clock": "device"},
        {"device": "cuda"},
    ],
    ids=range(21),
)
def test_bad_work_is_refused_in_one_sentence(asked):
    with pytest.raises(BadWorkload) as refusal:
        Workload(**asked)
    assert str(refusal.value).endswith(".")
    assert len(str(refusal.value)) < 120


def test_every_allowed_corner_is_accepted():
    for length in (2, MAX_LENGTH):
        for batch in (1, MAX_BATCH):
            assert Workload(length, batch).tokens == length * batch


@given(
    st.one_of(st.floats(), st.integers(), st.integers(1, 9), st.text(), st.none(), st.booleans())
)
def test_whole_number_is_total(value):
    try:
        number = whole_number("It", value, 1, 9)
    except BadWorkload:
        return
    assert isinstance(number, int)
    assert 1 <= number <= 9


@pytest.mark.long
@pytest.mark.parametrize("looks", [False, True])
def test_the_memory_guard_is_above_what_a_pass_holds_but_not_far(looks):
    """Against the fullest moment of a pass followed operation by operation."""
    for spec in BASE.values():
        for length, batch in ((16, 1), (512, 1), (128, 8)):
            held = shape_memory(spec, length, batch, looks).peak_bytes
            guard = pass_bytes(spec.architecture, Workload(length, batch, looks=looks))
            assert held <= guard <= 2.2 * held, (spec.name, length, batch)


def test_looking_keeps_every_attention_and_hidden_state():
    shape, work = BASE["bert"].architecture, Workload(128, 2)
    attention = np.empty((shape.n_layers, 2, shape.n_heads, 128, 128), np.float32)
    states = np.empty((shape.n_layers, 2, 128, shape.d_model), np.float32)
    kept = pass_bytes(shape, replace(work, looks=True)) - pass_bytes(shape, work)
    assert kept == attention.nbytes + states.nbytes


def test_memory_guard_counts_weights_scores_and_logits():
    shape, work = BASE["bert"].architecture, Workload(512, 8)
    with_head = Workload(512, 8, head=True)
    assert pass_bytes(shape, with_head) - pass_bytes(shape, work) >= 4 * 8 * 512 * shape.d_vocab
    check_size(shape, work, 10**12, 0)
    with pytest.raises(BadWorkload, match="GB are free"):
        check_size(shape, work, 10**8, 0)
    with pytest.raises(BadWorkload, match="GB are free"):
        check_size(shape, work, 10**10, 10**10)


def test_a_product_nobody_could_interrupt_is_refused_on_a_processor_only():
    shape = LARGER["albert-xxlarge-v2"].architecture
    with pytest.raises(BadWorkload, match="too much for one pass"):
        check_size(shape, Workload(512, 32), 10**13, 0)
    check_size(shape, Workload(512, 32, device="cuda", clock="device"), 10**13, 0)
    check_size(BASE["bert"].architecture, Workload(512, 32), 10**13, 0)
    with pytest.raises(BadWorkload, match="too much for one pass"):
        check_size(BASE["bert"].architecture, Workload(512, 32, head=True), 10**13, 0)
