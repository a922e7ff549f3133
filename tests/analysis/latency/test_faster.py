"""Faster ways to run: what they gain, what they cost, and what is said where one is missing."""

import shutil
from contextlib import ExitStack
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch

from explorer.analysis.latency import faster as latency_faster
from explorer.analysis.latency.faster import (
    FasterResult,
    Missing,
    build_variants,
    estimated_s,
    measure_faster,
    precision_variants,
    runtime_bytes,
    why_not,
)
from explorer.analysis.latency.measure import Latency, RoundsPlan
from explorer.analysis.latency.summary import latency_summary
from explorer.analysis.latency.variants import (
    Variant,
    VariantLatency,
    accuracy_cost,
    accuracy_costs,
    bundled_sentences,
    mask_logits,
    masked_texts,
)
from explorer.models.specs import BASE, LARGER
from explorer.scheduling.cancel import Cancelled, CancelToken
from explorer.timing.networks import TimedNetwork, timed_network
from explorer.timing.runtimes import table as runtimes
from explorer.timing.runtimes.process import BuildRequest
from explorer.timing.workload import Workload
from explorer.ui.latency.choice_strings import faster_estimate, faster_notes
from explorer.ui.latency.folds import draw_faster

PLAIN = ["float32", "bfloat16", "int8", "int8 weights"]
FEW = RoundsPlan(budget_s=1e6, min_rounds=3, max_rounds=3, max_warm_rounds=1)


def test_accuracy_cost_against_a_computation_by_hand():
    exact = np.array([[2.0, 0.0], [0.0, 1.0]])
    changed = np.array([[0.0, 3.0], [0.0, 1.0]])
    cost = accuracy_cost("bert", "int8", exact, changed)
    p, q = 1 / (1 + np.exp(-2)), 1 / (1 + np.exp(3))
    by_hand = (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))) / 2
    assert cost.same_top1 == 0.5
    assert cost.mean_kl == pytest.approx(by_hand)
    with pytest.raises(ValueError, match="no mask"):
        accuracy_cost("bert", "int8", exact[:0], changed[:0])


@pytest.mark.parametrize("length", [48, 128])
def test_texts_have_one_length_and_every_counted_mask_stands_in_its_whole_sentence(
    tiny_family, length
):
    from explorer.models.forward import tokenize

    loaded, sentences = tiny_family.loaded("distilbert"), bundled_sentences(12)
    texts = masked_texts(loaded, sentences, length)
    fitting = [t for t in (tokenize(loaded, s) for s in sentences) if len(t.ids) <= length]
    assert texts.ids.shape[1] == length
    assert len(texts.rows) == sum(len(t.mask_positions) for t in fitting) > 0
    mask = loaded.tokenizer.mask_token_id
    assert set(texts.ids[texts.rows, texts.positions]) == {mask}
    assert set(texts.ids[:, 0]) == {loaded.tokenizer.cls_token_id}
    assert set(texts.ids[:, -1]) == {loaded.tokenizer.sep_token_id}
    for t, row, position in zip(fitting, texts.rows, texts.positions, strict=True):
        start = position - t.mask_positions[0] + 1
        assert tuple(texts.ids[row, start : start + len(t.ids) - 2]) == t.ids[1:-1]


def test_nothing_is_compared_where_no_sentence_fits(tiny_family):
    spec = tiny_family.specs["distilbert"]
    with ExitStack() as held:
        variants = precision_variants(spec, Workload(length=4), CancelToken(), held)
        assert list(accuracy_costs(variants, CancelToken())) == []


