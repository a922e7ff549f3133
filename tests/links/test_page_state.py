"""A link is the state: whatever is written reads back, whatever is sent gives a state."""

import base64
import math
import random
import string
import tracemalloc
import zlib
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from explorer.analysis.measures import TEMPERATURES
from explorer.links.codec import (
    LINK_LONGEST,
    LINK_TEXT_LIMIT,
    LONGEST_UNPACKED,
    PACKED,
    from_page,
    from_params,
    pack,
    to_link,
    to_params,
    unpack,
)
from explorer.links.page_state import PageState
from explorer.links.tabs import FOLDS, LENSES, ORDERS, PARTS, TABS, VIEWS
from explorer.models.choice import family
from explorer.models.choice.family import PRESETS, family_specs, read_family
from explorer.models.specs import MODEL_KEYS
from explorer.models.tokens import clean_text, plain_text, split_words

OTHER_TEXTS = ("other", "first", "second", "sentiment", "question", "passage")
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


FAMILIES = [*PRESETS, "bert=large,distilbert=mini,albert=xxlarge"]


def shape_of(family, model):
    return next(s.architecture for s in family_specs(family) if s.key == model)


@st.composite
def page_states(draw):
    """Any state that a page can be in: its layer, head, word and fold exist."""
    texts = st.text(min_size=1, max_size=600).map(plain_text).filter(bool)
    text, tab = draw(texts), draw(st.sampled_from(TABS))
    family, model = draw(st.sampled_from(FAMILIES)), draw(st.sampled_from(MODEL_KEYS))
    shape, words = shape_of(family, model), split_words(clean_text(text))
    content = [i for i, w in enumerate(words) if w.is_mask or w.text[0].isalnum()]
    return PageState(
        text=text,
        family=family,
        tab=tab,
        model=model,
        layer=draw(st.integers(0, shape.n_layers - 1)),
        head=draw(st.integers(0, shape.n_heads - 1)),
        order=draw(st.sampled_from(ORDERS)),
        view=draw(st.sampled_from(VIEWS)),
        temperature=draw(st.floats(*TEMPERATURES)),
        word=draw(st.sampled_from([-1, *content])),
        mask=draw(st.integers(0, max(0, clean_text(text).count("[MASK]") - 1))),
        times=draw(st.integers(0, 2 * shape_of(family, "albert").n_layers)),
        at=draw(st.integers(-1, len(words) - 1)),
        lit=draw(st.integers(-1, len(words) + 1)),
        lens=draw(st.sampled_from(LENSES)),
        fold=",".join(draw(st.permutations(FOLDS[tab]))[: draw(st.integers(0, 3))]),
        form=",".join(draw(st.lists(FORMS, max_size=4))),
        look=",".join(draw(st.lists(LOOKS, max_size=4))),
        list=draw(st.text('ab,[]\n\t"é', max_size=300)),
        **{name: draw(st.one_of(st.just(""), texts)) for name in OTHER_TEXTS},
    )


FORMS = st.from_regex(r"[a-z]{1,9}\.[a-z]{1,9}:[A-Za-z0-9.+-]{1,20}", fullmatch=True)
LOOKS = st.from_regex(r"[a-z]{1,9}:[A-Za-z0-9.]{1,20}", fullmatch=True)
states = page_states()
anything = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=80))
keys = st.one_of(st.sampled_from([*PageState.__slots__, *MODEL_KEYS, "v"]), st.text(max_size=12))


def allowed(state):
    return (
        read_family(state.family) == state.family
        and state.tab in TABS
        and state.model in MODEL_KEYS
        and 0 <= state.layer < shape_of(state.family, state.model).n_layers
        and 0 <= state.head < shape_of(state.family, state.model).n_heads
        and state.order in ORDERS
        and state.view in VIEWS
        and {*filter(None, state.fold.split(","))} <= {*FOLDS[state.tab], *PARTS.get(state.tab, ())}
        and not set(state.form + state.look) & set("<>\"'& \n")
        and (state.word == -1 or state.word < len(split_words(clean_text(state.text))))
        and math.isfinite(state.temperature)
        and TEMPERATURES[0] <= state.temperature <= TEMPERATURES[1]
        and 0 < len(state.text) <= LINK_TEXT_LIMIT
        and state.text == plain_text(state.text)
    )


