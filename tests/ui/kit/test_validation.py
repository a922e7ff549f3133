"""Plain bad input, asked over HTTP: a sentence that says what is wrong, and never our fault."""

import json
from contextlib import suppress
from inspect import signature

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.served import event_number
from explorer.lists.ui.tab import read_list
from explorer.refusal import Refusal
from explorer.ui.attention.tab import exact_heads
from explorer.ui.depth.tab import read_deeper
from explorer.ui.kit import strings
from explorer.ui.kit.canvas import read_question
from explorer.ui.kit.validation import whole_characters, with_whole_characters
from explorer.ui.layer.tab import look
from explorer.ui.shell.api import ENDPOINTS

pytestmark = pytest.mark.processes
JSON = {"content-type": "application/json"}
LINK = {"v": "1", "text": "The [MASK] sat.", "family": "mini"}


@pytest.fixture(scope="module")
def http(url):
    with httpx.Client(base_url=url, timeout=300) as client:
        yield client


def answer(http, name, body):
    """What an endpoint says at the end."""
    event = http.post(f"/gradio_api/call/{name}", content=body, headers=JSON)
    event.raise_for_status()
    said = http.get(f"/gradio_api/call/{name}/{event.json()['event_id']}").text
    return json.loads(said.rpartition("data: ")[2])


def told(http, event, *values):
    """What an event of the page says at the end."""
    body = {"data": list(values), "fn_index": event, "session_hash": "asker"}
    asked = http.post("/gradio_api/queue/join", content=json.dumps(body), headers=JSON)
    asked.raise_for_status()
    said = http.get("/gradio_api/queue/data", params={"session_hash": "asker"}).text
    lines = [json.loads(line[5:]) for line in said.splitlines() if line.startswith("data:")]
    return next(line for line in lines if line["msg"] == "process_completed")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("parameters", "[512]", "“models” must be a list of names."),
        ("parameters", '[{"a": 1}]', "“models” must be a list of names."),
        ("attention", '["a cat", "mini", ["bert"], 0, 0]', "“model” must be a text."),
        ("attention", '["a cat", ["mini"]]', "“family” must be a text."),
        ("predict", "[null]", "“text” must be a text."),
        ("predict", '["a [MASK]", "mini", "x"]', "“top_k” must be a number."),
        ("distillation", '["a [MASK]", "mini", [2]]', "“temperature” must be a number."),
        ("latency", '["mini", "many"]', "“sequence_length” must be a number."),
        ("predict", '["a [MASK]", "mini", NaN]', "“top_k” must be a number."),
        ("distillation", '["a [MASK]", "mini", true]', "“temperature” must be a number."),
        (
            "distillation",
            f'["a [MASK]", "mini", 1{"0" * 400}]',
            "The temperature must be a number from 0.05 to 20.",
        ),
        (
            "score",
            json.dumps(["a " * 1200]),
            "The text has 1,200 words and punctuation marks; at most 64 fit here.",
        ),
    ],
)
def test_a_value_of_another_kind_is_named(http, name, data, said):
    assert answer(http, name, f'{{"data": {data}}}')["error"] == said


def test_what_a_program_leaves_out_has_the_value_that_the_description_says(http):
    (found,) = answer(http, "predict", '{"data": ["a [MASK]"]}')
    assert (found["family"], len(found["models"])) == ("mini", 3)
    assert len(found["models"][0]["masks"][0]["predictions"]) == 10


@pytest.mark.parametrize("name", ENDPOINTS)
def test_arguments_that_are_missing_or_too_many_are_said(http, name):
    takes = signature(ENDPOINTS[name]).parameters
    needed = [f"“{one.name}”" for one in takes.values() if one.default is one.empty]
    surplus = json.dumps({"data": [None] * (len(takes) + 2)})
    said = f"Too many arguments for /{name}: at most {len(takes)}, given: {len(takes) + 2}."
    assert answer(http, name, surplus)["error"] == said
    if needed:
        said = f"/{name} needs the argument {' and '.join(needed)}."
        assert answer(http, name, '{"data": []}')["error"] == said


