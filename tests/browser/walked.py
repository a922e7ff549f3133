"""Another link in the page that is there, as Back and Forward open one: the code is loaded and runs already.

What a link shows is the same by every way (``links/test_history.py``); only what a page does while it opens
needs a page that opens.
"""

GO = "link => { history.pushState(null, '', link); dispatchEvent(new PopStateEvent('popstate')); }"


def walk(page, link):
    """Show ``/?tab=depth``, and wait until the address is the answer's."""
    page.locator("#status .status").wait_for()
    page.evaluate(GO, link)
    page.wait_for_function("history.state !== null")
