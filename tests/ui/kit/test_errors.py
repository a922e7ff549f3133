"""Every failure is one sentence for whoever asked."""

import errno

import gradio as gr
import pytest
from gradio import queueing

from explorer.middleware.gradio_patches import patch_gradio
from explorer.middleware.sessions import LeanSession
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled
from explorer.timing import memory
from explorer.ui.kit import strings
from explorer.ui.kit.errors import answered, payload, sentence_of


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (Refusal("The text is empty."), "The text is empty."),
        (Cancelled("left"), strings.LEFT),
    ],
)
def test_what_was_foreseen_is_said_and_not_logged(error, sentence, caplog):
    assert sentence_of(error) == sentence
    assert not caplog.records


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_too_little_memory_is_said_and_leaves_a_line_without_a_stack(error, caplog, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 4e9)
    assert sentence_of(error) == strings.OUT_OF_MEMORY
    assert [record.exc_info for record in caplog.records] == [None]


@pytest.mark.parametrize(
    "error", [KeyError("memory"), ValueError("memory"), gr.Error("a library's"), TypeError("no")]
)
def test_the_text_of_any_other_error_is_logged_and_shown_to_nobody(error, caplog):
    said = sentence_of(error)
    (record,) = caplog.records
    assert record.exc_info[1] is error
    assert said == strings.UNEXPECTED.format(mark=record.args[0])


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: not enough memory"),
        RuntimeError("can't start new thread"),
    ],
)
def test_where_memory_is_short_no_text_is_blamed(error, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 0.5e9)
    assert sentence_of(error) == strings.SHORT_OF_MEMORY
    assert "shorter text or" not in strings.SHORT_OF_MEMORY


def test_a_failure_between_the_handlers_is_a_sentence_too(monkeypatch):
    patch_gradio(LeanSession, payload)
    monkeypatch.setattr(memory, "free_memory", lambda: 0.5e9)
    assert queueing.error_payload(MemoryError(), False)["error"] == strings.SHORT_OF_MEMORY
    assert queueing.error_payload(None, False)["error"] == strings.LEFT
    assert "went wrong on our side" in queueing.error_payload(KeyError("x"), False)["error"]
    assert queueing.error_payload(Refusal("No."), False)["error"] == "No."
    assert queueing.error_payload(answered(Refusal("No."), as_html=False), False)["error"] == "No."
