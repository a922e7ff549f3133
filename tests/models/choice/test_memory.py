"""The networks stay within their memory whoever chooses what, and no answer is wrong for it."""

import gc
import random
import subprocess
import sys
import textwrap
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from explorer.analysis.parameters.memory import shape_memory
from explorer.models import loading
from explorer.models.architectures import meta_network
from explorer.models.choice import memory
from explorer.models.choice.family import all_specs, column, family_specs
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import is_loaded, load_model
from explorer.models.specs import MODEL_KEYS
from explorer.page_state import PageState
from explorer.runs import CACHE, get_runs, start_run
from tests.models.choice.seven_sizes import narrow, save_seven
from tests.tiny_models import make_albert, make_bert, make_distilbert, save

TEXT = "The [MASK] sat on the mat."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seven")
    save_seven(folder)
    return folder


@pytest.fixture(autouse=True)
def fresh(folder, tiny_family, monkeypatch):
    with narrow(monkeypatch, folder):
        monkeypatch.setattr(memory, "WAIT_S", 60.0)
        yield


def limit(monkeypatch, *names):
    """Room for these; what a pass takes besides would outweigh networks that are so narrow."""
    specs = [all_specs()[name] for name in names]
    for module in (memory, loading):
        monkeypatch.setattr(module, "running_bytes", lambda *_: 0)
    monkeypatch.setattr(memory, "LIMIT", [sum(map(memory.weight_bytes, specs))])


@pytest.mark.parametrize("name", all_specs())
def test_the_bytes_are_those_of_the_modules(name):
    spec = all_specs()[name]
    network = meta_network(spec)
    heads = ("seq_relationship", "sop_classifier")
    counted = sum(
        p.numel() for n, p in network.named_parameters() if not any(h in n for h in heads)
    )
    assert memory.weight_bytes(spec) == 4 * counted
    assert memory.weight_bytes(spec, "bfloat16") == 2 * counted


def test_the_least_recently_used_leaves_first(monkeypatch):
    limit(monkeypatch, "bert-base-uncased", "albert-base-v2")
    bert, albert, distil = (
        all_specs()[n] for n in ("bert-base-uncased", "albert-base-v2", "distilbert-base-uncased")
    )
    load_model(bert)
    load_model(albert)
    load_model(bert)
    load_model(distil)
    assert is_loaded(bert, "cpu", "float32") or is_loaded(distil, "cpu", "float32")
    assert not is_loaded(albert, "cpu", "float32")


def test_an_idle_one_leaves_before_an_older_one_in_use(monkeypatch):
    limit(monkeypatch, "bert-base-uncased", "distilbert-base-uncased")
    used = load_model(all_specs()["bert-base-uncased"])
    load_model(all_specs()["distilbert-base-uncased"])
    load_model(all_specs()["albert-base-v2"])
    assert is_loaded(used.spec, "cpu", "float32")
    assert not is_loaded(all_specs()["distilbert-base-uncased"], "cpu", "float32")


def test_one_in_use_stays_until_it_is_free(monkeypatch):
    limit(monkeypatch, "bert-base-uncased")
    monkeypatch.setattr(memory, "WAIT_S", 0.3)
    used = load_model(all_specs()["bert-base-uncased"])
    other = all_specs()["distilbert-base-uncased"]
    with pytest.raises(ModelUnavailable, match="the memory is in use; please try again"):
        load_model(other)
    gone = weakref.ref(used)
    del used
    gc.collect()
    assert gone() is None
    assert load_model(other).spec == other


def test_a_pass_under_way_counts_and_idle_networks_leave_for_it(monkeypatch):
    bert, albert = (all_specs()[n] for n in ("bert-base-uncased", "albert-base-v2"))
    limit(monkeypatch, bert.name, albert.name)
    used = load_model(bert)
    load_model(albert)
    before = loading.room.taken(loading._loaded)
    monkeypatch.setattr(memory, "running_bytes", lambda *_: 1000)
    monkeypatch.setattr(loading, "running_bytes", lambda *_: 1000)
    with loading.passing(bert, "float32"):
        assert is_loaded(used.spec, "cpu", "float32")
        assert not is_loaded(albert, "cpu", "float32")
        monkeypatch.setattr(memory, "WAIT_S", 0.1)
        with pytest.raises(ModelUnavailable, match="the memory is in use"):
            load_model(albert)
    gc.collect()
    assert loading.room.taken(loading._loaded) == before - memory.weight_bytes(albert)


def test_a_network_that_has_come_in_counts_once(monkeypatch):
    spec = all_specs()["bert-base-uncased"]
    limit(monkeypatch, spec.name)
    key, kept = (spec.name, "cpu", "float32"), {}
    with loading.room.for_one_more(spec, key, kept):
        assert loading.room.taken(kept) == memory.weight_bytes(spec)
        kept[key] = loading.read_checkpoint(spec, loading.checkpoint_path(spec), *key[1:])
        assert loading.room.taken(kept) == memory.weight_bytes(spec)


