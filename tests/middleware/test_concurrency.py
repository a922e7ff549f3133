"""What no queue holds: so many at once, so many who wait, and nobody who reads slowly in between."""

import asyncio
from types import SimpleNamespace

import pytest
from starlette.requests import ClientDisconnect

from explorer import limits
from explorer.middleware.concurrency import CALLS, LEFT, ConcurrencyLimiter, refusal_of
from explorer.middleware.waiting_room import NO_ADDRESS, Sender, account_of
from tests.waiting import in_its_own_loop

ASKED = ("POST", "/gradio_api/component_server")


class BlockedApp:
    """App whose responses wait until they are released, with clients that do not read."""

    def __init__(self):
        self.at_work, self.most, self.let_go = 0, 0, asyncio.Event()
        self.scopes = []

    async def __call__(self, scope, receive, send):
        self.scopes.append(scope)
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        await self.let_go.wait()
        self.at_work -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})


def request(limiter, said, asked=ASKED, reads=True, below="", sends=True, **client):
    """Send a request.

    ``client`` may hold its ``address``, an event ``after`` which it sends, and one at which it
    ``leaves``.
    """
    scope = {"type": "http", "method": asked[0], "path": below + asked[1], "root_path": below}
    scope |= {"client": (client.get("address", "198.51.100.1"), 1)}
    begun, leaves = [], client.get("leaves") or asyncio.Event()

    async def receive():
        if not sends:
            await asyncio.sleep(3600)
        if client.get("after"):
            await client["after"].wait()
        if begun:
            await leaves.wait()
            return {"type": "http.disconnect"}
        begun.append(True)
        return {"type": "http.request"}

    async def send(message):
        if message["type"] == "http.response.start":
            said.append(message["status"])
            if not reads:
                await asyncio.sleep(3600)

    return asyncio.ensure_future(limiter(scope, receive, send))


def each_of_its_own(count):
    """Return addresses of which each sends one request."""
    return [f"198.18.{n // 256}.{n % 256}" for n in range(count)]


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.long
@pytest.mark.parametrize("asked", [ASKED, ("GET", "/"), ("POST", "/gradio_api/call/predict")])
@pytest.mark.parametrize("below", ["", "/explorer"])
def test_so_many_are_at_work_so_many_wait_and_the_next_is_turned_away(below, asked):
    async def run():
        app, said = BlockedApp(), []
        limiter = ConcurrencyLimiter(app)
        turns = limiter.limits[asked[0], "/".join(asked[1].split("/")[:3])]
        count = turns.at_once.maximum + turns.max_waiting.maximum
        *addresses, another = each_of_its_own(count + 1)
        for address in addresses:
            request(limiter, said, asked, below=below, address=address)
        await settled()
        assert app.most == turns.at_once.maximum
        request(limiter, said, asked, below=below, address=another)
        await settled()
        assert said == [429]
        app.let_go.set()
        while len(said) <= count:
            await asyncio.sleep(0)
        assert sorted(said) == [200] * count + [429]
        assert app.most == turns.at_once.maximum

    in_its_own_loop(run())


def test_bodies_that_come_late_and_all_at_once_wait_no_more_than_others():
    async def run():
        app, said, come = BlockedApp(), [], asyncio.Event()
        limiter = ConcurrencyLimiter(app)
        turns = limiter.limits[ASKED]
        count = turns.at_once.maximum + turns.max_waiting.maximum
        addresses = each_of_its_own(count + 5)
        late = [request(limiter, said, after=come, address=address) for address in addresses]
        await settled()
        come.set()
        await settled()
        assert said == [429] * 5
        app.let_go.set()
        await asyncio.gather(*late)
        assert sorted(said) == [200] * count + [429] * 5

    in_its_own_loop(run())


def test_who_never_reads_keeps_nobody_waiting():
    async def run():
        app, said = BlockedApp(), []
        limiter = ConcurrencyLimiter(app)
        app.let_go.set()
        deaf = [request(limiter, said, ("GET", "/"), reads=False) for _ in range(50)]
        await asyncio.wait_for(request(limiter, said, ("GET", "/")), 10)
        assert len(said) == 51
        for task in deaf:
            task.cancel()

    in_its_own_loop(run())


def test_who_sends_slowly_keeps_nobody_waiting():
    async def run():
        app, said = BlockedApp(), []
        limiter = ConcurrencyLimiter(app)
        app.let_go.set()
        slow = [request(limiter, said, sends=False) for _ in range(50)]
        await settled()
        await asyncio.wait_for(request(limiter, said), 10)
        assert said == [200]
        for task in slow:
            task.cancel()

    in_its_own_loop(run())


