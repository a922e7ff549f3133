"""The browser's arithmetic against numpy and scipy, on cases that only Python makes."""

import base64
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import log_softmax, rel_entr, softmax
from torch.nn import functional

from tests.needs import needs_node

HERE = Path(__file__).parent
pytestmark = [needs_node, pytest.mark.processes]


def in_the_browser(*cases):
    """What the functions of ``assets/js/kit`` answer, one result a case."""
    done = subprocess.run(
        ["node", HERE / "compute.js"],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_softmax_and_every_divergence_at_every_temperature():
    rng = np.random.default_rng(1)
    a, b = rng.normal(0, 6, (2, 400))
    temperatures = [0.05, 0.3, 1, 2, 20]
    found = in_the_browser(
        *(("softmax", a.tolist(), t) for t in temperatures),
        *(("divergences", a.tolist(), b.tolist(), t) for t in temperatures),
    )
    for t, soft, apart in zip(temperatures, found[:5], found[5:], strict=True):
        p, q = softmax(a / t), softmax(b / t)
        assert soft["p"] == pytest.approx(p, abs=1e-12)
        log_p, log_q = log_softmax(a / t), log_softmax(b / t)
        assert apart["ab"] == pytest.approx((p * (log_p - log_q)).sum(), rel=1e-9)
        assert apart["ba"] == pytest.approx((q * (log_q - log_p)).sum(), rel=1e-9)
        middle = (p + q) / 2
        expected = (rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2
        assert apart["js"] == pytest.approx(expected, abs=1e-9)
        assert apart["ha"] == pytest.approx(stats.entropy(p), abs=1e-9)
        assert apart["hb"] == pytest.approx(stats.entropy(q), abs=1e-9)


def test_the_gradient_over_temperature_is_the_one_autograd_finds():
    rng = np.random.default_rng(3)
    t, s = rng.normal(size=(2, 60)) * 3
    temperatures = [0.5, 2.0, 10.0, 20.0]
    found = in_the_browser(*(("softMeasures", t.tolist(), s.tolist(), x) for x in temperatures))
    for temperature, one in zip(temperatures, found, strict=True):
        student = torch.tensor(s, requires_grad=True)
        p = (torch.tensor(t) / temperature).softmax(-1)
        loss = functional.kl_div((student / temperature).log_softmax(-1), p, reduction="sum")
        loss.backward()
        assert one["gradient"] == pytest.approx(float(student.grad.norm()), abs=1e-9)
        assert one["ab"] == pytest.approx(loss.item(), rel=1e-9)
    assert found[2]["gradient"] / found[3]["gradient"] == pytest.approx(4, rel=0.2), "like 1 / T²"


def test_how_far_two_heads_are_apart_and_words_from_pieces():
    rng = np.random.default_rng(2)
    p, q = softmax(rng.normal(0, 3, (2, 7, 7)), axis=-1)
    rows, groups = [1, 2, 5], [[0], [1, 2], [3, 4, 5], [6]]
    apart, words = in_the_browser(
        ("rowsApart", p.ravel().tolist(), q.ravel().tolist(), 7, rows),
        ("betweenGroups", p.ravel().tolist(), 7, groups),
    )
    middle = (p + q) / 2
    each = (rel_entr(p, middle).sum(-1) + rel_entr(q, middle).sum(-1)) / 2
    assert apart == pytest.approx(each[rows].mean(), abs=1e-12)
    summed = np.stack([p[:, group].sum(1) for group in groups], axis=1)
    expected = np.stack([summed[group].mean(0) for group in groups])
    assert words == pytest.approx(expected.ravel(), abs=1e-12)


def test_ranks_and_the_heaviest_cells():
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 9, 60)
    square = rng.dirichlet(np.ones(8) / 3, 8)
    at, cells = in_the_browser(
        ("ranks", keys.tolist()), ("heaviest", square.ravel().tolist(), 8, 0.8)
    )
    assert at == (stats.rankdata(keys, method="ordinal") - 1).tolist()
    expected = []
    for query, row in enumerate(square):
        order = np.argsort(-row, kind="stable")
        needed = int(np.searchsorted(row[order].cumsum(), 0.8 - 1e-9)) + 1
        expected += [[query, int(key), pytest.approx(row[key])] for key in order[:needed]]
    assert cells == expected


def test_packed_floats_are_numpys():
    rng = np.random.default_rng(4)
    single = rng.normal(0, 1e-3, 100).astype("<f4")
    packed = base64.b64encode(single.tobytes()).decode()
    (floats,) = in_the_browser(("floats", packed))
    assert floats == single.astype(float).tolist()


def test_probabilities_are_printed_as_python_rounds_them():
    values = [*np.random.default_rng(5).uniform(0.001, 1, 300), 0.001, 0.9996, 1.0]
    printed = in_the_browser(*(("number", float(p)) for p in values))
    assert printed == [f"{p:.3f}" for p in values]
