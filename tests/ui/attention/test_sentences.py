"""No sentence of the attention tab is false: each claim is evaluated on drawn results."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from explorer.analysis.alignment import align, word_attention
from explorer.analysis.attention import (
    KINDS,
    ChangedWord,
    HeadAblation,
    HeadImportance,
    HeadStatistics,
    RowShares,
)
from explorer.inference.runs import get_runs
from explorer.links.page_state import PageState
from explorer.ui.attention import strings, tab
from explorer.ui.attention import strings as texts
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


def test_of_twenty_texts_the_kept_heads_are_those_that_scipy_finds_near():
    """Jensen-Shannon by scipy for every pair; chance is the mean over all pairings."""
    for given_text in TEXTS:
        state = PageState(text=given_text)
        runs, _ = get_runs(state)
        html = str(tab.show(state)[0])
        text = read(html.split("</p>")[0])
        told(given_text, text)
        alignment = align({key: run.tokens for key, run in runs.items()})
        if len(alignment) > 50:
            assert re.search(r"averaged over \d+ evenly spaced of \d+ words", html)
            continue
        queries = list(alignment.content) or list(range(len(alignment)))
        heads = {}
        for key in ("bert", "distilbert"):
            words = word_attention(runs[key].attention, alignment.groups[key])
            heads[key] = words[:, :, queries].reshape(-1, len(queries), len(alignment))
        near = np.array(
            [
                (
                    jensenshannon(
                        one.astype(float)[None], heads["distilbert"].astype(float), axis=-1
                    )
                    ** 2
                ).mean(-1)
                for one in heads["bert"]
            ]
        )
        within = near <= 0.05
        same, by_chance = within.any(1).sum(), within.mean(1).sum()
        n = len(near)
        few = "none" if same == 0 else "all" if same == n else same
        assert text == (
            f"mini-DistilBERT has a match for {few} of mini-BERT's {n} heads (JS of the nearest head "
            f"at most 0.05 nats); by chance, {by_chance:.1f} would match."
        )
        rows = re.findall(r"<tr><th scope=\"row\">(\d+)\.(\d+)</th>(.*?)</tr>", html)
        assert len(rows) == n
        for i, (layer, head, cells) in enumerate(rows):
            own = runs["bert"].attention.shape[1]
            other = runs["distilbert"].attention.shape[1]
            assert (int(layer) - 1) * own + int(head) - 1 == i
            place, js, kept = re.findall(r">([^<]+)</td>", cells)
            at = (int(place.split(".")[0]) - 1) * other + int(place.split(".")[1]) - 1
            assert near[i, at] <= near[i].min() + 1e-9
            assert float(js) == pytest.approx(near[i].min(), abs=5.1e-4)
            assert (kept == "yes") == within[i].any()


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
            draw(st.integers(0, 3)),
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
        rf"in (\w+) (\w+)( at the first mask)? goes from ({PRINTED}) to ({PRINTED})", text
    )
    for one, (name, word, first, before, after) in zip(off, moves, strict=True):
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
