"""No sentence of the distillation tab is false: each claim is evaluated on drawn results."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr, softmax

from explorer.analysis.distillation.live import LiveAgreement
from explorer.analysis.distillation.soft import AgreementAtLarge
from explorer.analysis.measures import share_interval
from explorer.links.page_state import PageState
from explorer.models.tokens import BadText, spelling_of
from explorer.ui.distillation import strings, tab
from explorer.ui.distillation import strings as texts
from explorer.ui.distillation.runs import focus_of, hidden_word, pair_in
from explorer.ui.shell.tabs import values_of
from tests.ui.sentences import TEXTS, WORDS, close_shares, law, read, told

PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def judge(text, t, p, q, kl, words, shared, names=("BERT", "DistilBERT")):
    """How far apart they are, how many words they share, and what each says with what probability."""
    first, second = map(re.escape, words)
    same = rf"both say “?{first}”? \((\S+) and (\S+)\)"
    two = rf"{names[0]} says “?{first}”? \((\S+)\), {names[1]} “?{second}”? \((\S+)\)"
    said = re.fullmatch(
        rf"At temperature T = {t:g}, student {names[1]} is (\S+) nats \(KL\) from teacher {names[0]}; at "
        rf"every T they share (none|all|[1-4]) of their top 5 words; {same if first == second else two}\.",
        text,
    )
    assert said, text
    assert said[2] == ("none", "1", "2", "3", "4", "all")[shared]
    for printed, exact in zip((said[1], said[3], said[4]), (round(kl, 9), p, q), strict=True):
        value = float(printed.translate(PLAIN).replace("×10", "e"))
        assert value == pytest.approx(exact, rel=0.06, abs=6e-4 if exact >= 0.001 else 0)
        assert (value == 0) == (exact == 0), "only nothing is printed as 0"
    if abs(p - q) > 1.1e-6:
        assert said[3] != said[4], "what differs is not printed alike"


@law
@given(
    close_shares(),
    close_shares(),
    st.floats(0, 5),
    st.sampled_from([0.05, 1.0, 2.0, 20.0]),
    WORDS,
    WORDS,
    st.integers(0, 5),
)
def test_teacher_and_student_are_quoted_with_their_own_words(p, q, kl, t, first, second, shared):
    pair = SimpleNamespace(
        temperature=t, teacher=np.array([p, 0]), student=np.array([0, q]), kl_teacher_student=kl
    )
    names = ("BERT", "DistilBERT")
    text = read(texts.distillation_finding(pair, names, (first, second), shared))
    judge(text, t, p, q, kl, (first, second), shared)


@pytest.mark.long
@pytest.mark.parametrize("temperature", [1.0, 2.0, 20.0])
def test_of_twenty_texts_the_headline_is_what_scipy_finds_in_the_logits(temperature):
    for given_text in TEXTS:
        state = PageState(text=given_text, temperature=temperature)
        text = read(re.split('(?=<p class="note">)', str(values_of(tab, state)[0]))[0])
        told(given_text, text)
        try:
            focus = focus_of(state)
        except BadText:
            assert "At temperature" not in text
            continue
        hidden, _ = hidden_word(state, focus, pair_in(state))
        teacher, student = (hidden.logits(run) for run in (hidden.teacher, hidden.student))
        p, q = (
            softmax(teacher / np.float64(temperature)),
            softmax(student / np.float64(temperature)),
        )
        tops = [set(np.argsort(-one, kind="stable")[:5].tolist()) for one in (teacher, student)]
        spelled = spelling_of(hidden.teacher.vocabulary)
        words = [
            spelled.word(hidden.teacher.vocabulary[int(one.argmax())]) for one in (teacher, student)
        ]
        kl = float(rel_entr(p, q).sum())
        shared = len(tops[0] & tops[1])
        names = (hidden.teacher.spec.label, hidden.student.spec.label)
        judge(text, temperature, p.max(), q.max(), kl, words, shared, names)


@law
@given(st.lists(st.booleans(), min_size=2, max_size=9))
def test_the_interval_of_agreement_holds_the_share_that_it_is_of(same):
    empty = (np.zeros(len(same)),) * 6
    found = AgreementAtLarge(np.array(same), *empty)
    text = read(strings.agreement_note(found, ("BERT", "DistilBERT")))
    low, high = map(float, re.search(r"95% CI ([\d.]+)% to ([\d.]+)%", text).groups())
    assert low <= round(100 * np.mean(same), 1) <= high
    ends = share_interval(sum(same), len(same))
    assert (low, high) == tuple(float(f"{100 * end:.1f}") for end in ends)
    assert f"on {len(same)} short sentence" in text


@law
@given(
    st.integers(1, 300),
    st.lists(st.tuples(st.floats(0, 9), close_shares()), min_size=2, max_size=4),
    st.booleans(),
)
def test_a_live_run_says_where_it_is_and_compares_its_end_with_its_start(steps, course, is_over):
    last = steps if is_over else steps - 1
    reports = [
        SimpleNamespace(
            step=0 if i == 0 else last,
            parts={"loss": loss} if i else {},
            agreement=LiveAgreement(share, 0, 0),
        )
        for i, (loss, share) in enumerate(course)
    ]
    text = read(strings.live_sentence(SimpleNamespace(steps=steps), reports))
    if last < steps:
        assert text == f"Step {last} of {steps}: loss {course[-1][0]:.3f}."
        return
    assert text.startswith(f"In {steps} step{'s' * (steps > 1)} the loss went from ")
    assert f"from {course[1][0]:.3f} to {course[-1][0]:.3f}; " in text
    assert f"in {percents(course[-1][1])} of cases ({percents(course[0][1])} at the start)." in text


def percents(share):
    if 0 < share < 0.0005:
        return "< 0.1%"
    return "> 99.9%" if 0.9995 <= share < 1 else f"{100 * share:.1f}%"


@law
@given(st.integers(0, 3))
def test_own_masks_are_counted_in_singular_and_plural(n):
    text = read(strings.masking_note(n))
    assert ("Your own [MASK] is already masked" in text) == (n == 1)
    assert (f"Your own {n} [MASK]s are" in text) == (n > 1)


@law
@given(st.integers(0, 3), st.integers(3, 9))
def test_the_loss_of_the_masked_pieces_is_said_where_there_are_any(masks, tokens):
    losses = SimpleNamespace(
        ce_hidden=np.array([1.0, 2.5]) if masks else None,
        ce=np.array([1.0, 0.5]),
        temperatures=np.array([1.0, 2.0]),
        kl=np.zeros((2, tokens)),
    )
    text = read(strings.ce_twice(losses, masks))
    assert bool(text) == bool(masks)
    if masks:
        assert "0.500 nats over all" in text
        assert f"2.500 over the {masks} masked piece{'s' * (masks > 1)} only" in text