@pytest.mark.long
@given(states)
@settings(max_examples=60, deadline=None)
@example(PageState(text="a\u00a0b\u3000c 👩\u200d🔬 & % = ? # + é"))
@example(PageState(temperature=math.nextafter(2.0, 3.0)))
def test_a_link_reads_back_as_the_state_it_was_written_from(state):
    for params in (to_params(state), to_link(state)):
        if params is not None:
            assert from_params(dict(parse_qsl(urlencode(params)))) == (state, ())


@given(st.dictionaries(keys, anything, max_size=12))
@settings(max_examples=60, deadline=None)
def test_whatever_a_link_holds_gives_a_state_that_is_allowed(params):
    state, repaired = from_params(params)
    assert allowed(state)
    assert set(repaired) <= set(params)
    assert (state.device, state.dtype) == ("cpu", "float32")


@given(st.dictionaries(keys, anything, max_size=12))
@settings(max_examples=60, deadline=None)
def test_a_repaired_link_needs_no_second_repair(params):
    state, _ = from_params(params)
    assert from_params(to_params(state)) == (state, ())


@pytest.mark.parametrize(
    "name",
    [
        "family",
        "tab",
        "model",
        "layer",
        "head",
        "order",
        "lit",
        "view",
        "temperature",
        "word",
        "fold",
        "form",
        "look",
    ],
)
@pytest.mark.parametrize("value", HOSTILE[:11])
def test_a_bad_value_becomes_the_default_and_is_named(name, value):
    if name in ("fold", "form", "look") and not value:
        return  # none: a link may say so
    default = PageState(model="albert", layer=2, head=3, temperature=5.0, tab="attention")
    state, repaired = from_params({name: value}, default)
    assert repaired == (name,)
    assert state == default


@pytest.mark.parametrize(("name", "value"), [("layer", 5), ("head", 11), ("layer", 0)])
def test_numbers_in_range_are_kept(name, value):
    state, repaired = from_params({name: str(value)})
    assert (getattr(state, name), repaired) == (value, ())


@pytest.mark.parametrize(
    ("params", "wrong"),
    [
        ({"layer": "40", "head": "50"}, ("layer", "head")),
        ({"layer": "6"}, ("layer",)),
        ({"layer": "3", "model": "distilbert"}, ("layer",)),
        ({"layer": "11", "family": "base"}, ()),
        ({"word": "1", "text": "Oh, no"}, ("word",)),
        ({"word": "2", "text": "Oh, no"}, ()),
        ({"mask": "1", "text": "[MASK]"}, ("mask",)),
        ({"mask": "1", "text": "[MASK] and [MASK]"}, ()),
        ({"times": "13"}, ("times",)),
        ({"times": "24", "family": "base"}, ()),
        ({"lens": "eye"}, ("lens",)),
        ({"at": "2", "text": "Oh no"}, ("at",)),
        ({"lit": "4", "text": "Oh no"}, ()),
        ({"lit": "5", "text": "Oh no"}, ("lit",)),
        ({"fold": "moves"}, ("fold",)),
        ({"fold": "moves", "tab": "depth"}, ()),
        ({"fold": "moves,similarity", "tab": "depth"}, ()),
        ({"fold": "moves,moves", "tab": "depth"}, ("fold",)),
        ({"fold": "moves,words", "tab": "depth"}, ("fold",)),
        ({"fold": "pairs,sentiment", "tab": "tasks"}, ()),
        ({"look": "shown:5,unit:pieces"}, ()),
        ({"look": "shown:5,unit"}, ("look",)),
        ({"form": "memory.batch:4,live.start:random"}, ()),
        ({"form": "memory:4"}, ("form",)),
        ({"search": "60 % faster?", "tab": "claims"}, ()),
        ({"search": "x" * 81}, ("search",)),
        ({"look": ",".join(["shown:5"] * 200)}, ("look",)),
        ({"timed": "base-512-1-encoder-wait-float32-20", "tab": "latency"}, ()),
        ({"timed": "base-2-1-encoder-wait-float32-20", "tab": "latency"}, ()),
        ({"timed": "base-513-1-encoder-wait-float32-20"}, ("timed",)),
        ({"timed": "base-1-1-encoder-wait-float32-20"}, ("timed",)),
    ],
)
def test_what_the_state_does_not_have_is_repaired_and_named(params, wrong):
    state, repaired = from_params(params)
    assert repaired == wrong
    assert all(getattr(state, name) == getattr(PageState(), name) for name in wrong)


