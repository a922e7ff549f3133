"""The command line of the latency protocol, and the client that clicks."""

import csv
import json
import re
from functools import partial

import numpy as np
import pytest

from benchmarks import latency, place, served
from benchmarks.__main__ import main
from benchmarks.latency import presses_report, self_report
from explorer.analysis.latency.faster import FasterResult, Missing
from explorer.analysis.latency.ratio import Ratio
from explorer.models import forward
from explorer.models.specs import BASE
from explorer.scheduling.cancel import Cancelled
from tests.ui.latency.test_jobs import variants


def test_a_measurement_is_printed_and_saved(tiny_family, tmp_path, capsys):
    path = tmp_path / "run.json"
    arguments = [
        "latency",
        "--family",
        "mini",
        "--length",
        "8",
        "--repeats",
        "6",
        "--budget",
        "600",
        "--save",
    ]
    assert main([*arguments, str(path)]) == 0
    printed = capsys.readouterr().out
    assert "6 rounds" in printed
    assert "bert over distilbert" in printed
    document = json.loads(path.read_text())
    assert [len(model["samples_ms"]) for model in document["models"]] == [6, 6, 6]


def test_every_device_is_measured_and_named(tiny_family, capsys):
    arguments = "latency --family mini --length 8 --repeats 3 --budget 600 --device every"
    assert main(arguments.split()) == 0
    assert re.search(r"mini-bert +cpu +[0-9.]+ ms", capsys.readouterr().out)


def test_a_model_against_itself_is_summed_up(tiny_family, capsys):
    arguments = "latency --family mini --length 8 --repeats 6 --budget 600 --against-itself 2"
    assert main(arguments.split()) == 0
    assert "2 measurements of a model against itself" in capsys.readouterr().out


def test_self_report_counts_and_errors():
    ratios = [Ratio(1.02, 0.99, 1.05, 12), Ratio(0.97, 0.95, 0.99, 12), Ratio(1.0, 0.9, 1.1, 12)]
    line = self_report(ratios)
    assert "holds 1 in 2" in line
    assert "median 2.00%" in line
    assert "largest 3.00%" in line
    assert "too loud" in self_report([])


def test_another_place_of_a_layer_is_timed_and_weighed(tiny_family, monkeypatch, capsys):
    monkeypatch.setattr(place, "stand_in_family", lambda: None)
    monkeypatch.setattr(place, "places_report", partial(in_family, place.places_report))
    assert main(["place"]) == 0
    told = dict(re.findall(r"^another (\w+): \d+ ms, (\d+) KB$", capsys.readouterr().out, re.M))
    assert told.keys() == place.PLACES.keys()
    assert all(0 < int(kb) < place.GOAL_KB for kb in told.values())


def in_family(report, base):
    return report(base | {"family": "mini"})


def test_bad_work_ends_with_one_sentence(capsys):
    assert main(["latency", "--length", "9999"]) == 2
    assert capsys.readouterr().err == "The length must be a whole number from 2 to 512.\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--presses", "1"], "--presses takes two or more: one has no spread.\n"),
        (
            ["--ways", "--save", "a.json"],
            "--save writes the rows of --ways to a .csv file alone.\n",
        ),
        (["--presses", "2", "--save", "a.csv"], latency.SAVES_ONE + "\n"),
    ],
)
def test_options_that_have_no_answer_are_refused_before_anything_is_measured(options, said, capsys):
    assert main(["latency", "--family", "mini", *options]) == 2
    assert capsys.readouterr().err == said


