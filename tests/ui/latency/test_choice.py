"""The controls as one value: lengths of any kind, devices, refusals in one sentence."""

import pytest

from explorer.timing.workload import BadWorkload
from explorer.ui.latency import choice
from explorer.ui.latency import tab as latency
from explorer.ui.latency.choice import Choice, length_choices


def test_a_choice_is_one_workload():
    work = Choice("mini", "77", 2, "head", "wait", "cpu", "bfloat16").workload
    assert (work.length, work.batch, work.head, work.clock) == (77, 2, True, "wait")
    assert Choice(device="cuda").workload.clock == "device"
    assert [spec.name for spec in Choice(shapes="larger").specs][-1] == "albert-xxlarge-v2"


@pytest.mark.parametrize("length", ["", "many", "9999", None, "1.5", [32], "²", "-3"])
def test_typed_lengths_that_are_none_are_refused_in_one_sentence(length):
    with pytest.raises(BadWorkload, match="whole number from 2 to 512"):
        _ = Choice(length=length).workload


def test_the_readers_own_text_is_the_first_length_offered():
    assert length_choices(9)[0] == ("9: your text", 9)
    assert length_choices(0)[0] == ("16", 16)


def test_show_offers_the_text_and_starts_nothing(tiny_family, monkeypatch):
    from explorer.page_state import PageState
    from explorer.timing.line import MEASUREMENTS

    monkeypatch.setattr(MEASUREMENTS, "start", lambda *a: pytest.fail("a measurement was started"))
    shapes, length, device = latency.show(PageState(text="The cat [MASK]."))
    assert [value for _, value in shapes.choices] == ["base", "mini", "larger"]
    n_tokens = max(len(run.tokens) for run in tiny_family.runs("The cat [MASK].").values())
    assert list(length.choices[0]) == [f"{n_tokens}: your text", n_tokens]
    assert ("cpu", "cpu") in [tuple(choice) for choice in device.choices]


@pytest.mark.parametrize(
    ("device", "host", "is_lent"),
    [("cuda", True, True), ("cuda", False, False), ("cpu", True, False)],
)
def test_a_device_is_lent_where_it_is_a_gpu_of_a_host_that_lends(
    monkeypatch, device, host, is_lent
):
    monkeypatch.setattr(choice, "is_lent", lambda: host)
    assert Choice(device=device).is_lent == is_lent
