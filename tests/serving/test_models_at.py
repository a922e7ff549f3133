"""``app.py --models-at``: what it refuses, and in which sentence, where no Ray is needed to say so."""

import sys

import pytest

from benchmarks.served import event_number, free_port
from explorer.links.page_state import PageState
from explorer.serving import launch, start
from explorer.ui.kit import running
from explorer.ui.shell import view
from explorer.ui.shell.page import build_page

AT = ["--models-at", "auto", "--family", "mini"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([*AT, "--memory", "4"], start.NOT_HERE),
        ([*AT, "--any-model"], start.NOT_HERE),
        ([*AT, "--finetune"], start.NOT_HERE),
        ([*AT, "--model", "bert=nowhere"], start.NOT_HERE),
        (["--models-at", "ray://head:10001"], start.NO_CLIENT),
    ],
)
def test_flags_that_contradict_it_are_refused(flags, said, capsys):
    with pytest.raises(SystemExit) as end:
        start.parse_flags(flags)
    assert end.value.code == 2
    assert said in capsys.readouterr().err


def test_without_ray_the_start_ends_in_a_sentence(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "explorer.serving.ray_client", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SystemExit) as end, start.exit_with_sentence():
        launch.build(start.parse_flags(AT))
    assert end.value.code == start.CANNOT
    assert capsys.readouterr().err == f"{start.NO_RAY}\n"


def test_a_fault_of_our_own_is_not_taken_for_a_missing_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "explorer.serving.ray_client", None)
    with pytest.raises(ModuleNotFoundError):
        launch.use_models_at("auto")


def test_where_nobody_listens_the_start_ends_within_seconds():
    pytest.importorskip("ray", reason="no Ray here: pip install -r deploy/requirements-serve.txt")
    with pytest.raises(start.CannotStart, match="No Ray cluster answers at 127"):
        launch.use_models_at(f"127.0.0.1:{free_port()}")


@pytest.mark.long
def test_a_page_that_only_waits_for_networks_answers_more_at_once(monkeypatch):
    monkeypatch.setattr(running, "COMPARE", dict(running.COMPARE))
    running.widen()
    monkeypatch.setattr(view, "COMPARE", running.COMPARE)
    page = build_page(PageState())
    assert page.fns[event_number(page, "on_view")].concurrency_limit == running.ELSEWHERE
