"""Every failure is one sentence for whoever asked."""

import logging

import gradio as gr
import pytest
from gradio import queueing

from explorer.timing import room
from explorer.timing.stop import Stopped
from explorer.ui.kit import words as texts
from explorer.ui.kit.errors import say_every_failure, sentence_of


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("The text is empty."), "The text is empty."),
        (Stopped("left"), texts.LEFT),
        (MemoryError(), texts.OUT_OF_MEMORY),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), texts.OUT_OF_MEMORY),
    ],
)
def test_what_was_foreseen_is_said_and_not_logged(error, sentence, caplog, monkeypatch):
    monkeypatch.setattr(room, "room", lambda: 4e9)
    assert sentence_of(error) == sentence
    assert not caplog.records


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: not enough memory"),
        RuntimeError("can't start new thread"),
    ],
)
def test_where_memory_is_short_no_text_is_blamed(error, monkeypatch):
    monkeypatch.setattr(room, "room", lambda: 0.5e9)
    assert sentence_of(error) == texts.SHORT_OF_MEMORY
    assert "shorter text or" not in texts.SHORT_OF_MEMORY


def test_a_failure_between_the_handlers_is_a_sentence_too(monkeypatch):
    say_every_failure()
    monkeypatch.setattr(room, "room", lambda: 0.5e9)
    assert queueing.error_payload(MemoryError(), False)["error"] == texts.SHORT_OF_MEMORY
    assert queueing.error_payload(None, False)["error"] == texts.LEFT
    assert "went wrong on our side" in queueing.error_payload(KeyError("x"), False)["error"]
    refused = gr.Error("No.", duration=3, print_exception=False)
    assert queueing.error_payload(refused, False)["error"] == "No."


def test_what_was_not_foreseen_has_a_mark_that_its_log_line_has_too(caplog):
    with caplog.at_level(logging.ERROR):
        said = sentence_of(KeyError("a secret"))
    (record,) = caplog.records
    assert "secret" not in said
    assert said == texts.UNEXPECTED.format(mark=record.args[0])
