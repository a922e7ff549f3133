"""No sentence of the attention tab is false: each claim is evaluated on drawn results."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.alignment import align, word_attention
from explorer.analysis.attention import (
    KINDS,
    AgainstControl,
    ChangedWord,
    HeadAblation,
    HeadImportance,
    HeadStatistics,
    KeptHeads,
    RowShares,
    head_statistics,
    word_heads,
)
from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.models.specs import BASE, MINI
from explorer.ui.attention import strings, tab
from explorer.ui.attention import strings as texts
from explorer.ui.shell.tabs import values_of
from tests.analysis.attention.near_copies import apart, n_pairs, shuffled
from tests.ui.sentences import (
    LABELS,
    PRINTED,
    TEXTS,
    WORDS,
    close_shares,
    law,
    names_in,
    number,
    read,
    some_models,
    told,
)


@st.composite
def statistics(draw):
    found = {}
    for key in draw(some_models()):
        shape = draw(st.integers(1, 2)), draw(st.integers(1, 3))
        kind = np.array(draw(st.lists(st.integers(0, len(KINDS) - 1), min_size=6, max_size=6)))
        shares = np.array(draw(st.lists(close_shares(), min_size=5, max_size=5))) / 5
        kind = kind[: shape[0] * shape[1]].reshape(shape)
        found[key] = HeadStatistics(
            np.zeros(shape), np.zeros(shape), np.tile(shares, (*shape, 1)), kind
        )
    return found


@law
@given(statistics(), st.integers(0, 3), st.integers(2, 3))
def test_the_attention_that_rests_and_the_heads_that_watch_neighbours_are_each_model_s_own(
    found, n_words, n_special
):
    text = " ".join(map(read, texts.attention_sentences(found, LABELS, n_words, n_special)))
    assert f"an even share: {100 * n_special / (n_special + n_words):.0f}%" in text
    shares = re.findall(r"(\d+)% (?:of attention )?in (\w+)", text)
    assert shares == [
        (f"{100 * one.shares[..., 3:].sum(-1).mean():.0f}", LABELS[key])
        for key, one in found.items()
    ]
    counts = re.findall(r"(\d+) of (\d+)", text)
    near = [KINDS.index(kind) for kind in ("previous", "next")]
    assert counts == [
        (str(sum(int(k in near) for k in one.kind.flat)), str(one.kind.size))
        for one in found.values()
    ] * (n_words > 1)


FINDING = re.compile(
    r"Of (\S+)'s (\d+) heads, (\w+) (?:are near-copies of|is a near-copy of a) (\S+) heads?, "
    r"one to one \(JS up to 0\.05 nats\)(; with their words shuffled, |; of \d+ \S+ heads, |"
    r": no more than |: fewer than )(?:with their words shuffled \(|of \d+ unrelated heads "
    r"\(\S+'s: )?(\d+)(?: are| is)?(?:,? \(?(\d+) to (\d+)\)?)?\)?\."
)
"""Student, its heads, how many are near-copies, teacher, the verdict, the control: mean, limits."""


def verdict_of(count, low, high):
    """How the sentence must compare a count with a control."""
    return ": fewer than " if count < low else ": no more than " if count <= high else "; "


@pytest.mark.long
def test_of_twenty_texts_the_near_copies_are_those_that_scipy_finds():
    """Divergences and matchings by scipy; the control beside heads shuffled here."""
    rng = np.random.default_rng(0)
    for given_text in TEXTS:
        state = PageState(text=given_text)
        runs, _ = get_runs(state.ask)
        html = str(values_of(tab, state)[0])
        text = read(html.split("</p>")[0])
        told(given_text, text)
        alignment = align({key: run.tokens for key, run in runs.items()})
        if len(alignment) > 40:
            assert len(alignment) < 60 or re.search(r"over \d+ evenly spaced of \d+ words", html)
            continue
        rows = list(alignment.content) or list(range(len(alignment)))
        teacher, student = (
            word_attention(runs[key].attention, alignment.groups[key]).astype(float)
            for key in ("bert", "distilbert")
        )
        near = apart(teacher, student, rows)
        same, n = n_pairs(near), near.shape[1]
        found = FINDING.fullmatch(text).groups()
        few = "none" if same == 0 else "all" if same == n else str(same)
        assert found[:4] == ("mini-DistilBERT", str(n), few, "mini-BERT")
        mean, low, high = (int(number or found[5]) for number in found[5:])
        assert found[4].startswith(verdict_of(same, low, high))
        here = [n_pairs(apart(teacher, shuffled(student, rows, rng), rows)) for _ in range(5)]
        assert low <= np.median(here) <= high
        assert mean == pytest.approx(np.mean(here), abs=2.5)
        the_table_has_every_head(html, near, runs)


def the_table_has_every_head(html, near, runs):
    """Every teacher's head with its nearest, and with a near-copy that no other head has."""
    rows = re.findall(r"<tr><th scope=\"row\">(\d+)\.(\d+)</th>(.*?)</tr>", html)
    own, other = (runs[key].attention.shape[1] for key in ("bert", "distilbert"))

    def number_of(place):
        layer, head = place.split(".")
        return (int(layer) - 1) * other + int(head) - 1

    assert len(rows) == len(near)
    partners = []
    for i, (layer, head, cells) in enumerate(rows):
        assert (int(layer) - 1) * own + int(head) - 1 == i
        place, js, partner = re.findall(r">([^<]+)</td>", cells)
        assert near[i, number_of(place)] <= near[i].min() + 1e-6
        assert float(js) == pytest.approx(near[i].min(), abs=5.1e-4)
        if partner != "none":
            assert near[i, number_of(partner)] <= 0.05 + 1e-6
            partners.append(partner)
    assert len(partners) == len({*partners}) == n_pairs(near)


