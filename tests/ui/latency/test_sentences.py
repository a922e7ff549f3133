"""No sentence of the latency tab is false: each claim is evaluated on drawn results."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.latency.family import SpeedOrder, Sweep
from explorer.analysis.latency.faster import FasterResult
from explorer.analysis.latency.measure import RoundsPlan
from explorer.analysis.latency.ratio import Ratio
from explorer.analysis.latency.size_vs_time import SizeVsTime, SizeVsTimeRow
from explorer.analysis.latency.variants import AccuracyCost
from explorer.models.specs import BASE
from explorer.scheduling.job_queue import JobUpdate
from explorer.timing.workload import Workload
from explorer.ui.latency import choice_strings, size_vs_time_strings, strings
from explorer.ui.latency import strings as texts
from explorer.ui.latency.settings import MeasurementSettings
from explorer.ui.latency.tab import draw_card
from tests.analysis.latency.test_family import measured
from tests.ui.sentences import law, read, told

CROWDED = st.sampled_from([0.2, 0.5, 0.97, 0.99, 1.0, 1.004, 1.02, 1.2, 8.0])
INF = float("inf")


@st.composite
def ratios(draw, is_sure=None):
    value = draw(CROWDED)
    sure = draw(st.booleans()) if is_sure is None else is_sure
    spread = draw(st.sampled_from([0.005, 0.03, 0.2]))
    ends = (value * (1 - spread), value * (1 + spread)) if sure else (0.0, INF)
    return Ratio(value, *ends, draw(st.integers(1, 30)))


@st.composite
def paradoxes(draw):
    """BERT, DistilBERT and ALBERT of any sizes, timed or not, with ratios or without."""
    state = draw(st.sampled_from(["before", "refused", "few", "sure"]))
    rows = []
    for key, spec in BASE.items():
        is_first = key == "bert"
        times = None
        if state in ("few", "sure"):
            one = Ratio(1.0, 1.0, 1.0, 20)
            times = one if is_first else draw(ratios(state == "sure"))
        rows.append(
            SizeVsTimeRow(
                key,
                spec.label,
                draw(st.integers(1, 12)),
                draw(st.sampled_from(["gelu", "gelu_new"])),
                100 if is_first else draw(st.sampled_from([10, 50, 66, 99, 100, 101, 1482])),
                1.0 if is_first else draw(st.sampled_from([0.5, 0.99, 1.0, 1.01, 7.97, 224.73])),
                key == "albert",
                None if state == "before" else draw(st.sampled_from([4.0, 120.0])),
                times=times,
            )
        )
    return SizeVsTime(tuple(rows), Workload(), tuple(rows))


def summary_of(paradox, is_different):
    rows = paradox.rows
    found = {row.label: SimpleNamespace(is_different=is_different) for row in rows[1:]}
    summary = SimpleNamespace(
        models=[
            SimpleNamespace(name=row.label, p90_ms=None if i else 1.2 * (row.ms or 0))
            for i, row in enumerate(rows)
        ],
        ratio=lambda name: found[name] if rows[-1].times else None,
        refused=False,
        n_rounds=20,
        n_used=20 if rows[-1].times else 3,
        ended="settled",
    )
    summary.reported = summary if rows[-1].times else None
    return summary


def way(times):
    """Where a quotient lies: below 1, at it, above it; within 1.5% is at it."""
    return 0 if abs(times - 1) <= 0.015 else 1 if times > 1 else -1


def stored_right(text, parameters, label):
    fewer = re.search(r"([\d.,]+) times fewer weights than", text)
    more = re.search(r"([\d.,]+) times as many weights as", text)
    if fewer:
        assert abs(float(fewer[1].replace(",", "")) - 100 / parameters) <= 0.051
        assert parameters < 100
    elif more:
        assert abs(float(more[1].replace(",", "")) - parameters / 100) <= 0.051
        assert parameters > 100
    else:
        assert f"as many weights as {label}" in text
        assert f"{max(parameters / 100, 100 / parameters):.2f}" == "1.00"


@law
@given(paradoxes(), st.booleans(), st.sampled_from(["base", "mini", "larger", ""]))
def test_but_and_yet_join_only_what_does_not_go_the_same_way(paradox, is_different, shapes):
    first, star = paradox.rows[0], paradox.rows[2]
    summary = summary_of(paradox, is_different)
    text = read(size_vs_time_strings.paradox_finding(paradox, summary, shapes))
    stored_right(text, star.parameters, first.label)
    stored = way(star.parameters / first.parameters)
    if star.ms is None or star.times is None:
        assert ("A time is reported from 8 undisturbed rounds on: " in text) == (
            star.ms is not None or star.times is None
        )
        assert "p50" not in text
        assert (", but needs" in text) == (stored != way(star.gflops))
        work = re.search(r"needs (?:([\d.,]+) × |(half )|nearly )?the (same )?compute", text)
        assert bool(work[3]) == (abs(star.gflops - 1) < 0.015)
        assert bool(work[2]) == (f"{star.gflops:.2f}" == "0.50")
        assert not work[1] or work[1] == f"{star.gflops:.{2 if star.gflops < 1.995 else 1}f}"
        return
    judge_lines(text, paradox)
    judge_fastest(text, paradox, is_different)
    shown = f"{star.times.ratio:.2f} ×"
    assert shown in text
    if not star.times.is_sure:
        rounds = star.times.n_rounds
        said = f"{shown} BERT's CPU time ({rounds} round{'s' * (rounds > 1)}, no interval)"
        assert f". Preliminary: {said}" in text
        return
    time = way(star.times.ratio) if is_different else 0
    assert (", yet " in text) == (stored != time)
    assert ("no difference in CPU time shows" in text) == (not is_different)


def judge_lines(text, paradox):
    """Each model's line has its own ratio, interval, p50, p90 and texts a second."""
    assert text.count("p90 needs 44 rounds: the intervals were narrow after 20.") == 1
    for i, row in enumerate(paradox.rows):
        (line,) = re.findall(rf"(?<!\w){row.label}: ([^:]*?\.)(?= |$)", text)
        p50 = re.search(r"CPU time p50 ([\d.,]+) ms, ", line)[1]
        assert float(p50.replace(",", "")) == pytest.approx(row.ms, rel=0.005)
        assert ("p90" in line) == (i == 0)
        rate = re.search(r"([\d,.]+) texts per CPU second\.", line)[1]
        assert float(rate.replace(",", "")) == pytest.approx(1000 / row.ms, rel=0.01)
        ratio = re.search(
            r"([\d.]+) × BERT's CPU time \((?:95% CI ([\d.]+) to ([\d.]+)|no interval)\)", line
        )
        assert bool(ratio) == (i > 0 and row.times is not None)
        if ratio:
            assert ratio[1] == f"{row.times.ratio:.2f}"
            ends = (f"{row.times.low:.2f}", f"{row.times.high:.2f}")
            assert ratio.groups()[1:] == (ends if row.times.is_sure else (None, None))


