"""The patching fold on random models: what it proposes, follows, keeps and refuses; and its stop."""

import json
import threading
from dataclasses import replace

import pytest

from explorer.inference.cache import CACHE
from explorer.library import patching as computed
from explorer.library import refusals
from explorer.links.page_state import PageState
from explorer.ui.depth import patching, strings
from explorer.ui.kit import jobs
from explorer.ui.kit.jobs import handler
from tests.waiting import until

STATE = PageState(text="the cat sat on the [MASK].")
PROPOSING = PageState(text="a [MASK] was in paris.")
SECOND = "the dog sat on the [MASK]."
SAID, PICTURE, STOP = 1, 2, 3
follow, follow_link, follow_offered = (
    handler(replace(patching.PATCHING, ask=ask))
    for ask in (patching.ask, patching.ask_linked, patching.ask_offered)
)


@pytest.fixture(autouse=True)
def _one_visitor_with_nothing_cached(monkeypatch):
    CACHE.clear()
    monkeypatch.setattr(jobs, "owner_of", lambda _: "me")


def encoder_passes(tiny_family):
    """Which encoders ran, in order, and a way to stop listening."""
    ran, handles = [], []
    for key in tiny_family.specs:
        encoder = tiny_family.loaded(key).network.base_model
        handles.append(encoder.register_forward_hook(lambda *_, key=key: ran.append(key)))
    return ran, lambda: [handle.remove() for handle in handles]


def has_picture(values):
    return isinstance(values[PICTURE], str) and values[PICTURE] != ""


def last(generator):
    return list(generator)[-1]


def test_a_pair_is_followed_once_and_then_kept(tiny_family):
    drawn = list(follow(STATE, SECOND))
    assert [one[STOP].visible for one in drawn][-1] is False
    data = json.loads(drawn[-1][PICTURE])
    assert (data["was"], data["becomes"], data["other"]) == ("cat", "dog", SECOND)
    assert {json.loads(one[PICTURE])["first"] for one in drawn if has_picture(one)} == {STATE.text}
    for model in data["models"]:
        (one,) = model["maps"]
        layers = tiny_family.specs[model["key"]].architecture.n_layers
        assert len(one["effect"]) == layers + 1
        assert 1 <= one["taken"] <= layers
    ran, stop_listening = encoder_passes(tiny_family)
    again = json.loads(last(follow(STATE, SECOND))[PICTURE])
    stop_listening()
    assert ran == []
    assert again == data


@pytest.mark.parametrize(
    ("text", "second", "said"),
    [
        ("the cat sat.", "the dog sat.", refusals.NO_MASK_TO_PATCH),
        ("漢 [MASK]", "", refusals.NO_PROPOSAL),
        ("a " * 60 + "[MASK]", "", refusals.TOO_LONG_TO_PATCH.format(most=48, n=61)),
        ("xyz" * 45 + " [MASK]", "", "Patching takes texts of at most 128 pieces"),
        (STATE.text, STATE.text, "The two texts are the same"),
        (STATE.text, "the cat sat on the mat.", "Both texts need every [MASK]"),
    ],
)
def test_what_cannot_be_followed_is_said_without_a_pass_more(tiny_family, text, second, said):
    state = PageState(text=text)
    tiny_family.runs(text)
    if second:
        tiny_family.runs(second)
    ran, stop_listening = encoder_passes(tiny_family)
    drawn = last(follow(state, second))
    stop_listening()
    assert said in drawn[SAID]
    assert "models" not in json.loads(drawn[PICTURE])
    assert drawn[STOP].visible is False
    assert ran == []


def test_a_model_with_other_pieces_is_refused_by_its_name_and_the_others_are_drawn(tiny_family):
    second = "the photosynthesis sat on the [MASK]."
    data = json.loads(last(follow(STATE, second))[PICTURE])
    for model in data["models"]:
        tokens = tiny_family.run(model["key"], second).tokens
        n_pieces = len(tokens) - len(tiny_family.run(model["key"], STATE.text).tokens) + 1
        assert model["maps"] == []
        assert f"into 1 piece and “photosynthesis” into {n_pieces} pieces" in model["refused"]
        assert model["refused"].startswith(model["label"])


