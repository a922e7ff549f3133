"""No sentence of the tasks tab is false: each claim is evaluated on drawn results."""

import re
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.digits import probability
from explorer.analysis.tasks.pairs import PairAccuracy, PairOrders, PairQuadrants
from explorer.analysis.tasks.tuned import Span, WordSentiment
from explorer.library.strings import head_said
from explorer.models.specs import MINI
from explorer.ui.tasks import strings
from explorer.ui.tasks import strings as texts
from tests.ui.sentences import PRINTED, close_shares, law, names_in, places_named, read

KEYS = ("bert", "distilbert", "albert")
NAMES = {key: MINI[key].label for key in KEYS}
LOGITS = st.sampled_from([0.0, 0.001, -0.001, 0.5, 0.504, -0.5, 2.32, -2.32, 0.7])


@st.composite
def sentiments(draw):
    words = draw(st.lists(st.sampled_from(["bad", "good", "not", "film"]), min_size=1, max_size=4))
    weights = np.array([draw(LOGITS) for _ in words])
    left_out = np.array([draw(LOGITS) for _ in words])
    base = draw(LOGITS)
    score = base + weights.sum() + draw(st.sampled_from([0.0, 0.0, 0.03]))
    return WordSentiment(tuple(words), float(score), weights, left_out, base)


@law
@given(st.dictionaries(st.sampled_from(KEYS), sentiments(), min_size=1))
def test_a_verdict_names_the_baseline_or_the_words_whichever_decide(found):
    """Their two sums are the score; a word is a cause only if the verdict is weaker without it."""
    text = read(strings.sentiment_finding(found, MINI))
    parts = re.split(r";? (?=mini-)", text)
    told = {names_in(part, NAMES)[0]: part for part in parts if names_in(part, NAMES)}
    for key, one in found.items():
        p, said = 1 / (1 + np.exp(-one.difference)), told[key]
        if f"{max(p, 1 - p):.3f}" == "0.500":
            assert "undecided" in said
            assert "because" not in said
            continue
        side = 1 if one.difference >= 0 else -1
        assert f"says {'positive' if side > 0 else 'negative'} ({max(p, 1 - p):.3f})" in said
        shown = [round(side * float(v), 2) for v in one.integrated_gradients]
        base, most = round(side * one.baseline, 2), max(shown)
        added = round(side * float(one.integrated_gradients.sum()), 2)
        heaviest = [i for i, v in enumerate(shown) if v == most]
        by_base = re.search(
            r"because of its all-\[MASK\] baseline \((.+)\); its words add (.+)", said
        )
        together = re.search(r"because of its words together \((.+); baseline (.+)\)", said)
        by_word = re.search(r"(because of|share from) (?!its)(.+) \(([+−][\d.]+)( each)?\)", said)
        explained = base + added > 0
        assert bool(by_base) == (explained and base > added)
        assert bool(together) == (explained and added > base >= most)
        assert bool(by_word) == (explained and added > base and most > base)
        if by_base:
            assert values_of(by_base[0]) == [side * base, side * added]
        if together:
            assert values_of(together[0]) == [side * added, side * base]
        if by_word:
            is_cause = all(side * one.leave_one_out[i] > 0 for i in heaviest)
            assert (by_word[1] == "because of") == is_cause
            assert places_named(by_word[2], one.words) == heaviest
            assert values_of(by_word[3]) == [side * most]
            assert bool(by_word[4]) == (len(heaviest) > 1)


def values_of(text):
    """Return the signed numbers of a sentence."""
    return [float(n.replace("−", "-")) for n in re.findall(r"[+−]\d+\.\d\d", text)]


def test_words_that_cancel_are_not_the_reason():
    """ "The film is not bad.", one of the bundled students: +6.08 and -4.34 add up to -0.21."""
    words = ("The", "film", "is", "not", "bad", ".")
    weights = np.array([-1.61, 0.01, -2.14, 6.08, -4.34, 1.79])
    found = WordSentiment(words, 1.16, weights, weights, 1.37)
    said = read(strings.sentiment_finding({"distilbert": found}, MINI))
    assert said.endswith("because of its all-[MASK] baseline (+1.37); its words add −0.21.")


