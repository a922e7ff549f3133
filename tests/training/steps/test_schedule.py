"""The learning rate of a run, and of a run that is to be extended."""

from dataclasses import replace

import pytest
import torch

from training.recipe import FULL
from training.steps.loop import Averages, Progress, TrainingBudget, rate_at

RECIPE = replace(FULL, rate=2.0, warm_up=0.1, cool_down=0.2)


@pytest.mark.parametrize(
    ("spent", "rate"),
    [(0.0, 0.0), (0.05, 1.0), (0.1, 2.0), (0.5, 2.0), (0.8, 2.0), (0.9, 1.0), (1.0, 0.0)],
)
def test_the_rate_falls_in_the_last_fifth_alone(spent, rate):
    assert rate_at(spent, RECIPE) == pytest.approx(rate)


def test_without_a_cool_down_the_rate_stays():
    assert rate_at(1.0, replace(RECIPE, cool_down=0.0)) == 2.0


@pytest.mark.parametrize("spent", [0.1, 0.5, 0.9, 1.0])
def test_a_run_with_more_to_come_keeps_its_rate(spent):
    assert rate_at(spent, RECIPE, is_continued=True) == 2.0


def test_an_extended_run_goes_on_where_the_long_run_would_be():
    """Half of it with more to come, then the whole budget: the same rates as in one go."""
    done = Progress(tokens=500)
    half, whole = TrainingBudget(tokens=500, is_continued=True), TrainingBudget(tokens=1000)
    assert rate_at(half.spent(done), RECIPE, half.is_continued) == rate_at(
        whole.spent(done), RECIPE
    )


def test_what_not_every_step_has_is_averaged_over_those_that_have_it():
    averages = Averages()
    for parts in ({"loss": 2.0, "ce": 4.0}, {"loss": 4.0}, {"loss": 6.0, "ce": 6.0}):
        averages.add({name: torch.tensor(value) for name, value in parts.items()}, 10, 1.0)
    assert (averages.mean("loss"), averages.mean("ce")) == (4.0, 5.0)
