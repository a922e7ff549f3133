"""The waiting room, asked over HTTP: how many may wait, whose turn comes, and who is dropped."""

import asyncio
import json
import threading
import time
from collections import Counter

import gradio as gr
import httpx
import pytest
from starlette.middleware import Middleware

from explorer.bench.served import served
from explorer.doors import waiting
from explorer.doors.streams import Streams
from explorer.doors.waiting import (
    MOST_OF_ONE,
    MOST_OF_PROGRAMS,
    MOST_WAITING,
    OPEN_WITHIN_S,
    account_of,
)
from explorer.ui.kit.blocks import Page
from tests.waiting import in_its_own_loop, until

PAGE_EVENT = 0


@pytest.fixture(scope="module")
def asked():
    """The texts that were begun; each waits until ``go`` is set."""
    begun = []
    begun_go = threading.Event()
    begun_go.set()

    class Asked(list):
        go = begun_go

    return Asked(begun)


@pytest.fixture(scope="module")
def page(asked):
    def answer(text: str) -> str:
        asked.append(text)
        asked.go.wait(60)
        return text

    with Page(analytics_enabled=False) as page:
        box = gr.Textbox()
        box.submit(
            answer, box, box, api_visibility="private", api_name="seen", concurrency_id="page"
        )
        gr.api(answer, api_name="answer", concurrency_id="programs")
    page.queue(default_concurrency_limit=4)
    return page


@pytest.fixture(scope="module")
def url(page):
    with served(page, app_kwargs={"middleware": [Middleware(Streams)]}) as url:
        yield url


@pytest.fixture(autouse=True)
def room(page, asked, monkeypatch):
    """Empty before and after each test."""
    asked.clear()
    asked.go.set()
    yield page._queue
    asked.go.set()
    monkeypatch.setattr(waiting, "OPEN_WITHIN_S", 0.0)
    until(lambda: not len(page._queue) and not any(page._queue.active_jobs))


def join(session, text="a"):
    body = {"data": [text], "fn_index": PAGE_EVENT, "session_hash": session}
    return "/gradio_api/queue/join", body, "203.0.113.1"


def call(address, text="a"):
    return "/gradio_api/call/answer", {"data": [text]}, address


def all_at_once(url, questions):
    """The replies to questions that are sent at the same time."""

    async def run():
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as http:
            # From the loopback, which is the one proxy that is believed.
            sent = (http.post(p, json=b, headers={"x-forwarded-for": a}) for p, b, a in questions)
            return await asyncio.gather(*sent)

    return in_its_own_loop(run())


def read(url, session):
    """What the stream of a session says in the end."""
    with httpx.stream(
        "GET", f"{url}/gradio_api/queue/data", params={"session_hash": session}, timeout=60
    ) as reply:
        said = [json.loads(line[5:]) for line in reply.iter_lines() if line.startswith("data:")]
    (done,) = [one for one in said if one["msg"] == "process_completed"]
    return done


def most_waiting(room, monkeypatch):
    """The longest that the room's line ever is, from now on."""
    seen, push = [0], room.push

    async def counted(**asked):
        answer = await push(**asked)
        seen.append(len(room))
        return answer

    monkeypatch.setattr(room, "push", counted)
    return lambda: max(seen)


def patiently(monkeypatch):
    """However long the machine takes for them, nobody is dropped meanwhile."""
    for name in ("OPEN_WITHIN_S", "OPEN_IF_FULL_S"):
        monkeypatch.setattr(waiting, name, 600.0)


@pytest.mark.parametrize(
    ("questions", "room_for"),
    [
        ([join(f"s{n}") for n in range(1000)], MOST_WAITING),
        ([call(f"198.51.{n // 200}.{n % 200}") for n in range(1000)], MOST_OF_PROGRAMS),
        ([call("198.51.100.7") for n in range(300)], MOST_OF_ONE),
        ([join("one page") for n in range(300)], MOST_OF_ONE),
        ([("/gradio_api/call/seen", {"data": ["a"]}, "") for n in range(300)], MOST_OF_ONE),
    ],
    ids=["pages", "programs", "one address", "one page", "a page's event by a program"],
)
def test_of_very_many_at_once_no_more_wait_than_there_is_room(
    url, room, monkeypatch, questions, room_for
):
    most = most_waiting(room, monkeypatch)
    patiently(monkeypatch)
    replies = Counter(reply.status_code for reply in all_at_once(url, questions))
    assert most() == room_for
    assert replies[200] == room_for
    assert replies[429] + replies[200] == len(questions)
    assert len(room) == room_for


def test_programs_that_fill_their_room_leave_room_for_a_page(url, room, monkeypatch):
    patiently(monkeypatch)
    refused = all_at_once(url, [call(f"198.51.100.{n % 8}") for n in range(200)])
    assert any(reply.status_code == 429 for reply in refused)
    assert "try again" in next(r for r in refused if r.is_error).json()["detail"]
    (reply,) = all_at_once(url, [join("visitor", "mine")])
    assert reply.status_code == 200
    assert read(url, "visitor")["output"]["data"] == ["mine"]


