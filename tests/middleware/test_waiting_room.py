"""The waiting room, asked over HTTP: how many may wait, whose turn comes, and who is dropped."""

import asyncio
import json
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import urlsplit

import gradio as gr
import httpx
import pytest
from gradio.queueing import EventQueue, Queue
from gradio.server_messages import EstimationMessage
from starlette.middleware import Middleware

from benchmarks.served import served
from explorer import limits
from explorer.context import configure
from explorer.middleware import validation, waiting_room
from explorer.middleware.concurrency import StreamTracker
from explorer.middleware.health import add_probe, health_route
from explorer.middleware.request_filter import RequestFilter
from explorer.middleware.routes import Routes
from explorer.middleware.shutdown import serving_loop
from explorer.middleware.waiting_room import COMPARES, STEP_S, WaitingRoom
from explorer.scheduling.measurement_lock import MeasurementLock
from explorer.ui.kit.blocks import Page
from tests.waiting import in_its_own_loop, until

PAGE_EVENT = 0
ALL, OF_PROGRAMS, OF_PAGE = limits.QUESTIONS.maximum, limits.PROGRAMS.maximum, limits.PAGE.maximum


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
        add_probe()
    page.queue(default_concurrency_limit=4)
    return page


@pytest.fixture(scope="module")
def url(page):
    health = [health_route()]
    doors = [
        Middleware(RequestFilter, routes=Routes(health, ("answer", "seen"))),
        Middleware(StreamTracker),
    ]
    with served(page, app_kwargs={"middleware": doors, "routes": health}) as url:
        yield url


