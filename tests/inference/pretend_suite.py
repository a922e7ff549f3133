"""Suite that compares everything the page does on a pretend accelerator with the CPU's numbers.

Includes a fourth model, whose row is added to the table of kinds before anything else reads it.
``test_pretend.py`` runs it in a separate process, since the device cannot be unregistered.
"""

import json
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import tests.inference.fourth_row  # isort: split

import numpy as np
import pytest
import torch
from gradio.context import LocalContext

from benchmarks.device import PARTS, compared
from explorer.analysis.distillation.live import LiveSettings, WatchedSentence
from explorer.analysis.latency.family import last, measure_family, plan_for
from explorer.inference.runs import CACHE, device_of, get_run, get_runs
from explorer.links.page_state import PageState
from explorer.models import devices, forward
from explorer.models.inside import interventions
from explorer.models.loading import is_loaded, load_model
from explorer.models.specs import MINI, MODEL_KEYS
from explorer.models.task_heads import adapters
from explorer.models.task_heads.classifiers import log_odds, margins
from explorer.scheduling.cancel import CancelToken
from explorer.timing import protocol
from explorer.timing.workload import Workload
from explorer.ui.attention import strings
from explorer.ui.kit.errors import sentence_of
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.tabs import TABS
from tests.endpoints import latency
from tests.inference.pretend_device import CROSSED, FULL, NAME
from tests.tiny_roberta import add_rows
from tests.ui.shell.surfaces import folds, shown

TEXT = "The capital of [MASK] is the old city of [MASK]."
PAIR = "She opened the door. [SEP] Then she went [MASK]."
HERE, THERE = PageState(text=TEXT), PageState(text=TEXT, device=NAME)
MAX_BACK, MAX_THERE = 3, 4
"""Copies of one pass: hidden states, attentions and logits back; ids, segments and their masks
there."""


TUNED = [key for key in MODEL_KEYS if key in MINI]
"""The three models with adapters: at import the table of sizes has no fourth row yet."""
by_model = pytest.mark.parametrize("key", list(MODEL_KEYS))
by_tab = pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.ID)


@pytest.fixture(autouse=True)
def _afresh(_roberta_pieces, tuned_family, three_sentences, monkeypatch):
    """Use random networks of four models, an empty cache, and three sentences to compare."""
    add_rows(monkeypatch.setitem, _roberta_pieces)
    CROSSED.clear()


def test_there_are_four_models_and_an_own_table_has_them_all():
    assert list(MODEL_KEYS) == [*TUNED, "roberta"]
    assert tests.inference.fourth_row.KEY in dict(map(reversed, strings.models()))


def test_it_is_found_named_and_taken_by_auto():
    assert devices.available_devices() == ("cpu", NAME)
    assert devices.resolve_device("auto") == device_of(replace(HERE, device="auto").ask) == NAME
    assert device_of(replace(HERE, device="pretend:7").ask) == "cpu"
    assert devices.device_name(NAME) == NAME
    devices.synchronise(NAME)
    devices.forget_free_memory()


@pytest.mark.parametrize("text", [TEXT, PAIR, "It is not bad."])
def test_runs_are_the_cpus(text):
    on_device, _ = get_runs(replace(THERE, text=text).ask)
    for key, run in get_runs(replace(HERE, text=text).ask)[0].items():
        assert on_device[key].device == NAME
        for name in ("hidden_states", "attention", "mask_logits"):
            np.testing.assert_allclose(getattr(on_device[key], name), getattr(run, name), atol=1e-4)


@by_model
def test_a_compare_crosses_a_few_times_and_never_for_one_number(key):
    load_model(MINI[key], NAME)
    CROSSED.clear()
    get_run(MINI[key], THERE.ask)
    assert CROSSED["cpu"] <= MAX_BACK
    assert CROSSED["to"] <= MAX_THERE
    assert CROSSED["item"] == 0


@by_model
def test_two_visitors_share_a_pass(key):
    loaded, cpu = load_model(MINI[key], NAME), load_model(MINI[key])
    tokens = [forward.tokenize(cpu, text) for text in (TEXT, PAIR)]
    pairs = zip(
        forward.run_together(loaded, tokens), forward.run_together(cpu, tokens), strict=True
    )
    for on_device, on_cpu in pairs:
        np.testing.assert_allclose(on_device.mask_logits, on_cpu.mask_logits, atol=1e-4)
    assert CROSSED["item"] <= 1, "transformers asks once whether a mask hides anything"


@pytest.mark.parametrize("key", TUNED)
def test_every_job_gives_the_cpus_numbers(key):
    results = list(compared(load_model(MINI[key]), load_model(MINI[key], NAME), (TEXT,), 1e-4))
    assert len(results) == len(PARTS)
    assert [
        str(result) for result in results if result.error or not result.largest <= result.bound
    ] == []


