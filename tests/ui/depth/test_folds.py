"""The depth tab's folds on random models: once per family, stopped between sentences, with words."""

import json
import threading
from dataclasses import replace
from functools import partial

import pytest

from explorer.inference.cache import CACHE
from explorer.inference.runs import Runs
from explorer.library import depth as computed
from explorer.links.page_state import PageState
from explorer.ui.depth import folds
from explorer.ui.kit import asked, jobs
from explorer.ui.kit.jobs import handler
from tests.markup import plain

STATE = PageState(text="the photosynthesis sat on the [MASK].")
SENTENCES = tuple(f"the {word} sat on the mat." for word in ("cat", "dog", "capital")) * 6


@pytest.fixture
def counted(tiny_family, monkeypatch):
    """How many sentences went through the models."""
    counted, read = [], computed.states_of
    monkeypatch.setattr(computed, "sentences", lambda: SENTENCES)
    monkeypatch.setattr(computed, "states_of", lambda *args: counted.extend(args[2]) or read(*args))
    return counted


@pytest.mark.long
def test_layers_are_compared_once_and_then_at_once(counted):
    steps = list(handler(folds.SIMILARITY)(STATE))
    said = {plain(step[0]) for step in steps[:-1]}
    assert said <= {f"{done} of 18 sentences" for done in (0, 8, 16, 18)}
    data = json.loads(steps[-1][1])
    (figure,) = data["figures"]
    assert len(figure["data"][0]["z"]) == 7 + 4 + 7
    framed = [s for s in figure["layout"]["shapes"] if s["type"] == "rect"]
    copies = [(s["y0"] + 0.5, s["x0"] + 0.5) for s in framed]
    assert copies[::2] == [(0, 7), (2, 8), (4, 9), (6, 10)]
    assert copies[1::2] == [(column, row) for row, column in copies[::2]]
    assert "mini-DistilBERT" in steps[-1][0]
    assert "copied from" in steps[-1][2]
    assert steps[-1][3].visible is False
    assert len(counted) == 18
    again = list(handler(folds.SIMILARITY)(PageState(text="a dog.")))
    assert (len(again), len(counted)) == (1, 18)
    assert again[0][1] == steps[-1][1]


def test_after_twenty_seconds_the_page_shows_what_was_read_and_keeps_nothing(counted, monkeypatch):
    """A clock that is read once at the start, then after each batch of eight."""
    times = iter([0.0, 19.0, 20.0])
    compared = partial(computed.compared, clock=lambda: next(times))
    monkeypatch.setattr(computed, "compared", compared)
    *_, last = handler(folds.SIMILARITY)(STATE)
    assert len(counted) == 16
    n_words = sum(len(sentence.split()) + 1 for sentence in SENTENCES[:16])
    said = "Of 18 texts, 16 were read, {} words: then the 20 s were over"
    assert said.format(n_words) in plain(last[2])
    assert not any("similarity" in key for key in CACHE._values)
    monkeypatch.setattr(computed, "compared", compared.func)
    *_, last = handler(folds.SIMILARITY)(STATE)
    assert len(counted) == 16 + 18
    assert "All 18 texts were read, " in plain(last[2])


def test_a_stop_ends_the_reading_with_the_sentence_that_is_read(counted, monkeypatch):
    read, begun, go_on = computed.states_of, threading.Event(), threading.Event()

    def slow(*arguments):
        begun.set()
        assert go_on.wait(300)
        return read(*arguments)

    monkeypatch.setattr(computed, "states_of", slow)
    monkeypatch.setattr(computed, "AT_ONCE", 1)
    monkeypatch.setattr(jobs, "owner_of", lambda _: "me")
    seen = []
    job = threading.Thread(
        target=lambda: seen.extend(handler(folds.SIMILARITY)(STATE)), daemon=True
    )
    job.start()
    assert begun.wait(300)
    folds.SIMILARITY.queue.stop(folds.SIMILARITY.owner())
    go_on.set()
    job.join(300)
    assert "Stopped" in seen[-1][0]
    assert seen[-1][3].visible is False
    assert len(counted) == 1
    assert not any("similarity" in key for key in CACHE._values)


def test_a_words_way_and_the_shared_heads_come_from_the_run(tiny_family):
    travel, said, film, _ = folds.show_moves(STATE)
    data = json.loads(travel)
    assert data["words"] == ["the", "photosynthesis", "sat", "on", "the", "[MASK]", "."]
    assert data["first"] == 5
    assert [[len(way) for way in ways] for ways in data["ways"]] == [[7, 7]] * 3, "a row a word"
    assert [len(ways[0][0]) for ways in data["ways"]] == [7, 4, 7]
    assert all(way[0] == pytest.approx(1) for ways in data["ways"] for way in ways[0])
    assert all(way[-1] == pytest.approx(1) for ways in data["ways"] for way in ways[1])
    drawn = [[trace["y"] for trace in figure["data"]] for figure in data["figures"]]
    assert drawn[0] == [pytest.approx(way[5], abs=1e-6) for way in data["ways"][0]]
    assert "mini-ALBERT" in said
    assert json.loads(film)["heads"] == 12
    _, cloud = folds.show_projection(STATE)
    rows = json.loads(cloud)["numbers"]["rows"]
    assert len(rows) == (7 + 4 + 7) * len(data["words"])
    assert "“[MASK]”" in json.loads(cloud)["note"]


def test_a_model_of_another_width_is_named_where_it_is_not_drawn(tiny_family, monkeypatch):
    words = folds.followed(STATE)
    narrow = words.runs["distilbert"]
    narrow = replace(narrow, hidden_states=narrow.hidden_states[..., :8])
    unlike = replace(words, runs={**words.runs, "distilbert": narrow})
    said, drawn = folds.show_projection(STATE)
    assert said == ""
    assert "in mini-BERT, mini-DistilBERT and mini-ALBERT:" in json.loads(drawn)["finding"]
    monkeypatch.setattr(folds, "followed", lambda _: unlike)
    said, drawn = folds.show_projection(STATE)
    assert "Not drawn, as the states have another width: mini-DistilBERT." in said
    assert "in mini-BERT and mini-ALBERT:" in json.loads(drawn)["finding"]


def test_without_a_shared_layer_a_sentence_says_so(tiny_family, monkeypatch):
    runs = tiny_family.runs(STATE.text)
    monkeypatch.setattr(asked, "get_runs", lambda _: Runs({"bert": runs["bert"]}, {}))
    _, said, film, _ = folds.show_moves(STATE)
    assert "No model here applies one layer several times" in said
    assert film == ""