@pytest.mark.parametrize("head", [False, True])
@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_mask_logits_are_those_of_the_plain_network(tiny_family, key, head):
    loaded, work = tiny_family.loaded(key), Workload(length=96, batch=3, head=head)
    texts = masked_texts(loaded, bundled_sentences(12), 96)
    assert len(texts.ids) > 3, "several batches are part of the test"
    assert len(texts.ids) % 3, "a last batch that is not full is part of the test"
    with timed_network(tiny_family.specs[key], work) as timed:
        found = mask_logits(Variant("float32", timed, work), texts, CancelToken())
    with torch.inference_mode():
        out = loaded.network(torch.from_numpy(texts.ids))
    logits = getattr(out, "prediction_logits", None)
    logits = (out.logits if logits is None else logits)[texts.rows, texts.positions]
    np.testing.assert_allclose(found, logits.numpy(), atol=1e-4)


def test_cheaper_precisions_move_predictions_a_little(tiny_family):
    spec = tiny_family.specs["distilbert"]
    with ExitStack() as held:
        variants = precision_variants(spec, Workload(length=128), CancelToken(), held)
        costs = list(accuracy_costs(variants, CancelToken(), bundled_sentences(3)))
    assert [cost.name for cost in costs] == ["bfloat16", "int8", "int8 weights"]
    assert all(0 < cost.mean_kl < 1 and cost.n_masks == 3 for cost in costs)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler here: apt-get install g++")
def test_all_ways_to_run_share_their_rounds_and_the_runtimes_answer_as_torch_does(tiny_family):
    if absent := [name for name in runtimes.PACKAGES if runtimes.absent_packages(name)]:
        pytest.skip(f"no {', '.join(absent)} here: pip install -r tests/requirements.txt")
    spec = tiny_family.specs["distilbert"]
    *_, found = measure_faster([spec], Workload(length=64), FEW, CancelToken(), (1, 3))
    assert {row.reason for row in found.missing} <= {"bfloat16"}
    (variants,) = found.models
    names = [*PLAIN, "torch.compile", "ONNX Runtime", "OpenVINO"]
    names += [] if found.missing else ["OpenVINO bfloat16"]
    assert [name for name in names if variants.throughput(name, 3) is None] == ["torch.compile"]
    assert all(variants.resident.values())
    assert found.done == found.n_steps == 3
    assert [model.name for model in variants.summary.models] == names
    assert variants.summary.n_rounds == 3
    assert all(model.median_ms > 0 for model in variants.summary.models)
    exact = {cost.name: cost for cost in found.costs if cost.name in names[4:7]}
    assert set(exact) == set(names[4:7])
    assert all(cost.same_top1 == 1 and cost.mean_kl < 1e-6 for cost in exact.values())


@pytest.mark.parametrize(
    ("runtime", "device", "absent", "free", "reason"),
    [
        (runtimes.ONNX, "cuda", (), 10**12, "device"),
        (runtimes.ONNX, "cpu", ("onnxscript",), 10**12, "packages"),
        (runtimes.OPENVINO, "cuda", (), 10**12, "device"),
        (runtimes.OPENVINO_BF16, "cpu", ("openvino",), 10**12, "packages"),
        (runtimes.OPENVINO, "cpu", ("onnx",), 10**12, ""),
        (runtimes.MEMORY, "cuda", (), 10**12, "device"),
        (runtimes.COMPILE, "cuda", ("onnx",), 10**12, ""),
        (runtimes.COMPILE, "cpu", ("onnx",), 10**9, "memory"),
        (runtimes.COMPILE, "cpu", ("onnx",), 10**12, ""),
        (runtimes.ONNX, "cpu", (), 10**12, ""),
    ],
)
def test_a_runtime_is_not_tried_where_it_cannot_work(
    monkeypatch, runtime, device, absent, free, reason
):
    monkeypatch.setattr(runtimes, "find_spec", lambda name: None if name in absent else object())
    clock = "compute" if device == "cpu" else "device"
    request = BuildRequest(runtime, BASE["bert"], Workload(device=device, clock=clock), None)
    assert why_not(request, 2 * 10**9, free) == reason


def test_packages_that_are_not_there_are_found_missing(monkeypatch):
    monkeypatch.setattr(runtimes, "find_spec", lambda name: None if name == "onnx" else object())
    assert runtimes.absent_packages(runtimes.ONNX) == ("onnx",)
    assert runtimes.absent_packages(runtimes.OPENVINO) == ()