def judge_fastest(text, paradox, is_different):
    """One is called the fastest where its interval lies below that of each other model."""
    rows = paradox.rows
    told = re.match(r"(\w+) is the fastest here\. ", text)
    if not all(row.times and row.times.is_sure for row in rows):
        assert "fastest" not in text
        return
    clear = [
        row.label
        for row in rows
        if is_different and all(row.times.high < o.times.low for o in rows if o is not row)
    ]
    assert ((told and [told[1]]) or []) == clear
    assert bool(told) != text.startswith("No model is clearly the fastest here. ")


def timed(state, star, student):
    """The published family, measured so that ALBERT takes ``star`` and DistilBERT ``student``."""
    rows = []
    for key, times in (("bert", 1.0), ("distilbert", student), ("albert", star)):
        sure = state == "sure" or key == "bert"
        ends = (times * 0.97, times * 1.03) if sure else (0.0, INF)
        ratio = Ratio(1.0, 1.0, 1.0, 60) if key == "bert" else Ratio(times, *ends, 60)
        shape = BASE[key].architecture
        said = (BASE[key].label, shape.n_layers, shape.activation)
        row = SizeVsTimeRow(
            key,
            *said,
            {"bert": 109_482_240, "distilbert": 66_362_880, "albert": 11_683_584}[key],
            11.2 if key == "distilbert" else 22.4,
            key == "albert",
            None if state == "before" else 41.2 * times,
            times=ratio if state in ("few", "sure") else None,
        )
        rows.append(row)
    return SizeVsTime(tuple(rows), Workload(), tuple(rows))