@pytest.fixture(autouse=True, scope="module")
def never_woken_by_time():
    """A task of the queue that nothing wakes rests longer than any test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiting_room, "REST_S", 3600.0)
        yield


@pytest.fixture(autouse=True)
def room(page, asked, monkeypatch):
    """Empty before and after each test."""
    asked.clear()
    asked.go.set()
    yield page._queue
    asked.go.set()
    drop_at_once(monkeypatch)
    until(lambda: not len(page._queue) and not any(page._queue.active_jobs))
    page._queue._unheard.clear()


def drop_after(monkeypatch, seconds, name="UNHEARD"):
    """Set how long a request waits for its stream."""
    monkeypatch.setattr(limits, name, replace(getattr(limits, name), maximum=seconds))


def drop_at_once(monkeypatch):
    """Drop requests at once: no client has time to open its stream."""
    drop_after(monkeypatch, 0)


def never_drop(monkeypatch):
    """Drop no request, however slow the machine is."""
    drop_after(monkeypatch, 600)
    drop_after(monkeypatch, 600, "UNHEARD_IF_FULL")


def join(session, text="a", address="203.0.113.1"):
    body = {"data": [text], "fn_index": PAGE_EVENT, "session_hash": session}
    return "/gradio_api/queue/join", body, address


def call(address, text="a"):
    return "/gradio_api/call/answer", {"data": [text]}, address


def all_at_once(url, questions):
    """The replies to questions that are sent at the same time."""

    async def run():
        open_ended = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=url, timeout=120, limits=open_ended) as http:
            # From the loopback, which is the one proxy that is believed.
            sent = (http.post(p, json=b, headers={"x-forwarded-for": a}) for p, b, a in questions)
            return await asyncio.gather(*sent)

    return in_its_own_loop(run())


@pytest.fixture(scope="module")
def client(url):
    with httpx.Client(base_url=url, timeout=120, limits=httpx.Limits(max_connections=None)) as http:
        yield http


def read(client, session):
    """What the stream of a session says in the end."""
    with client.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as reply:
        said = [json.loads(line[5:]) for line in reply.iter_lines() if line.startswith("data:")]
    (done,) = [one for one in said if one["msg"] == "process_completed"]
    return done


def max_waiting(room, monkeypatch):
    """Record the longest that the queue gets from now on."""
    seen, push = [0], room.push

    async def counted(**asked):
        answer = await push(**asked)
        seen.append(len(room))
        return answer

    monkeypatch.setattr(room, "push", counted)
    return lambda: max(seen)


@pytest.mark.parametrize(
    ("questions", "room_for"),
    [
        ([join(f"s{n}", address=f"203.0.113.{n}") for n in range(100)], ALL),
        ([join(f"s{n}") for n in range(100)], ALL * 15 // 16),
        ([call(f"198.51.100.{n}") for n in range(100)], OF_PROGRAMS),
        ([call("198.51.100.7")] * 40, OF_PROGRAMS * 15 // 16),
        ([join("one page")] * 40, OF_PAGE),
        ([("/gradio_api/call/seen", {"data": ["a"]}, "")] * 40, OF_PROGRAMS * 15 // 16),
    ],
    ids=["pages", "pages of one", "programs", "one address", "one page", "an event by a program"],
)
def test_of_very_many_at_once_no_more_wait_than_there_is_room(
    url, room, monkeypatch, questions, room_for
):
    most = max_waiting(room, monkeypatch)
    never_drop(monkeypatch)
    replies = Counter(reply.status_code for reply in all_at_once(url, questions))
    assert most() == room_for
    assert replies == {200: room_for, 429: len(questions) - room_for}
    assert len(room) == room_for


def test_programs_that_fill_their_room_leave_room_for_a_page(url, client, monkeypatch):
    never_drop(monkeypatch)
    refused = all_at_once(url, [call(f"198.51.100.{n % 8}") for n in range(50)])
    assert any(reply.status_code == 429 for reply in refused)
    assert "try again" in next(r for r in refused if r.is_error).json()["detail"]
    (reply,) = all_at_once(url, [join("visitor", "mine")])
    assert reply.status_code == 200
    assert read(client, "visitor")["output"]["data"] == ["mine"]


def test_an_address_that_fills_all_it_can_leaves_room_for_another(url, monkeypatch):
    never_drop(monkeypatch)
    greedy = (
        [call("198.51.100.1")] * 40,
        [join(f"s{n}", address="198.51.100.1") for n in range(ALL)],
    )
    for questions in greedy:
        assert any(reply.status_code == 429 for reply in all_at_once(url, questions))
    others = all_at_once(url, [call("198.51.100.2"), join("t", address="198.51.100.2")])
    assert [reply.status_code for reply in others] == [200, 200]


def test_an_address_is_believed_from_a_trusted_proxy_alone(url, monkeypatch):
    """The same forged header, from the loopback's second address, is one program's all the same."""
    never_drop(monkeypatch)
    with httpx.Client(
        base_url=url, transport=httpx.HTTPTransport(local_address="127.0.0.2"), timeout=60
    ) as http:
        replies = Counter(
            http.post(path, json=body, headers={"x-forwarded-for": f"198.51.100.{n}"}).status_code
            for n, (path, body, _) in enumerate(call("") for _ in range(OF_PROGRAMS))
        )
    assert replies == {200: OF_PROGRAMS * 15 // 16, 429: OF_PROGRAMS // 16}


def thirty_clients(ask):
    """Return the answers to thirty clients, each in a thread with one request after the other."""
    answers = {}

    def work(name):
        answers[name] = [ask(f"{name} {number}") for number in range(3)]

    pupils = [threading.Thread(target=work, args=(f"pupil {n}",)) for n in range(30)]
    for thread in pupils:
        thread.start()
    for thread in pupils:
        thread.join(120)
    assert answers == {f"pupil {n}": [f"pupil {n} {m}" for m in range(3)] for n in range(30)}


@pytest.mark.long
def test_thirty_pages_of_one_address_are_all_answered(client, monkeypatch):
    never_drop(monkeypatch)

    def ask(text):
        path, body, _ = join(text, text)
        client.post(path, json=body).raise_for_status()
        return read(client, text)["output"]["data"][0]

    thirty_clients(ask)


@pytest.mark.long
def test_thirty_programs_of_one_address_are_all_answered(client, monkeypatch):
    never_drop(monkeypatch)

    def ask(text):
        path, body, _ = call("", text)
        event = client.post(path, json=body).raise_for_status().json()["event_id"]
        (said,) = json.loads(client.get(f"{path}/{event}").text.partition("data: ")[2])
        return said

    thirty_clients(ask)


def test_who_never_opens_the_stream_is_dropped_and_never_computed(
    url, client, room, asked, monkeypatch
):
    never_drop(monkeypatch)
    replies = all_at_once(url, [call("198.51.100.3", "never"), join("deaf", "never")])
    event = replies[0].json()["event_id"]
    assert len(room) == 2
    drop_at_once(monkeypatch)
    until(lambda: not len(room))
    assert asked == []
    late = client.get(f"/gradio_api/call/answer/{event}").text
    assert late.startswith("event: error")
    assert "was not opened within" in late
    assert late.count("event:") == 1


def test_a_page_whose_browser_opens_the_stream_late_is_answered_after_all(
    url, client, room, asked, monkeypatch
):
    drop_at_once(monkeypatch)
    all_at_once(url, [join("slow", "mine")])
    until(lambda: not len(room))
    assert asked == []
    never_drop(monkeypatch)
    assert read(client, "slow")["output"]["data"] == ["mine"]


def test_of_pages_that_never_listen_the_latest_are_kept_aside(url, client, room, monkeypatch):
    drop_at_once(monkeypatch)
    monkeypatch.setattr(limits, "ASIDE", replace(limits.ASIDE, maximum=3))
    for number in range(4):
        all_at_once(url, [join(f"deaf {number}")])
        until(lambda: not len(room))
    never_drop(monkeypatch)
    assert "was not opened within" in read(client, "deaf 0")["output"]["error"]
    assert read(client, "deaf 1")["output"]["data"]


def test_who_listens_is_answered_although_many_do_not(url, client, asked, monkeypatch):
    never_drop(monkeypatch)
    all_at_once(url, [call(f"198.51.100.{n % 4}", "never") for n in range(50)])
    drop_after(monkeypatch, 0, "UNHEARD_IF_FULL")
    (reply,) = all_at_once(url, [call("192.0.2.1", "mine")])
    event = reply.json()["event_id"]
    said = client.get(f"/gradio_api/call/answer/{event}").text
    assert said.startswith("event: complete")
    assert "mine" in said
    assert asked == ["mine"]


def test_an_address_that_holds_too_much_takes_no_time_from_others(url, room, monkeypatch):
    never_drop(monkeypatch)
    all_at_once(url, [call("192.0.2.1", "slow to listen")])
    drop_after(monkeypatch, 0, "UNHEARD_IF_FULL")
    all_at_once(url, [call("198.51.100.1")] * (2 * OF_PROGRAMS))
    held = Counter(event.request.client.host for event in room.waiting())
    assert held["192.0.2.1"] == 1


def test_pages_that_do_not_listen_make_room_for_one_that_does(url, client, room, monkeypatch):
    never_drop(monkeypatch)
    all_at_once(url, [join(f"deaf {n}", address=f"203.0.113.{n}") for n in range(ALL)])
    assert len(room) == ALL
    drop_after(monkeypatch, 0, "UNHEARD_IF_FULL")
    (reply,) = all_at_once(url, [join("visitor", "mine")])
    assert reply.status_code == 200
    assert read(client, "visitor")["output"]["data"] == ["mine"]


def test_a_queue_is_looked_at_seldom_while_passes_are_timed(url, room, monkeypatch):
    """Gradio looks a thousand times a second."""
    lock, often = MeasurementLock(), Queue(True, 1, 1.0, None, None).sleep_when_free
    configure(is_timing=lock.is_timing)
    never_drop(monkeypatch)
    all_at_once(url, [join("deaf", "to wait")])
    assert room.sleep_when_free == often
    with lock.measure():
        assert room.sleep_when_free >= 0.05
        with lock.paused():
            assert room.sleep_when_free == often
    assert room.sleep_when_free == often


@pytest.fixture
def entered(idle_queue, monkeypatch):
    """Names of Gradio's loops, in the order in which they were entered; here they wait for none."""
    line, names = idle_queue.event_queue_per_concurrency_id["a"].queue, []

    async def begin(queue):
        names.append("begin")
        while not queue.stopped:
            queue.active_jobs[0] = [line.pop()]
            await queue.process_events(queue.active_jobs[0])

    async def report(queue):
        names.append("report")
        while not queue.stopped:
            queue.active_jobs[0] = None

    async def answered(*_):
        pass

    monkeypatch.setattr(Queue, "start_processing", begin)
    monkeypatch.setattr(Queue, "start_progress_updates", report)
    monkeypatch.setattr(Queue, "process_events", answered)
    return names


