"""Advice keeps to what was measured, to its intervals, and to the definition of the front."""

import numpy as np
import pytest

from explorer.analysis.latency.model_choice import Candidate, Figure, Limits, advice, frontier


def figure(value, half=0.0):
    return Figure(value, value - half, value + half)


def models(**rows):
    return {
        k: Candidate(*(None if v is None else figure(*v) for v in row)) for k, row in rows.items()
    }


THREE = models(
    bert=((59.0,), (4.0, 0.2), (0.78, 0.03)),
    distilbert=((37.0,), (2.0, 0.1), (0.77, 0.03)),
    albert=((13.0,), (4.1, 0.2), (0.75, 0.03)),
)


def test_without_limits_all_fit_and_each_is_on_the_front():
    found = advice(THREE, Limits())
    assert found.fits == found.front == ("bert", "distilbert", "albert")
    assert not found.misses
    assert not found.undecided
    assert not found.unmeasured


@pytest.mark.parametrize(
    ("limits", "fits", "misses"),
    [
        (Limits(megabytes=40), ("distilbert", "albert"), {"bert": ("megabytes",)}),
        (
            Limits(milliseconds=3),
            ("distilbert",),
            {"bert": ("milliseconds",), "albert": ("milliseconds",)},
        ),
        (Limits(score=0.5, megabytes=59), ("bert", "distilbert", "albert"), {}),
        (
            Limits(20, 3, None),
            (),
            {
                "bert": ("megabytes", "milliseconds"),
                "distilbert": ("megabytes",),
                "albert": ("milliseconds",),
            },
        ),
    ],
)
def test_a_limit_leaves_what_keeps_it(limits, fits, misses):
    found = advice(THREE, limits)
    assert found.fits == fits
    assert dict(found.misses) == misses
    assert not found.undecided


def test_a_limit_inside_an_interval_is_not_decided():
    found = advice(THREE, Limits(score=0.76, milliseconds=4.05))
    assert found.fits == ()
    assert dict(found.undecided) == {
        "bert": ("milliseconds", "score"),
        "distilbert": ("score",),
        "albert": ("milliseconds", "score"),
    }


def test_what_surely_misses_one_limit_is_not_called_undecided():
    found = advice(THREE, Limits(score=0.76, megabytes=20))
    assert dict(found.misses) == {"bert": ("megabytes",), "distilbert": ("megabytes",)}
    assert dict(found.undecided) == {"albert": ("score",)}


def test_what_was_not_measured_is_not_advised_and_stands_on_no_front():
    found = advice(THREE | models(roberta=((50.0,), None, (0.99,))), Limits(megabytes=90))
    assert dict(found.unmeasured) == {"roberta": ("milliseconds",)}
    assert "roberta" not in (*found.fits, *found.front)


def test_twins_are_both_on_the_front_and_the_worse_one_is_not():
    twins = models(
        a=((1.0,), (1.0,), (0.5,)), b=((1.0,), (1.0,), (0.5,)), c=((1.0,), (1.0,), (0.4,))
    )
    assert advice(twins, Limits()).front == ("a", "b")


@pytest.mark.parametrize("half", [0.0, 0.4, 1.5])
def test_the_front_is_the_definition_by_intervals_on_random_models(half):
    """A model is beaten where the worst ends of another are as good as its best ends."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        table = rng.integers(1, 5, (6, 3)).astype(float)
        found = advice(
            {str(i): Candidate(*(figure(v, half) for v in row)) for i, row in enumerate(table)},
            Limits(),
        )
        costs = table * [1, 1, -1]

        def is_on_front(gap, costs=costs):
            worst, best = costs + gap, costs - gap
            return {
                str(i)
                for i in range(6)
                if not any((w <= best[i]).all() and (w < best[i]).any() for w in worst)
            }

        assert set(found.front) == is_on_front(half)
        assert set(found.close) == is_on_front(half) - is_on_front(0.0)


def test_a_difference_within_the_intervals_beats_nobody():
    close = models(
        a=((1.0,), (4.0, 0.3), (0.80, 0.03)),
        b=((1.0,), (4.1, 0.3), (0.79, 0.03)),
        c=((1.0,), (5.0, 0.3), (0.70, 0.03)),
    )
    found = advice(close, Limits())
    assert (found.front, found.close) == (("a", "b"), ("b",))


def test_the_front_of_a_picture_climbs_and_of_equal_costs_takes_the_better():
    points = {"a": (1.0, 0.5), "b": (1.0, 0.6), "c": (2.0, 0.6), "d": (3.0, 0.9), "e": (4.0, 0.1)}
    assert frontier(points) == ("b", "d")
    assert frontier({}) == ()
