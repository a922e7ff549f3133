"""Parts that every tab is built from."""
