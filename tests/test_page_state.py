"""A link is the state: whatever is written reads back, whatever is sent gives a state."""

import math
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from explorer.models.specs import FAMILIES, MODEL_KEYS
from explorer.models.tokens import plain_text
from explorer.page_state import (
    LINK_TEXT_LIMIT,
    MAX_HEAD,
    MAX_LAYER,
    TABS,
    TEMPERATURES,
    PageState,
    from_params,
)

HOSTILE = [
    "",
    " ",
    "\x00",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "1e999",
    "-1",
    "64",
    "1e3",
    "None",
    "<script>alert(1)</script>",
    "${1+1}",
    "{{y}}",
    "../../etc/passwd",
    "\ud800",
    "9" * 5000,
    "BERT",
    "bert,albert",
    "claims ",
    "0x10",
    "٣",
    "1_0",
    "' OR 1=1 --",
    "%00",
    "\u202eevil",
    "a" * 100_000,
]

states = st.builds(
    PageState,
    text=st.text(min_size=1, max_size=LINK_TEXT_LIMIT).map(plain_text).filter(bool),
    family=st.sampled_from(FAMILIES),
    tab=st.sampled_from(TABS),
    model=st.sampled_from(MODEL_KEYS),
    layer=st.integers(0, MAX_LAYER),
    head=st.integers(0, MAX_HEAD),
    temperature=st.floats(*TEMPERATURES),
)
anything = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=80))
keys = st.one_of(st.sampled_from([*PageState.__slots__, "v"]), st.text(max_size=12))


def allowed(state):
    return (
        state.family in FAMILIES
        and state.tab in TABS
        and state.model in MODEL_KEYS
        and 0 <= state.layer <= MAX_LAYER
        and 0 <= state.head <= MAX_HEAD
        and math.isfinite(state.temperature)
        and TEMPERATURES[0] <= state.temperature <= TEMPERATURES[1]
        and 0 < len(state.text) <= LINK_TEXT_LIMIT
        and state.text == plain_text(state.text)
    )


@given(states)
@settings(max_examples=150, deadline=None)
@example(PageState(text="a\u00a0b\u3000c 👩\u200d🔬 & % = ? # + é"))
@example(PageState(temperature=math.nextafter(2.0, 3.0)))
def test_a_link_reads_back_as_the_state_it_was_written_from(state):
    query = urlencode(state.to_params())
    assert from_params(dict(parse_qsl(query))) == (state, ())


@given(st.dictionaries(keys, anything, max_size=12))
@settings(max_examples=150, deadline=None)
def test_whatever_a_link_holds_gives_a_state_that_is_allowed(params):
    state, repaired = from_params(params)
    assert allowed(state)
    assert set(repaired) <= set(params)
    assert (state.device, state.dtype) == ("cpu", "float32")


@given(st.dictionaries(keys, anything, max_size=12))
@settings(max_examples=80, deadline=None)
def test_a_repaired_link_needs_no_second_repair(params):
    state, _ = from_params(params)
    assert from_params(state.to_params()) == (state, ())


@pytest.mark.parametrize("name", ["family", "tab", "model", "layer", "head", "temperature"])
@pytest.mark.parametrize("value", HOSTILE[:11])
def test_a_bad_value_becomes_the_default_and_is_named(name, value):
    default = PageState(model="albert", layer=2, head=3, temperature=5.0, tab="attention")
    state, repaired = from_params({name: value}, default)
    assert repaired == (name,)
    assert state == default


@pytest.mark.parametrize(("name", "value"), [("layer", 63), ("head", 11), ("layer", 0)])
def test_numbers_in_range_are_kept(name, value):
    state, repaired = from_params({name: str(value)})
    assert (getattr(state, name), repaired) == (value, ())


def test_defaults_are_left_out_and_machine_settings_never_go_in():
    assert PageState().to_params() == {"v": "1", "family": "mini"}
    machine = replace(PageState(), device="cuda", dtype="float16")
    assert machine.to_params() == PageState().to_params()
    assert from_params({"device": "cuda", "dtype": "float16"}) == (PageState(), ())


def test_a_long_text_is_cut_and_a_megabyte_of_it_costs_nothing():
    state, repaired = from_params({"text": "word " * 250_000})
    assert repaired == ()
    assert state.text == ("word " * 120).strip()
    long = PageState(text="x" * 5000)
    assert len(long.to_params()["text"]) == LINK_TEXT_LIMIT
