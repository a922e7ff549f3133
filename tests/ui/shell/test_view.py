"""The one event: what the browser asks is understood, answered for its tab, and refused whole."""

import json

import pytest

from explorer.inference import runs
from explorer.links.page_state import RUN_FIELDS, PageState
from explorer.ui.kit.canvas import Canvas
from explorer.ui.shell import view as shell
from explorer.ui.shell.tabs import TABS

TEXT = "the cat sat on the [MASK]."


def quiet(*_, **__):
    """A progress bar that nobody sees."""


def on_view(page):
    return next(f for f in page.fns.values() if getattr(f.fn, "__name__", "") == "on_view")


def named(page, answer):
    """The answer's values by the name of what they are written to."""
    found = {}
    for component, value in answer.items():
        name = getattr(component, "elem_id", None) or getattr(component, "kind", None)
        found[name or type(component).__name__] = value
    return found


def ask(page, number=1, keep=(), **params):
    params = {"text": TEXT, "family": "mini", "device": "cpu", "dtype": "float32"} | params
    question = json.dumps({"params": params, "number": number, "keep": list(keep)})
    return on_view(page).fn(question, quiet)


def told(page, answer):
    view = next(c for c in answer if getattr(c, "kind", "") == "page/view")
    return json.loads(answer[view])["answer"]


def test_who_waits_for_a_network_is_told_what_for(page, tiny_family, monkeypatch):
    told = []
    monkeypatch.setattr(
        shell, "get_runs", lambda state, report: report("BERT is being read", 0.25) or ({}, {})
    )
    shell.run_models(PageState(text=TEXT), lambda *share, **said: told.append((*share, said)))
    assert told == [(0.25, {"desc": "BERT is being read"})]


def test_an_answer_says_what_was_understood_and_which_question_it_was(page, tiny_family):
    with pytest.warns(UserWarning, match="reset to the default: layer"):
        answer = told(page, ask(page, 7, tab="attention", layer="40", order="kind"))
    assert (answer["number"], answer["accepted"], answer["drawn"]) == (7, True, True)
    assert answer["repaired"] == ["layer"]
    assert answer["params"]["tab"] == "attention"
    assert answer["params"]["order"] == "kind"
    assert answer["text"] == TEXT
    assert answer["machine"] == {"device": "cpu", "dtype": "float32"}


def test_an_answer_says_where_it_was_computed_whatever_was_asked_for(
    page, tiny_family, monkeypatch
):
    assert told(page, ask(page, device="cuda"))["machine"]["device"] == "cpu", "there is no GPU"
    monkeypatch.setattr(shell, "device_of", lambda state: "meta")
    monkeypatch.setattr(shell, "run_models", lambda *_: (runs.Runs(), "not now"))
    assert told(page, ask(page, tab="claims"))["machine"]["device"] == "meta"


def test_the_tab_asked_for_is_drawn_and_the_others_are_emptied_but_for_those_up_to_date(
    page, tiny_family
):
    answer = named(page, ask(page, tab="attention", keep=["predictions"]))
    assert "the" in answer["attention/wall"]
    assert "predictions/gaps" not in answer, "kept: it shows this text already"
    assert answer["distillation/lab"] == ""
    assert answer["message"] == ""
    assert any(isinstance(value, PageState) for value in answer.values())


@pytest.mark.parametrize("tab", ["parameters", "claims"])
def test_a_tab_that_reads_no_text_is_drawn_beside_the_refusal_of_one(page, tiny_family, tab):
    answer = ask(page, tab=tab, text="")
    assert (told(page, answer)["accepted"], told(page, answer)["drawn"]) == (False, True)
    assert "There is no text" in named(page, answer)["message"]
    assert not any(isinstance(value, PageState) for value in answer.values())


def test_a_refused_text_leaves_every_picture_and_the_state_alone(page, tiny_family):
    answer = ask(page, text="\u6f22" * 600)
    assert set(named(page, answer)) == {"page/view", "link", "message"} & set(named(page, answer))
    assert not told(page, answer)["accepted"]
    assert not told(page, answer)["drawn"]
    assert "512 fit" in named(page, answer)["message"]


def test_a_family_that_cannot_be_had_says_the_way_back(page, tiny_family, monkeypatch):
    monkeypatch.setattr(shell, "get_runs", lambda *_: runs.Runs())
    message = named(page, ask(page, family="base", tab="claims"))["message"]
    assert 'data-family="mini"' in message
    assert named(page, ask(page, family="mini", tab="claims"))["message"] == ""


@pytest.mark.parametrize("asked", ["", "null", "[]", "{}", '{"params": 3}', "x" * 10_000])
def test_whatever_is_no_question_asks_for_the_start(page, asked, monkeypatch):
    seen = []
    monkeypatch.setattr(shell, "view", lambda wiring, asked, progress: seen.append(asked) or {})
    on_view(page).fn(asked, quiet)
    assert seen[0].state == PageState()


def passes(monkeypatch):
    """Counts the forward passes that are computed from now on."""
    from explorer.models import forward

    counted, compute = [], forward.run_model
    monkeypatch.setattr(forward, "run_model", lambda *a: counted.append(1) or compute(*a))
    return counted


def test_a_tab_switch_runs_no_model(page, tiny_family, monkeypatch):
    runs.CACHE.clear()
    counted = passes(monkeypatch)
    ask(page, text="a dog ran to the [MASK].")
    assert len(counted) == 3
    for tab in ("attention", "depth", "distillation", "parameters", "latency", "claims"):
        ask(page, text="a dog ran to the [MASK].", tab=tab, keep=["predictions"])
    assert len(counted) == 3


def test_what_a_tab_reads_is_a_field_of_the_state(page):
    for tab in TABS:
        assert set(tab.READS) <= set(PageState.__slots__)
        assert "text" not in tab.READS or set(RUN_FIELDS) <= set(tab.READS)


def test_the_same_answer_twice_is_told_twice():
    canvas = Canvas("page/view")
    first, second = (canvas.postprocess('{"a": 1}') for _ in range(2))
    assert first != second
    assert json.loads(first)["a"] == json.loads(second)["a"] == 1
    assert canvas.postprocess("") == ""
    for empty in ("{}", "{ }"):
        assert [*json.loads(canvas.postprocess(empty))] == ["serial"]


def test_only_the_last_of_several_questions_is_answered(page):
    event = on_view(page)
    assert event.trigger_mode == "always_last"
    assert "window.explorer.question('page/view')" in str(event.js)