@law
@given(
    st.lists(st.integers(0, 6), min_size=3, max_size=3),
    st.floats(0, 1),
    st.sampled_from([None, BASE["albert"]]),
)
def test_more_is_said_of_a_count_above_the_control_s_limits_alone(numbers, at, control):
    (low, high), count = sorted(numbers[:2]), numbers[2]
    matched = AgainstControl(count, low + at * (high - low), low, high)
    kept = KeptHeads(np.zeros((9, 6)), (3, 3), (4, 4), np.zeros(9), matched, control is None)
    text = read(strings.kept_finding(kept, BASE["bert"], BASE["distilbert"], control))
    found = FINDING.fullmatch(text).groups()
    assert found[4].startswith(verdict_of(count, low, high))
    assert int(found[5]) == round(matched.mean)
    assert found[6:] == ((None, None) if low == high else (str(low), str(high)))
    assert ("ALBERT" in text) == (control is not None)


def test_only_a_model_that_was_made_from_no_other_is_a_control():
    mini, base = (
        [table[key] for key in ("bert", "distilbert", "albert")] for table in (MINI, BASE)
    )
    assert tab.unrelated(base, *base[:2]) == BASE["albert"]
    assert tab.unrelated(mini, *mini[:2]) is None, "mini-ALBERT was fitted to mini-BERT"
    assert tab.unrelated(base[:2], *base[:2]) is None
    own = replace(BASE["albert"], is_own=True)
    assert tab.unrelated([*base[:2], own], *base[:2]) is None
    again = [spec.in_column(f"again{i}", f"again{i}") for i, spec in enumerate(base[:2])]
    assert tab.unrelated([*base[:2], *again], *base[:2]) is None, "another column of the same model"
    shape = replace(BASE["distilbert"].architecture, n_layers=12)
    as_deep = replace(BASE["distilbert"], architecture=shape)
    assert tab.unrelated([base[0], as_deep, base[2]], base[0], as_deep) is None


@pytest.mark.parametrize("absent", ["bert", "distilbert", "albert"])
def test_without_teacher_or_student_nothing_is_compared_and_without_albert_heads_are(absent):
    runs, _ = get_runs(PageState(text="The cat sat on the mat.").ask)
    runs = {key: run for key, run in runs.items() if key != absent}
    heads = word_heads(runs)
    found = {key: head_statistics(one, heads.alignment) for key, one in heads.attention.items()}
    html = str(tab.headline(heads, found, [run.spec for run in runs.values()], PageState()))
    assert ("near-cop" in html) == (absent == "albert")
    assert ("with their words shuffled, " in read(html)) == (absent == "albert")
    assert f"an even share: {2 / 9:.0%}." in read(html)  # [CLS] and [SEP] of six words and a point


