"""Which should I use: what is shown is what was measured, and nothing runs before the press."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from explorer import assets
from explorer.analysis.latency import faster
from explorer.analysis.latency.faster import FasterResult
from explorer.analysis.latency.model_choice import (
    Candidate,
    Comparison,
    Figure,
    Limits,
    shares_of,
    variant_measures,
)
from explorer.analysis.latency.variants import AccuracyCost
from explorer.analysis.measures import share_interval
from explorer.inference import runs
from explorer.library import model_choice as library
from explorer.library.latency import first_word
from explorer.library.model_choice import (
    MeasuredModels,
    TimingProgress,
    Work,
    compared_models,
    work_of,
)
from explorer.links.page_state import PageState
from explorer.models import specs as model_specs
from explorer.models.architectures import meta_network
from explorer.models.specs import BASE, MINI, MODEL_KEYS
from explorer.scheduling.job_queue import JobUpdate
from explorer.timing.workload import Workload
from explorer.ui.kit.jobs import Progress, handler
from explorer.ui.latency import choice_strings, model_choice
from explorer.views.latency.model_choice import COSTS
from tests.analysis.latency.test_family import measured
from tests.markup import plain

STATE = PageState(text="the cat sat on the [MASK].")
measured_models = handler(model_choice.TIMES)
SENTENCES = (
    {"text": "the cat sat on the [MASK].", "answer": "mat"},
    {"text": "the [MASK] sat on the mat.", "answer": "cat"},
)


def exact(value):
    return Figure(value, value, value)


def around(value, half):
    return Figure(value, value - half, value + half)


def name(key):
    return f"mini-{key}"


@pytest.fixture
def kept(tiny_family):
    names = tuple(spec.name for spec in tiny_family.specs.values())
    times = {"bert": around(4, 0.2), "distilbert": around(2, 0.1), "albert": around(4.1, 0.2)}
    right = {"bert": around(0.5, 0.1), "distilbert": around(0.45, 0.1), "albert": around(0.3, 0.1)}
    times, right = ({name(key): v for key, v in one.items()} for one in (times, right))
    return MeasuredModels("right", names, Workload(clock="wait"), times, {"right": right})


NOT_YET = "; ".join(f"{choice_strings.TITLES[cost]}: not measured yet" for cost in COSTS)


def models_of(picture):
    numbers = json.loads(picture)["numbers"]
    return [dict(zip(numbers["columns"], row, strict=True)) for row in numbers["rows"]]


def test_before_the_press_sizes_are_known_and_nobody_is_advised(tiny_family, monkeypatch):
    monkeypatch.setattr(runs, "start_run", lambda *a: pytest.fail("a model ran"))
    said, picture, rows = model_choice.show_choice(STATE, None, 0, 0, "right", 0)
    assert choice_strings.NOTHING["milliseconds"] in said
    assert rows.count("not recommended: its time and its score were not measured") == 3
    assert (json.loads(picture)["figures"], json.loads(picture)["note"]) == ([], NOT_YET)
    for model, spec in zip(models_of(picture), tiny_family.specs.values(), strict=True):
        network = AutoModel.from_pretrained(tiny_family.path / spec.name)
        stored = sum(p.numel() for p in network.parameters())
        assert model["megabytes"] == pytest.approx(4 * stored / 1e6), spec.name
        assert model["model"] == spec.label
        assert model["milliseconds"] is model["score"] is None


def test_the_published_sizes_stand_beside_the_miniatures_with_printed_scores(tuned_family):
    """Sizes by plain transformers on shapes without weights; scores as the papers print them."""
    printed = {"sst2": (0.927, 0.913, 0.929), "squad": (0.885, 0.858, 0.902)}
    for task, expected in printed.items():
        _, picture, rows = model_choice.show_choice(STATE, None, 0, 0, task, 0)
        models = models_of(picture)
        assert [model["score_is_printed"] for model in models] == [True] * 3 + [False] * 3
        assert [model["is_example"] for model in models] == [False] * 3 + [True] * 3
        for model, spec, score in zip(models[:3], BASE.values(), expected, strict=True):
            with torch.device("meta"):
                network = AutoModel.from_config(meta_network(spec).config)
            stored = sum(p.numel() for p in network.parameters())
            assert model["megabytes"] == pytest.approx(4 * stored / 1e6)
            ends = [model[f"{end}score"] for end in ("", "low_", "high_")]
            assert ends == pytest.approx([score] * 3)
            assert model["milliseconds"] is None
        assert "Printed scores are the papers" in rows
        assert "The miniatures are an example" in rows
        assert "Sanh et al. 2019" in rows
        assert rows.count("(printed score)") == 3
    assert len(models_of(model_choice.show_choice(STATE, None, 0, 0, "right", 0)[1])) == 3


@pytest.mark.long
def test_what_was_timed_is_the_work_that_was_scored(tuned_family, tmp_path, monkeypatch):
    """Windows for questions, the mean phrase for sentiment, the page's sentences for its words."""
    own, folder = tuple(tuned_family.specs.values()), tmp_path / "models"
    shutil.copytree(tuned_family.path, folder)
    monkeypatch.setattr(model_specs, "BUNDLED", folder)
    for task, tokens, passes in (("sst2", 25.4, 1.0), ("squad", 128.0, 1.6)):
        for spec in own:
            path = folder / spec.name / "tasks" / task / "card.json"
            card = json.loads(path.read_text())
            for one in card["scores"].values():
                one |= {"tokens": tokens, "passes": passes}
            path.write_text(json.dumps(card))
        work = work_of(STATE.ask, task, own)
        assert work.workload.length == round(tokens)
        assert set(work.passes.values()) == {passes}
    said = choice_strings.timed_said("squad", work.workload, 9, work.passes.values(), 60)
    assert "over 128 tokens" in said
    assert "takes 1.6 windows on average" in said
    some = assets.sentences()[::8]
    monkeypatch.setattr(model_choice.assets, "sentences", lambda: some)
    tokenizers = [AutoTokenizer.from_pretrained(folder / spec.name) for spec in own]
    texts = [one["text"] for one in some]
    lengths = [list(map(len, tokenizer(texts)["input_ids"])) for tokenizer in tokenizers]
    longest = np.max(lengths, axis=0).mean()
    assert work_of(STATE.ask, "right", own).workload.length <= round(longest) + 1


