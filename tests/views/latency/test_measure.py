"""Latency pictures: right numbers, right widths, nothing unescaped."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.analysis.digits import milliseconds
from explorer.analysis.latency.family import Sweep
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.size_vs_time import size_vs_time
from explorer.analysis.parameters.count import parameter_counts
from explorer.models.specs import BASE, MINI
from explorer.scheduling.job_queue import JobUpdate
from explorer.timing.workload import Workload
from explorer.ui.latency import choice_strings as texts_faster
from explorer.ui.latency import size_vs_time_strings, strings
from explorer.ui.latency import strings as texts_folds
from explorer.ui.latency.settings import MeasurementSettings
from explorer.ui.latency.tab import detail, draw_card
from explorer.views.latency.measure import (
    Mark,
    downloads,
    paradox_card,
    paradox_records,
    ratio_scale,
    recorded_table,
    samples_canvas,
    samples_figure,
    timing_table,
)
from tests.analysis.latency.test_family import measured
from tests.markup import plain

SPECS = tuple(BASE.values())
TIMES = {"bert": 100.0, "distilbert": 50.0, "albert": 98.0}


def card(result=None):
    rows = size_vs_time(SPECS, Workload(), result)
    return paradox_card(rows, size_vs_time_strings.paradox_titles(rows))


def widths(markup):
    return [float(w) for w in re.findall(r'lt-fill" style="width:([\d.]+)%', markup)]


@pytest.mark.parametrize("distilbert", [50.0, 15.0])
def test_every_ratio_has_its_place_on_one_scale_however_large_it_is(distilbert):
    markup = detail(measured(TIMES | {"distilbert": distilbert}))
    places = [float(x) for x in re.findall(r'lt-point" style="left:([\d.]+)%', markup)]
    ratios = [float(x) for x in re.findall(r"<b>([\d.]+) ×</b>", markup)]
    assert len(places) == len(ratios) >= 2
    assert max(places) < 100
    assert np.array(places) / max(places) == pytest.approx(np.array(ratios) / max(ratios), abs=0.01)


def test_before_anything_is_measured_size_and_work_are_drawn_and_time_is_empty():
    markup = card()
    assert markup.count("not measured yet") == 3
    assert '<span class="live-only">: “Measure here” measures for at most' in markup, (
        "left out when saved"
    )
    assert "109.5\u00a0M" in markup
    assert "11.7\u00a0M" in markup
    found = widths(markup)
    assert len(found) == 6
    assert found[:3] == pytest.approx([100, 60.61, 10.67], abs=0.02)


def test_measured_times_are_drawn_with_their_intervals():
    markup = card(measured(TIMES))
    assert "not measured" not in markup
    assert markup.count("lt-whisker") == 3
    times = widths(markup)[6:]
    assert times[1] / times[0] == pytest.approx(0.5, abs=0.01)
    assert times[2] / times[0] == pytest.approx(0.98, abs=0.01)
    saved = paradox_records(size_vs_time(SPECS, Workload(), measured(TIMES)))
    for row, spec in zip(saved.rows, SPECS, strict=True):
        cells = dict(zip(saved.columns, row, strict=True))
        stored = parameter_counts(spec).total / parameter_counts(SPECS[0]).total
        assert cells["times_parameters"] == pytest.approx(stored)
        assert cells["times_fewer_parameters"] == pytest.approx(1 / stored)


@pytest.mark.parametrize(
    ("ms", "shown"),
    [
        (1234.5, "1,234\u00a0ms"),
        (99.96, "100.0\u00a0ms"),
        (12.34, "12.3\u00a0ms"),
        (1.5, "1.50\u00a0ms"),
    ],
)
def test_times_are_printed_in_the_digits_they_deserve(ms, shown):
    assert milliseconds(ms) == shown


def test_every_sample_is_a_point_and_every_median_a_line():
    result = measured(TIMES)
    figure = samples_figure(result, texts_folds.SAMPLES)
    for place, (trace, model) in enumerate(zip(figure.data, result.summary.models, strict=True)):
        assert list(trace.x) == model.samples_ms.tolist()
        shape = figure.layout.shapes[place]
        assert shape.x0 == shape.x1 == np.median(model.samples_ms)
        assert shape.y0 < place < shape.y1
    slowest = max(np.percentile(model.samples_ms, 98) for model in result.summary.models)
    assert slowest < figure.layout.xaxis.range[1] < 1.1 * slowest
    drawn = json.loads(samples_canvas(result, texts_folds.SAMPLES))
    found = [row[1:3] for row in drawn["numbers"]["rows"]]
    assert found == [[place, ms] for t in figure.data for place, ms in enumerate(t.x, 1)]
    assert drawn["numbers"]["said"]["state"]["length"] == result.workload.length


def test_table_has_a_dash_where_there_is_no_percentile():
    markup = timing_table(measured(TIMES, n_rounds=20), texts_head(), "")
    assert markup.count(">–</td>") == 3
    assert timing_table(measured(TIMES, n_rounds=50), texts_head(), "").count(">–</td>") == 0


def texts_head():
    from explorer.ui.latency.strings import TIMING_HEAD

    return TIMING_HEAD


def test_ratio_scale_puts_a_ratio_where_it_belongs():
    markup = ratio_scale(
        [Mark("bert", "a", Ratio(1.5, 1.25, 1.75, 20))], (1.0, 2.0), {1.63: "paper"}
    )
    assert 'lt-point" style="left:50.00%' in markup
    assert 'lt-interval" style="left:25.00%;width:50.00%' in markup
    assert 'style="left:63.00%"' in markup
    open_ended = ratio_scale([Mark("bert", "a", Ratio(1.5, 0.0, np.inf, 2))], (1.0, 2.0), {})
    assert 'lt-interval" style="left:0.00%;width:100.00%' in open_ended
    assert "inf" not in open_ended


def test_documents_from_strangers_stay_text():
    evil = "<script>alert(1)</script>"
    report = {"models": [{"model": "bert", "name": evil, "median_ms": 2.0, "gflops": 1.0}]}
    markup = recorded_table(report, ["Model", "ms", "GFLOP", "GFLOP / s"], evil)
    assert "<script>" not in markup
    assert "&lt;script&gt;" in markup
    assert ">500<" in markup


def test_downloads_carry_the_document_itself():
    import base64

    markup = downloads({"latency.json": json.dumps({"a": "<b>"})}, "Save:")
    packed = re.search(r'base64,([^"]+)"', markup)[1]
    assert json.loads(base64.b64decode(packed)) == {"a": "<b>"}


def sweep_of(*points):
    from explorer.ui.latency.strings import SWEEP_TITLES
    from explorer.views.latency.sweep import sweep_canvas

    return json.loads(sweep_canvas(Sweep("length", points), SWEEP_TITLES))


def curves(figure):
    """What each line of a chart draws, its bands left out."""
    return {t["name"]: t for t in figure["data"] if t["mode"] == "lines+markers"}


def test_sweep_lines_hold_the_medians_and_ratios_that_were_measured():
    drawn = sweep_of(*(measured(TIMES, Workload(length=n)) for n in (16, 32)))
    times, ratios = map(curves, drawn["figures"])
    assert list(times) == ["BERT", "DistilBERT", "ALBERT"]
    assert list(ratios) == ["DistilBERT", "ALBERT"]
    said = drawn["numbers"]["said"]
    assert said["models"] is said["text"] is None, "no text of the page was run"
    assert "length" not in said, "there are several"
    assert [one["y"][0] for one in times.values()] == pytest.approx([100, 50, 98], rel=0.01)
    rows = {(row[0], row[1]): row[2:] for row in drawn["numbers"]["rows"]}
    for name, one in ratios.items():
        for i, length in enumerate((16, 32)):
            ms, low_ms, high_ms, ratio, low, high, clock = rows[name, length]
            assert clock == "compute"
            assert (times[name]["x"][i], times[name]["y"][i], one["y"][i]) == (length, ms, ratio)
            assert low <= ratio <= high
            first = times["BERT"]["y"][i]
            assert ms / first == pytest.approx(ratio), "both charts are of one statistic"
            assert (low_ms, high_ms) == pytest.approx((low * first, high * first))
            assert one["error_y"]["array"][i] == pytest.approx(high - ratio)
            assert one["error_y"]["arrayminus"][i] == pytest.approx(ratio - low)
    assert {trace["line"]["dash"] for trace in ratios.values()} == {"solid"}
    bands = [len(f["data"]) - len(curves(f)) for f in drawn["figures"]]
    assert bands == [3, 2]
    assert [shape["y0"] for shape in drawn["figures"][1]["layout"]["shapes"]] == [1]


def test_a_disturbed_point_of_a_sweep_is_cpu_time_or_a_gap():
    quiet = measured(TIMES, Workload(length=16, clock="wait"))
    points = [quiet]
    for length, n_cpu in ((32, 9), (64, 3)):
        work = Workload(length=length, clock="wait")
        log = replace(quiet.latency, disturbed=np.arange(20) >= 7)
        seconds = 3 * log.seconds[:n_cpu]
        fields = {"seconds": seconds, "control": seconds[:, 0], "disturbed": np.zeros(n_cpu, bool)}
        log = replace(log, cpu=replace(log, **fields))
        points.append(replace(quiet, workload=work, latency=log))
    drawn = sweep_of(*points)
    times, ratios = map(curves, drawn["figures"])
    assert times["BERT"]["y"][1:] == [None, None]
    by_cpu = times["BERT, CPU time"]
    assert by_cpu["y"][::2] == [None, None]
    assert by_cpu["y"][1] == pytest.approx(300, rel=0.01)
    assert by_cpu["line"]["dash"] == "dot"
    assert times["BERT"]["line"]["dash"] == "solid"
    assert ratios["ALBERT, CPU time"]["y"][1] == pytest.approx(0.98, rel=0.01)
    rows = {(row[0], row[1]): row for row in drawn["numbers"]["rows"]}
    assert {(key[1], row[-1]) for key, row in rows.items()} == {(16, "wait"), (32, "compute")}


def test_of_one_model_alone_nothing_is_compared_and_one_colour_gets_dashes():
    from explorer.views.latency.sweep import SweepLine, sweep_figures

    titles = {"ms": "ms", "ratio": "ratio"}
    one = SweepLine("bert", "BERT", [1.0], [None], [None], [None])
    assert len(sweep_figures([16], [one], titles, "tokens")) == 1
    both = [one, SweepLine("bert", "large", [2.0], [(1, 3)], [2.0], [(1, 3)])]
    times, ratios = sweep_figures([16], both, titles, "tokens")
    assert [trace.line.dash for trace in times.data] == ["solid", "dash"]
    assert [trace.line.dash for trace in ratios.data] == ["dash"]
    marks = times.layout.yaxis.tickvals
    assert {0.5, 1, 20, 500, 1000} < set(marks), "2 ms is written 2, and 20 ms is not"
    written = dict(zip(marks, times.layout.yaxis.ticktext, strict=True))
    assert [written[n] for n in (0.05, 5, 500, 1000)] == ["0.05", "5", "500", "1,000"]


def refused():
    result = measured({**TIMES, "albert": 109.0}, Workload(clock="wait"))
    return replace(result, latency=replace(result.latency, disturbed=np.arange(20) >= 6))


def test_refused_ratios_are_nowhere_on_the_page():
    update = JobUpdate(0, None, done=True)
    finding, _, markup, status, _ = draw_card(MeasurementSettings(clock="wait"), refused(), update)
    time = markup.split("lt-group")[-1]
    assert "109\u00a0ms" in time
    assert "50.0\u00a0ms" in time
    assert "lt-fill" not in time
    assert "×" not in time
    why = "A time is reported from 8 undisturbed rounds on: the intervals were narrow after 20, "
    assert f"{why}and 14 of them were disturbed and left out." in plain(time)
    assert "×" not in finding
    assert "ms" not in finding
    assert why in plain(finding)
    assert "×" not in status
    assert "disturbed 70.0% of the rounds" in status
    assert "ratios are from" not in status
    assert "than its compute suggests" not in status
    assert "the self-check" not in detail(refused())


def test_a_claim_without_ratios_says_why():
    from explorer.ui.latency.folds import draw_claim

    assert draw_claim({}) == [""]
    assert strings.unreported(refused().summary) in draw_claim({False: refused()})[0]


def test_time_ratios_are_the_paired_ones_with_their_intervals():
    result = measured(TIMES, n_rounds=21)
    seconds = result.latency.seconds.copy()
    # Ten of the rounds are slow for both alike but for one of them more: medians do not pair.
    seconds[:11, 0], seconds[11:, 0] = 0.1, 0.3
    seconds[:10, 2], seconds[10:, 2] = 0.11, 0.33
    result = replace(
        result, latency=replace(result.latency, seconds=seconds, control=seconds[:, 0])
    )
    medians = np.median(seconds, axis=0)
    assert medians[2] / medians[0] == pytest.approx(3.3), "or the test says nothing"
    rows = size_vs_time(SPECS, Workload(), result)
    found = result.summary.ratio("albert-base-v2").ratio
    assert rows.rows[2].times.ratio == pytest.approx(1 / found.ratio) == pytest.approx(1.1)
    assert rows.rows[2].times.low == pytest.approx(1 / found.high)
    assert rows.rows[2].times.high == pytest.approx(1 / found.low)
    assert "1.10 × the CPU time here" in size_vs_time_strings.paradox_finding(rows, result.summary)
    line = size_vs_time_strings.paradox_titles(rows)[2][1]
    assert "ALBERT takes 1.10 × [1.07, 1.13] the time of BERT" in line
    assert "DistilBERT" in line
    time = paradox_card(rows, size_vs_time_strings.paradox_titles(rows)).split("lt-group")[-1]
    assert "<small>1.10 ×</small>" in time
    assert "3.30 ×" not in time


def test_a_ratio_read_the_other_way_turns_its_interval():
    assert Ratio(2.0, 1.6, 2.5, 9).inverse == Ratio(0.5, 0.4, 0.625, 9)
    assert Ratio(2.0, 0.0, np.inf, 3).inverse == Ratio(0.5, 0.0, np.inf, 3)


@pytest.mark.parametrize("specs", [SPECS, tuple(MINI.values())], ids=["base", "mini"])
def test_an_activation_is_blamed_only_where_the_models_differ_in_it(specs):
    slow = measured({**TIMES, "albert": 130.0}, specs=specs)
    first, star = specs[0].architecture.activation, specs[-1].architecture.activation
    said = size_vs_time_strings.why(size_vs_time(specs, Workload(), slow))
    assert "slower than its compute suggests" in said
    assert (f"({star})" in said) == (first != star)
    assert ("gelu_new" in said) == (star == "gelu_new")
    assert "several steps" not in said, "that is not what was measured"
    why = texts_folds.sweep_why(specs)
    assert ("activation" in why) == (first != star)
    assert why.endswith(".")


def test_one_thread_of_a_saved_measurement_is_one():
    from explorer.analysis.latency.report import latency_report
    from explorer.ui.latency.folds import draw_recorded

    document = latency_report(measured(TIMES), {"processor": "a"})
    assert "1 thread." in draw_recorded(json.dumps(document))
    document["protocol"]["threads"] = 2
    assert "2 threads." in draw_recorded(json.dumps(document))


def test_a_refused_point_leaves_a_gap_in_both_lines_and_nothing_else():
    def point(length, is_noisy=0):
        result = measured(TIMES, Workload(length=length, clock="wait"))
        log = replace(result.latency, disturbed=np.arange(20) < is_noisy)
        return replace(result, latency=log)

    sweep = Sweep("length", (point(16), point(32, is_noisy=15), point(64), point(128)))
    times, ratios = map(curves, sweep_of(*sweep.points)["figures"])
    for one, expected in zip(ratios.values(), (0.5, 0.98), strict=True):
        assert one["y"][1] is None
        assert [y for y in one["y"] if y] == pytest.approx([expected] * 3, rel=0.01)
        assert [end == 0 for end in one["error_y"]["array"]] == [False, True, False, False]
    assert all(one["y"].index(None) == 1 for one in times.values()), "no disturbed time is drawn"
    said = texts_folds.sweep_sentence(sweep)
    assert "Too few rounds were undisturbed at 32 tokens: no time is drawn." in said


def test_the_scheme_of_int8_is_named_as_torch_has_it():
    import torch
    from torch import nn

    from explorer.timing.networks import TimedNetwork, int8_network, int8_weights_network

    linear = nn.Sequential(nn.Linear(8, 8))
    timed = TimedNetwork(SPECS[0], linear, "for the scheme")
    with int8_network(timed) as made:
        weight = made.network[0].weight()
    assert weight.qscheme() in (torch.per_channel_affine, torch.per_channel_symmetric)
    assert len(weight.q_per_channel_scales()) == 8
    assert "one scale per row of a weight matrix" in texts_faster.FASTER_NOTE
    with int8_weights_network(timed) as made:
        kept = made.network[0]
    assert kept.int8_weight.dtype == torch.int8
    off = (kept.int8_weight * kept.scale[:, None] - linear[0].weight).abs()
    largest = linear[0].weight.abs().amax(1, keepdim=True)
    assert bool((off <= largest / 127 / 2 + 1e-7).all())
    x = torch.randn(3, 8)
    assert torch.allclose(kept(x), linear[0](x), atol=0.05)
    assert type(linear[0]) is nn.Linear, "the network that others use stays as it was"
