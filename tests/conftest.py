"""Fixtures of all tests, above all the random family that replaces trained weights."""

import gc
import json
import os
import ssl
import sys
import warnings
from collections import Counter, OrderedDict
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
from hypothesis import settings

# Two test processes share the cores. torch uses one thread in each of them and in their child
# processes, so that sums have one order on every machine. Where a test sets more threads, they sleep
# while they wait for each other. torch reads both variables when it is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from explorer.context import configure, context
from explorer.links.page_state import PageState
from explorer.models import specs
from explorer.models.choice import family
from explorer.serving.start import leave_out_stubs
from tests.second_job import ROOT, left_out

leave_out_stubs()
# The examples are the same in every run, so that no run fails by chance; ``pytest
# --hypothesis-profile=drawn`` draws others.
settings.register_profile("suite", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("drawn", settings.get_profile("suite"), derandomize=False)
settings.load_profile("suite")

# httpx reads all root certificates for each client, also on the loopback: 1 % of the tests' time.
ssl.create_default_context = cache(ssl.create_default_context)

# Objects of imported modules are never garbage: repeated scans of them took 4 % of the tests' time.
gc.disable()


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the second job too")
    parser.addoption("--since", help="run what differs from this commit of the second job too")


def pytest_configure(config):
    """Leave out the second job, unless a path, ``--all`` or ``-m slow`` asks for it."""
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        is_all = config.option.all or "slow" in config.option.markexpr
        out = left_out(is_all, config.option.since)
        whole = [str(ROOT / tests) for tests in out if "::" not in tests]
        single = [tests for tests in out if "::" in tests]
        config.option.ignore = [*(config.option.ignore or ()), *whole]
        config.option.deselect = [*(config.option.deselect or ()), *single]


def pytest_terminal_summary(terminalreporter):
    """List the skips once, by what would make the tests run."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.section("skipped")
    for reason, n in reasons.most_common():
        terminalreporter.write_line(f"{n:4} {reason}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """Begin each test with the same random numbers of torch, whichever tests ran before it."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


def pytest_collection_finish():
    """Exclude the objects made so far from garbage collection.

    A test that imports ``app`` has started a page of this machine: the tests begin without one.
    """
    configure(tuned_folder="", is_local=False)
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Run the browser's files first; deselect slow tests unless ``pytest -m slow`` asks for them.

    Tests that serve a page get the marker ``processes`` here, for ``python -m tests --quick``.
    """
    for item in items:
        if "url" in getattr(item, "fixturenames", ()):
            item.add_marker("processes")
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)
    if "slow" in config.option.markexpr:
        return
    config.hook.pytest_deselected(items=[i for i in items if i.get_closest_marker("slow")])
    items[:] = [item for item in items if not item.get_closest_marker("slow")]


@dataclass(frozen=True, slots=True)
class TinyFamily:
    """The random family that replaces the bundled one."""

    path: Path

    @property
    def specs(self):
        """The specs by model key."""
        return {spec.key: spec for spec in family.family_specs("mini")}

    def loaded(self, key):
        """Return the loaded network of one model, on the CPU in float32."""
        from explorer.models.loading import load_model

        return load_model(self.specs[key])

    def run(self, key, text):
        """Return one model's run over a text."""
        from explorer.inference.runs import get_run

        return get_run(self.specs[key], PageState(text=text).ask)

    def swept(self, run):
        """Return the logits with one head off at a time, per layer: [head, mask, vocabulary]."""
        from explorer.models.inside.interventions import ablated_logits, one_head_off

        loaded, (n_layers, n_heads) = self.loaded(run.spec.key), run.attention.shape[:2]
        variants = (one_head_off(n_layers, n_heads, layer) for layer in range(n_layers))
        return [ablated_logits(loaded, run.tokens, heads_on) for heads_on in variants]

    def runs(self, text):
        """Return all three runs over a text."""
        return {key: self.run(key, text) for key in self.specs}


@pytest.fixture(autouse=True)
def _context_as_it_was():
    """Restore the settings of the process after each test."""
    before = context()
    yield
    configure(**{field.name: getattr(before, field.name) for field in fields(before)})


@pytest.fixture(scope="session")
def page():
    """Return the page, built once; no test changes it."""
    from explorer.ui.shell.page import build_page

    with warnings.catch_warnings():
        # Gradio warns of a handler with more, or fewer, parameters than its event has inputs.
        warnings.filterwarnings("error", "Expected", UserWarning)
        return build_page(PageState())


@pytest.fixture(scope="module")
def url(page):
    """Yield the URL of the page, served in this process for the tests of one file."""
    from benchmarks.served import served
    from explorer.ui.shell.page import launch_options

    with served(page, **launch_options()) as url:
        yield url


@pytest.fixture(scope="session")
def _tiny_folder(tmp_path_factory):
    from tests.tiny_models import save_tiny_family

    folder = tmp_path_factory.mktemp("tiny")
    save_tiny_family(folder)
    return folder


@pytest.fixture(scope="session")
def _tiny_networks():
    """Return the session's cache of random networks, separate from the bundled ones."""
    return {}


@pytest.fixture
def few_questions(monkeypatch):
    """Limit a live distillation to batches of eight and eight test sentences."""
    from explorer.analysis.distillation import student
    from explorer.analysis.distillation.live import split_sentences

    own, held_out = split_sentences()
    monkeypatch.setattr(student, "split_sentences", lambda: (own[:40], held_out[:8]))
    monkeypatch.setattr(student, "ROWS", 8)


@pytest.fixture
def three_sentences(monkeypatch):
    """Compare layers over three of the bundled sentences."""
    from explorer.library import depth

    three = depth.sentences()[:3]
    monkeypatch.setattr(depth, "sentences", lambda: three)


@pytest.fixture
def little_training(monkeypatch):
    """Train with one strength and one penalty, on the layer that is asked for: no curves.

    It is for tests of what surrounds the training, which takes seconds for 40 rows.
    """
    from explorer.lists import labelled, results, scored

    steps = results._model_steps
    monkeypatch.setattr(labelled, "STRENGTHS", (0.01,))
    monkeypatch.setattr(scored, "PENALTIES", (100.0,))
    monkeypatch.setattr(
        results,
        "_model_steps",
        lambda features, labels, layer, _, check: steps(features, labels, layer, False, check),
    )


@pytest.fixture
def eight_rounds(monkeypatch):
    """Make a measurement end after eight rounds, not by its time budget, and run in this process.

    That the wall clock is read in a process of its own is tested in ``analysis/latency``.
    """
    from explorer.analysis.latency import family, measure

    plan = measure.RoundsPlan(600.0, 8, 8, 0.0, 1)
    monkeypatch.setattr(family, "RoundsPlan", lambda *_, **__: plan)
    monkeypatch.setattr(family, "process_for", lambda *_: None)
    monkeypatch.setattr(measure, "PAUSE_S", 0.0)
    # A test's times are reported whatever else runs on the machine.
    monkeypatch.setattr("explorer.timing.protocol.stolen_seconds", lambda: 0.0)


@pytest.fixture
def headed(tiny_family, tmp_path, own_models):
    """Save a random head of a kind that labels texts, on its encoder; return the folder."""
    from transformers import AutoModelForSequenceClassification as Classifier

    from tests.tiny_models import with_random_head

    def saved(kind, labels, problem=None, card=""):
        folder = tmp_path / f"{kind}-{len(labels)}-{problem}"
        encoder = tiny_family.path / f"mini-{kind}"
        return with_random_head(folder, encoder, Classifier, labels, card, problem_type=problem)

    return saved


@pytest.fixture
def tagger(tiny_family, tmp_path, own_models):
    """Save a random token classifier of a kind on its encoder; return the folder."""
    from transformers import AutoModelForTokenClassification as Tagger

    from tests.tiny_models import with_random_head

    def saved(kind, labels, card=""):
        folder = tmp_path / f"tags-{kind}-{len(labels)}"
        encoder = tiny_family.path / f"mini-{kind}"
        return with_random_head(folder, encoder, Tagger, labels, card)

    return saved


@pytest.fixture
def no_files(tiny_family, monkeypatch):
    """Use the random family with all of its files missing."""
    from explorer.models import hub, loading

    def absent(spec, report=None):
        raise hub.ModelUnavailable(spec, "its bundled files are missing")

    monkeypatch.setattr(loading, "checkpoint_path", absent)
    monkeypatch.setattr(loading, "_loaded", {})


@pytest.fixture
def tiny_family(_tiny_folder, _tiny_networks, monkeypatch):
    """Replace the bundled family by random models of its shapes."""
    from explorer.inference.cache import CACHE
    from explorer.models import loading
    from explorer.models.task_heads import adapters
    from explorer.timing import machine

    monkeypatch.setattr(specs, "BUNDLED", _tiny_folder)
    monkeypatch.setattr(loading, "_loaded", _tiny_networks)
    monkeypatch.setattr(CACHE, "_values", OrderedDict())
    monkeypatch.setattr(CACHE, "n_bytes", 0)  # else other tests' runs would count for ever
    monkeypatch.setattr(adapters, "_tuned", WeakKeyDictionary())
    monkeypatch.setattr(machine, "_best", {})
    for key, spec in list(specs.MINI.items()):
        config = json.loads((_tiny_folder / spec.name / "config.json").read_text("utf-8"))
        names = specs.KINDS[key].config
        shape = {field: config[names[field]] for field in ("d_vocab", "d_model", "d_ffn")}
        shape["d_embedding"] = config.get("embedding_size", shape["d_model"])
        architecture = replace(spec.architecture, **shape)
        monkeypatch.setitem(specs.MINI, key, replace(spec, architecture=architecture))
    return TinyFamily(_tiny_folder)


@pytest.fixture
def own_models():
    """Yield the table of the user's own checkpoints; clear it and the fourth column afterwards."""
    from explorer.models import loading
    from explorer.models.choice import own
    from explorer.models.specs import KINDS, MORE_KINDS

    yield family.OWN
    for key in [key for key in loading._loaded if key[0] in {*family.OWN, *own.TAKEN}]:
        del loading._loaded[key]
    family.OWN.clear()
    own.TAKEN.clear()
    for key in MORE_KINDS:
        KINDS.pop(key, None)
    specs.MODEL_KEYS[:] = KINDS


@pytest.fixture(scope="session")
def _tuned_folder(_tiny_folder, tmp_path_factory):
    """Copy the random family and add a random adapter for each task to each model."""
    import shutil

    from tests.training.tuned_family import tune_at_random

    folder = tmp_path_factory.mktemp("tuned") / "models"
    shutil.copytree(_tiny_folder, folder)
    for spec in specs.MINI.values():
        for task in ("sst2", "squad"):
            tune_at_random(folder, spec, task)
    return folder


@pytest.fixture
def tuned_family(_tuned_folder, tiny_family, monkeypatch):
    """Use the random family with adapters; its networks are those of ``tiny_family``."""
    monkeypatch.setattr(specs, "BUNDLED", _tuned_folder)
    return TinyFamily(_tuned_folder)


@pytest.fixture(scope="session")
def _seven_folder(tmp_path_factory):
    from tests.models.choice.seven_sizes import save_seven

    folder = tmp_path_factory.mktemp("seven")
    save_seven(folder)
    return folder


@pytest.fixture(scope="session")
def _seven_networks():
    return {}


@pytest.fixture(scope="session")
def _narrow_counts():
    """Return cached functions of all published shapes, with separate caches for the narrow ones."""
    from explorer.analysis.parameters import shapes

    cached = ((shapes, "seven_sizes"), (shapes, "sharing_modes"))
    return [(module, name, cache(getattr(module, name).__wrapped__)) for module, name in cached]


@pytest.fixture
def seven(_seven_folder, _seven_networks, _narrow_counts, tiny_family, monkeypatch):
    """Yield the folder of narrow networks in all published shapes, beside the random family."""
    from explorer.models import loading
    from tests.models.choice.seven_sizes import narrow

    for module, name, narrow_ones in _narrow_counts:
        monkeypatch.setattr(module, name, narrow_ones)
    with narrow(monkeypatch, _seven_folder):
        monkeypatch.setattr(loading, "_loaded", _seven_networks)
        yield _seven_folder


@pytest.fixture(scope="session")
def _roberta_pieces(_tiny_folder):
    from tests.tiny_roberta import save_roberta

    return save_roberta(_tiny_folder / "mini-roberta")


@pytest.fixture
def four(tiny_family, _roberta_pieces, monkeypatch):
    """Use the random family with a random RoBERTa: its kind, its size and its colour."""
    from tests.tiny_roberta import add_rows

    add_rows(monkeypatch.setitem, _roberta_pieces)
    specs.MODEL_KEYS.append("roberta")
    yield tiny_family
    specs.MODEL_KEYS.remove("roberta")
