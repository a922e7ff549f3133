"""Nothing that belongs to the whole process is changed while visitors are served.

A hook, a seed, a count of threads or a filter that one question sets is in force for all others
that are under way at the same time.
"""

import ast
import threading
from functools import cache
from pathlib import Path

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from explorer.analysis.claims import size_checks
from explorer.analysis.distillation.live import LiveSettings
from explorer.analysis.distillation.student import fresh_student
from explorer.models.architectures import family_check_models, meta_network
from explorer.models.specs import BASE
from tests.sources import trees_in
from tests.waiting import until

ROOT = Path(__file__).parents[2] / "explorer"
CHILD = "timing/runtimes/child.py"
"""A process of its own, which serves nobody."""
TRAINING = {"models/tuning/networks.py", "models/tuning/training.py"}
PROCESS_WIDE = {
    "FlopCounterMode": set(),
    "register_module_forward_hook": set(),
    "register_module_forward_pre_hook": set(),
    "manual_seed_all": set(),
    # A split of labelled rows, in the process of a fine-tuning.
    "catch_warnings": {"lists/tuned.py"},
    "simplefilter": {"lists/tuned.py"},
    "chdir": set(),
    "setrecursionlimit": set(),
    "set_default_dtype": set(),
    "set_default_device": set(),
    "use_deterministic_algorithms": set(),
    # Training, which the page does in a process of its own.
    "fork_rng": TRAINING,
    # Each worker at its beginning; a measurement, which has the machine to itself.
    "set_num_threads": {"inference/local.py", "timing/protocol.py"},
}


@cache
def served():
    """Every module that a page runs, as (its path, its tree)."""
    named = [(path.relative_to(ROOT).as_posix(), tree) for path, tree in trees_in(ROOT).items()]
    return [(name, tree) for name, tree in named if name != CHILD]


def names_in(tree):
    nodes = list(ast.walk(tree))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


@pytest.mark.long
def test_what_is_the_whole_processes_is_changed_nowhere_else():
    found = {name: set() for name in PROCESS_WIDE}
    for path, tree in served():
        for name in PROCESS_WIDE.keys() & names_in(tree):
            found[name].add(path)
    assert found == PROCESS_WIDE


def test_numbers_are_drawn_from_generators_of_their_own():
    """``torch.manual_seed(1)`` is everybody's; ``torch.Generator().manual_seed(1)`` is one's own."""
    for path, tree in served():
        calls = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call)]
        own = [f.value for f in calls if isinstance(f, ast.Attribute) and f.attr == "manual_seed"]
        assert path in TRAINING or all(isinstance(value, ast.Call) for value in own), path


def test_a_check_of_operations_leaves_other_threads_modules_alone():
    heard, stop = [], threading.Event()

    def others():
        layer = torch.nn.Linear(4, 4)
        while not stop.is_set():
            layer(torch.zeros(1, 4))
            heard.append(len(torch.nn.modules.module._global_forward_pre_hooks))

    thread = threading.Thread(target=others)
    thread.start()
    try:
        until(lambda: heard)
        said = size_checks.forward_operations(family_check_models("mini"))
    finally:
        stop.set()
        thread.join()
    assert said.holds
    assert set(heard) == {0}


def test_a_live_lesson_draws_nothing_from_everybodys_numbers(tiny_family):
    teacher = tiny_family.loaded("bert").network
    settings = LiveSettings(seed=3, start="random")
    before = torch.random.get_rng_state()
    one, other = (fresh_student(teacher, settings) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    for ours, theirs in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert one.training
    assert one.vocab_projector.weight is one.distilbert.embeddings.word_embeddings.weight


@pytest.mark.parametrize("key", size_checks.CLAIMED)
def test_the_operations_are_what_torch_counts_while_they_run(key):
    network = meta_network(BASE[key])
    ids = torch.zeros(1, size_checks.LENGTH, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter:
        network.base_model(input_ids=ids)
    assert size_checks.operations(network, BASE[key]) == counter.get_total_flops()