@pytest.mark.long
def test_a_length_that_is_not_the_scored_ones_says_so(tiny_family):
    own = tuple(tiny_family.specs.values())
    for score, specs, of in (
        ("squad", own, "sentences"),
        ("right", own, ""),
        ("sst2", (), "nothing"),
        ("agreement", (), "nothing"),
    ):
        work = work_of(STATE.ask, score, specs)
        assert work.length_of == of
        said = choice_strings.timed_said(of or score, work.workload, 9, (), 60)
        assert "SST-2" not in said
        assert "SQuAD" not in said


def test_an_own_checkpoint_is_no_miniature(tuned_family):
    own = replace(MINI["bert"], name="my-bert", folder=tuned_family.path / "mini-bert", is_own=True)
    beside = {"bert": own, "distilbert": BASE["distilbert"]}
    ask = replace(STATE.ask, specs=beside)
    compared = compared_models(ask, None, "sst2", Limits())
    assert (compared.examples, list(compared.ranked)) == (
        (),
        ["my-bert", "distilbert-base-uncased"],
    )
    ask = replace(ask, specs=beside | {"albert": MINI["albert"]})
    compared = compared_models(ask, None, "sst2", Limits())
    assert compared.examples == ("mini-albert",)
    rows = {key: Candidate(exact(9), exact(1), exact(0.9)) for key in compared.candidates}
    said = choice_strings.choose_finding(replace(compared, candidates=rows))
    assert "Of the published models and your own, with no limits set" in said
    compared = compared_models(ask, None, "right", Limits())
    rows = {key: Candidate(exact(9), exact(1), exact(0.9)) for key in compared.candidates}
    own_alone = replace(compared, candidates={k: rows[k] for k in ("my-bert", "mini-albert")})
    assert "Of your own models, " in choice_strings.choose_finding(own_alone)