def test_larger_shapes_ask_for_more_memory_than_small_ones():
    from explorer.models.architectures import meta_network

    needed = [
        runtime_bytes(TimedNetwork(spec, meta_network(spec), "random"), Workload())
        for spec in (BASE["distilbert"], LARGER["bert-large-uncased"])
    ]
    assert needed[0] < 2e9 < needed[1]


class FailingProcess:
    """A runtime process that is refused, or never ends building."""

    ended: ClassVar = []

    def __init__(self, request, outcome):
        self.request, self.outcome = request, outcome

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wait_until_built(self, check):
        raise self.outcome

    def end(self):
        self.ended.append(self.request.runtime)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(runtimes.NoRuntime("compiler"), "compiler"), (Cancelled("deadline"), "late")],
)
def test_a_runtime_that_fails_leaves_the_other_rows(tiny_family, monkeypatch, outcome, reason):
    from explorer.timing.runtimes import process as runtime_process

    FailingProcess.ended.clear()
    monkeypatch.setattr(
        runtime_process, "RuntimeProcess", lambda request: FailingProcess(request, outcome)
    )
    spec = tiny_family.specs["distilbert"]
    with ExitStack() as processes:
        variants, missing = build_variants(spec, Workload(), CancelToken(), processes)
    assert [variant.name for variant in variants] == PLAIN
    assert (runtimes.COMPILE in FailingProcess.ended) == (reason == "late")
    assert (runtimes.COMPILE, reason) in [(row.name, row.reason) for row in missing]


def test_stopping_while_something_is_built_keeps_what_is_complete(tiny_family, monkeypatch):
    def stopped(*_):
        raise Cancelled("stopped")

    monkeypatch.setattr(latency_faster, "build_variants", stopped)
    shots = measure_faster([tiny_family.specs["bert"]], Workload(), FEW, CancelToken())
    assert next(shots).building.key == "bert"
    assert next(shots).building is None
    with pytest.raises(Cancelled):
        next(shots)


def test_a_model_that_is_too_late_is_named_and_the_next_one_is_measured(tiny_family, monkeypatch):
    """Neither drawing its weights nor its rounds end the other models' turn."""
    bert, distilbert, albert = tiny_family.specs.values()
    drawn = latency_faster.precision_variants

    def draw(spec, workload, cancel_token, held):
        cancel_token.check()
        if spec is bert:
            raise Cancelled("deadline")
        return drawn(spec, workload, cancel_token, held)[:1]

    timed = latency_faster.variant_latency
    monkeypatch.setattr(latency_faster, "precision_variants", draw)
    monkeypatch.setattr(latency_faster, "_start", lambda *_: ([], []))
    monkeypatch.setattr(
        latency_faster,
        "variant_latency",
        lambda v, plan, cancel_token: (
            None if v[0].network.spec is distilbert else timed(v, plan, cancel_token)
        ),
    )
    cancel_token = CancelToken()
    cancel_token.set_deadline(-1)
    specs = [distilbert, albert, bert]
    *_, found = measure_faster(specs, Workload(length=8), FEW, cancel_token)
    assert [timed.spec for timed in found.models] == [albert]
    said = " ".join(faster_notes(found))
    assert "left out for mini-BERT: building took longer" in said
    assert "left out for mini-DistilBERT: no round" in said


def test_every_missing_row_is_said_in_one_sentence_naming_the_models():
    bert, albert = BASE["bert"], BASE["albert"]
    for reason in runtimes.REASONS:
        rows = (Missing(bert, runtimes.ONNX, reason), Missing(albert, runtimes.ONNX, reason))
        (sentence,) = [line for line in faster_notes(FasterResult(missing=rows)) if line]
        assert sentence.startswith("ONNX Runtime")
        assert sentence.endswith(".")
        assert ("BERT and ALBERT" in sentence) == (reason in {"memory", "late", "failed", "slow"})
    building = faster_notes(FasterResult(building=bert))
    assert building[0] == "Compiling BERT and exporting it to ONNX and OpenVINO …"
    for runtime, packages in runtimes.PACKAGES.items():
        (markup,) = draw_faster(FasterResult(missing=(Missing(bert, runtime, "packages"),)))
        assert f"pip install {' '.join(packages)}." in markup


