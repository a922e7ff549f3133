"""A measurement as a document, and documents from strangers."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.analysis.latency.family import FamilyLatency
from explorer.analysis.latency.measure import Latency, RoundsPlan
from explorer.analysis.latency.report import (
    BadReport,
    family_report,
    latency_report,
    read_report,
    report_csv,
)
from explorer.models.specs import BASE
from explorer.scheduling.cancel import CancelToken
from explorer.timing.workload import Workload
from explorer.ui.latency.folds import draw_recorded

MACHINE = {"processor": "A & B <b>", "torch": "2", "cores": 4}


def family_latency(n_rounds=50, workload=None, specs=None):
    specs = tuple(BASE.values()) if specs is None else specs
    rng = np.random.default_rng(0)
    seconds = np.array([[0.2, 0.1, 0.18]])[:, : len(specs)] * np.exp(
        0.01 * rng.normal(size=(n_rounds, len(specs)))
    )
    log = Latency(
        tuple(s.name for s in specs),
        seconds,
        seconds[:, 0] * 1.001,
        np.zeros(n_rounds, bool),
        (0.5,) * len(specs),
        2,
        12.0,
        True,
        "settled",
    )
    return FamilyLatency(
        specs, workload or Workload(), log, ("random",) * len(specs), 1, (4, 3, 2)[: len(specs)]
    )


def report(**kwargs):
    return latency_report(family_latency(**kwargs), MACHINE, (10, 20, 30))


def test_the_document_has_the_published_shape():
    document = report()
    assert {"protocol", "machine", "models", "ratios"} <= set(document)
    assert [m["model"] for m in document["models"]] == ["bert", "distilbert", "albert"]
    first = document["models"][0]
    assert {"median_ms", "p90_ms", "samples_ms", "gflops", "weights_bytes", "peak_bytes"} <= set(
        first
    )
    assert first["median_ms"] == pytest.approx(200, rel=0.01)
    assert [m["median_ms"] for m in document["models"]] == [
        np.median(m["samples_ms"]) for m in document["models"]
    ]
    assert first["p90_ms"] >= first["median_ms"]
    assert first["peak_bytes"] == 10
    assert first["tokens_per_second"] == pytest.approx(32 / 0.2, rel=0.01)
    assert [(r["of"], r["over"]) for r in document["ratios"]] == [
        ("bert", "distilbert"),
        ("bert", "albert"),
    ]
    ratio = document["ratios"][0]
    assert ratio["ci_low"] < ratio["ratio"] < ratio["ci_high"]
    assert ratio["ratio"] == pytest.approx(2.0, rel=0.01)


def test_memory_is_measured_also_when_the_clock_has_used_up_its_time(monkeypatch):
    now = [0.0]
    cancel_token = CancelToken(lambda: now[0])

    def timed(*_):
        cancel_token.set_deadline(1)
        yield family_latency()
        now[0] += 2

    monkeypatch.setattr("explorer.analysis.latency.report.measure_family", timed)
    monkeypatch.setattr(
        "explorer.timing.protocol.pass_peak", lambda spec, workload, check: check() or 7
    )
    found = family_report(tuple(BASE.values()), Workload(), RoundsPlan(), cancel_token)
    assert [model["peak_bytes"] for model in found["models"]] == [7, 7, 7]


def test_no_p90_under_44_samples_and_no_interval_under_7_rounds():
    assert report(n_rounds=43)["models"][0]["p90_ms"] is None
    few = report(n_rounds=3)
    assert few["ratios"][0]["ci_low"] is None
    assert few["ratios"][0]["ci_high"] is None
    json.dumps(few, allow_nan=False)


def test_csv_has_every_sample_once_with_machine_and_protocol():
    document = report(n_rounds=5)
    rows = list(csv.DictReader(io.StringIO(report_csv(document))))
    assert len(rows) == 15
    assert rows[0]["processor"] == "A & B <b>"
    assert float(rows[4]["ms"]) == document["models"][0]["samples_ms"][4]
    assert {row["clock"] for row in rows} == {"compute"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["=1+1", "a;=1+1;b", "a\t@x", "a\n-1", 'a";=1+1;"', "a,=1+1"])
def test_no_cell_of_the_csv_is_a_formula_whatever_a_spreadsheet_divides_at(delimiter, name):
    document = report(n_rounds=5)
    document["machine"] = document["machine"] | {"processor": name}
    written = report_csv(document)
    for row in csv.reader(io.StringIO(written, newline=""), delimiter=delimiter):
        assert not [cell for cell in row if cell.startswith(("=", "+", "@", "-", "\t", "\r"))]
    (row, *_) = csv.DictReader(io.StringIO(written, newline=""))
    assert re.sub(r"'(?=[=@-])", "", row["processor"]) == name


@pytest.mark.parametrize("n_rounds", [5, 50])
def test_csv_gives_the_self_checks_interval_beside_its_point(n_rounds):
    document = report(n_rounds=n_rounds)
    check = document["protocol"]["self_check"]
    for row in csv.DictReader(io.StringIO(report_csv(document))):
        names = {
            "self_check": "ratio",
            "self_check_ci_low": "ci_low",
            "self_check_ci_high": "ci_high",
        }
        for column, name in names.items():
            assert row[column] == ("" if check[name] is None else str(check[name]))
    assert (check["ci_low"] is not None) == (n_rounds == 50)


def disturbed_latency(n_quiet, n_cpu):
    """Twenty rounds on the wall clock, and some of processor time."""
    result = family_latency(n_rounds=20, workload=Workload(clock="wait"))
    disturbed = np.arange(20) >= n_quiet
    log = replace(result.latency, disturbed=disturbed)
    seconds = 1.5 * log.seconds[:n_cpu]
    fields = {"seconds": seconds, "control": seconds[:, 0], "disturbed": np.zeros(n_cpu, bool)}
    return replace(result, latency=replace(log, cpu=replace(log, **fields)))


@pytest.mark.parametrize(("n_quiet", "reported"), [(14, "wait"), (4, "compute"), (0, "compute")])
def test_a_saved_file_alone_gives_the_times_that_the_page_reports(n_quiet, reported):
    """Recomputed with numpy from the samples of JSON and CSV, without the code under test."""
    result = disturbed_latency(n_quiet, 9)
    document = latency_report(result, MACHINE)
    protocol = document["protocol"]
    assert (protocol["rounds"], protocol["used_rounds"]) == (20, n_quiet)
    assert protocol["disturbed_rounds"] == list(range(n_quiet + 1, 21))
    assert protocol["reported_clock"] == reported
    samples = list(csv.DictReader(io.StringIO(report_csv(document))))
    shown = [model.median_ms for model in result.summary.reported.models]
    for spec, median in zip(result.specs, shown, strict=True):
        rows = [row for row in samples if row["name"] == spec.name and row["clock"] == reported]
        used = [float(row["ms"]) for row in rows if row["disturbed"] == "False"]
        assert np.median(used) == pytest.approx(median)
    back = read_report(json.dumps(document))
    assert [model["median_ms"] for model in back["models"]] == pytest.approx(shown)
    by_cpu = document["cpu_time"]
    assert [model["median_ms"] for model in by_cpu["models"]] == pytest.approx(
        [np.median(model["samples_ms"]) for model in by_cpu["models"]]
    )
    assert by_cpu["ratios"][0]["ratio"] == pytest.approx(2.0, rel=0.01)


def test_no_clock_is_named_where_no_time_holds():
    document = latency_report(disturbed_latency(4, 7), MACHINE)
    assert document["protocol"]["reported_clock"] is None
    quiet = latency_report(family_latency(n_rounds=8), MACHINE)
    assert (quiet["protocol"]["reported_clock"], quiet["cpu_time"]) == ("compute", None)
    assert latency_report(family_latency(n_rounds=7), MACHINE)["protocol"]["reported_clock"] is None


@pytest.mark.parametrize(("n_quiet", "n_cpu"), [(14, 9), (4, 9), (4, 7)])
def test_a_measurement_from_elsewhere_says_on_which_clock_its_times_are(n_quiet, n_cpu):
    document = json.dumps(latency_report(disturbed_latency(n_quiet, n_cpu), MACHINE))
    caption = draw_recorded(document)
    is_cpu = n_quiet == 4 and n_cpu == 9
    assert (f"clock {'compute' if is_cpu else 'wait'}, 1 thread." in caption) is True
    assert ("these times are preliminary" in caption) == (n_cpu == 7)


def test_what_was_exported_can_be_read_back():
    document = report()
    back = read_report(json.dumps(document))
    assert back["machine"] == document["machine"]
    assert [m["median_ms"] for m in back["models"]] == [m["median_ms"] for m in document["models"]]
    assert back["ratios"][1]["ratio"] == document["ratios"][1]["ratio"]


def test_a_long_name_of_somebody_elses_is_cut():
    document = report()
    document["models"][0]["name"] = "n" * 61
    assert read_report(json.dumps(document))["models"][0]["name"] == "n" * 60


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "1" * 10,
        "[" * 100_000,
        "x" * 3_000_000,
        '{"format": 3}',
        json.dumps({**report(), "models": [{"model": "<script>"}]}),
        json.dumps({**report(), "models": [{**report()["models"][0], "median_ms": -1}]}),
        json.dumps({**report(), "models": [{**report()["models"][0], "median_ms": "1"}]}),
        json.dumps({**report(), "protocol": None}),
    ],
    ids=range(12),
)
def test_anything_else_is_refused_in_one_sentence(text):
    with pytest.raises(BadReport, match=r"\.$"):
        read_report(text)


@pytest.mark.long
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@settings(max_examples=40, deadline=None)
def test_reading_is_total(value):
    with pytest.raises(BadReport):
        read_report(json.dumps(value))
