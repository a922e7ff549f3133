"""This process as the place: what goes before what, while an answer of many passes is made."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.context import configure
from explorer.inference import local
from explorer.inference.local import LocalBackend
from explorer.inference.worker_queues import LONG
from explorer.models import forward, gradients
from explorer.models.specs import NetworkKey
from explorer.models.task_heads import classifiers
from explorer.scheduling import budget, measurement_lock
from explorer.scheduling.budget import Budget, BudgetMeter
from explorer.scheduling.cancel import Cancelled
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from tests.waiting import until

JUDGED, ANSWERED = (
    f"explorer.analysis.tasks.{job}" for job in ("tuned:tuned_sentiment", "tuned:tuned_answer")
)
PASSAGE = "the cat sat on the mat. " * 60


@pytest.fixture
def where(tuned_family):
    return NetworkKey(tuned_family.specs["bert"], "cpu", "float32")


@pytest.fixture
def passes(monkeypatch):
    """The passes in their order; ``at_first`` is called in the first pass of the long job."""
    order, original, window = [], gradients.slopes_at, classifiers._window_logits

    def of(make):
        def run(*asked):
            order.append("part")
            if order.count("part") == 1:
                order.at_first()
            return make(*asked)

        return run

    class Order(list):
        at_first = staticmethod(lambda: None)

    order = Order()
    together, margins = forward.run_together, classifiers.margins
    monkeypatch.setattr(gradients, "slopes_at", of(original))
    monkeypatch.setattr(classifiers, "_window_logits", of(window))
    monkeypatch.setattr(
        classifiers, "margins", lambda *asked: order.append("words") or margins(*asked)
    )
    monkeypatch.setattr(
        forward, "run_together", lambda *asked: order.append("run") or together(*asked)
    )
    return order


@pytest.mark.parametrize(
    ("job", "asked"), [(JUDGED, ("the cat sat.",)), (ANSWERED, ("who sat?", PASSAGE))]
)
def test_a_text_goes_between_two_passes_of_a_long_answer(where, passes, job, asked):
    """On the one worker there is; the answer is the same as of a place that nobody else asks."""
    place, texts = LocalBackend(1), []
    passes.at_first = lambda: texts.append(place.run(where, "a dog on a mat", None))
    found = place.call(where, job, asked)
    assert texts[0].result(60).tokens.text == "a dog on a mat"
    assert passes[:3] == ["part", "run", "part"]
    assert passes.count("run") == 1
    alone = LocalBackend(1).call(where, job, asked)
    assert repr(alone) == repr(found)


def test_two_long_answers_are_not_begun_inside_each_other(where, passes):
    place, other = LocalBackend(1), []

    def ask():
        thread = threading.Thread(
            target=lambda: other.append(place.call(where, JUDGED, ("a dog ran.",)))
        )
        thread.start()
        until(lambda: place._queues.waiting(LONG))

    passes.at_first = ask
    place.call(where, JUDGED, ("the cat sat.",))
    parts = -(-(4 * gradients.PARTS + 1) // gradients.AT_ONCE)
    assert passes[: parts + 1] == ["part"] * parts + ["words"], (
        "the first to its end, then the second"
    )
    until(lambda: other)


def test_a_measurement_waits_for_one_pass_and_not_for_the_answer(where, passes):
    def measure():
        with MEASUREMENT_LOCK.measure():
            passes.append("measured")

    def ask():
        threading.Thread(target=measure).start()
        until(lambda: MEASUREMENT_LOCK.is_measuring)

    passes.at_first = ask
    LocalBackend(1).call(where, JUDGED, ("the cat sat.",))
    assert passes[:3] == ["part", "measured", "part"]


def test_who_leaves_in_the_middle_of_a_long_answer_ends_it(where, passes, monkeypatch):
    left = threading.Event()
    configure(has_left=lambda: left.is_set)
    passes.at_first = left.set
    place = LocalBackend(1)
    with pytest.raises(Cancelled):
        place.call(where, JUDGED, ("the cat sat.",))
    assert passes == ["part"]
    left.clear()
    assert np.isfinite(place.call(where, JUDGED, ("the cat sat.",)).difference)


def test_a_visitors_text_goes_before_all_that_programs_asked_for(where, monkeypatch):
    """On the one worker there is, which is busy when everybody comes."""
    place, order, release, together = LocalBackend(1), [], threading.Event(), forward.run_together
    configure(program_address=lambda: "198.51.100.1")

    def run_together(loaded, tokens):
        if not order:
            assert release.wait(60)
        order.append([one.text for one in tokens])
        return together(loaded, tokens)

    monkeypatch.setattr(forward, "run_together", run_together)
    texts = ["a cat sat", "a dog sat", "a long text about a cat and a dog that sat on a mat"]
    asked = [place.run(where, text, None) for text in texts]
    configure(program_address=lambda: "")
    asked.append(place.run(where, "a hen sat", None))
    release.set()
    assert [one.result(60).tokens.text for one in asked] == [*texts, "a hen sat"]
    assert order.index(["a hen sat"]) <= 1, "one pass later at the most, and with nobody's padding"
    until(lambda: MEASUREMENT_LOCK._visitors == 0)


def test_the_long_work_of_programs_is_paid_for_and_what_goes_between_is_not(
    where, passes, monkeypatch
):
    """A second for every pass of the long answer, and a thousand for what goes between."""
    paid, seconds = Budget(clock=lambda: 0.0), {"part": 1.0, "words": 1.0, "run": 1000.0}
    clock = SimpleNamespace(thread_time=lambda: sum(seconds[one] for one in passes))
    monkeypatch.setattr(budget, "time", clock)
    monkeypatch.setattr(local, "BudgetMeter", lambda who, threads: BudgetMeter(who, threads, paid))
    configure(program_address=lambda: "198.51.100.1")
    place, texts = LocalBackend(1), []

    def visit():
        configure(program_address=lambda: "")
        texts.append(place.run(where, "a dog on a mat", None))

    passes.at_first = visit
    place.call(where, JUDGED, ("the cat sat.",))
    assert texts[0].result(300)
    assert passes.count("run") == 1
    own = len(passes) - 1
    assert paid.spent("198.51.100.1") == local.THREADS_PER_PASS * own
    assert paid.spent("") == 0


def test_a_part_of_long_work_begins_when_the_questions_are_answered(where, passes, monkeypatch):
    monkeypatch.setattr(measurement_lock, "MAX_REST_S", 60)
    monkeypatch.setattr(MEASUREMENT_LOCK, "_visited_at", 0.0)
    answers = []
    with MEASUREMENT_LOCK.answering():
        long_work = threading.Thread(
            target=lambda: answers.append(LocalBackend(1).call(where, JUDGED, ("the cat sat.",)))
        )
        long_work.start()
        until(lambda: MEASUREMENT_LOCK._condition._waiters)
        assert not passes
    long_work.join(60)
    assert answers
    assert passes


PLANS = "explorer.lists.sentences:row_plans"


def test_rows_are_tokenized_after_a_visitors_question_and_are_none_themselves(where, monkeypatch):
    monkeypatch.setattr(measurement_lock, "MAX_REST_S", 60)
    seen, tokenize = [], forward.tokenize

    def watched(*asked):
        seen.append(MEASUREMENT_LOCK._visitors)
        return tokenize(*asked)

    monkeypatch.setattr(forward, "tokenize", watched)
    asked = [("the cat sat.",)]
    with MEASUREMENT_LOCK.answering():
        part = threading.Thread(target=LocalBackend(1).call, args=(where, PLANS, (asked, 512)))
        part.start()
        until(lambda: MEASUREMENT_LOCK._condition._waiters)
        assert not seen
    part.join(60)
    assert seen == [0]


def test_rows_of_a_client_that_has_left_are_not_tokenized(where):
    configure(has_left=lambda: lambda: True)
    with pytest.raises(Cancelled):
        LocalBackend(1).call(where, PLANS, ([("the cat sat.",)], 512))
