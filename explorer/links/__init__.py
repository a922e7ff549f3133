"""State of the page, and the link that encodes it."""
