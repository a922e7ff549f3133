"""Several devices in the same rounds, on a stand-in for the second one: names, clocks, documents."""

import csv
import io
import json
import re
from dataclasses import astuple

import pytest
import torch

from explorer.analysis.latency.family import last, measure_family
from explorer.analysis.latency.measure import RoundsPlan
from explorer.analysis.latency.report import FORMAT, latency_report, read_report, report_csv
from explorer.analysis.latency.size_vs_time import size_vs_time
from explorer.scheduling.cancel import CancelToken
from explorer.timing import machine
from explorer.timing import networks as timed_networks
from explorer.timing import protocol as timing
from explorer.timing.workload import BadWorkload, Workload
from explorer.ui.latency import settings as latency_choice
from explorer.ui.latency import size_vs_time_strings, strings
from explorer.ui.latency.folds import CLAIM, job_of
from explorer.ui.latency.settings import MeasurementSettings, device_choices
from explorer.ui.latency.strings import RECORDED_HEAD, SAMPLES
from explorer.ui.latency.tab import detail, draw_card
from explorer.views.latency.measure import paradox_card, recorded_table, samples_figure
from tests.timing.test_protocol import FakeDevice

FEW = RoundsPlan(budget_s=1e6, min_rounds=3, max_rounds=3, max_warm_rounds=1)
BOTH = ("cpu", "cuda")
CUDA_MS = {"bert": 7, "distilbert": 3, "albert": 5}


@pytest.fixture
def second_device(monkeypatch):
    """A cuda whose passes take a known time on its own clock and none on the processor's."""
    device = FakeDevice()
    timed_here, call_here = timed_networks.timed_network, timing.forward_call

    def timed_network(spec, workload, check):
        return timed_here(spec, Workload(workload.length, workload.batch))

    def forward_call(spec, network, workload):
        if workload.device == "cuda":
            return lambda: device.submit(CUDA_MS[spec.key])
        return call_here(spec, network, workload)

    monkeypatch.setattr(torch.cuda, "Event", lambda enable_timing: device.event())
    monkeypatch.setattr(timed_networks, "timed_network", timed_network)
    monkeypatch.setattr(timing, "forward_call", forward_call)
    monkeypatch.setattr(machine, "device_name", lambda name: f"the {name}")
    monkeypatch.setattr(latency_choice, "devices", lambda: BOTH)


@pytest.fixture
def result(tiny_family, second_device):
    specs = tuple(tiny_family.specs.values())
    return last(measure_family(specs, Workload(length=8), FEW, CancelToken(), BOTH))


@pytest.mark.long
def test_every_model_is_timed_on_every_device_by_the_devices_own_clock(result):
    assert result.latency.names == tuple(
        f"mini-{key} on {device}" for device in BOTH for key in CUDA_MS
    )
    assert result.latency.seconds.shape == (3, 6)
    assert (result.latency.seconds[:, :3] > 0).all()
    for column, ms in enumerate(CUDA_MS.values(), start=3):
        assert result.latency.seconds[:, column] == pytest.approx([ms / 1e3] * 3)
    assert [row.workload.clock for row in result.rows] == ["compute"] * 3 + ["device"] * 3
    assert len(result.weights) == len(result.weight_bytes) == 6


@pytest.mark.long
def test_documents_name_the_device_of_every_row_and_every_sample(result):
    document = latency_report(result, machine.machine(*BOTH))
    assert [(m["model"], m["device"], m["clock"]) for m in document["models"]] == [
        (key, device, clock)
        for device, clock in (("cpu", "compute"), ("cuda", "device"))
        for key in CUDA_MS
    ]
    assert document["models"][4]["median_ms"] == pytest.approx(3)
    assert document["protocol"]["device"] == "cpu, cuda"
    assert document["protocol"]["clock"] == "compute, device"
    assert document["machine"]["device_name"] == "the cpu, the cuda"
    ends = [(r["of_device"], r["over"], r["over_device"]) for r in document["ratios"]]
    assert ends[0] == ("cpu", "distilbert", "cpu")
    assert ends[2:] == [("cpu", key, "cuda") for key in CUDA_MS]
    rows = list(csv.DictReader(io.StringIO(report_csv(document))))
    assert len(rows) == 18
    assert {(row["model"], row["device"], row["clock"]) for row in rows} == {
        (m["model"], m["device"], m["clock"]) for m in document["models"]
    }