def test_three_names_have_one_and_before_the_last():
    counts = {"n_rounds": 20, "n_used": 3, "ended": "budget", "refused": True}
    summary = SimpleNamespace(holds=False, disturbed_share=0.85, **counts)
    disturbed = [SimpleNamespace(spec=spec, summary=summary, batches={}) for spec in BASE.values()]
    late = tuple(Missing(spec, runtimes.ONNX, "late") for spec in BASE.values())
    said = " ".join(faster_notes(FasterResult(models=tuple(disturbed), missing=late)))
    why = "time ran out after 20, and 17 of them were disturbed and left out."
    for spec in BASE.values():
        assert f"{spec.label}: a time is reported from 8 undisturbed rounds on: {why}" in said
    assert "ONNX Runtime is left out for BERT, DistilBERT and ALBERT: " in said


def test_two_rows_of_one_absent_package_are_one_sentence():
    rows = [
        Missing(spec, runtime, "packages")
        for spec in BASE.values()
        for runtime in (runtimes.OPENVINO, runtimes.OPENVINO_BF16)
    ]
    said = [line for line in faster_notes(FasterResult(missing=tuple(rows))) if line]
    assert said == ["OpenVINO is not installed here: pip install openvino."]


class FixedProcess:
    """A runtime process whose pass takes a second a text, and that holds a billion bytes."""

    def __init__(self, *requests):
        self.request, self.requests = requests[0], requests

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wait_until_built(self, check):
        names = PLAIN if self.request.runtime == runtimes.MEMORY else [self.request.runtime]
        return dict.fromkeys(names, len(names) * 10**9)

    def seconds(self, workload, check, place):
        assert workload == self.request.workload or self.request.runtime != runtimes.COMPILE
        return float(workload.batch)

    def scores(self, question, check, place):
        return np.zeros((len(question.rows), 64), np.float32)


@pytest.mark.long
def test_every_way_has_its_memory_and_its_texts_per_second_with_each_batch(
    tiny_family, monkeypatch
):
    """A pass that takes a second a text is of one text per second, whatever the batch."""
    from explorer.timing.runtimes import process as runtime_process

    monkeypatch.setattr(runtime_process, "RuntimeProcess", FixedProcess)
    monkeypatch.setattr(runtimes, "find_spec", lambda name: object())
    monkeypatch.setattr(latency_faster, "accuracy_costs", lambda variants, cancel_token: iter(()))
    spec = tiny_family.specs["distilbert"]
    plan = RoundsPlan(budget_s=1e6, target=10.0, max_warm_rounds=1)
    shots = list(measure_faster([spec], Workload(length=8, batch=2), plan, CancelToken(), (1, 2)))
    (found,) = shots[-1].models
    assert [shot.done for shot in shots if shot.models] == [1, 2, 3]
    assert next(set(shot.models[0].batches) for shot in shots if shot.models) == {2}
    assert set(found.batches) == {1, 2}
    assert found.resident == dict.fromkeys(PLAIN, 4 * 10**9) | dict.fromkeys(
        runtimes.RUNTIMES[:-1], 10**9
    )
    for batch, summary in found.batches.items():
        for name in runtimes.PACKAGES:
            assert found.throughput(name, batch) == (1.0, 1e3 * batch)
        per_second, p90_ms = found.throughput("float32", batch)
        samples = summary.model("float32").samples_ms
        assert len(samples) >= 44, "a 90th percentile needs so many"
        assert per_second == pytest.approx(batch / (np.median(samples) / 1e3))
        assert p90_ms == pytest.approx(np.percentile(samples, 90))
    assert found.throughput(runtimes.COMPILE, 2) == (1.0, 2e3)
    assert found.throughput(runtimes.COMPILE, 1) is None
    assert found.throughput("float32", 16) is None


