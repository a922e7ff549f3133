"""Requests of a page that are held back, or answered by the test.

By Chromium's own interception, which leaves the cache on; Playwright's routes turn it off.
"""

from base64 import b64encode

from tests.waiting import until


def intercepting(page):
    """A session of Chromium's own; the page is then no other test's."""
    page.guard.is_changed = True
    return page.context.new_cdp_session(page)


def hold(page, pattern):
    """Hold every request for this back; return how to let them go, with those to come.

    What lets go waits for the first to be held, so that a pattern that fits nothing is noticed.
    """
    session, held = intercepting(page), []
    session.on("Fetch.requestPaused", lambda asked: held.append(asked))
    session.send("Fetch.enable", {"patterns": [{"urlPattern": pattern}]})

    def is_held():
        page.wait_for_timeout(20)  # meanwhile Playwright tells what it has heard
        return held

    def go_on():
        until(is_held, 30, lambda: f"nothing asked for {pattern}")
        session.send("Fetch.disable")

    return go_on


def answer_with(page, pattern, script):
    """Answer every request for a module with this script."""
    body = b64encode(script.encode()).decode()
    kind = [{"name": "Content-Type", "value": "text/javascript"}]
    answer = {"responseCode": 200, "responseHeaders": kind, "body": body}
    session = intercepting(page)
    session.on(
        "Fetch.requestPaused",
        lambda asked: session.send(
            "Fetch.fulfillRequest", {"requestId": asked["requestId"], **answer}
        ),
    )
    session.send("Fetch.enable", {"patterns": [{"urlPattern": pattern}]})