def test_of_twenty_measurements_the_headline_has_ratio_p50_p90_and_texts_a_second():
    for state in ("before", "refused", "few", "sure"):
        for star, student in ((1.06, 0.52), (1.0, 1.0), (0.6, 0.59), (0.3, 0.52), (7.9, 1.8)):
            found = timed(state, star, student)
            differs = abs(star - 1) > 0.05
            said = size_vs_time_strings.paradox_finding(found, summary_of(found, differs), "base")
            told(f"{state}: ALBERT {star}, DistilBERT {student}", read(said))
            if state in ("before", "refused"):
                assert ", but needs the same compute. " in read(said)
                assert "p50" not in read(said)
            else:
                judge_lines(read(said), found)
                judge_fastest(read(said), found, differs)
    summary = summary_of(found, True)
    for model in summary.models:
        model.p90_ms = 50.0
    assert "p90 needs" not in size_vs_time_strings.paradox_finding(found, summary, "base")


@law
@given(paradoxes())
def test_the_three_titles_quote_their_own_numbers_and_no_ratio_stands_flat(paradox):
    (_, stored), (_, work), (_, time) = size_vs_time_strings.paradox_titles(paradox)
    star = paradox.rows[2]
    stored_right(read(stored), star.parameters, "BERT")
    n = star.n_layers
    assert read(work).startswith(f"ALBERT's one layer runs {'once' if n == 1 else f'{n} times'}: ")
    assert ("the same compute as BERT" in work) == (abs(star.gflops - 1) < 0.015)
    if star.times is None:
        assert "×" not in read(time)
        return
    assert ("(95% confidence intervals)" in read(time)) == star.times.is_sure
    assert time.startswith("Preliminary, without intervals: ") == (not star.times.is_sure)


@law
@given(paradoxes())
def test_the_time_is_called_faster_or_slower_than_the_compute_only_by_its_whole_interval(paradox):
    star, text = paradox.rows[2], read(size_vs_time_strings.why(paradox))
    times, work = star.times, star.gflops
    is_sure = times is not None and times.is_sure
    assert bool(text) == is_sure
    assert ("faster than its compute" in text) == (is_sure and times.high < work / 1.05)
    assert ("slower than its compute" in text) == (is_sure and times.low > work * 1.05)
    if "contains the quotient" in text:
        assert times.low <= work <= times.high
    if "activation function" in text:
        same = star.activation == paradox.rows[0].activation
        assert ("is that of BERT" in text) == same


@law
@given(ratios(), ratios(), st.booleans())
def test_a_verdict_on_the_published_figure_is_given_for_full_sizes_with_intervals_alone(
    encoder, head, full_size
):
    text = read(strings.claim_sentence({False: encoder, True: head}, "x", full_size))
    found = {"encoder only": encoder, "with the MLM head": head}
    sure = encoder.is_sure and head.is_sure
    assert ("too few rounds" in text) == (not sure)
    assert ("no verdict" in text) == (sure and not full_size)
    paper = 410 / 668
    inside = [name for name, r in found.items() if r.low <= paper <= r.high]
    if sure and full_size:
        said = re.search(r"0\.61 is (inside the interval \((.+)\)|outside both intervals);", text)
        assert (said[2] or "") == " and ".join(inside)
    for one in found.values():
        if one.is_sure:
            assert f"it is {1 / one.ratio:.2f} × [{1 / one.high:.2f}, {1 / one.low:.2f}]" in text


POINTS = {"tokens": (16, 32, 64), "texts": (1, 2, 4)}


