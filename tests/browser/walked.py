"""Navigation to another link within a loaded page, as Back and Forward do it.

The result of a link is the same by every way (``links/test_history.py``); only tests of a page's
start need a page that opens.
"""

GO = "link => { history.pushState(null, '', link); dispatchEvent(new PopStateEvent('popstate')); }"


def walk(page, link):
    """Show a link such as ``/?tab=depth``, and wait until the response has updated the address."""
    page.locator("#status .status").wait_for()
    page.evaluate(GO, link)
    page.wait_for_function("history.state !== null")