def test_no_worker_loads_a_network(monkeypatch):
    """What left between a visitor's own loading and the pass is loaded by the visitor."""
    spec, begun = all_specs()["bert-base-uncased"], []
    read = loading.read_checkpoint

    def watched(*asked):
        begun.append(threading.current_thread().name)
        return read(*asked)

    monkeypatch.setattr(loading, "read_checkpoint", watched)
    state = PageState(text=TEXT, family="bert=base")
    get_runs(state)
    loading._loaded.clear()
    CACHE.clear()
    start_run(spec, state).result()
    assert begun.count(threading.current_thread().name) == 1
    assert not [name for name in begun if name.startswith("model")]


def test_one_that_never_fits_is_refused_with_its_numbers_before_its_download(monkeypatch):
    monkeypatch.setattr(memory, "LIMIT", [2_000_000])
    asked = []
    monkeypatch.setattr(loading, "checkpoint_path", lambda *a: asked.append(a))
    spec = all_specs()["albert-xxlarge-v2"]
    with pytest.raises(ModelUnavailable) as refused:
        load_model(spec)
    weights, running = memory.weight_bytes(spec), memory.running_bytes(spec)
    said = str(refused.value)
    assert memory.gigabytes(weights) in said
    assert memory.gigabytes(weights + running) in said
    assert "the networks may take 2.0 MB" in said
    assert asked == []


def test_forty_visitors_who_choose_differently_stay_within_it_and_get_right_answers(monkeypatch):
    chance = random.Random(0)
    families = [
        ",".join(f"{key}={chance.choice([*column(key)][1:])}" for key in MODEL_KEYS)
        for _ in range(40)
    ]
    right = {
        spec.name: get_runs(PageState(text=TEXT, family=f))[0][spec.key].mask_logits
        for f in families
        for spec in family_specs(f)
    }
    assert len(right) == 7
    loading._loaded.clear()
    CACHE.clear()
    gc.collect()
    limit(monkeypatch, "bert-large-uncased", "albert-xxlarge-v2")
    taken, ended = [], threading.Event()

    def watch():
        while not ended.wait(0.002):
            with loading._registry:
                taken.append(loading.room.taken(loading._loaded))

    watcher = threading.Thread(target=watch)
    watcher.start()
    states = [PageState(text=TEXT, family=family) for family in families]
    with ThreadPoolExecutor(40) as visitors:
        found = list(visitors.map(lambda state: get_runs(state), states))
    ended.set()
    watcher.join()
    for family, (runs, missing) in zip(families, found, strict=True):
        assert missing == {}
        for spec in family_specs(family):
            assert np.allclose(runs[spec.key].mask_logits, right[spec.name], atol=1e-5)
    assert max(taken) <= memory.LIMIT[-1]
    assert len(loading._loaded) < 7


CHOOSE = textwrap.dedent("""
    import sys, threading
    from concurrent.futures import ThreadPoolExecutor
    from explorer.timing.heap import share_heaps
    from explorer.timing.room import limit_memory, resident_bytes
    share_heaps()
    from explorer.models.choice import memory, own
    from explorer.page_state import PageState
    from explorer.runs import get_runs
    memory.WAIT_S = 60.0
    own.add_models(sys.argv[2:])
    names = [name for name in own.OWN if name.startswith("bert-")]
    def visit(number, text="The [MASK] sat."):
        sizes = f"bert={names[number * 3 % len(names)]},distilbert=student,albert=shared"
        return get_runs(PageState(text=f"{text} {number}", family=sizes))
    limit_memory(float(sys.argv[1]))
    visit(0)
    before, peak, ended = resident_bytes(), [], threading.Event()
    def watch():
        while not ended.wait(0.005):
            peak.append(resident_bytes())
    threading.Thread(target=watch, daemon=True).start()
    with ThreadPoolExecutor(8) as visitors:
        found = list(visitors.map(visit, range(40)))
    ended.set()
    missing = [one for _, one in found if one]
    assert not missing, missing
    print(max(peak) - before)
""")


def test_forty_visitors_leave_the_memory_of_the_process_as_it_is(tmp_path):
    """Eight networks of 25 MB: with room for three the process grows by less than four of them."""
    save(*make_distilbert(1, 1, 16), tmp_path / "student")
    save(*make_albert(1, 1, 16, 16), tmp_path / "shared")
    given = [f"distilbert={tmp_path / 'student'}", f"albert={tmp_path / 'shared'}"]
    for number in range(8):
        save(*make_bert(2, 2, 512), tmp_path / f"bert-{number}")
        given.append(f"bert={tmp_path / f'bert-{number}'}")
    weights = (tmp_path / "bert-0" / "model.safetensors").stat().st_size
    command = [sys.executable, "-c", CHOOSE, "0.11", *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 4 * weights


@pytest.mark.parametrize("name", all_specs())
def test_a_pass_takes_what_it_holds_and_at_most_its_copy_besides(name):
    spec = all_specs()[name]
    held = shape_memory(spec, min(512, spec.architecture.n_positions), 1, True).peak_bytes
    assert held <= memory.running_bytes(spec) <= 2 * held
