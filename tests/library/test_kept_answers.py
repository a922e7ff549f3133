"""Answers of task heads are kept with the runs."""

import pytest

import explorer
from explorer.inference import runs


@pytest.fixture
def asked(monkeypatch):
    """Return the jobs that the networks are asked, as they come."""
    jobs, call = [], runs.call_on_model

    def counted(job, *rest):
        jobs.append(job.__name__)
        return call(job, *rest)

    monkeypatch.setattr(runs, "call_on_model", counted)
    return jobs


def test_a_question_is_answered_once(asked):
    text = "A kept answer is a fine thing."
    first = explorer.sentiment(text, "mini")
    n = asked.count("tuned_sentiment")
    assert n == 3
    again = explorer.sentiment(text, "mini")
    assert asked.count("tuned_sentiment") == n
    assert again.to_dict() == first.to_dict()
    explorer.sentiment(f"{text} Truly.", "mini")
    assert asked.count("tuned_sentiment") == 2 * n
