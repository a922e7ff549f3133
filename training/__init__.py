"""The recipe that makes the bundled family."""
