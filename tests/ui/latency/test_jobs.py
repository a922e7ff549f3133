"""What the latency folds print, against arithmetic on the numbers that were measured."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.analysis.digits import in_ms
from explorer.analysis.latency.family import roofline
from explorer.analysis.latency.measure import Latency
from explorer.analysis.latency.summary import latency_summary
from explorer.analysis.latency.variants import VariantLatency
from explorer.models.specs import BASE, MINI
from explorer.timing.workload import Workload
from explorer.ui.latency import choice_strings as words
from explorer.ui.latency import folds, strings
from tests.analysis.latency.test_family import measured
from tests.markup import rows

TIMES = {"bert": 100.0, "distilbert": 50.0, "albert": 98.0}


def cells(markup):
    """A table as one dictionary per row, by the head of each column."""
    head, *body = rows(markup)
    return [dict(zip(head, row, strict=True)) for row in body]


def variants(name, **seconds):
    """A model's ways to run with the seconds each takes in all of twelve rounds."""
    table = np.tile(list(seconds.values()), (12, 1))
    log = Latency(
        tuple(seconds), table, table[:, 0], np.zeros(12, bool), (1.0,) * len(seconds), 1, 5.0,
        True, "settled",
    )  # fmt: skip
    return VariantLatency(BASE[name], latency_summary(log), "random")


@pytest.mark.parametrize(("shapes", "family"), [("mini", MINI), ("base", BASE), ("larger", BASE)])
def test_a_fold_times_the_chosen_three_and_beside_larger_ones_the_base(shapes, family):
    choice = SimpleNamespace(shapes=shapes)
    assert folds.choice_family(choice) == tuple(family.values())


def test_a_fast_machine_and_a_slow_model_are_told_in_operations_per_second():
    """3 GFLOP in 100 ms are 30 GFLOP / s; the best of 400 GFLOP / s would take 7.5 ms."""
    specs, work = tuple(BASE.values()), Workload(32)
    result = measured(TIMES, work)
    found = [roofline(spec, work, 4e11, 2e10) for spec in specs]
    (markup,) = folds.draw_limits((found, result))
    for row, spec, one in zip(cells(markup), specs, found, strict=True):
        shape, seconds = spec.architecture, TIMES[spec.key] / 1e3
        layer = 2 * 32 * (4 * shape.d_model**2 + 2 * shape.d_model * shape.d_ffn)
        rough = shape.n_layers * layer / 1e9
        assert float(row["GFLOP / s"]) == pytest.approx(rough / seconds, rel=0.05)
        assert float(row["arithmetic limit"]) == pytest.approx(rough / 0.4, rel=0.05)
        assert row["best GFLOP / s"] == "400"
        assert row["best GB / s"] == "20.0"
        assert float(row["memory limit"]) == pytest.approx(one.streamed_bytes / 2e7, rel=0.01)
        best = max(float(row["arithmetic limit"]), float(row["memory limit"]))
        share = float(row["of the limit"].rstrip("%")) / 100
        assert share == pytest.approx(best / float(row["measured ms"]), abs=0.01)


def test_the_table_of_samples_has_the_same_speed():
    from explorer.views.latency.measure import timing_table

    result = measured(TIMES, Workload(32))
    for row, model in zip(
        cells(timing_table(result, strings.TIMING_HEAD, "")), result.summary.models, strict=True
    ):
        spec = next(spec for spec in BASE.values() if spec.name == model.name)
        assert float(row["GFLOP / s"]) == pytest.approx(
            1e3 * result.gflops(spec) / model.median_ms, abs=0.06
        )
        assert float(row["tokens / s"]) == pytest.approx(32e3 / model.median_ms, abs=0.6)


def test_a_faster_way_takes_a_share_of_the_time_of_float32():
    from explorer.analysis.latency.faster import FasterResult
    from explorer.analysis.latency.variants import AccuracyCost

    cost = AccuracyCost("bert", "int8", 0.9, 0.0123, 40)
    ways = variants("bert", float32=0.1, int8=0.04)
    eight = variants("bert", int8=0.16).summary
    ways = replace(ways, resident={"int8": 650_400_000}, batches={1: ways.summary, 8: eight})
    found = FasterResult((ways,), (cost,))
    (markup,) = folds.draw_faster(found)
    plain, int8 = cells(markup)
    assert plain["× float32 time"] == plain["mean KL"] == "–"
    assert int8["× float32 time"].startswith("0.40 ×")
    assert (int8["ms"], int8["same top prediction"]) == ("40.0", "90%")
    assert int8["mean KL"] == "0.012 nats"
    assert (plain["memory"], int8["memory"]) == ("–", "650.4\u00a0MB")
    assert (plain["texts / s, batch 1"], int8["texts / s, batch 1"]) == ("10.0", "25.0")
    assert (plain["texts / s, batch 8"], int8["texts / s, batch 8"]) == ("–", "50.0")
    assert words.ONE_BATCH in markup
    one_size = str(folds.draw_faster(FasterResult((replace(ways, batches={}),), (cost,)))[0])
    assert words.ONE_BATCH not in one_size
    assert words.NOT_COMPARED not in one_size
    assert words.NOT_COMPARED in str(folds.draw_faster(FasterResult((ways,)))[0])
    assert (words.P90_NOTE in markup) == any(
        m.p90_ms for m in (*ways.summary.models, *eight.models)
    )
    assert words.throughput((50.0, 170.0)) == "50.0 (170\u00a0ms)"


