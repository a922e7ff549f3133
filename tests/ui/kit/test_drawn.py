"""What Python draws can be taken away too: its numbers lie beside it, unrounded, under one menu."""

import hashlib
import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from explorer.analysis.parameters.shapes import sharing_modes
from explorer.links.page_state import PageState
from explorer.ui.kit.asked import with_runs
from explorer.ui.kit.canvas import has_recipe
from explorer.ui.shell.api import ENDPOINTS
from tests.markup import every, plain
from tests.ui.kit.measured import TIMES, WORK, quoted_drawings, timed_drawings

PAIR = PageState(text="the cat sat. [SEP] a dog was bad.")
GAPS = PageState(text="the [MASK] sat on the [MASK].")
OFFERED = PageState(text="the [cat|dog|unbelievable] sat on the [MASK].")
TEXT, PASSAGE = "the cat was not bad!", "The cat sat on the mat. A dog was in Paris."
TABLES = {
    "predictions/joint",
    "predictions/asked",
    "parameters/components",
    "distillation/masking",
    "layer/contexts",
    "latency/times",
    "latency/limits",
    "latency/faster",
    "latency/recorded",
    "tasks/objectives",
    "tasks/printed",
    "tasks/squad",
    "tasks/sst2",
}
"""What is read and not looked at: no picture of it is offered."""
DERIVED = {
    "tasks/pairs",
    "tasks/sentiment",
    "tasks/question",
    "predictions/joint",
    "predictions/attribution",
}
"""What prints sums, products and complements of its rows besides."""


def drawings(column="bert"):
    """Every piece of markup that holds numbers, by its kind; a head of the column is off."""
    from explorer.ui.attention import folds as attention
    from explorer.ui.distillation import folds as distillation
    from explorer.ui.latency import tab as latency
    from explorer.ui.latency.settings import MeasurementSettings
    from explorer.ui.layer import folds as layer
    from explorer.ui.parameters import folds as parameters
    from explorer.ui.predictions import folds
    from explorer.ui.predictions import folds as predictions
    from explorer.ui.tasks import tab, tuned

    return {
        "latency/measure": latency.draw_card(MeasurementSettings())[2],
        "tasks/pairs": with_runs(tab.show_pairs)(PAIR),
        "tasks/quadrants": tab.show_quadrants(PAIR),
        "tasks/sentiment": tuned.show_sentiment(PAIR, TEXT),
        "tasks/question": tuned.show_question(PAIR, "Where was the dog?", PASSAGE),
        "predictions/attribution": folds.show_attribution(GAPS),
        "predictions/joint": predictions.show_joint(GAPS),
        "predictions/asked": predictions.show_asked(GAPS, "cat, unbelievable"),
        "predictions/contrast": predictions.show_contrast(OFFERED),
        "parameters/components": parameters.show_sizes(PAIR)[1],
        "layer/contexts": layer.show_contexts(GAPS),
        "parameters/calls": parameters.show_calls(PAIR),
        "distillation/masking": distillation.show_masking(PAIR, 10, 3),
        "attention/ablation": attention.show_changes({"off": {column: [[0, 0]]}}, GAPS)[1],
        **timed_drawings(),
        **quoted_drawings(PAIR),
    }


@pytest.fixture
def drawn(tuned_family, monkeypatch):
    monkeypatch.setattr("explorer.ui.tasks.tab.is_shown", lambda skill: True)
    return drawings()


def numbers_in(markup):
    return {one["data-kind"]: json.loads(one["data-numbers"]) for one in every(markup, cls="drawn")}


def by_name(numbers):
    return [dict(zip(numbers["columns"], row, strict=True)) for row in numbers["rows"]]


@pytest.mark.long
def test_every_drawing_has_its_rows_beside_it_under_one_menu(drawn):
    whole(drawn)
    numbers = {kind: numbers_in(markup)[kind] for kind, markup in drawn.items()}
    rows = {kind: by_name(found) for kind, found in numbers.items()}
    as_the_endpoints_say(rows)
    adding_up(rows)
    as_measured(rows)
    as_printed(rows)
    named({kind: found["said"] for kind, found in numbers.items()})


def whole(drawn):
    for kind, markup in drawn.items():
        numbers = numbers_in(markup)
        assert list(numbers) == [kind]
        wanted = ["csv", "json"] if kind in TABLES else ["svg", "png", "csv", "json"]
        wanted += ["py", "ipynb"] if has_recipe(kind) else []
        assert [one["data-take"] for one in every(markup, data_take=...)] == wanted, kind
        columns = numbers[kind]["columns"]
        assert len(set(columns)) == len(columns)
        assert by_name(numbers[kind]), kind
        cells = [cell for row in numbers[kind]["rows"] for cell in row]
        assert all(cell is None or isinstance(cell, str | int | float) for cell in cells)
        for shown in re.findall(r"(?<![\w.])0\.\d{3}(?![\d])", plain(markup, " ")):
            assert kind in DERIVED or any(
                isinstance(cell, float) and f"{cell:.3f}" == shown for cell in cells
            ), (kind, shown)


def as_the_endpoints_say(rows):
    pair = {m["model"]: m for m in ENDPOINTS["pair"]("the cat sat.", "a dog was bad.")["models"]}
    assert [r["probability_in_order"] for r in rows["tasks/pairs"] if r["order"] == "written"] == [
        pytest.approx(pair[key]["probability_in_order"], rel=1e-6) for key in ("bert", "albert")
    ]
    judged = ENDPOINTS["sentiment"](TEXT)["models"]
    for name in ("integrated_gradients", "leave_one_out"):
        wanted = np.concatenate([model[name] for model in judged])
        assert [r[name] for r in rows["tasks/sentiment"]] == pytest.approx(wanted, rel=1e-6)
    names = [row["model"] for row in rows["parameters/components"]]
    counted = ENDPOINTS["parameters"](names)["models"]
    for row, model in zip(rows["parameters/components"], counted, strict=True):
        assert (row["total"], row["applied"]) == (model["total"], model["applied"])
        assert {part: row[part] for part in model["components"] if part in row} == {
            part: n for part, n in model["components"].items() if part in row
        }


