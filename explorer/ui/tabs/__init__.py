"""The tabs in the order they are shown."""