@law
@given(st.lists(st.lists(close_shares(), min_size=3, max_size=3), max_size=2))
def test_a_pair_head_is_quoted_by_its_probability_of_yes_as_its_bars_are(rows):
    specs = (MINI["bert"], MINI["albert"])
    answers = [(spec, PairOrders(np.array(row))) for spec, row in zip(specs, rows, strict=False)]
    text = read(texts.pairs_finding(answers))
    if not answers:
        assert text == texts.NO_PAIR_HEADS
        return
    text, _, end = text.partition(". ")
    assert end == "In brackets: the probability of yes."
    for part, (spec, orders) in zip(text.split("; mini-"), answers, strict=True):
        if all(abs(p - 0.5) < 0.02 for p in orders.in_order):
            printed = ", ".join(map(probability, orders.in_order))
            assert f"undecided about all three ({printed})" in part
            continue
        printed = [probability(p) for p in orders.in_order]
        kinds = [
            "undecided" if shown == "0.500" else "yes" if p >= 0.5 else "no"
            for shown, p in zip(printed, orders.in_order, strict=True)
        ]
        asked = "follows the first" if spec.key == "bert" else "are in order"
        said = [f"{kind} ({p})" for kind, p in zip(kinds, printed, strict=True)]
        assert part.endswith(
            f"{asked}: as written {said[0]}, swapped {said[1]}, with an unrelated sentence {said[2]}"
        )


@law
@given(close_shares(), st.integers(1, 2000))
def test_a_head_is_called_no_better_than_chance_where_its_interval_reaches_one_half(share, count):
    share = round(share * count) / count
    text = read(head_said(MINI["bert"], True, PairAccuracy(share, count)))
    low = PairAccuracy(share, count).interval[0]
    assert ("no better than chance" in text) == (low <= 0.5)
    shown = "> 99.9%" if 0.9995 <= share < 1 else f"{100 * share:.1f}%"
    assert f"{shown} of {count:,} held-out pairs" in text


@law
@given(st.dictionaries(st.sampled_from(KEYS), close_shares(), min_size=1))
def test_what_crosses_between_two_sentences_is_each_model_s_mean_over_heads(shares):
    mass = {k: np.tile([[1 - p, p, 0], [p, 1 - p, 0]], (2, 2, 1, 1)) for k, p in shares.items()}
    found = [PairQuadrants(key, NAMES[key], mass[key]) for key in shares]
    text = read(strings.quadrants_finding(found))
    told = re.findall(r"(\d+)% in (mini-\w+)", text)
    assert told == [(f"{100 * p:.0f}", NAMES[key]) for key, p in shares.items()]


@law
@given(
    st.dictionaries(st.sampled_from(KEYS), st.tuples(st.integers(0, 3), close_shares()), min_size=1)
)
def test_each_model_s_answer_is_its_best_span(found):
    passage = "anna berg drew maps"
    places = [(0, 4), (5, 9), (10, 14), (15, 19)]
    spans = {
        key: SimpleNamespace(best=(Span(*places[at], p), Span(0, 19, p / 2)))
        for key, (at, p) in found.items()
    }
    text = read(strings.question_finding(spans, MINI, passage))
    told = re.findall(rf"(mini-\w+) answers (\w+) \(({PRINTED})\)", text)
    for whose, answer in re.findall(
        r"((?:mini-\w+ \([^)]*\)(?:, | and )?){2,}) answer (\w+)", text
    ):
        told += [(name, answer, p) for name, p in re.findall(rf"(mini-\w+) \(({PRINTED})\)", whose)]
    assert sorted(told) == sorted(
        (NAMES[key], passage[slice(*places[at])], probability(p)) for key, (at, p) in found.items()
    )
    answers = re.findall(r"answers? (\w+)", text)
    assert len(answers) == len(set(answers)), "models that answer alike share a sentence"
