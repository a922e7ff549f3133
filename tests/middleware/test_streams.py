"""Who has left a stream, and who was told all."""

import pytest

from explorer.middleware.concurrency import Listener
from tests.waiting import in_its_own_loop


@pytest.mark.parametrize(
    ("body", "more", "has_left"),
    [
        (b'data: {"msg":"process_starts"}\n\n', True, True),
        (b'data: {"msg":"close_stream"}\n\n', True, False),
        (b"", False, False),
    ],
)
def test_only_who_is_not_told_the_end_has_left(body, more, has_left):
    """A page ends the connection itself at the last message, and may have asked again by then."""

    async def gone():
        return {"type": "http.disconnect"}

    async def nothing(_message):
        pass

    async def run():
        listener = Listener(gone, nothing)
        await listener.send({"type": "http.response.start", "status": 200})
        await listener.send({"type": "http.response.body", "body": body, "more_body": more})
        await listener.receive()
        return listener.has_left

    assert in_its_own_loop(run()) is has_left