@law
@given(
    st.lists(st.sampled_from(["faster", "slower", "open"]), min_size=1, max_size=3),
    st.sampled_from(["tokens", "texts"]),
)
def test_every_point_of_a_sweep_stands_where_its_interval_says(kinds, unit):
    points = dict(zip(POINTS[unit], kinds, strict=False))
    sides = [
        tuple(n for n, k in points.items() if k == kind) for kind in ("faster", "slower", "open")
    ]
    text = read(strings._order(SpeedOrder("albert", *sides), "ALBERT", "BERT", unit))
    if set(kinds) == {"open"}:
        assert "no interval excludes 1" in text
        return
    for kind, numbers in zip(("faster", "slower", "undecided"), sides, strict=True):
        told = re.search(rf"{kind} at ([\d, and]+)", text)
        assert [int(n) for n in re.findall(r"\d+", told[1] if told else "")] == [*numbers]
    assert ("at 1 text " in text) == (unit == "texts" and any(s == (1,) for s in sides[:2]))


@st.composite
def sweeps(draw):
    axis, values = draw(st.sampled_from([("length", (16, 32, 64)), ("batch", (1, 2, 4))]))
    specs = (BASE["bert"], BASE["albert"])

    def point(value):
        ratio = draw(st.one_of(st.none(), ratios()))
        held = None if ratio is None else SimpleNamespace(ratio=ratio)
        summary, cpu = (SimpleNamespace(ratio=lambda _name: held) for _ in range(2))
        summary.reported = draw(st.sampled_from([summary, summary, cpu, None]))
        workload = SimpleNamespace(**{axis: value})
        return SimpleNamespace(specs=specs, workload=workload, summary=summary)

    points = tuple(point(value) for value in values[: draw(st.integers(0, 3))])
    end = draw(st.sampled_from(["asked", "more", "late", "too much"]))
    return Sweep(
        axis,
        points,
        refusal="It needs 9 GB." if end == "too much" else "",
        late_point=512 if end == "late" else 0,
        n_points=len(points) if end == "asked" else 9,
    )


@law
@given(sweeps())
def test_a_sweep_says_who_is_faster_where_what_it_lacks_and_why_it_ended(sweep):
    text = read(strings.sweep_sentence(sweep))
    one, many = ("token", "tokens") if sweep.axis == "length" else ("text", "texts")
    if not (sweep.late_point or sweep.refusal or len(sweep.points) >= sweep.n_points):
        assert text == f"{len(sweep.points)} of {sweep.n_points} points measured."
        return
    assert ("Stopped" in text) == bool(sweep.late_point or sweep.refusal)
    assert (f"512 {many} exceeded the time limit" in text) == bool(sweep.late_point)
    assert ("It needs 9 GB." in text) == bool(sweep.refusal)
    on_wall = [point for point in sweep.points if point.summary.reported is point.summary]
    sides = {"faster": [], "slower": [], "undecided": []}
    for point in on_wall:
        held, at = point.summary.ratio("albert"), getattr(point.workload, sweep.axis)
        sure = held is not None and held.ratio.low > 0 and held.ratio.high < INF
        side = "undecided"
        if (
            sure and not held.ratio.low <= 1 <= held.ratio.high
        ):  # times the first takes over its own
            side = "slower" if held.ratio.ratio < 1 else "faster"
        sides[side].append(at)
    told_of_gaps(sweep, text)
    claims = re.split("In CPU time, |Too few rounds", text)
    for side in ("faster", "slower"):
        told = re.search(rf"{side} at ([\d, and]+) (?:{one}|{many})", claims[0])
        assert [int(n) for n in re.findall(r"\d+", told[1] if told else "")] == sides[side]
    told = re.search(r"undecided at ([\d, and]+)", claims[0])
    is_open = bool(sides["faster"] or sides["slower"])
    assert [int(n) for n in re.findall(r"\d+", told[1] if told else "")] == (
        sides["undecided"] if is_open else []
    )
    assert not is_open or " than BERT" in claims[0]
    ratios = [point.summary.ratio("albert") for point in on_wall]
    has_interval = any(held is not None and held.ratio.high < INF for held in ratios)
    assert ("no interval excludes 1" in claims[0]) == (has_interval and not is_open)