@st.composite
def drawn(draw):
    found = {}
    for key in draw(some_models()):
        best = draw(st.sampled_from(["", "paris", "lyon"]))
        n_others = draw(st.integers(1 if best else 0, 3))
        apart = draw(st.sampled_from([("itself",), ("[CLS]", "[SEP]", "itself")]))
        one = RowShares("oslo", best, draw(close_shares()), apart, draw(close_shares()), n_others)
        found[key] = draw(st.sampled_from([one, one, None]))
    return found


@law
@given(drawn(), st.sampled_from([*strings.SUMMARIES]))
def test_a_word_is_named_where_it_stands_out_and_that_none_does_only_of_several(found, kind):
    text = read(strings.summary_finding(found, LABELS, kind))
    shown = {key: one for key, one in found.items() if one}
    if not shown:
        assert "attends to no other word in any model" in text
        return
    assert names_in(text) == [*shown]
    for part, one in zip(text.split(": ", 1)[1].split("; "), shown.values(), strict=True):
        assert f"{one.rest_share:.0%} comes from" in part
        assert (f"most from {one.best} ({one.best_share:.0%})" in part) == bool(one.best)
        assert ("no other word stands out" in part) == (not one.best and one.n_others > 1)


PLACES = st.tuples(st.integers(0, 11), st.integers(0, 11))


@st.composite
def ablations(draw):
    def changed():
        words = [
            ChangedWord(i, draw(WORDS), draw(close_shares()), draw(close_shares())) for i in (1, 2)
        ]
        return tuple(words)

    return [
        HeadAblation(
            key,
            LABELS[key],
            tuple(draw(st.lists(PLACES, max_size=3, unique=True))),
            np.zeros(1),
            tuple(changed() for _ in range(draw(st.integers(1, 2)))),
        )
        for key in draw(some_models())
    ]


@law
@given(ablations())
def test_heads_that_are_off_are_counted_and_each_model_s_own_first_answer_is_followed(found):
    text = read(strings.change_finding(found))
    off = [one for one in found if one.n_off]
    if not off:
        assert text == strings.ALL_ON + strings.SWITCH_SOME
        return
    n = sum(one.n_off for one in off)
    assert text.startswith(f"With {n} head{'s' * (n > 1)} off, ")
    moves = re.findall(
        rf"in (\w+)( \(layer [^)]+\))? (\w+)( at the first mask)? goes from ({PRINTED}) to "
        rf"({PRINTED})",
        text,
    )
    for one, (name, which, word, first, before, after) in zip(off, moves, strict=True):
        named = re.findall(r"layer (\d+), head (\d+)", which)
        places = [(int(layer) - 1, int(head) - 1) for layer, head in named]
        assert places == ([*one.off] if len(one.off) <= 2 else [])
        most = max(one.words[0], key=lambda changed: changed.before)
        assert (name, word) == (one.label, most.word)
        for printed, p in ((before, most.before), (after, most.after)):
            assert number(printed) == pytest.approx(p, abs=5e-4, rel=0.05)
            assert number(printed) > 0 or p < 1e-300
        if abs(most.before - most.after) > 1e-6:
            assert before != after
        assert bool(first) == (len(one.words) > 1)


@law
@given(
    st.dictionaries(
        st.sampled_from([*LABELS]),
        st.lists(st.sampled_from([0.0, 0.0004, 0.0006, 0.12, 0.1204, 2.0]), min_size=4, max_size=4),
        max_size=3,
    ),
    st.sampled_from(["", "Measuring BERT, layer 1 of 2."]),
)
def test_no_head_prints_more_than_the_most_important_and_none_is_where_all_print_nothing(
    kl, waiting
):
    swept = [HeadImportance(k, LABELS[k], np.array(v).reshape(2, 2)) for k, v in kl.items()]
    text = read(strings.sweep_finding(swept, waiting))
    if not swept:
        assert text == waiting
        return
    for one in swept:
        shown = re.search(
            rf"(?<!\w){one.label} (?:layer (\d), head (\d) \((\d\.\d{{3}}) nats\)|none)", text
        )
        assert bool(shown[1]) == (f"{one.kl.max():.3f}" != "0.000")
        if shown[1]:
            layer, head = int(shown[1]) - 1, int(shown[2]) - 1
            assert shown[3] == f"{one.kl[layer, head]:.3f}" == f"{one.kl.max():.3f}"
