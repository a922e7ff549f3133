"""The latency tab's sentences, from measurements that were made up for them."""

import html
import json
import re
from dataclasses import replace

from explorer.analysis.latency.ratio import Ratio
from explorer.scheduling.job_queue import JobUpdate
from explorer.timing.workload import Workload
from explorer.ui.latency import strings, tab
from explorer.ui.latency.settings import MeasurementSettings
from tests.analysis.latency.test_family import measured

EQUAL = {"bert": 100, "distilbert": 50, "albert": 100}


def test_what_was_stopped_says_so_and_how_far_it_was():
    from explorer.analysis.latency.faster import FasterResult
    from explorer.ui.kit.jobs import Progress
    from explorer.ui.latency.folds import FASTER, _drawn

    some = Progress(part=FasterResult(done=2, n_steps=6))
    (running,) = _drawn(FASTER, JobUpdate(0, some, done=False))
    assert "2 of 6 steps done, 33%" in running
    assert strings.STOPPED not in running
    (stopped,) = _drawn(FASTER, JobUpdate(0, some, done=True, stopped=True))
    assert strings.STOPPED in stopped
    (before,) = _drawn(FASTER, JobUpdate(0, None, done=True, stopped=True))
    assert "Stopped before anything was measured" in before


def test_a_result_says_whose_own_time_was_held_against_itself():
    """The model that every ratio is over: the first that was timed, and its row beside it."""
    done = measured({"bert": 4.0, "distilbert": 2.0, "albert": 4.0}, n_rounds=40)
    over, going = (JobUpdate(0, None, done=is_over) for is_over in (True, False))
    finding, progress, card, said, kept = tab.draw_card(MeasurementSettings(), done, over)
    assert "BERT" in str(finding)
    assert 'data-kind="latency/measure"' in str(card)
    assert kept is done
    expected = strings.trust(done.summary, "BERT", Workload())
    assert expected in html.unescape(str(said))
    assert progress == "", "what is told of a result stands with it"
    _, progress, _, said, kept = tab.draw_card(MeasurementSettings(), done, going)
    assert kept is None, "not while it is timed"
    assert "rounds in" in progress
    assert "rounds in" not in said


def test_what_ended_without_a_round_names_what_the_time_went_on():
    choice = MeasurementSettings(longest_s=20)
    said = {
        "queue": "The 20 s were over while other measurements ran",
        "lock": "The 20 s were over while models answered other requests",
        "build": "The 20 s were over while the models were loaded or built",
        "rounds": "The 20 s were over before every model had run once in a round",
    }
    for stage, expected in said.items():
        update = JobUpdate(0, None, done=True, stage=stage)
        finding, progress, card, _, kept = tab.draw_card(choice, None, update)
        assert expected in str(progress)
        assert kept is None
        assert "How long does it take?" in str(finding)
        assert str(card).count("not measured yet") == 3
        stopped = replace(update, stopped=True)
        assert strings.NOTHING in str(tab.draw_card(choice, None, stopped)[1])


def test_the_measurement_in_full_is_there_once_there_is_one():
    from explorer.ui.latency.tab import draw_detail

    assert draw_detail(None) == ["", "", ""]
    result = measured({"bert": 4.0, "distilbert": 2.0, "albert": 4.0}, n_rounds=40)
    title, strip, drawn = draw_detail(result)
    assert "how sure is this result?" in title
    assert len(json.loads(strip)["numbers"]["rows"]) == 3 * 40
    scale = drawn[drawn.index('data-kind="latency/ratios"') :]
    rows = re.findall(r'data-model="(\w+)"', scale)
    assert list(dict.fromkeys(rows)) == ["distilbert", "albert", "bert"], "last, BERT over itself"


def test_a_name_in_a_sentence_keeps_its_capitals():
    said = strings.settings_said(("base", 32, 1, "head", "wait", "cpu", "float32", 20))
    assert "with the MLM head" in said
    ratio = Ratio(0.6, 0.59, 0.61, 30)
    assert str(strings.claim_sentence({True: ratio}, "two models", True)).startswith("With the MLM")