def test_gradios_loops_are_entered_only_while_they_have_something_to_do(idle_queue, entered):
    async def asked_twice():
        idle_queue._asked, idle_queue._begun = asyncio.Event(), asyncio.Event()
        tasks = [idle_queue.start_processing(), idle_queue.start_progress_updates()]
        running = [asyncio.create_task(task) for task in tasks]
        for number in range(3):
            for _ in range(20):
                await asyncio.sleep(0)
            assert entered == ["begin", "report"] * number
            event = program_event(number, "a", idle_queue.now)
            idle_queue.event_queue_per_concurrency_id["a"].queue.append(event)
            idle_queue._asked.set()
        assert not idle_queue.stopped, "for all others it runs"
        for task in running:
            task.cancel()

    in_its_own_loop(asked_twice())


def test_a_stream_that_is_asked_for_while_the_server_stands_still_is_in_time(
    url, client, room, monkeypatch
):
    passed, stands, sent = [0.0], threading.Event(), threading.Event()
    monkeypatch.setattr(room, "clock", lambda: time.monotonic() + passed[0])

    def block_loop():
        stands.set()
        sent.wait(60)
        passed[0] += 8.0
        time.sleep(10 * room.sleep_when_free)  # the next look at the queue is due at once

    event = client.post("/gradio_api/call/answer", json={"data": ["mine"]}).json()["event_id"]
    serving_loop().call_soon_threadsafe(block_loop)
    stands.wait(60)
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=60) as stream:
        stream.sendall(
            f"GET /gradio_api/call/answer/{event} HTTP/1.1\r\nHost: a\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        sent.set()
        said = b"".join(iter(lambda: stream.recv(4096), b"")).decode()
    assert "event: complete" in said
    assert "mine" in said


def program_event(number, address, asked_s):
    """Return a request as the queue holds it."""
    client, path = SimpleNamespace(host=address), "/gradio_api/call/answer"
    request = SimpleNamespace(client=client, url=SimpleNamespace(path=path))
    return SimpleNamespace(
        _id=str(number),
        session_hash=f"{address} {number}",
        request=request,
        fn=None,
        concurrency_id="a",
        enqueue_time=asked_s,
        alive=True,
    )


@pytest.fixture
def idle_queue():
    """Queue without a server, whose clock the test moves."""
    room = WaitingRoom(True, 4, 1, None, None, default_concurrency_limit=4)
    room.now = 100.0
    room.clock, room._last_check = lambda: room.now, 100.0
    room.active_jobs = [None] * 4
    room.event_queue_per_concurrency_id["a"] = EventQueue("a", 4)
    return room


@pytest.mark.parametrize("held_s", [0.0, 8.0], ids=["a loop that runs", "a loop that is held"])
def test_a_question_has_its_seconds_of_a_loop_that_runs(idle_queue, held_s):
    line = idle_queue.event_queue_per_concurrency_id["a"].queue
    line.append(program_event(1, "a", idle_queue.now))
    steps, step_s = 0, STEP_S / 2
    while line:
        steps += 1
        idle_queue.now += step_s + (held_s if steps == 20 else 0)
        assert idle_queue.get_events() is None
    assert abs(limits.UNHEARD.maximum - steps * step_s) <= STEP_S


def test_the_next_turn_is_that_of_the_address_that_has_the_fewest(idle_queue):
    line, running = idle_queue.event_queue_per_concurrency_id["a"], []
    for number, address in enumerate("aaaabac"):
        line.queue.append(event := program_event(number, address, idle_queue.now))
        idle_queue.listening[event.session_hash] += 1
    while line.queue:
        (event,), _, _ = idle_queue.get_events()
        running.append(event)
        idle_queue.active_jobs = [running]
    assert "".join(event.request.client.host for event in running) == "abcaaaa"


@pytest.mark.parametrize("session", ["", "another's", None])
def test_only_who_asked_a_question_cancels_it(url, client, room, monkeypatch, session):
    never_drop(monkeypatch)
    event = client.post("/gradio_api/call/answer", json={"data": ["mine"]}).json()["event_id"]
    body = {"event_id": event, "fn_index": 1, "session_hash": session}
    refused = client.post("/gradio_api/cancel", json=body)
    assert (refused.status_code, refused.json()) == (404, {"detail": validation.NO_ANSWER})
    assert "mine" in client.get(f"/gradio_api/call/answer/{event}").text


def test_a_question_that_is_cancelled_while_it_is_set_aside_does_not_come_back(
    url, client, asked, room, monkeypatch
):
    drop_at_once(monkeypatch)
    (reply,) = all_at_once(url, [join("slow", "mine")])
    until(lambda: not len(room))
    body = {"event_id": reply.json()["event_id"], "fn_index": 0, "session_hash": "slow"}
    assert client.post("/gradio_api/cancel", json=body).status_code == 200
    never_drop(monkeypatch)
    read(client, "slow")
    all_at_once(url, [join("slow", "another")])
    assert read(client, "slow")["output"]["data"] == ["another"]
    assert asked == ["another"]


def test_a_cancelled_question_ends_in_a_sentence_and_its_session_goes_on(
    url, client, asked, room, monkeypatch
):
    never_drop(monkeypatch)
    asked.go.clear()
    path, heard = "/gradio_api/call/answer", []

    def ask(text):
        body = {"data": [text], "session_hash": "program"}
        return client.post(path, json=body).raise_for_status().json()["event_id"]

    def listen(event):
        heard.append(client.get(f"{path}/{event}").text)

    for _ in range(room.default_concurrency_limit):  # all turns are taken
        event = client.post(path, json={"data": ["busy"]}).json()["event_id"]
        threading.Thread(target=listen, args=(event,)).start()
    until(lambda: len(asked) == room.default_concurrency_limit)
    event = ask("mine")
    listener = threading.Thread(target=listen, args=(event,))
    listener.start()
    until(lambda: room.listening["program"])
    body = {"event_id": event, "fn_index": 1, "session_hash": "program"}
    assert client.post("/gradio_api/cancel", json=body).status_code == 200
    listener.join(60)
    assert heard == [f"event: error\ndata: {json.dumps({'error': validation.CANCELLED})}\n\n"]
    asked.go.set()
    said = client.get(f"{path}/{ask('another')}").text
    assert said == 'event: complete\ndata: ["another"]\n\n'
    assert "mine" not in asked


def test_a_question_cancelled_as_its_stream_begins_is_told_so(
    url, client, asked, room, monkeypatch
):
    """The stream is counted; Gradio looks the question up a moment later."""
    never_drop(monkeypatch)
    asked.go.clear()
    path = "/gradio_api/call/answer"
    for _ in range(room.default_concurrency_limit):  # all turns are taken
        event = client.post(path, json={"data": ["busy"]}).json()["event_id"]
        threading.Thread(target=client.get, args=(f"{path}/{event}",)).start()
    until(lambda: len(asked) == room.default_concurrency_limit)
    body = {"data": ["mine"], "session_hash": "program"}
    event = client.post(path, json=body).raise_for_status().json()["event_id"]
    counted = room.stream_opened

    def listens(session):
        counted(session)
        if session == "program":
            room.cancel(room.event_ids_to_events[event])

    monkeypatch.setattr(room, "stream_opened", listens)
    assert validation.CANCELLED in client.get(f"{path}/{event}").text
    asked.go.set()


def test_nothing_is_answered_for_who_leaves_in_the_middle_of_a_message(client, page, asked, room):
    """Gradio notices who leaves between two messages; here the connection ends in the first."""
    asked.go.clear()
    path, body, _ = join("leaver")
    client.post(path, json=body).raise_for_status()

    async def stream():
        began = asyncio.Event()

        async def receive():
            await began.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if b"process_starts" in message.get("body", b""):
                began.set()
                await asyncio.Event().wait()

        await page.app(
            {
                "type": "http",
                "method": "GET",
                "scheme": "http",
                "path": "/gradio_api/queue/data",
                "raw_path": b"/gradio_api/queue/data",
                "root_path": "",
                "query_string": b"session_hash=leaver",
                "headers": [(b"host", b"testserver")],
                "client": ("203.0.113.1", 1),
                "server": ("testserver", 80),
            },
            receive,
            send,
        )

    reader = asyncio.run_coroutine_threadsafe(stream(), serving_loop())
    until(lambda: asked)
    (job,) = [job for job in room.active_jobs if job]
    until(reader.done, 60)
    assert [event.alive for event in job] == [False]


def test_a_letterbox_that_is_thrown_away_takes_its_questions_along(page):
    boxes = type(page._queue.pending_messages_per_session)(2, unread := {"a": 1, "b": 2})
    boxes["a"], boxes["b"] = 0, 0
    assert boxes["a"] == 0, "the last to be used"
    boxes["c"] = 0
    assert set(boxes) == {"a", "c"}
    assert unread == {"a": 1}


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [(COMPARES, "/queue/join", 1), ("texts", "/queue/join", 0), (COMPARES, "/call/on_view", 0)],
)
def test_a_visitors_compare_counts_from_its_turn_to_its_answer(
    idle_queue, monkeypatch, line, path, expected
):
    """A job of minutes does not, nor what programs ask."""
    lock, counts = MeasurementLock(), []

    async def answered(*_):
        counts.append(lock._visitors)

    monkeypatch.setattr(Queue, "process_events", answered)
    configure(answering=lock.answering)
    event = program_event(1, "a", idle_queue.now)
    event.concurrency_id, event.request.url.path = line, path
    event.fn = SimpleNamespace(api_visibility="private")
    in_its_own_loop(idle_queue.process_events([event], False, 0.0, event.fn))
    assert counts == [expected]
    assert not lock._visitors