def test_on_the_wall_clock_torchs_variants_share_a_process_of_their_own(tiny_family, monkeypatch):
    from explorer.timing.runtimes import process as runtime_process

    monkeypatch.setattr(runtime_process, "RuntimeProcess", FixedProcess)
    work = Workload(length=8, clock="wait")
    with ExitStack() as stack:
        spec = tiny_family.specs["distilbert"]
        variants = precision_variants(spec, work, CancelToken(), stack)
    assert [variant.name for variant in variants] == list(PLAIN)
    (process,) = {variant.process for variant in variants}
    for variant in variants:
        request = process.requests[variant.place]
        assert (request.runtime, request.workload) == (variant.name, variant.workload)


@pytest.mark.long
@pytest.mark.parametrize(("is_up", "said"), [(False, "A batch of 8 is left out"), (True, "")])
def test_a_batch_without_a_round_is_named_unless_somebody_asked_for_the_end(
    tiny_family, monkeypatch, is_up, said
):
    cancel_token = CancelToken()
    timed = latency_faster.variant_latency

    def late(variants, plan, cancel_token):
        if variants[0].workload.batch == 1:
            return timed(variants, plan, cancel_token)
        if is_up:
            cancel_token.stop()
        return None

    monkeypatch.setattr(latency_faster, "_start", lambda *_: ([], []))
    monkeypatch.setattr(latency_faster, "accuracy_costs", lambda variants, cancel_token: iter(()))
    monkeypatch.setattr(latency_faster, "variant_latency", late)
    specs = [tiny_family.specs[key] for key in ("bert", "distilbert")]
    *_, found = measure_faster(specs, Workload(length=8), FEW, cancel_token, (8,))
    assert [set(one.batches) for one in found.models] == [{1}] * (1 if is_up else 2)
    assert said in " ".join(faster_notes(found))
    assert bool(found.missing) != is_up


def test_a_batch_that_would_fill_the_memory_is_named(tiny_family, monkeypatch):
    from explorer.timing import machine

    monkeypatch.setattr(latency_faster, "_start", lambda *_: ([], []))
    monkeypatch.setattr(latency_faster, "accuracy_costs", lambda variants, cancel_token: iter(()))
    specs = [tiny_family.specs["distilbert"]]
    for found in measure_faster(specs, Workload(length=8), FEW, CancelToken(), (8,)):
        if found.models:
            monkeypatch.setattr(machine, "free_bytes", lambda device: 0)
    said = " ".join(faster_notes(found))
    assert "A batch of 8 is left out for mini-DistilBERT: it would need" in said


class TimeToken(CancelToken):
    """Token whose clock the test moves."""

    def __init__(self, limit_s):
        self.now = 0.0
        super().__init__(lambda: self.now)
        self.end_within(limit_s)


TWO = ("float32", "int8")


@pytest.fixture
def by_the_clock(tiny_family, monkeypatch):
    """A measurement each step of which takes the seconds named; yields the steps that ended."""
    steps, token = [], TimeToken(60)

    def take(what, seconds):
        token.now += seconds
        token.check()
        steps.append(what)

    def precisions(spec, workload, cancel_token, stack):
        take(f"precisions of {spec.key}", 4)
        network = SimpleNamespace(spec=spec, weights="random")
        return [Variant(name, network, workload) for name in TWO]

    def built(spec, workload, cancel_token, stack):
        variants = precisions(spec, workload, cancel_token, stack)
        take(f"runtimes of {spec.key}", 20)
        return [*variants, Variant(runtimes.ONNX, variants[0].network, workload)], []

    def timed(variants, plan, cancel_token):
        work = variants[0].workload
        try:
            take(f"rounds of {len(variants)} at {work.batch}", min(plan.budget_s, 6))
        except Cancelled:
            return None
        return timings(variants, work)

    monkeypatch.setattr(latency_faster, "precision_variants", precisions)
    monkeypatch.setattr(latency_faster, "build_variants", built)
    monkeypatch.setattr(latency_faster, "variant_latency", timed)
    monkeypatch.setattr(latency_faster, "precisions_on", lambda workload: TWO)
    monkeypatch.setattr(runtimes, "RUNTIMES", (runtimes.ONNX, runtimes.MEMORY))
    return steps, token