def told_of_gaps(sweep, text):
    """Points of CPU time and points without a time are named, and no others."""
    found = {"CPU time of one thread is drawn there": [], "no time is drawn": []}
    for point in sweep.points:
        at, shown = getattr(point.workload, sweep.axis), point.summary.reported
        if shown is None:
            found["no time is drawn"].append(at)
        elif shown is not point.summary:
            found["CPU time of one thread is drawn there"].append(at)
    for what, expected in found.items():
        told = re.search(rf"Too few rounds were undisturbed at ([\d, and]+) \w+: {what}", text)
        assert [int(n) for n in re.findall(r"\d+", told[1] if told else "")] == expected
    in_cpu = "In CPU time, " in text
    assert not in_cpu or found["CPU time of one thread is drawn there"]


@st.composite
def variants(draw):
    names = ["bfloat16", "int8", "compiled"]
    found = [
        SimpleNamespace(
            denominator=name, ratio=draw(ratios(True)), is_different=draw(st.booleans())
        )
        for name in draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    ]
    sizes = [4e8, 4.001e8, 1e8, None]
    held = {name: draw(st.sampled_from(sizes)) for name in ["float32", *names]}
    kept = [
        AccuracyCost("bert", n, draw(st.sampled_from([1.0, 0.996, 0.5, 0.0])), 0, 40) for n in names
    ]
    return SimpleNamespace(
        spec=BASE["bert"], summary=SimpleNamespace(ratios=found, holds=True), resident=held
    ), FasterResult(costs=tuple(draw(st.sampled_from([kept, []]))))


def percents(share):
    if 0 < share < 0.0005:
        return "< 0.1%"
    return "> 99.9%" if 0.9995 <= share < 1 else f"{100 * share:.1f}%"


def mb(size):
    return f"{size / 1e9:,.2f} GB" if size >= 999.95e6 else f"{size / 1e6:,.1f} MB"


@law
@given(variants())
def test_the_fastest_way_is_surely_faster_and_all_means_all(drawn):
    one, found = drawn
    text = read(choice_strings.ranked(one, found))
    quick = {
        r.denominator: 1 / r.ratio.ratio
        for r in one.summary.ratios
        if r.is_different and r.ratio.ratio > 1
    }
    same = {cost.name: cost.same_top1 for cost in found.costs}
    assert ("nothing here is clearly faster" in text) == (not quick)
    if quick:
        best = min(quick, key=quick.get)
        told = re.search(
            r"fastest with (\w+), ([\d.]+) × the time of float32(?:, (all|\d+%) of)?", text
        )
        assert quick[told[1]] == quick[best]
        assert told[2] == f"{quick[best]:.2f}"
        if told[3]:
            share = same[told[1]]
            assert (told[3] == "all") == (share == 1)
            assert told[3] == "all" or int(told[3][:-1]) <= 100 * share < int(told[3][:-1]) + 1
        kept = re.search(r"fastest with all of them unchanged: (\w+)", text)
        assert not kept or same[kept[1]] == 1
        if "nothing clearly faster leaves all" in text:
            assert not any(same.get(name) == 1 for name in quick)
    known = {name: size for name, size in one.resident.items() if size}
    least = re.search(r"lowest memory with ([\w ,]+), ([\d,.]+ [MG]B)", text)
    assert bool(least) == (len(known) > 1)
    if least:
        printed = {name: mb(size) for name, size in known.items()}
        assert least[2] == mb(min(known.values()))
        smallest = [n for n, size in printed.items() if size == least[2]]
        assert re.split(", | and ", least[1]) == smallest