OLD_FOLDS = "attention/twins distillation/curves parameters/savings latency/detail latency/looking"
"""What they held stands in the tab itself now, or nowhere."""
MERGED = {
    "predictions/contrast": "predictions/ask",
    "attention/pairs": "tasks/pairs",
    "attention/bertviz": "attention/advanced",
    "attention/shared": "depth/moves",
    "distillation/masking": "distillation/losses",
    "distillation/layers": "depth/similarity",
    "parameters/calls": "parameters/sharing",
    "parameters/build": "parameters/sizes",
    "latency/claim": "latency/sweep",
    "latency/limits": "latency/advanced",
    "latency/recorded": "latency/advanced",
    "latency/memory": "parameters/memory",
    "claims/retention": "claims/scores",
}


@pytest.mark.parametrize(("old", "now"), MERGED.items())
def test_a_link_to_a_fold_that_was_merged_opens_the_one_it_went_into(old, now):
    (tab, fold), (other, name) = old.split("/"), now.split("/")
    assert fold not in FOLDS[tab]
    assert name in FOLDS[other]
    state, repaired = from_params({"tab": tab, "fold": fold, "layer": "1"})
    assert (state, repaired) == (PageState(tab=other, fold=name, layer=1), ())


@pytest.mark.parametrize("gone", OLD_FOLDS.split())
def test_a_link_to_a_fold_that_is_gone_opens_its_tab_and_is_repaired_once(gone):
    tab, fold = gone.split("/")
    state, repaired = from_params({"tab": tab, "fold": fold, "layer": "1"})
    assert (state, repaired) == (PageState(tab=tab, layer=1), ("fold",))
    assert from_params(to_params(state)) == (state, ())


def test_there_are_few_enough_folds_to_find_one():
    assert max(map(len, FOLDS.values())) <= 5
    assert sum(map(len, FOLDS.values())) <= 29


def test_the_page_itself_may_send_a_long_text_and_its_machine():
    asked = {"text": " word" * 2000, "device": "cuda", "dtype": "float16", "tab": "claims"}
    state, repaired = from_page(asked, PageState(head=3))
    assert repaired == ()
    assert (state.text, state.device, state.dtype) == (("word " * 2000).strip(), "cuda", "float16")
    assert (state.tab, state.head) == ("claims", 3)
    assert from_page({"text": ""}, PageState())[0].text == ""
    assert from_page({"device": "no device"}, PageState())[1] == ("device",)


def test_defaults_are_left_out_and_machine_settings_never_go_in():
    assert to_params(PageState()) == {"v": "1", "family": "mini"}
    machine = replace(PageState(), device="cuda", dtype="float16")
    assert to_params(machine) == to_params(PageState())
    assert from_params({"device": "cuda", "dtype": "float16"}) == (PageState(), ())


LONG = "The ship sailed across the ocean, and the crew slept. " * 40 + "It came to [MASK]."


def random_text(n):
    rng = random.Random(0)
    return "".join(rng.choices(string.ascii_letters, k=n))


def test_a_text_that_no_link_can_hold_is_never_cut_and_a_megabyte_of_it_costs_nothing():
    state, repaired = from_params({"text": "word " * 250_000})
    assert (state, repaired) == (PageState(), ("text",))
    whole = "x" * LINK_TEXT_LIMIT
    assert from_params({"text": whole}) == (PageState(text=whole), ())
    assert to_link(PageState(text=whole + "x")) is None
    assert to_link(PageState(text=random_text(3000))) is None


def test_a_list_loses_what_no_link_can_hold_and_keeps_its_lines():
    told = "text\tlabel\r\nIt is\x0b good.\x0c\tpos \ud83d\nIt is bad.\tneg\r"
    state, repaired = from_params({"tab": "texts", "list": told})
    assert (state.list, repaired) == ("text\tlabel\nIt is good.\tpos \nIt is bad.\tneg\n", ())
    assert from_params(to_link(state)) == (state, ())


def test_long_texts_are_packed_into_one_field_and_read_back_whole():
    state = PageState(
        text=LONG, passage=LONG[:1500].strip(), question="When & where? [MASK] é", layer=2
    )
    params = to_link(state)
    assert set(params) == {"v", "family", "layer", PACKED}
    assert len(urlencode(params)) <= LINK_LONGEST
    assert from_params(params) == (state, ())
    assert from_params({**params, "text": "Short."})[0].text == "Short."
    assert set(to_link(PageState(text="Short."))) == {"v", "family", "text"}


def packed(plain):
    deflate = zlib.compressobj(9, wbits=-15)
    raw = deflate.compress(plain) + deflate.flush()
    return base64.urlsafe_b64encode(raw).decode()


