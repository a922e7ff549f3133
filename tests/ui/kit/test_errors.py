"""Every failure is one sentence for whoever asked."""

import logging

import pytest

from explorer.timing.stop import Stopped
from explorer.ui.kit import words as texts
from explorer.ui.kit.errors import sentence_of


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("The text is empty."), "The text is empty."),
        (Stopped("left"), texts.LEFT),
        (MemoryError(), texts.OUT_OF_MEMORY),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), texts.OUT_OF_MEMORY),
    ],
)
def test_what_was_foreseen_is_said_and_not_logged(error, sentence, caplog):
    assert sentence_of(error) == sentence
    assert not caplog.records


def test_what_was_not_foreseen_has_a_mark_that_its_log_line_has_too(caplog):
    with caplog.at_level(logging.ERROR):
        said = sentence_of(KeyError("a secret"))
    (record,) = caplog.records
    assert "secret" not in said
    assert said == texts.UNEXPECTED.format(mark=record.args[0])
