"""The fuzzer asks the same for a seed, and knows a failure when it reads one."""

import json

import pytest

from explorer.bench import fuzz
from explorer.bench.nonsense import Nonsense
from explorer.ui.kit.words import UNEXPECTED
from explorer.ui.shell.api import ENDPOINTS


@pytest.fixture(scope="module")
def settings(page):
    return json.loads(json.dumps(page.get_config_file(), default=str))


def test_a_seed_says_what_is_asked(settings):
    def plan(seed):
        source = Nonsense(seed)
        return [fuzz.drawn(source, settings, "s") for _ in range(200)]

    assert plan(1) == plan(1)
    assert plan(1) != plan(2)


def test_everything_that_answers_is_asked(settings):
    source = Nonsense(0)
    asked = [fuzz.drawn(source, settings, "s").what for _ in range(3000)]
    named = {d["api_name"] or str(d["id"]) for d in settings["dependencies"] if d["backend_fn"]}
    assert set(fuzz.GOOD) == set(ENDPOINTS)
    assert named | set(ENDPOINTS) | {"picture"} <= set(asked)


def test_a_good_answer_is_among_what_is_sent(settings):
    source = Nonsense(0)
    bodies = {fuzz.drawn(source, settings, "s").body for _ in range(3000)}
    assert json.dumps({"data": fuzz.GOOD["predict"]}) in bodies


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ('data: {"msg":"process_completed","output":{"data":[1]},"success":true}', "answer"),
        ('data: {"msg":"process_completed","output":{"error":"No."},"success":false}', "refused"),
        ('data: {"msg":"process_completed","output":{"error":null},"success":false}', "silent"),
        ('data: {"error": "No.", "duration": 10, "visible": true}', "refused"),
        ('data: {"error": null, "visible": true}', "silent"),
        (f"data: {json.dumps(UNEXPECTED.format(mark='x'))}", "ours"),
        ('data: {"msg":"unexpected_error","message":"x"}', "broken"),
        ("", "broken"),
        ("data: [1]", "answer"),
    ],
)
def test_the_last_words_say_what_came_of_it(said, kind):
    assert fuzz.kind_of(said) == kind
    good = kind in ("answer", "refused")
    assert fuzz.Came(fuzz.Asked("", "", ""), kind).is_bad is not good
