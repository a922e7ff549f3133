"""How an event of the page takes its turn: with the light questions, or in a line of its own."""

from typing import Any

from explorer import limits

LIGHT: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "infer",
    "show_progress": "minimal",
}
"""What some forward passes answer: it shares the turns of Compare."""
OF_HUB: dict[str, Any] = {
    "api_visibility": "private",
    "concurrency_id": "hub",
    "concurrency_limit": limits.HUB.most,
    "show_progress": "full",
}
"""What the model hub answers, which may take minutes: nobody else waits for it."""
COMPARE: dict[str, Any] = {
    "concurrency_id": "compare",
    "concurrency_limit": limits.COMPARES.most,
}
"""The page's first question: its turns are nobody else's."""
ELSEWHERE = limits.COMPARES_ELSEWHERE.most
"""Compares at once where the networks are elsewhere, since here they only wait for them."""
OF_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "programs",
    "concurrency_limit": limits.CALLS.most,
}
MEASURED_FOR_PROGRAMS: dict[str, Any] = {
    "concurrency_id": "measured",
    "concurrency_limit": limits.TIMED_CALLS.most,
}
"""What named endpoints answer: programs wait for each other, and never keep a page waiting."""
QUIET: dict[str, Any] = LIGHT | {"show_progress": "hidden"}
"""The same where what is asked says itself how it stands."""
LONG: dict[str, Any] = {"concurrency_id": "long", "concurrency_limit": limits.LONG.most}
"""Many passes one after the other: it has turns of its own, so that no Compare waits for its end.

Who comes fifth is told the place in the queue.
"""
AT_ONCE: dict[str, Any] = {
    "concurrency_limit": None,
    "show_progress": "hidden",
    "api_visibility": "private",
}
"""What waits for nobody: a stop, a button that comes or goes.

In the queue all the same: past it lies an address that the door keeps shut.
"""


def widen() -> None:
    """Let more Compares run at once on pages that are built from now on."""
    COMPARE["concurrency_limit"] = ELSEWHERE


def own_line(name: str) -> dict[str, Any]:
    """What takes its turn in a `Line`: up to eight wait there and are told their place."""
    return {
        "concurrency_id": name,
        "concurrency_limit": limits.OWN_LINE.most,
        "show_progress": "hidden",
    }