def test_a_share_of_predictions_is_the_same_in_the_table_and_in_the_sentence():
    for share, said in ((13 / 14, "92%"), (0.29, "29%"), (0.999, "99%"), (1.0, "100%")):
        assert words.whole_percent(share) == said
    assert (words.share_said(13 / 14), words.share_said(1.0)) == ("92%", "all")


def test_a_limit_of_microseconds_has_digits():
    for ms, said in (
        (0.0, "0.00"),
        (2e-5, "2.0×10⁻⁵"),
        (0.0123, "0.01"),
        (1.0, "1.00"),
        (12.34, "12.3"),
        (1234.6, "1,235"),
    ):
        assert in_ms(ms) == said


def test_each_model_is_told_what_is_fastest_with_and_without_another_answer_and_what_holds_least():
    from explorer.analysis.latency.faster import FasterResult
    from explorer.analysis.latency.variants import AccuracyCost

    seconds = {"float32": 0.1, "int8": 0.02, "bfloat16": 0.04, "ONNX Runtime": 0.05, "slow": 0.2}
    ways = variants("bert", **seconds)
    held = replace(ways, resident={"float32": 866_000_000, "int8": 649_000_000, "slow": None})
    bert = {"int8": 0.525, "bfloat16": 1.0, "ONNX Runtime": 1.0, "slow": 1.0}
    costs = [AccuracyCost("bert", name, share, 0.1, 40) for name, share in bert.items()]
    costs += [AccuracyCost("albert", "int8", 1.0, 0.1, 40)]
    known = FasterResult((held,), tuple(costs))
    said = (
        "BERT: fastest with int8, 0.20 × the time of float32, 52% of the top predictions "
        "unchanged; fastest with all of them unchanged: bfloat16, 0.40 ×"
    )
    assert words.ranked(ways, known) == f"{said}."
    assert words.ranked(held, known) == f"{said}; lowest memory with int8, 649.0\u00a0MB."
    assert said in folds.draw_faster(known)[0]
    alone = variants("bert", float32=0.1, int8=0.02)
    assert (
        words.ranked(alone, FasterResult())
        == "BERT: fastest with int8, 0.20 × the time of float32."
    )
    assert words.ranked(alone, known).endswith(
        "; nothing clearly faster leaves all of them unchanged."
    )
    keeps = FasterResult((), (AccuracyCost("bert", "int8", 1.0, 0.1, 40),))
    assert words.ranked(alone, keeps).endswith("all of the top predictions unchanged.")
    for equal in (0.2, 0.099):
        none = words.ranked(variants("bert", float32=0.1, int8=equal), known)
        assert none == "BERT: nothing here is clearly faster than float32."
    refused = replace(alone, summary=replace(alone.summary, refused=True))
    assert words.ranked(refused, known) == ""


def test_the_longer_press_asks_for_three_batches_and_the_shorter_for_none(monkeypatch):
    from explorer.analysis.latency import faster

    asked = []
    monkeypatch.setattr(
        faster, "measure_faster", lambda *given: asked.append(given[-1]) or iter([])
    )
    choice = SimpleNamespace(specs=(), workload=Workload(16, dtype="bfloat16"))
    for job in (folds.measure_ways, folds.faster_batches):
        list(job(choice, None))
    assert asked == [(), (1, 8, 32)]


def test_the_claim_is_told_both_ways_and_judged_only_at_the_papers_size():
    pair = tuple(BASE[key] for key in ("bert", "distilbert"))
    done = {
        head: measured({"bert": 163.0, "distilbert": 100.0}, Workload(head=head), pair)
        for head in (False, True)
    }
    (markup,) = folds.draw_claim(done)
    assert "DistilBERT takes 0.61 × [0.60, 0.63] BERT" in markup
    assert "it is 1.63 × [1.58, 1.68] as fast" in markup
    assert "0.61 is inside the interval (encoder only and with the MLM head)" in markup
    (slower,) = folds.draw_claim({True: measured({"bert": 200.0, "distilbert": 100.0}, specs=pair)})
    assert "0.61 is outside the interval" in slower
    mini = tuple(MINI[key] for key in ("bert", "distilbert"))
    (small,) = folds.draw_claim({False: measured({"bert": 163.0, "distilbert": 100.0}, specs=mini)})
    assert "Timed here: mini-bert and mini-distilbert, 1 text of 32 tokens" in small
    assert "no verdict across sizes" in small
    assert "inside the interval" not in small


@pytest.mark.parametrize("rounds", [0, 12])
def test_a_claim_that_was_stopped_before_a_round_says_nothing(monkeypatch, rounds):
    """With no round there is no ratio; with rounds there is one for each head."""
    from types import SimpleNamespace

    from explorer.analysis.latency import family

    found = SimpleNamespace(latency=SimpleNamespace(n_rounds=rounds))
    monkeypatch.setattr(family, "measure_family", lambda *_: iter([found]))
    choice = SimpleNamespace(shapes="mini", workload=Workload(16))
    *_, last = folds.claim(choice, None)
    assert last == ({False: found, True: found} if rounds else {})
