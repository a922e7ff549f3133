"""No sentence of Layer's folds is false: each claim is evaluated on drawn results."""

import re
from types import SimpleNamespace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.layer import AnswerSteps
from explorer.models.specs import MINI
from explorer.ui.layer import folds
from tests.ui.sentences import law, read

LABELS = {"bert": "mini-BERT", "distilbert": "mini-DistilBERT", "albert": "mini-ALBERT"}
STEP = re.compile(r"layer (\d+) (attention|feed-forward) \(([+−]\d+\.\d\d) nats\)")


@st.composite
def log_probabilities(draw):
    step = st.sampled_from([0.0, 0.004, -0.004, 0.5, -0.5, 3.2, -7.25])
    changes = [draw(step) for _ in range(2 * draw(st.integers(1, 4)))]
    return AnswerSteps(np.cumsum([-9.0, *changes]))


@law
@given(st.dictionaries(st.sampled_from([*LABELS]), log_probabilities(), min_size=1))
def test_the_largest_steps_are_those_that_no_other_step_exceeds(found):
    text = read(folds.steps_finding(found, LABELS, dict.fromkeys(found, "paris")))
    parts = dict(re.findall(r"(mini-\w+) for paris: ([^:]+)\. ", f"{text} "))
    assert parts.keys() == {LABELS[key] for key in found}
    for key, one in found.items():
        named, changes = STEP.findall(parts[LABELS[key]]), np.diff(one.log_probs)
        assert len(named) == min(3, len(changes)), parts[LABELS[key]]
        at = [2 * (int(layer) - 1) + (block == "feed-forward") for layer, block, _ in named]
        assert len(set(at)) == len(at)
        for place, (*_, printed) in zip(at, named, strict=True):
            assert abs(float(printed.replace("−", "-")) - changes[place]) <= 0.005 + 1e-9
        rest = [abs(change) for i, change in enumerate(changes) if i not in at]
        assert all(abs(changes[i]) >= max(rest, default=0) - 1e-12 for i in at)


class Point(SimpleNamespace):
    """Both at one length, with the ratio of their times given."""

    __hash__ = object.__hash__


@law
@given(
    st.lists(st.sampled_from([0.004, 0.5, 1.0, 1.004, 30.0]), min_size=1, max_size=3),
    st.booleans(),
)
def test_what_an_lstm_costs_is_said_of_the_shortest_and_the_longest_text(values, is_sure):
    ends = (0.9, 1.1) if is_sure else (0.0, float("inf"))
    points = tuple(
        Point(length=8 * 2**i, ratio=Ratio(v, ends[0] * v, ends[1] * v, 9), flops=(200, 100))
        for i, v in enumerate(values)
    )
    finding, note = (read(one) for one in folds._found(points, MINI["bert"]))
    expected = [(points[0], values[0]), (points[-1], values[-1])][: len(points)]
    for point, value in expected:
        at = rf"at {point.length} tokens (the LSTM takes )?{value:.2f} ×"
        assert re.search(at, finding, re.IGNORECASE)
    assert len(re.findall(r"at \d+ tokens", finding, re.IGNORECASE)) == len(expected)
    assert finding.count("too few rounds") == (0 if is_sure else len(expected))
    assert f"at {points[-1].length} tokens, but in {points[-1].length} steps" in note
    assert "50.0% of the arithmetic" in note