def timings(variants, work):
    seconds = np.tile(np.linspace(0.2, 0.1, len(variants)), (12, 1))
    names = tuple(variant.name for variant in variants)
    log = Latency(
        names,
        seconds,
        seconds[:, 0],
        np.zeros(12, bool),
        (1.0,) * len(names),
        1,
        5.0,
        True,
        "rounds",
    )
    summary = latency_summary(log)
    spec = variants[0].network.spec
    return VariantLatency(spec, summary, "random", {}, {work.batch: summary})


def test_a_limit_ends_it_with_what_there_is_and_names_the_rest(tiny_family, by_the_clock):
    """27 s for the precisions of three models, 30 s for all of BERT, and 3 s into the next."""
    steps, token = by_the_clock
    specs, plan = list(tiny_family.specs.values()), RoundsPlan(budget_s=25)
    shots = list(measure_faster(specs, Workload(length=8), plan, token))
    found = shots[-1]
    assert steps[:6:2] == [f"precisions of {spec.key}" for spec in specs]
    assert steps[-1] == "rounds of 3 at 1"
    assert next(n for n, shot in enumerate(shots) if len(shot.models) == 3) < len(shots) - 3
    assert [len(timed.summary.models) for timed in found.models] == [3, 2, 2]
    assert (found.is_out_of_time, found.missing, found.building) == (True, (), None)
    said = " ".join(faster_notes(found))
    assert "Not measured: ONNX Runtime of mini-DistilBERT and mini-ALBERT." in said
    (drawn,) = draw_faster(found)
    assert "<progress" not in drawn
    assert "Not measured: " in drawn


def test_batch_sizes_that_were_not_reached_are_named(tiny_family, by_the_clock):
    _, token = by_the_clock
    specs, plan = [tiny_family.specs["bert"]], RoundsPlan(budget_s=25)
    token.end_within(50)
    *_, found = measure_faster(specs, Workload(length=8), plan, token, (1, 8, 32))
    assert set(found.models[0].batches) == {1, 8}
    assert "Not measured: batches of 32 of mini-BERT." in " ".join(faster_notes(found))


def test_a_limit_in_which_all_is_measured_leaves_nothing_out(tiny_family, by_the_clock):
    _, token = by_the_clock
    token.end_within(600)
    specs, plan = list(tiny_family.specs.values()), RoundsPlan(budget_s=25)
    *_, found = measure_faster(specs, Workload(length=8), plan, token)
    assert (found.done, found.is_out_of_time) == (found.n_steps, False)
    assert [len(timed.summary.models) for timed in found.models] == [3, 3, 3]
    assert "Not measured" not in " ".join(faster_notes(found))


def test_without_a_limit_no_model_is_timed_twice(tiny_family, by_the_clock):
    steps, token = by_the_clock
    token.end_within(600)
    specs, plan = list(tiny_family.specs.values()), RoundsPlan(budget_s=25)
    assert [*measure_faster(specs, Workload(length=8), plan, CancelToken())]
    assert len([step for step in steps if step.startswith("rounds")]) == 3


def test_the_estimate_grows_with_models_and_batches_and_is_said_in_minutes():
    one, three = (estimated_s(3, n, 25.0) for n in (1, 3))
    assert three - one == pytest.approx(3 * 2 * 25)
    assert estimated_s(6, 1, 25.0) == pytest.approx(2 * one)
    said = faster_estimate(3, one, three)
    assert f"about {round(one / 60)} minutes for 3 models" in said
    assert faster_estimate(1, 20.0, 70.0).startswith("All of it takes about 1 minute for 1 model,")