@pytest.mark.long
def test_a_saved_measurement_of_all_devices_can_be_told_apart_when_it_is_opened(result):
    document = latency_report(result, machine.machine(*BOTH))
    back = read_report(json.dumps(document))
    assert [m["device"] for m in back["models"]] == [m["device"] for m in document["models"]]
    ends = [(r["of_device"], r["over_device"]) for r in back["ratios"]]
    assert ends == [(r["of_device"], r["over_device"]) for r in document["ratios"]]
    shown = recorded_table(back, RECORDED_HEAD, "")
    assert shown.count(" on cpu") == shown.count(" on cuda") == 3
    one = [m for m in document["models"] if m["device"] == "cuda"]
    alone = recorded_table(read_report(json.dumps({**document, "models": one})), RECORDED_HEAD, "")
    assert " on cuda" not in alone
    for model in document["models"]:
        del model["device"]
    for ratio in document["ratios"]:
        del ratio["of_device"], ratio["over_device"]
    older = read_report(json.dumps(document))
    assert " on " not in recorded_table(older, RECORDED_HEAD, "")


def test_a_devices_name_from_a_stranger_is_short_text():
    model = {"model": "bert", "name": "a", "median_ms": 1, "gflops": 1, "weights_bytes": 1}
    strange = {**model, "device": "<b>" * 1000}
    document = {"format": FORMAT, "protocol": {}, "machine": {}, "ratios": []}
    back = read_report(json.dumps({**document, "models": [strange, {**model, "device": 7}]}))
    assert [len(m["device"]) for m in back["models"]] == [20, 1]
    assert "<b>" not in recorded_table(back, RECORDED_HEAD, "")


@pytest.mark.long
def test_the_pictures_hold_all_devices_on_one_axis(result):
    rows = size_vs_time(result.specs, result.workload, result, BOTH)
    assert [row.label for row in rows.rows] == ["mini-BERT", "mini-DistilBERT", "mini-ALBERT"]
    assert [row.label for row in rows.device_rows][3:] == [
        "mini-BERT on cuda",
        "mini-DistilBERT on cuda",
        "mini-ALBERT on cuda",
    ]
    markup = paradox_card(rows, size_vs_time_strings.paradox_titles(rows))
    assert markup.count('class="lt-fill"') == 3 + 3, "one round has no interval, and no bar"
    assert markup.count("lt-track empty") == 6
    assert "every device" in markup
    assert "3.00\u00a0ms" in markup
    drawn = re.sub(r'data-numbers="[^"]*"', "", detail(result))
    assert drawn.count("mini-DistilBERT on cuda") == 2
    samples = samples_figure(result, SAMPLES)
    assert [trace.name for trace in samples.data] == [row.label for row in rows.device_rows]
    assert "cpu and cuda" in strings.conditions(result)


def test_every_device_is_offered_where_there_are_several(monkeypatch):
    monkeypatch.setattr(latency_choice, "devices", lambda: ("cpu",))
    assert device_choices() == [("cpu", "cpu")]
    monkeypatch.setattr(latency_choice, "devices", lambda: BOTH)
    assert device_choices()[-1] == ("every device", "every")
    assert MeasurementSettings(device="every").devices == BOTH
    assert MeasurementSettings().devices == ()
    card, status = draw_card(MeasurementSettings(device="every"))[2:4]
    assert card.count("not measured yet") == 6
    assert "cuda by its own events" in status


def test_questions_of_one_device_say_so():
    with pytest.raises(BadWorkload, match="choose one under Device"):
        job_of(CLAIM).ask(*astuple(MeasurementSettings(device="every")))