def test_a_stop_is_one_sentence(monkeypatch, capsys):
    def stopped(*_):
        raise Cancelled("deadline")

    monkeypatch.setattr(latency, "family_report", stopped)
    assert main(["latency", "--family", "mini"]) == 2
    said = capsys.readouterr().err
    assert said.endswith(".\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("key", ["bert", "albert"])
def test_made_up_texts_have_just_the_tokens_asked_for_and_never_repeat(key):
    tokenizer = served.word_tokenizer(BASE[key])
    rng = np.random.default_rng(0)
    texts = [served.made_up_text(32, rng) for _ in range(3)]
    assert len(set(texts)) == 3
    for text in texts:
        ids = tokenizer(text)["input_ids"]
        assert len(ids) == 32
        assert ids.count(tokenizer.mask_token_id) == 1
        assert tokenizer.unk_token_id not in ids
    assert len(tokenizer) == BASE[key].architecture.d_vocab


@pytest.mark.processes
def test_a_click_over_http_runs_the_models_and_reads_the_whole_answer(page, url, tiny_family):
    import httpx

    from explorer.inference import runs

    with httpx.Client(timeout=300) as http:
        client = served.Client(http, url, served.event_number(page, "on_view"))
        params = {"text": "The cat sat on the [MASK].", "family": "mini"}
        assert client.send(json.dumps({"params": params, "number": 1, "keep": []})) > 1000
        kept = [
            key
            for key in runs.CACHE._values
            if key[0] in {"mini-bert", "mini-distilbert", "mini-albert"}
        ]
        assert len(kept) == 3


@pytest.mark.processes
def test_an_empty_event_answers():
    with served.served_nothing() as client:
        assert client.send() > 50


def test_texts_at_once_are_asked_alone_or_together(tiny_family, monkeypatch):
    from benchmarks import together
    from explorer.inference import worker_queues as waiting

    passes, original = [], forward.run_together
    monkeypatch.setattr(
        forward, "run_together", lambda *a: passes.append(len(a[1])) or original(*a)
    )
    monkeypatch.setattr(together, "BASE", tiny_family.specs)
    monkeypatch.setattr(together, "LENGTHS", (10, 11))
    usual = waiting.MAX_ROWS
    together.asking(4, np.random.default_rng(0), 1)()
    assert passes.count(1) == 12
    together.asking(4, np.random.default_rng(1), usual)()
    assert sum(passes) == 24
    assert usual == waiting.MAX_ROWS


def test_presses_that_differ_by_more_than_their_blocks_show_say_by_how_much():
    """Made up: presses that lie 5% apart (one standard deviation), each sure to a thousandth."""
    rng = np.random.default_rng(2)
    moved = np.exp(rng.normal(0, 0.05, 400))
    sure = [Ratio(2 * m, 2 * m * 0.999, 2 * m * 1.001, 16) for m in moved]
    said = presses_report({"other": sure})
    deviation, beyond = (
        float(re.search(rf"{w} ([\d.]+)%", said)[1]) for w in ("deviation", "that")
    )
    assert deviation == pytest.approx(100 * np.std(np.log(moved), ddof=1), abs=0.06)
    assert beyond == pytest.approx(deviation, abs=0.1)
    loose = [Ratio(r.ratio, r.ratio * 0.8, r.ratio * 1.25, 16) for r in sure]
    assert "beyond that 0.0%" in presses_report({"other": loose})


def test_every_way_to_run_is_written_as_the_page_saves_it(monkeypatch, tmp_path, capsys):
    """One row for each way under the page's own columns; what is missing goes beside them."""
    asked, saved = [], tmp_path / "ways.csv"
    missing = (Missing(BASE["bert"], "OpenVINO", "packages"),)

    def found(specs, workload, plan, cancel_token, batches):
        asked.append(batches)
        yield FasterResult((variants("bert", float32=0.1, int8=0.04),), missing=missing)

    monkeypatch.setattr(latency, "measure_faster", found)
    assert main(["latency", "--ways", "8", "--save", str(saved)]) == 0
    plain, int8 = csv.DictReader(saved.read_text("utf-8").splitlines())
    assert asked == [[8]]
    assert (plain["way_to_run"], plain["times_float32"]) == ("float32", "")
    assert float(int8["times_float32"]) == pytest.approx(0.4)
    assert capsys.readouterr().err == "bert-base-uncased: OpenVINO missing (packages)\n"