def adding_up(rows):
    for row in rows["tasks/quadrants"]:
        for side in ("a", "b"):
            three = [row[f"{side}_to_{to}"] for to in ("a", "b", "added")]
            assert sum(three) == pytest.approx(1, abs=1e-5)
    for name in ("answer_begins_here", "answer_ends_here"):
        assert sum(row[name] for row in rows["tasks/question"]) == pytest.approx(3)
    shares = [r["share_of_all_tokens"] for r in rows["distillation/masking"]]
    assert sum(shares) == pytest.approx(1)
    for row in rows["predictions/asked"]:
        if row["probability"] is not None:
            assert -np.log(row["probability"]) == pytest.approx(row["surprisal_nats"])
    left = [r["log_joint_nats"] for r in rows["predictions/joint"] if r["filled"] != "alone"]
    assert sum(a >= b for a, b in pairwise(left)) >= len(left) - 3, "best first in each model"


def as_measured(rows):
    """What was put into the measurements comes out, in the same units."""
    ms = [TIMES[key] for key in ("bert", "distilbert", "albert")]
    for kind in ("times", "limits", "recorded"):
        found = [row["median_ms"] for row in rows[f"latency/{kind}"]]
        assert found == pytest.approx(ms, rel=0.01), kind
    ratios = {row["name"]: row["ratio"] for row in rows["latency/ratios"]}
    assert ratios["ALBERT"] == pytest.approx(0.98, rel=0.01)
    assert rows["latency/claim"][0]["ratio"] == pytest.approx(100 / 163, rel=0.01)
    plain, int8 = rows["latency/faster"]
    assert (int8["times_float32"], int8["mean_kl_nats"]) == (pytest.approx(0.4), 0.0123)
    assert plain["times_float32"] is plain["same_first_answer"] is None
    assert (plain["process_bytes"], int8["process_bytes"]) == (None, 5)
    speeds = [int8[f"texts_per_second_at_{n}"] for n in (2, 8)]
    assert speeds == pytest.approx([2 / 0.04, 8 / 0.16])
    assert plain["texts_per_second_at_8"] is int8["p90_ms_at_8"] is None
    for row in rows["latency/limits"]:
        best = max(row["arithmetic_ms"], row["memory_ms"])
        assert row["share_of_limit"] == pytest.approx(best / row["median_ms"])
        assert row["gflops"] / row["arithmetic_ms"] == pytest.approx(0.4, rel=1e-3)


def as_printed(rows):
    assert {row["source"] for row in rows["tasks/objectives"]} - {"measured"}
    nsp = [row for row in rows["tasks/objectives"] if row["model"] == "ALBERT-base, NSP"]
    assert [row["share_right"] for row in nsp] == pytest.approx([0.905, 0.520])
    printed = {(row["model"], row["column"]): row for row in rows["tasks/printed"]}
    assert printed["DistilBERT", "Score"]["share_in_percent"] == pytest.approx(96.9, abs=0.05)
    for task, score in (("sst2", "accuracy"), ("squad", "f1")):
        for row in rows[f"tasks/{task}"]:
            first = rows[f"tasks/{task}"][0]
            assert row["low"] <= row[score] <= row["high"]
            assert row["share_of_bert"] == pytest.approx(row[score] / first[score])
    built = {row["part"]: row["count"] for row in rows["parameters/built"]}
    sizes = [built.pop(f"{name}_bytes") for name in ("fp32", "fp16", "int8")]
    assert sizes == [size * built["total"] for size in (4, 2, 1)]
    cost = {built.pop(name) for name in ("applied", "flops", "activation_bytes_fp32")}
    assert built.pop("total") == sum(built.values()) == sharing_modes(128)[0].total
    assert all(cost)


def named(said):
    for kind in ("claim", "limits", "times", "ratios", "faster"):
        told = said[f"latency/{kind}"]
        state = told["state"]
        assert (state["length"], state["batch"]) == (WORK.length, WORK.batch), kind
        assert told["models"] is told["text"] is None, kind
    assert said["latency/recorded"]["machine"] == {"torch": "9"}
    assert said["latency/recorded"]["device"] is None, "another machine's numbers"
    assert said["parameters/built"]["shape"]["d_embedding"] == 128
    assert said["parameters/built"]["state"] == {"L": 12, "H": 768, "E": 128, "sharing": "none"}
    assert "models" not in said["tasks/sst2"], "whose adapters they are"
    assert said["tasks/printed"]["models"] is None
    assert said["tasks/sentiment"]["text"] == TEXT
    for task in ("sentiment", "question"):
        for adapter in said[f"tasks/{task}"]["adapters"]:
            folder, digest = re.fullmatch(r"mini-\w+: (\S+) \(sha256 (\w+)\)", adapter).groups()
            weights = Path(folder, "adapter_model.safetensors").read_bytes()
            assert hashlib.sha256(weights).hexdigest() == digest
    assert said["parameters/calls"] == {"family": True, "models": True}, "weights are read there"
    assert said["tasks/question"]["passage"] == PASSAGE
    assert said["latency/measure"]["models"] is None, "shapes are no checkpoints"
    assert said["latency/measure"]["state"]["length"] == 32
    assert said["attention/ablation"]["state"] == {"heads_off": {"mini-BERT": "1.1"}}
    assert said["predictions/asked"]["state"] == {"asked": "cat, unbelievable"}
    assert said["predictions/joint"] == {}
