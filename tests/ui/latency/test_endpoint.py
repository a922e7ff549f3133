"""``/latency``: published shape, limits that hold, numbers of its own machine."""

from threading import Event

import pytest

from explorer.refusal import Refusal
from explorer.scheduling.job_queue import MEASUREMENTS
from explorer.ui.latency import served
from tests.endpoints import latency
from tests.waiting import until


@pytest.mark.long
def test_it_measures_three_encoders_on_this_machine(tiny_family, monkeypatch):
    monkeypatch.setattr(served.library, "BUDGET_S", 600.0)
    answer = latency("mini", 8, 2, 7)
    assert [m["model"] for m in answer["models"]] == ["bert", "distilbert", "albert"]
    assert all(len(m["samples_ms"]) == answer["protocol"]["rounds"] for m in answer["models"])
    assert 1 <= answer["protocol"]["rounds"] <= 7
    assert answer["protocol"]["clock"] == "compute"
    assert answer["protocol"]["threads"] == 1
    assert answer["protocol"]["head"] is False
    assert all(m["median_ms"] > 0 and m["peak_bytes"] > 0 for m in answer["models"])
    assert all(m["p90_ms"] is None for m in answer["models"])
    assert [(r["of"], r["over"]) for r in answer["ratios"]] == [
        ("bert", "distilbert"),
        ("bert", "albert"),
    ]
    assert answer["machine"]["torch"]


@pytest.mark.parametrize(
    "asked",
    [
        {"sequence_length": 513},
        {"sequence_length": 0},
        {"sequence_length": 1e300},
        {"sequence_length": "512"},
        {"batch_size": 33},
        {"batch_size": float("nan")},
        {"repeats": 201},
        {"repeats": 0},
        {"repeats": float("inf")},
        {"device": "cuda:7"},
        {"device": ["cpu"]},
        {"dtype": "int1"},
        {"device": "mps"},
        {"repeats": True},
    ],
    ids=str,
)
def test_a_hostile_client_gets_one_sentence_and_no_work(asked):
    with pytest.raises(Refusal) as refusal:
        latency(**asked)
    assert str(refusal.value).strip("'").endswith(".")


@pytest.mark.parametrize("family", ["huge", "", None, ["mini"], {"a": 1}])
def test_unknown_families_are_refused(family):
    with pytest.raises(Refusal, match="mini, base, large"):
        latency(family)


@pytest.mark.long
def test_the_budget_ends_it_whatever_was_asked_for(tiny_family, monkeypatch):
    monkeypatch.setattr(served.library, "BUDGET_S", 0.2)
    try:
        protocol = latency("mini", 128, 2, 200)["protocol"]
    except Refusal as sentence:
        # A machine so busy that not one round fits says that instead.
        assert "before the first round" in str(sentence)  # noqa: PT017
        return
    assert protocol["rounds"] < 200
    assert protocol["ended"] in {"budget", "deadline"}


@pytest.mark.long
def test_who_does_not_get_a_turn_in_time_is_told_so(tiny_family, monkeypatch):
    go_on = Event()

    def endless(cancel_token):
        while not go_on.wait(0.01):
            yield None

    before = MEASUREMENTS.start(endless)
    try:
        with monkeypatch.context() as short:
            short.setattr(served, "LONGEST_S", 0.2)
            with pytest.raises(Refusal, match="busy with other measurements"):
                latency("mini", 8, 1, 1)
    finally:
        go_on.set()
    before.thread.join(300)
    until(lambda: not len(MEASUREMENTS))
    monkeypatch.setattr(served, "LONGEST_S", 600.0)
    assert latency("mini", 8, 1, 1)["models"]