@law
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from([*texts.ENDED]),
    ratios(),
    st.booleans(),
    st.sampled_from([None, 0.0, 0.7]),
)
def test_how_much_to_believe_is_said_of_the_rounds_and_intervals_that_there_are(
    n_rounds, n_blocks, ended, check, refused, disturbed
):
    summary = SimpleNamespace(
        n_rounds=n_rounds,
        n_blocks=n_blocks,
        wall_s=5.0,
        ended=ended,
        refused=refused,
        self_check=None if refused else check,
        disturbed_share=disturbed,
    )
    summary.reported = None if refused else summary
    text = read(texts.trust(summary, "BERT", Workload()))
    assert ("too few for confidence intervals" in text) == (not refused and not check.is_sure)
    is_checked = not refused and check.is_sure
    assert (f"against itself takes {check.low:.2f} to {check.high:.2f} ×" in text) == is_checked
    assert ("does not show whether other programs" in text) == (disturbed is None)
    assert ("spans at most 6%" in text) == (ended == "settled")


WALL, CPU = np.array([[0.2, 0.1, 0.18]]), np.array([[0.31, 0.16, 0.29]])


@st.composite
def measurements(draw):
    """Three models over any numbers of undisturbed and disturbed rounds, and of CPU time."""
    n_quiet, n_disturbed = draw(st.sampled_from([1, 0, 7, 8, 9, 43, 44])), draw(COUNT)
    if n_quiet + n_disturbed == 0:
        n_quiet = 1
    n, clock = n_quiet + n_disturbed, draw(st.sampled_from(["wait", "compute"]))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    disturbed = rng.permutation(np.arange(n) < n_disturbed)
    seconds = WALL * rng.uniform(1, 1.1, (n, 3)) * np.where(disturbed, 5, 1)[:, None]
    result = measured({"bert": 1, "distilbert": 1, "albert": 1}, Workload(clock=clock), n_rounds=n)
    n_cpu = draw(COUNT) if clock == "wait" else 0
    by_cpu = CPU * rng.uniform(1, 1.1, (n_cpu, 3))
    log = replace(
        result.latency,
        seconds=seconds,
        control=seconds[:, 0],
        disturbed=disturbed,
        ended=draw(st.sampled_from(["settled", "budget", "rounds", "stopped"])),
    )
    of_cpu = replace(
        log, seconds=by_cpu, control=by_cpu[:, 0], disturbed=np.zeros(n_cpu, bool), ended="budget"
    )
    return replace(result, latency=replace(log, cpu=of_cpu if n_cpu else None))


COUNT = st.sampled_from([0, 1, 7, 8, 20, 50])


@law
@given(measurements())
def test_no_headline_comes_from_fewer_than_eight_undisturbed_rounds(result):
    log, clock = result.latency, result.workload.clock
    used = log.seconds if clock == "compute" else log.seconds[~log.disturbed]
    by_cpu = np.empty((0, 3)) if log.cpu is None else log.cpu.seconds
    holds = len(used) >= 8 and 2 * len(used) >= log.n_rounds
    seconds = used if holds else by_cpu if len(by_cpu) >= 8 else None
    update = JobUpdate(0, None, done=True)
    finding, _, card, status, kept = draw_card(MeasurementSettings(clock=clock), result, update)
    text, bars, trust = read(finding), read(card), read(status)
    assert kept is result
    p50s = re.findall(r"(CPU time )?p50 ([\d.,]+) ms", text)
    if seconds is None:
        assert p50s == []
        assert "fastest" not in text
        assert "lt-fill" not in str(card).split("lt-group")[-1]
        judge_cause(text, "A time is reported from 8", log, len(used))
        return
    is_cpu = clock == "compute" or seconds is by_cpu
    assert [bool(named) for named, _ in p50s] == [is_cpu] * 3
    for (_, ms), expected in zip(p50s, np.median(seconds, axis=0), strict=True):
        assert float(ms.replace(",", "")) == pytest.approx(1e3 * expected, rel=0.005)
    assert ("CPU time here, one thread" in bars) == is_cpu
    assert ("These are CPU times of one thread: " in text) == (seconds is by_cpu)
    assert ("of CPU time came after disturbed ones" in trust) == (seconds is by_cpu)
    assert ("p90 needs" in text) == (len(seconds) < 44)
    if seconds is by_cpu:
        judge_cause(text, "a time is reported from 8", log, len(used))
        n = re.search(r"p90 needs 44 rounds: (\d+) of them could be run in CPU time", text)
        assert bool(n) == (len(seconds) < 44)
        assert n is None or int(n[1]) == len(by_cpu)
    elif len(seconds) < 44:
        judge_cause(text, "p90 needs 44", log, len(used))


