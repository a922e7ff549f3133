"""Training recipe of the bundled family."""
