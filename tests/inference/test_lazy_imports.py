"""Torch and transformers are imported once, in one thread, and every handler waits for it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from explorer.inference import lazy_imports
from explorer.scheduling.cancel import Cancelled

LIGHT = {"reset_live", "stop_job", "<lambda>", "nothing"}
"""Handlers that touch no model: they stop a job, or answer that the server is there."""


def test_every_handler_waits_for_the_imports(page, monkeypatch):
    from explorer.ui.kit import errors

    class Reached(Exception):
        pass

    def stand_in(_say):
        raise Reached

    monkeypatch.setattr(errors, "wait_for_imports", stand_in)
    waiting = []
    for function in page.fns.values():
        if function.fn is None or function.fn.__name__ in LIGHT:
            continue
        try:
            list(function.fn() or ())
        except Exception as error:
            if isinstance(error.__cause__, Reached):
                continue
        waiting.append(function.fn.__name__)
    assert waiting == []


def test_who_waits_longer_than_a_moment_is_told_once(monkeypatch):
    done, said = threading.Event(), []
    monkeypatch.setattr(lazy_imports, "_thread", None)
    monkeypatch.setattr(lazy_imports, "_import_all", lambda: done.wait(60))
    monkeypatch.setattr(lazy_imports, "PATIENCE_S", 0.05)

    def say():
        said.append("starting")
        done.set()

    lazy_imports.wait_for_imports(say)
    assert said == ["starting"]
    assert done.is_set()
    lazy_imports.wait_for_imports(say)
    assert said == ["starting"]


def test_the_imports_run_once_for_all_who_wait(monkeypatch):
    runs = []
    monkeypatch.setattr(lazy_imports, "_thread", None)
    monkeypatch.setattr(
        lazy_imports, "_import_all", lambda: runs.append(threading.current_thread().name)
    )
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: lazy_imports.wait_for_imports(), range(8)))
    assert runs == ["imports"]


def test_who_waits_for_the_imports_can_give_up(monkeypatch):
    """A measurement has a time limit, and the first one may come before torch is there."""
    done, looks = threading.Event(), []

    def check():
        looks.append(1)
        if len(looks) == 2:
            raise Cancelled("deadline")

    monkeypatch.setattr(lazy_imports, "_thread", None)
    monkeypatch.setattr(lazy_imports, "_import_all", lambda: done.wait(60))
    monkeypatch.setattr(lazy_imports, "CHECK_EVERY_S", 0.01)
    with pytest.raises(Cancelled):
        lazy_imports.check_until_imported(check)
    assert not lazy_imports.are_imported()
    done.set()
    lazy_imports.start_imports().join(60)
    lazy_imports.check_until_imported(lambda: pytest.fail("the imports are done"))