NUMBER = re.compile(r"-?\d+(?:\.\d+)?e-\d+|-?\d+\.\d+")
RESIDUE = re.compile(r"Completeness error (\S+) logits")
"""Rounding residue of two sums that should be equal; its digits depend on the machine."""


@by_tab
def test_every_tab_opens_with_the_cpus_numbers(tab):
    on_device, on_cpu = (shown(tab, state) for state in (THERE, HERE))
    same_residues(RESIDUE.findall(on_device), RESIDUE.findall(on_cpu))
    on_device, on_cpu = (RESIDUE.sub("", markup) for markup in (on_device, on_cpu))
    numbers, expected = (
        NUMBER.findall(markup.replace(f'"{NAME}"', '"cpu"')) for markup in (on_device, on_cpu)
    )
    if tab.ID == "texts":  # nothing is computed before a list is there
        return
    if tab.ID == "latency":  # its controls are components, and its times are measured
        return
    assert numbers
    same_numbers(numbers, expected)


def same_residues(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert value_of(one) == pytest.approx(value_of(other), abs=1e-4)


def value_of(printed):
    """Return a number such as 2.5×10⁻⁵ from its printed form."""
    mantissa, _, exponent = printed.partition("×10")
    return float(mantissa) * 10.0 ** int(
        unicodedata.normalize("NFKC", exponent or "0").replace("−", "-")
    )


def same_numbers(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        last_digit = 10.0 ** -min(3, len(other.partition(".")[2]))  # rounded the other way
        assert float(one) == pytest.approx(float(other), abs=1.001 * last_digit, rel=1e-3)


ALONE = {"choose", "live", "advanced", "sweep", "faster", "sizes", "sharing"}
"""Folds that measure time, train on their own button, or count from shapes alone."""


@by_tab
def test_every_fold_opens_with_the_cpus_numbers(tab):
    on_device, on_cpu = (folds(tab, state, but=ALONE) for state in (THERE, HERE))
    assert [name for name, _ in on_device] == [name for name, _ in on_cpu]
    for (_, values), (_, expected) in zip(on_device, on_cpu, strict=True):
        same_numbers(*(NUMBER.findall(str(part)) for part in (values, expected)))


ASKED = {
    "predict": (TEXT,),
    "attention": (TEXT, "mini", "distilbert", 1, 2),
    "ablate": (TEXT, "mini", {"bert": [[0, 1]], "albert": [[2, 5]]}),
    "layer": (TEXT, "mini", "albert", 3, 1),
    "contexts": ("The [MASK] is cold.",),
    "depth": (TEXT, "mini", "albert"),
    "similarity": (),
    "vectors": (TEXT,),
    "changed": (
        "before=mini-bert,after=mini-bert",
        "",
        "",
        ["The cat sat on the mat.", "He was not here then."],
    ),
    "patch": ("The cat sat on the [MASK].", "The dog sat on the [MASK]."),
    "distillation": (TEXT,),
    "pair": ("She opened the door.", "Then she went out."),
    "sentiment": ("It was good.",),
    "classify": ("It was good.",),
    "entities": ("Anna was here.",),
    "question": ("Who led it?", "It was led by Anna."),
    "score": ("The door is cold.",),
    "attribute": (TEXT,),
    "texts": (
        [{"text": TEXT, "answer": "cat"}, {"text": "It was very [MASK].", "answer": "good"}],
    ),
}

NO_PASS = ("entities",)
"""Endpoints that these models are not run for: none of them labels tokens."""


@pytest.mark.parametrize("name", sorted(set(ENDPOINTS) - {"parameters", "latency"}))
def test_every_endpoint_runs_there_and_gives_the_cpus_numbers(name, monkeypatch):
    page = SimpleNamespace(opens_on=replace(PageState(), device="auto"))
    opened = LocalContext.blocks.set(page)
    try:
        on_device = json.dumps(ENDPOINTS[name](*ASKED[name]))
    finally:
        LocalContext.blocks.reset(opened)
    assert CROSSED["to"] or name in NO_PASS, (
        "a program is answered by the device that the page was started with"
    )
    same_numbers(
        *(
            NUMBER.findall(answer)
            for answer in (on_device, json.dumps(ENDPOINTS[name](*ASKED[name])))
        )
    )


def test_a_live_lesson_learns_there(few_questions):
    from explorer.analysis.distillation.student import distil_live

    run = get_run(MINI["bert"], HERE.ask)
    watched = WatchedSentence(run.tokens.ids, run.tokens.mask_positions[0], (10, 20))
    settings = replace(LiveSettings(), steps=10)
    first = []
    for device in ("cpu", NAME):
        lesson = distil_live(load_model(MINI["bert"], device), settings, watched)
        first.append(next(report.parts for report in lesson if report and report.parts))
        lesson.close()
    assert first[0] == pytest.approx(first[1], rel=1e-2)


def test_latency_is_timed_by_its_own_events():
    work = Workload(8, device=NAME, clock="device")
    specs = (MINI["bert"], MINI["albert"])
    measurement = last(measure_family(specs, work, plan_for(work, 5.0, repeats=2), CancelToken()))
    assert measurement.latency.seconds.min() > 0
    answer = latency("mini", 8, 1, 2, NAME)
    assert answer["protocol"]["device"] == NAME
    assert [model["peak_bytes"] for model in answer["models"]] == [None] * 4


def test_without_memory_there_is_a_sentence_and_the_next_text_runs():
    get_runs(THERE.ask)
    CACHE.clear()
    FULL[0] = True
    try:
        with pytest.raises(torch.OutOfMemoryError) as error:
            get_run(MINI["bert"], THERE.ask)
    finally:
        FULL[0] = False
    assert "memory" in sentence_of(error.value)
    assert not is_loaded(MINI["bert"], NAME, "float32")
    assert get_run(MINI["bert"], THERE.ask).device == NAME


@pytest.mark.parametrize(("dtype", "tabs"), [("float16", TABS[::2]), ("bfloat16", TABS[1::2])])
def test_halves_run(dtype, tabs):
    runs, missing = get_runs(replace(THERE, dtype=dtype).ask)
    assert not missing
    for key, run in get_runs(HERE.ask)[0].items():
        np.testing.assert_allclose(runs[key].attention, run.attention, atol=0.1)
    for tab in tabs:
        assert shown(tab, replace(THERE, dtype=dtype))


def left_on_the_cpu(loaded, tokens):
    return {"input_ids": torch.tensor([tokens.ids])}


def without_cpu(tensor):
    return tensor.float().numpy()


def one_by_one(tensor):
    for value in tensor.flatten()[:5]:
        value.item()
    return tensor.float().cpu().numpy()


MISTAKES = {
    "inputs_of": (left_on_the_cpu, "of the CPU beside"),
    "array_of": (without_cpu, "numpy"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_caught(monkeypatch, name):
    mistake, message = MISTAKES[name]
    loaded = load_model(MINI["bert"], NAME)
    tokens = [forward.tokenize(loaded, text) for text in (TEXT, PAIR)]
    monkeypatch.setattr(forward, name, mistake)
    with pytest.raises((RuntimeError, TypeError), match=message):
        forward.run_together(loaded, tokens)


class Stuck(torch.Tensor):
    """A mask that stays on the CPU when it is moved."""

    def to(self, *_, **__):
        return self.as_subclass(torch.Tensor)


def test_a_mask_built_on_the_cpu_is_caught(monkeypatch):
    loaded, seen = load_model(MINI["bert"], NAME), interventions._attention_masks
    tokens = forward.tokenize(loaded, TEXT)
    right = interventions.context_logits(loaded, tokens)
    expected = interventions.context_logits(load_model(MINI["bert"]), tokens)
    np.testing.assert_allclose(right, expected, atol=1e-4)
    monkeypatch.setattr(
        interventions, "_attention_masks", lambda *given: seen(*given).as_subclass(Stuck)
    )
    with pytest.raises(RuntimeError, match=r"of the CPU beside|on the same device"):
        interventions.context_logits(loaded, tokens)


def test_adapters_left_behind_are_caught(monkeypatch):
    loaded = load_model(MINI["bert"], NAME)
    original = adapters.merge

    def left_behind(network, weights, scale):
        original(network, weights, scale)
        network.classifier.weight = torch.nn.Parameter(network.classifier.weight.cpu())

    monkeypatch.setattr(adapters, "merge", left_behind)
    tuned = adapters.tuned_model(loaded, "sst2")
    with pytest.raises(RuntimeError, match="of the CPU beside"):
        margins(tuned, ["It was good."], log_odds(1))


def test_one_number_after_the_other_is_caught(monkeypatch):
    loaded = load_model(MINI["bert"], NAME)
    tokens = forward.tokenize(loaded, TEXT)
    forward.run_together(loaded, [tokens])
    assert not CROSSED["item"]
    monkeypatch.setattr(forward, "array_of", one_by_one)
    forward.run_together(loaded, [tokens])
    assert CROSSED["item"] >= 5


def test_a_generator_of_the_cpu_is_caught(monkeypatch):
    def drawn_there(_spec, workload, seed=0):
        ids = torch.empty(workload.batch, workload.length, dtype=torch.int64, device=NAME)
        return ids.random_(1000, 2000, generator=torch.Generator().manual_seed(seed))

    monkeypatch.setattr(protocol, "timed_ids", drawn_there)
    work = Workload(8, device=NAME, clock="device")
    with pytest.raises(RuntimeError, match="generator of the CPU"):
        last(measure_family((MINI["bert"],), work, plan_for(work, 5.0, repeats=2), CancelToken()))


def test_counts_are_counts():
    torch.ones(3).to(NAME).cpu()
    assert float(torch.ones(1).to(NAME)[0]) == 1
    assert Counter({"to": 2, "cpu": 1, "item": 1}) - Counter() == CROSSED
    assert json.dumps(CROSSED)
