"""What no queue holds: so many at once, so many who wait, and nobody who reads slowly in between."""

import asyncio

import pytest

from explorer.serving.middleware.concurrency import ConcurrencyLimiter
from tests.waiting import in_its_own_loop

ASKED = ("POST", "/gradio_api/component_server")


class BlockedApp:
    """App whose responses wait until they are released, with clients that do not read."""

    def __init__(self):
        self.at_work, self.most, self.let_go = 0, 0, asyncio.Event()

    async def __call__(self, scope, receive, send):
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        await self.let_go.wait()
        self.at_work -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})


def request(limiter, said, asked=ASKED, reads=True, below="", sends=True, after=None):
    scope = {"type": "http", "method": asked[0], "path": below + asked[1], "root_path": below}

    async def receive():
        if not sends:
            await asyncio.sleep(3600)
        if after:
            await after.wait()
        return {"type": "http.request"}

    async def send(message):
        if message["type"] == "http.response.start":
            said.append(message["status"])
            if not reads:
                await asyncio.sleep(3600)

    return asyncio.ensure_future(limiter(scope, receive, send))


async def settled():
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("asked", [ASKED, ("GET", "/"), ("POST", "/gradio_api/call/predict")])
@pytest.mark.parametrize("below", ["", "/explorer"])
def test_so_many_are_at_work_so_many_wait_and_the_next_is_turned_away(below, asked):
    async def run():
        app, said = BlockedApp(), []
        limiter = ConcurrencyLimiter(app)
        turns = limiter.limits[asked[0], "/".join(asked[1].split("/")[:3])]
        count = turns.at_once.maximum + turns.max_waiting.maximum
        for _ in range(count):
            request(limiter, said, asked, below=below)
        await settled()
        assert app.most == turns.at_once.maximum
        request(limiter, said, asked, below=below)
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
        late = [request(limiter, said, after=come) for _ in range(count + 5)]
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
        assert turns.waiting == 0
        app.let_go.set()
        await asyncio.wait_for(request(limiter, said, ("GET", "/")), 10)
        assert said == [200]

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