@pytest.mark.parametrize("path", ["/gradio_api/queue/join", "/gradio_api/call/answer"])
def test_a_session_without_a_valid_name_is_refused_at_the_door(client, room, path):
    body = {"data": ["a"], "fn_index": PAGE_EVENT, "session_hash": "naïve"}
    reply = client.post(path, json=body)
    assert (reply.status_code, reply.json()) == (422, {"detail": validation.NO_JSON})
    assert not len(room)


def test_a_message_to_an_unknown_session_is_dropped(idle_queue):
    event = program_event(1, "a", idle_queue.now)
    assert event.session_hash not in idle_queue.pending_messages_per_session
    idle_queue.send_message(event, EstimationMessage(rank=0, queue_size=1))
    assert event.session_hash not in idle_queue.pending_messages_per_session


def fail_once(room, monkeypatch):
    """Let the queue's task fail at its next request."""
    failing = iter([RuntimeError("a fault that a test made")])

    def get_events():
        if failure := next(failing, None):
            raise failure
        return WaitingRoom.get_events(room)

    monkeypatch.setattr(room, "get_events", get_events)


def cancel_once(*_):
    """Cancel the queue's task from within its loop."""

    def cancel():
        (task,) = (
            task
            for task in asyncio.all_tasks()
            if task.get_name() == Queue.start_processing.__name__
        )
        task.cancel()

    serving_loop().call_soon_threadsafe(cancel)