@pytest.mark.parametrize(
    "value",
    [
        *HOSTILE[:11],
        "none",
        "A" * 100_000,
        pack({"text": LONG})[:-9],
        "é" + pack({"text": "a"}),
        packed(b'["text"]'),
        packed(b'{"text": 3}'),
        packed(b'{"text": "\xff"}'),
        packed(b"[" * 100_000),
        packed(b"9" * 50_000),
        packed(b'{"text": "' + b"a" * 250_000 + b'"}'),
    ],
)
def test_a_packed_field_that_cannot_be_read_is_named_and_nothing_else_is_lost(value):
    state, repaired = from_params({PACKED: value, "tab": "depth"})
    assert (state, repaired) == (PageState(tab="depth"), (PACKED,))


def test_a_packed_field_holds_texts_alone():
    state, repaired = from_params({PACKED: pack({"tab": "depth", "text": "A cat.", "x": "y"})})
    assert (state, repaired) == (PageState(text="A cat."), ())
    _, repaired = from_params({PACKED: pack({"hidden": "[a]"})})
    assert repaired == ("hidden",)


def test_a_bomb_is_not_unpacked():
    """Four thousand characters that would be three megabytes."""
    bombs = [packed(b'{"text": "' + b"a" * n + b'"}')[:4_000] for n in (2_900_000, 3_100_000)]
    assert min(map(len, bombs)) > 3_500
    tracemalloc.start()
    assert [unpack(bomb) for bomb in bombs] == [None, None]
    assert tracemalloc.get_traced_memory()[1] < 3 * LONGEST_UNPACKED
    tracemalloc.stop()


def test_a_link_has_a_size_for_each_column_and_a_preset_stays_one_field():
    state, repaired = from_params({"v": "1", "bert": "large", "albert": "xlarge"})
    assert (state.family, repaired) == ("bert=large,distilbert=mini,albert=xlarge", ())
    link = to_link(state)
    assert {key: link[key] for key in MODEL_KEYS} == {
        "bert": "large",
        "distilbert": "mini",
        "albert": "xlarge",
    }
    assert "family" not in link
    assert from_params(link) == (state, ())
    whole = {"bert": "base", "distilbert": "base", "albert": "base"}
    assert to_link(from_params(whole)[0])["family"] == "base"
    assert from_params({"family": "base", "bert": "large"})[0].family == (
        "bert=large,distilbert=base,albert=base"
    )
    assert to_link(from_params({"family": "base"})[0]) == {"v": "1", "family": "base"}


def test_a_family_of_a_million_sizes_costs_nothing(monkeypatch):
    """No column of it is looked up."""
    asked = []
    monkeypatch.setattr(family, "column", asked.append)
    assert read_family("bert=large," * 1_000_000) is None
    assert asked == []


def test_a_size_that_there_is_not_is_said_by_its_column():
    state, repaired = from_params({"bert": "huge", "tab": "depth"})
    assert (state.family, state.tab, repaired) == ("mini", "depth", ("bert",))


@pytest.mark.parametrize(
    ("params", "family", "repaired"),
    [
        ({"bert": "huge", "albert": "xlarge"}, "albert=xlarge", ("bert",)),
        ({"family": "bert=huge,albert=xlarge"}, "albert=xlarge", ("bert",)),
        ({"family": "base,bert=huge,albert=xlarge"}, "base,albert=xlarge", ("bert",)),
        ({"family": "base", "bert": "huge"}, "base", ("bert",)),
        ({"family": "nobody", "albert": "xlarge"}, "albert=xlarge", ("family",)),
        ({"family": "base,gpt=huge,=,bert=large"}, "base,bert=large", ("family",)),
        ({"family": "bert=huge", "distilbert": "large"}, "mini", ("bert", "distilbert")),
    ],
)
def test_one_column_that_cannot_be_read_leaves_the_others(params, family, repaired):
    state, wrong = from_params(params)
    assert (state.family, wrong) == (read_family(family), repaired)


def test_a_fold_that_has_moved_is_opened_where_it_stands_now():
    """Also among others: on another tab only what was opened last and its neighbours can stay."""
    for fold, tab, now in (
        ("choose", "latency", "choose"),
        ("tuned,choose", "latency", "choose"),
        ("choose,tuned", "tasks", "tuned"),
        ("objectives,tuned", "tasks", "pairs,tuned"),
        ("pairs,objectives", "tasks", "pairs"),
    ):
        state, wrong = from_params({"tab": "tasks", "fold": fold})
        assert (state.tab, state.fold, wrong) == (tab, now, ()), fold
