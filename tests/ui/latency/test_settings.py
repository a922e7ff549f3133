"""The controls as one value: lengths of any kind, devices, refusals in one sentence."""

from dataclasses import astuple

import gradio as gr
import pytest

from explorer.analysis.latency import family
from explorer.links.codec import from_params
from explorer.links.page_state import PageState
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import BadWorkload
from explorer.ui.latency import folds, settings, strings
from explorer.ui.latency import tab as latency
from explorer.ui.latency.settings import (
    DEVICE,
    LENGTH,
    SHAPE,
    MeasurementSettings,
    choice_in,
    length_choices,
)
from explorer.ui.shell.tabs import values_of


def test_a_choice_is_one_workload():
    work = MeasurementSettings("mini", "77", 2, "head", "wait", "cpu", "bfloat16").workload
    assert (work.length, work.batch, work.head, work.clock) == (77, 2, True, "wait")
    assert MeasurementSettings(device="cuda").workload.clock == "device"
    assert [spec.name for spec in MeasurementSettings(shapes="larger").specs][
        -1
    ] == "albert-xxlarge-v2"


@pytest.mark.parametrize("length", ["", "many", "9999", None, "1.5", [32], "²", "-3"])
def test_typed_lengths_that_are_none_are_refused_in_one_sentence(length):
    with pytest.raises(BadWorkload, match="whole number from 2 to 512"):
        _ = MeasurementSettings(length=length).workload


def test_the_readers_own_text_is_the_first_length_offered():
    assert length_choices(9)[0] == ("9: your text", 9)
    assert length_choices(0)[0] == ("16", 16)


def test_of_all_controls_the_length_alone_can_be_typed(page):
    named = {one.label: one for one in page.blocks.values() if isinstance(one, gr.Dropdown)}
    assert named.pop(strings.LENGTH_LABEL).preprocess("77") == "77"
    for label in (
        strings.SHAPES_LABEL,
        strings.BATCH_LABEL,
        strings.PART_LABEL,
        strings.DTYPE_LABEL,
    ):
        with pytest.raises(gr.Error, match="not in the list of choices"):
            named[label].preprocess("77")


def test_show_offers_the_text_and_starts_nothing(tiny_family, monkeypatch):
    from explorer.scheduling.job_queue import MEASUREMENTS

    monkeypatch.setattr(MEASUREMENTS, "start", lambda *a: pytest.fail("a measurement was started"))
    shown = values_of(latency, PageState(text="The cat [MASK]."))
    shapes, length, device = (shown[at]["choices"] for at in (SHAPE, LENGTH, DEVICE))
    assert [value for _, value in shapes] == ["base", "mini", "larger"]
    n_tokens = max(len(run.tokens) for run in tiny_family.runs("The cat [MASK].").values())
    assert length[0] == (f"{n_tokens}: your text", n_tokens)
    assert ("cpu", "cpu") in device


@pytest.mark.parametrize(
    ("timed", "family", "values"),
    [
        ("", "mini", ["base", 32, 1, "encoder", "wait", "float32", 20]),
        (
            "mini-64-8-head-compute-bfloat16-180",
            "base",
            ["mini", 64, 8, "head", "compute", "bfloat16", 180],
        ),
        (
            "own-77-2-encoder-wait-float32-60",
            "bert=large",
            ["bert=large", 77, 2, "encoder", "wait", "float32", 60],
        ),
    ],
)
def test_a_link_sets_every_control_but_the_device(timed, family, values):
    state, repaired = from_params({"timed": timed, "family": family} if timed else {})
    assert repaired == ()
    chosen = choice_in(state.timed, family)
    assert [value for at, value in enumerate(astuple(chosen)) if at != DEVICE] == values
    assert chosen.device == "cpu"


@pytest.mark.parametrize(
    "timed", ["mini", "mini-64-8-head-compute-bfloat16-3600", "x-64-8-head-compute-float32-20"]
)
def test_a_link_names_what_the_controls_offer(timed):
    assert from_params({"timed": timed}) == (PageState(), ("timed",))


@pytest.mark.parametrize(
    ("device", "host", "is_lent"),
    [("cuda", True, True), ("cuda", False, False), ("cpu", True, False)],
)
def test_a_device_is_lent_where_it_is_a_gpu_of_a_host_that_lends(
    monkeypatch, device, host, is_lent
):
    monkeypatch.setattr(settings, "is_lent", lambda: host)
    assert MeasurementSettings(device=device).is_lent == is_lent


@pytest.mark.parametrize("axis", ["length", "batch"])
def test_a_sweep_times_each_point_of_its_axis_within_the_time_of_one(axis, monkeypatch):
    asked = []
    monkeypatch.setattr(family, "measure_sweep", lambda *given: iter(asked.append(given) or ()))
    chosen, sign = MeasurementSettings("base", "64", 2), CancelToken()
    sweep = {"length": folds.sweep_lengths, "batch": folds.sweep_batches}[axis]
    assert [*sweep(chosen, sign)] == []
    ((specs, works, plan, given),) = asked
    assert (specs, given) == (chosen.specs, sign)
    other = {"length": "batch", "batch": "length"}[axis]
    assert {getattr(work, other) for work in works} == {{"length": 64, "batch": 2}[other]}
    assert len({getattr(work, axis) for work in works}) == len(works) > 3
    assert plan == family.plan_for(chosen.workload, folds.POINT_BUDGET_S)
