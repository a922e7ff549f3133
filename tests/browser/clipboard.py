"""The text that a button copies."""

from tests.waiting import until


def copied(page, button) -> str:
    """Press a button that copies, and return the text once the clipboard holds it."""
    page.evaluate("navigator.clipboard.writeText('')")
    button.click()
    return until(lambda: page.evaluate("navigator.clipboard.readText()"))
