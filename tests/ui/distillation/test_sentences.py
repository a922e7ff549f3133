"""No sentence of the distillation tab is false: each claim is evaluated on drawn results."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.distillation.agreement import AgreementAtLarge
from explorer.analysis.distillation.live import Agreement
from explorer.analysis.measures import share_interval
from explorer.ui.distillation import folds_words, live_words
from explorer.ui.distillation import words as texts
from tests.ui.sentences import WORDS, close_shares, law, read

PLAIN = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@law
@given(
    close_shares(),
    close_shares(),
    st.floats(0, 5),
    st.sampled_from([0.05, 1.0, 2.0, 20.0]),
    WORDS,
    WORDS,
)
def test_teacher_and_student_are_quoted_with_their_own_words(p, q, kl, t, first, second):
    pair = SimpleNamespace(
        temperature=t, teacher=np.array([p, 0]), student=np.array([0, q]), kl_teacher_student=kl
    )
    text = read(texts.distillation_finding(pair, ("BERT", "DistilBERT"), (first, second)))
    said = re.fullmatch(
        rf"At temperature {t:g}, teacher BERT gives {first} (\S+) and student DistilBERT gives "
        rf"{second} (\S+); they are (\S+) nats apart \(KL\)\.",
        text,
    )
    for printed, exact in zip(said.groups(), (p, q, round(kl, 9)), strict=True):
        value = float(printed.translate(PLAIN).replace("×10", "e"))
        assert value == pytest.approx(exact, rel=0.06, abs=6e-4 if exact >= 0.001 else 0)
        assert (value == 0) == (exact == 0), "only nothing is printed as 0"


@law
@given(st.lists(st.booleans(), min_size=2, max_size=9))
def test_the_interval_of_agreement_holds_the_share_that_it_is_of(same):
    empty = (np.zeros(len(same)),) * 6
    found = AgreementAtLarge(np.array(same), *empty)
    text = read(folds_words.agreement_note(found, ("BERT", "DistilBERT")))
    low, high = map(int, re.search(r"95% CI (\d+)% to (\d+)%", text).groups())
    assert low <= round(100 * np.mean(same)) <= high
    ends = share_interval(sum(same), len(same))
    assert (low, high) == tuple(round(100 * end) for end in ends)
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
            agreement=Agreement(share, 0, 0),
        )
        for i, (loss, share) in enumerate(course)
    ]
    text = read(live_words.live_sentence(SimpleNamespace(steps=steps), reports))
    if last < steps:
        assert text == f"Step {last} of {steps}: loss {course[-1][0]:.2f}."
        return
    assert text.startswith(f"In {steps} step{'s' * (steps > 1)} the loss went from ")
    assert f"from {course[1][0]:.2f} to {course[-1][0]:.2f}; " in text
    assert f"in {course[-1][1]:.0%} of cases, at the start in {course[0][1]:.0%}" in text


@law
@given(st.integers(0, 3))
def test_own_masks_are_counted_in_singular_and_plural(n):
    text = read(folds_words.masking_note(n))
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
    text = read(folds_words.ce_twice(losses, masks))
    assert bool(text) == bool(masks)
    if masks:
        assert "0.5000 nats over all" in text
        assert f"2.5000 over the {masks} masked piece{'s' * (masks > 1)} alone" in text
