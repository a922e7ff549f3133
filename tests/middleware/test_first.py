"""A visitor presses Compare while programs keep every worker busy: asked over HTTP."""

import asyncio
import json
import threading

import httpx
import pytest

from benchmarks.served import event_number
from explorer import limits
from explorer.context import configure
from explorer.inference import local
from explorer.inference.local import LocalBackend
from explorer.models import gradients
from explorer.models.task_heads import classifiers
from explorer.scheduling.budget import BUDGET
from explorer.scheduling.job_queue import MEASUREMENTS
from explorer.scheduling.measurement_lock import MEASUREMENT_LOCK
from tests.waiting import until

PASS_S = 0.2
VISITORS = "the visitor's own [MASK]"
REVIEW = "the cat sat on the mat and the dog did not like it at all"
PASSAGE = "the cat sat on the mat. " * 60
LONG = {
    "sentiment": [REVIEW, "mini"],
    "question": ["who sat?", PASSAGE, "mini"],
    "depth": [" ".join(["a [MASK] sat"] * 12), "mini", "bert"],
}
MEASURED = ["mini", 16, 1, 200, "cpu", "float32"]


class Order(list):
    """What was asked for and what was begun, in its order; until ``hurry`` each pass takes time."""

    def __init__(self):
        super().__init__()
        self.hurry = threading.Event()


@pytest.fixture
def order(tuned_family, monkeypatch):
    """What was asked for and what was begun."""
    said, run, run_all = Order(), LocalBackend.run, local._run_texts

    def slow(name, do):
        def pass_of(*asked, **named):
            said.append(name)
            said.hurry.wait(PASS_S)
            # However slow the visitor's thread is: its three models are asked at once.
            until(lambda: said.count("asked") in (0, 3) or said.hurry.is_set())
            return do(*asked, **named)

        return pass_of

    def asked(place, where, text, report):
        said.append("asked" if text == VISITORS else "")
        return run(place, where, text, report)

    def together(waiting, where, found):
        kind = "visitor" if waiting[0].text == VISITORS else "part"
        return slow(kind, run_all)(waiting, where, found)

    configure(backend=LocalBackend())
    monkeypatch.setattr(LocalBackend, "run", asked)
    monkeypatch.setattr(local, "_run_texts", together)
    for head, name in ((gradients, "slopes_at"), (classifiers, "_class_logits")):
        monkeypatch.setattr(head, name, slow("part", getattr(head, name)))
    monkeypatch.setattr(classifiers, "_window_logits", slow("part", classifiers._window_logits))
    return said


async def program(url, number, endpoint, values):
    """Ask the same again and again, from an address of its own, and read every answer."""
    headers = {"x-forwarded-for": f"198.51.100.{number}"}
    where = f"{url}/gradio_api/call/{endpoint}"
    async with httpx.AsyncClient(headers=headers, timeout=120) as http:
        while True:
            reply = await http.post(where, json={"data": values})
            if reply.is_success:
                await http.get(f"{where}/{reply.json()['event_id']}")
            await asyncio.sleep(0.05)


async def leave():
    """End every program of this loop, in the middle of what it waits for."""
    programs = asyncio.all_tasks() - {asyncio.current_task()}
    for one in programs:
        one.cancel()
    await asyncio.gather(*programs, return_exceptions=True)


@pytest.fixture
def programs(url):
    """Starts programs; they leave at the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def start(asked):
        for number, one in enumerate(asked):
            asyncio.run_coroutine_threadsafe(program(url, number, *one), loop)

    yield start
    asyncio.run_coroutine_threadsafe(leave(), loop).result(120)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(120)
    loop.close()
    until(lambda: not len(MEASUREMENTS) and not MEASUREMENT_LOCK._visitors)


def compare(url, page):
    """Press Compare, and read the whole answer."""
    asked = {"params": {"text": VISITORS, "family": "mini"}, "number": 1, "keep": []}
    event = event_number(page, "on_view")
    body = {"data": [json.dumps(asked)], "fn_index": event, "session_hash": "visitor"}
    httpx.post(f"{url}/gradio_api/queue/join", json=body, timeout=60).raise_for_status()
    params = {"session_hash": "visitor"}
    said = httpx.get(f"{url}/gradio_api/queue/data", params=params, timeout=120).text
    assert '"success":true' in said


def test_a_compare_is_begun_at_most_one_pass_later_whatever_programs_ask(
    url, page, order, programs
):
    programs([*LONG.items()] * 6)
    until(lambda: order.count("part") > 6)
    compare(url, page)
    order.hurry.set()
    first = order.index("asked")
    assert order.count("asked") == order.count("visitor") == 3
    last = max(n for n, what in enumerate(order) if what == "visitor")
    assert order[first:last].count("part") <= 3, "what each worker had begun, and no more"
    assert order[:first].count("part") > 6


def test_a_compare_does_not_wait_for_a_programs_measurement(url, page, tuned_family, programs):
    programs([("latency", MEASURED)] * 3)
    until(lambda: MEASUREMENT_LOCK.is_measuring)
    given = MEASUREMENT_LOCK.yielded_s
    compare(url, page)
    assert MEASUREMENT_LOCK.is_measuring, "it goes on"
    until(lambda: MEASUREMENT_LOCK.yielded_s > given)


@pytest.mark.parametrize("is_alone", [True, False], ids=["alone", "beside another"])
@pytest.mark.parametrize("endpoint", [*LONG, "latency"])
def test_an_address_that_has_spent_its_seconds_is_told_so(
    url, order, monkeypatch, endpoint, is_alone
):
    address = "203.0.113.50"
    order.hurry.set()
    monkeypatch.setattr(BUDGET, "_charges", type(BUDGET._charges)())
    BUDGET.charge(address, BUDGET.seconds_alone if is_alone else BUDGET.seconds)
    BUDGET.charge("203.0.113.52", 0.0 if is_alone else 0.1)
    values = (LONG | {"latency": MEASURED})[endpoint]

    def said(by):
        headers, path = {"x-forwarded-for": by}, f"{url}/gradio_api/call/{endpoint}"
        event = httpx.post(path, json={"data": values}, headers=headers, timeout=60).json()
        return httpx.get(f"{path}/{event['event_id']}", headers=headers, timeout=120).text

    sentence = (limits.PROCESSOR_ALONE if is_alone else limits.PROCESSOR).sentence()
    assert sentence in said(address)
    assert not order
    if endpoint == "depth":
        assert "event: complete" in said("203.0.113.51")


def test_long_questions_of_programs_are_paid_for(url, order, monkeypatch):
    order.hurry.set()
    monkeypatch.setattr(BUDGET, "_charges", type(BUDGET._charges)())
    headers = {"x-forwarded-for": "203.0.113.60"}
    for endpoint, values in LONG.items():
        before = BUDGET.spent("203.0.113.60")
        path = f"{url}/gradio_api/call/{endpoint}"
        event = httpx.post(path, json={"data": values}, headers=headers, timeout=60).json()
        assert "event: complete" in httpx.get(f"{path}/{event['event_id']}", timeout=120).text
        assert BUDGET.spent("203.0.113.60") > before, endpoint
    assert BUDGET.spent("127.0.0.1") == 0