def test_who_leaves_while_waiting_or_at_work_leaves_the_place():
    async def run():
        app, said = BlockedApp(), []
        limiter = ConcurrencyLimiter(app)
        turns = limiter.limits["GET", "/"]
        first = [request(limiter, said, ("GET", "/")) for _ in range(turns.at_once.maximum + 3)]
        await settled()
        for task in first:
            task.cancel()
        await settled()
        assert not turns.waiting
        app.let_go.set()
        await asyncio.wait_for(request(limiter, said, ("GET", "/")), 10)
        assert said == [200]

    in_its_own_loop(run())


def test_one_address_leaves_a_slot_and_places_to_others_and_they_are_next():
    async def run():
        app, said = BlockedApp(), []
        limiter = ConcurrencyLimiter(app)
        turns = limiter.limits[ASKED]
        most, places = limits.PICTURES_OF_ADDRESS.maximum, turns.max_waiting.maximum * 15 // 16
        for _ in range(most + places):
            request(limiter, said, address="198.51.100.1")
        await settled()
        assert (app.at_work, len(turns.waiting), said) == (most, places, [])
        request(limiter, said, address="198.51.100.1")
        await settled()
        assert said == [429], "it has what one address may have"
        for _ in range(2):
            request(limiter, said, address="198.51.100.2")
        await settled()
        assert said == [429], "another one has not"
        senders = [scope["client"][0] for scope in app.scopes]
        assert senders == ["198.51.100.1"] * most + ["198.51.100.2"]
        app.let_go.set()
        while len(said) < most + places + 3:
            await asyncio.sleep(0)
        assert app.scopes[most + 1]["client"][0] == "198.51.100.2", (
            "it waited shortest, held fewest"
        )

    in_its_own_loop(run())


def test_a_client_that_leaves_loses_its_place_and_a_running_request_is_told():
    async def run():
        app, said, leaves = BlockedApp(), [], asyncio.Event()
        limiter = ConcurrencyLimiter(app)
        turns = limiter.limits[ASKED]
        most = limits.PICTURES_OF_ADDRESS.maximum
        sent = [request(limiter, said, leaves=leaves) for _ in range(most + 10)]
        await settled()
        assert (app.at_work, len(turns.waiting)) == (most, 10)
        assert not any(scope[LEFT].is_set() for scope in app.scopes)
        leaves.set()
        await settled()
        assert (app.at_work, turns.waiting) == (most, []), "nothing is begun for who has left"
        assert all(scope[LEFT].is_set() for scope in app.scopes)
        app.let_go.set()
        ends = await asyncio.gather(*sent, return_exceptions=True)
        assert [type(end) for end in ends] == [type(None)] * most + [ClientDisconnect] * 10
        assert len(app.scopes) == most
        assert not turns.running

    in_its_own_loop(run())


def test_the_application_reads_the_body_once_and_then_that_the_client_has_left():
    async def run():
        leaves, read = asyncio.Event(), []

        async def app(_scope, receive, _send):
            read.append(await receive())
            more = asyncio.ensure_future(receive())
            await settled()
            assert not more.done()
            leaves.set()
            read.append(await more)

        await request(ConcurrencyLimiter(app), [], leaves=leaves)
        assert [message["type"] for message in read] == ["http.request", "http.disconnect"]

    in_its_own_loop(run())


def test_everything_else_goes_by():
    async def run():
        app, said = BlockedApp(), []
        limiter = ConcurrencyLimiter(app)
        for _ in range(100):
            request(limiter, said, ("GET", "/gradio_api/queue/data"))
        await settled()
        assert app.at_work == 100
        app.let_go.set()
        await settled()

    in_its_own_loop(run())


@pytest.mark.parametrize("client", [("198.51.100.1", 1), None])
def test_the_room_is_asked_about_a_program_before_its_body_is_read(client):
    asked = []
    room = SimpleNamespace(refusal=lambda sender: asked.append(sender) or "It is full.")
    app = SimpleNamespace(get_blocks=lambda: SimpleNamespace(_queue=room))
    scope = {"type": "http", "method": "POST", "path": f"{CALLS}predict", "app": app}
    assert refusal_of(scope | {"client": client}) == "It is full."
    account = account_of(client[0] if client else NO_ADDRESS)
    assert asked == [Sender(account, session="", is_program=True)]
    assert refusal_of(scope | {"method": "GET"}) == ""