def test_an_answer_of_several_passes_takes_their_time(tuned_family, monkeypatch):
    work = Work("squad", Workload(128), {"bert": 2.0, "distilbert": 1.5, "albert": 1.0})
    specs = tuple(tuned_family.specs.values())
    rows = [SimpleNamespace(spec=spec) for spec in specs]
    models = [SimpleNamespace(median_ms=10.0, low_ms=9.0, high_ms=12.0) for _ in specs]
    summary = SimpleNamespace(models=models, n_used=9)
    summary.reported = summary
    result = SimpleNamespace(rows=rows, latency=SimpleNamespace(n_rounds=9), summary=summary)
    question, timed = (
        model_choice.TimingQuestion(STATE, "squad", False),
        TimingProgress,
    )
    update = JobUpdate(0, None, done=True, result=timed(work, {}, result))
    _, found = model_choice.draw_times(question, update)
    assert found.milliseconds == {
        name("bert"): Figure(20, 18, 24),
        name("distilbert"): Figure(15, 13.5, 18),
        name("albert"): Figure(10, 9, 12),
    }
    assert found.tells(STATE.ask, "squad")
    assert not found.tells(STATE.ask, "sst2")
    assert not found.tells(replace(STATE.ask, dtype="bfloat16"), "squad"), "other sizes and times"
    monkeypatch.setattr(library, "device_of", lambda ask: "cuda")
    assert not found.tells(STATE.ask, "squad"), "another device has other times"


@pytest.mark.parametrize("n_cpu", [7, 8])
def test_a_disturbed_measurement_gives_cpu_times_by_name_or_none(tiny_family, n_cpu):
    specs = tuple(tiny_family.specs.values())
    result = measured({"bert": 4, "distilbert": 2, "albert": 4}, Workload(clock="wait"), specs)
    log = replace(result.latency, disturbed=np.arange(20) >= 7)
    seconds = 3 * log.seconds[:n_cpu]
    fields = {"seconds": seconds, "control": seconds[:, 0], "disturbed": np.zeros(n_cpu, bool)}
    result = replace(result, latency=replace(log, cpu=replace(log, **fields)))
    work = Work("right", result.workload, {"bert": 2.0})
    question = model_choice.TimingQuestion(STATE, "right", False)
    right = {spec.name: around(0.5, 0.1) for spec in specs}
    done = TimingProgress(work, {"right": right}, result)
    said, found = model_choice.draw_times(question, JobUpdate(0, None, done=True, result=done))
    assert "13 of them were disturbed and left out" in said
    shown = model_choice.show_choice(STATE, found, 0, 3, "right", 0)
    if n_cpu < 8:
        assert found.milliseconds == {}
        assert choice_strings.NOTHING["milliseconds"] in shown[0]
        return
    medians = 1e3 * np.median(seconds, axis=0) * [2, 1, 1]
    assert [figure.value for figure in found.milliseconds.values()] == pytest.approx(medians)
    assert "hese are CPU times of one thread" in said
    assert "8 rounds with the models alternating, CPU time of one thread" in said
    page = plain(shown[2])
    assert "CPU time" in page
    assert "over the time limit in CPU time" in page
    assert "fastest" not in plain(shown[0])


def test_a_limit_decides_by_the_interval_and_half_precision_halves_the_size(kept):
    whole = model_choice.show_choice(STATE, kept, 0, 3, "right", 0)[1]
    assert [model["meets_the_limits"] for model in models_of(whole)] == [False, True, False]
    by_size, by_time = json.loads(whole)["figures"]
    assert "shapes" not in by_size["layout"]
    assert [shape["x0"] for shape in by_time["layout"]["shapes"]] == [3]
    half = model_choice.show_choice(replace(STATE, dtype="bfloat16"), kept, 0, 3, "right", 0)[1]
    for a, b in zip(models_of(whole), models_of(half), strict=True):
        assert b["megabytes"] == pytest.approx(a["megabytes"] / 2)
    least = model_choice.show_choice(STATE, kept, 0, 0, "right", 35)[1]
    assert [model["meets_the_limits"] for model in models_of(least)] == [True, True, False]
    times = kept.milliseconds
    front = json.loads(least)["figures"][1]["data"][0]
    assert front["x"] == [times[name(key)].value for key in ("distilbert", "bert")]
    assert [shape["y0"] for shape in json.loads(least)["figures"][1]["layout"]["shapes"]] == [35]