@pytest.mark.parametrize("body", [r'{"data": "\ud800"}', '{"data": 1', "[]", "\x00"])
def test_what_cannot_be_read_is_not_said_back(http, body):
    reply = http.post("/gradio_api/call/predict", content=body, headers=JSON)
    assert reply.status_code == 422
    assert "must be JSON" in reply.json()["detail"]


def test_half_a_character_is_dropped_wherever_it_is_asked(http, page):
    """A browser sends half of an emoji that was cut in two; no answer can say it back."""
    half = "cut \ud83d [MASK]"
    assert whole_characters({half: [half, 1, None]}) == {"cut  [MASK]": ["cut  [MASK]", 1, None]}
    (found,) = answer(http, "predict", json.dumps({"data": [half]}))
    assert found["models"]
    (found,) = answer(http, "question", json.dumps({"data": ["Who?", f"Ann {half} sat."]}))
    assert found["passage"] == "Ann cut  [MASK] sat."
    asked = {"params": LINK | {"text": half}, "number": 1, "keep": [half]}
    assert told(http, event_number(page, "on_view"), json.dumps(asked))["success"]
    assert "output" in told(http, event_number(page, "show_steps"), None, "cut \ud83d")
    wall = next(n for n, p in page.blocks.items() if getattr(p, "kind", "") == "attention/wall")
    body = {"data": asked | {"heads": [["bert", 0, 0]]}, "component_id": wall, "session_hash": "s"}
    reply = http.post(
        "/gradio_api/component_server/",
        content=json.dumps(body | {"fn_name": "exact_heads"}),
        headers=JSON,
    )
    assert reply.status_code == 200


def test_what_is_nested_without_end_is_refused():
    nest = []
    for _ in range(100_000):
        nest = [nest]
    with pytest.raises(Refusal, match="does not offer"):
        whole_characters(nest)


@pytest.mark.parametrize("session", ["\ud800", "\x00", "a\u2028b"])
def test_a_session_that_no_address_can_name_is_refused(http, page, session):
    body = {"data": ["{}"], "fn_index": event_number(page, "on_view"), "session_hash": session}
    reply = http.post("/gradio_api/queue/join", content=json.dumps(body), headers=JSON)
    assert reply.status_code == 422
    assert "must be JSON" in reply.json()["detail"]


@pytest.mark.parametrize("asked", ["[" * 100_000, '{"number": Infinity, "params": {}, "keep": []}'])
def test_a_view_asked_for_in_nonsense_is_the_start(http, page, asked):
    assert told(http, event_number(page, "on_view"), asked)["success"]


def test_a_shape_that_is_none_is_a_choice_that_is_not_offered(http, page):
    for asked in ("{}", '{"shape": 1}', '{"shape": [[1]]}'):
        done = told(http, event_number(page, "on_shape"), asked)
        assert done["output"]["error"] == strings.NOT_OFFERED


@pytest.mark.parametrize("heads", [None, 1, [1], [["bert"]], [["bert", "x", 0]], [["bert", 99, 0]]])
def test_heads_that_are_none_are_refused(http, page, heads):
    (wall,) = (
        n for n, part in page.blocks.items() if getattr(part, "kind", "") == "attention/wall"
    )
    body = {"data": {"params": LINK, "heads": heads}, "component_id": wall, "session_hash": "s"}
    reply = http.post("/gradio_api/component_server/", json=body | {"fn_name": "exact_heads"})
    assert (reply.status_code, reply.json()) == (422, {"detail": strings.NOT_OFFERED})


def test_a_question_nested_without_end_asks_nothing():
    assert read_question("[" * 100_000) == {}


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4)
ANYTHING = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
FIELDS = ("params", "list", "packed", "file", "name", "kind", "columns", "heads", "want", "mask")
QUESTIONS = ANYTHING | st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4)


@pytest.mark.parametrize("handler", [read_list, exact_heads, read_deeper, look])
@given(question=QUESTIONS)
@example(question=None)
@example(question=5)
@example(question={"packed": "", "columns": {"text": []}})
@settings(max_examples=40, deadline=None)
def test_whatever_a_picture_is_asked_it_answers_or_refuses_in_a_sentence(handler, question):
    with suppress(Refusal):  # any other exception is logged as a fault of ours
        assert json.loads(with_whole_characters(handler)(question))
