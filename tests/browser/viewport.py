"""The size of a page's window."""

IS_OF_SIZE = "size => innerWidth === size.width && innerHeight === size.height"
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
"""Script: observers of sizes run after a frame's callbacks and before a timer that these set."""


def resize(page, width, height):
    """Resize the window, and wait until the page has been laid out for it."""
    size = {"width": width, "height": height}
    page.set_viewport_size(size)
    page.wait_for_function(IS_OF_SIZE, arg=size)
    page.evaluate(NEXT_FRAME)