def test_what_was_measured_of_another_family_or_work_counts_for_nothing(kept):
    for other in (replace(kept, family=("a", "b", "c")), replace(kept, score="squad")):
        said = model_choice.show_choice(STATE, other, 0, 0, "right", 0)[0]
        assert choice_strings.NOTHING["milliseconds"] in said


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_the_first_word_is_plain_transformers(tiny_family, key):
    folder = tiny_family.path / tiny_family.specs[key].name
    network, tokenizer = (
        AutoModelForMaskedLM.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    encoded = tokenizer(STATE.text, return_tensors="pt", return_token_type_ids=key != "distilbert")
    place = int((encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0])
    with torch.no_grad():
        best = int(network(**encoded).logits[0, place].argmax())
    expected = tokenizer.decode([best]).strip().removeprefix("##").casefold()
    assert first_word(tiny_family.specs[key], STATE.ask).removeprefix("…") == expected


def test_shares_count_answers_and_berts_own_words():
    words = {
        "bert": ["mat", "dog", "x"],
        "distilbert": ["mat", "cat", "x"],
        "albert": ["y", "cat", "z"],
    }
    found = shares_of(words, ["Mat", "cat", "q"], "bert")
    right = {key: figure.value for key, figure in found["right"].items()}
    assert right == pytest.approx({"bert": 1 / 3, "distilbert": 2 / 3, "albert": 1 / 3})
    agree = {key: figure.value for key, figure in found["agreement"].items()}
    assert agree == pytest.approx({"bert": 1, "distilbert": 2 / 3, "albert": 0})
    assert found["agreement"]["bert"].low == 1.0
    figure = found["right"]["distilbert"]
    assert (figure.low, figure.high) == share_interval(2, 3)
    assert "agreement" not in shares_of({"albert": ["y"]}, ["q"], "bert")


@pytest.mark.processes
def test_a_press_reads_the_sentences_then_times_the_models(tiny_family, eight_rounds, monkeypatch):
    monkeypatch.setattr(assets, "sentences", lambda: SENTENCES)
    steps = list(measured_models(STATE, "agreement", False))
    assert "Sentences read: 0 of 2." in steps[0][0]
    said, found, _ = steps[-1]
    assert set(found.milliseconds) == {name(key) for key in MODEL_KEYS}
    assert all(figure.value > 0 for figure in found.milliseconds.values())
    assert set(found.shares) == {"right", "agreement"}
    runs_read = [tiny_family.runs(one["text"]) for one in SENTENCES]
    n_tokens = max(np.mean([len(one[key].tokens) for one in runs_read]) for key in MODEL_KEYS)
    assert f"over {round(n_tokens)} tokens on cpu in float32" in said
    finding = model_choice.show_choice(STATE, found, 0, 0, "agreement", 0)[0]
    assert "Of the miniatures (an example), with no limits set: smallest:" in finding


def test_the_round_that_runs_is_named_from_the_first_on():
    work = Work("right", Workload(16), {})
    question = model_choice.TimingQuestion(STATE, "right", False)
    told = [None, *(SimpleNamespace(latency=SimpleNamespace(n_rounds=n)) for n in (0, 4))]
    for result, n in zip(told, (1, 1, 5), strict=True):
        part = Progress(part=TimingProgress(work, {}, result))
        said, found = model_choice.draw_times(question, JobUpdate(0, part, done=False))
        assert f"Timing: round {n}." in said
        assert found == gr.skip()


def test_what_is_stopped_keeps_the_earlier_measurement():
    result = SimpleNamespace(latency=SimpleNamespace(n_rounds=9))
    work = Work("right", Workload(16), {})
    question = model_choice.TimingQuestion(STATE, "right", False)
    for part in (Progress(1, 2), Progress(part=TimingProgress(work, {}, result))):
        said, found = model_choice.draw_times(
            question, JobUpdate(0, part, done=True, stopped=True, result=part.part)
        )
        assert choice_strings.STOPPED in said
        assert found == gr.skip()


def faster_of(tiny_family, *rows):
    """What "Faster inference" finds: each row's model, way, time, and share of masks unchanged."""
    models, costs = {}, []
    for key, way, ms, same in rows:
        first = SimpleNamespace(name="float32", median_ms=99.0, low_ms=98.0, high_ms=100.0)
        row = SimpleNamespace(name=way, median_ms=ms, low_ms=0.9 * ms, high_ms=1.1 * ms)
        models.setdefault(key, [first]).append(row)
        if same is not None:
            costs.append(AccuracyCost(key, way, same, 0.1, 40))
    return FasterResult(
        models=tuple(
            SimpleNamespace(
                spec=tiny_family.specs[k], summary=SimpleNamespace(models=v, holds=True)
            )
            for k, v in models.items()
        ),
        costs=tuple(costs),
    )


def test_runtimes_are_ranked_with_the_models_and_scored_only_where_nothing_changed(
    tiny_family, kept
):
    found = faster_of(
        tiny_family,
        ("bert", "bfloat16", 1.0, 1.0),
        ("bert", "int8", 0.5, 0.975),
        ("bert", "OpenVINO", 1.5, 1.0),
        ("bert", "OpenVINO bfloat16", 0.7, 1.0),
        ("albert", "ONNX Runtime", 2.0, None),
    )
    ways = variant_measures(found, {"bert": 2.0})
    _, picture, rows = model_choice.show_choice(STATE, replace(kept, ways=ways), 0, 3, "right", 0)
    models = {one["model"]: one for one in models_of(picture)}
    bert = tiny_family.specs["bert"].label
    by_way = {way: models[f"{bert} ({way})"] for way in ("bfloat16", "OpenVINO", "int8")}
    assert by_way["bfloat16"]["milliseconds"] == 2
    assert by_way["OpenVINO"]["low_milliseconds"] == pytest.approx(2.7)
    assert by_way["bfloat16"]["megabytes"] == pytest.approx(models[bert]["megabytes"] / 2)
    assert by_way["OpenVINO"]["megabytes"] == pytest.approx(models[bert]["megabytes"])
    assert by_way["int8"]["megabytes"] is None
    own = models[bert]["score"]
    assert (by_way["bfloat16"]["score"], by_way["OpenVINO"]["score"]) == (own, own)
    assert by_way["int8"]["score"] is None
    onnx = models[f"{tiny_family.specs['albert'].label} (ONNX Runtime)"]
    assert (onnx["milliseconds"], onnx["score"]) == (2, None), "random weights have no score"
    met = {name for name, one in models.items() if one["meets_the_limits"]}
    assert met == {f"{bert} (bfloat16)", f"{bert} (OpenVINO bfloat16)", "mini-DistilBERT"}
    assert "undecided: the limit lies inside the interval of its time" in rows
    assert "not recommended: its size and its score were not measured" in rows
    assert "predictions at 40 masks were the same" in rows
    text = plain(rows)
    assert "50.0% [40.0, 60.0]" in text
    assert "2.00\u00a0ms [1.80, 2.20]" in text
    dots = json.loads(picture)["figures"][1]["data"][1:]
    shapes = {dot["text"][0]: (dot["mode"], dot["marker"]["symbol"]) for dot in dots}
    assert shapes[bert] == ("markers+text", "circle-open")
    assert shapes[f"{bert} (bfloat16)"] == ("markers", "diamond")
    assert f"{bert} (int8)" not in shapes


def test_a_model_that_ties_with_its_own_runtimes_is_named_alone(tiny_family, kept):
    rows = [("distilbert", way, 2.0, 1.0) for way in ("ONNX Runtime", "OpenVINO")]
    ways = variant_measures(faster_of(tiny_family, *rows), {})
    said = model_choice.show_choice(STATE, replace(kept, ways=ways), 0, 2.5, "right", 0)[0]
    text = plain(said)
    assert "smallest: mini-DistilBERT, fastest: mini-DistilBERT and best" in text


def test_a_tasks_head_did_not_run_otherwise_so_only_float32_keeps_its_score(tiny_family):
    rows = [("bert", way, 1.0, 1.0) for way in ("bfloat16", "OpenVINO", "OpenVINO bfloat16")]
    ways = {way.name: way for way in variant_measures(faster_of(tiny_family, *rows), {})}
    own = Candidate(exact(40), exact(4), exact(0.9))
    scores = {name: way.candidate(own, by_words=False).score for name, way in ways.items()}
    assert scores == {"bfloat16": None, "OpenVINO": exact(0.9), "OpenVINO bfloat16": None}


@pytest.mark.processes
def test_a_press_times_runtimes_only_where_asked_and_in_float32(
    tiny_family, eight_rounds, monkeypatch
):
    monkeypatch.setattr(assets, "sentences", lambda: SENTENCES)
    asked = []

    def timed(specs, workload, plan, cancel_token):
        asked.append((tuple(spec.key for spec in specs), workload.dtype))
        yield replace(faster_of(tiny_family), done=1, n_steps=2)
        yield replace(faster_of(tiny_family, ("bert", "OpenVINO", 1.0, 1.0)), done=2, n_steps=2)

    monkeypatch.setattr(faster, "measure_faster", timed)
    *_, (_, found, _) = measured_models(STATE, "right", False)
    assert (found.ways, asked) == ((), [])
    *_, (_, found, _) = measured_models(replace(STATE, dtype="bfloat16"), "right", True)
    assert (found.ways, asked) == ((), [])
    *_, (_, found, _) = measured_models(STATE, "right", True)
    assert [way.label for way in found.ways] == ["mini-BERT (OpenVINO)"]
    assert asked == [(tuple(MODEL_KEYS), "float32")]


SPECS = {key: BASE[key] for key in ("bert", "distilbert", "albert")}


def test_the_highest_score_is_said_to_be_printed_where_it_is():
    rows = {
        "bert": Candidate(exact(59), around(10, 1), around(0.64, 0.02)),
        "albert": Candidate(exact(47), around(90, 5), exact(0.902)),
    }
    said = choice_strings.choose_finding(Comparison(SPECS, rows, Limits(), ("albert",)))
    text = plain(said)
    assert "best score: ALBERT (printed)" in text
    assert "smallest: ALBERT, fastest: BERT" in text


def finding_of(limits, **rows):
    candidates = {key: Candidate(*row) for key, row in rows.items()}
    compared = Comparison(SPECS, candidates, limits)
    return choice_strings.choose_finding(compared), choice_strings.verdicts(compared)


def test_the_finding_names_ties_overlaps_and_the_beaten():
    a = (exact(10), around(2, 0.1), around(0.5, 0.1))
    said, verdicts = finding_of(
        Limits(megabytes=99), bert=a, distilbert=(exact(10), around(3, 0.1), around(0.4, 0.1))
    )
    assert "meet these limits: smallest:" in said
    assert said.count("BERT") - said.count("DistilBERT") == 4
    assert "(intervals of scores overlap)" in said
    assert verdicts == {
        "bert": choice_strings.FITS,
        "distilbert": choice_strings.FITS + choice_strings.CLOSE,
    }
    _, verdicts = finding_of(
        Limits(), bert=a, distilbert=(exact(10), around(3, 0.1), around(0.2, 0.1))
    )
    assert verdicts["distilbert"] == choice_strings.FREE + choice_strings.BEATEN
    apart, _ = finding_of(Limits(), bert=a, albert=(exact(5), around(3, 0.1), around(0.9, 0.1)))
    assert "overlap" not in apart
    alone, verdicts = finding_of(
        Limits(milliseconds=2.5), bert=a, albert=(exact(5), around(2.5, 0.1), around(0.9, 0.1))
    )
    assert "alone clearly meets" in alone
    assert verdicts["albert"] == "undecided: the limit lies inside the interval of its time"
    none, verdicts = finding_of(Limits(5, 1), bert=a)
    assert "None of them clearly" in none
    assert verdicts["bert"] == "over the size limit and over the time limit"


def test_no_score_for_anybody_says_so():
    said, _ = finding_of(Limits(), bert=(exact(1), around(2, 0.1), None))
    assert choice_strings.NOTHING["score"] in said


def test_miniatures_are_held_against_each_other_and_published_models_are_named():
    """A miniature is smaller and faster than every published model, and nobody deploys it."""
    rows = {
        "bert": Candidate(exact(438), around(90, 1), exact(0.927)),
        "albert": Candidate(exact(47), around(95, 1), exact(0.929)),
        "distilbert": Candidate(exact(38), around(4, 0.1), around(0.93, 0.002)),
    }
    compared = Comparison(SPECS, rows, Limits(), ("bert", "albert"), ("distilbert",))
    text = plain(choice_strings.choose_finding(compared))
    assert text == (
        "Of the published models, with no limits set: smallest: ALBERT, fastest: BERT and "
        "best score: ALBERT (printed)."
    )
    assert choice_strings.verdicts(compared)["bert"] == "no limits set (printed score)"
    small = Comparison(SPECS, rows, Limits(megabytes=40), ("bert", "albert"), ("distilbert",))
    text = plain(choice_strings.choose_finding(small))
    assert text == "Of the published models, none clearly meets these limits."
    assert choice_strings.verdicts(small)["distilbert"] == choice_strings.FITS
    alone = Comparison(SPECS, rows, Limits(), (), tuple(rows))
    text = plain(choice_strings.choose_finding(alone))
    assert text.startswith("Of the miniatures (an example), with no limits set: smallest: ")


def test_published_models_on_the_page_have_their_printed_scores():
    """Without an adapter of their own nothing else is known of them."""
    shown = model_choice.show_choice(replace(STATE, family="base"), None, 0, 0, "sst2", 0)
    models = models_of(shown[1])
    assert [one["score"] for one in models] == pytest.approx([0.927, 0.913, 0.929])
    assert [(one["score_is_printed"], one["is_example"]) for one in models] == [(True, False)] * 3
    assert "example" not in plain(shown[2])