def test_the_second_text_is_shown_as_it_is_run(tiny_family):
    asked = list(patching.ask(STATE, SECOND.replace("[MASK]", "[ mask ]")))
    assert asked[-1][0] == SECOND


def test_one_model_may_be_drawn_alone(tiny_family, monkeypatch):
    plain = computed.text_pair

    def only_bert(*tokens):
        pair = plain(*tokens)
        return replace(pair, groups={k: g for k, g in pair.groups.items() if k == "bert"})

    monkeypatch.setattr(computed, "text_pair", only_bert)
    data = json.loads(last(follow(STATE, SECOND))[PICTURE])
    assert [bool(model["maps"]) for model in data["models"]] == [True, False, False]
    assert [bool(model["refused"]) for model in data["models"]] == [False, True, True]


def test_the_link_names_the_second_text_only_where_it_is_the_readers(tiny_family):
    proposed = json.loads(last(follow_link(PROPOSING))[PICTURE])
    assert proposed["offered"][0]["text"] == proposed["second"] == "a [MASK] was in london."
    assert proposed["other"] == ""
    linked = last(follow_link(PageState(text=STATE.text, other=SECOND)))
    assert json.loads(linked[PICTURE])["other"] == SECOND
    offered = last(follow_offered({"second": SECOND}, STATE))
    assert json.loads(offered[PICTURE])["second"] == SECOND


def test_many_masks_are_followed_up_to_a_limit(tiny_family):
    text = "the cat [MASK] [MASK] [MASK] [MASK] [MASK] [MASK]."
    data = json.loads(last(follow(PageState(text=text), text.replace("cat", "dog")))[2])
    assert data["n_masks"] == 6
    assert {len(model["maps"]) for model in data["models"]} == {computed.MAX_MASKS}
    assert len(data["near"]) == len(data["masks"]) == computed.MAX_MASKS


def test_a_stop_ends_it_with_the_batches_that_are_under_way(tiny_family, monkeypatch):
    """Every batch is one patch, of which there are dozens."""
    monkeypatch.setattr(computed, "patch_batches", lambda planned, *_: ([p] for p in planned))
    plain, calls = computed.score_gaps, []
    begun, go_on = threading.Event(), threading.Event()

    def slow(*arguments):
        calls.append(1)
        begun.set()
        assert go_on.wait(300)
        return plain(*arguments)

    monkeypatch.setattr(computed, "score_gaps", slow)
    seen = []
    job = threading.Thread(target=lambda: seen.extend(follow(STATE, SECOND)), daemon=True)
    job.start()
    assert begun.wait(300)
    patching.PATCHING.queue.stop(patching.PATCHING.owner())
    go_on.set()
    job.join(300)
    assert strings.STOPPED in seen[-1][SAID]
    assert seen[-1][STOP].visible is False
    assert len(calls) <= len(tiny_family.specs), "one of each model in a round"
    assert not any("patching" in key for key in CACHE._values)


def test_a_newer_pair_takes_the_place_of_an_older_one_in_silence(tiny_family, monkeypatch):
    plain, begun, release = computed.score_gaps, threading.Event(), threading.Event()

    def held(*arguments):
        begun.set()
        assert release.wait(300)
        return plain(*arguments)

    monkeypatch.setattr(computed, "score_gaps", held)
    for text in (STATE.text, SECOND, "the cat sat in the [MASK]."):
        tiny_family.runs(text)  # the held batches have all workers
    older, newer = [], []
    first = threading.Thread(target=lambda: older.extend(follow(STATE, SECOND)), daemon=True)
    first.start()
    assert begun.wait(300)
    other = "the cat sat in the [MASK]."
    second = threading.Thread(target=lambda: newer.extend(follow(STATE, other)), daemon=True)
    second.start()
    until(lambda: len(patching.PATCHING.queue) == 2)
    release.set()
    first.join(300)
    second.join(300)
    assert strings.STOPPED not in str([one[SAID] for one in older])
    assert json.loads(newer[-1][PICTURE])["becomes"] == "in"
