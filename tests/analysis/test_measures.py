"""The formulas keep their laws and agree with scipy and torch."""

import numpy as np
import pytest
import scipy.spatial.distance
import scipy.special
import scipy.stats
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from explorer.analysis.measures import (
    entropy,
    js,
    kl,
    kl_of_logs,
    log_softmax,
    softmax,
    top_ids,
)

logits = arrays(np.float64, (2, 7), elements=st.floats(-30, 30))
P = np.array([[0.7, 0.3, 0.0], [0.2, 0.3, 0.5]])
Q = np.array([[0.5, 0.0, 0.5], [0.2, 0.3, 0.5]])


@given(logits)
@settings(max_examples=60, deadline=None)
def test_js_is_symmetric_and_at_most_ln_2(z):
    p, q = softmax(z)
    assert js(p, q) == pytest.approx(js(q, p), abs=1e-15)
    assert 0 <= js(p, q) <= np.log(2) + 1e-12
    assert js(p, p) == 0
    assert kl(p, p) == 0
    assert kl(p, q) >= -1e-12


def test_they_agree_with_scipy():
    assert entropy(P) == pytest.approx(scipy.stats.entropy(P, axis=-1))
    assert kl(P[1], Q[0] + 0.1) == pytest.approx(
        scipy.special.rel_entr(P[1], Q[0] + 0.1).sum(), rel=1e-12
    )
    assert js(P, Q) == pytest.approx(scipy.spatial.distance.jensenshannon(P, Q, axis=-1) ** 2)


def test_zeros_take_their_limits():
    assert entropy(np.array([1.0, 0.0])) == 0
    assert not np.signbit(entropy(np.array([1.0, 0.0])))
    assert kl(P[0], Q[0]) == np.inf
    assert js(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(np.log(2))


def test_the_other_axis():
    assert entropy(P.T, axis=0) == pytest.approx(entropy(P))
    assert js(P.T, Q.T, axis=0) == pytest.approx(js(P, Q))


@pytest.mark.parametrize("temperature", [0.05, 1.0, 2.0, 20.0])
def test_temperature_divides_the_logits(temperature):
    z = np.random.default_rng(0).normal(0, 10, (3, 11))
    expected = torch.log_softmax(torch.tensor(z) / temperature, -1).numpy()
    assert log_softmax(z, temperature) == pytest.approx(expected, rel=1e-12)


def test_kl_stays_finite_where_probabilities_underflow():
    log_p, log_q = log_softmax(np.array([0.0, 1.0])), log_softmax(np.array([0.0, 2000.0]))
    assert np.isinf(kl(np.exp(log_p), np.exp(log_q)))
    p = np.exp(log_p)
    assert kl_of_logs(log_p, log_q) == pytest.approx((p * (log_p - log_q)).sum())


def test_top_ids_are_those_of_a_full_stable_sort():
    values = np.random.default_rng(3).integers(0, 9, size=(4, 5, 60)).astype(float)
    for k in (1, 7, 60, 99):
        expected = np.argsort(-values, axis=-1, kind="stable")[..., :k]
        assert (top_ids(values, k) == expected).all()


def test_the_interval_of_a_share_is_wilsons():
    from scipy.stats import binomtest

    from explorer.analysis.measures import share_interval

    for hits, n in ((0, 12), (11, 12), (12, 12), (13, 24), (70, 200)):
        theirs = binomtest(hits, n).proportion_ci(0.95, "wilson")
        assert share_interval(hits, n) == pytest.approx((theirs.low, theirs.high), abs=1e-6)