def test_one_address_of_programs_has_a_quarter_and_another_its_own(url, monkeypatch):
    patiently(monkeypatch)
    first = all_at_once(url, [call("198.51.100.1") for _ in range(40)])
    assert Counter(reply.status_code for reply in first) == {200: MOST_OF_ONE, 429: 24}
    (other,) = all_at_once(url, [call("198.51.100.2")])
    assert other.status_code == 200


def test_an_address_is_believed_from_a_trusted_proxy_alone(url, monkeypatch):
    """The same forged header, from the loopback's second address, is one program's all the same."""
    patiently(monkeypatch)
    with httpx.Client(
        base_url=url, transport=httpx.HTTPTransport(local_address="127.0.0.2"), timeout=60
    ) as http:
        replies = Counter(
            http.post(path, json=body, headers={"x-forwarded-for": f"198.51.100.{n}"}).status_code
            for n, (path, body, _) in enumerate(call("") for _ in range(MOST_OF_ONE + 5))
        )
    assert replies == {200: MOST_OF_ONE, 429: 5}


def test_thirty_pages_of_one_address_are_all_answered(url):
    sessions = [f"pupil {n}" for n in range(30)]
    answers = {}

    def pupil(session):
        (reply,) = all_at_once(url, [join(session, session)])
        assert reply.status_code == 200, reply.text
        answers[session] = read(url, session)["output"]["data"]

    pupils = [threading.Thread(target=pupil, args=(session,)) for session in sessions]
    for thread in pupils:
        thread.start()
    for thread in pupils:
        thread.join(120)
    assert answers == {session: [session] for session in sessions}


def test_who_never_opens_the_stream_is_dropped_and_never_computed(url, room, asked):
    before = time.monotonic()
    replies = all_at_once(url, [call("198.51.100.3", "never"), join("deaf", "never")])
    event = replies[0].json()["event_id"]
    assert len(room) == 2
    until(lambda: not len(room), 30)
    assert time.monotonic() - before >= OPEN_WITHIN_S - 0.1
    assert asked == []
    late = httpx.get(f"{url}/gradio_api/call/answer/{event}", timeout=60).text
    assert late.startswith("event: error")
    assert "Nobody listened" in late
    assert late.count("event:") == 1


def test_a_page_whose_browser_opens_the_stream_late_is_answered_after_all(url, room, asked):
    all_at_once(url, [join("slow", "mine")])
    until(lambda: not len(room), 30)
    assert asked == []
    assert read(url, "slow")["output"]["data"] == ["mine"]


def test_of_pages_that_never_listen_the_latest_are_kept_aside(url, room):
    rounds = 2
    for n in range(rounds):
        all_at_once(url, [join(f"deaf {n} {m}") for m in range(MOST_WAITING)])
        until(lambda: not len(room), 30)
    assert "Nobody listened" in read(url, "deaf 0 0")["output"]["error"]
    assert read(url, f"deaf {rounds - 1} 0")["output"]["data"]


def test_who_listens_is_answered_although_many_do_not(url, asked):
    all_at_once(url, [call(f"198.51.100.{n % 4}", "never") for n in range(80)])
    time.sleep(waiting.OPEN_IF_FULL_S)
    (reply,) = all_at_once(url, [call("192.0.2.1", "mine")])
    begun = time.monotonic()
    event = reply.json()["event_id"]
    said = httpx.get(f"{url}/gradio_api/call/answer/{event}", timeout=60).text
    assert said.startswith("event: complete")
    assert "mine" in said
    assert time.monotonic() - begun < OPEN_WITHIN_S
    assert asked == ["mine"]


def test_pages_that_do_not_listen_make_room_for_one_that_does(url, room):
    all_at_once(url, [join(f"deaf {n}") for n in range(MOST_WAITING)])
    assert len(room) == MOST_WAITING
    time.sleep(waiting.OPEN_IF_FULL_S)
    (reply,) = all_at_once(url, [join("visitor", "mine")])
    assert reply.status_code == 200
    assert read(url, "visitor")["output"]["data"] == ["mine"]


def test_a_letterbox_that_is_thrown_away_takes_its_questions_along(page):
    boxes = type(page._queue.pending_messages_per_session)(2, unread := {"a": 1, "b": 2})
    boxes["a"], boxes["b"] = 0, 0
    assert boxes["a"] == 0, "the last to be used"
    boxes["c"] = 0
    assert set(boxes) == {"a", "c"}
    assert unread == {"a": 1}


@pytest.mark.parametrize(
    ("host", "account"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_one_account(host, account):
    assert account_of(host) == account