def judge_cause(text, lead, log, n_used):
    """Too few rounds have a cause: how the measurement ended, and how many were left out."""
    n, left_out = log.n_rounds, log.n_rounds - n_used
    if lead not in text:
        share = re.search(r"[Oo]ther programs disturbed ([\d.]+)% of the rounds", text)
        assert float(share[1]) == pytest.approx(100 * log.disturbed.mean(), abs=0.05)
        assert n_used >= 8
        assert left_out > n_used
        return
    kind, cause = re.search(
        rf"{lead} (undisturbed rounds|rounds)(?: on)?: ([^.]*)\.", text
    ).groups()
    assert (kind == "undisturbed rounds") == (left_out > 0)
    ends = {
        "settled": f"the intervals were narrow after {n}",
        "budget": f"time ran out after {n}",
        "rounds": f"{n} {'was' if n == 1 else 'were'} asked for",
        "stopped": f"it was stopped after {n}",
    }
    assert cause.startswith(ends[log.ended])
    told = re.search(r", and (\d+) of them (was|were) disturbed and left out", cause)
    assert (int(told[1]) if told else 0) == left_out
    assert told is None or (told[2] == "was") == (left_out == 1)


def test_the_span_at_which_a_measurement_ends_is_the_one_that_is_said():
    assert f"{2 * RoundsPlan().target:.0%}" == re.search(r"\d+%", texts.ENDED["settled"])[0]


@law
@given(st.integers(0, 3), st.integers(1, 3))
def test_rounds_and_measurements_ahead_are_counted_in_singular_and_plural(rounds, ahead):
    text = read(texts.progress(rounds, 3.0, 20.0))
    assert text.startswith(f"{rounds} round" if rounds else "Building")
    read(texts.place_in_line(ahead))


@law
@given(st.integers(1, 4), st.sampled_from(["encoder", "head"]), st.integers(1, 2))
def test_what_was_held_fixed_keeps_its_names(batch, part, threads):
    work = Workload(24, batch, head=part == "head")
    result = SimpleNamespace(
        workload=work, weights=("random", "bundled"), threads=threads, devices=("cpu", "cuda")
    )
    text = read(texts.conditions(result))
    assert text.startswith(f"{'One text' if batch == 1 else f'{batch} texts'} of 24 tokens")
    assert ("MLM head" in text) == (part == "head")
    assert "cpu and cuda" in text


@law
@given(
    st.dictionaries(
        st.sampled_from([*BASE]),
        st.tuples(st.sampled_from(["memory", "arithmetic"]), st.floats(0, 1)),
        min_size=1,
    )
)
def test_each_model_s_share_of_the_limit_is_its_own(found):
    specs = [BASE[key] for key in found]
    limits = [
        SimpleNamespace(name=BASE[key].name, bound_by=bound) for key, (bound, _) in found.items()
    ]
    shares = {BASE[key].name: share for key, (_, share) in found.items()}
    text = read(strings.limits_sentence(SimpleNamespace(specs=specs), limits, shares))
    told = re.findall(r"(\w+) ([<> \d.]+%) \(bound by (\w+)\)", text)
    assert told == [(BASE[k].label, percents(s), b) for k, (b, s) in found.items()]


def test_the_fastest_is_named_among_models_of_one_column_too():
    found = timed("sure", 0.6, 1.8)
    rows = tuple(replace(row, key="albert") for row in found.rows)
    of_one = replace(found, rows=rows)
    said = size_vs_time_strings.paradox_finding(of_one, summary_of(of_one, True), "larger")
    assert "ALBERT is the fastest here" in read(said)