@pytest.mark.long
@pytest.mark.parametrize("end", [fail_once, cancel_once])
def test_when_the_queues_task_ends_it_is_logged_and_requests_are_answered_again(
    client, room, asked, monkeypatch, caplog, end
):
    never_drop(monkeypatch)
    asked.go.clear()
    running = client.post("/gradio_api/call/answer", json={"data": ["running"]}).json()
    with ThreadPoolExecutor(1) as thread:
        stream = f"/gradio_api/call/answer/{running['event_id']}"
        reply = thread.submit(client.get, stream)
        until(lambda: "running" in asked)
        end(room, monkeypatch)
        path, body, _ = join("later", "later")
        assert client.post(path, json=body).status_code == 200
        answer = thread.submit(read, client, "later")
        until(lambda: any("start_processing has ended" in said for said in caplog.messages))
        asked.go.set()
        assert "event: complete" in reply.result().text, "what was running goes on"
        assert answer.result()["success"]


def test_health_says_whether_a_request_gets_through_the_queue(client, room, monkeypatch):
    reply = client.get("/health")
    assert (reply.status_code, reply.json()) == (200, {"queues": "running"})
    with monkeypatch.context() as patch:
        patch.setattr(room, "get_events", lambda: None)
        patch.setattr(limits, "HEALTH", replace(limits.HEALTH, maximum=0.2))
        reply = client.get("/health")
        assert (reply.status_code, reply.json()) == (503, {"detail": limits.HEALTH.sentence()})
        assert not len(room), "its request leaves the queue"
    assert client.get("/health").status_code == 200


def test_health_says_that_the_server_stops(client, monkeypatch):
    monkeypatch.setattr("explorer.middleware.health.CLOSING", closing := threading.Event())
    closing.set()
    assert client.get("/health").status_code == 503
