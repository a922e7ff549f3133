"""Requests of a page that are paused, or answered by the test.

Uses Chromium's own interception, which keeps the cache on; Playwright's routes disable it.
"""

from base64 import b64encode

from tests.waiting import until


def intercepting(page):
    """Return a CDP session of the page; the page is then not reused by other tests."""
    page.guard.is_changed = True
    return page.context.new_cdp_session(page)


def hold(page, pattern):
    """Pause every request that matches the pattern; return a function that resumes them.

    The function waits for the first paused request, so that a pattern without a match is noticed.
    """
    session, paused = intercepting(page), []
    session.on("Fetch.requestPaused", lambda asked: paused.append(asked))
    session.send("Fetch.enable", {"patterns": [{"urlPattern": pattern}]})

    def is_held():
        page.wait_for_timeout(20)  # lets Playwright dispatch its events
        return paused

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
